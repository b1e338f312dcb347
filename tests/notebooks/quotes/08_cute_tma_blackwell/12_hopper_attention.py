from tests.notebooks.drawn import case, cause, milliseconds
from tests.notebooks.quoting import about

SHORT, LONG = [16, 16, 1024], [2, 16, 8192]
BACKWARD = "attention_backward", "attention_backward_causal"
FLASH_4 = "FlashAttention-4 4.0.0b36"
FORWARD = "wgmma", "producer", "two_groups", "overlap", "turns", "hopper"


def cudnn() -> list[float]:
    """Milliseconds of cuDNN beside the rungs of the forward pass without a mask: least and most."""
    found = [case(f"attention_{rung}", LONG)["libraries"]["cuDNN"] for rung in FORWARD]
    return [min(found), max(found)]


def ahead(size: list[int], rival: str, name: str = "attention_hopper") -> float:
    """By how many per cent a pass is faster, the forward pass without a mask if not another."""
    found = case(name, size)
    return 100 * (found["libraries"][rival] / found["ours"]["median_ms"] - 1)


def clocks_forward() -> float:
    """Of 128 queries and 128 keys on a multiprocessor, in the sustained forward pass."""
    found = case("attention_hopper", LONG)["sustained"]
    return found["ours_ms"] * 1e3 * found["ours_mhz"] / (2 * 16 * 64 * 64 / 132)


def clocks_of_a_tile() -> float:
    """Of 80 queries and 128 keys on a multiprocessor, in the sustained backward pass."""
    found = case("attention_backward", LONG)["sustained"]
    tiles = 2 * 16 * -(-8192 // 80) * (8192 // 128)
    return found["ours_ms"] * 1e3 * found["ours_mhz"] / (tiles / 132)


QUOTES = {
    "about 4,750 clocks per tile": lambda: about(clocks_of_a_tile(), 0.01),
    "1.68 ms instead of 1.45 ms": lambda: [
        cause("attention_room", "no_room"),
        cause("attention_room", "room"),
    ],
    "cuDNN took 1.62 to 1.63 ms": cudnn,
    "takes about 2,690 clocks": lambda: about(clocks_forward(), 0.01),
    "rung** is 13 % faster": lambda: (
        100 * (milliseconds("attention_turns", LONG) / milliseconds("attention_hopper", LONG) - 1)
    ),
    "FlashAttention-4 by 2 %, which": lambda: ahead(LONG, FLASH_4),
    "of cuDNN by 9 %": lambda: ahead(LONG, "cuDNN"),
    "FlashAttention-4 sustained by 0.8 %": lambda: (
        100 * (case("attention_hopper", LONG)["sustained"]["ratio"] - 1)
    ),
    "in a burst, and 3 % faster sustained": lambda: (
        100 * (case("attention_hopper_causal", LONG)["sustained"]["ratio"] - 1)
    ),
    "ours beats it by 2.9 % and 10 %": lambda: [
        ahead(SHORT, "cuDNN", "attention_hopper" + end) for end in ("", "_causal")
    ],
    "ahead, by up to 4.5 %": lambda: max(
        ahead(size, FLASH_4, name) for name in BACKWARD for size in (SHORT, LONG)
    ),
}
VARIANTS = "one run of all variants of the backward pass on an H200, 30 November 2026"
FORWARD_VARIANTS = "one run of all variants of the forward pass on an H200, 30 November 2026"
TRIALS = "assets/benchmarks/TRIALS.md"
EARLIER = "another such run, of the same variants without the later changes"
FACTS = {
    "0.757 ms at 8192 tokens, and ours takes 0.799 ms, 5.5 % longer": TRIALS,
    "takes 3 % longer with the mask and 2 % without": TRIALS,
    "without a mask both take 1.48 ms": TRIALS,
    "takes 2 to 5 % longer than ours": TRIALS,
    "took 1.53 ms, and 0.806": FORWARD_VARIANTS,
    "| 1.73 ms | 0.839 ms |": FORWARD_VARIANTS,
    "| 1.61 ms | 0.792 ms |": FORWARD_VARIANTS,
    "| 1.56 ms | |": FORWARD_VARIANTS,
    "| 1.50 ms | 0.796 ms |": FORWARD_VARIANTS,
    "| 1.49 ms | 0.797 ms |": FORWARD_VARIANTS,
    "it *costs* 6 %": FORWARD_VARIANTS,
    "changed 2 % at most": FORWARD_VARIANTS + "; assets/benchmarks/TRIALS.md",
    "Three groups took 10 % more time": FORWARD_VARIANTS,
    "exponentials as polynomials 5 % more": EARLIER,
    "needed 890 clocks": "clock() in a kernel of that run, a group's median of 1,000 tiles",
    "per clock at 1,830 MHz": "989 TFLOP/s of the data sheet over 132 · 4096 FLOPs",
    "It saves 5 %": "1 - 2,560 / 2,688, the larger of both clocks that the cell prints",
    "cuDNN took 5.19 ms": VARIANTS,
    "| 5.39 ms | 2.95 ms |": VARIANTS,
    "| 5.32 ms | 2.59 ms |": VARIANTS,
    "| 4.99 ms | 2.53 ms |": VARIANTS,
    "| 4.71 ms | 2.35 ms |": VARIANTS,
    "| 4.33 ms | 2.22 ms |": VARIANTS,
    "0.96 → 0.74 ms": VARIANTS,
    "but it cost 3 %": VARIANTS,
    "it gained 2 %": VARIANTS,
}
GIVEN = (
    "400 clocks of other work",
    "| −3 % | 1.61",  # predictions
    "| −1 % | 1.56",
    "| 0 % | 1.50",
    "| −1 % | 1.49",
    "| −3 %, −8 % |",  # predictions
    "| −4 to −8 % |",
    "| −8 % |",
)
