from tests.notebooks.drawn import case, milliseconds


def over(library: str) -> float:
    """Our int8 rate over that of a call, at 8192."""
    kernel = "gemm_int8_specialized"
    return case(kernel, 8192)["libraries"][library] / milliseconds(kernel, 8192)


QUOTES = {
    "1.17 times the rate of": lambda: over("torch._int_mm"),
    "0.75 times the rate of": lambda: over("cuBLAS int8 (NT)"),
}
