"""The exercises of "Register tiles"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Exercise,
    Launch,
    NumberExercise,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
)

from .common import ANY_PRODUCT, matrices, no_more_arithmetic, product, tiles_read_once

ONE_BLOCK = 32, 32, 32
ONCE_FOR_EACH_TILE = (
    means.one_store_each(),
    means.work_shared_out(2.0, size=ONE_BLOCK),
    tiles_read_once(ONE_BLOCK),
    no_more_arithmetic(ONE_BLOCK),
)


def shared_loads_per_fma(counts) -> float:
    """Loads of single threads from shared memory, over multiply-adds."""
    return counts.shared_load_requests * 32 / max(counts.flops / 2, 1)


COLUMN = Exercise(
    id="06.column_matmul",
    title="four results a thread",
    task="""
From one result a thread to four, one below the other. The tiles are loaded already; write the loop
over k and the stores. For each FMA a thread may load at most 1.3 floats from shared memory.
""",
    source="06_matmul_and_fft/exercises/column_matmul.cu",
    kernel="column_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (256,)),
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
    promises=ANY_PRODUCT,
    means=ONCE_FOR_EACH_TILE,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "In the shared kernel it was `sum += tile_a[y][k] * tile_b[k][x];`. Now there are TM sums, "
        "and TM rows.",
        "Outer loop over k, inner loop over i from 0 to TM - 1. What does not depend on i is read "
        "before the inner loop.",
        "`const float b = tile_b[k][column];`, then `sum[i] += tile_a[row + i][k] * b;`",
        "The result number i is in row first_row + row + i of C. Each row has its own guard: the "
        "matrix may end in the middle of a thread's column.",
    ),
    explanation="""
For each k a thread loads one operand of B and four of A, and makes four products: 5 / 4 = 1.25
loads for each FMA, in place of 2. `sum` is an array, and yet it lives in registers: the loops over
it are unrolled, so that each index is a compile-time constant. The guard is inside the last loop
because a thread's four rows need not all exist.
""",
    mutants=(
        mutant(
            "a sum too many",
            kinds.OUT_OF_BOUNDS,
            ("i < TM; ++i) {\n                sum", "i <= TM; ++i) {\n                sum"),
        ),
        mutant(
            "B read for every product",
            kinds.TARGET_MISSED,
            ("const float b = tile_b[k][column];", "volatile float* from = &tile_b[k][column];"),
            ("tile_a[row + i][k] * b;", "tile_a[row + i][k] * *from;"),
        ),
        mutant(
            "one guard for all four rows",
            kinds.OUT_OF_BOUNDS,
            ("if (first_row + row + i < M &&", "if (first_row + row < M &&"),
        ),
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row + i < M && first_column + column < N)", "row + i < M)"),
        ),
        mutant(
            "a product lost where K is 513",
            kinds.WRONG,
            ("k < BK; ++k) {\n            const", "k < BK - (K == 513); ++k) {\n            const"),
        ),
        mutant("same row four times", kinds.WRONG, ("tile_a[row + i][k]", "tile_a[row][k]")),
        mutant(
            "tile of A never read",
            kinds.MEANS_MISSING,
            (
                "sum[i] += tile_a[row + i][k] * b;",
                "if (first_row + row + i < M && start + k < K)\n                    "
                "sum[i] += A[(first_row + row + i) * K + start + k] * b;",
            ),
        ),
        mutant(
            "only the first row stored",
            kinds.PARTLY_WRITTEN,
            ("if (first_row + row + i < M &&", "if (i == 0 && first_row + row < M &&"),
        ),
        mutant(
            "no second barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // nobody needs", "// nobody needs"),
        ),
    ),
)


PREDICT_LOADS = NumberExercise(
    id="06.predict_loads",
    title="predict the loads of a thread's tile",
    task="""
Predict for four shapes of a thread's tile how many floats it loads from shared memory for each FMA.
Fractions such as `3 / 8` are welcome.
""",
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
    hints=(
        "Count for one k: how many floats come from tile_a, how many from tile_b?",
        "For one k a thread of shape TM x TN loads TM + TN floats.",
        "And it makes TM * TN products of them: divide.",
    ),
    explanation="""
(TM + TN) / (TM · TN), which is 1 / TM + 1 / TN. Among shapes with the same number of results the
square one needs the fewest loads, just as a square has the shortest border for its area: 16 × 4 and
8 × 8 both keep 64 sums, and the long one loads a quarter more.
""",
    mutants=(
        mutant("loads of one k", kinds.WRONG_NUMBER, ("square = 0.5", "square = 8")),
        mutant("one operand forgotten", kinds.WRONG_NUMBER, ("column = 1.125", "column = 1")),
        mutant("shape ignored", kinds.WRONG_NUMBER, ("long = 0.3125", "long = 0.25")),
        mutant("dots left", kinds.WRONG_TYPE, ("large = 0.25", "large = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("large = 0.25", "biggest = 0.25")),
    ),
)


SQUARE = Exercise(
    id="06.square_matmul",
    title="a square of results",
    task="""
Now a thread owns 4 × 4 results. Say which ones, read 4 + 4 operands into registers for each k, and
make 16 products of them: at most 0.6 loads from shared memory for each FMA.
""",
    source="06_matmul_and_fft/exercises/square_matmul.cu",
    kernel="square_matmul",
    inputs=matrices,
    reference=product,
    launch=lambda size: Launch((-(-size[1] // 32), -(-size[0] // 32)), (64,)),
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
    promises=ANY_PRODUCT,
    means=ONCE_FOR_EACH_TILE,
    library=("cuBLAS", lambda cp, v: cp.matmul(v["A"], v["B"], out=v["C"])),
    hints=(
        "A block's tile is 8 x 8 thread tiles, each of 4 x 4. `/` and `%` turn threadIdx.x into "
        "the thread tile's row and column; times 4, they are the first element's.",
        "Inside the loop over k there are three parts: TM loads, TN loads, TM * TN products.",
        "`a[i] = tile_a[row + i][k];`, `b[j] = tile_b[k][column + j];`, and then "
        "`sum[i][j] += a[i] * b[j];`",
        "The stores are a double loop too, and each element has its own guard for its row and its "
        "column.",
    ),
    explanation="""
Eight loads for sixteen FMAs: 0.5 each. The first rung needed 2, the column of four 1.25. Every loop
over `a`, `b` and `sum` is unrolled; a register has no address, so an index that is only known
while the kernel runs would send the array to local memory.
""",
    mutants=(
        mutant(
            "operands read for every product",
            kinds.TARGET_MISSED,
            (
                "sum[i][j] += a[i] * b[j];",
                "sum[i][j] += *(volatile float*)&tile_a[row + i][k] * b[j];",
            ),
        ),
        mutant(
            "no guard for the column",
            kinds.OUT_OF_BOUNDS,
            ("row + i < M && first_column + column + j < N)", "row + i < M)"),
        ),
        mutant(
            "one guard for all rows",
            kinds.OUT_OF_BOUNDS,
            ("if (first_row + row + i < M &&", "if (first_row + row < M &&"),
        ),
        mutant(
            "thread tiles one element apart",
            kinds.PARTLY_WRITTEN,
            ("threadIdx.x % (BN / TN) * TN;", "threadIdx.x % (BN / TN);"),
        ),
        mutant("same row four times", kinds.WRONG, ("tile_a[row + i][k]", "tile_a[row][k]")),
        mutant(
            "tile of B never read",
            kinds.MEANS_MISSING,
            (
                "b[j] = tile_b[k][column + j];",
                "b[j] = start + k < K && first_column + column + j < N\n                "
                "           ? B[(start + k) * N + first_column + column + j] : 0.0f;",
            ),
        ),
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // both tiles", "// both tiles"),
        ),
    ),
)
