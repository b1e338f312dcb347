from tests.notebooks.drawn import record

ON_WGMMA = "gemm_hopper", "gemm_fp8", "gemm_int8"


def products() -> list[dict]:
    """The records of chapter 08's square products."""
    return [r for r in record("kernels")["records"] if r["kernel"] in ON_WGMMA]


def bursts() -> tuple[float, float]:
    ratios = [r["ratio"] for r in products()]
    return min(ratios), max(ratios)


def for_seconds() -> tuple[float, float]:
    ratios = [r["sustained"]["ratio"] for r in products() if r["sustained"]]
    return min(ratios), max(ratios)


QUOTES = {
    "with it: 0.97 to 1.07 times as fast": bursts,
    "and 1.01 to 1.04 times for seconds": for_seconds,
}
