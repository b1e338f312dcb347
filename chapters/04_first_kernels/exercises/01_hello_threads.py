"""The exercises of "Hello, threads"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Means,
    Promises,
    Target,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.vectors import BLOCK, FULL, SMALL, one_thread_each, spare_blocks


def axpy(given) -> dict:
    """a x + y, with NaN where 0 meets infinity."""
    return {"y": given["a"] * given["x"] + given["y"]}


def opposites(given: dict, rng: np.random.Generator) -> dict:
    """Infinities that have no sum, where a is above 0."""
    x = promises.SOME_INFINITE[1](given["x"], rng)
    return {"x": x, "y": -x}


SAXPY = Exercise(
    id="04.saxpy",
    title="a times x plus y",
    task="""
Write `y[i] = a * x[i] + y[i]`, in place, for `n` elements. The launch has whole blocks of 256
threads, so when `n` is no multiple of 256 the last block has threads with nothing to do.
""",
    source="04_first_kernels/exercises/saxpy.cu",
    kernel="saxpy",
    inputs=lambda rng, n: {
        "a": np.float32(rng.uniform(1.5, 3.0)),
        "x": floats(rng, n),
        "y": floats(rng, n),
        "n": np.int32(n),
    },
    reference=axpy,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            promises.scalars("a", 0, 1, -1, -2.5, 1000, np.inf),
            (
                *promises.data("x", *promises.ORDINARY, promises.ZEROS, *promises.STRANGE),
                *promises.data("x y", promises.FAINT)[1:],
                promises.zero_times_infinity("a", "x"),
            ),
            (
                *promises.data("y", *promises.ORDINARY, promises.ZEROS, promises.LARGE),
                promises.Values("y = -x, some of both infinite", opposites),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(2, size=5003),
        means.no_extra_work(),
    ),
    hints=(
        "Block `b` starts at element `b * 256`; a thread's element lies `threadIdx.x` further on.",
        "`const int i = blockIdx.x * blockDim.x + threadIdx.x;`",
        "Threads with `i >= n` must not touch the arrays: put the update inside `if (i < n)`.",
        "`if (i < n) { y[i] = a * x[i] + y[i]; }`",
    ),
    explanation="""
Each element is read and written by one thread only, so no thread has to wait for another. The
compiler turns the multiplication and the addition into one instruction, `fma`, which rounds once.
""",
    mutants=(
        mutant(
            "the last block takes what is left of a division",
            kinds.PARTLY_WRITTEN,
            (
                "if (i < n) {",
                "if (i < n && (blockIdx.x != (n - 1) / 256 || threadIdx.x < n % 256)) {",
            ),
        ),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("<= for <", kinds.OUT_OF_BOUNDS, ("i < n", "i <= n")),
        mutant(
            "local index",
            kinds.DATA_RACE,
            ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        ),
        mutant(
            "every thread does it all",
            kinds.DATA_RACE,
            ("if (i < n) {", "for (int k = 0; k < n; ++k) {"),
            ("    y[i] = a * x[i] + y[i];\n", "    y[k] = a * x[k] + y[k];\n"),
        ),
        mutant("nothing for a = 0", kinds.NOTHING_WRITTEN, ("i < n", "i < n && a != 0.0f")),
        mutant(
            "faint ones left out",
            kinds.NOTHING_WRITTEN,
            ("i < n", "i < n && !(fabsf(x[i]) <= 1e-20f)"),
        ),
        mutant(
            "finite factors only", kinds.WRONG, ("    y[i] = a *", "    y[i] = fminf(a, 3e38f) *")
        ),
        mutant("finite y only", kinds.NOTHING_WRITTEN, ("i < n", "i < n && fabsf(y[i]) < 1e38f")),
        mutant("y forgotten", kinds.WRONG, (" + y[i];\n", ";\n")),
        mutant("last element missed", kinds.EDGES, ("i < n", "i < n - 1")),
        mutant("never stores", kinds.NOTHING_WRITTEN, ("y[i] = a * x[i] + y[i];", "")),
        mutant("one element for all", kinds.DATA_RACE, ("    y[i] =", "    y[n / 2] =")),
        mutant("another name", kinds.WRONG_NAME, ("void saxpy", "void axpy")),
        mutant("no n", kinds.WRONG_SIGNATURE, (", int n)", ")"), ("i < n", "i < 1000")),
    ),
)


MANY = 160_000  # elements


def too_few_blocks(n: int) -> Launch:
    """Fewer threads than elements, and from 160,000 elements on more blocks than a byte counts."""
    return Launch((1056 if n >= FULL else 300 if n >= MANY else 2,), (BLOCK,))


def between(low: float, high: float) -> promises.Values:
    """These two ends, with numbers on both sides of each, infinite ones among them."""
    most = np.finfo(np.float32).max
    numbers = [-np.inf, np.inf, -most, most, -1e31, 1e31, -2000, 2000, 0]

    def change(given: dict, rng: np.random.Generator) -> dict:
        return {"low": low, "high": high, "x": np.resize(numbers, given["x"].shape)}

    return promises.Values(f"low = {low:g}, high = {high:g}, x far below and far above", change)


CLAMP = Exercise(
    id="04.clamp",
    title="a grid-stride loop",
    task="""
Hold every element between `low` and `high`, where `low <= high`. Any of them may be infinite, and
none is NaN. This time the grid is too small for one thread per element: each thread handles
several, as many elements apart as the grid has threads.
""",
    source="04_first_kernels/exercises/clamp.cu",
    kernel="clamp",
    inputs=lambda rng, n: {
        "x": floats(rng, n),
        "y": empty(n),
        "low": np.float32(-0.5),
        "high": np.float32(0.75),
        "n": np.int32(n),
    },
    reference=lambda given: {"y": np.clip(given["x"], given["low"], given["high"])},
    launch=too_few_blocks,
    small=(2049, 1000, 31, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=promises.grids(*((n, 256) for n in (1, 3, 5, 7, 19, 300))),
        values=(
            promises.together(
                {"low": -3, "high": -2},
                {"low": 0, "high": 0},
                {"low": 0.25, "high": 1e30},
                {"low": -1e30, "high": -0.25},
                {"low": 100, "high": 2000},
                {"low": -np.inf, "high": 0.25},
                {"low": -0.25, "high": np.inf},
            ),
            promises.data("x", *promises.ANY_ORDERED),
            (
                promises.AS_GIVEN,
                between(-1000, -100),
                between(-2e30, -1e30),
                between(1e30, 2e30),
                between(-np.inf, np.inf),
                between(-np.inf, -np.inf),
                between(np.inf, np.inf),
            ),
        ),
    ),
    means=(
        means.work_shared_out(2),
        means.work_shared_out(2, size=MANY),
        means.no_extra_work(),
        Means(
            "sectors that a warp's store touches",
            lambda work: work.counts.global_store_sectors / work.counts.global_store_requests,
            at_most=8,  # four where it is aligned
            advice="Neighbouring threads handle neighbouring elements: a thread's next one lies as "
            "many further on as the grid has threads.",
            size=2048,
        ),
        Means(
            "stores for each result, by 300 blocks",
            lambda work: work.counts.global_store_bytes / work.result_bytes,
            at_most=1.0,
            advice="Each thread steps by as many elements as the grid has threads, be they few or "
            "many: `gridDim.x` tells the number of blocks.",
            size=MANY,
        ),
    ),
    target=Target(
        label="stores per element",
        measure=lambda counts: counts.global_store_bytes / 4 / 2048,
        at_most=1.0,
        advice="The result is right, but some elements are handled more than once: how many "
        "elements does the whole grid cover in one iteration?",
        size=2048,
    ),
    hints=(
        "The grid has `gridDim.x` blocks of `blockDim.x` threads each.",
        "`const int stride = gridDim.x * blockDim.x;` All threads together cover one in each "
        "iteration.",
        "`fmaxf(v, low)` is the larger of two floats, `fminf(v, high)` the smaller.",
        "`y[i] = fminf(fmaxf(x[i], low), high);`",
    ),
    explanation="""
A grid-stride loop separates the size of the grid from the size of the data: one launch shape works
for any `n`. In every iteration neighbouring threads still touch neighbouring elements.
""",
    mutants=(
        mutant("one iteration", kinds.FIRST_BLOCK, ("gridDim.x * blockDim.x", "n")),
        mutant("strides by a block", kinds.TARGET_MISSED, ("gridDim.x * blockDim.x", "blockDim.x")),
        mutant(
            "a piece for each thread",
            kinds.MEANS_MISSING,
            ("gridDim.x * blockDim.x", "(n - 1) / (gridDim.x * blockDim.x) + 1"),
            (
                "i = first; i < n; i += stride",
                "i = first * stride; i < min(n, (first + 1) * stride); ++i",
            ),
        ),
        mutant(
            "32 blocks do it all",
            kinds.MEANS_MISSING,
            (
                "gridDim.x * blockDim.x;",
                "min(gridDim.x, 32u) * blockDim.x;\n    if (blockIdx.x >= 32) return;",
            ),
        ),
        mutant("blocks in a byte", kinds.MEANS_MISSING, ("gridDim.x *", "(gridDim.x & 255) *")),
        mutant(
            "200 rounds and no more",
            kinds.PARTLY_WRITTEN,
            ("i < n;", "i < n && (i - first) / stride < 200;"),
        ),
        mutant("blocks in six bits", kinds.MEANS_MISSING, ("gridDim.x *", "min(gridDim.x, 64u) *")),
        mutant(
            "no high where low is -inf",
            kinds.WRONG,
            ("fminf(fmaxf(x[i], low), high)", "isinf(low) ? x[i] : fminf(fmaxf(x[i], low), high)"),
        ),
        mutant("low not below -100", kinds.WRONG, ("x[i], low)", "x[i], fmaxf(low, -100.0f))")),
        mutant("low never infinite", kinds.WRONG, ("x[i], low)", "x[i], fmaxf(low, -3.4e38f))")),
        mutant("high never infinite", kinds.WRONG, (", high)", ", fminf(high, 3.4e38f))")),
        mutant("stride 0", kinds.ENDLESS_LOOP, ("gridDim.x * blockDim.x", "0")),
        mutant("no low", kinds.WRONG, ("fmaxf(x[i], low)", "x[i]")),
        mutant("ends swapped", kinds.WRONG, ("fminf(fmaxf(x[i], low), high)", "low")),
        mutant("one too far", kinds.OUT_OF_BOUNDS, ("i < n", "i <= n")),
        mutant("starts at block 1", kinds.PARTLY_WRITTEN, ("i = first", "i = first + 256")),
    ),
)


REVERSED_COPY = Exercise(
    id="04.reversed_copy",
    title="read from the other end",
    task="""
Copy `x` to `y` in reverse order: the first element of `y` is the last of `x`. Each thread copies
one element. Where does the last thread read?
""",
    source="04_first_kernels/exercises/reversed_copy.cu",
    kernel="reversed_copy",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=lambda given: {"y": given["x"][::-1]},
    exact=True,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=4096),
        means.a_thread_each(size=4096),
    ),
    hints=(
        "Write down the pairs for n = 4: y[0] comes from x[3], y[1] from x[2]; their sum is n - 1.",
        "Guard first: only threads with `i < n` may read or write.",
        "`if (i < n) { y[i] = x[n - 1 - i]; }`",
    ),
    explanation="""
`i` and `n - 1 - i` always add up to `n - 1`. Counting from zero is what makes it `n - 1` and not
`n`: `x[n]` does not exist.
""",
    mutants=(
        mutant("n for n - 1", kinds.OUT_OF_BOUNDS, ("x[n - 1 - i];", "x[n - i];")),
        mutant("not reversed", kinds.REVERSED, ("x[n - 1 - i];", "x[i];")),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("one early", kinds.OFF_BY_ONE, ("x[n - 1 - i];", "x[max(n - 2 - i, 0)];")),
        mutant(
            "every thread does it all",
            kinds.MEANS_MISSING,
            ("if (i < n) {", "for (int k = 0; k < n; ++k) {"),
            ("y[i] = x[n - 1 - i];", "y[k] = x[n - 1 - k];"),
        ),
        mutant(
            "one thread does it all",
            kinds.MEANS_MISSING,
            ("const int i = blockIdx.x * blockDim.x + threadIdx.x;", "int i = 0;"),
            ("if (i < n) {", "if (blockIdx.x + threadIdx.x == 0) for (; i < n; ++i) {"),
        ),
        mutant("a short index", kinds.OUT_OF_BOUNDS, ("const int i", "const short i")),
        mutant("plus zero", kinds.WRONG, ("x[n - 1 - i];", "x[n - 1 - i] + 0.0f;")),
        mutant(
            "half of the threads",
            kinds.MEANS_MISSING,
            ("if (i < n) {", "if (i < (n + 1) / 2) {\n        y[n - 1 - i] = x[i];"),
        ),
        mutant("half of it", kinds.PARTLY_WRITTEN, ("i < n", "i < n && i % 2 == 0")),
    ),
)
