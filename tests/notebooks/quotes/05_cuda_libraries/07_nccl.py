from tests.notebooks.drawn import record
from tests.notebooks.quoting import about

LONGEST = 1 << 28


def microseconds(name, size=LONGEST):
    return dict(record("nccl")["times_us"][name])[size]


def told(name, size=LONGEST):
    """Microseconds of an all-reduce that is told to use a protocol, or its ring or tree."""
    return dict(record("nccl")["variants_us"][name])[size]


def milliseconds_of(row, panel):
    """What the kernels of a row of the timeline take together."""
    spans = record("nccl")["ddp"]["panels"][panel]
    return sum(end - start for name, _, start, end in spans if name == row)


def both_panels(row):
    return [milliseconds_of(row, panel) for panel in ("DDP", "all-reduce behind")]


def shortest():
    names = "all_reduce", "broadcast", "reduce_scatter", "all_gather", "send_recv"
    return [microseconds(name, 1024) for name in names]


def below_all_three(size):
    """By how many microseconds NCCL's choice is faster than the fastest of its protocols."""
    fastest = min(told(name, size) for name in ("LL", "LL128", "Simple"))
    return fastest - microseconds("all_reduce", size)


def shorter_by_ddp():
    took = record("nccl")["ddp"]["step_ms"]
    return 100 * (1 - took["DDP"] / took["all-reduce behind"])


QUOTES = {
    "878 µs for the longest, and 903 µs by the ring": lambda: [told("tree"), told("ring")],
    "take 1125 µs, a quarter": lambda: microseconds("reduce_scatter") + microseconds("all_gather"),
    "at 359 GB/s, so β": lambda: LONGEST / microseconds("broadcast") / 1e3,
    "all five calls take 7 to 11 µs": lambda: [
        about(min(shortest()), 0.1),
        about(max(shortest()), 0.1),
    ],
    "it is 2.3 and 2.8 µs": lambda: [below_all_three(16384), below_all_three(1024)],
    "LL takes 2.5 times as long as Simple": lambda: told("LL") / told("Simple"),
    "is only 8 % shorter": shorter_by_ddp,
    "take 3.7 ms together, of the upper row 2.7 ms": lambda: both_panels("computation"),
    "the all-reduces 2.4 ms instead": lambda: milliseconds_of("all-reduce", "DDP"),
}
FACTS = {"450 GB/s in each direction": "NVIDIA H200 data sheet: NVLink 900 GB/s, both ways"}
GIVEN = (
    "called 20 times in a row",
    "4 MB, 2 µs and 100 GB/s, the ring takes 72 µs",
    "A network of 30 + 60 ms, 3 stages: 90 ms with the batch in one part, 40 ms with 6 parts",
    "ready at 1, 2 and 3 ms, and 2 ms for each all-reduce, it's at 7 ms",
)
