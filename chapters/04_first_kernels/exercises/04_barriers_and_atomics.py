"""The exercises of "Barriers and atomics"."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

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
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.means import WorkDone
from course_utils.exercises.vectors import BLOCK, FULL, one_thread_each, spare_blocks

from .common import atomics_on


def through_shared_memory(work: WorkDone) -> float:
    """Bytes that were stored in shared memory and read from there, for each byte of the results."""
    counts = work.counts
    return min(counts.shared_store_bytes, counts.shared_load_bytes) / work.result_bytes


FIND_THE_RACE = Exercise(
    id="04.find_the_race",
    title="find the bug",
    task="""
This kernel gave the right result on the machine it was written on. Run the cell as it is, read the
verdict, and add the one line that is missing.
""",
    source="04_first_kernels/exercises/find_the_race.cu",
    kernel="reverse_blocks",
    inputs=lambda rng, blocks: {"x": floats(rng, 256 * blocks), "y": empty(256 * blocks)},
    reference=lambda given: {"y": given["x"].reshape(-1, 256)[:, ::-1].reshape(-1)},
    launch=lambda blocks: Launch((blocks,), (256,)),
    small=(3, 1),
    full=1 << 16,
    exact=True,
    promises=Promises(
        sizes=promises.shapes(blocks=(1, 2, 5, 17, 67, 131, 263)),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(
        Means(
            "bytes that go through shared memory for each byte of y",
            through_shared_memory,
            at_least=0.5,
            advice="Leave the tile: all of x goes into it, and all of y comes out of it. One line "
            "is missing between the two.",
        ),
        means.barriers(
            at_least=3 * 8,
            advice="Add a line, and change no other: threads of other warps fill the elements that "
            "a thread reads, so all eight warps have to wait for each other.",
        ),
        means.one_store_each(),
        means.reads_each_once(4 * 3 * 256, at_most=1.5),
        means.work_shared_out(),
    ),
    bug=kinds.DATA_RACE,
    hints=(
        "The verdict names two lines: one writes, one reads the same element, in different "
        "threads.",
        "Threads 0 and 255 sit in different warps. Which of them comes first is not defined.",
        "`__syncthreads();` between the two lines makes the whole block wait for its last writer.",
    ),
    explanation="""
Thread 0 reads what thread 255 wrote. Without a barrier the read may come first, and whether it does
depends on the scheduler: tests can pass for years. With the barrier the write happens before the
read.
""",
    mutants=(
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();  // nobody", "    // nobody")),
        mutant(
            "barrier too early",
            kinds.DATA_RACE,
            ("    tile[threadIdx.x] =", "    __syncthreads();\n    tile[threadIdx.x] ="),
            ("    __syncthreads();  // nobody", "    // nobody"),
        ),
        mutant("a warp's barrier", kinds.DATA_RACE, ("__syncthreads()", "__syncwarp()")),
        mutant(
            "barrier for half",
            kinds.DATA_RACE,
            ("__syncthreads();", "if (threadIdx.x < 128) __syncthreads();"),
        ),
        mutant(
            "barrier in the first blocks",
            kinds.DATA_RACE,
            ("__syncthreads();", "if (blockIdx.x < 16) __syncthreads();"),
        ),
        mutant(
            "no tile",
            kinds.MEANS_MISSING,
            ("tile[kBlock - 1 - threadIdx.x]", "x[first + kBlock - 1 - threadIdx.x]"),
        ),
        mutant(
            "the tile for show",
            kinds.MEANS_MISSING,
            (
                "y[first + threadIdx.x] = tile[kBlock - 1 - threadIdx.x];",
                "volatile float shown = tile[threadIdx.x];\n"
                "    y[first + threadIdx.x] = x[first + kBlock - 1 - threadIdx.x];",
            ),
        ),
        mutant("not reversed", kinds.WRONG, ("tile[kBlock - 1 - threadIdx.x]", "tile[5]")),
    ),
)


def rows_and_room(rng: np.random.Generator, size: tuple[int, int]) -> dict:
    rows, columns = size
    return {
        "x": rng.random((rows, columns), dtype=np.float32) + np.float32(0.5),
        "mean": empty(rows),
        "y": empty((rows, columns)),
        "rows": np.int32(rows),
        "columns": np.int32(columns),
    }


def scaled(given) -> dict:
    """The exact means and quotients, as far as float64 goes."""
    x = given["x"].astype(np.float64)
    mean = x.mean(axis=1)
    return {"mean": mean, "y": x / mean[:, None]}


def one_kernel_then_the_other(size: tuple[int, int]) -> tuple[Launch, Launch]:
    rows, columns = size
    return (
        Launch((-(-rows // 64),), (64,), arguments=("x", "mean", "rows", "columns")),
        Launch(
            (-(-columns // 16), -(-rows // 16)),
            (16, 16),
            kernel="divide_by_mean",
            arguments=("x", "mean", "y", "rows", "columns"),
        ),
    )


def near_the_end(given: dict, rng: np.random.Generator) -> dict:
    """Where a row is short, numbers whose sum is near the largest float: their mean has a
    reciprocal that is too small, and one of them times the columns is too large."""
    if given["x"].shape[1] > 3:
        return {}
    shares = rng.uniform(0.02, 1, given["x"].shape)
    return {"x": 3.3e38 * shares / shares.sum(axis=1, keepdims=True)}


def with_spare_blocks(size: tuple[int, int]) -> tuple[tuple[Launch, Launch], ...]:
    """Both grids with one block more than they need, in each direction; and as they are."""
    found = []
    for spare in (1, 0):
        mean, divide = one_kernel_then_the_other(size)
        across, down = divide.grid
        found.append(
            (
                replace(mean, grid=(mean.grid[0] + spare,)),
                replace(divide, grid=(across + spare, down + spare)),
            )
        )
    return tuple(found)


def loads_of_the_second(work: WorkDone) -> float:
    """Bytes that divide_by_mean reads from global memory for each element of y."""
    return work.launches[1].work.loaded.sum() / (128 * 32)


SCALE_ROWS = Exercise(
    id="04.scale_rows",
    title="two kernels, one after the other",
    task="""
Divide each row of a matrix by its mean. A block cannot wait for the others, so this takes two
kernels: the first finds the means, the second, launched after it, divides by them. The sum of a row
is no larger than the largest float, and may be close to it.
""",
    source="04_first_kernels/exercises/scale_rows.cu",
    kernel="row_mean",
    inputs=rows_and_room,
    reference=scaled,
    launch=one_kernel_then_the_other,
    small=((37, 45), (67, 5), (2, 4099), (2, 3), (1, 1)),
    full=(4096, 4096),
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 63, 65, 257, 521), columns=(1, 2, 3, 15, 33, 131, 257, 301)
        ).with_longest(rows=32_771),
        launches=with_spare_blocks,
        values=(  # no mean of zero: where the terms cancel, no digit of it is right
            promises.data(
                "x",
                promises.NEGATIVE,
                promises.POSITIVE,
                promises.EQUAL,
                promises.RISING,
                promises.FALLING,
                promises.MIDDLING,
                promises.SMALL,
                promises.LARGE,
                promises.ZEROS,
                promises.SOME_NAN,
            ),
            (
                promises.AS_GIVEN,
                promises.Values(
                    "no more than three columns, whose sum is near 3.3e38", near_the_end
                ),
            ),
        ),
    ),
    means=(
        means.one_store_each(1.05),
        Means(
            "bytes that divide_by_mean reads for each element of y",
            loads_of_the_second,
            at_most=12,
            advice="An element takes two floats: x and the mean of its row. The means are there "
            "already, found by the kernel before.",
            size=(128, 32),
        ),
        means.a_thread_each(size=(128, 32)),  # of both kernels, as many as means and elements
        means.work_shared_out(size=(128, 32)),
    ),
    reduction=lambda size: size[1],
    hints=(
        "`row_mean` has one thread a row: a loop over the columns, guarded by `row < rows`.",
        "Element (row, column) lies at `row * columns + column`; divide the sum by `columns`.",
        "`divide_by_mean` has one thread an element: guard both directions, read `mean[row]`.",
        "`y[row * columns + column] = x[row * columns + column] / mean[row];`",
    ),
    explanation="""
The end of a kernel is the one point at which every block is known to be done: what the first kernel
wrote, the second may read. Inside one kernel, `__syncthreads()` waits for one block only.
""",
    mutants=(
        mutant(
            "sums in place of means",
            kinds.WRONG,
            (
                "= x[row * columns + column] / mean[row];",
                "= x[row * columns + column] * columns / (mean[row] * columns);",
            ),
        ),
        mutant("sum for mean", kinds.SCALED, ("sum / columns", "sum")),
        mutant("mean of row 0", kinds.FIRST_BLOCK, (" / mean[row]", " / mean[0]")),
        mutant("no mean stored", kinds.NOTHING_WRITTEN, ("mean[row] = sum / columns;", "")),
        mutant("row guard left out", kinds.OUT_OF_BOUNDS, ("if (row < rows) {", "{")),
        mutant(
            "column guard left out",
            kinds.OUT_OF_BOUNDS,
            ("row < rows && column < columns", "row < rows"),
        ),
        mutant(
            "absolute values",
            kinds.WRONG,
            ("sum += x[row * columns + column];", "sum += fabsf(x[row * columns + column]);"),
        ),
        mutant(
            "a short row",
            kinds.OUT_OF_BOUNDS,
            ("const int row = blockIdx.y", "const short row = blockIdx.y"),
        ),
        mutant(
            "the second finds the mean anew",
            kinds.MEANS_MISSING,
            (
                "        y[row * columns + column] = x[row * columns + column] / mean[row];",
                "        float sum = 0.0f;\n"
                "        for (int c = 0; c < columns; ++c) sum += x[row * columns + c];\n"
                "        y[row * columns + column] = x[row * columns + column] * columns / sum;",
            ),
        ),
        mutant(
            "zero over zero is zero",
            kinds.ALL_ZEROS,
            ("/ mean[row];", "/ (mean[row] == 0.0f ? 1.0f : mean[row]);"),
        ),
        mutant("by the reciprocal", kinds.ALL_ZEROS, (" / mean[row]", " * (1.0f / mean[row])")),
        mutant("second kernel renamed", kinds.WRONG_NAME, ("void divide_by_mean", "void divide")),
        mutant("up to column 4096", kinds.WRONG, ("< columns;", "< min(columns, 4096);")),
        mutant("first column missed", kinds.PRECISION, ("int column = 0;", "int column = 1;")),
    ),
)


FIND_THE_BARRIER_BUG = Exercise(
    id="04.find_the_barrier_bug",
    title="a barrier that not all reach",
    task="""
This kernel has its barrier, between the write and the read, where it belongs. And yet it is wrong.
Run the cell as it is, read the verdict, and fix the kernel.
""",
    source="04_first_kernels/exercises/reverse_rows.cu",
    kernel="reverse_rows",
    inputs=lambda rng, size: {
        "x": floats(rng, size),
        "y": empty(size),
        "columns": np.int32(size[1]),
    },
    reference=lambda given: {"y": given["x"][:, ::-1]},
    launch=lambda size: Launch((size[0],), (256,)),
    small=((3, 100), (2, 255), (2, 256), (1, 1)),
    full=(1 << 16, 250),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 2, 5, 17, 131, 263), columns=(1, 2, 31, 32, 33, 127, 128, 160, 225, 255, 256)
        ).with_longest(rows=32_771),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(
        Means(
            "bytes that go through shared memory for each byte of y",
            through_shared_memory,
            at_least=0.5,
            advice="Leave the tile: all of x goes into it, and all of y comes out of it. The one "
            "thing to change is who comes to the barrier.",
        ),
        means.barriers(
            at_least=3 * 8,
            advice="Three blocks have eight warps each, and every one of them shall come to the "
            "barrier, also the warps that have no column.",
            size=(3, 100),
        ),
        means.one_store_each(),
        means.reads_each_once(4 * 2 * 256, at_most=1.5, size=(2, 256)),
        means.work_shared_out(size=(2, 256)),
    ),
    bug=kinds.BARRIER,
    hints=(
        "How many of the 256 threads reach the barrier when a row has 100 columns?",
        "Every thread of the block must reach it, also those that have no column.",
        "End the `if` before the barrier, and open it again behind: two guards, one barrier.",
    ),
    explanation="""
A barrier in an `if` is right only where the condition is uniform: where all threads of the block
decide alike. So the guard goes around the work, never around the barrier. A `return` before a
barrier is the same mistake, even where a GPU does not wait for threads that have ended.
""",
    mutants=(
        mutant(
            "returns before it",
            kinds.BARRIER,
            (
                "    if (column < columns) {\n        tile",
                "    if (column >= columns) return;\n    {\n        tile",
            ),
        ),
        mutant("no barrier", kinds.DATA_RACE, ("    __syncthreads();  // nobody", "    // nobody")),
        mutant("a warp's barrier", kinds.DATA_RACE, ("__syncthreads()", "__syncwarp()")),
        mutant(
            "no guard at the end",
            kinds.OUT_OF_BOUNDS,
            ("    if (column < columns) {\n        y[", "    {\n        y["),
        ),
        mutant(
            "of a whole block",
            kinds.UNINITIALISED,
            ("tile[columns - 1 - column]", "tile[kBlock - 1 - column]"),
        ),
        mutant("not reversed", kinds.REVERSED, ("tile[columns - 1 - column]", "tile[column]")),
        mutant(
            "for the warps with a column",
            kinds.BARRIER,
            ("__syncthreads();", "if (column < (columns + 31) / 32 * 32) __syncthreads();"),
        ),
        mutant(
            "for long rows only",
            kinds.DATA_RACE,
            ("__syncthreads();", "if (columns >= 100) __syncthreads();"),
        ),
    ),
)


def product_of_all(given) -> dict:
    """The exact product, with NaN where 0 meets infinity."""
    return {"product": given["product"] * np.prod(given["x"].astype(np.float64), keepdims=True)}


def one_of_them(value: float) -> Callable[..., dict]:
    """A change of ``x``: one element, no matter which, is ``value``."""

    def change(given: dict, rng: np.random.Generator) -> dict:
        x = given["x"].copy()
        x[rng.integers(len(x))] = value
        return {"x": x}

    return change


def first_and_last(first: float, last: float) -> promises.Values:
    """Two numbers of which the one that comes early must not settle, or spoil, the product. The
    others are not below 1, so that no product of some of them is too small for a float."""

    def change(given: dict, rng: np.random.Generator) -> dict:
        x = np.maximum(given["x"], 1)
        if len(x) > 1:
            x[0], x[-1] = first, last
        return {"x": x}

    return promises.Values(f"x[0] = {first:g} and the last x = {last:g}", change)


def of_all_kinds(given: dict, rng: np.random.Generator) -> dict:
    """While the sign of a 0 goes to and fro, a NaN comes last."""
    x = rng.choice([-1, 1], len(given["x"])) * given["x"]
    x[0], x[-1] = 0.0, np.nan
    return {"x": x}


ATOMIC_MULTIPLY = Exercise(
    id="04.atomic_multiply",
    title="an atomic that CUDA does not have",
    task="""
There is no `atomicMul`. Build one for floats from `atomicCAS`, as `atomic_max` above was built.
`product[0]` holds a number before the launch, and that number times all `x[i]` in the end. Any
floats may come, also negative ones, 0 and NaN.
""",
    source="04_first_kernels/exercises/atomic_multiply.cu",
    kernel="multiply_all",
    inputs=lambda rng, n: {
        "x": np.exp(0.1 * floats(rng, n)),
        "product": np.ones(1, np.float32),
        "n": np.int32(n),
    },
    reference=product_of_all,
    launch=one_thread_each,
    small=(100, 300, 520, 7, 1),
    budget=15_000,  # the instructions of a loop that never wins are slow ones
    full=5003,
    promises=Promises(
        sizes=promises.shapes(n=(1, 2, 3, 5, 7, 9, 13, 17, 33, 129, 257, 300)),
        launches=spare_blocks,
        values=(
            (
                promises.AS_GIVEN,
                promises.Values(
                    "some x negative",
                    lambda given, rng: {"x": rng.choice([-1, 1], len(given["x"])) * given["x"]},
                ),
                promises.Values("all x negative", lambda given, rng: {"x": -given["x"]}),
                promises.Values("one x = 0", one_of_them(0.0)),
                promises.Values("one x infinite", one_of_them(np.inf)),
                promises.Values("one x is NaN", one_of_them(np.nan)),
                promises.Values("signs of both kinds, a 0 and a NaN", of_all_kinds),
                promises.Values("product[0] = 2.5", lambda given, rng: {"product": [2.5]}),
                promises.Values(
                    "product[0] is NaN, one x = 0",
                    lambda given, rng: {"product": [np.nan], **one_of_them(0.0)(given, rng)},
                ),
                first_and_last(0.0, np.nan),
                first_and_last(np.nan, 0.0),
                first_and_last(np.inf, 0.0),
                first_and_last(7e28, 4e-32),  # logarithms cost both of them digits
                first_and_last(6e-30, 7e28),
                first_and_last(5e-38, 1e30),
            ),
        ),
    ),
    means=(
        means.instructions(
            "atomicCAS, once for each thread and try",
            "atom.global.cas",
            "atom.global.sys.cas",
            "atom.cas",
            "atom.sys.cas",
            at_least=1,
            advice="Build the multiplication from atomicCAS, so that no thread's factor is lost. "
            "(`atomicCAS_block` does not do: it is atomic among the threads of one block alone.)",
            size=256,
        ),
        means.loads_shared_out(size=256),
        means.reads_each_once(4 * 256, at_most=16, size=256),
    ),
    reduction=lambda n: n,
    hints=(
        "`atomicCAS(word, seen, wanted)` stores `wanted` only where `seen` still stands, and "
        "returns what stood there before.",
        "Try in a loop, `while (true) { ... }`. If it returned `seen`, the exchange was made: "
        "`return;` leaves loop and function.",
        "If not, somebody came between. Go on with what it returned: `seen = before;`",
        "Compute `wanted` anew in every iteration: `__float_as_uint(__uint_as_float(seen) * "
        "value)`.",
    ),
    explanation="""
Each failed try tells you what stands there now, so no separate read is needed. In every round at
least one thread succeeds. With all threads on one word, the others have tried in vain: a loop of
compare and swap is for low contention.
""",
    mutants=(
        mutant(
            "0 settles it",
            kinds.WRONG,
            (
                "    while (true) {",
                "    if (value == 0.0f) {\n        atomicExch(word, 0u);\n        return;\n    }\n"
                "    while (true) {",
            ),
        ),
        mutant(
            "tries once", kinds.WRONG, ("while (true) {", "for (int once = 0; once < 1; ++once) {")
        ),
        mutant(
            "of what stands there a 0 leaves the sign",
            kinds.WRONG,
            (
                "    while (true) {",
                "    if (value == 0.0f) {\n        atomicAnd(word, 0x80000000u);\n        return;\n"
                "    }\n    while (true) {",
            ),
        ),
        mutant("never looks again", kinds.ENDLESS_LOOP, ("        seen = before;\n", "")),
        mutant(
            "stores regardless",
            kinds.WRONG,
            (
                "before = atomicCAS(word, seen, wanted);",
                "before = seen;\n atomicExch(word, wanted);",
            ),
        ),
        mutant(
            "no atomic",
            kinds.DATA_RACE,
            (
                "const unsigned before = atomicCAS(word, seen, wanted);",
                "*word = wanted; const unsigned before = seen;",
            ),
        ),
        mutant(
            "bits for a number",
            kinds.WRONG,
            ("__float_as_uint(__uint_as_float(seen) * value)", "unsigned(seen * value)"),
        ),
        mutant("adds", kinds.WRONG, ("(seen) * value", "(seen) + value")),
        mutant(
            "done as soon as it is 0",
            kinds.WRONG,
            ("while (true) {", "while (__uint_as_float(seen) != 0.0f) {"),
        ),
        mutant(
            "by logarithms",
            kinds.PRECISION,
            (
                "while (true) {",
                "value = copysignf(expf(logf(fabsf(value))), value);\n    while (true) {",
            ),
        ),
        mutant("atomic in a block alone", kinds.DATA_RACE, ("= atomicCAS(", "= atomicCAS_block(")),
        mutant(
            "faint ones left out",
            kinds.WRONG,
            (
                "while (true) {",
                "if (fabsf(value) < 1e-37f && value != 0.0f) return;\n    while (true) {",
            ),
        ),
        mutant(
            "gives up",
            kinds.WRONG,
            ("while (true) {", "for (int tries = 0; tries < 300; ++tries) {"),
        ),
        mutant(
            "one thread multiplies all",
            kinds.MEANS_MISSING,
            (
                "        atomic_multiply(product, x[i]);",
                "        if (i == 0) for (int k = 0; k < n; ++k) product[0] *= x[k];",
            ),
        ),
    ),
)


PREDICT_ATOMICS = NumberExercise(
    id="04.predict_atomics",
    title="predict the atomics",
    task="""
How many atomics do all threads of this launch do together? `x` holds 0, 1, 2 and so on up to
`n - 1`. An atomic that adds 0 counts, too.
""",
    source="04_first_kernels/exercises/count_even.cu",
    kernel="count_even",
    inputs=lambda rng, n: {
        "x": np.arange(n, dtype=np.int32),
        "count": np.zeros(1, np.int32),
        "n": np.int32(n),
    },
    launch=one_thread_each,
    asks={
        "in_shared": Ask(
            "n = 1000: atomics on shared memory",
            1000,
            atomics_on("shared"),
            {
                1000: "Only threads whose number is even add anything.",
                1024: "That is the number of threads; which of them reach the atomicAdd?",
                512: "24 threads of the last block have no element.",
            },
        ),
        "in_global": Ask(
            "n = 1000: atomics on global memory",
            1000,
            atomics_on("global"),
            {
                500: "Those go to shared memory. Who adds to count?",
                1: "One thread of each block does it. How many blocks has the launch?",
                1024: "Look at the if before the last atomicAdd.",
            },
        ),
        "in_global_large": Ask(
            "n = 100,000: atomics on global memory",
            100_000,
            atomics_on("global"),
            {
                390: "Round up: the last block is there too.",
                50_000: "That many add to shared memory.",
            },
        ),
    },
    hints=(
        "Of the numbers 0 to 999, half are even, and each is one thread's.",
        "The last `if` lets one thread of each block through.",
        "1000 elements take 4 blocks of 256 threads; 100,000 take 391.",
    ),
    explanation="""
Nearly all of the atomics stay in shared memory, where the blocks do not meet. One for each block
goes to global memory: 256 times fewer than there are threads.
""",
    mutants=(
        mutant("every thread", kinds.WRONG_NUMBER, ("in_shared = 500", "in_shared = 1000")),
        mutant("one in all", kinds.WRONG_NUMBER, ("in_global = 4", "in_global = 1")),
        mutant(
            "rounded down", kinds.WRONG_NUMBER, ("in_global_large = 391", "in_global_large = 390")
        ),
        mutant("dots left", kinds.WRONG_TYPE, ("in_global = 4", "in_global = ...")),
    ),
)


def all_the_same(digit: int) -> promises.Values:
    return promises.Values(
        f"every digit = {digit}",
        lambda given, rng: {"digits": np.full_like(given["digits"], digit)},
    )


COUNT_DIGITS = Exercise(
    id="04.count_digits",
    title="a privatised histogram",
    task="""
The kernel below counts right, for any number of digits and of blocks, but every digit is an atomic
on one of only ten words of global memory. Let each block count on its own first. At most one atomic
in a hundred digits may remain on global memory.
""",
    source="04_first_kernels/exercises/count_digits.cu",
    kernel="count_digits",
    inputs=lambda rng, n: {
        "digits": rng.integers(0, 10, n, dtype=np.int32),
        "counts": np.zeros(10, np.int32),
        "n": np.int32(n),
    },
    reference=lambda given: {"counts": np.bincount(given["digits"], minlength=10).astype(np.int32)},
    launch=lambda n: Launch((4 if n < FULL else 528,), (BLOCK,)),
    small=(5003, 257, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=promises.grids(*((blocks, BLOCK) for blocks in (1, 3, 7, 131))),
        values=(
            (
                promises.AS_GIVEN,
                *(all_the_same(digit) for digit in (0, 5, 9)),
                promises.Values(
                    "digits rising", lambda given, rng: {"digits": np.sort(given["digits"])}
                ),
            ),
        ),
    ),
    means=(
        means.reads_each_once(4 * 5003, at_most=1.5, size=5003),
        means.loads_shared_out(at_most=2, size=5003),
    ),
    target=Target(
        label="atomics on global memory per digit",
        measure=lambda counts: counts.global_atomic_bytes / 4 / 5003,
        at_most=0.01,
        advice="The counts are right. Count into `__shared__ int mine[kDigits]` first.",
        size=5003,
    ),
    hints=(
        "`__shared__ int mine[kDigits];` gives each block ten numbers that all its threads see.",
        "They are uninitialised: ten threads set them to zero, then the block waits.",
        "Threads of one block still meet in `mine`: it takes `atomicAdd(&mine[digits[i]], 1)`.",
        "After the loop the block waits again; then ten threads add their number to `counts`, with "
        "atomicAdd, because other blocks do so too.",
    ),
    explanation="""
This is **privatisation**: first a copy for each block, then the copies are put together. Both
barriers are needed: one between zero and count, one between count and sum.
""",
    mutants=(
        mutant("never zero", kinds.UNINITIALISED, ("        mine[threadIdx.x] = 0;\n", "")),
        mutant(
            "counts of 16 bits",
            kinds.WRONG,
            (", mine[threadIdx.x]);", ", mine[threadIdx.x] & 65535);"),
        ),
        mutant("no first barrier", kinds.DATA_RACE, ("__syncthreads();  // all ten", "// all ten")),
        mutant(
            "no second barrier", kinds.DATA_RACE, ("__syncthreads();  // everybody", "// everybody")
        ),
        mutant(
            "a plain sum",
            kinds.DATA_RACE,
            ("atomicAdd(&mine[digits[i]], 1);", "mine[digits[i]] += 1;"),
        ),
        mutant(
            "stores its own",
            kinds.DATA_RACE,
            (
                "atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);",
                "counts[threadIdx.x] = mine[threadIdx.x];",
            ),
        ),
        mutant(
            "no sum",
            kinds.NOTHING_WRITTEN,
            ("        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);\n", ""),
        ),
        mutant(
            "one block counts",
            kinds.MEANS_MISSING,
            (
                "for (int i = first; i < n; i += stride) {",
                "if (blockIdx.x == 0) for (int i = threadIdx.x; i < n; i += blockDim.x) {",
            ),
        ),
        mutant("always four blocks", kinds.WRONG, ("gridDim.x * blockDim.x", "1024")),
        mutant(
            "still global",
            kinds.TARGET_MISSED,
            ("atomicAdd(&mine[digits[i]]", "atomicAdd(&counts[digits[i]]"),
        ),
    ),
)
