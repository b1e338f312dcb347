"""The exercises of "The execution model"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.devices.multiprocessors import MULTIPROCESSORS
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
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

ODD_BLOCK = 80  # threads: two warps and a half
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
MANY_BLOCKS = 21_847  # the last one's warps have numbers that 16 bits cannot hold


def warps_and_lanes(given: Given) -> dict[str, np.ndarray]:
    """What each thread should store, in blocks of 80 threads."""
    block, thread = np.divmod(np.arange(given["warp"].shape[0], dtype=np.int32), ODD_BLOCK)
    warp, lane = np.divmod(thread, 32)
    return {"warp": warp, "lane": lane, "warp_of_grid": 3 * block + warp}


WARP_AND_LANE = KernelExercise(
    inputs=lambda rng, blocks: {
        name: empty(ODD_BLOCK * blocks, np.int32) for name in ("warp", "lane", "warp_of_grid")
    },
    reference=warps_and_lanes,
    launch=lambda blocks: Launch((blocks,), (ODD_BLOCK,)),
    small=(5, 2, 1),
    worked=Worked(why_not="a block has 80 threads, and each has an element"),
    full=100_000,
    contract=Domain(
        sizes=domain.shapes(blocks=domain.extents(1100)).with_outlier(blocks=MANY_BLOCKS)
    ),
    method=(
        method.one_store_per_result(2),
        method.no_redundant_work(),
        method.balanced_work(size=20),
    ),
)


def warps_of(
    even: tuple[int, int], uneven: tuple[int, int], wasteful: tuple[int, int]
) -> dict[str, Ask]:
    """The questions about three launches, each of so many blocks and threads."""
    blocks, threads = uneven
    few, lanes = wasteful
    return {
        "even": Ask(
            f"{even[0]} blocks of {even[1]} threads",
            even,
            lambda counts: counts.global_store_requests,
            {
                even[0] * even[1]: "Those are the threads. A warp has 32 of them.",
                even[1] // 32: "That is for one block.",
            },
        ),
        "uneven": Ask(
            f"{blocks} blocks of {threads} threads",
            uneven,
            lambda counts: counts.global_store_requests,
            {
                ceil_div(blocks * threads, 32): "Warps do not reach into the next block: round up "
                "in each block.",
                blocks * (threads // 32): f"The last {threads % 32} threads of each block need a "
                "warp, too.",
            },
        ),
        "wasteful": Ask(
            f"{few} blocks of {lanes} threads",
            wasteful,
            lambda counts: counts.global_store_requests,
            {
                ceil_div(few * lanes, 32): f"{few * lanes} / 32 rounded up; but a warp belongs to "
                "one block.",
                few * (lanes // 32): f"Thread {lanes - 1} of each block is the "
                f"{'33rd' if lanes == 33 else f'{lanes}th'}: which warp is it in?",
            },
        ),
    }


COUNT_WARPS = NumberExercise(
    source="03_gpu_introduction/exercises/one_store_each.cu",
    kernel="one_store_each",
    inputs=lambda rng, size: {"y": empty(size[0] * size[1], np.int32)},
    launch=lambda size: Launch((size[0],), (size[1],)),
    asks=warps_of((4, 256), (7, 100), (10, 33)),
    varied=Varied(
        {
            "even": ((4, 256), (3, 128), (5, 192), (6, 512), (9, 64)),
            "uneven": ((7, 100), (5, 80), (9, 72), (6, 200), (11, 110)),
            "wasteful": ((10, 33), (12, 65), (20, 33), (8, 97), (14, 65)),
        },
        fields=lambda **launches: {"asks": warps_of(**launches)},
        texts=("A block of {threads} threads has {full} full warps and one with {rest} threads",),
        words=lambda even, uneven, wasteful: {
            "threads": uneven[1],
            "full": uneven[1] // 32,
            "rest": uneven[1] % 32,
        },
    ),
)


def grid_and_gpu(rng: np.random.Generator) -> tuple[int, int, int]:
    """Blocks, multiprocessors and blocks on each; often whole waves, or one block more or fewer."""
    multiprocessors, each = int(rng.integers(1, 200)), int(rng.integers(1, 33))
    slots = multiprocessors * each
    full_waves = int(rng.integers(0, 10 ** rng.integers(1, 7)))
    over = int(rng.choice([-1, 0, 1, int(rng.integers(slots))]))
    return min(max(full_waves * slots + over, 1), 2**31 - 1), multiprocessors, each


WAVES = PythonExercise(
    cases=(
        (660, 132, 2),
        (264, 132, 2),
        (265, 132, 2),
        (1, 132, 8),
        (1000, 24, 3),
        (2**31 - 1, 132, 2),
        (2**31 - 1, 199, 32),
        (10**9, 10_000, 64),
        (26_400_001, 132, 2),  # one block more than whole waves, and a 32-bit float cannot tell
    ),
    reference=lambda blocks, multiprocessors, each: (
        ceil_div(blocks, multiprocessors * each),
        -blocks % (multiprocessors * each),
    ),
    contract=DrawnCases(grid_and_gpu),
)


def passes_of(threads: int, border: int) -> dict[str, Ask]:
    """The questions about three ways in which the threads of a block choose."""
    warps = threads // 32
    return {
        "every_other": Ask(
            f"{threads} threads, every second one chooses a (period 2, part 1)",
            (threads, 2, 1),
            lambda counts: counts.global_store_requests,
            {
                warps: f"There are {warps} warps, and the lanes of each disagree.",
                threads: "One for each thread; but a store is made for all lanes of a path at "
                "once.",
                2: "That is one warp's part.",
            },
        ),
        "by_warp": Ask(
            f"{threads} threads, the first 32 of every 64 choose a (period 64, part 32)",
            (threads, 64, 32),
            lambda counts: counts.global_store_requests,
            {2 * warps: "Threads 0 to 31 are one warp: do they disagree with each other?"},
        ),
        "one_border": Ask(
            f"{threads} threads, the first {border} choose a (period {threads}, part {border})",
            (threads, threads, border),
            lambda counts: counts.global_store_requests,
            {
                warps: "Look at the warp with threads 32 to 63: the border is in its middle.",
                2 * warps: "Only one warp has the border inside it. The others agree.",
            },
        ),
    }


PREDICT_PASSES = NumberExercise(
    source="03_gpu_introduction/exercises/passes.cu",
    kernel="passes",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]) ** 2 + np.float32(1),
        "a": empty(size[0]),
        "b": empty(size[0]),
        **int32s(period=size[1], part=size[2]),
    },
    launch=lambda size: Launch((1,), (size[0],)),
    asks=passes_of(128, 40),
    varied=Varied(
        {"threads": (128, 192, 256, 320, 384), "border": (40, 36, 44, 50, 58)},
        fields=lambda threads, border: {"asks": passes_of(threads, border)},
        texts=("each of the {warps} warps", "the last {others} warps agree"),
        words=lambda threads, border: {
            "warps": threads // 32,
            "others": NUMBERS[threads // 32 - 2],
        },
    ),
)


def positive(rng: np.random.Generator, n: int) -> Given:
    return {"x": floats(rng, n) ** 2 + np.float32(0.5), "y": empty(n), "n": np.int32(n)}


def both_ways(given: Given) -> dict[str, np.ndarray]:
    """Sixteen steps of one function for even elements, of another for odd ones, in float64."""
    y = given["x"].astype(np.float64)
    for _ in range(STEPS):
        y[::2], y[1::2] = np.sqrt(y[::2] ** 2 + 1), y[1::2] + 1 / (y[1::2] + 1)
    return {"y": y}


POSITIVE = (  # the classes of values that the header promises
    domain.POSITIVE,
    domain.RISING,
    domain.FALLING,
    domain.MIDDLING,
    domain.SMALL,
    ("all 3", lambda x, rng: np.full_like(x, 3)),
    ("about 100,000", lambda x, rng: x * 1e5),
    domain.VERY_LARGE,
)
STEPS = 16  # of either function


BRANCH_BY_WARP = KernelExercise(
    inputs=positive,
    reference=both_ways,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    contract=Domain(
        sizes=domain.lengths(), launches=spare_blocks, values=(domain.data("x", *POSITIVE),)
    ),
    method=(
        Requirement(
            "threads of the last block that touch memory, where it has 32 elements",
            lambda stats: int(np.count_nonzero(stats.threads[0].touched[-BLOCK:])),
            at_least=32,
            at_most=32,
            advice="Each block owns 256 elements in a row, the last one those that are left: "
            "distribute them within the block.",
            size=19 * BLOCK + 32,
        ),
        Requirement(
            "square roots and divisions for each element",
            lambda stats: stats.opcodes("sqrt.", "rcp.", "div.") / stats.results,
            at_most=1.25 * STEPS,
            advice="An element takes one of the two functions. Computing both and choosing one is "
            "what a warp that diverges does, too.",
            size=20 * BLOCK,
        ),
        Requirement(
            "rounded square roots and divisions for each element",
            lambda stats: stats.opcodes("sqrt.rn", "rcp.rn", "div.rn") / stats.results,
            at_least=0.9 * STEPS,
            advice="The work on an element stays as it is: sixteen steps of one function or of the "
            "other. Which thread does it is what changes.",
            size=20 * BLOCK,
        ),
        Requirement(
            "warp instructions in a block that is partly full, over those without divergence",
            lambda stats: 32 * stats.counts.warp_instructions / stats.counts.thread_instructions,
            at_most=1.2,
            advice="In the last block, too, each warp takes one path only.",
            size=250,
        ),
        Requirement(
            "bytes of memory that the busiest thread touches, over those of an average one",
            lambda stats: stats.busiest_over_mean(),
            at_most=1.6,
            advice="A block has as many threads as elements: each thread takes one, none idles.",
            size=20 * BLOCK,
        ),
    ),
    target=Target(
        label="warp instructions over those of warps that never diverge",
        measure=lambda counts: 32 * counts.warp_instructions / counts.thread_instructions,
        at_most=1.05,
        advice="Lanes are inactive: print `i % 2` for the 32 lanes of "
        "warp 0. "
        "Which element could lane 1 take, so that it takes the path of lane 0?",
        size=20 * BLOCK,
    ),
)


REAL = sorted({(sm.threads, sm.blocks) for sm in MULTIPROCESSORS.values()})


def gpus_and_least(rng: np.random.Generator) -> tuple[list[tuple[int, int]], int]:
    """One to four of the GPUs that there are, or others, and the least that a block may have."""
    count = int(rng.integers(1, 5))
    if rng.integers(2) == 0:
        gpus = [REAL[k] for k in rng.choice(len(REAL), min(count, len(REAL)), replace=False)]
    else:
        threads, blocks = rng.integers(16, 97, count) * 64, rng.choice([8, 16, 24, 32], count)
        gpus = [(int(t), int(b)) for t, b in zip(threads, blocks, strict=True)]
    return gpus, int(rng.choice([1, 32, 33, 97, 128, 200, 256, 300, 512, 513, 769, 1000, 1024]))


def best_block(gpus: list[tuple[int, int]], least: int) -> tuple[int, float]:
    """The block size with the largest least share, and that share."""

    def share(block: int) -> float:
        return min(min(blocks, threads // block) * block / threads for threads, blocks in gpus)

    sizes = range(ceil_div(max(least, 1), 32) * 32, 1025, 32)
    return max(((block, share(block)) for block in sizes), key=lambda found: (found[1], -found[0]))


CHOOSE_BLOCK = PythonExercise(
    cases=(
        ([(2048, 32), (1536, 16)], 512),
        ([(2048, 32), (1536, 16)], 1024),
        ([(2048, 32)], 1),
        ([(1536, 24)], 1),
        ([(1024, 32)], 1),
        ([(2048, 32), (1536, 16), (1024, 16)], 1),
        ([(2048, 32), (1536, 24), (1024, 16)], 600),
        ([(1536, 16)], 769),
    ),
    reference=best_block,
    contract=DrawnCases(gpus_and_least, 24),
    start="Work out the share of every GPU, for the block that you returned and for the expected "
    "one. Which GPU is the worst for each?",
)
