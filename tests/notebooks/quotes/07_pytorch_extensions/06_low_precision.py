from tests.notebooks.drawn import DATA_SHEET, cause, record


def gemv(kernel: str, matrices: int = 1, library: str = "") -> float:
    """Microseconds of a product with one matrix: ours, or of a library beside the last rung."""
    (found,) = (
        each
        for each in record("kernels")["records"]
        if (each["kernel"], each["size"]) == (kernel, [matrices, 8192, 8192])
    )
    ms = found["libraries"][library] if library else found["ours"]["median_ms"]
    return 1e3 * ms / matrices


BYTES, BULK = "gemv_int4_bytes", "gemv_int4_bulk"


def sparse(n):
    """Milliseconds of the sparse and of the dense product of ``n``, each in a CUDA graph."""
    return [cause("sparse", str(n), f"{kind}_graph") for kind in ("sparse", "dense")]


def gain(n):
    sparse_ms, dense_ms = sparse(n)
    return dense_ms / sparse_ms


QUOTES = {
    "Ours take 13 µs, but for one token": lambda: gemv(BYTES),
    "takes 0.98 ms at 8192 and the dense one 1.32 ms": lambda: sparse(8192),
    "so it's 1.35 times": lambda: gain(8192),
    "and 1.31 times at 4096": lambda: gain(4096),
    "0.013 ms against 0.008 ms": lambda: sparse(1024),
    "takes 17.6 µs where the first takes 20.8 µs": lambda: (
        gemv("gemv_int4"),
        gemv("gemv_int4_converted"),
    ),
    "in bytes it is 13.0 µs": lambda: gemv(BYTES),
    "2.52 times as fast as the best": lambda: gemv(BULK, 1, "torch.compile, fp16") / gemv(BYTES),
    "2.61 times as fast as our": lambda: gemv("gemv_fp16") / gemv(BYTES),
    "and 3.07 times as fast as": lambda: gemv(BULK, 1, "torch.mv, fp16") / gemv(BYTES),
    "four bits is 2.84 times": lambda: gemv("gemv_fp16", 12) / gemv(BYTES, 12),
    "early as well and takes 10.2 µs": lambda: gemv(BULK, 12),
    "each of twelve: 3.06 times": lambda: gemv("gemv_fp16", 12) / gemv(BULK, 12),
}
RIVALS = "a run beside the records' kernels, 2026-11-30, in TRIALS.md; no record"
FACTS = {
    "takes 19.0 µs for it on this matrix, 19.2 µs for 16 tokens and 35.3 µs for 64": RIVALS,
    "4.8 TB/s is the rate in the H200's data sheet": DATA_SHEET,
}
GIVEN = (
    "are four bits higher and count 16 times",
    "A tensor has a few numbers 40 times as large",
    "and there are 16 times as many products",
    "At 4096 there are 64 times as many products",
)
