from tests.notebooks.drawn import record
from tests.notebooks.quoting import Bound, about


def of_cublas() -> Bound:
    """The last rung of register tiles, at 4,096."""
    (rung,) = (
        r
        for r in record("kernels")["records"]
        if r["kernel"] == "sgemm_conflict_free" and r["size"] == 4096
    )
    return about(100 * rung["ratio"])


QUOTES = {"a matrix product at 70 % of cuBLAS": of_cublas}
