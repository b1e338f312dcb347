"""The exercises of "Libraries from Python"."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import kinds, method
from course_utils.exercises.authoring.domain import (
    AS_GIVEN,
    Domain,
    DrawnCases,
    Given,
    InputClass,
    shapes,
)
from course_utils.exercises.authoring.launches import Launch, empty, int32s
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import Worked

# --- A float in three parts ---


def nearest_bf16(x: float) -> float:
    """By fractions: the bf16 number nearest to a finite x, of two equally near the even one."""
    exponent = max(int(np.frexp(x)[1]) - 8, -133)
    return float(round(Fraction(x) / Fraction(2) ** exponent) * Fraction(2) ** exponent)


def by_fractions(x: np.ndarray) -> np.ndarray:
    columns = []
    for number in x.astype(float):
        rest, column = number, []
        for _ in range(3):
            column.append(nearest_bf16(rest) if np.isfinite(rest) else rest)
            rest = rest - column[-1] if np.isfinite(number) else 0.0
        columns.append(column)
    return np.array(columns, np.float32).reshape(-1, 3).T


def any_floats(rng: np.random.Generator) -> tuple[np.ndarray]:
    """Floats of any bits, numbers of a usual size, or such between two bf16 numbers."""
    n = int(rng.choice((1, 2, 3, 17, 100)))
    kind = int(rng.integers(3))
    if kind == 0:
        x = rng.integers(0, 2**32, n, dtype=np.uint32).view(np.float32)
        x = np.where(np.abs(x) < np.float32(3.38e38), x, np.float32(np.inf))
    elif kind == 1:
        x = rng.standard_normal(n).astype(np.float32)
    else:
        x = (rng.integers(-(2**10), 2**10, n) / 2 + 2**9).astype(np.float32)
    return (np.nan_to_num(x, nan=-1.5, posinf=np.inf, neginf=-np.inf).astype(np.float32),)


def floats32(*numbers: float) -> tuple[np.ndarray]:
    return (np.array(numbers, np.float32),)


THREE_PARTS = PythonExercise(
    cases=(
        floats32(2.5, 257, -3, 513, 8),
        floats32(257.0625),
        floats32(1, -3, 0),
        floats32(257, 259, -257, 255.5),
        floats32(3.14159265, -2.71828175, 1e-20),
        floats32(16777215, 16777213, -8388609),
        floats32(np.inf, -np.inf, 1),
        floats32(np.nan, 2),
        floats32(1e30, 3.3e38, 1e-30, 1e-38, 1e-44),
    ),
    reference=by_fractions,
    axes=("part", "number"),
    contract=DrawnCases(any_floats),
)

# --- The order of the products ---


def sizes_in_order(pairs: Any) -> tuple[Any, ...] | None:
    """The sizes of the pairs as they come, and the pairs: those of one size in any order."""
    if pairs is None:
        return None
    pairs = [tuple(int(i) for i in pair) for pair in pairs]
    return tuple(sum(pair) for pair in pairs), tuple(sorted(pairs))


def ordered_by_size(parts: int, bits: int) -> tuple[Any, ...] | None:
    pairs = []
    for size in range(2 * parts - 2, -1, -1):
        if 8 * size < bits:
            pairs += [(i, size - i) for i in range(parts) if 0 <= size - i < parts]
    return sizes_in_order(pairs)


PRODUCT_ORDER = PythonExercise(
    cases=((3, 24), (3, 8), (2, 24), (3, 16), (3, 25), (3, 48), (3, 33), (4, 32), (1, 8), (8, 55)),
    reference=ordered_by_size,
    call=lambda answer, parts, bits: sizes_in_order(answer(parts, bits)),
    compared="gives the sizes i + j, and the pairs sorted,",
    shows=lambda parts, bits: {"parts": parts, "bits": bits},
    contract=DrawnCases(
        lambda rng: (
            int(rng.integers(1, 9)),
            int(rng.choice((1, 7, 8, 9, 16, 24, 25, 53, 200))),
        )
    ),
)

# --- Slices of a row ---


def counted_slices(row: list[float]) -> int:
    """Slices cut one after the other, by fractions, until nothing is left over."""
    rest = [Fraction(x) for x in row]
    largest = max(map(abs, rest), default=Fraction(0))
    if not largest:
        return 0
    step = Fraction(1)
    while step <= largest:
        step *= 2
    while step / 2 > largest:
        step /= 2
    step, count = step / 64, 1
    while any(x % step for x in rest):
        step, count = step / 128, count + 1
    return count


def any_row(rng: np.random.Generator) -> tuple[list[float]]:
    n, bits = int(rng.integers(1, 6)), int(rng.choice((1, 3, 7, 12, 30, 53)))
    numbers = rng.integers(-(2**bits), 2**bits, n, endpoint=True)
    scale = rng.integers(-60, 61, n) if rng.random() < 0.5 else np.full(n, rng.integers(-900, 900))
    return ([float(np.ldexp(float(x), int(s))) for x, s in zip(numbers, scale, strict=True)],)


SLICES_NEEDED = PythonExercise(
    cases=(
        ([1.0, 0.75],),
        ([1.0, 2.0**-5],),
        ([1.0, 2.0**-6],),
        ([-1.0, 2.0**-12],),
        ([0.0, 0.0],),
        ([1.0, 2.0**-13],),
        ([0.5, -0.1],),
        ([1.0 + 2.0**-52],),
        ([3.0],),
        ([1024 - 2.0**-43, 2.0**-45],),  # the first logarithm is rounded up to 10
        ([1e300, 1.0],),
        ([5e-324],),
        ([],),
    ),
    reference=counted_slices,
    contract=DrawnCases(any_row),
)


def exponents(x: np.ndarray) -> np.ndarray:
    return np.frexp(np.abs(x).max(1))[1].astype(np.int32)


def with_exponents(x: np.ndarray) -> dict[str, Any]:
    return {"x": x, "exponent": exponents(x)}


def beside_halves(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A number that fp32 would round to a half before it's rounded to an integer."""
    half = rng.integers(-63, 63, x.shape) + 0.5
    return (half + rng.choice([-1, 1], x.shape) * 2.0**-40) / 64


def to_slice(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    rows, columns, count = size
    x = rng.standard_normal((rows, columns)) * 2.0 ** rng.integers(-20, 20, (rows, 1))
    return {
        **with_exponents(x),
        "slices": empty((count, rows, columns), np.int8),
        **int32s(rows=rows, columns=columns, count=count),
    }


def sliced(given: Given) -> dict[str, np.ndarray]:
    rest = np.ldexp(given["x"], 6 - given["exponent"][:, None])
    found = []
    for _ in range(int(given["count"])):
        found.append(np.rint(rest))
        rest = (rest - found[-1]) * 128
    return {"slices": np.array(found, np.int8)}


def changed(label: str, change: Callable[..., Any]) -> InputClass:
    """Other numbers in the place of x, with the exponents that they need."""
    return InputClass(label, lambda given, rng: with_exponents(change(given["x"], rng)))


SLICED = (3, 100, 4)
INT8_SLICES = KernelExercise(
    inputs=to_slice,
    reference=sliced,
    exact=True,
    launch=lambda size: Launch((ceil_div(size[0] * size[1], 256),), (256,)),
    small=(SLICED, (2, 5, 2), (1, 300, 8), (2, 256, 3), (1, 1, 1)),
    worked=Worked(
        size=(2, 3, 2),
        values={"x": (0.8125, -0.3125, 0.25, 3, -1.5, 0.0625), "exponent": (0, 2)},
    ),
    axes={"slices": ("slice", "row", "column")},
    full=(4096, 4096, 8),
    contract=Domain(
        sizes=shapes(rows=(1, 2, 33), columns=(1, 31, 257, 700), count=(1, 2, 8, 11)).with_outlier(
            rows=4099, columns=40_009
        ),
        values=(
            (
                AS_GIVEN,
                changed("x just below a power of two", lambda x, rng: np.sign(x) * (1 - 2.0**-50)),
                changed("x beside halves", beside_halves),
                changed("x in halves", lambda x, rng: rng.integers(-127, 128, x.shape) / 128),
                changed("rows of tiny numbers", lambda x, rng: x * 2.0**-400),
                changed("x of many sizes", lambda x, rng: x * 2.0 ** rng.integers(-60, 1, x.shape)),
                changed("some zeros", lambda x, rng: x * rng.integers(0, 2, x.shape)),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=SLICED),
    ),
)

# --- Scales ---


def scales_by_rows(x: np.ndarray) -> np.ndarray:
    scales = [max(abs(float(number)) for number in row) / 448 for row in x]
    return np.array([scale or 1.0 for scale in scales])


def matrix(*rows: tuple[float, ...]) -> tuple[np.ndarray]:
    return (np.array(rows, np.float32),)


def any_matrix(rng: np.random.Generator) -> tuple[np.ndarray]:
    rows, columns = (int(n) for n in rng.choice((1, 2, 3, 5, 40), 2))
    x = rng.standard_normal((rows, columns)) * 10.0 ** rng.integers(-30, 31, (rows, 1))
    x = x * rng.choice((-1, 1, np.sign(x).mean() or 1))
    return ((x * rng.integers(0, 2, (rows, 1))).astype(np.float32),)


ROW_SCALES = PythonExercise(
    cases=(
        matrix((896, 224), (448, 0)),
        matrix((896, -224), (-896, 224)),
        matrix((0, 0, 0), (1792, 0, 448)),
        matrix((-448, -896), (-1, -2), (3, -1)),
        matrix(
            (0.5, 0.25),
        ),
        matrix((1e-6,), (1e6,), (0,), (-1e-30,)),
    ),
    reference=scales_by_rows,
    bug=kinds.WRONG,
    axes=("row",),
    contract=DrawnCases(any_matrix),
)


def scaled_first(
    a: np.ndarray, a_scales: np.ndarray, b: np.ndarray, b_scales: np.ndarray
) -> np.ndarray:
    """The codes times their scales, element by element, and then one product."""

    def whole(codes: np.ndarray, scales: np.ndarray) -> Any:
        height, width = (n // m for n, m in zip(codes.shape, scales.shape, strict=True))
        return codes * np.kron(scales, np.ones((height, width)))

    return whole(a, a_scales) @ whole(b, b_scales).T


def any_blocks(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Codes of E2M1 and scales that are powers of two, so that every sum is exact."""
    M, N, h, w, blocks = (int(n) for n in rng.choice((1, 2, 3, 5), 5))
    w = int(rng.choice((w, 16, 128)))

    def codes(rows: int) -> np.ndarray:
        return rng.integers(-12, 13, (rows, w * blocks)) / 2

    def scales(rows: int) -> np.ndarray:
        return 2.0 ** rng.integers(-4, 5, (rows, blocks))

    return codes(M), scales(M), codes(N * h), scales(N)


def arrays(*matrices: list[list[float]]) -> tuple[np.ndarray, ...]:
    return tuple(np.array(rows, float) for rows in matrices)


BLOCK_PRODUCT = PythonExercise(
    cases=(
        arrays([[1, 2]], [[10, 100]], [[3, 1]], [[1, 1]]),
        arrays([[1, 2, 3, 4]], [[1, 10]], [[1, 1, 1, 1]], [[1, 2]]),
        arrays([[1, 2], [3, 4]], [[1, 1], [2, 2]], [[1, 0], [0, 1]], [[1, 10], [2, 20]]),
        arrays([[1, 1]], [[1, 1]], [[1, 2], [3, 4], [5, 6], [7, 8]], [[1, 10], [100, 2]]),
        arrays([[1, 2, 3]], [[2]], [[1, 1, 1], [2, 0, 1]], [[3]]),
    ),
    reference=scaled_first,
    axes=("row", "column"),
    contract=DrawnCases(any_blocks),
)

# --- Choose, and defend ---

FP32, TF32 = ("fp32", 2e-7, 20.0, 1e-38), ("TF32", 6e-5, 4.0, 1e-38)
FP16 = "fp16", 6e-5, 2.0, 6e-8
SIX, NINE = ("bf16 x 6", 1e-7, 13.0, 8e-34), ("bf16 x 9", 1e-7, 20.0, 8e-34)


def ruled_out(way: Any, tolerance: Any, smallest: Any) -> str:
    if way[1] > tolerance:
        return "too inexact"
    return "underflows" if way[3] > smallest else ""


def defended(ways: Any, tolerance: Any, smallest: Any) -> tuple[str, str, str]:
    reasons = {way[0]: ruled_out(way, tolerance, smallest) for way in ways}
    left = sorted((way[2], place) for place, way in enumerate(ways) if not reasons[way[0]])
    name = ways[left[0][1]][0] if left else ""
    return told(name, {way: why or "slower" for way, why in reasons.items() if way != name})


def told(name: Any, why: Any) -> tuple[str, str, str]:
    """The choice and its reasons, in one order."""
    names = sorted(map(str, why))
    return str(name), "; ".join(names), "; ".join(f"{way}: {why[way]}" for way in names)


def any_ways(rng: np.random.Generator) -> tuple[Any, ...]:
    count = int(rng.integers(1, 7))
    ways = [
        (
            f"way {k}",
            float(rng.choice((1e-8, 1e-6, 1e-3))),
            float(rng.choice((1.0, 2.0, 2.5, 9.0))),
            float(rng.choice((1e-38, 1e-30, 1e-7))),
        )
        for k in range(count)
    ]
    return ways, float(rng.choice((1e-9, 1e-8, 1e-6, 1e-2))), float(rng.choice((1e-38, 1e-7, 1.0)))


CHOOSE_PRODUCT = PythonExercise(
    cases=(
        ([FP16, TF32], 1e-2, 1e-9),
        ([FP16, TF32], 1e-2, 1e-3),
        ([FP32, TF32, SIX, NINE], 1e-6, 1e-20),
        ([FP32, TF32, SIX, NINE], 1e-6, 1e-36),
        ([FP32, NINE], 2e-7, 1e-30),
        ([FP16, TF32, SIX], 1e-9, 1e-9),
        ([FP16, SIX], 1e-6, 1e-9),
        ([FP16], 6e-5, 6e-8),
    ),
    reference=defended,
    call=lambda answer, *case: None if (found := answer(*case)) is None else told(*found),
    compared="gives as choice, others and reasons",
    shows=lambda ways, tolerance, smallest: {
        "ways": ways,
        "tolerance": tolerance,
        "smallest": smallest,
    },
    contract=DrawnCases(any_ways),
)
