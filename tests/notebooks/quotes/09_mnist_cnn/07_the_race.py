from collections.abc import Iterable

from course_utils import measurements
from course_utils.records.measured_files import REFERENCE

RACE = measurements("mnist_race", REFERENCE)
STEPS = RACE["steps"]
BF16_1024 = STEPS[5]


def least_and_most(values: Iterable[float]) -> tuple[float, float]:
    found = sorted(values)
    return found[0], found[-1]


def factor(figure: str) -> list[float]:
    """PyTorch's figure over ours at the six sizes: fp32, then bf16, each from 64 to 1024."""
    return [run[f"theirs_{figure}"] / run[f"ours_{figure}"] for run in STEPS]


def missing() -> list[tuple[float, float]]:
    """Where we are not five times as fast: the microseconds to save, and their share in %."""
    found = [(run["ours_us"], run["ours_us"] - run["theirs_us"] / 5) for run in STEPS]
    return [(us, 100 * us / ours) for ours, us in found if us > 0]


def parts(precision: str) -> tuple[float, float]:
    """PyTorch's time over ours for any batch and for each image, by a line through 64 and 1024."""
    small, _, large = (run for run in STEPS if run["precision"] == precision)

    def line(who: str) -> tuple[float, float]:
        image = (large[f"{who}_us"] - small[f"{who}_us"]) / (1024 - 64)
        return small[f"{who}_us"] - 64 * image, image

    (their_batch, their_image), (our_batch, our_image) = line("theirs"), line("ours")
    return their_batch / our_batch, their_image / our_image


def of_64_in_fp32(way: str) -> float:
    """Microseconds of the fastest step of 64 images in fp32 that went this way."""
    runs = measurements("mnist_step", REFERENCE)["runs"]
    wanted = way, "fp32", 64
    return min(
        run["median_us"] for run in runs if (run["way"], run["precision"], run["batch"]) == wanted
    )


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


EAGER, COMPILED = "eager", "compiled step in a graph"
OURS = STEPS[0]["ours_us"]
QUOTES = {
    "it is 4.6 to 5.8 times": lambda: least_and_most(factor("us")),
    "takes 1,669 us, 46 times": lambda: (of_64_in_fp32(EAGER), of_64_in_fp32(EAGER) / OURS),
    "with 256 images, 5.70 times": lambda: factor("us")[1],
    "images, 5.81 times": lambda: factor("us")[2],
    "missed at 4.58 times": lambda: factor("us")[0],
    "at every size: 4.65 times": lambda: factor("us")[3],
    "4.64 times": lambda: factor("us")[4],
    "4.84 times": lambda: factor("us")[5],
    "shorter by 3 to 8 %": lambda: least_and_most(share for _, share in missing()),
    "which is 2.0 to 4.0 us": lambda: least_and_most(us for us, _ in missing()),
    "one that takes 189 us": lambda: of_64_in_fp32(COMPILED),
    "would be 5.2 times": lambda: of_64_in_fp32(COMPILED) / OURS,
    "takes 4.0 times": lambda: parts("fp32")[0],
    "6.1 times": lambda: parts("fp32")[1],
    "the two are 4.6 times and 4.9 times": lambda: parts("bf16"),
    "ours is 4.60 to 5.81 times": lambda: least_and_most(factor("sustained_us")),
    "the same 1,980 MHz": clock,
    "at most 548 W": most_power,
    "it is 7 % of our epoch": order_of_an_epoch,
    "smaller, 4.49 to 5.59 times": lambda: least_and_most(factor("epoch_ms")),
}
SEARCH = "a search of its own, raced in turn with ours on the H200, 2026-11-23; no record"
FACTS = {
    "below the 700 W at": "the data sheet of the H200 (SXM)",
    "images that takes 122.0 us": SEARCH,
    "on the same GPU that was 4.4 times": SEARCH,
    "58 kernels in it, of 3.3 us on average": "PyTorch's profiler on the H200, 2026-11-23",
    "are 0.2 to 7 times as far": "one step from the weights of seed 1 on the H200, 2026-11-23",
}
GIVEN = (
    "a test lets none be ten times as far",
    "its length agrees with finite differences to 2 %",
    "the length changes by less than those 2 %",
)
