"""The exercises of "Convolution"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import (
    Ask,
    KernelExercise,
    NumberExercise,
    PythonExercise,
    Target,
)
from course_utils.exercises.authoring.versions import told_apart
from course_utils.exercises.authoring.worked import Worked

from .common import ORDINARY, chosen, together
from .tested_versions import CONVOLUTIONS, image_and_taps

CONV_WORK = PythonExercise(
    cases=(
        (1, 1, 1, 4, 4, 3),
        (256, 64, 64, 56, 56, 3),
        (64, 1, 16, 28, 28, 3),
        (2, 3, 5, 7, 11, 1),
        (1, 8, 4, 10, 6, 5),
    ),
    reference=lambda N, C, K, H, W, side: (
        2 * N * K * H * W * C * side**2,
        4 * (N * C * H * W + K * C * side**2 + N * K * H * W),
        4 * C * side**2 * N * H * W,
    ),
    contract=DrawnCases(
        lambda rng: (*(int(n) for n in 10 ** rng.uniform(0, 2.5, 5)), int(rng.integers(1, 30)))
    ),
)


def convolved(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The sum over channels of x (C, H + 2, W + 2) times w (C, 3, 3) at every place, in float64."""
    height, width = x.shape[1] - 2, x.shape[2] - 2
    total = np.zeros((height, width))
    for r in range(3):
        for s in range(3):
            part = x[:, r : r + height, s : s + width].astype(np.float64)
            total += np.einsum("chw,c->hw", part, w[:, r, s].astype(np.float64))
    return total


def one_image(rng: np.random.Generator, size: tuple[int, int]) -> Given:
    height, width = size
    return {
        "x": floats(rng, (height, width)),
        "w": floats(rng, (3, 3)),
        "y": empty((height, width)),
        **int32s(H=height, W=width),
    }


def zero_in_filter(given: Given, rng: np.random.Generator) -> Given:
    """One tap is 0 and one pixel infinite: their product is no number."""
    x, w = given["x"].copy(), given["w"].copy()
    x[x.shape[0] // 2, x.shape[1] // 2], w[1, 1] = np.inf, 0
    return {"x": x, "w": w}


def pixel_below_all(given: Given, rng: np.random.Generator) -> Given:
    """One pixel is -inf."""
    x = given["x"].copy()
    x[x.shape[0] // 2, x.shape[1] // 2] = -np.inf
    return {"x": x}


ZERO_IN_FILTER = InputClass("w[1, 1] = 0, a pixel infinite", zero_in_filter)
PIXEL_BELOW_ALL = InputClass("a pixel -inf", pixel_below_all)


def loads_per_store(counts: Counts) -> float:
    """Loads of single threads from global memory, over their stores."""
    return counts.global_load_bytes / counts.global_store_bytes


PREDICT_HALO = NumberExercise(
    source="06_matmul_and_fft/exercises/halo_loads.cu",
    kernel="halo_loads",
    inputs=lambda rng, shape: {
        "x": floats(rng, (34, 36)),
        "y": empty((8 * 8, 16 * 16, 8 * 32, 16 * 32)[shape - 1]),
        "shape": np.int32(shape),
    },
    launch=lambda shape: Launch((1,), (256,)),
    asks={
        "eight": Ask(
            "8 x 8",
            1,
            loads_per_store,
            {
                81 / 64: "The halo is on all four sides: two more rows, and two more columns.",
                1: "The tile alone. Its border needs pixels from outside of it.",
                9: "Nine taps read a pixel from shared memory. Global memory is read once.",
                100: "These are the loads of the whole tile. How many is that for one pixel of it?",
            },
        ),
        "sixteen": Ask(
            "16 x 16",
            2,
            loads_per_store,
            {17 * 17 / 256: "The halo is on all four sides."},
        ),
        "long": Ask(
            "8 x 32",
            3,
            loads_per_store,
            {18 * 18 / 256: "As many pixels as 16 x 16, but a longer border."},
        ),
        "large": Ask(
            "16 x 32",
            4,
            loads_per_store,
            {17 * 33 / 512: "The halo is on all four sides."},
        ),
    },
)


HALO_TILE = KernelExercise(
    inputs=one_image,
    reference=lambda given: {"y": convolved(np.pad(given["x"], 1)[None], given["w"][None])},
    launch=lambda size: Launch((ceil_div(size[1], 16), ceil_div(size[0], 16)), (16, 16)),
    small=((37, 45), (16, 16), (17, 5), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: 9,
    contract=Domain(
        sizes=chosen(
            *((1, 1), (1, 33), (31, 5), (17, 16), (33, 31), (16, 67), (131, 3), (7, 301)),
            *((67, 130), (3, 257), (260, 257)),
            names=("H", "W"),
        ).with_outlier(H=1031, W=1031),
        values=(
            (
                *domain.data("x", *ORDINARY, domain.LARGE, domain.FAINT, domain.LAST_INFINITE),
                ZERO_IN_FILTER,
                PIXEL_BELOW_ALL,
            ),
            domain.data("w", *ORDINARY),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        Requirement(
            "reads of x, over the pixels of all tiles",
            lambda stats: stats.loaded_from("x") / (4 * 70**2),
            at_most=1.25,  # 1.06 where a tile's pixels outside of the image are read, too
            advice="A thread reads one or two pixels for the tile, each once, and takes all nine "
            "of a product from there.",
            size=(64, 64),
        ),
        method.shared_memory(
            at_least=4 * 16 * 18 * 18,
            at_most=2 * 4 * 16 * 18 * 18,
            advice="Each of a block's 18 x 18 pixels is stored in the tile, once.",
            size=(64, 64),
        ),
    ),
)


TEST_CONVOLUTION = told_apart(
    CONVOLUTIONS,
    "Which pixel would show it, under which filter? Or which input is changed?",
    image_and_taps,
)


def channels_with_zeros(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    channels, height, width = size
    return {
        "x": np.pad(floats(rng, (channels, height, width)), ((0, 0), (1, 1), (1, 1))),
        "w": floats(rng, (channels, 3, 3)),
        "y": empty((height, width)),
        **int32s(C=channels, H=height, W=width),
    }


def at_zero(given: Given, rng: np.random.Generator) -> Given:
    """A tap of the first channel is 0, and a pixel in the middle infinite."""
    x, w = given["x"].copy(), given["w"].copy()
    w[0, 1, 1] = 0
    x[0, x.shape[1] // 2, x.shape[2] // 2] = np.inf
    return {"x": x, "w": w}


def loads_per_fma(counts: Counts) -> float:
    """Loads of single threads from global memory, over multiply-adds."""
    return counts.global_load_requests * 32 / max(counts.flops / 2, 1)


ROW_OF_PIXELS = KernelExercise(
    inputs=channels_with_zeros,
    reference=lambda given: {"y": convolved(given["x"], given["w"])},
    launch=lambda size: Launch((ceil_div(size[1] * size[2], 512),), (128,)),
    small=((3, 16, 32), (5, 7, 12), (1, 1, 4)),
    worked=Worked(whole=("x",), why_not="four pixels and their border are 18 numbers"),
    full=(64, 1024, 1024),
    reduction=lambda size: 9 * size[0],
    target=Target(
        label="global loads per FMA",
        measure=loads_per_fma,
        at_most=0.8,
        advice="Read six pixels and three taps into arrays of the thread first; the loops that "
        "multiply must touch registers alone.",
        size=(3, 16, 32),
    ),
    within=2.0,
    contract=Domain(
        sizes=chosen(
            (1, 1, 4),
            (2, 3, 8),
            (3, 17, 12),
            (7, 9, 64),
            (1, 130, 132),
            (131, 3, 4),
            (2, 1, 2052),
            (1, 2051, 4),
            (12, 70, 76),
            names=("C", "H", "W"),
        ),
        values=(
            (
                *domain.data("w", *ORDINARY, domain.LARGE, domain.FAINT),
                InputClass("a zero of w at an infinite x", at_zero),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        Requirement(
            "FLOPs, over those of the convolution",
            lambda stats: stats.counts.flops_by_type.get("f32", 0) / (2 * 9 * 3 * stats.results),
            at_most=1.25,
            advice="Nine products for each channel and pixel, and no more.",
            size=(3, 16, 32),
        ),
    ),
)

Size = tuple[int, int, int, int, int, int, int, int]


def sides(size: Size) -> tuple[int, int]:
    """(OH, OW) of a result."""
    _, _, height, width, rows, columns, stride, pad = size
    return (height + 2 * pad - rows) // stride + 1, (width + 2 * pad - columns) // stride + 1


def images(rng: np.random.Generator, size: Size) -> Given:
    count, channels, height, width, rows, columns, stride, pad = size
    high, wide = sides(size)
    numbers = zip(("N", "C", "H", "W", "R", "S", "stride", "pad"), size, strict=True)
    return {
        "x": floats(rng, (count, channels, height, width)),
        "matrix": empty((channels * rows * columns, count * high * wide)),
    } | {name: np.int32(n) for name, n in numbers}


def columns_of(given: Given) -> dict[str, np.ndarray]:
    """The matrix, by slices of the padded images."""
    rows, columns, stride, pad = (int(given[name]) for name in ("R", "S", "stride", "pad"))
    n, c, h, w = (int(given[name]) for name in ("N", "C", "H", "W"))
    size = n, c, h, w, rows, columns, stride, pad
    high, wide = sides(size)
    padded = np.pad(given["x"], ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    parts = [
        padded[:, c, r : r + stride * high : stride, s : s + stride * wide : stride].reshape(-1)
        for c in range(size[1])
        for r in range(rows)
        for s in range(columns)
    ]
    return {"matrix": np.stack(parts)}


IMAGE_COLUMNS = KernelExercise(
    inputs=images,
    reference=columns_of,
    launch=lambda size: Launch(
        (ceil_div(size[0] * sides(size)[0] * sides(size)[1], 128), size[1] * size[4] * size[5]),
        (128,),
    ),
    small=(
        (2, 3, 7, 9, 3, 3, 1, 1),
        (2, 2, 8, 5, 3, 2, 2, 1),
        (1, 1, 4, 6, 1, 4, 3, 2),
        (1, 1, 1, 1, 1, 1, 1, 1),
    ),
    full=(32, 16, 112, 112, 3, 3, 1, 1),
    exact=True,
    contract=Domain(
        sizes=together(
            "N C H W R S stride pad",
            (1, 1, 1, 1, 1, 1, 1, 0),
            (3, 1, 2, 3, 1, 1, 2, 0),
            (1, 2, 3, 4, 3, 4, 1, 0),
            (2, 1, 3, 2, 4, 4, 17, 19),
            (2, 3, 5, 6, 3, 2, 1, 4),
            (5, 1, 6, 4, 9, 7, 2, 2),
            (2, 1, 5, 6, 10, 12, 1, 5),
            (1, 2, 3, 2, 8, 9, 3, 7),
            (1, 7, 9, 5, 1, 3, 3, 1),
            (67, 1, 5, 7, 2, 3, 1, 1),
            (1, 33, 4, 4, 3, 3, 1, 1),
            (1, 1, 261, 257, 1, 1, 1, 0),
        ),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    method=(method.one_store_per_result(), method.balanced_work()),
)


LEAN_LOOP = KernelExercise(
    inputs=channels_with_zeros,
    reference=lambda given: {"y": convolved(given["x"], given["w"])},
    launch=lambda size: Launch((ceil_div(size[1] * size[2], 128),), (128,)),
    small=((3, 17, 33), (5, 7, 12), (1, 1, 1)),
    worked=Worked(whole=("x",), why_not="a pixel and its border are nine numbers for each channel"),
    full=(64, 1024, 1024),
    reduction=lambda size: 9 * size[0],
    target=Target(
        label="instructions per FMA",
        measure=lambda counts: counts.thread_instructions / max(counts.flops / 2, 1),
        at_most=6.0,
        advice="Two loads and one FMA are needed. Which of the others compute an index again that "
        "the last turn of the loop almost had?",
        size=(8, 16, 32),
    ),
    within=2.0,
    contract=Domain(
        sizes=chosen(
            *((1, 1, 1), (2, 3, 7), (3, 17, 12), (7, 9, 65), (1, 130, 131), (131, 3, 4)),
            # The last has more pixels than an index of 16 bits can count.
            *((2, 1, 2053), (1, 2051, 4), (12, 70, 77), (1, 257, 261)),
            names=("C", "H", "W"),
        ),
        values=(domain.data("x", *ORDINARY), domain.data("w", *ORDINARY)),
    ),
    method=(method.one_store_per_result(), method.balanced_work(size=(3, 16, 32))),
)


PRODUCTS = "mul.f", "mul.rn", "mul.rz", "fma.", "div.", "rcp."  # of numbers, not of indices


def line(rng: np.random.Generator, n: int) -> Given:
    g = floats(rng, 3)
    u = (g[0], (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2, g[2])
    return {"x": floats(rng, n + 2), "u": np.array(u, np.float32), "y": empty(n), "n": np.int32(n)}


def filtered(given: Given) -> dict[str, np.ndarray]:
    """By the filter that `u` stands for."""
    x, u = given["x"].astype(np.float64), given["u"].astype(np.float64)
    n = int(given["n"])
    return {"y": x[:n] * u[0] + x[1 : n + 1] * (u[1] - u[2]) + x[2:] * u[3]}


WINOGRAD_LINE = KernelExercise(
    inputs=line,
    reference=filtered,
    launch=lambda n: Launch((ceil_div(n, 256),), (128,)),
    small=(1000, 258, 30, 2),
    worked=Worked(values={"u": (1, 4, 2, 5)}),  # of the filter 1, 2, 5
    full=1 << 24,
    reduction=lambda n: 16,
    contract=Domain(
        sizes=domain.lengths(of=2).with_outlier(n=66_000),
        values=(domain.data("x", *ORDINARY, domain.LARGE, domain.FAINT),),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(),
        Requirement(
            "multiplications for two results",
            lambda stats: 2 * stats.opcodes(*PRODUCTS) / stats.results,
            at_most=5,
            advice="Each u is multiplied once, by a sum or a difference of two of the x.",
            size=1000,
        ),
    ),
)


def some_images(rng: np.random.Generator, size: tuple[int, int, int, int, int]) -> Given:
    images, channels, filters, height, width = size
    return {
        "x": floats(rng, (images, channels, height, width)),
        "w": floats(rng, (filters, channels, 3, 3)),
        "y": empty((images, filters, height, width)),
        **int32s(C=channels, F=filters, H=height, W=width),
    }


def every_filter(given: Given) -> dict[str, np.ndarray]:
    """All filters on all images, in float64."""
    padded = np.pad(given["x"], ((0, 0), (0, 0), (1, 1), (1, 1)))
    return {"y": np.array([[convolved(x, w) for w in given["w"]] for x in padded])}


def with_first(x: np.ndarray, value: float) -> np.ndarray:
    changed = x.copy()
    changed.reshape(-1)[0] = value
    return changed


# A place outside an image has no pixel: not 0 times one in its corner.
CORNER_INFINITE = "infinite in a corner", lambda x, rng: with_first(x, np.inf)

OWN_CONVOLUTION = KernelExercise(
    inputs=some_images,
    reference=every_filter,
    launch=lambda size: Launch(
        (ceil_div(size[4], 16), ceil_div(size[3], 16), size[0] * size[2]), (16, 16)
    ),
    small=((2, 3, 2, 17, 21), (1, 2, 3, 16, 16), (2, 1, 1, 1, 3), (1, 1, 1, 1, 1)),
    full=(8, 32, 32, 128, 128),
    reduction=lambda size: 9 * size[1],
    within=2.0,
    contract=Domain(
        sizes=together(
            "N C F H W",
            *((1, 1, 1, 1, 1), (1, 1, 3, 2, 1), (3, 2, 2, 15, 17), (2, 7, 3, 16, 33)),
            *((1, 3, 5, 33, 16), (5, 1, 2, 1, 67), (2, 4, 1, 67, 3), (1, 259, 1, 5, 5)),
            *((1, 1, 70, 4, 4), (33, 1, 2, 3, 5), (1, 1, 1, 257, 260)),
        ),
        values=(
            domain.data("x", *ORDINARY, domain.LARGE, domain.FAINT, CORNER_INFINITE),
            domain.data("w", *ORDINARY),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(3.0, size=(1, 4, 2, 32, 32)),
        method.shared_memory(
            advice="Put the pixels and the taps that a block shares into shared memory.",
            size=(1, 4, 2, 32, 32),
        ),
        Requirement(
            "loads from global memory per FMA",
            lambda stats: loads_per_fma(stats.counts),
            at_most=0.4,
            advice="A tile of pixels and the nine taps, loaded once per channel, serve the whole "
            "block.",
            size=(1, 4, 2, 32, 32),
        ),
    ),
)
