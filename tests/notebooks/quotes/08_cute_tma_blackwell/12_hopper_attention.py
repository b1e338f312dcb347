from tests.notebooks.drawn import case, cause, milliseconds
from tests.notebooks.quoting import about

SHORT, LONG = [16, 16, 1024], [2, 16, 8192]
BACKWARD = "attention_backward", "attention_backward_causal"
FORWARD = "wgmma", "producer", "two_groups", "overlap", "turns", "hopper"


def cudnn() -> float:
    """Milliseconds of cuDNN beside any rung of the forward pass without a mask."""
    found = [case(f"attention_{rung}", LONG)["libraries"]["cuDNN"] for rung in FORWARD]
    assert round(min(found), 2) == round(max(found), 2)
    return found[0]


def clocks_of_a_tile() -> float:
    """Of 80 queries and 128 keys on a multiprocessor, in the sustained backward pass."""
    found = case("attention_backward", LONG)["sustained"]
    tiles = 2 * 16 * -(-8192 // 80) * (8192 // 128)
    return found["ours_ms"] * 1e3 * found["ours_mhz"] / (tiles / 132)


QUOTES = {
    "about 4,750 clocks per tile": lambda: about(clocks_of_a_tile(), 0.01),
    "1.86 ms instead of 1.61 ms": lambda: [
        cause("attention_room", "no_room"),
        cause("attention_room", "room"),
    ],
    "cuDNN took 1.63 ms each time": cudnn,
    "rung** is faster by 2 %": lambda: (
        100 * (milliseconds("attention_turns", LONG) / milliseconds("attention_hopper", LONG) - 1)
    ),
    "0.99 times as fast in a burst": lambda: case("attention_hopper", LONG)["ratio"],
    "ours is 1.02 times as fast without a mask and 1.04 times with it": lambda: [
        case(name, LONG)["ratio"] for name in BACKWARD
    ],
    "and 1.01 and 1.02 times for seconds": lambda: [
        case(name, LONG)["sustained"]["ratio"] for name in BACKWARD
    ],
    "1.15 and 1.17 times as fast as cuDNN": lambda: [
        case(name, SHORT)["ratio"] for name in BACKWARD
    ],
    "1.01 times for seconds": lambda: case("attention_hopper", LONG)["sustained"]["ratio"],
}
VARIANTS = "one run of all variants of the backward pass on an H200, 30 November 2026"
FACTS = {
    "per clock at 1,830 MHz": "989 TFLOP/s of the data sheet over 132 · 4096 FLOPs",
    "It saves 5 %": "1 - 2,560 / 2,688, the larger of both clocks that the cell prints",
    "cuDNN took 5.19 ms": VARIANTS,
    "| 5.39 ms | 2.95 ms |": VARIANTS,
    "| 5.32 ms | 2.59 ms |": VARIANTS,
    "| 4.99 ms | 2.53 ms |": VARIANTS,
    "| 4.71 ms | 2.35 ms |": VARIANTS,
    "| 4.33 ms | 2.22 ms |": VARIANTS,
    "0.96 → 0.74 ms": VARIANTS,
    "and cost 3 %": VARIANTS,
    "it gained 2 %": VARIANTS,
}
GIVEN = (
    "400 clocks of other work",
    "| −3 %, −8 % |",  # predictions
    "| −4 to −8 % |",
    "| −8 % |",
)
