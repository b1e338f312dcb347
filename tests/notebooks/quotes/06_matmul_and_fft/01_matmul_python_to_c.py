from tests.notebooks.drawn import DATA_SHEET, flops_per_second

QUOTES = {"It reaches 498 GFLOP/s": lambda: flops_per_second("sgemm_naive", 4096) / 1e9}
FACTS = {"67,000 GFLOP/s in fp32": DATA_SHEET}
GIVEN = (
    "More than 100 % means",
    "8 times, 4 times, 2 times",
    "8 times, 8 times, the same",
    "4 times, 4 times, the same",
)
