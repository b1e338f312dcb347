"""The project of the chapter: an addition and a normalisation that TMA feeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, Target
from course_utils.exercises.authoring.worked import Worked

COLUMNS = 256
BOX = {"box": (8, COLUMNS)}
BLOCK = 288
BLOCKS = 2
COUNTED = 104  # rows whose launch is counted
MATRIX = 4 * COLUMNS * COUNTED  # bytes of each of the four matrices that move


def normalised(given: dict[str, Any]) -> dict[str, np.ndarray]:
    x = given["x"].astype(np.float64) + given["delta"]
    mean = (x * x).mean(axis=1, keepdims=True)
    return {"x": x, "y": x / np.sqrt(mean + given["eps"]) * given["gamma"]}


def conflicts(counts: Counts) -> float:
    return counts.shared_load_conflicts + counts.shared_store_conflicts


RESIDUAL_NORM = KernelExercise(
    inputs=lambda rng, n: {
        "x": floats(rng, (n, COLUMNS)),
        "delta": floats(rng, (n, COLUMNS)),
        "y": empty((n, COLUMNS)),
        "gamma": floats(rng, COLUMNS),
        "eps": np.float32(1e-3),
        "n": np.int32(n),
    },
    maps={"x": BOX, "delta": BOX, "y": BOX},
    reference=normalised,
    launch=lambda n: Launch((BLOCKS if n < 1 << 12 else 792,), (BLOCK,)),
    small=(COUNTED, 19, 1),
    full=1 << 17,
    reduction=lambda n: COLUMNS,
    within=2.0,
    contract=Domain(
        sizes=domain.lengths(most=150),
        launches=domain.grids(*((blocks, BLOCK) for blocks in (1, 3, 7))),
        values=(
            domain.data("x", *domain.ORDINARY),
            domain.data("delta", *domain.ORDINARY),
            domain.data("gamma", *domain.ORDINARY),
            domain.scalars("eps", 1e-6, 0.5),
        ),
    ),
    method=(
        method.tma_loads(
            at_least=2 * MATRIX,
            at_most=2 * MATRIX,
            advice="Each box of x and of delta comes by tma_load, once.",
            size=COUNTED,
        ),
        method.tma_stores(
            at_least=2 * MATRIX,
            at_most=2 * MATRIX,
            advice="Each box of x and of y leaves by tma_store, once.",
            size=COUNTED,
        ),
        Requirement(
            "bytes that threads load from global memory",
            lambda stats: stats.counts.global_load_bytes,
            at_most=BLOCKS * 8 * 4 * COLUMNS,
            advice="Only gamma is left for threads to load, and a thread needs the same numbers of "
            "it for every row: load them once, before the loop.",
            size=COUNTED,
        ),
        method.balanced_work(2.0, size=COUNTED),
        Requirement(
            "bytes of shared memory that a block takes",
            lambda stats: stats.block_shared,
            at_least=32 << 10,
            at_most=36 << 10,
            advice="Two stages of two boxes are 32 KiB, and with one stage nothing moves while the "
            "rows are computed. Let the results replace the boxes that they were computed from.",
            size=COUNTED,
        ),
        method.beside_tma(
            0.7,
            advice="While one stage is computed, the other one moves: load both before the loop, "
            "and each again as soon as its own results have been read.",
            size=COUNTED,
        ),
        Requirement(
            "wavefronts lost to bank conflicts",
            lambda stats: conflicts(stats.counts),
            at_most=0,
            advice="Which bank has the first number of lane 0, and of lane 1? Neighbouring lanes "
            "take neighbouring float4.",
            size=COUNTED,
        ),
        Requirement(
            "loads and stores of shared memory by a warp, for each row",
            lambda stats: (
                (stats.counts.shared_load_requests + stats.counts.shared_store_requests) / COUNTED
            ),
            at_most=10,
            advice="How many numbers does a lane move with one instruction, and how many could it "
            "move?",
            size=COUNTED,
        ),
    ),
    target=Target(
        label="barriers of the block that a warp comes to",
        measure=lambda counts: counts.barriers / (BLOCKS * BLOCK // 32),
        at_most=2,
        advice="A barrier of the block in the loop makes the copies wait "
        "for the arithmetic. Let each warp signal an mbarrier when its row is done, and let the "
        "copying thread alone wait for it.",
        size=COUNTED,
    ),
    worked=Worked(why_not="a row has 256 numbers"),
)
