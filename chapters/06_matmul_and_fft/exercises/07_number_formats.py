"""The exercises of "Number formats"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, kinds, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.worked import Worked

from .common import (
    ANY_SHAPE,
    HALF_OPERANDS,
    chosen,
    half_matrices,
    on_tensor_cores,
    product_of_rows,
    two_by_two,
)

HALF_SUMS = KernelExercise(
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((32, 48, 512), (32, 16, 64), (16, 16, 16)),
    worked=two_by_two(16, 16, 16),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    contract=Domain(
        sizes=chosen(
            (16, 16, 32),
            (16, 32, 16),
            (48, 16, 80),
            (64, 64, 48),
            (16, 176, 112),
            (208, 16, 64),
            (16, 16, 1040),
            (2064, 16, 32),
            (16, 2064, 32),
            (272, 256, 16),
        ),
        values=HALF_OPERANDS,
    ),
    method=(*on_tensor_cores((32, 16, 64)), method.one_store_per_result()),
    bug=kinds.PRECISION,
)


def by_way_of_bytes(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """The product of two matrices quantised to 8 bits, one scale each."""
    scales = [np.abs(matrix).max() / 127 for matrix in (A, B)]
    a, b = (np.rint(matrix / scale) for matrix, scale in zip((A, B), scales, strict=True))
    return a @ b.T * (scales[0] * scales[1])


def matrix_of(seed: int, rows: int, columns: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed float64 values times ``scale``."""
    return np.random.default_rng(seed).standard_normal((rows, columns)) * scale


def two_matrices(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Matrices of any scale, with values of both signs or of one, some with an outlier."""
    rows, others, columns = rng.integers(1, 9), rng.integers(1, 9), rng.integers(1, 400)
    found = []
    for n in (rows, others):
        matrix = rng.standard_normal((n, columns))
        kind = rng.integers(4)
        if kind < 2:
            matrix = np.abs(matrix) * (1 if kind else -1)
        elif kind == 2:
            matrix.flat[rng.integers(matrix.size)] = -20.0
        found.append(matrix * 10.0 ** rng.integers(-6, 7))
    return found[0], found[1]


def halfway() -> tuple[np.ndarray, np.ndarray]:
    """Both scales are 1: quantised, the first matrix is rounded, and the second as it is."""
    tied = [127, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 125.5, -126.5]
    return np.array([tied, tied[::-1]]), 127 * np.eye(len(tied))


def past_fp32() -> list[tuple[np.ndarray, np.ndarray]]:
    """A sum of products of 127 and 127 far past what fp32 counts to, of which little is left."""
    k = 100_001
    signs = np.where(np.arange(k) < k // 2, 1.0, -1.0)
    signs[-1] = 3 / 127
    return [(np.stack((signs, signs[::-1])), np.ones((1, k)))]


QUANTISED_PRODUCT = PythonExercise(
    cases=(
        (np.array([[127, 2.75], [-1.75, 5]]), np.array([[254.0, 6], [0, 10]])),  # scales of 1 and 2
        (np.array([[127.0, -64], [1, 2]]), np.array([[127.0, 3], [0, 5]])),  # scales of 1
        (matrix_of(1, 5, 40), matrix_of(2, 7, 40)),
        (matrix_of(3, 4, 300, 100.0), matrix_of(4, 3, 300, 0.01)),
        (matrix_of(5, 1, 1), matrix_of(6, 1, 1)),
        (matrix_of(7, 2, 9, 1e30), matrix_of(8, 3, 9, 1e30)),  # past the range of float32
        (matrix_of(9, 1, 5000), matrix_of(10, 2, 5000)),
        (matrix_of(11, 2, 9, 1e-30), matrix_of(12, 3, 9, 1e-20)),
        halfway(),
    ),
    reference=by_way_of_bytes,
    contract=DrawnCases(two_matrices, large=past_fp32),
)


def bytes_of(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Integers of 8 bits, over their whole range; in long rows -128 and -127: large sums."""
    return rng.integers(-128, -126 if shape[1] > 1100 else 128, shape).astype(np.int8)


def bytes_like(name: str) -> tuple[domain.InputClass, ...]:
    """Other values for one of the matrices, the ends of the range among them."""
    kinds_of_values = {
        "of -128 and 127": lambda x, rng: rng.choice([-128, 127], x.shape),
        "near -128": lambda x, rng: rng.integers(-128, -124, x.shape),
        "near 127": lambda x, rng: rng.integers(124, 128, x.shape),
        "of -1, 0 and 1": lambda x, rng: rng.integers(-1, 2, x.shape),
        "all negative": lambda x, rng: rng.integers(-128, 0, x.shape),
        "all positive": lambda x, rng: rng.integers(1, 128, x.shape),
    }
    return domain.data(name, *kinds_of_values.items())


DP4A_PRODUCT = KernelExercise(
    inputs=lambda rng, size: {
        "A": bytes_of(rng, (size[0], size[2])),
        "B": bytes_of(rng, (size[1], size[2])),
        "C": empty((size[0], size[1]), np.int32),
        **int32s(M=size[0], N=size[1], K=size[2]),
    },
    reference=lambda given: {"C": given["A"].astype(np.int32) @ given["B"].astype(np.int32).T},
    launch=lambda size: Launch((ceil_div(size[1], 16), ceil_div(size[0], 16)), (16, 16)),
    small=((37, 21, 52), (16, 33, 64), (1, 1, 4), (5, 3, 2084)),
    worked=Worked(whole=("A", "B")),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    target=Target(
        label="global loads per product",
        measure=lambda counts: counts.global_load_requests * 32 / (32 * 32 * 64),
        at_most=0.6,
        advice="Read four neighbours as one int: a pointer to the row, cast to `const int *`.",
        size=(32, 32, 64),
    ),
    contract=Domain(
        sizes=chosen(*((m, n, 4 * k) for m, n, k in ANY_SHAPE.sizes)),
        values=(bytes_like("A"), bytes_like("B")),
    ),
    method=(
        method.instructions(
            "words that __dp4a takes",
            "dp4a.",
            at_least=32 * 32 * 64 / 4,
            at_most=2 * 32 * 32 * 64 / 4,
            advice="Let `__dp4a` make all the products, four at a time.",
            size=(32, 32, 64),
        ),
        # The compiler makes dp4a of shifts and products, too, but takes the bytes apart first. (A
        # char4 is put together by other instructions.)
        Requirement(
            "shifts and masks for each word of four operands",
            lambda stats: stats.opcodes("shr.", "shl.", "and.") / (32 * 32 * 64 / 4),
            at_most=4,
            advice="Give `__dp4a` the words as they were loaded: it takes the bytes apart itself.",
            size=(32, 32, 64),
        ),
        method.one_store_per_result(),
        method.a_thread_each(size=(32, 32, 64)),
        method.balanced_work(2.0, size=(32, 32, 64)),
    ),
)


def codes(given: Given) -> dict[str, np.ndarray]:
    """Rounded to even, and cut off at 127 on both sides."""
    x = given["x"].astype(np.float64) / float(given["scale"])
    return {"code": np.clip(np.rint(x), -127, 127).astype(np.int8)}


def requests(counts: Counts) -> float:
    """Loads and stores of warps to global memory, over each 128 of 4096 numbers."""
    return (counts.global_load_requests + counts.global_store_requests) / (4096 / 128)


PACKED_CODES = KernelExercise(
    inputs=lambda rng, n: {
        "x": (40 * rng.standard_normal(n)).astype(np.float32),
        "code": empty(n, np.int8),
        "scale": np.float32(0.5),
        "n": np.int32(n),
    },
    reference=codes,
    launch=lambda n: Launch((ceil_div(n, 1024),), (256,)),
    small=(1027, 4096, 6, 1),
    full=1 << 24,
    exact=True,
    target=Target(
        label="requests to global memory per 128 numbers",
        measure=requests,
        at_most=2.5,
        advice="A thread can take four neighbours: one float4 in, and one char4 out.",
        size=4096,
    ),
    within=2.0,
    contract=Domain(
        sizes=domain.lengths(),
        values=(
            domain.data(
                "x",
                *domain.ORDINARY,
                ("halfway between two codes", lambda x, rng: rng.integers(-300, 300, x.shape) / 4),
            ),
            domain.scalars("scale", 1, 0.25, 2),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_work(4.0, size=4096)),
)
