"""The exercises of "Moving data"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.domain import DrawnCases
from course_utils.exercises.authoring.reviews import review
from course_utils.exercises.authoring.spec import PythonExercise
from course_utils.exercises.judging.lazy_gpu import ORDERS, OTHERS_FIRST, LazyGPU


def lazy_gpu_and_numbers(rng: np.random.Generator) -> tuple[Any, ...]:
    """A GPU of any order, and a few numbers or some hundreds."""
    count = rng.integers(1, 10 ** rng.integers(1, 5))
    return LazyGPU(str(rng.choice(ORDERS))), rng.uniform(-9, 9, count).tolist()


def copies_beside_the_kernel(gpu: LazyGPU, numbers: list[float]) -> str:
    """The sentence on one stream that does everything, or on a host that helps out."""
    used = sum(stream.added > 0 for stream in gpu.streams)
    if used == 0:
        return "Nothing was put into any stream: the device copies and squares, not the host."
    if used == 1:
        return "Everything went into one stream: the task gives the copy its own."
    squares = [value * value for value in numbers]
    if gpu.delivered and squares not in gpu.delivered and gpu.order != OTHERS_FIRST:
        held = gpu.delivered[-1][0]
        came = "never written" if math.isinf(held) else f"{held:g} at first"
        return (
            f"The device's memory was {came} when the kernel or the copy back read it: that work "
            "must wait for an event which the copy's own stream records after the copy."
        )
    if squares not in gpu.delivered:
        return (
            "These numbers did not come from the device: it had not delivered the squares when the "
            "function returned."
        )
    if gpu.overwritten():
        return "The host wrote into what the device had delivered: the device does the squaring."
    return ""


FIND_THE_HOST_BUG = PythonExercise(
    source="04_first_kernels/exercises/squares_on_device.py",
    function="squares",
    cases=((LazyGPU(), [3.0, 1.0, 0.5]), (LazyGPU(), [2.0])),
    reference=lambda gpu, numbers: tuple(value * value for value in numbers),
    contract=DrawnCases(lazy_gpu_and_numbers),
    method=copies_beside_the_kernel,
    bug=kinds.WRONG,
)


def elements_and_threads(rng: np.random.Generator) -> tuple[int, int]:
    """Often as many elements as fill some blocks, or one more or fewer. So few blocks that they may
    be counted one by one."""
    threads = int(rng.integers(1, 1025))
    blocks = int(rng.integers(0, 10 ** rng.integers(1, 7)))
    over = int(rng.choice([-1, 0, 1, int(rng.integers(threads))]))
    return max(blocks * threads + over, 0), threads


BLOCKS_FOR = PythonExercise(
    cases=(
        (1000, 256),
        (256, 256),
        (257, 256),
        (1, 32),
        (0, 256),
        (2**31 + 1, 1024),
        (2**53 + 1, 2**52),
        (10**40 + 1, 10**37),
    ),
    reference=lambda n, threads: ceil_div(n, threads),
    contract=DrawnCases(elements_and_threads),
)


def elements_and_chunks(rng: np.random.Generator) -> tuple[int, int]:
    """Few elements and many, more chunks than elements, and chunks that are all full."""
    chunks = int(10 ** rng.uniform(0, 3.5))
    if rng.random() < 0.25:
        return chunks * int(rng.integers(1, 100)), chunks
    return int(rng.integers(1, 10 ** rng.integers(1, 10))), chunks


PIECES = PythonExercise(
    cases=(
        (1000, 4),
        (10, 4),
        (9, 4),
        (7, 1),
        (1, 8),
        (12345, 8),
        (57, 8),
        (0, 4),
    ),  # 57: one is left over
    reference=lambda n, chunks: [
        (first, min(ceil_div(n, chunks), n - first))
        for first in range(0, n, ceil_div(n, chunks) or 1)
    ],
    contract=DrawnCases(elements_and_chunks),
)


def stages_and_chunks(rng: np.random.Generator) -> tuple[float, float, float, int]:
    """Stages of 0 to 20 ms, any of them the slowest, and up to a thousand chunks."""
    times = [float(rng.integers(0, 20_000)) / 1000 for _ in range(3)]
    times[rng.integers(3)] += 20.0 * (rng.random() < 0.5)
    return times[0], times[1], times[2], int(10 ** rng.uniform(0, 3))


OVERLAP_MS = PythonExercise(
    cases=(
        (3.0, 6.0, 3.0, 3),
        (4.0, 4.0, 4.0, 1),
        (4.0, 4.0, 4.0, 8),
        (10.0, 1.0, 5.0, 10),
        (1.0, 2.0, 9.0, 4),
        (5.0, 8.0, 3.0, 2),
        (0.0, 4.0, 2.0, 4),
        (8.0, 12.0, 5.0, 70_001),
    ),
    reference=lambda copy_in, kernel, copy_out, chunks: (
        (copy_in + kernel + copy_out + (chunks - 1) * max(copy_in, kernel, copy_out)) / chunks
    ),
    contract=DrawnCases(stages_and_chunks),
)


MISTAKES = {  # by line: the word, and a question that leads to it
    6: ("bytes", "What does cudaMalloc count in?"),
    12: ("empty", "What is `count` in each of the four chunks, where n is 5?"),
    15: ("order", "Which argument of cudaMemcpyAsync is the target?"),
    17: ("stream", "Is there an order between the copies and the kernel?"),
    18: ("part", "Which elements does the kernel of the second chunk double?"),
    23: ("early", "Which calls have returned before their work is done?"),
}

REVIEW_PIPELINE = review(
    {line: word for line, (word, _) in MISTAKES.items()},
    '{2: "leak", 9: "early"}',
    start="Begin with the calls' arguments: their order, their units and their sides.",
    questions={line: question for line, (_, question) in MISTAKES.items()},
    function="review",
)
