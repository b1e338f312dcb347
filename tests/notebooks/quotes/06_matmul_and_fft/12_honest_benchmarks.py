from tests.notebooks.drawn import DATA_SHEET, case, record

BYTES = 1 << 28
OLDER_README = "README.md of this course before its measurements of 2026-11-22"


def cub_ms():
    return case("histogram_lanes", BYTES)["libraries"]["CUB DeviceHistogram::HistogramEven"]


QUOTES = {
    "0.86 times at 2¹⁶, 1.30 times at 2²⁸": lambda: [
        case("scan_specialized", n)["ratio"] for n in (1 << 16, 1 << 28)
    ],
    "begins at 0.86 times the library's speed and ends at 1.30 times": lambda: [
        case("scan_specialized", n)["ratio"] for n in (1 << 16, 1 << 28)
    ],
    "scan: 1.30 times as fast as CUB": lambda: case("scan_specialized", 1 << 28)["ratio"],
    "comes to 699 W": lambda: (max(record("lies")["settling"]["watts"]),),
    "up to 1.95 ms": lambda: (max(record("lies")["settling"]["ms"]),),
    "CUB takes 0.124 ms": cub_ms,
    "has 1.04 times the library's speed in bursts": lambda: case("sgemm_stream_k", 8192)["ratio"],
    "*burst* | 1.04 times, sustained 0.99 times": lambda: [
        case("sgemm_stream_k", 8192)["ratio"],
        case("sgemm_stream_k", 8192)["sustained"]["ratio"],
    ],
}
FACTS = {
    "long loops right within 4 %": "1 - 61.1 / 63.2, both printed above it",
    "far less than 700 W": "NVML's limit of the board, as assets/benchmarks/TRIALS.md says",
    "at 449 W of 700": "a row of assets/benchmarks/TRIALS.md, 2026-12-01",
    "67 TFLOP/s in fp32, says": DATA_SHEET,
    "int8 product at 8192: 1.17 times": OLDER_README,
    "histogram of bytes: 14.47 times": OLDER_README,
    "took 0.119 ms": OLDER_README,
    "fp32 product at 8192: 1.05 times": OLDER_README,
}
GIVEN = (
    "busy for 0.3 ms",
    '"1.04 times as fast as the library." Events',
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
