from tests.notebooks.drawn import case, milliseconds, record


def library(kernel: str, size: int) -> float:
    return case(kernel, size)["baseline"]["median_ms"]


def on_end(what: str) -> float:
    return case("gemm_hopper", 8192)["sustained"][what]


def with_few_rows() -> tuple[float, float]:
    """The least and the largest factor of gemm_small_m over the libraries."""
    found = sorted(
        r["ratio"] for r in record("kernels")["records"] if r["kernel"] == "gemm_small_m"
    )
    return found[0], found[-1]


QUOTES = {
    "64 × 128 takes 2.69 ms": lambda: milliseconds("gemm_wgmma", 8192),
    "only 1.85 ms": lambda: milliseconds("gemm_stages", 8192),
    "brings nothing here**: 1.89 ms": lambda: milliseconds("gemm_producer", 8192),
    "takes 1.61 ms": lambda: milliseconds("gemm_two_consumers", 8192),
    "**blocks that stay** 1.54 ms": lambda: milliseconds("gemm_persistent", 8192),
    "little time: 1.53 ms": lambda: milliseconds("gemm_multicast", 8192),
    "the step before: 1.56 ms": lambda: milliseconds("gemm_hopper", 8192),
    "fastest call took 1.62 ms": lambda: library("gemm_hopper", 8192),
    "ours is 1.04 times": lambda: case("gemm_hopper", 8192)["ratio"],
    "its fastest took 1.52 ms": lambda: library("gemm_multicast", 8192),
    "ours takes 0.1726 ms": lambda: milliseconds("gemm_hopper", 4096),
    "the library 0.1784 ms": lambda: library("gemm_hopper", 4096),
    "ours 1.61 ms": lambda: on_end("ours_ms"),
    "the library 1.63 ms": lambda: on_end("library_ms"),
    "both at 694 W": lambda: on_end("ours_watts"),
    "fp8 takes 0.77 ms": lambda: milliseconds("gemm_fp8", 8192),
    "int8 0.77 ms": lambda: milliseconds("gemm_int8", 8192),
    "beside 0.81 ms": lambda: library("gemm_fp8", 8192),
    "0.79 ms of the best": lambda: library("gemm_int8", 8192),
    "ours are 1.02 and 1.10 times": lambda: [
        case(kernel, 8192)["sustained"]["ratio"] for kernel in ("gemm_fp8", "gemm_int8")
    ],
    "it is 0.98 to 1.19 times": with_few_rows,
}
