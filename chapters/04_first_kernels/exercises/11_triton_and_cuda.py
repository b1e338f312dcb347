"""The exercises of "Triton and CUDA"."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.exact_formulas import row_softmax
from course_utils.exercises.authoring.language_spec import TRITON, KernelCase, LanguageExercise
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.variants import Varied
from course_utils.exercises.authoring.worked import Worked

LANES = {3: "three", 5: "five", 6: "six", 10: "ten", 20: "twenty"}


def programs_of(n: int, some: int) -> dict[str, Ask]:
    """The questions about launches of n, of 1024 and of ``some`` elements: 512 and a few more."""
    return {
        "programs": Ask(
            f"n = {n:,}: programs",
            n,
            lambda counts: counts.opcodes["ret"] / 128,  # every thread returns once
            {
                n // 1024: "Round up: the rest needs a program, too.",
                ceil_div(n, 256): "That is for 256 elements a block. Here a block takes 1024.",
                ceil_div(n, 128): "128 is the number of threads. How many elements does each of "
                "them take?",
            },
        ),
        "requests": Ask(
            "n = 1024: requests to load, of all warps",
            1024,
            lambda counts: counts.global_load_requests,
            {
                8: "There are two arrays to load from.",
                4: "That many warps there are. How often does each of them load?",
                64: "A lane takes four floats with one load.",
                512: "That counts lanes. A request is made by a whole warp.",
            },
        ),
        f"of_{some}": Ask(
            f"n = {some}: requests to load, of all warps",
            some,
            lambda counts: counts.global_load_requests,
            {
                16: "In the second turn most warps have no element: they load nothing.",
                8: f"The first turn covers 512 elements. Who takes the other {some - 512}?",
                9: "There are two arrays to load from, in the second turn, too.",
            },
        ),
    }


PREDICT_PROGRAMS = NumberExercise(
    source="04_first_kernels/exercises/vec_add_dealt.cu",
    kernel="vec_add_dealt",
    inputs=lambda rng, n: {
        "a": floats(rng, n),
        "b": floats(rng, n),
        "c": empty(n),
        "n": np.int32(n),
    },
    launch=lambda n: Launch((ceil_div(n, 1024),), (128,)),
    asks=programs_of(10_000, 524),
    varied=Varied(
        {
            "n": (10_000, 5_000, 6_000, 9_000, 12_000, 14_000),
            "some": (524, 532, 536, 552, 592),
        },
        fields=lambda n, some: {"asks": programs_of(n, some)},
        texts=(
            "Of {some} elements {left} are left for the second iteration: {lanes} lanes",
            "With {some} elements the second iteration has work for {lanes} lanes",
        ),
        words=lambda n, some: {"left": some - 512, "lanes": LANES[(some - 512) // 4]},
    ),
)


class Memory(np.ndarray):
    """An array that writes down which of its elements are read by ``[]``, and how."""

    def __array_finalize__(self, parent: object) -> None:
        self.read: set[int] = set()
        self.slices = self.reads = 0

    def __getitem__(self, index: Any) -> Any:
        values = self.view(np.ndarray)
        self.slices += isinstance(index, slice)
        self.reads += 1
        self.read.update(np.arange(values.size)[index].reshape(-1).tolist())
        return values[index]

    def take(self, indices: Any, *arguments: Any, **options: Any) -> Any:
        values = self.view(np.ndarray)
        self.reads += 1
        read = np.arange(values.size).take(indices, *arguments, **options)
        self.read.update(np.reshape(read, -1).tolist())
        return values.take(indices, *arguments, **options)

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))


def flat_rows(rows: int, columns: int, low: float, seed: int) -> Memory:
    """rows x columns random fp32 numbers between low and low + 4, one row after another."""
    x = np.random.default_rng(seed).random(rows * columns, dtype=np.float32)
    return (x * np.float32(4) + np.float32(low)).view(Memory)


def any_program(rng: np.random.Generator) -> tuple[Memory, int, int, int]:
    """Any row of up to 300 columns, with numbers that may be large or far below zero, and one in
    each row that may be far above the others."""
    rows, columns = int(rng.integers(1, 6)), int(rng.integers(1, 300))
    low = float(rng.choice([-3e38, -5000, -90, -2, 90, 5000]))
    block = 1 << (columns - 1).bit_length() + int(rng.integers(3))
    x = flat_rows(rows, columns, low, int(rng.integers(1 << 30)))
    if rng.integers(2):
        x.view(np.ndarray).reshape(rows, columns)[:, rng.integers(columns)] += np.float32(1000)
    return x, int(rng.integers(rows)), columns, block


def read_by_the_mask(x: Memory, row: int, columns: int, block: int) -> str:
    """The sentence on a program's way to read its row."""
    wanted = set(range(row * columns, (row + 1) * columns))
    if x.slices:
        return (
            "A program has no slices: it has `block` offsets, and a mask says which it loads from."
        )
    if x.reads > 8:
        return f"x was read {x.reads} times: a program reads its row at an array of indices."
    if x.read - wanted:
        return "Elements of x were read that the mask leaves out."
    if wanted - x.read:
        return "The row was not read by `x[index]`, which stands for the load here."
    return ""


ONE_PROGRAM = PythonExercise(
    cases=(
        (np.array([0, 1, 2, 3, 1, 0], np.float32).view(Memory), 1, 3, 4),
        (flat_rows(3, 5, -2, 2), 2, 5, 8),
        (flat_rows(3, 5, -2, 1), 1, 5, 8),
        (flat_rows(2, 4, -2, 3), 1, 4, 4),
        (flat_rows(2, 1, -2, 4), 0, 1, 1),
        (flat_rows(2, 9, -90, 5), 1, 9, 16),
        (flat_rows(2, 9, 90, 6), 0, 9, 16),
        (flat_rows(1, 3, 5000, 7), 0, 3, 4),
        (np.array([0, 800, 800, 0], np.float32).view(Memory), 0, 2, 2),
        (np.array([0, 800, 800, 0], np.float32).view(Memory), 1, 2, 4),
        (flat_rows(2, 5000, -2, 8), 1, 5000, 8192),
    ),
    reference=lambda x, row, columns, block: row_softmax(np.array(x).reshape(-1, columns)[row]),
    contract=DrawnCases(any_program),
    method=read_by_the_mask,
)


FORBIDDEN = np.array(0x7FC05A00, np.uint32).view(np.float32)  # a NaN that is not NumPy's own


def to_norm(
    rows: int,
    columns: int,
    seed: int,
    *,
    programs: int = 0,
    scale: float = 1,
    eps: float = 1e-5,
    short: bool = False,
) -> tuple[KernelCase]:
    """Random rows with a gap of three floats after each, and a program for each row or ``programs``
    of them. All that the programs shall not use is NaN. ``short``: numbers to work with by hand."""
    rng = np.random.default_rng(seed)
    programs, stride = programs or rows, columns + 3
    x = np.full((rows, stride), FORBIDDEN)
    x[:programs, :columns] = rng.standard_normal((programs, columns)) * scale
    weight = rng.random(columns, dtype=np.float32) + np.float32(0.5)
    if short:
        x[:programs, :columns] = rng.integers(-9, 10, (programs, columns))
        weight = rng.integers(1, 8, columns).astype(np.float32) / 2
    args = {
        "x": x,
        "weight": weight,
        "y": np.full(x.shape, np.nan, np.float32),
        "columns": columns,
        "stride": stride,
        "eps": eps,
    }
    block = 1 << (columns - 1).bit_length()
    sizes = (
        f"{rows} rows of {columns} floats, stride={stride}, eps={eps:g}, BLOCK={block}, "
        f"{programs} programs"
    )
    window = slice(0, programs), slice(0, columns)
    return (KernelCase(programs, args, ("y",), sizes, meta={"BLOCK": block}, window=window),)


def rms_norms(case: KernelCase) -> np.ndarray:
    """The rows that the programs do, normalised in float64."""
    given = case.args
    x = given["x"][case.window].astype(np.float64)
    return x / np.sqrt(np.square(x).mean(axis=1, keepdims=True) + given["eps"]) * given["weight"]


def any_rows(rng: np.random.Generator) -> tuple[KernelCase]:
    """Any rows of up to 300 columns, of any ordinary magnitude."""
    rows = int(rng.integers(1, 5))
    return to_norm(
        rows,
        int(rng.integers(1, 300)),
        int(rng.integers(1 << 30)),
        programs=int(rng.integers(1, rows + 1)),
        scale=float(rng.choice([1e-3, 1.0, 1000.0])),
        eps=float(rng.choice([1e-6, 1e-5, 0.1])),
    )


RMS_NORM_ROWS = LanguageExercise(
    kernel_language=TRITON,
    cases=(
        to_norm(2, 3, 1, short=True),
        to_norm(3, 5, 1),
        to_norm(2, 8, 2),
        to_norm(4, 33, 3, programs=2),
        to_norm(2, 100, 4, scale=1e-3),
        to_norm(1, 1, 5),
    ),
    reference=rms_norms,
    contract=DrawnCases(any_rows),
    axes=("row", "column"),
)


def largest_anywhere(rng: np.random.Generator, size: tuple[int, int]) -> np.ndarray:
    """Rows whose largest magnitude is past the first 256 columns or in them, of either sign."""
    x = floats(rng, size)
    for row in x:
        row[rng.integers(len(row))] = rng.choice([-9, 9])
    return x


PORT_THE_PROGRAM = KernelExercise(
    kernel="scale_to_one",
    inputs=lambda rng, size: {
        "x": largest_anywhere(rng, size),
        "y": empty(size),
        "scales": empty(size[0]),
        "columns": np.int32(size[1]),
    },
    reference=lambda given: {
        "scales": (scales := np.maximum(np.abs(given["x"]).max(axis=1), np.float32(1e-30))),
        "y": given["x"].astype(np.float64) / scales[:, None],
    },
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 1000), (2, 257), (3, 100), (2, 32), (1, 1)),
    worked=Worked(size=(2, 3), values={"x": (3, -6, 0, 1, 2, 4)}),
    full=(1 << 14, 4096),
    contract=Domain(
        sizes=domain.shapes(
            rows=(2, 3, 7, 40), columns=(1, 2, 31, 33, 255, 256, 257, 512, 1025)
        ).with_outlier(columns=20_011),
        values=(
            domain.data(
                "x",
                domain.NEGATIVE,
                domain.POSITIVE,
                domain.EQUAL,
                domain.TIES,
                domain.RISING,
                domain.FALLING,
                domain.MIDDLING,
                domain.SMALL,
                domain.LARGE,
                domain.ZEROS,
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_loads(2.0, size=(2, 1024)),
        method.reads_each_once(4 * 2 * 1024, at_most=2.1, size=(2, 1024)),
    ),
)


def scattered_rows(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    """Numbers far enough apart that a sum which is not scaled again is plainly wrong."""
    return {
        "x": (8 * rng.standard_normal(size) - 20).astype(np.float32),
        "y": empty(size),
        "columns": np.int32(size[1]),
    }


SOFTMAX_ONLINE = KernelExercise(
    inputs=scattered_rows,
    reference=lambda given: {"y": row_softmax(given["x"])},
    launch=lambda size: Launch((size[0],), (32,)),
    small=((3, 100), (2, 257), (2, 32), (3, 7), (1, 1)),
    budget=100_000,
    full=(1 << 14, 4096),
    reduction=lambda size: size[1],
    contract=Domain(
        # 32,801 floats are more than the 48 KB of a __shared__ array hold, and than a short counts.
        sizes=domain.shapes(
            rows=(3, 6, 7, 300), columns=(1, 2, 31, 32, 33, 65, 257, 1025, 2053)
        ).with_outlier(columns=32_801),
        values=(
            domain.data(
                "x", *domain.ANY_FINITE, domain.NEAR_LOWEST, domain.AT_LOWEST, domain.SOME_NAN
            ),
        ),
    ),
    method=(method.one_store_per_result(), method.balanced_loads(2.0, size=(2, 320))),
    target=Target(
        label="loads of each element",
        measure=lambda counts: counts.global_load_bytes / (4 * 2 * 2048),
        at_most=2.0,
        advice="Two loads of each element are enough: one in a loop that "
        "keeps the maximum so far and its sum together, and one for the result.",
        size=(2, 2048),
    ),
)
