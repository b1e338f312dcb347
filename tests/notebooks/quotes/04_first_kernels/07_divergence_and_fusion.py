from tests.notebooks.drawn import case, milliseconds

LARGE = 1 << 26


def by_the_compiler(name):
    """Milliseconds of the compiled chain, with its own dropout or with our hash."""
    return case("chain_fused_vector", LARGE)["libraries"][name]


QUOTES = {
    "0.128 ms and 0.126 ms in the record": lambda: [
        by_the_compiler("torch.compile, our hash"),
        milliseconds("chain_fused_vector", LARGE),
    ],
    "it takes 0.250 ms": lambda: by_the_compiler("torch.compile"),
}
GIVEN = (  # the example of an exercise, worked out from its own numbers
    "takes 0.0025 s if stored",
    "it takes 0.002 s, so the choice",
)
