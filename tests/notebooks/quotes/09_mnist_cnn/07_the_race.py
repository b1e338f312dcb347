import json
from collections.abc import Iterable
from pathlib import Path

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


def parts(precision: str) -> tuple[float, float]:
    """PyTorch's time over ours for any batch and for each image, by a line through 64 and 1024."""
    small, _, large = (run for run in STEPS if run["precision"] == precision)

    def line(who: str) -> tuple[float, float]:
        image = (large[f"{who}_us"] - small[f"{who}_us"]) / (1024 - 64)
        return small[f"{who}_us"] - 64 * image, image

    (their_batch, their_image), (our_batch, our_image) = line("theirs"), line("ours")
    return their_batch / our_batch, their_image / our_image


def off_the_line(precision: str, who: str) -> float:
    """How far a step of 256 is from the line through those of 64 and 1024, in % of it."""
    small, middle, large = (run[f"{who}_us"] for run in STEPS if run["precision"] == precision)
    line = small + (large - small) * (256 - 64) / (1024 - 64)
    return 100 * abs(line / middle - 1)


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


def means() -> list[float]:
    """How far apart the mean accuracies are in fp32 and in bf16, in %."""
    seeds = (RACE["accuracies"][precision] for precision in ("fp32", "bf16"))
    return [abs(sum(ours - theirs for _, ours, theirs in s)) / len(s) * 100 for s in seeds]


def clock() -> float:
    """MHz in all runs that went on for seconds."""
    (found,) = {run["sustained"][f"{who}_mhz"] for run in STEPS for who in ("ours", "library")}
    return found


def ratios() -> list[float]:
    """The last column of the notebook's table of errors: ours over PyTorch's, by gradient."""
    notebook = Path(__file__).resolve().parents[4] / "chapters/09_mnist_cnn/07_the_race.ipynb"
    texts = (
        "".join(output.get("text", ""))
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]
        for output in cell.get("outputs", ())
    )
    table = next(text for text in texts if text.startswith("relative error of a gradient"))
    return [float(row.split()[-1]) for row in table.splitlines()[2:]]


EAGER, COMPILED = "eager", "compiled step in a graph"
OURS = STEPS[0]["ours_us"]
QUOTES = {
    "the line is 1 % off for ours": lambda: (
        (off_the_line("fp32", "ours") + off_the_line("bf16", "ours")) / 2
    ),
    "and 5 % for PyTorch in bf16": lambda: off_the_line("bf16", "theirs"),
    "our step is 5.1 to 6.8 times": lambda: least_and_most(factor("us")),
    "takes 1,669 µs, 52 times": lambda: (of_64_in_fp32(EAGER), of_64_in_fp32(EAGER) / OURS),
    "one that takes 189 µs": lambda: of_64_in_fp32(COMPILED),
    "would be 5.9 times": lambda: of_64_in_fp32(COMPILED) / OURS,
    "| 190.9 µs |": lambda: STEPS[0]["theirs_us"],
    "| 412.6 µs |": lambda: STEPS[1]["theirs_us"],
    "| 219.5 µs |": lambda: STEPS[4]["theirs_us"],
    "| 135.9 µs |": lambda: STEPS[3]["theirs_us"],
    "| 5.39 times |": lambda: 174.3 / STEPS[0]["ours_us"],
    "| 6.10 times |": lambda: 371.7 / STEPS[1]["ours_us"],
    "| 5.11 times |": lambda: 218.0 / STEPS[4]["ours_us"],
    "| 5.01 times |": lambda: 122.0 / STEPS[3]["ours_us"],
    "fixed cost is 5.6 times": lambda: parts("fp32")[0],
    "cost per image 6.6 times": lambda: parts("fp32")[1],
    "the two are 5.6 times and 5.4 times": lambda: parts("bf16"),
    "ours is 5.17 to 6.80 times": lambda: least_and_most(factor("sustained_us")),
    "the same 1,980 MHz": clock,
    "at most 523 W": most_power,
    "it is 5 % of our epoch": order_of_an_epoch,
    "3 more in bf16, 0.06 % of them": lambda: means()[1],
    "smaller, 5.04 to 6.54 times": lambda: least_and_most(factor("epoch_ms")),
    "are 0.2 to 6.7 times": lambda: least_and_most(ratios()),
    "In beta1 it's 6.7 times": lambda: max(ratios()),
}
SEARCH = "searches of their own, raced in turn with ours on the H200, 2026-11-23; no record"
FACTS = {
    "below the 700 W at": "the data sheet of the H200 (SXM)",
    "| 174.3 µs |": "the race of 2026-11-23 on the H200, in the history of its record",
    "| 371.7 µs |": SEARCH,
    "of an earlier search, 371.7 µs": SEARCH,
    **dict.fromkeys(
        ("| 15 | 72.0 % | 97.7 % |", "76.5 % | 96.9 %", "85.2 % | 94.9 %", "22.4 % | 25.5 %"),
        "five steps from assets/data/mnist_network.npz on the emulator, 2026-11-28",
    ),
    "| 218.0 µs |": SEARCH,
    "| 122.0 µs |": SEARCH,
    "58 kernels, of 3.3 µs on average": "PyTorch's profiler on the H200, 2026-11-23",
}
GIVEN = (
    "a test lets none be ten times as large",
    "its length agrees with finite differences to 2 %",
    "the length changes by less than those 2 %",
)
