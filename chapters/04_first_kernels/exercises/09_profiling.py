"""The exercises of "Profiling"."""

from __future__ import annotations

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import empty, floats, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import Ask, KernelExercise, NumberExercise, Target
from course_utils.exercises.authoring.vectors import (
    FULL,
    one_thread_each,
    spare_blocks,
)
from course_utils.exercises.authoring.worked import Worked

PREDICT_COUNTERS = NumberExercise(
    source="04_first_kernels/exercises/shifted_axpy.cu",
    kernel="shifted_axpy",
    inputs=lambda rng, size: {
        "a": np.float32(2.0),
        "x": floats(rng, size[0] + size[1]),
        "y": floats(rng, size[0]),
        **int32s(shift=size[1], n=size[0]),
    },
    launch=lambda size: one_thread_each(size[0]),
    asks={
        "ffma": Ask(
            "n = 1000, shift 0: smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
            (1000, 0),
            lambda counts: counts.operations.get("ffma", 0),
            {
                1024: "That is the number of threads; the guard lets fewer of them through.",
                2000: "An FMA is one instruction for a product and a sum; ncu counts it once.",
                32: "That is what warps execute. `thread_inst` counts the threads that take part.",
            },
        ),
        "load_requests": Ask(
            "n = 1000, shift 0: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            (1000, 0),
            lambda counts: counts.global_load_requests,
            {
                32: "Each warp loads from x and from y.",
                62: "Round up: the last warp has 8 elements, and asks for them like any other.",
                2000: "A request is made by a whole warp, not by a thread.",
                64000: "A request is made by a whole warp, not by a thread.",
            },
        ),
        "load_sectors": Ask(
            "n = 1000, shift 0: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            (1000, 0),
            lambda counts: counts.global_load_sectors,
            {
                125: "That is x alone.",
                256: "The last warp has 8 elements: how many sectors are those?",
                375: "Loads only: the store of y is another counter.",
            },
        ),
        "shifted_sectors": Ask(
            "n = 1000, shift 1: the same counter",
            (1000, 1),
            lambda counts: counts.global_load_sectors,
            {
                250: "The 32 floats of a warp now begin 4 bytes behind an edge and end behind one.",
                251: "Every warp begins behind an edge and ends behind another, not just one.",
                285: "The last warp has 8 elements only: 32 bytes, across one edge.",
                314: "Only x is shifted.",
            },
        ),
    },
)


def gelu(given: dict) -> dict[str, np.ndarray]:
    """GELU, by the formula with tanh."""
    v = given["x"].astype(np.float64)
    return {"y": 0.5 * v * (1 + np.tanh(0.7978846 * (v + 0.044715 * v**3)))}


def double_operations(counts: Counts) -> int:
    """Additions, multiplications and both in one, in float64, by all threads."""
    return sum(counts.operations.get(name, 0) for name in ("dadd", "dmul", "dfma"))


def wide_instructions(stats: LaunchStats) -> int:
    """All others in float64 too: conversions, comparisons, divisions."""
    return sum(n for name, n in stats.counts.opcodes.items() if ".f64" in name)


FIND_THE_DOUBLES = KernelExercise(
    source="04_first_kernels/exercises/gelu.cu",
    kernel="gelu",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=gelu,
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    worked=Worked(size=5, values={"x": (3, 1, 2, 4, 5)}),
    full=FULL,
    reduction=lambda n: 16,
    bug=kinds.TARGET_MISSED,
    contract=Domain(
        # Of negative numbers alone, equal or few, 1 + tanh leaves no six digits.
        sizes=domain.lengths(least=31),
        launches=spare_blocks,
        values=(
            domain.data(
                "x",
                domain.ZEROS,
                domain.POSITIVE,
                domain.NEGATIVE,
                domain.TIES,
                domain.RISING,
                domain.MIDDLING,
                domain.LARGE,
                domain.SMALL,
                domain.SOME_NAN,
            ),
        ),
    ),
    method=(
        Requirement(
            "instructions on 64-bit floating-point numbers",
            wide_instructions,
            at_most=0,
            advice="A conversion or a comparison of doubles is 64-bit work, too: `0.5f`, `tanhf`.",
            size=1024,
        ),
        method.one_store_per_result(),
        method.balanced_work(size=1024),
    ),
    target=Target(
        label="operations in float64, by all threads",
        measure=double_operations,
        at_most=0,
        advice="The result is right. What type has a number such as `0.5` in C++?",
        size=1000,
    ),
)
