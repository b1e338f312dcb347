from tests.notebooks.drawn import case, milliseconds

SIZE = 1 << 26


def beside(name):
    """How many times as long as ours a library takes."""
    took = case("philox_uniform", SIZE)["libraries"][name]
    return took / milliseconds("philox_uniform", SIZE)


QUOTES = {
    "ours take 72 µs": lambda: 1e3 * milliseconds("philox_uniform", SIZE),
    "1.04 times as long in its dynamic order": lambda: beside("cuRAND Philox, dynamic"),
    "and 1.10 times in its default one": lambda: beside("cuRAND Philox"),
    "` 1.55 times": lambda: beside("torch.rand"),
    "takes 1.76 times as long": lambda: beside("cuRAND XORWOW"),
}
