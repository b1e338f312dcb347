from tests.notebooks.drawn import case, cause, milliseconds

LONG = [64, 32, 8, 8192]


def library(kernel):
    """The rate at which the library beside ``kernel`` reads long caches, in TB/s."""
    found = case(kernel, LONG)
    return found["bytes"] / found["baseline"]["median_ms"] / 1e9


QUOTES = {
    "together take 0.0207 ms": lambda: cause("decode", "32", "both"),
    "takes 0.0172 ms instead of 0.0207": lambda: milliseconds(
        "decode_persistent", [1, 32, 8, 8192]
    ),
    "alone takes 0.0156 ms": lambda: cause("decode", "32", "attention"),
    "1.29 times faster than the best": lambda: case("decode_persistent_ragged", LONG)["ratio"],
    "read 4.54 TB/s": lambda: library("decode_mma"),
    "differ by 2.2 %": lambda: 100 * (library("decode_mma") / library("decode_persistent") - 1),
    "That is 99 % of what": lambda: (
        100 * case("decode_persistent_in_order", LONG)["roofline_fraction"]
    ),
}
