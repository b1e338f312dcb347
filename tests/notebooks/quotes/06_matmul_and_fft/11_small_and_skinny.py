from tests.notebooks.drawn import DATA_SHEET, record


def row_by_row():
    """TB/s that the order with the most bytes reads from DRAM."""
    order = record("tile_orders")["orders"][0]
    return order["dram_bytes_read"] / order["median_ms"] / 1e9


QUOTES = {
    "in 2.5 ms are 1.4 TB/s": lambda: [
        record("tile_orders")["orders"][0]["median_ms"],
        row_by_row(),
    ]
}
FACTS = {"67 TFLOP/s and 4.8 TB/s": DATA_SHEET}
GIVEN = (
    "The same product 20 times on a GPU",
    "0 times NaN is NaN",
)
