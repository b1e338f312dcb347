from tests.notebooks.drawn import case, milliseconds

SIZE = [8192, 8192]

QUOTES = {
    "takes 0.131 ms": lambda: milliseconds("transpose_tma", SIZE),
    "beside it 0.13 ms": lambda: case("transpose_tma", SIZE)["libraries"]["transpose_vector"],
}
