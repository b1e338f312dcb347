"""The exercises of "Fourier transforms"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.worked import Worked

from .common import ORDINARY, together

ANY_POINTS = domain.data("x", *ORDINARY, domain.LARGE, domain.VERY_SMALL)
NO_FAST_SINES = method.instructions(
    "fast sines and cosines",
    "sin.approx",
    "cos.approx",
    at_most=0,
    advice="__sinf and __cosf err by several units of the last digit: take sincospif.",
)


def complex_of(pairs: np.ndarray) -> np.ndarray:
    """The complex128 numbers that pairs along the last axis stand for."""
    pairs = pairs.astype(np.float64)
    return pairs[..., 0] + 1j * pairs[..., 1]


def pairs_of(numbers: np.ndarray) -> np.ndarray:
    """Complex numbers as pairs along a new last axis."""
    return np.stack((numbers.real, numbers.imag), axis=-1)


def rows_of(rng: np.random.Generator, rows: int, n: int) -> Given:
    """Rows of n complex numbers, and room for as many, one after the other in memory."""
    return {"x": floats(rng, 2 * rows * n), "y": empty(2 * rows * n)}


def transformed(given: Given, n: int) -> dict[str, np.ndarray]:
    """The discrete Fourier transform of each row of n."""
    rows = complex_of(given["x"].reshape(-1, n, 2))
    return {"y": pairs_of(np.fft.fft(rows)).reshape(-1)}


DFT_ROWS = KernelExercise(
    inputs=lambda rng, size: rows_of(rng, *size) | {"n": np.int32(size[1])},
    reference=lambda given: transformed(given, int(given["n"])),
    launch=lambda size: Launch((size[0], ceil_div(size[1], 256)), (256,)),
    small=((2, 61), (3, 31), (1, 8), (1, 1)),
    worked=Worked(size=(2, 4)),  # four points turn by quarters
    budget=400_000,  # a division or a sum in float64 for each of 1021 products is right, too
    full=(2048, 1024),
    reduction=lambda size: size[1],
    within=3.0,
    contract=Domain(
        sizes=together(
            "rows n",
            *((1, 1), (1, 2), (5, 3), (2, 31), (3, 32), (2, 33), (1, 61), (1, 64), (7, 12)),
            *((1, 257), (2, 130), (1, 1024)),
        ),
        values=(ANY_POINTS,),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.0, size=(3, 256)),
        NO_FAST_SINES,
    ),
)


def one_stage(given: Given) -> dict[str, np.ndarray]:
    """Stockham's stage: transforms of ``done`` points become transforms of 2 done."""
    n, done = int(given["n"]), int(given["done"])
    x = complex_of(given["x"].reshape(-1, n, 2))
    rows = len(x)
    halves = x.reshape(rows, 2, n // (2 * done), done)
    k = np.arange(done)
    second = halves[:, 1] * np.exp(-1j * np.pi * k / done)
    both = np.stack((halves[:, 0] + second, halves[:, 0] - second), axis=2)
    return {"y": pairs_of(both).reshape(-1)}


BUTTERFLIES = KernelExercise(
    inputs=lambda rng, size: (
        rows_of(rng, *size[:2]) | {"n": np.int32(size[1]), "done": np.int32(size[2])}
    ),
    reference=one_stage,
    launch=lambda size: Launch((size[0], ceil_div(size[1], 512)), (256,)),
    small=((3, 64, 8), (2, 64, 1), (2, 8, 4), (1, 2, 1)),
    worked=Worked(size=(1, 8, 2)),
    full=(2048, 4096, 64),
    within=2.0,
    contract=Domain(
        sizes=together(
            "rows n done",
            *((1, 2, 1), (1, 4, 1), (2, 4, 2), (3, 8, 2), (1, 32, 16), (5, 64, 32), (2, 128, 4)),
            *((1, 512, 256), (1, 1024, 1), (2, 1024, 64), (1, 4096, 512), (1, 131072, 32768)),
        ),
        values=(ANY_POINTS,),
    ),
    method=(method.one_store_per_result(), method.balanced_work(2.0, size=(3, 512, 8))),
)


EXCHANGED = KernelExercise(
    inputs=lambda rng, rows: rows_of(rng, rows, 256),
    reference=lambda given: transformed(given, 256),
    launch=lambda rows: Launch((rows,), (64,)),
    small=(3, 2, 1),
    worked=Worked(size=1, values={"x": {2 * 32: 2}}),  # y[k] is 2, turned by -45 k degrees
    full=1 << 15,
    reduction=lambda rows: 256,
    within=2.0,
    contract=Domain(sizes=domain.lengths("rows", most=40), values=(ANY_POINTS,)),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(2 * 256 * 8, size=2),
        method.shared_memory(
            at_least=2 * 3 * 2048,
            at_most=2 * 3 * 2048,
            advice="Each of the three exchanges stores every point once.",
            size=2,
        ),
        method.barriers(
            at_most=2 * 2 * 7,
            advice="Two barriers an exchange are enough, for each of the two warps.",
            size=2,
        ),
    ),
)


def store_wavefronts(counts: Counts) -> float:
    """Of the one store to shared memory."""
    return counts.shared_store_wavefronts


PREDICT_STRIDES = NumberExercise(
    source="06_matmul_and_fft/exercises/strides.cu",
    kernel="strides",
    inputs=lambda rng, stride: {
        "x": floats(rng, (32, 2)),
        "y": empty((32, 2)),
        "stride": np.int32(stride),
    },
    launch=lambda stride: Launch((1,), (32,)),
    asks={
        "side_by_side": Ask(
            "stride 1",
            1,
            store_wavefronts,
            {1: "A wavefront serves 32 words of 4 bytes. How many words do 32 lanes store?"},
        ),
        "four_apart": Ask(
            "stride 4",
            4,
            store_wavefronts,
            {4: "Four lanes and a fourth of the banks: half a warp has its turn at a time."},
        ),
        "sixteen_apart": Ask(
            "stride 16, as after a stage of radix 16",
            16,
            store_wavefronts,
            {
                16: "That is half of the warp. The other half comes after it.",
                2: "That would be so in different banks. 16 elements are 32 words.",
            },
        ),
        "padded": Ask(
            "stride 17, as with one element of padding after 16",
            17,
            store_wavefronts,
            {
                1: "No conflict, but twice 32 words.",
                32: "17 elements are 34 words: each lane's pair of banks is two further on.",
            },
        ),
    },
)


def wavefronts(counts: Counts) -> float:
    """Of the exchange at one row, over those of 32 words each."""
    return (counts.shared_store_wavefronts + counts.shared_load_wavefronts) / (2 * 512 * 8 / 128)


def exchanged_points(given: Given) -> dict[str, np.ndarray]:
    """Thread t of 32 puts x[t + 32 r] down at 16 t + r."""
    return {"y": given["x"].reshape(-1, 16, 32, 2).swapaxes(1, 2).reshape(-1)}


PADDED_EXCHANGE = KernelExercise(
    inputs=lambda rng, rows: rows_of(rng, rows, 512),
    reference=exchanged_points,
    launch=lambda rows: Launch((rows,), (32,)),
    small=(3, 2, 1),
    worked=Worked(why_not="a row has 512 points"),
    full=1 << 14,
    exact=True,
    within=2.0,
    target=Target(
        label="wavefronts, over those of 32 words each",
        measure=wavefronts,
        at_most=1.1,
        advice="Lanes that store at once are 16 elements apart, or 32 words: they all meet in one "
        "pair of banks. Shift each run of 16 by one element more.",
        size=1,
    ),
    contract=Domain(
        sizes=domain.lengths("rows", most=40), values=(domain.data("x", *domain.ANY_FLOAT),)
    ),
    method=(
        method.one_store_per_result(),
        method.reads_each_once(2 * 512 * 8, size=2),
        method.shared_memory(
            at_least=2 * 4096, at_most=2 * 4096, advice="Each point is stored once.", size=2
        ),
        method.shared_memory_limit(
            5 * 1024, advice="Less padding does: 5 KB are room for 640 elements.", size=2
        ),
    ),
)


def complex_row(seed: int, n: int) -> np.ndarray:
    """n normally distributed complex numbers."""
    return np.random.default_rng(seed).standard_normal((n, 2)).view(complex)[:, 0]


def three_parts(parts: np.ndarray) -> np.ndarray:
    """The transform of the row whose every third point has these transforms."""
    return np.fft.fft(np.fft.ifft(parts).T.reshape(-1))


def any_parts(rng: np.random.Generator) -> tuple[np.ndarray]:
    """Three transforms of any length."""
    m = int(rng.integers(1, 40))
    return (complex_row(int(rng.integers(1 << 30)), 3 * m).reshape(3, m),)


def long_parts() -> list[tuple[np.ndarray]]:
    """Longer ones, of large and of small numbers."""
    return [(size * complex_row(5, 3 * 1025).reshape(3, 1025),) for size in (1e100, 1e-100)]


THREE_PARTS = PythonExercise(
    cases=(
        (np.array([[1, 2], [3, 0], [0, 1]], complex),),
        *((complex_row(m, 3 * m).reshape(3, m),) for m in (4, 3, 2, 1)),
    ),
    reference=three_parts,
    contract=DrawnCases(any_parts, large=long_parts),
)


def before_bluestein(given: Given) -> dict[str, np.ndarray]:
    """The row and the filter of Bluestein's convolution, of m points each."""
    n, m = int(given["n"]), int(given["m"])
    x, j = complex_of(given["x"].reshape(-1, 2)), np.arange(n)
    w = np.exp(-1j * np.pi * (j * j % (2 * n)) / n)
    a, b = np.zeros(m, complex), np.zeros(m, complex)
    a[:n], b[:n] = x * w, w.conj()
    b[m - n + 1 :] = b[n - 1 : 0 : -1]
    return {"a": pairs_of(a).reshape(-1), "b": pairs_of(b).reshape(-1)}


CHIRP = KernelExercise(
    inputs=lambda rng, size: {
        "x": floats(rng, 2 * size[0]),
        "a": empty(2 * size[1]),
        "b": empty(2 * size[1]),
        **int32s(n=size[0], m=size[1]),
    },
    reference=before_bluestein,
    launch=lambda size: Launch((ceil_div(size[1], 256),), (256,)),
    small=((37, 130), (12, 23), (8, 16), (1, 1)),
    full=(1 << 21, 1 << 22),
    within=3.0,
    contract=Domain(
        sizes=together(
            "n m",
            *(
                (1, 1),
                (1, 4),
                (2, 3),
                (3, 8),
                (31, 64),
                (32, 63),
                (127, 256),
                (97, 200),
                (300, 599),
            ),
            *((1025, 4096), (4099, 8197), (80_000, 160_001)),
        ),
        values=(ANY_POINTS,),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(2.5, size=(256, 511)),
        NO_FAST_SINES,
    ),
)


def two_rows(Z: np.ndarray) -> np.ndarray:
    """The transforms of the real and of the imaginary parts of what Z is the transform of."""
    z = np.fft.ifft(Z)
    return np.fft.fft(np.stack((z.real, z.imag)))


def any_row(rng: np.random.Generator) -> tuple[np.ndarray]:
    """A row of any length, also of one point, and also odd."""
    return (complex_row(int(rng.integers(1 << 30)), int(rng.integers(1, 80))),)


def long_rows() -> list[tuple[np.ndarray]]:
    """Longer ones, of large and of small numbers."""
    return [(size * complex_row(5, 4099),) for size in (1e100, 1e-100)]


TWO_ROWS = PythonExercise(
    cases=(
        (np.fft.fft([1, 2 + 1j, 1j, 1]).round(),),
        *((complex_row(n, n),) for n in (8, 5, 2, 1)),
    ),
    reference=two_rows,
    contract=DrawnCases(any_row, large=long_rows),
    rtol=1e-11,  # complex128; also by way of transforms
)
