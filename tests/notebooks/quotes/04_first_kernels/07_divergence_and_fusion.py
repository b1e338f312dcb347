from tests.notebooks.drawn import record


def over_the_compiler():
    """The least and the largest factor of the fused chain over torch.compile, by size."""
    found = (r for r in record("kernels")["records"] if r["kernel"] == "chain_fused_vector")
    ratios = sorted(r["ratio"] for r in found)
    return ratios[0], ratios[-1]


QUOTES = {"the last is 1.85 to 2.18 times as fast": over_the_compiler}
GIVEN = (  # the example of an exercise, worked out from its own numbers
    "takes 0.0025 s if stored",
    "it takes 0.002 s, so the choice",
)
