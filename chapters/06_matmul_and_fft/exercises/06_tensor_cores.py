"""The exercises of "Tensor cores"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import method
from course_utils.exercises.authoring.domain import Domain
from course_utils.exercises.authoring.launches import Launch, empty, int32s
from course_utils.exercises.authoring.method import LaunchStats, Requirement
from course_utils.exercises.authoring.spec import Ask, KernelExercise, NumberExercise, Target
from course_utils.exercises.authoring.variants import Varied

from .common import (
    HALF_OPERANDS,
    chosen,
    half_matrices,
    on_tensor_cores,
    product_of_rows,
    two_by_two,
)

# Multiples of 16, past 65,535 elements in each matrix.
TILES_OF_16 = (
    (16, 16, 16),
    (16, 32, 48),
    (32, 16, 112),
    (64, 64, 64),
    (80, 48, 272),
    (48, 176, 32),
    (208, 16, 16),
    (16, 16, 1040),
    (2064, 16, 32),
    (16, 2064, 32),
    (272, 256, 16),
)


WMMA_PRODUCT = KernelExercise(
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 80), (16, 64, 48), (16, 16, 16)),
    worked=two_by_two(16, 16, 16),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    contract=Domain(sizes=chosen(*TILES_OF_16), values=HALF_OPERANDS),
    method=(*on_tensor_cores((48, 32, 80)), method.one_store_per_result()),
)


def marks_made(counts: Counts) -> float:
    """How many places of the array were marked."""
    return counts.global_store_bytes / 4


def ones_at(row: int, k: int, column: int) -> Callable[[np.random.Generator, int], dict[str, Any]]:
    """The inputs for a 1 at A(row, k) and one at B(k, column)."""
    return lambda rng, what: {
        "marks": empty(32, np.int32),
        **int32s(row=row, k=k, column=column, what=what),
    }


def other_places(row: int, k: int, column: int) -> dict[str, Any]:
    """A class's questions, about other elements of the lower half of A, and of its right half."""
    same = f"There are only 32 lanes: row {row} belongs to the same lanes as row {row - 8}."
    anew = f"Pairs begin again at k = 8: k = {k} is in pair {(k - 8) // 2}, from 0."
    lower = f"Row {row} is in the lower half, and column {k} is in the right half."
    inside, pair = row - 8, (k - 8) // 2
    return {
        "inputs": ones_at(row, k, column),
        "asks": {
            "lane_a": Ask(
                f"the lane that holds A({row}, {k})",
                0,
                marks_made,
                {4 * row + pair: same, 4 * inside + k // 2: anew},
            ),
            "register_a": Ask("its register, from 0 to 3", 1, marks_made, {1: lower, 2: lower}),
            "lane_b": Ask(
                f"the lane that holds B({k}, {column})",
                2,
                marks_made,
                {4 * column + k // 2: anew},
            ),
            "lane_c": Ask(
                f"the lane that holds C({row}, {column})",
                3,
                marks_made,
                {4 * row + column // 2: same},
            ),
        },
    }


FRAGMENT_PLACE = NumberExercise(
    inputs=ones_at(13, 14, 2),
    launch=lambda what: Launch((1,), (32,)),
    asks={
        "lane_a": Ask(
            "the lane that holds A(13, 14)",
            0,
            marks_made,
            {
                55: "There are only 32 lanes: row 13 belongs to the same lanes as row 5.",
                26: "13 / 4 is for lanes; a row of 8 x 8 belongs to four lanes: 4 * (13 % 8).",
                22: "Two neighbours along K share a register: column 14 is the seventh pair, and "
                "the pairs begin anew at column 8.",
            },
        ),
        "register_a": Ask(
            "its register, from 0 to 3",
            1,
            marks_made,
            {
                2: "The registers go down first: 1 is below 0, and 2 is at the right of 0.",
                1: "Row 13 is in the lower half, and column 14 is in the right half.",
            },
        ),
        "lane_b": Ask(
            "the lane that holds B(14, 2)",
            2,
            marks_made,
            {
                26: "In B the *column* gives the group of four lanes, and k the lane within it.",
                10: "k = 14 is the seventh pair along K, and pairs begin anew at k = 8.",
            },
        ),
        "lane_c": Ask(
            "the lane that holds C(13, 2)",
            3,
            marks_made,
            {
                22: "A lane holds two neighbouring columns of C: column 2 is the second pair.",
                53: "There are only 32 lanes: row 13 belongs to the same lanes as row 5.",
            },
        ),
    },
    varied=Varied(
        {
            "row": (13, 9, 10, 11, 12, 14, 15),
            "k": (14, 9, 10, 11, 12, 13, 15),
            "column": (2, 1, 3, 4, 5, 6),
        },
        fields=other_places,
        texts=(
            "A({row}, {k})",
            "B({k}, {column})",
            "C({row}, {column})",
            "4 * ({row} % 8) + ({k} % 8) / 2",
        ),
    ),
)


MMA_PRODUCT = KernelExercise(
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 8, size[0] // 16), (32,)),
    small=((48, 40, 80), (16, 24, 48), (16, 8, 16)),
    worked=two_by_two(16, 8, 16),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    contract=Domain(
        sizes=chosen(*TILES_OF_16[2:], (16, 8, 16), (32, 24, 96), (16, 8200, 16)),
        values=HALF_OPERANDS,
    ),
    method=(*on_tensor_cores((48, 40, 80)), method.one_store_per_result()),
)


LDMATRIX_LOADS = KernelExercise(
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 80), (16, 64, 48), (16, 16, 16)),
    worked=two_by_two(16, 16, 16),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="loads from shared memory per step along K",
        measure=lambda counts: counts.shared_load_requests / 4,
        at_most=2.0,
        advice="One ldmatrix_4 fills the four registers of A, and one the four of B.",
        size=(16, 16, 64),
    ),
    within=2.0,
    contract=Domain(sizes=chosen(*TILES_OF_16), values=HALF_OPERANDS),
    method=(
        *on_tensor_cores((48, 32, 80)),
        method.one_store_per_result(),
        method.instructions(
            "threads at an ldmatrix",
            "ldmatrix.",
            at_least=2 * 32 * 4,
            advice="Both fragments come from shared memory by ldmatrix.",
            size=(16, 16, 64),
        ),
    ),
)


PREDICT_PITCHES = NumberExercise(
    source="06_matmul_and_fft/exercises/pitches.cu",
    kernel="pitches",
    inputs=lambda rng, pitch: {"y": empty(128, np.uint32), "pitch": np.int32(pitch)},
    launch=lambda pitch: Launch((1,), (32,)),
    asks={
        "close": Ask(
            "16 bytes: the rows follow each other",
            16,
            lambda counts: counts.shared_load_wavefronts,
            {1: "32 rows of 16 bytes are 512 bytes. A wavefront serves 128 of them."},
        ),
        "half": Ask(
            "64 bytes",
            64,
            lambda counts: counts.shared_load_wavefronts,
            {
                4: "Rows 0 and 2 both begin at a multiple of 128 bytes: in the same bank.",
                2: "Of the eight rows of a tile, four begin in bank 0 and four in bank 16.",
                8: "Four of the eight rows of a tile share banks, and there are four tiles.",
            },
        ),
        "whole": Ask(
            "128 bytes",
            128,
            lambda counts: counts.shared_load_wavefronts,
            {
                8: "That is one tile. There are four.",
                16: "All eight rows of a tile begin in bank 0, not four of them.",
            },
        ),
        "padded": Ask(
            "144 bytes",
            144,
            lambda counts: counts.shared_load_wavefronts,
            {32: "144 bytes are 36 words: each row begins four banks further on."},
        ),
    },
)


def shared_bytes(stats: LaunchStats) -> int:
    """Static shared memory of the kernel."""
    function = stats.launches[0].instructions[0].instruction.scope.function
    return sum(variable.size for variable in function.variables if variable.space == "shared")


SWIZZLED_ROWS = KernelExercise(
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 128), (16, 16, 64)),
    worked=two_by_two(16, 16, 64),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="wavefronts per ldmatrix",
        measure=lambda counts: counts.shared_load_wavefronts / max(counts.shared_load_requests, 1),
        at_most=4.0,
        advice="ldmatrix reads one chunk of eight rows at a time. Those eight must lie in eight "
        "different positions of a row, so the position has to depend on the row as well.",
        size=(16, 16, 64),
    ),
    contract=Domain(
        sizes=chosen(*((m, n, ceil_div(k, 64) * 64) for m, n, k in TILES_OF_16)),
        values=HALF_OPERANDS,
    ),
    method=(
        *on_tensor_cores((16, 16, 64)),
        method.instructions(
            "threads at an ldmatrix",
            "ldmatrix.",
            at_least=256,
            advice="The operands come from shared memory by ldmatrix: only where they lie is new.",
            size=(16, 16, 64),
        ),
        Requirement(
            "bytes of shared memory",
            shared_bytes,
            at_most=4096,
            advice="The rows are 128 bytes long, without padding: change the order of the chunks "
            "in a row, another one in each of eight rows.",
            size=(16, 16, 64),
        ),
        # Loads without a conflict, beside those that have one, make the average better.
        Requirement(
            "wavefronts of loads from shared memory",
            lambda stats: stats.counts.shared_load_wavefronts,
            at_most=48,
            advice="Each ldmatrix has 4 wavefronts when no two rows meet in a bank.",
            size=(16, 16, 64),
        ),
    ),
)
