from tests.notebooks.drawn import cause, record


def in_graph() -> float:
    """Microseconds of each further launch in a graph, as the notebook works it out."""
    chain = record("hardware")["launches"][0]
    return (chain["graph"] - chain["fused_graph"]) / 3


QUOTES = {  # the last three are of the printed list of launches
    "a step took 6.4 ms": lambda: cause("mnist_host", "step"),
    "took 5.4 ms": lambda: cause("mnist_host", "launches_alone"),
    "they took 4.6 ms": lambda: cause("mnist_host", "without_waits"),
    "beforehand 0.58 ms": lambda: cause("mnist_host", "without_checks"),
    "is 1.1 µs on": in_graph,
    "has 30 % of the arithmetic": lambda: 100 * 2.32 / 7.85,
    "has 15 % of": lambda: 100 * 222 / 1451,
    "asked for 180.1 times": lambda: 8 * 7068 / (8 * 37 + 18),
}
TRAINED = "the cell above with its seed, run on the emulator; PyTorch with the same data and rates"
FACTS = {
    "91 % of the 200, and 92.6 %": TRAINED,
    "the same: 91 % and 92.6 %": TRAINED,
    "reads 91.2 to 92.8 %": TRAINED,
    "it was 88.7 to 91.3 %": TRAINED,
}
GIVEN = (
    "a hundred times as far as they spread",
    "wrong by 0.4 % at most",
    "| the error of bf16 | 0.4 % |",
    "Each is run twenty times in a row",
)
