from tests.notebooks.drawn import cause

QUOTES = {
    "0.41 ms instead of 0.39 ms": lambda: [
        cause("transpose", "reads_a_column_past_l1"),
        cause("transpose", "reads_a_column"),
    ],
}
FACTS = {
    "still takes 2.6 times as long": "71.6 µs and 27.9 µs, a trial in TRIALS.md",
}
GIVEN = ("takes 32 times the wavefronts of the line that fills it",)
