"""The exercises of "Tensor cores"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Exercise,
    Launch,
    Means,
    NumberExercise,
    Promises,
    Target,
    empty,
    kinds,
    means,
    mutant,
)

from .common import HALF_OPERANDS, chosen, half_matrices, on_tensor_cores, product_of_rows

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

WMMA = Exercise(
    id="06.wmma_product",
    title="five calls for a tensor core",
    task="""
The fragments are declared. Write the product of a warp: zeros, a loop over K, and the store. The
address of a fragment is that of its first element, and the leading dimension is how many elements
lie between one row and the next.
""",
    source="06_matmul_and_fft/exercises/wmma_product.cu",
    kernel="wmma_product",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 80), (16, 64, 48), (16, 16, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    promises=Promises(sizes=chosen(*TILES_OF_16), values=HALF_OPERANDS),
    means=(*on_tensor_cores((48, 32, 80)), means.one_store_each()),
    hints=(
        "`wmma::fill_fragment`, and in the loop `wmma::load_matrix_sync` twice and "
        "`wmma::mma_sync`; after it `wmma::store_matrix_sync`.",
        "The fragment of A begins at row `row`, column `k` of A: `A + row * K + k`. Its rows are K "
        "elements apart.",
        "A row of B is a column of B^T, and the fragment is declared as `col_major`, so its "
        "*columns* are K elements apart: `wmma::load_matrix_sync(b, B + column * K + k, K);`",
        "`wmma::mma_sync(sum, a, b, sum);`, and at the end "
        "`wmma::store_matrix_sync(C + row * N + column, sum, N, wmma::mem_row_major);`",
    ),
    explanation="""
Five calls, and no word of which lane holds what. All 32 lanes make each call together with the
same arguments; it would be an error to put one into a branch that some lanes do not take. The
fragments come straight from global memory here, so every tile of C loads its own operands anew: the
kernel of the notebook puts shared memory in between.
""",
    mutants=(
        mutant("no zeros", kinds.UNINITIALISED, ("wmma::fill_fragment(sum, 0.0f);", "")),
        mutant(
            "only the first step",
            kinds.WRONG,
            ("k < K; k += kTile", "k < kTile; k += kTile"),
        ),
        mutant(
            "rows of B",
            kinds.WRONG,
            ("__half, wmma::col_major> b", "__half, wmma::row_major> b"),
            ("B + column * K + k, K", "B + column * K + k, 16"),
        ),
        mutant(
            "stored as columns",
            kinds.WRONG,
            ("sum, N, wmma::mem_row_major", "sum, N, wmma::mem_col_major"),
        ),
        mutant(
            "products without tensor cores",
            kinds.MEANS_MISSING,
            (
                "wmma::store_matrix_sync(C + row * N + column, sum, N, wmma::mem_row_major);",
                "for (int i = threadIdx.x; i < 256; i += 32) {\n        float total = 0.0f;\n"
                "        for (int k = 0; k < K; ++k)\n"
                "            total += __half2float(A[(row + i / 16) * K + k]) *\n"
                "                     __half2float(B[(column + i % 16) * K + k]);\n"
                "        C[(row + i / 16) * N + column + i % 16] = total;\n    }",
            ),
        ),
        mutant("C's rows K apart", kinds.OUT_OF_BOUNDS, ("sum, N, wmma::mem", "sum, K, wmma::mem")),
        mutant(
            "always the first rows",
            kinds.DATA_RACE,
            ("C + row * N + column", "C + column"),
        ),
    ),
)


def marks_made(counts) -> float:
    """How many places of the array were marked."""
    return counts.global_store_bytes / 4


FRAGMENT = NumberExercise(
    id="06.fragment_place",
    title="which lane holds it?",
    task="""
Use the formulas, or the picture, for `mma.m16n8k16` with A(13, 14), B(14, 2) and C(13, 2), all
counted from 0. The kernel lets the lane that holds the element answer.
""",
    source="06_matmul_and_fft/exercises/fragment_place.cu",
    kernel="fragment_place",
    inputs=lambda rng, what: {
        "marks": empty(32, np.int32),
        "row": np.int32(13),
        "k": np.int32(14),
        "column": np.int32(2),
        "what": np.int32(what),
    },
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
    hints=(
        "Everything is made of tiles of 8 x 8, and in each of them a row (in B, a column) belongs "
        "to four lanes.",
        "The group is row % 8 for A and C, column for B; its first lane is 4 times that.",
        "Within the group: pair number (k % 8) / 2 for A and B, column / 2 for C.",
        "A: 4 * (13 % 8) + (14 % 8) / 2. Register: 1 for the lower half, plus 2 for the right one.",
    ),
    explanation="""
Row 13 is row 5 of its half, so lanes 20 to 23; k = 14 is the fourth pair of its half, so the fourth
of them: lane 23. Below and at the right is register 3. B's column 2 has lanes 8 to 11, and k = 14
is the last of them. C(13, 2) is in the second pair of columns: lane 21.
""",
    mutants=(
        mutant("33rd lane and beyond", kinds.WRONG_NUMBER, ("lane_a = 23", "lane_a = 55")),
        mutant("right before down", kinds.WRONG_NUMBER, ("register_a = 3", "register_a = 2")),
        mutant("k for the group", kinds.WRONG_NUMBER, ("lane_b = 11", "lane_b = 26")),
        mutant("one column a lane", kinds.WRONG_NUMBER, ("lane_c = 21", "lane_c = 22")),
        mutant("dots left", kinds.WRONG_TYPE, ("lane_c = 21", "lane_c = ...")),
    ),
)


MMA = Exercise(
    id="06.mma_product",
    title="fill the fragments yourself",
    task="""
The instruction is there; what is missing is the layout of its fragments. Fill `a` and `b` with
pairs of neighbours, and store the sums. A warp has a tile of 16 × 8, and its fragments come
straight from global memory.
""",
    source="06_matmul_and_fft/exercises/mma_product.cu",
    kernel="mma_product",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 8, size[0] // 16), (32,)),
    small=((48, 40, 80), (16, 24, 48), (16, 8, 16)),
    full=(2048, 2048, 2048),
    reduction=lambda size: max(size[2], 1),
    promises=Promises(
        sizes=chosen(*TILES_OF_16[2:], (16, 8, 16), (32, 24, 96), (16, 8200, 16)),
        values=HALF_OPERANDS,
    ),
    means=(*on_tensor_cores((48, 40, 80)), means.one_store_each()),
    hints=(
        "`group` is the row in each 8 x 8 tile of A and C, and the column of B^T. `member` is the "
        "number of the pair.",
        "a[0] is row group, columns 2 member and 2 member + 1; a[1] is 8 rows below it, a[2] is 8 "
        "columns to the right, a[3] is both.",
        "`a[i] = pair_at(A + (group + i % 2 * 8) * K + k + member * 2 + i / 2 * 8);`",
        "`b[i] = pair_at(B + group * K + k + member * 2 + i * 8);`, and sum[i] belongs to row "
        "group + i / 2 * 8, column member * 2 + i % 2.",
    ),
    explanation="""
A counts its registers down first, C counts its numbers to the right first: C holds two neighbours
of a row, then two 8 rows below. B is read as it lies, row by row, because its rows are the columns
of B^T: that is why these kernels multiply by the transpose. If A and B both took the same wrong
order *along K*, the product would still be right: the instruction only adds up over k.
""",
    mutants=(
        mutant(
            "right before down in A",
            kinds.WRONG,
            ("group + i % 2 * 8;", "group + i / 2 * 8;"),
            ("member * 2 + i / 2 * 8;", "member * 2 + i % 2 * 8;"),
        ),
        mutant(
            "one element a lane",
            kinds.MISALIGNED,
            ("member * 2 + i / 2 * 8;", "member + i / 2 * 8;"),
        ),
        mutant(
            "groups and members swapped in B",
            kinds.WRONG,
            (
                "B + group * K + k + member * 2 + i * 8",
                "B + member * K + k + group / 2 * 2 + i * 8",
            ),
        ),
        mutant(
            "down before right in C",
            kinds.WRONG,
            (
                "group + i / 2 * 8) * N + member * 2 + i % 2",
                "group + i % 2 * 8) * N + member * 2 + i / 2",
            ),
        ),
        mutant(
            "only the upper half stored",
            kinds.PARTLY_WRITTEN,
            (
                "for (int i = 0; i < 4; ++i) {\n        C[",
                "for (int i = 0; i < 2; ++i) {\n        C[",
            ),
        ),
        mutant(
            "the first 256 blocks only",
            kinds.FIRST_BLOCK,
            ("blockIdx.x * 8 * K;", "(unsigned char)blockIdx.x * 8 * K;"),
        ),
        mutant(
            "products without tensor cores",
            kinds.MEANS_MISSING,
            (
                "mma_f16(sum, a, b[0], b[1]);",
                "for (int i = 0; i < 64; ++i)\n"
                "          sum[i / 16] += __half2float(A[(group + i / 32 * 8) * K + k + i % 16]) *"
                "\n                __half2float(B[(member * 2 + i / 16 % 2) * K + k + i % 16]);",
            ),
        ),
        mutant("k forgotten in B", kinds.WRONG, ("B + group * K + k +", "B + group * K +")),
    ),
)


def shared_bytes(work) -> int:
    """Static shared memory of the kernel."""
    function = work.launches[0].instructions[0].instruction.scope.function
    return sum(variable.size for variable in function.variables if variable.space == "shared")


SWIZZLE = Exercise(
    id="06.swizzled_rows",
    title="eight rows without a conflict",
    task="""
The product is right, but each `ldmatrix` takes eight times as many wavefronts as it should: the
rows of a tile are 128 bytes long, so a chunk of 16 bytes lies in the same four banks in every row.
Change where a chunk is kept, without a byte more of shared memory, until a load takes 4.
""",
    source="06_matmul_and_fft/exercises/swizzled_rows.cu",
    kernel="swizzled_rows",
    inputs=half_matrices,
    reference=product_of_rows,
    launch=lambda size: Launch((size[1] // 16, size[0] // 16), (32,)),
    small=((48, 32, 128), (16, 16, 64)),
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
    promises=Promises(
        sizes=chosen(*((m, n, -(-k // 64) * 64) for m, n, k in TILES_OF_16)),
        values=HALF_OPERANDS,
    ),
    means=(
        *on_tensor_cores((16, 16, 64)),
        means.instructions(
            "threads at an ldmatrix",
            "ldmatrix.",
            at_least=256,
            advice="The operands come from shared memory by ldmatrix: only where they lie is new.",
            size=(16, 16, 64),
        ),
        Means(
            "bytes of shared memory",
            shared_bytes,
            at_most=4096,
            advice="The rows are 128 bytes long, without padding: change the order of the chunks "
            "in a row, another one in each of eight rows.",
            size=(16, 16, 64),
        ),
        # Loads without a conflict, beside those that have one, make the average better.
        Means(
            "wavefronts of loads from shared memory",
            lambda work: work.counts.shared_load_wavefronts,
            at_most=48,
            advice="Each ldmatrix has 4 wavefronts when no two rows meet in a bank.",
            size=(16, 16, 64),
        ),
    ),
    hints=(
        "A row has eight positions, one for each group of four banks. Row 0 may keep its chunks in "
        "order; row 1 must not have chunk 0 in position 0.",
        "For each row you need the numbers 0 to 7 in another order, such that chunk 0 is somewhere "
        "else in each of eight rows, and chunk 1, and so on.",
        "`chunk ^ 1` swaps neighbours, `chunk ^ 2` swaps pairs: `chunk ^ n` is always a "
        "permutation of 0 to 7, for n from 0 to 7.",
        "`return row * kChunks + (chunk ^ (row % kChunks));`",
    ),
    explanation="""
For a fixed row, `chunk ^ row` is a permutation of 0 to 7; for a fixed chunk it is one as well, over
eight rows. The first keeps every chunk in a position of its own, the second takes the conflicts
away. Rotating the row, `(chunk + row) % kChunks`, does both too. XOR is what the hardware of
Hopper's own copy engine does, and it needs no remainder.
""",
    mutants=(
        mutant("rows as they are", kinds.TARGET_MISSED, ("(chunk ^ (row % kChunks))", "chunk")),
        mutant("four orders only", kinds.TARGET_MISSED, ("row % kChunks", "row % 4")),
        mutant(
            "one row of two rotated", kinds.TARGET_MISSED, ("row % kChunks", "row / 8 % kChunks")
        ),
        mutant("the whole row number", kinds.OUT_OF_BOUNDS, ("row % kChunks", "row")),
        mutant("two chunks in one position", kinds.DATA_RACE, ("chunk ^ (row", "chunk | (row")),
        mutant(
            "padded, with room for it",
            kinds.MEANS_MISSING,
            ("row * kChunks + (chunk ^ (row % kChunks))", "row * (kChunks + 1) + chunk"),
            (
                "tile_a[kRows * kChunks], tile_b[kRows * kChunks];",
                "tile_a[kRows * (kChunks + 1)], tile_b[kRows * (kChunks + 1)];",
            ),
        ),
        mutant(
            "padded, with no room for it",
            kinds.OUT_OF_BOUNDS,
            ("row * kChunks + (chunk ^ (row % kChunks))", "row * (kChunks + 1) + chunk"),
        ),
    ),
)
