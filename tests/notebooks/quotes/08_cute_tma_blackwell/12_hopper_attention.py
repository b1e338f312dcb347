from tests.notebooks.drawn import case, cause, milliseconds

SHORT, LONG = [16, 16, 1024], [2, 16, 8192]
BACKWARD = "attention_backward", "attention_backward_causal"
FLASH_3, FLASH_4 = "FlashAttention-3 3.0.0+dew0.3.6", "FlashAttention-4 4.0.0b36"
FORWARD = "wgmma", "producer", "two_groups", "overlap", "turns", "hopper"


def cudnn() -> float:
    """Milliseconds of cuDNN beside any rung of the forward pass without a mask."""
    found = [case(f"attention_{rung}", LONG)["libraries"]["cuDNN"] for rung in FORWARD]
    assert round(min(found), 2) == round(max(found), 2)
    return found[0]


def ahead(size: list[int], rival: str, name: str = "attention_hopper") -> float:
    """By how many per cent a pass is faster, the forward pass without a mask if not another."""
    found = case(name, size)
    return 100 * (found["libraries"][rival] / found["ours"]["median_ms"] - 1)


def sustained(name: str) -> float:
    """By how many per cent a pass is faster than its rival, sustained."""
    return 100 * (case(name, LONG)["sustained"]["ratio"] - 1)


def longer(size: list[int], rival: str, name: str) -> float:
    """By how many per cent a pass takes longer."""
    found = case(name, size)
    return 100 * (found["ours"]["median_ms"] / found["libraries"][rival] - 1)


QUOTES = {
    "1.68 ms instead of 1.45 ms": lambda: [
        cause("attention_room", "no_room"),
        cause("attention_room", "room"),
    ],
    "cuDNN took 1.63 ms": cudnn,
    "rung** is 13 % faster": lambda: (
        100 * (milliseconds("attention_turns", LONG) / milliseconds("attention_hopper", LONG) - 1)
    ),
    "of cuDNN by 10 % and of FlashAttention-4 by 2.8 %": lambda: [
        ahead(LONG, rival) for rival in ("cuDNN", FLASH_4)
    ],
    "ahead by 0.5 % in a burst and 1.8 % sustained": lambda: [
        ahead(LONG, FLASH_3),
        sustained("attention_hopper"),
    ],
    "ours takes 1.8 % longer in a burst": lambda: longer(LONG, FLASH_3, "attention_hopper_causal"),
    "is ahead by 1.2 % sustained": lambda: sustained("attention_hopper_causal"),
    "takes 3.1 % longer with the mask and 2.5 % without": lambda: [
        longer(SHORT, FLASH_3, name) for name in ("attention_hopper_causal", "attention_hopper")
    ],
    "of FlashAttention-3 by 2.4 to 5.2 %": lambda: [
        of(ahead(size, FLASH_3, name) for name in BACKWARD for size in (SHORT, LONG))
        for of in (min, max)
    ],
    "ahead, by up to 5.5 %": lambda: max(
        ahead(size, FLASH_4, name) for name in BACKWARD for size in (SHORT, LONG)
    ),
}
VARIANTS = "one run of all variants of the backward pass on an H200, 30 November 2026"
FORWARD_VARIANTS = "one run of all variants of the forward pass on an H200, 30 November 2026"
EARLIER = "another such run, of the same variants without the later changes"
CAUSES = "runs of 30 November 2026, in assets/benchmarks/TRIALS.md"
FACTS = {
    "level, which means within 2 %": "the rule of RECORDS.md",
    "took 0.772 ms with two heads at a time and 0.792 ms with eight": CAUSES,
    "took 1.53 ms, and 0.806": FORWARD_VARIANTS,
    "| 1.73 ms | 0.839 ms |": FORWARD_VARIANTS,
    "| 1.61 ms | 0.792 ms |": FORWARD_VARIANTS,
    "| 1.56 ms | |": FORWARD_VARIANTS,
    "| 1.50 ms | 0.796 ms |": FORWARD_VARIANTS,
    "| 1.49 ms | 0.797 ms |": FORWARD_VARIANTS,
    "it *cost* 6 %": FORWARD_VARIANTS,
    "it takes 1.53 ms instead of 1.46 ms, and with shared loads 1.53 ms too": CAUSES,
    "took 4.46 ms with one block on a multiprocessor, 2.75 ms with two": CAUSES,
    "2.15 ms with three, and the second 2.65 ms": CAUSES,
    "took 4.35 ms instead of 4.78 ms": CAUSES,
    "about 4,300 clocks per tile": "4.759 ms at 1,442 MHz, 2 · 16 · 103 · 64 / 132 tiles",
    "small kernels have 3 % of the time": "0.116 of 4.160 ms; " + CAUSES,
    "busy for 78 % of a multiprocessor's clocks": "ncu's share of active clocks; " + CAUSES,
    "in the forward pass for 86 %": "ncu's share of active clocks; " + CAUSES,
    "before them too 4.5 %": CAUSES,
    "It counts 1,428 MHz": CAUSES,
    "which costs 22 %": "1 - 1,428 / 1,830",
    "takes about 2,330 clocks": "2,389,540 clocks of block 0 for 16 · 64 tiles; " + CAUSES,
    "2,048 of them: 12 %": "1 - 2,048 / 2,334",
    "half full: 3 %": "1 - 15.52 / 16",
    "it was 4.41 ms instead of 4.64 ms": CAUSES,
    "changed 2 % at most": FORWARD_VARIANTS + "; assets/benchmarks/TRIALS.md",
    "Three groups took 10 % more time": FORWARD_VARIANTS,
    "exponentials as polynomials 5 % more": EARLIER,
    "needed 890 clocks": "clock() in a kernel of that run, a group's median of 1,000 tiles",
    "per clock at 1,830 MHz": "989 TFLOP/s of the data sheet over 132 · 4096 FLOPs",
    "128 of 2,688 clocks (5 %)": "2,688 - 2,560, the larger of both clocks that the cell prints",
    "about 700 TFLOP/s": "4 · 4 · 8192² · 128 FLOPs over the 0.1967 ms that the cell prints",
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
