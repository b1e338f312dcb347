from tests.notebooks.drawn import record


def measured(kernel, size):
    return next(
        each
        for each in record("kernels")["records"]
        if (each["kernel"], each["size"]) == (kernel, list(size))
    )


LARGEST_FILTER = (64, 64, 64, 56, 56, 11)
QUOTES = {
    "the fastest takes 0.463 ms at 11": lambda: measured("conv_pipeline", LARGEST_FILTER)[
        "libraries"
    ]["cuDNN, any engine (NCHW)"],
}
FACTS = {
    "2.25 times": "36 products over 16, as the notebook prints",
    "13 times as many": "11 × 11 taps over 3 × 3",
}
