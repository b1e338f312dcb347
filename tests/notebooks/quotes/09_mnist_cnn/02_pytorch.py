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


def seconds_to_compile() -> tuple[float, float]:
    """The least and the most that torch.compile took for a whole step."""
    every = of("compiled step in a graph", "ready_s")
    return every[0], every[-1]


SEARCHED = "max-autotune steps of 64 images on the H200, 2026-11-23, five searches at once"
QUOTES = {
    "takes 270 us in place of 1,669 us": lambda: graph_and_eager(64),
    "3,147 us in place of 3,212 us": lambda: graph_and_eager(1024),
    "69 to 81 seconds": seconds_to_compile,
}
FACTS = {
    "ended after 110 s": SEARCHED,
    "a step of 166.8 us in fp32 and one of 122.0 us in bf16": SEARCHED,
}
