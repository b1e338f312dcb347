"""The exercises of "Two and three dimensions"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Means,
    Promises,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)


def spare_tiles(size: tuple[int, int]) -> tuple[Launch, ...]:
    """Grids of 16 x 16 threads with more blocks than the picture needs, to the right and below."""
    height, width = size
    across, down = -(-width // 16), -(-height // 16)
    return (
        Launch((across + 1, down), (16, 16)),
        Launch((across, down + 2), (16, 16)),
        Launch((across, down), (16, 16)),
    )


def grayscale_inputs(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    height, width = size
    return {
        "rgb": rng.random((height, width, 3), dtype=np.float32),
        "gray": empty((height, width)),
        "height": np.int32(height),
        "width": np.int32(width),
    }


def luma(given: dict) -> dict:
    """The weighted sum of the three colours, with NaN where infinities cancel."""
    return {"gray": given["rgb"].astype(np.float64) @ np.array([0.299, 0.587, 0.114])}


GRAYSCALE = Exercise(
    id="04.grayscale",
    title="a picture in grey",
    task="""
Turn a colour image into grey, one thread a pixel. `x` runs along a row of the picture and `y` down
the rows; the image need not be a multiple of the 16 x 16 block in either direction.
""",
    source="04_first_kernels/exercises/grayscale.cu",
    kernel="grayscale",
    inputs=grayscale_inputs,
    reference=luma,
    launch=lambda size: Launch((-(-size[1] // 16), -(-size[0] // 16)), (16, 16)),
    small=((37, 90), (16, 32), (5, 1), (1, 1)),
    full=(4096, 4096),
    promises=Promises(
        sizes=promises.shapes(
            height=(1, 2, 15, 17, 33, 61, 131, 301, 1031), width=(1, 3, 16, 31, 97, 131, 257, 5003)
        ).with_longest(height=32_771, width=32_771),
        launches=spare_tiles,
        values=(
            promises.data(
                "rgb",
                *promises.ORDINARY,
                promises.ZEROS,
                promises.SOME_NAN,
                promises.SOME_INFINITE,
                promises.VERY_SMALL,
                promises.LARGE,
                ("about a million", lambda x, rng: x * 1e6),
            ),
        ),
    ),
    means=(
        Means(
            "stores for each pixel",
            lambda work: work.counts.global_store_bytes / work.result_bytes,
            at_most=1.0,
            advice="Each pixel needs one store, by its own thread. Does a thread past the right "
            "edge store into the next row, or one thread store pixels of others?",
        ),
        means.a_thread_each(size=(64, 64)),
        means.work_shared_out(size=(64, 64)),
    ),
    reduction=lambda size: 3,
    hints=(
        "The formula of the first notebook, once for `x` and once for `y`.",
        "`row = blockIdx.y * blockDim.y + threadIdx.y`, and `column` the same with `x`.",
        "Pixel (row, column) is number `row * width + column`; guard both: `row < height && ...`",
        "`gray[pixel] = 0.299f * rgb[3 * pixel] + 0.587f * rgb[3 * pixel + 1] + 0.114f * "
        "rgb[3 * pixel + 2];`",
    ),
    explanation="""
Rows lie one after another in memory, so one step down is `width` elements. Both directions need a
guard: without the one for the column, a thread past the right edge would write into the next row.
""",
    mutants=(
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row < height && column < width", "row < height"),
        ),
        mutant(
            "no guard for the row",
            kinds.OUT_OF_BOUNDS,
            ("row < height && column < width", "column < width"),
        ),
        mutant(
            "white where red is infinite",
            kinds.WRONG,
            ("= 0.299f * red", "= isinf(red) ? 1.0f : 0.299f * red"),
        ),
        mutant(
            "x and y swapped",
            kinds.PARTLY_WRITTEN,
            ("blockIdx.y * blockDim.y + threadIdx.y", "blockIdx.x * blockDim.x + threadIdx.x "),
            (
                "column = blockIdx.x * blockDim.x + threadIdx.x;",
                "column = blockIdx.y * blockDim.y + threadIdx.y;",
            ),
        ),
        mutant(
            "a guard for the picture's end alone",
            kinds.MEANS_MISSING,
            ("row < height && column < width", "row * width + column < height * width"),
        ),
        mutant("for blue up to 1", kinds.WRONG, ("0.114f * blue;", "fminf(0.114f * blue, 0.2f);")),
        mutant("transposed", kinds.TRANSPOSED, ("gray[pixel]", "gray[column * height + row]")),
        mutant("blue for red", kinds.WRONG, ("red = rgb[3 * pixel]", "red = rgb[3 * pixel + 2]")),
        mutant("height for width", kinds.OUT_OF_BOUNDS, ("row * width", "row * height")),
    ),
)


def matrices(rng: np.random.Generator, size: tuple[int, int, int, int]) -> dict:
    batch, m, n, k = size
    return {
        "A": floats(rng, (batch, m, k)),
        "B": floats(rng, (batch, k, n)),
        "C": empty((batch, m, n)),
        "batch": np.int32(batch),
        "M": np.int32(m),
        "N": np.int32(n),
        "K": np.int32(k),
    }


def products(given) -> dict:
    """A B in float64, with NaN where 0 meets infinity."""
    return {"C": given["A"].astype(np.float64) @ given["B"].astype(np.float64)}


# A sum that grows and shrinks again loses digits in whatever order it is made.
EVEN_HANDED = tuple(
    values for values in promises.ORDINARY if values not in (promises.RISING, promises.FALLING)
)

BATCHED_MATMUL = Exercise(
    id="04.batched_matmul",
    title="many small matrix products",
    task="""
Multiply `batch` pairs of matrices in one launch. The grid has three dimensions: `x` for the column,
`y` for the row, and `z` for the pair.
""",
    source="04_first_kernels/exercises/batched_matmul.cu",
    kernel="batched_matmul",
    inputs=matrices,
    reference=products,
    launch=lambda size: Launch((-(-size[2] // 8), -(-size[1] // 8), size[0]), (8, 8)),
    small=((3, 13, 17, 11), (5, 8, 8, 8), (2, 1, 9, 1), (1, 1, 1, 1)),
    full=(64, 256, 256, 256),
    promises=Promises(
        sizes=promises.shapes(
            batch=(1, 2, 5, 67),
            # 1031 pairs of 8 x 9 and 9 x 8: no index of 16 bits counts them
            M=(1, 8, 9, 13, 17, 31, 33),
            N=(1, 8, 9, 13, 17, 31, 33),
            K=(0, 9, 33, 131, 301),
        ).with_longest(batch=1031, M=32_771, N=32_771, K=4801),
        values=(
            (
                *promises.data("A", *promises.ORDINARY, promises.ZEROS, promises.SOME_NAN),
                promises.zero_times_infinity_along("A", -1, "B", -2),
                promises.zero_times_infinity_along("B", -2, "A", -1),
                promises.infinite_at_the_ends("A", -1, "B", -2),
                promises.infinite_at_the_ends("B", -2, "A", -1),
            ),
            promises.data("B", *EVEN_HANDED),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(1.5, size=(8, 16, 16, 5)),
        means.no_extra_work(),
    ),
    reduction=lambda size: max(size[3], 1),
    hints=(
        "Each block has depth 1, so the pair is simply `blockIdx.z`.",
        "Matrix `b` of A starts at element `b * M * K`: skip the b matrices before it.",
        "Loop `k` from 0 to K: `sum += A[(b * M + row) * K + k] * B[(b * K + k) * N + column];`",
        "Declare `float sum = 0.0f;` before the loop, without `const`.",
    ),
    explanation="""
A three-dimensional array is a row of matrices, each a row of rows: the index of an element is
`(b * M + row) * K + k`. One launch of many small products keeps the GPU busy where one small
product alone could not.
""",
    mutants=(
        mutant(
            "4,096 products at most",
            kinds.WRONG,
            ("k < K", "k < min(K, 4096)"),
        ),
        mutant("pair 0 only", kinds.FIRST_BLOCK, ("blockIdx.z * blockDim.z + threadIdx.z", "0")),
        mutant(
            "64 pairs and no more",
            kinds.PARTLY_WRITTEN,
            ("blockIdx.z * blockDim.z + threadIdx.z", "blockIdx.z % 64"),
        ),
        mutant(
            "A in 16 bits",
            kinds.WRONG,
            ("A[(b * M + row) * K + k]", "A[(unsigned short)((b * M + row) * K + k)]"),
        ),
        mutant("B of pair 0", kinds.FIRST_BLOCK, ("(b * K + k) * N", "k * N")),
        mutant("sum starts unset", kinds.WRONG, ("float sum = 0.0f;", "float sum = 1.0f;")),
        mutant("last product missed", kinds.WRONG, ("k < K", "k < K - 1")),
        mutant("one product too many", kinds.OUT_OF_BOUNDS, ("k < K", "k <= K")),
        mutant(
            "zeros skipped",
            kinds.WRONG,
            (
                "sum += A[(b * M + row) * K + k]",
                "if (A[(b * M + row) * K + k] != 0) sum += A[(b * M + row) * K + k]",
            ),
        ),
        mutant(
            "no sum of nothing",
            kinds.NOTHING_WRITTEN,
            ("float sum = 0.0f;", "if (K == 0) return;\n    float sum = 0.0f;"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("b >= batch || row >= M || column >= N", "false")),
        mutant(
            "zeros of B skipped",
            kinds.WRONG,
            (
                "sum += A[",
                "if (B[(b * K + k) * N + column] != 0) sum += A[",
            ),
        ),
        mutant(
            "steps of two, and the last one again, times 0",
            kinds.NOT_A_NUMBER,
            (
                "for (int k = 0; k < K; ++k) {",
                "for (int q = 0; q < K + K % 2; ++q) {\n        const int k = min(q, K - 1);",
            ),
            ("sum += A[(b * M + row) * K + k]", "sum += (q < K) * A[(b * M + row) * K + k]"),
        ),
        mutant(
            "steps of two, and the first one again, times 0",
            kinds.NOT_A_NUMBER,
            (
                "for (int k = 0; k < K; ++k) {",
                "for (int q = 0; q < K + K % 2; ++q) {\n        const int k = q < K ? q : 0;",
            ),
            (
                "sum += A[(b * M + row) * K + k]",
                "sum += (q < K ? A[(b * M + row) * K + k] : 0.0f)",
            ),
        ),
        mutant("a short row", kinds.OUT_OF_BOUNDS, ("const int row", "const short row")),
        mutant("M for N in C", kinds.OUT_OF_BOUNDS, ("* N + column] = sum", "* M * N] = sum")),
    ),
)
