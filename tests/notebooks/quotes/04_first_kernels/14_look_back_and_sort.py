"""Figures in 04/14."""

from tests.notebooks.drawn import case

TRIAL = "a trial on one H200, 2026-11-30, all in turns; no record"
FACTS = {
    "| nothing | | 5.13 ms |": TRIAL,
    "tiles wait longer | 7.13 ms |": TRIAL,
    "for each key | 6.16 ms |": TRIAL,
    "| faster | 10.8 ms |": TRIAL,
    "| faster | 5.54 ms |": TRIAL,
    "| the same | 5.42 ms |": TRIAL,
    "| the same | 5.10 ms |": TRIAL,
    "| a few percent faster | 5.05 ms |": TRIAL,
    "| 4.60 → 4.52 ms |": TRIAL,
    "| 4.32 → 3.92 ms |": TRIAL,
    "| 0.49 → 0.25 ms |": TRIAL,
}
QUOTES = {
    "it is 1.18 to 1.26 times as fast": lambda: [
        case(f"select_look_back_{percent}", 1 << 16)["ratio"] for percent in (99, 1)
    ],
    "at 2²⁸ 1.02 to 1.23 times": lambda: [
        case(f"select_look_back_{percent}", 1 << 28)["ratio"] for percent in (99, 1)
    ],
}
GIVEN = ("| 7 % faster |",)
