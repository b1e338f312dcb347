from tests.notebooks.drawn import DATA_SHEET, cause, milliseconds
from tests.notebooks.quoting import more_than

QUOTES = {
    "10.5 ms instead of 35.3 ms": lambda: [
        cause("sgemm_lines", "K + 1"),
        cause("sgemm_lines", "K"),
    ],
    "longer it takes 35.5 ms": lambda: cause("sgemm_lines", "K + 32"),
    "predicts 6.6 times the rate": lambda: 33 / 5,
    "more than 10 times": lambda: more_than(
        milliseconds("sgemm_naive", 4096) / milliseconds("sgemm_coalesced", 4096)
    ),
    "from 5 bytes to 0.25, is 20 times fewer, but need not be 20 times faster": lambda: (20, 20),
    "predicts 20 times the rate": lambda: 5 / 0.25,
}
FACTS = {
    "promises 67 TFLOP/s in fp32": DATA_SHEET,
    "4.8 TB/s from its memory": DATA_SHEET,
    "Sixteen threads reached 894 GFLOP/s": "06/01's stored output: C, packed, 16 threads",
}
GIVEN = ("reads each of those elements 8 times",)
