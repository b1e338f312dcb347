from tests.notebooks.drawn import DATA_SHEET, record
from tests.notebooks.quoting import about, more_than


def cycles_of_a_block():
    blocks = record("execution")["blocks"]
    spans = [end - begin for begin, end in zip(blocks["begin_ns"], blocks["end_ns"], strict=True)]
    return 1.98 * min(spans)


def load_over_fma():
    """One step of a chain of loads, as a multiple of one of FMAs."""
    execution = record("execution")
    return (execution["load_ms"][0] / 256) / (execution["fma_ms"][0] / 65536)


QUOTES = {
    "A load takes over a hundred times longer": lambda: more_than(load_over_fma(), 2),
    "took over a hundred times longer than a step": lambda: more_than(load_over_fma(), 2),
    "each block busy for 200,000 cycles": lambda: about(cycles_of_a_block(), 0.05),
}
FACTS = {"At the H200's 1.98 GHz": DATA_SHEET}
GIVEN = (
    "if each takes 10 µs? And 9 blocks",
    "takes 10 µs and",
    "there 7 cycles after the instruction",
    "takes 17 cycles",
    "Eight warps take 24 cycles",
    "each still waits 7 cycles",
    "takes 40 µs. How long",
    "<summary>40 µs, since",
    "About 50 µs",
    "About 39 µs, because 31 of 32 lanes take 40 µs",
)
