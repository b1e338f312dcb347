"""The exercises of "Tensor cores in CuTe"."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import Launch, empty
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

from .common import by_cute

# --- Which thread holds a sum? ---


def any_place(rng: np.random.Generator) -> tuple[Any, ...]:
    warps = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    return int(rng.integers(0, 16 * warps[0])), int(rng.integers(0, 16 * warps[1])), *warps


def from_table(row: int, column: int, warps_m: int, warps_n: int) -> tuple[int, int]:
    """Looked up among all elements that each thread holds."""
    for warp in range(warps_m * warps_n):
        top, left = warp % warps_m * 16, warp // warps_m * 8
        for lane in range(32):
            for value in range(8):
                y = top + lane // 4 + (value // 2 % 2) * 8
                x = left + lane % 4 * 2 + value % 2 + value // 4 * 8 * warps_n
                if (y, x) == (row, column):
                    return 32 * warp + lane, value
    raise AssertionError("no lane holds it")


SUM_PLACE = PythonExercise(
    cases=(
        (0, 0, 2, 2),
        (5, 3, 2, 2),
        (13, 9, 2, 2),
        (31, 31, 2, 2),
        (16, 16, 2, 2),
        (9, 12, 1, 1),
        (47, 20, 3, 2),
        (3, 63, 1, 4),
        (197, 231, 16, 15),
        (1000, 5, 64, 1),
        (5, 1000, 1, 64),
    ),
    reference=from_table,
    contract=DrawnCases(any_place),
)

# --- The other order of B ---


def halves(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)


def row_operands(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """A (M x K) and B (K x N)."""
    m, n, k = size
    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {"A": halves(rng, (m, k)), "B": halves(rng, (k, n)), "C": empty((m, n))} | sizes


def column_operands(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """A (M x K) and B (N x K)."""
    given = row_operands(rng, size)
    return given | {"B": np.ascontiguousarray(given["B"].T)}


def exact(a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
    return {"C": exact_product(a, b)}


def all_by_mma(size: tuple[int, int, int]) -> tuple[Requirement, ...]:
    """The products are made by tensor cores, once."""
    return (
        Requirement(
            "part of the products that the tensor cores make",
            lambda stats: (
                stats.counts.flops_by_type.get("f16 (tensor cores)", 0) / (2 * prod(size))
            ),
            at_least=1.0,
            at_most=2.0,
            advice="Let the mma make all products, one for each 16 x 8 results and 16 along K.",
            size=size,
        ),
    )


VALUES = ((*domain.data("A", *domain.ORDINARY),), (*domain.data("B", *domain.ORDINARY),))

WARP_PRODUCT = KernelExercise(
    inputs=column_operands,
    reference=lambda given: exact(given["A"], given["B"].T),
    launch=lambda size: Launch((size[1] // 8, size[0] // 16), (32,)),
    small=((32, 24, 48), (16, 8, 16)),
    worked=Worked(why_not="one instruction multiplies 16 x 16 by 16 x 8 elements"),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    contract=Domain(
        sizes=domain.shapes(M=(16, 32, 80), N=(8, 16, 40), K=(16, 48, 112)).with_outlier(
            M=528, N=264, K=1040
        ),
        values=VALUES,
    ),
    method=(
        *all_by_mma((32, 24, 48)),
        by_cute("cute/", "Let local_tile, partition_A, partition_B and gemm do the work."),
        method.one_store_per_result(),
    ),
)

TRANSPOSED_OPERAND = KernelExercise(
    inputs=row_operands,
    reference=lambda given: exact(given["A"], given["B"]),
    launch=lambda size: Launch((size[1] // 8, size[0] // 16), (32,)),
    small=((32, 24, 48), (16, 8, 16)),
    worked=Worked(why_not="one instruction multiplies 16 x 16 by 16 x 8 elements"),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    contract=Domain(
        sizes=domain.shapes(M=(16, 32, 80), N=(8, 16, 40), K=(16, 48, 112)).with_outlier(
            M=1040, N=1032, K=2064
        ),
        values=VALUES,
    ),
    method=(
        *all_by_mma((32, 24, 48)),
        method.instructions(
            "threads at an ldmatrix that transposes",
            "ldmatrix.sync.aligned.m8n8.x2.trans",
            "ldmatrix.sync.aligned.m8n8.x4.trans",
            at_least=32,
            advice="B's fragment comes from shared memory by ldmatrix with .trans.",
            size=(16, 8, 16),
        ),
        method.instructions(
            "threads at an ldmatrix of either kind",
            "ldmatrix.",
            at_least=64,
            advice="A's fragment comes by ldmatrix, too: by ldmatrix_4.",
            size=(16, 8, 16),
        ),
        method.instructions(
            "single words loaded from shared memory",
            "ld.shared",
            at_most=0,
            advice="ldmatrix brings the whole fragment: read nothing beside it.",
        ),
        method.one_store_per_result(),
    ),
)

# --- A partition that overlaps ---

WARPS_APART = KernelExercise(
    inputs=column_operands,
    reference=lambda given: exact(given["A"], given["B"].T),
    launch=lambda size: Launch((size[1] // 32, size[0] // 32), (128,)),
    small=((32, 32, 16), (64, 96, 48)),
    worked=Worked(why_not="the warps of a block have 32 x 32 elements"),
    full=(2048, 2048, 2048),
    reduction=lambda size: size[2],
    bug=kinds.PARTLY_WRITTEN,
    contract=Domain(
        sizes=domain.shapes(M=(32, 64), N=(32, 96), K=(16, 48)).with_outlier(
            M=1056, N=1056, K=1040
        ),
        values=VALUES,
    ),
    method=(
        *all_by_mma((64, 96, 48)),
        method.one_store_per_result(size=(64, 96, 48)),
        method.balanced_work(2.0, size=(64, 96, 48)),
    ),
)
