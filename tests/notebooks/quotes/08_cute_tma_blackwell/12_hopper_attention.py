from tests.notebooks.drawn import case, cause, milliseconds

LONG = [2, 16, 8192]
FORWARD = "wgmma", "producer", "two_groups", "overlap", "turns", "hopper"


def cudnn() -> float:
    """Milliseconds of cuDNN beside any rung of the forward pass without a mask."""
    found = [case(f"attention_{rung}", LONG)["libraries"]["cuDNN"] for rung in FORWARD]
    assert round(min(found), 2) == round(max(found), 2)
    return found[0]


QUOTES = {
    "1.86 ms instead of 1.61 ms": lambda: [
        cause("attention_room", "no_room"),
        cause("attention_room", "room"),
    ],
    "cuDNN took 1.63 ms each time": cudnn,
    "rung** is faster by 2 %": lambda: (
        100 * (milliseconds("attention_turns", LONG) / milliseconds("attention_hopper", LONG) - 1)
    ),
    "0.99 times as fast in a burst": lambda: case("attention_hopper", LONG)["ratio"],
    "1.01 times for seconds": lambda: case("attention_hopper", LONG)["sustained"]["ratio"],
}
FACTS = {"per clock at 1,830 MHz": "989 TFLOP/s of the data sheet over 132 · 4096 FLOPs"}
GIVEN = ("400 clocks of other work",)
