from tests.notebooks.drawn import record


def measured(kernel, size):
    return next(
        each
        for each in record("kernels")["records"]
        if (each["kernel"], each["size"]) == (kernel, list(size))
    )


def any_engine():
    """Least and most milliseconds of cuDNN's fastest engine, of filters from 3 x 3 to 11 x 11."""
    found = sorted(
        measured("conv_pipeline", (64, 64, 64, 56, 56, side))["libraries"][
            "cuDNN, any engine (NCHW)"
        ]
        for side in (3, 5, 7, 9, 11)
    )
    return found[0], found[-1]


def winograd():
    """TFLOP/s of the record, all products of the plain sum counted."""
    found = measured("conv_winograd", (256, 64, 64, 56, 56, 3))
    return found["flops"] / found["ours"]["median_ms"] / 1e9


QUOTES = {
    "takes 0.215 to 0.467 ms": any_engine,
    "about 1.6 times the rate of the rung before": lambda: (
        measured("conv_row_tile", (256, 64, 64, 56, 56, 3))["ours"]["median_ms"]
        / measured("conv_winograd", (256, 64, 64, 56, 56, 3))["ours"]["median_ms"]
    ),
    "it is 74.5 TFLOP/s, above the peak": winograd,
}
FACTS = {
    "only writes y took 4.1 µs": "a trial on the H200, 2026-11-28; no record",
    "3.4 times the pixels": "3 times 16 x 8 pixels over 14 x 8",
    "2.25 times": "36 products over 16, as the notebook prints",
}
GIVEN = ("We expected 0.085 ms",)
