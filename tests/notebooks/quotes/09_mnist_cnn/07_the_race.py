from collections.abc import Iterator

from course_utils import measurements
from course_utils.records.measured_files import REFERENCE

RACE = measurements("mnist_race", REFERENCE)
STEPS = RACE["steps"]
BF16_1024 = STEPS[5]


def least_and_most(values: Iterator[float]) -> tuple[float, float]:
    found = sorted(values)
    return found[0], found[-1]


def bursts() -> tuple[float, float]:
    """PyTorch's step over ours in bursts, at the six sizes."""
    return least_and_most(run["theirs_us"] / run["ours_us"] for run in STEPS)


def epochs() -> tuple[float, float]:
    """PyTorch's epoch over ours."""
    return least_and_most(run["theirs_epoch_ms"] / run["ours_epoch_ms"] for run in STEPS)


def eager() -> float:
    """Microseconds of PyTorch's eager step of 64 images in fp32."""
    runs = measurements("mnist_step", REFERENCE)["runs"]
    (found,) = (
        run["median_us"]
        for run in runs
        if (run["way"], run["precision"], run["batch"]) == ("eager", "fp32", 64)
    )
    return found


def order_of_an_epoch() -> float:
    """What is no step of our epoch of 1024 images in bf16, as a share in %."""
    steps_ms = 60_000 // 1024 * BF16_1024["ours_us"] / 1e3
    return 100 * (1 - steps_ms / BF16_1024["ours_epoch_ms"])


def most_power() -> float:
    return max(run["sustained"][f"{who}_watts"] for run in STEPS for who in ("ours", "library"))


def clock() -> float:
    """MHz in all runs that went on for seconds."""
    (found,) = {run["sustained"][f"{who}_mhz"] for run in STEPS for who in ("ours", "library")}
    return found


QUOTES = {
    "takes 1,669 us, 46 times": lambda: (eager(), eager() / STEPS[0]["ours_us"]),
    "the same 1,980 MHz": clock,
    "at most 540 W": most_power,
    "it is 10 % of our epoch": order_of_an_epoch,
}
SEARCHED = "max-autotune steps of 64 images in turn with ours on the H200, 2026-11-23; no record"
FACTS = {
    "below the 700 W at": "the data sheet of the H200 (SXM)",
    "takes 166.8 us in fp32 and 122.0 us in bf16": SEARCHED,
    "58 kernels in it, of 3.3 us on average": "PyTorch's profiler on the H200, 2026-11-23",
    "are 0.2 to 7 times as far": "one step from the weights of seed 1 on the H200, 2026-11-23",
}
GIVEN = (
    "a test lets none be ten times as far",
    "its length agrees with finite differences to 2 %",
    "the length changes by less than those 2 %",
)
