"""The exercises of "Pipelines and stream-K"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import method
from course_utils.exercises.authoring.domain import Domain, DrawnCases
from course_utils.exercises.authoring.launches import Launch, empty
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.variants import Varied
from course_utils.exercises.authoring.worked import Worked

from .common import FEW_OPERANDS, chosen, matrices, no_more_arithmetic, product, tiles_read_once
from .in_flight import ANY_STEPS, ONE_BLOCK, PAIR, barriers_a_step, steps_in_flight

ASYNC_STAGES = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 64), ceil_div(size[0], 64)), (64,)),
    small=((69, 70, 27), (33, 5, 16), (1, 1, 1)),
    worked=Worked(whole=("A",)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="barriers a step",
        measure=barriers_a_step(ONE_BLOCK),
        at_most=1.3,  # five in four steps, and no more
        advice="One barrier, right after the wait, is enough: after it all copies are complete, "
        "and no thread reads the tiles of the step before any more.",
        size=ONE_BLOCK,
    ),
    within=2.0,
    contract=Domain(sizes=chosen(*ANY_STEPS, (4099, 16, 8), (16, 4099, 8)), values=FEW_OPERANDS),
    method=(
        tiles_read_once(ONE_BLOCK),
        method.shared_memory_limit(
            PAIR * 7 // 2,
            advice="Three stages, a pair of tiles in each: one is multiplied, two are in flight.",
            size=ONE_BLOCK,
        ),
        Requirement(
            "bytes that cp.async copies, over those of A and B",
            lambda stats: stats.counts.shared_copy_bytes / (8 * 64 * 32),
            at_least=1.0,
            advice="Both tiles come by `cp.async`, that of A and that of B: what a thread loads "
            "and stores itself, it waits for.",
            size=ONE_BLOCK,
        ),
        Requirement(
            "steps whose copies are in flight during a product, on average",
            steps_in_flight(ONE_BLOCK[2] // 8),
            at_least=1.0,
            advice="At the products the copies of two later steps are under way: wait for the "
            "oldest group alone, and leave the younger one in flight.",
            size=ONE_BLOCK,
        ),
        method.one_store_per_result(),
        method.balanced_work(2.0, size=ONE_BLOCK),
        no_more_arithmetic(ONE_BLOCK),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


def why_not(
    BM: int, BN: int, BK: int, stages: int, threads: int, registers: int, spilled: int
) -> str:
    """The reason that rules a candidate out."""
    return (
        "threads"
        if threads > 1024
        else "shared memory"
        if stages * BK * (BM + 4 + BN) * 4 > 232_448
        else "registers"
        if threads // 32 * (ceil_div(registers * 32, 256) * 256) > 65_536
        else "spills"
        if spilled > 0
        else ""
    )


def candidate(rng: np.random.Generator) -> tuple[int, ...]:
    """A candidate; each of the five answers is as likely as another."""
    wanted = rng.choice(["threads", "shared memory", "registers", "spills", ""])
    while True:
        BM, BN = (4 * rng.integers(8, 80, 2)).tolist()
        BK, stages = int(rng.choice([1, 2, 8, 16, 32])), int(rng.integers(1, 9))
        threads, registers = 32 * int(rng.integers(1, 48)), int(rng.integers(16, 256))
        spilled = int(rng.choice([0, 1, 8, 1088]))
        found = BM, BN, BK, stages, threads, registers, spilled
        if why_not(*found) == wanted:
            return found


WHY_NOT = PythonExercise(
    cases=(
        (128, 256, 8, 3, 256, 209, 0),
        (256, 256, 32, 4, 512, 128, 0),
        (256, 256, 8, 3, 1088, 32, 0),
        (256, 256, 32, 4, 2048, 255, 64),
        (128, 256, 32, 5, 256, 209, 0),
        (52, 64, 32, 15, 128, 100, 0),
        (108, 116, 32, 8, 128, 100, 0),
        (108, 115, 32, 8, 128, 100, 0),
        (128, 256, 8, 3, 512, 128, 0),
        (128, 256, 8, 3, 512, 129, 0),
        (128, 192, 8, 3, 384, 168, 0),
        (128, 192, 8, 3, 384, 170, 0),
        (128, 256, 8, 3, 256, 255, 1088),
        (128, 256, 8, 3, 512, 129, 8),
        (64, 64, 8, 2, 64, 255, 0),
        (64, 64, 8, 2, 1024, 64, 0),
        (256, 256, 32, 4, 1024, 255, 0),
        (256, 256, 64, 1, 256, 128, 0),
        (128, 256, 8, 3, 416, 160, 0),
        (128, 256, 1, 149, 256, 128, 0),
        (128, 256, 1, 150, 256, 128, 0),
    ),
    reference=why_not,
    contract=DrawnCases(candidate),
)


COUNTED = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}


def rounds_of(slots: int) -> dict[str, Ask]:
    """The questions about a GPU of so many multiprocessors, with 512, 32 and 1,024 tiles."""
    full, last = divmod(512, slots)
    offered = (full + 1) * slots
    return {
        "waves": Ask(
            "4096 x 4096 in tiles of 128 x 256, one block for each multiprocessor: waves",
            (512, slots),
            lambda counts: counts.barriers / slots,
            {
                512: "That is the number of tiles. How many are computed at the same time?",
                full: f"{COUNTED[full].capitalize()} waves are {full * slots} tiles. What of the "
                "rest?",
            },
        ),
        "idle": Ask(
            "Of the same: multiprocessors that are idle in the last wave",
            (512, slots),
            lambda counts: counts.global_atomic_requests,
            {last: "That many have a tile in the last wave. The others are idle."},
        ),
        "gain": Ask(
            "Of the same: the largest gain, as a factor, if none were idle",
            (512, slots),
            lambda counts: counts.barriers / counts.global_store_requests,
            {
                slots / last: f"{slots} / {last} is the gain in the last wave alone, one of "
                f"{COUNTED[full + 1]}.",
                512 / offered: "That is the part of the GPU that is busy. The gain is its inverse.",
            },
        ),
        "idle_small": Ask(
            "1024 x 1024 in tiles of 128 x 256: idle multiprocessors in the last wave",
            (32, slots),
            lambda counts: counts.global_atomic_requests,
            {32: "There are 32 tiles, each busies one. The others are idle."},
        ),
        "waves_pairs": Ask(
            "4096 x 4096 in tiles of 128 x 128, two blocks on a multiprocessor: waves",
            (1024, 2 * slots),
            lambda counts: counts.barriers / (2 * slots),
            {ceil_div(1024, slots): f"Two blocks on each multiprocessor are {2 * slots} slots."},
        ),
    }


def words_for(slots: int) -> dict[str, str]:
    """The same GPU in the words of the page."""
    waves = ceil_div(512, slots)
    idle = (slots - 32) / slots
    return {
        "exact": f"{512 / slots:.2f}",
        "waves": COUNTED[waves],
        "offered": f"{waves * slots}",
        "more": f"{waves * slots / 512 - 1:.0%}".replace("%", " %"),
        "idle": "three quarters" if round(4 * idle, 1) == 3 else f"{idle:.0%}".replace("%", " %"),
    }


PREDICT_ROUNDS = NumberExercise(
    source="06_matmul_and_fft/exercises/rounds.cu",
    kernel="rounds",
    inputs=lambda rng, size: {
        "tiles": np.int32(size[0]),
        "owner": empty(size[0], np.int32),
        "idle": np.zeros(1, np.int32),
    },
    launch=lambda size: Launch((size[1],), (32,)),
    asks=rounds_of(132),
    varied=Varied(
        {"slots": (132, 80, 84, 108, 114, 144)},
        fields=lambda slots: {"asks": rounds_of(slots)},
        texts=(
            "A GPU of {slots} multiprocessors",
            "`-(-512 // {slots})`",
            "512 tiles are {exact} waves of {slots}, so {waves} are needed, and {offered} slots "
            "are offered for 512 tiles: {more}\nmore",
            "at 1024 × 1024 {idle} of the GPU are idle",
        ),
        words=words_for,
    ),
)


BEAT_CUBLAS = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((size[1] // 256, size[0] // 128), (256,), shared=65536),
    small=((128, 256, 24), (256, 512, 16), (128, 256, 8)),
    worked=Worked(whole=("A",), why_not="a tile has 128 x 256 elements"),
    full=(4096, 4096, 4096),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="wavefronts of shared loads for 32 FMAs",
        measure=lambda counts: counts.shared_load_wavefronts * 64 / max(counts.flops, 1),
        at_most=0.2,
        advice="Load 16 bytes at a time, and cut a thread's tile into sub-tiles of 4 x 4 so that "
        "neighbouring lanes read neighbouring float4, as sgemm_conflict_free does.",
        size=(128, 256, 32),
    ),
    contract=Domain(
        sizes=chosen(
            (128, 256, 8),
            (128, 256, 16),
            (128, 256, 24),
            (128, 256, 72),
            (128, 256, 40),
            (128, 512, 16),
            (256, 256, 8),
            (128, 768, 8),
            (384, 256, 8),
            (256, 512, 8),
            (128, 1024, 72),  # more than 65,535 elements of B
        ).with_outlier(M=1024),
        values=FEW_OPERANDS,
    ),
    method=(
        method.one_store_per_result(size=(128, 512, 16)),
        method.balanced_work(size=(128, 256, 32)),
        tiles_read_once((128, 256, 32)),
        no_more_arithmetic((128, 256, 32)),
    ),
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)
