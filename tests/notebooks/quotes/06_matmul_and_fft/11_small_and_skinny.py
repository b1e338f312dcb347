from tests.notebooks.drawn import DATA_SHEET, cause, record


def row_by_row():
    """TB/s that the order with the most bytes reads from DRAM."""
    order = record("tile_orders")["orders"][0]
    return order["dram_bytes_read"] / order["median_ms"] / 1e9


def of_64_rows(kernel):
    """Microseconds for 64 rows times 8192 x 8192."""
    size = [64, 8192, 8192]
    found = (r for r in record("kernels")["records"] if (r["kernel"], r["size"]) == (kernel, size))
    return 1e3 * next(found)["ours"]["median_ms"]


def small_m(rows):
    """How many times as fast as the best library chapter 08's kernel is, for 1024 x 8192."""
    size = [rows, 1024, 8192]
    found = (
        r
        for r in record("kernels")["records"]
        if (r["kernel"], r["size"]) == ("gemm_small_m", size)
    )
    return next(found)["ratio"]


def stream_k():
    """TFLOP/s of sgemm_stream_k at 8192."""
    found = record("kernels")["records"]
    big = next(r for r in found if (r["kernel"], r["size"]) == ("sgemm_stream_k", 8192))
    return big["flops"] / big["ours"]["median_ms"] / 1e9


QUOTES = {
    "the first pass takes 0.082 ms for 36": lambda: cause("split_k", "32", "product"),
    "the second 0.006 ms": lambda: cause("split_k", "32", "finish"),
    "the first pass takes 0.097 ms": lambda: cause("split_k", "34", "product"),
    "it takes 0.078 ms": lambda: cause("split_k", "128", "product"),
    "1.17 to 1.28 times as fast as the best": lambda: [small_m(64), small_m(16)],
    "38.7 µs instead of 40.5 µs": lambda: [
        of_64_rows("gemm_bf16_few_rows_wgmma"),
        of_64_rows("gemm_bf16_few_rows_tma"),
    ],
    "reaches 54 TFLOP/s at 8192": stream_k,
    "would take 0.080 ms at 54 TFLOP/s": lambda: [2 * 512 * 512 * 8192 / 54e9, stream_k()],
    "in 2.5 ms are 1.4 TB/s": lambda: [
        record("tile_orders")["orders"][0]["median_ms"],
        row_by_row(),
    ],
}
TRIED = "a trial on the H200, 2026-11-30; no record"
FACTS = {
    "67 TFLOP/s and 4.8 TB/s": DATA_SHEET,
    "first pass takes 0.097 ms in a trial": TRIED,
    "It took 16 µs more": TRIED,
    "It took 60 µs more": TRIED,
    "without the additions ` 50 to 70 µs": TRIED,
    "and took 9 µs more": TRIED,
    "copies take 85 µs, computing takes 57 µs, and both together 92 µs": TRIED,
    "at 69 µs for one row": TRIED,
    "11 of the 16 µs between them": TRIED,
    "3 µs of 26 at 128 × 128": TRIED,
    "1.5 µs for its early start": TRIED,
    "the model's bytes, within 0.2 %": TRIED,
}
GIVEN = (
    "We expected 4 µs less",
    "we expected up to 17 µs less",
    "The same product 20 times on a GPU",
    "0 times NaN is NaN",
)
