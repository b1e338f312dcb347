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


QUOTES = {
    "the first pass takes 0.082 ms for 36": lambda: cause("split_k", "32", "product"),
    "the second 0.006 ms": lambda: cause("split_k", "32", "finish"),
    "the first pass takes 0.097 ms": lambda: cause("split_k", "34", "product"),
    "it takes 0.078 ms": lambda: cause("split_k", "128", "product"),
    "1.14 to 1.25 times as fast as the best": lambda: [small_m(64), small_m(16)],
    "38.1 µs instead of 40.8 µs": lambda: [
        of_64_rows("gemm_bf16_few_rows_wgmma"),
        of_64_rows("gemm_bf16_few_rows_tma"),
    ],
    "in 2.5 ms are 1.4 TB/s": lambda: [
        record("tile_orders")["orders"][0]["median_ms"],
        row_by_row(),
    ],
}
FACTS = {"67 TFLOP/s and 4.8 TB/s": DATA_SHEET}
GIVEN = (
    "The same product 20 times on a GPU",
    "0 times NaN is NaN",
)
