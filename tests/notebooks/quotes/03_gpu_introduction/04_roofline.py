from tests.notebooks.drawn import DATA_SHEET, record
from tests.notebooks.quoting import about


def naive_gemm_over_the_least():
    hardware = record("hardware")
    least = next(k["bytes"] for k in hardware["kernels"] if k["kernel"] == "sgemm_naive")
    return hardware["traffic"]["sgemm_naive"]["HBM"] / least


QUOTES = {"about 40 times the least": lambda: about(naive_gemm_over_the_least())}
FACTS = {
    "and fifteen times that of fp32": f"989 against 67 TFLOP/s: {DATA_SHEET}",
    "fifteen times the peak": f"989 against 67 TFLOP/s: {DATA_SHEET}",
    "a ridge fifteen times as far": f"989 against 67 TFLOP/s: {DATA_SHEET}",
    "67 TFLOP/s and 4.8 TB/s. What": DATA_SHEET,
}
GIVEN = (
    "A thousand times fewer elements: a thousand times less time?",
    "takes 4 microseconds, one of 1000 elements takes 4 microseconds",
    "Not a thousand times less",
    "each element 9 · 64 times",
    "each element 4096 times",
)
