"""The exercises of "Convolution"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Means,
    Promises,
    PythonExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Given, Values

from .common import ORDINARY, chosen, together

CONV_WORK = PythonExercise(
    id="06.conv_work",
    title="what a convolution costs",
    task="""
Write down what a convolution costs: its FLOPs and the least bytes in fp32. And how large would the
matrix be that turns it into a matrix product, if somebody stored it?
""",
    source="06_matmul_and_fft/exercises/conv_work.py",
    function="conv_work",
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
    promises=Cases(
        lambda rng: (*(int(n) for n in 10 ** rng.uniform(0, 2.5, 5)), int(rng.integers(1, 30)))
    ),
    means="Any formula that is right is a good one.",
    hints=(
        "The result has N K H W numbers, and each is a sum of C side² products.",
        "A multiply-add is two FLOPs, a number in fp32 is four bytes: the images, the filters and "
        "the results each cross the memory once.",
        "The matrix has a row for each channel and place in a filter, and a column for each pixel "
        "of a result; the filters do not change it.",
        "`flops = 2 * N * K * H * W * C * side**2`, `matrix = 4 * (C * side**2) * (N * H * W)`.",
    ),
    explanation="""
The matrix has side² copies of every pixel, save at the edges: for 3 × 3 it is nine times as large
as the images. A convolution with many channels is as rich in arithmetic as a matrix product; with
one channel and few filters it is poor: each pixel is used for K side² products only.
""",
    mutants=(
        mutant("one FLOP for a multiply-add", kinds.WRONG, ("flops = 2 * ", "flops = ")),
        mutant(
            "one channel",
            kinds.WRONG,
            ("H * W * C * side**2\n    least", "H * W * side**2\n    least"),
        ),
        mutant("results forgotten", kinds.WRONG, (" + N * K * H * W)", ")")),
        mutant("filters forgotten", kinds.WRONG, (" + K * C * side**2 +", " +")),
        mutant("numbers, not bytes", kinds.WRONG, ("matrix = 4 * ", "matrix = ")),
        mutant("a line of a filter", kinds.WRONG, ("(C * side**2)", "(C * side)")),
        mutant("nothing returned", kinds.NOTHING_RETURNED, ("return flops", "flops")),
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


def one_image(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    height, width = size
    return {
        "x": floats(rng, (height, width)),
        "w": floats(rng, (3, 3)),
        "y": empty((height, width)),
        "H": np.int32(height),
        "W": np.int32(width),
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


ZERO_IN_FILTER = Values("w[1, 1] = 0, a pixel infinite", zero_in_filter)
PIXEL_BELOW_ALL = Values("a pixel -inf", pixel_below_all)

HALO = Exercise(
    id="06.halo_tile",
    title="a tile and its halo",
    task="""
The products are there; write what comes before them: 256 threads fill a tile of 18 × 18 pixels,
with zeros where the image has none. Every pixel of the tile is read from global memory once. A
pixel may be infinite, also where the filter has a 0.
""",
    source="06_matmul_and_fft/exercises/halo_tile.cu",
    kernel="halo_tile",
    inputs=one_image,
    reference=lambda given: {"y": convolved(np.pad(given["x"], 1)[None], given["w"][None])},
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 45), (16, 16), (17, 5), (1, 1)),
    full=(4096, 4096),
    reduction=lambda size: 9,
    promises=Promises(
        sizes=chosen(
            *((1, 1), (1, 33), (31, 5), (17, 16), (33, 31), (16, 67), (131, 3), (7, 301)),
            *((67, 130), (3, 257), (260, 257)),
            names=("H", "W"),
        ).with_longest(H=1031, W=1031),
        values=(
            (
                *promises.data(
                    "x", *ORDINARY, promises.LARGE, promises.FAINT, promises.LAST_INFINITE
                ),
                ZERO_IN_FILTER,
                PIXEL_BELOW_ALL,
            ),
            promises.data("w", *ORDINARY),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        Means(
            "reads of x, over the pixels of all tiles",
            lambda work: (
                sum(one.work.loaded_from.get("x", 0) for one in work.launches) / (4 * 70**2)
            ),
            at_most=1.25,  # 1.06 where a tile's pixels outside of the image are read, too
            advice="A thread reads one or two pixels for the tile, each once, and takes all nine "
            "of a product from there.",
            size=(64, 64),
        ),
        means.shared_memory(
            at_least=4 * 16 * 18 * 18,
            at_most=2 * 4 * 16 * 18 * 18,
            advice="Each of a block's 18 x 18 pixels is stored in the tile, once.",
            size=(64, 64),
        ),
    ),
    hints=(
        "324 pixels, 256 threads: a loop from `thread` in steps of kThreads.",
        "Number i is row i / kHalo, column i % kHalo of the tile.",
        "Its row in the image is first_row + i / kHalo - 1: the halo begins one above.",
        "`bool inside = row >= 0 && row < H && column >= 0 && column < W;`, then the pixel or 0; "
        "`__syncthreads()` after the loop.",
    ),
    explanation="""
Without the halo the threads at a tile's border would find nothing to multiply. It costs: 324 pixels
for 256 results. The larger the tile, the smaller that share, which is why the rungs that follow let
a thread compute more than one pixel.
""",
    mutants=(
        mutant(
            "zeros of the filter left out",
            kinds.WRONG,
            ("            sum +=", "            if (w[r * 3 + s] != 0.0f) sum +="),
        ),
        mutant(
            "no -inf",
            kinds.WRONG,
            ("inside ? x[row * W + column]", "inside ? fmaxf(x[row * W + column], -3.4e38f)"),
        ),
        mutant("no halo above", kinds.OFF_BY_ONE, ("i / kHalo - 1", "i / kHalo")),
        mutant("no halo at the left", kinds.OFF_BY_ONE, ("i % kHalo - 1", "i % kHalo")),
        mutant(
            "as many pixels as threads", kinds.UNINITIALISED, ("i < kHalo * kHalo", "i < kThreads")
        ),
        mutant(
            "the border repeated",
            kinds.EDGES,
            (
                "inside ? x[row * W + column] : 0.0f",
                "x[min(max(row, 0), H - 1) * W + min(max(column, 0), W - 1)]",
            ),
        ),
        mutant("no guard below", kinds.OUT_OF_BOUNDS, ("row >= 0 && row < H &&", "row >= 0 &&")),
        mutant("no guard above", kinds.OUT_OF_BOUNDS, ("row >= 0 && row < H &&", "row < H &&")),
        mutant("no barrier", kinds.DATA_RACE, ("__syncthreads();\n", "\n")),
        mutant(
            "an index of 16 bits",
            kinds.WRONG,
            ("x[row * W + column] :", "x[(unsigned short)(row * W + column)] :"),
        ),
        mutant(
            "H for W",
            kinds.WRONG,
            ("x[row * W + column] : 0.0f", "x[row * H % (H * W) + column % H] : 0.0f"),
        ),
        mutant(
            "a border times zero",
            kinds.NOT_A_NUMBER,
            (
                "inside ? x[row * W + column] : 0.0f",
                "inside * x[min(max(row, 0), H - 1) * W + min(max(column, 0), W - 1)]",
            ),
        ),
        mutant(
            "every pixel read twice",
            kinds.MEANS_MISSING,
            (
                "inside ? x[row * W + column] : 0.0f",
                "inside ? fmaxf(x[row * W + column], "
                "*(volatile const float *)&x[row * W + column]) : 0.0f",
            ),
        ),
        mutant(
            "each thread fills all",
            kinds.MEANS_MISSING,
            (
                "int i = thread; i < kHalo * kHalo; i += kThreads",
                "int i = 0; i < kHalo * kHalo; ++i",
            ),
        ),
        mutant(
            "every pixel read for every product",
            kinds.MEANS_MISSING,
            (
                "sum += tile[threadIdx.y + r][threadIdx.x + s] * w[r * 3 + s];",
                "int yy = first_row + threadIdx.y + r - 1;\n"
                "            int xx = first_column + threadIdx.x + s - 1;\n"
                "            if (yy >= 0 && yy < H && xx >= 0 && xx < W)\n"
                "                sum += x[yy * W + xx] * w[r * 3 + s];",
            ),
        ),
    ),
)


def channels_with_zeros(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    channels, height, width = size
    return {
        "x": np.pad(floats(rng, (channels, height, width)), ((0, 0), (1, 1), (1, 1))),
        "w": floats(rng, (channels, 3, 3)),
        "y": empty((height, width)),
        "C": np.int32(channels),
        "H": np.int32(height),
        "W": np.int32(width),
    }


def at_zero(given, rng: np.random.Generator) -> dict:
    """A tap of the first channel is 0, and a pixel in the middle infinite."""
    x, w = given["x"].copy(), given["w"].copy()
    w[0, 1, 1] = 0
    x[0, x.shape[1] // 2, x.shape[2] // 2] = np.inf
    return {"x": x, "w": w}


def loads_per_fma(counts) -> float:
    """Loads of single threads from global memory, over multiply-adds."""
    return counts.global_load_requests * 32 / max(counts.flops / 2, 1)


ROW = Exercise(
    id="06.row_of_pixels",
    title="four pixels a thread",
    task="""
Four neighbours in a row need six pixels of a row of x, not twelve. Write the products of one
channel and one row of the filter: for each FMA a thread may load at most 0.8 floats. A pixel may be
infinite, and a weight zero.
""",
    source="06_matmul_and_fft/exercises/row_of_pixels.cu",
    kernel="row_of_pixels",
    inputs=channels_with_zeros,
    reference=lambda given: {"y": convolved(given["x"], given["w"])},
    launch=lambda size: Launch((-(-size[1] * size[2] // 512),), (128,)),
    small=((3, 16, 32), (5, 7, 12), (1, 1, 4)),
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
    promises=Promises(
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
                *promises.data("w", *ORDINARY, promises.LARGE, promises.FAINT),
                Values("a zero of w at an infinite x", at_zero),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        Means(
            "FLOPs, over those of the convolution",
            lambda work: work.counts.flops_by_type.get("f32", 0) / (2 * 9 * 3 * work.results),
            at_most=1.25,
            advice="Nine products for each channel and pixel, and no more.",
            size=(3, 16, 32),
        ),
    ),
    hints=(
        "Pixel p of y needs pixels p, p + 1 and p + 2 of the row: for four of them that is 0 to 5.",
        "`float in[kEach + 2], tap[3];`, filled by two loops that are unrolled.",
        "Then two loops, over the taps s and over the pixels p: `sum[p] += in[p + s] * tap[s];`",
    ),
    explanation="""
Nine loads for twelve FMAs: 0.75 each, where a thread with one pixel needs six loads for three. A
filter of S taps and a row of SEG pixels: SEG + S - 1 + S loads for S SEG products. More filters for
the same pixels make it fewer still; conv_row_tile has 14 pixels and 8 filters a thread. (Written
as `sum[p] += pixels[p + s] * taps[s];`, with no arrays, it counts 0.75, too: the compiler merges
loads of one element. It may, since nothing is stored between them.)
""",
    mutants=(
        mutant(
            "pixels read for every product",
            kinds.TARGET_MISSED,
            (
                "sum[p] += in[p + s] * tap[s];",
                "sum[p] += *(volatile const float *)&pixels[p + s] * tap[s];",
            ),
        ),
        mutant(
            "taps read for every product",
            kinds.TARGET_MISSED,
            (
                "sum[p] += in[p + s] * tap[s];",
                "sum[p] += in[p + s] * *(volatile const float *)&taps[s];",
            ),
        ),
        mutant(
            "the filter turned round", kinds.WRONG, ("tap[s] = taps[s];", "tap[s] = taps[2 - s];")
        ),
        mutant(
            "an index of 16 bits",
            kinds.WRONG,
            ("pixels[i];", "x[(unsigned short)(pixels - x + i)];"),
        ),
        mutant("no shift", kinds.WRONG, ("in[p + s] * tap[s]", "in[p] * tap[s]")),
        mutant("zeros left out", kinds.EDGES, ("sum[p] += in", "if (tap[s] != 0.0f) sum[p] += in")),
        mutant(
            "one tap missed",
            kinds.WRONG,
            ("for (int s = 0; s < 3; ++s) {\n#pragma", "for (int s = 0; s < 2; ++s) {\n#pragma"),
        ),
        mutant(
            "one pixel too few", kinds.NOT_A_NUMBER, ("i < kEach + 2; ++i", "i < kEach + 1; ++i")
        ),
    ),
)

Size = tuple[int, int, int, int, int, int, int, int]


def sides(size: Size) -> tuple[int, int]:
    """(OH, OW) of a result."""
    _, _, height, width, rows, columns, stride, pad = size
    return (height + 2 * pad - rows) // stride + 1, (width + 2 * pad - columns) // stride + 1


def images(rng: np.random.Generator, size: Size) -> dict:
    count, channels, height, width, rows, columns, stride, pad = size
    high, wide = sides(size)
    numbers = zip(("N", "C", "H", "W", "R", "S", "stride", "pad"), size, strict=True)
    return {
        "x": floats(rng, (count, channels, height, width)),
        "matrix": empty((channels * rows * columns, count * high * wide)),
    } | {name: np.int32(n) for name, n in numbers}


def columns_of(given) -> dict:
    """The matrix, by slices of the padded images."""
    rows, columns, stride, pad = (int(given[name]) for name in ("R", "S", "stride", "pad"))
    size = tuple(int(given[name]) for name in ("N", "C", "H", "W")) + (rows, columns, stride, pad)
    high, wide = sides(size)
    padded = np.pad(given["x"], ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    parts = [
        padded[:, c, r : r + stride * high : stride, s : s + stride * wide : stride].reshape(-1)
        for c in range(size[1])
        for r in range(rows)
        for s in range(columns)
    ]
    return {"matrix": np.stack(parts)}


COLUMNS = Exercise(
    id="06.image_columns",
    title="where does an element come from?",
    task="""
An implicit GEMM never stores its second matrix: it must know where each element lies in x. Find
that place for row k and column `pixel`, and store the element, for any filter, stride and padding.
""",
    source="06_matmul_and_fft/exercises/image_columns.cu",
    kernel="image_columns",
    inputs=images,
    reference=columns_of,
    launch=lambda size: Launch(
        (-(-size[0] * sides(size)[0] * sides(size)[1] // 128), size[1] * size[4] * size[5]), (128,)
    ),
    small=(
        (2, 3, 7, 9, 3, 3, 1, 1),
        (2, 2, 8, 5, 3, 2, 2, 1),
        (1, 1, 4, 6, 1, 4, 3, 2),
        (1, 1, 1, 1, 1, 1, 1, 1),
    ),
    full=(32, 16, 112, 112, 3, 3, 1, 1),
    exact=True,
    promises=Promises(
        sizes=together(
            "N C H W R S stride pad",
            (1, 1, 1, 1, 1, 1, 1, 0),
            (3, 1, 2, 3, 1, 1, 2, 0),
            (1, 2, 3, 4, 3, 4, 1, 0),
            (2, 1, 3, 2, 2, 2, 5, 3),
            (2, 3, 5, 6, 3, 2, 1, 4),
            (5, 1, 6, 4, 9, 7, 2, 2),
            (2, 1, 5, 6, 10, 12, 1, 5),
            (1, 2, 3, 2, 8, 9, 3, 7),
            (1, 7, 9, 5, 1, 3, 3, 1),
            (67, 1, 5, 7, 2, 3, 1, 1),
            (1, 33, 4, 4, 3, 3, 1, 1),
            (1, 1, 261, 257, 1, 1, 1, 0),
        ),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "k counts the columns of the filter first, then its rows, then the channels; pixel counts "
        "the columns of the result first, then its rows, then the images.",
        "So k % S is the filter's column, k / S % R its row and k / (R S) the channel; and pixel "
        "comes apart in the same way with OW and OH.",
        "A result's row times stride, minus pad, is where its window begins in x. It may lie "
        "outside: then the element is 0.",
        "`int row = pixel / OW % OH * stride - pad + k / S % R;`",
    ),
    explanation="""
Eight divisions and remainders for one number: in a kernel that multiplies they are to be had for
nothing only where they are done once for many elements. conv_implicit_gemm divides for each element
it loads; conv_pipeline keeps its pixel and goes through the taps one after the other.
""",
    mutants=(
        mutant(
            "no sign of zeros",
            kinds.WRONG,
            ("+ column] : 0.0f", "+ column] + 0.0f : 0.0f"),
        ),
        mutant(
            "no padding", kinds.OFF_BY_ONE, ("pixel % OW * stride - pad", "pixel % OW * stride")
        ),
        mutant(
            "seven columns of a filter in wide padding",
            kinds.WRONG,
            (" && column < W;", " && column < W && (pad < 4 || k % S < 7);"),
        ),
        mutant("no stride", kinds.WRONG, ("pixel / OW % OH * stride", "pixel / OW % OH")),
        mutant(
            "rows and columns of the filter swapped",
            kinds.WRONG,
            ("k / S % R", "k % R"),
            ("+ k % S;", "+ k / R % S;"),
        ),
        mutant("channels first", kinds.WRONG, ("int c = k / (R * S);", "int c = k % C;")),
        mutant("one image", kinds.WRONG, ("int image = pixel / (OH * OW);", "int image = 0;")),
        mutant("square images", kinds.WRONG, ("pixel / OW % OH", "pixel / OH % OH")),
        mutant("no guard at the right", kinds.OUT_OF_BOUNDS, (" && column < W;", ";")),
        mutant("no guard above", kinds.OUT_OF_BOUNDS, ("row >= 0 && row < H", "row < H")),
        mutant(
            "transposed",
            kinds.TRANSPOSED,
            ("matrix[k * pixels + pixel]", "matrix[pixel * (C * R * S) + k]"),
        ),
    ),
)


PRODUCTS = "mul.f", "mul.rn", "mul.rz", "fma.", "div.", "rcp."  # of numbers, not of indices


def line(rng: np.random.Generator, n: int) -> dict:
    g = floats(rng, 3)
    u = (g[0], (g[0] + g[1] + g[2]) / 2, (g[0] - g[1] + g[2]) / 2, g[2])
    return {
        "x": floats(rng, n + 2),
        "u": np.array(u, np.float32),
        "y": empty(n),
        "n": np.int32(n),
    }


def filtered(given) -> dict:
    """By the filter that `u` stands for."""
    x, u = given["x"].astype(np.float64), given["u"].astype(np.float64)
    n = int(given["n"])
    return {"y": x[:n] * u[0] + x[1 : n + 1] * (u[1] - u[2]) + x[2:] * u[3]}


WINOGRAD = Exercise(
    id="06.winograd_line",
    title="two results, four products",
    task="""
Two neighbours of a line under a filter of three taps: six products, it seems. Make them with four.
With d the four numbers from x[i] on, the products are of d₀ − d₂, d₁ + d₂, d₂ − d₁ and d₁ − d₃,
with the numbers of u in that order; find out by hand which of them add up to which result.
Divisions count as products. Five are let pass: a compiler may make one of the four twice.
""",
    source="06_matmul_and_fft/exercises/winograd_line.cu",
    kernel="winograd_line",
    inputs=line,
    reference=filtered,
    launch=lambda n: Launch((-(-n // 256),), (128,)),
    small=(1000, 258, 30, 2),
    full=1 << 24,
    reduction=lambda n: 16,
    promises=Promises(
        sizes=promises.lengths(of=2).with_longest(n=66_000),
        values=(promises.data("x", *ORDINARY, promises.LARGE, promises.FAINT),),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        Means(
            "multiplications for two results",
            lambda work: 2 * work.opcodes(*PRODUCTS) / work.results,
            at_most=5,
            advice="Each u is multiplied once, by a sum or a difference of two of the x.",
            size=1000,
        ),
    ),
    hints=(
        "Write out m0 + m1 + m2 with u in terms of g: everything but x0 g0 + x1 g1 + x2 g2 "
        "cancels out.",
        "m1 + m2 and m1 - m2 are what the halves in u are for: m1 - m2 = d1 (g0 + g2) + d2 g1.",
        "`y[i] = m0 + m1 + m2;` and `y[i + 1] = m1 - m2 - m3;`",
    ),
    explanation="""
It is F(2, 3), Winograd's algorithm for two results and three taps. Applied to rows and then to
columns it is F(2 × 2, 3 × 3): 16 products for four results in place of 36. A filter is transformed
once for all images, and x once for all filters; so with many channels and filters the products are
what counts.
""",
    mutants=(
        mutant(
            "six products",
            kinds.MEANS_MISSING,
            (
                "y[i] = m0 + m1 + m2;",
                "y[i] = x[i] * u[0] + x[i + 1] * (u[1] - u[2]) + x[i + 2] * u[3];",
            ),
            (
                "y[i + 1] = m1 - m2 - m3;",
                "y[i + 1] = x[i + 1] * u[0] + x[i + 2] * (u[1] - u[2]) + x[i + 3] * u[3];",
            ),
        ),
        mutant(
            "six products in float64",
            kinds.MEANS_MISSING,
            (
                "y[i] = m0 + m1 + m2;",
                "double a = u[0], b = (double)u[1] - u[2], c = u[3];\n"
                "    y[i] = x[i] * a + x[i + 1] * b + x[i + 2] * c;",
            ),
            ("y[i + 1] = m1 - m2 - m3;", "y[i + 1] = x[i + 1] * a + x[i + 2] * b + x[i + 3] * c;"),
        ),
        mutant("one sign", kinds.WRONG, ("m1 - m2 - m3", "m1 - m2 + m3")),
        mutant(
            "differences turned round",
            kinds.WRONG,
            ("(x[i + 2] - x[i + 1])", "(x[i + 1] - x[i + 2])"),
        ),
        mutant("first result alone", kinds.PARTLY_WRITTEN, ("y[i + 1] = m1 - m2 - m3;", "")),
        mutant("one number too far", kinds.OUT_OF_BOUNDS, ("x[i + 3]", "x[i + 4]")),
        mutant("no difference", kinds.WRONG, ("(x[i] - x[i + 2])", "x[i]")),
    ),
)
