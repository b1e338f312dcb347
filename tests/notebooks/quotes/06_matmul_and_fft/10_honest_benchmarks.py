from tests.notebooks.drawn import DATA_SHEET, case, record
from tests.notebooks.quoting import less_than

BYTES = 1 << 28
OLDER_README = "README.md of this course before its measurements of 2026-11-22"


def cub_ms():
    return case("histogram_lanes", BYTES)["libraries"]["CUB DeviceHistogram::HistogramEven"]


def read_of_32_mb(way):
    """Milliseconds of the read behind this preparation."""
    caches = record("lies")["caches"]
    return caches[way][caches["bytes"].index(1 << 25)]


def percent_between_layouts(dtype):
    """By how much the slowest layout of the factors takes longer than the fastest."""
    times = record("lies")["layouts"][dtype].values()
    return 100 * (max(times) / min(times) - 1)


QUOTES = {
    "CUB takes 0.122 ms": cub_ms,
    "takes 1.32 times as long": lambda: (
        read_of_32_mb("written") / read_of_32_mb("written_and_read"),
    ),
    "up to 6 percent in fp32": lambda: percent_between_layouts("float32"),
    "less than 2 percent in bf16": lambda: less_than(percent_between_layouts("bfloat16")),
}
FACTS = {
    "it was 1.4 times as fast": "assets/benchmarks/lies/nvidia_h200.json in its first version",
    "67 TFLOP/s in fp32, says": DATA_SHEET,
    "int8 product at 8192: 1.17 times": OLDER_README,
    "histogram of bytes: 14.47 times": OLDER_README,
    "took 0.119 ms": OLDER_README,
    "fp32 product at 8192: 1.05 times": OLDER_README,
}
GIVEN = (
    "100 runs of 1.5 ms",
    "1 GB in 0.1 ms",
    "The same kernel was run 600 times",
    "Twenty runs of 10 ms",
    "not 2.25 times as fast",
    "promises 1.3 times",
    "Ours 0.512 ms, theirs 0.515 ms",
    "ours measured again 0.516 ms",
    "0.6 % faster",
)
