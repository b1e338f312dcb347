from course_utils import measurements
from course_utils.records.measured_files import REFERENCE


def of(way: str, figure: str, **wanted: object) -> list[float]:
    """This figure of every run that went this way and is as wanted, from least to most."""
    runs = measurements("mnist_step", REFERENCE)["runs"]
    wanted = {"way": way, **wanted}
    return sorted(r[figure] for r in runs if wanted.items() <= r.items())


def graph_and_eager(batch: int) -> tuple[float, float]:
    """Microseconds of a step in NCHW in fp32, in a graph and without."""
    step = {"precision": "fp32", "layout": "NCHW", "batch": batch}
    (graph,), (eager,) = (of(way, "median_us", **step) for way in ("CUDA graph", "eager"))
    return graph, eager


def seconds_to_compile(way: str) -> tuple[float, float]:
    """The least and the most that torch.compile took for a whole step."""
    every = of(way, "ready_s")
    return every[0], every[-1]


def saved_by_search() -> tuple[float, float]:
    """The least and the most of a compiled step's time that the longest search saves, in %."""
    sizes = [{"precision": p, "batch": b} for p in ("fp32", "bf16") for b in (64, 256, 1024)]
    found = sorted(
        100 * (1 - of(SEARCHED, "median_us", **size)[0] / of(COMPILED, "median_us", **size)[0])
        for size in sizes
    )
    return found[0], found[-1]


def searched_1024() -> tuple[float, float]:
    """Microseconds of the searched step of 1024 images in fp32, in NCHW and in channels_last."""
    step = {"precision": "fp32", "batch": 1024}
    (nchw,), (last,) = (
        of(SEARCHED, "median_us", layout=layout, **step) for layout in ("NCHW", "channels_last")
    )
    return nchw, last


COMPILED = "compiled step in a graph"
SEARCHED = "max-autotune step in a graph"
QUOTES = {
    "takes 270 µs instead of 1,669 µs": lambda: graph_and_eager(64),
    "3,147 µs instead of 3,212 µs": lambda: graph_and_eager(1024),
    "69 to 81 seconds": lambda: seconds_to_compile(COMPILED),
    "91 to 127 seconds": lambda: seconds_to_compile(SEARCHED),
    "by 8 to 15 % of the time without": saved_by_search,
    "takes 1,064 µs in NCHW and 1,081 µs": searched_1024,
}
FACTS = {
    "images that takes 122.0 µs": "five searches at once on the H200, 2026-11-23; no record",
}

GIVEN = (
    "the first takes 0.2 s",
    "the second 0.32 s",
    "For 0 to 10, 2 to 4 and 12 to 14 µs",
)  # the examples of tasks
