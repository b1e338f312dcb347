"""The exercises of "Why GPUs"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases
from course_utils.exercises.authoring.launches import empty, floats
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.variants import Varied
from course_utils.exercises.authoring.vectors import (
    BLOCK,
    FULL,
    SMALL,
    one_thread_each,
    spare_blocks,
)
from course_utils.exercises.authoring.worked import Worked


def crowd(rng: np.random.Generator) -> tuple[int, int, int]:
    """Jobs, workers and seconds; often as many jobs as fill some rounds, or one more or fewer.

    So few rounds that they can be gone through one by one."""
    workers = int(rng.integers(1, 10 ** rng.integers(1, 7)))
    rounds = int(rng.integers(0, 10 ** rng.integers(1, 5)))
    over = int(rng.choice([-1, 0, 1, workers // 2]))
    return max(workers * rounds + over, 0), workers, int(rng.integers(1, 10 ** rng.integers(1, 11)))


FINISH_TIME = PythonExercise(
    cases=(
        (24, 8, 4),
        (25, 8, 4),
        (24, 1, 1),
        (3, 8, 4),
        (0, 8, 4),
        (10**18 + 1, 10**15, 3),
        (10**40 + 1, 10**37, 3),
        (100, 7, 10**20 + 1),
        (10, 3, 10**100 + 1),
        (3 * 10**20, 10**20, 4),
        (10**18, 10**17, 2),
        (70_000, 7, 2),
    ),
    reference=lambda jobs, workers, seconds: ceil_div(jobs, workers) * seconds,
    contract=DrawnCases(crowd),
)


HYPOTENUSE = KernelExercise(
    inputs=lambda rng, n: {
        "a": floats(rng, n),
        "b": floats(rng, n),
        "c": empty(n),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "c": np.hypot(given["a"].astype(np.float64), given["b"].astype(np.float64))
    },
    launch=one_thread_each,
    small=SMALL,
    worked=Worked(  # the hypotenuses are 5, 13, 17, 25 and 41
        size=5, values={"a": (3, 5, 8, 7, 9), "b": (4, 12, 15, 24, 40)}
    ),
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(),
        launches=spare_blocks,
        values=(
            (  # not both at once: the root of inf² + NaN² is NaN, and hypotf says inf
                *domain.data("a", *domain.ORDINARY, domain.SOME_INFINITE, domain.SOME_NAN),
                *domain.data("b", domain.SOME_INFINITE, domain.SOME_NAN),
            ),
            domain.data("b", *domain.ORDINARY, domain.ZEROS),
            domain.data("a b", domain.SMALL, domain.VERY_SMALL, domain.ZEROS),
        ),
    ),
    method=(
        method.no_redundant_work(5),
        method.a_thread_each(size=20 * BLOCK),
        method.no_surplus_threads(),
        method.balanced_work(size=20 * BLOCK),
    ),
    target=Target(
        label="elements stored for each result",
        measure=lambda counts: counts.global_store_bytes / 4 / 512,
        at_most=4.0,  # c[i] = a[i] * a[i]; c[i] += b[i] * b[i]; ... is slow, but no loop
        advice="Every thread goes through the whole loop. Let each thread "
        "do one iteration only, its own.",
        size=512,
    ),
)


def traffic(n: int) -> dict[str, Ask]:
    """The questions about a launch of n temperatures."""
    threads = BLOCK * ceil_div(n, BLOCK)
    floats_alone = "That is the number of floats. How many bytes does a float of 32 bits have?"
    without = f"{threads} threads are launched, but the last {threads - n} have no element"
    return {
        "bytes_read": Ask(
            "bytes that the threads read from x",
            n,
            lambda counts: counts.global_load_bytes,
            {
                n: floats_alone,
                4 * threads: f"{without} to read.",
                8 * n: "Reading and writing together; here only the reading is asked for.",
                32 * n: "Those are bits. A byte has 8 of them.",
            },
        ),
        "bytes_written": Ask(
            "bytes that the threads write to y",
            n,
            lambda counts: counts.global_store_bytes,
            {
                n: floats_alone,
                4 * threads: f"{without} to write.",
                8 * n: "Reading and writing together; here only the writing is asked for.",
                32 * n: "Those are bits. A byte has 8 of them.",
            },
        ),
        "flops": Ask(
            "floating-point operations",
            n,
            lambda counts: counts.flops,
            {
                n: "One element takes a subtraction and a multiplication.",
                3 * n: "5 / 9 is known when the kernel is compiled: no thread divides.",
                2 * threads: "The threads without an element compute nothing.",
            },
        ),
    }


PREDICT_TRAFFIC = NumberExercise(
    source="03_gpu_introduction/celsius.cu",
    kernel="celsius",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    launch=one_thread_each,
    asks=traffic(1000),
    varied=Varied(
        {"n": (1000, 600, 700, 900, 1100, 1300, 1500)},
        fields=lambda n: {"asks": traffic(n)},
        texts=("on {n} temperatures, in {blocks} blocks",),
        words=lambda n: {"blocks": ceil_div(n, BLOCK)},
    ),
)


def work_and_link(rng: np.random.Generator) -> tuple[float, float, float, float, float, int]:
    """A data set, a link and two processors: often a tie, or nearly one, in exact numbers."""
    megabytes_in, megabytes_out = (float(rng.integers(0, 1000)) for _ in range(2))
    link, times = 2.0 ** int(rng.integers(0, 8)), int(10 ** rng.uniform(0, 3))
    gpu_ms = float(rng.integers(1, 500)) / 256
    if rng.integers(2) == 0:
        times = 2 ** int(rng.integers(0, 10))
        on_gpu = (megabytes_in + megabytes_out) / link + times * gpu_ms
        beside = float(rng.choice([-1, 0, 0, 1])) / 1024
        return megabytes_in, megabytes_out, link, on_gpu / times + beside, gpu_ms, times
    return megabytes_in, megabytes_out, link, gpu_ms * float(rng.uniform(0.5, 60)), gpu_ms, times


def sooner(
    megabytes_in: Any, megabytes_out: Any, link: Any, cpu_ms: Any, gpu_ms: Any, times: Any
) -> tuple[str, float]:
    """Where the work is done sooner, and in how many milliseconds."""
    on_cpu = times * cpu_ms
    on_gpu = (megabytes_in + megabytes_out) / link + times * gpu_ms
    return ("GPU", on_gpu) if on_gpu < on_cpu else ("CPU", on_cpu)


WHERE_TO_RUN = PythonExercise(
    cases=(
        (400.0, 400.0, 50.0, 10.0, 0.2, 1),
        (400.0, 400.0, 50.0, 10.0, 0.2, 10),
        (100.0, 4.0, 26.0, 3.0, 1.0, 1),
        (100.0, 4.0, 26.0, 3.0, 1.0, 2),
        (0.0, 64.0, 16.0, 2.5, 0.5, 2),  # a tie
        (0.0, 0.0, 50.0, 1.0, 2.0, 5),
        (1000.0, 1000.0, 64.0, 0.5, 0.25, 100_000),
    ),
    reference=sooner,
    contract=DrawnCases(work_and_link),
    start="Write down the milliseconds of both ways: how often does each number cross the link, "
    "and how often does each processor run?",
)


PEAK_TFLOPS = PythonExercise(
    cases=(
        (10, 100, 2.0),
        (132, 128, 1.98),
        (108, 64, 1.41),
        (80, 64, 1.53),
        (16, 8, 1.35),
        (1, 1, 1.0),
        (4000, 4096, 12.5),
    ),
    reference=lambda multiprocessors, lanes, gigahertz: (
        2 * multiprocessors * lanes * gigahertz / 1000
    ),
    contract=DrawnCases(
        lambda rng: (
            int(rng.integers(1, 10 ** rng.integers(1, 4))),
            int(rng.integers(1, 10 ** rng.integers(1, 4))),
            float(rng.uniform(0.01, 5)),
        )
    ),
)
