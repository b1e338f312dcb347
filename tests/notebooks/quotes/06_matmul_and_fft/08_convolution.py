from tests.notebooks.drawn import record


def layers():
    return record("cudnn")["layers"]


def fastest_engine(layer, layout):
    """Milliseconds of the fastest that computes in fp32."""
    (found,) = (
        part
        for part in layers()
        if (part["kind"], part["layer"][:3], part["layout"]) == ("fp32", layer, layout)
    )
    return min(
        engine["median_ms"]
        for engine in found["engines"]
        if not {"tensor cores", "inputs rounded"} & set(engine["notes"])
    )


def ours(layer, name):
    return next(p["ours"][name] for p in layers() if "ours" in p and p["layer"][:3] == layer)


def measured(kernel, size):
    return next(
        each
        for each in record("kernels")["records"]
        if (each["kernel"], each["size"]) == (kernel, list(size))
    )


def first_layer_beside_pytorch():
    found = measured("conv_row_tile", (1024, 1, 16, 28, 28, 3))
    library = min(found["libraries"][f"cuDNN ({layout})"] for layout in ("NCHW", "NHWC"))
    return library / found["ours"]["median_ms"]


LARGE, LARGEST_FILTER = [256, 64, 64], (64, 64, 64, 56, 56, 11)
QUOTES = {
    "called directly it takes 0.811 ms": lambda: fastest_engine(LARGE, "NCHW"),
    "0.818 ms in the same run": lambda: ours(LARGE, "conv_winograd"),
    "would be 2.59 times as fast": first_layer_beside_pytorch,
    "the fastest takes 0.463 ms at 11": lambda: measured("conv_pipeline", LARGEST_FILTER)[
        "libraries"
    ]["cuDNN, any engine (NCHW)"],
}
FACTS = {
    "2.25 times": "36 products over 16, as the notebook prints",
    "13 times as many": "11 × 11 taps over 3 × 3",
}
