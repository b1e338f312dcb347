"""The exercises of "Register tiles"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import method
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.spec import Ask, KernelExercise, NumberExercise, Target

from .common import ANY_PRODUCT, matrices, no_more_arithmetic, product, tiles_read_once

ONE_BLOCK = 32, 32, 32
ONCE_FOR_EACH_TILE = (
    method.one_store_per_result(),
    method.balanced_work(2.0, size=ONE_BLOCK),
    tiles_read_once(ONE_BLOCK),
    no_more_arithmetic(ONE_BLOCK),
)


def shared_loads_per_fma(counts) -> float:
    """Loads of single threads from shared memory, over multiply-adds."""
    return counts.shared_load_requests * 32 / max(counts.flops / 2, 1)


COLUMN_MATMUL = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (256,)),
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="shared loads per FMA",
        measure=shared_loads_per_fma,
        at_most=1.3,
        advice="Read the operand of B once for each k, into a variable of the thread, and use it "
        "for all four products.",
        size=(32, 32, 32),
    ),
    within=2.0,
    contract=ANY_PRODUCT,
    method=ONCE_FOR_EACH_TILE,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)


PREDICT_LOADS = NumberExercise(
    source="06_matmul_and_fft/exercises/thread_tiles.cu",
    kernel="thread_tiles",
    inputs=lambda rng, shape: {
        "x": floats(rng, 8 * 48),
        "y": empty(64 * 32),
        "shape": np.int32(shape),
    },
    launch=lambda shape: Launch((1,), (32,)),
    asks={
        "column": Ask(
            "8 x 1: a column of eight results",
            1,
            shared_loads_per_fma,
            {
                9: "That is the number of loads for one k. How many FMAs share them?",
                2: "That is one result a thread. Here one operand serves eight products.",
                1: "Eight operands of A for eight products, and one more of B.",
            },
        ),
        "square": Ask(
            "4 x 4",
            2,
            shared_loads_per_fma,
            {
                8: "That is the number of loads for one k. How many FMAs share them?",
                0.25: "Four operands of A and four of B: both have to be loaded.",
            },
        ),
        "long": Ask(
            "16 x 4",
            3,
            shared_loads_per_fma,
            {0.25: "As many results as 8 x 8, but more operands: 16 and 4."},
        ),
        "large": Ask(
            "8 x 8",
            4,
            shared_loads_per_fma,
            {0.125: "Eight operands of A and eight of B for 64 products."},
        ),
    },
)


SQUARE_MATMUL = KernelExercise(
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((ceil_div(size[1], 32), ceil_div(size[0], 32)), (64,)),
    small=((37, 45, 19), (33, 5, 8), (4, 70, 1), (1, 1, 1)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="shared loads per FMA",
        measure=shared_loads_per_fma,
        at_most=0.6,
        advice="Read the operands into a[TM] and b[TN] first; the two loops that multiply must "
        "touch registers alone.",
        size=(32, 32, 32),
    ),
    within=2.0,
    contract=ANY_PRODUCT,
    method=ONCE_FOR_EACH_TILE,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
)
