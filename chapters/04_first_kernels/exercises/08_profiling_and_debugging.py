"""The exercises of "Profiling and debugging"."""

from __future__ import annotations

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises import (
    Ask,
    Exercise,
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
from course_utils.exercises.vectors import BLOCK, FULL, SMALL, one_thread_each, spare_blocks

PREDICT_COUNTERS = NumberExercise(
    id="04.predict_counters",
    title="predict what the profiler will say",
    task="""
`x` and `y` both begin at the edge of a sector of 32 bytes. Blocks have 256 threads. Predict four
counters before you run the cell; the emulator counts.
""",
    source="04_first_kernels/exercises/shifted_axpy.cu",
    kernel="shifted_axpy",
    inputs=lambda rng, size: {
        "a": np.float32(2.0),
        "x": floats(rng, size[0] + size[1]),
        "y": floats(rng, size[0]),
        "shift": np.int32(size[1]),
        "n": np.int32(size[0]),
    },
    launch=lambda size: one_thread_each(size[0]),
    asks={
        "ffma": Ask(
            "n = 1000, shift 0: smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
            (1000, 0),
            lambda counts: counts.operations.get("ffma", 0),
            {
                1024: "That is the number of threads; the guard lets fewer of them through.",
                2000: "An FMA is one instruction for a product and a sum; ncu counts it once.",
                32: "That is what warps execute. `thread_inst` counts the threads that take part.",
            },
        ),
        "load_requests": Ask(
            "n = 1000, shift 0: l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
            (1000, 0),
            lambda counts: counts.global_load_requests,
            {
                32: "Each warp loads from x and from y.",
                62: "Round up: the last warp has 8 elements, and asks for them like any other.",
                2000: "A request is made by a whole warp, not by a thread.",
                64000: "A request is made by a whole warp, not by a thread.",
            },
        ),
        "load_sectors": Ask(
            "n = 1000, shift 0: l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
            (1000, 0),
            lambda counts: counts.global_load_sectors,
            {
                125: "That is x alone.",
                256: "The last warp has 8 elements: how many sectors are those?",
                375: "Loads only: the store of y is another counter.",
            },
        ),
        "shifted_sectors": Ask(
            "n = 1000, shift 1: the same counter",
            (1000, 1),
            lambda counts: counts.global_load_sectors,
            {
                250: "The 32 floats of a warp now begin 4 bytes behind an edge and end behind one.",
                251: "Every warp begins behind an edge and ends behind another, not just one.",
                285: "The last warp has 8 elements only: 32 bytes, across one edge.",
                314: "Only x is shifted.",
            },
        ),
    },
    hints=(
        "1000 elements are 31 full warps and one with 8 lanes.",
        "A request is one warp's load: two loads, 32 warps.",
        "1000 floats are 4000 bytes: divide by 32.",
        "Shifted by 4 bytes, a full warp's 128 bytes touch 5 sectors; the last warp's 32 bytes "
        "touch 2.",
    ),
    explanation="""
Requests count warps, sectors count memory, `thread_inst` counts threads: say which before you read
a number. A shift by one element costs the SM a quarter more sectors of `x`. (Most of the extra ones
are in a cache by then, because the neighbouring warp asks for them too.)
""",
    mutants=(
        mutant("threads, not elements", kinds.WRONG_NUMBER, ("ffma = 1000", "ffma = 1024")),
        mutant("one array", kinds.WRONG_NUMBER, ("load_requests = 64", "load_requests = 32")),
        mutant(
            "shift costs nothing",
            kinds.WRONG_NUMBER,
            ("shifted_sectors = 282", "shifted_sectors = 250"),
        ),
        mutant("dots left", kinds.WRONG_TYPE, ("load_sectors = 250", "load_sectors = ...")),
    ),
)


def gelu(given: dict) -> dict[str, np.ndarray]:
    """GELU, by the formula with tanh."""
    v = given["x"].astype(np.float64)
    return {"y": 0.5 * v * (1 + np.tanh(0.7978846 * (v + 0.044715 * v**3)))}


def double_operations(counts: Counts) -> int:
    """Additions, multiplications and both in one, in float64, by all threads."""
    return sum(counts.operations.get(name, 0) for name in ("dadd", "dmul", "dfma"))


def wide_instructions(work: WorkDone) -> int:
    """All others in float64 too: conversions, comparisons, divisions."""
    return sum(n for name, n in work.counts.opcodes.items() if ".f64" in name)


FIND_THE_DOUBLES = Exercise(
    id="04.find_the_doubles",
    title="find the bug: right, and slow",
    task="""
The result is right, memory is read and written in the best order, and on many GPUs the kernel is
still far slower than a copy. All arrays are `float`. Run the cell as it is: a counter says what the
threads do that nobody asked for. Bring it to zero.
""",
    source="04_first_kernels/exercises/gelu.cu",
    kernel="gelu",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=gelu,
    launch=one_thread_each,
    small=(1000, 257, 31, 1),
    full=FULL,
    reduction=lambda n: 16,
    bug=kinds.TARGET_MISSED,
    promises=Promises(
        # Of negative numbers alone, equal or few, 1 + tanh leaves no six digits.
        sizes=promises.lengths(least=31),
        launches=spare_blocks,
        values=(
            promises.data(
                "x",
                promises.ZEROS,
                promises.POSITIVE,
                promises.NEGATIVE,
                promises.TIES,
                promises.RISING,
                promises.MIDDLING,
                promises.LARGE,
                promises.SMALL,
                promises.SOME_NAN,
            ),
        ),
    ),
    means=(
        Means(
            "instructions on 64-bit floating-point numbers",
            wide_instructions,
            at_most=0,
            advice="A conversion or a comparison of doubles is 64-bit work, too: `0.5f`, `tanhf`.",
            size=1024,
        ),
        means.one_store_each(),
        means.work_shared_out(size=1024),
    ),
    target=Target(
        label="operations in float64, by all threads",
        measure=double_operations,
        at_most=0,
        advice="The result is right. What type has a number such as `0.5` in C++?",
        size=1000,
    ),
    hints=(
        "`profile(…).ncu` lists dadd, dmul and dfma: additions and products of 64-bit numbers.",
        "In C++ `0.5` is a `double`. `0.5 * v` turns v into a double first; then the rest follows.",
        "`0.5f` is a float. All four numbers need their `f`.",
        "`tanh` of a double is a double's function; `tanhf` is the float's.",
        "`y[i] = 0.5f * v * (1.0f + tanhf(inner));`",
    ),
    explanation="""
One forgotten `f` and the compiler does what C++ demands: it widens, computes with 64 bits, and
rounds back. GPUs for graphics do float64 at a 64th of the speed of float32; an H200 does it at
half, and still has the conversions to make.
""",
    mutants=(
        mutant("a half in double", kinds.TARGET_MISSED, ("0.5f * v", "0.5 * v")),
        mutant("a one in double", kinds.TARGET_MISSED, ("(1.0f +", "(1.0 +")),
        mutant("cube in double", kinds.TARGET_MISSED, ("0.044715f", "0.044715")),
        mutant("tanh in double", kinds.TARGET_MISSED, ("tanhf(inner)", "tanh((double)inner)")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("a square for the cube", kinds.WRONG, ("v * v * v", "v * v")),
        mutant("not halved", kinds.SCALED, ("0.5f * v", "v")),
        mutant(
            "a comparison in double",
            kinds.MEANS_MISSING,
            ("y[i] = 0.5f", "y[i] = v > 1e300 ? v : 0.5f"),
        ),
    ),
)


def smoothed(given: dict) -> dict[str, np.ndarray]:
    """The mean of three neighbours; the ends are repeated."""
    x = np.pad(given["x"].astype(np.float64), 1, mode="edge")
    return {"y": (x[:-2] + x[1:-1] + x[2:]) / 3}


FIND_THE_EDGE = Exercise(
    id="04.find_the_edge",
    title="find the bug: it never failed",
    task="""
This kernel has its guard, and it has run for years without an error message. Run the cell as it is,
read the verdict, and fix one line.
""",
    source="04_first_kernels/exercises/smooth.cu",
    kernel="smooth",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=smoothed,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    bug=kinds.OUT_OF_BOUNDS,
    promises=Promises(
        sizes=promises.lengths(),
        values=(
            promises.data("x", *promises.ANY_FINITE, promises.SOME_NAN, promises.LAST_INFINITE),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=1024),
        means.loads_shared_out(size=1024),
    ),
    hints=(
        "The verdict names one thread and one element. What is `i` in that thread?",
        "The guard lets `i = n - 1` through, and that thread reads `x[i + 1]`.",
        "Inside the guard `i < n` is always true. Which `i` is the last with a right neighbour?",
        "`const float right = i < n - 1 ? x[i + 1] : x[n - 1];`",
    ),
    explanation="""
The guard protects `x[i]`, not `x[i + 1]`: every index needs a thought of its own. On a GPU the
element behind the array is nearly always mapped memory, so nothing stops the read, and one element
of the result is wrong by a little.
""",
    mutants=(
        mutant("reads past the end", kinds.OUT_OF_BOUNDS, ("i < n - 1 ?", "i < n ?")),
        mutant("reads before the start", kinds.OUT_OF_BOUNDS, ("i > 0 ?", "i >= 0 ?")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("zero at the end", kinds.EDGES, (": x[n - 1];", ": 0.0f;")),
        mutant("not a mean", kinds.SCALED, (" / 3.0f", "")),
        mutant("left twice", kinds.WRONG, ("+ x[i] + right", "+ x[i] + left")),
        mutant("a short index", kinds.OUT_OF_BOUNDS, ("const int i", "const short i")),
    ),
)


FIND_THE_GARBAGE = Exercise(
    id="04.find_the_garbage",
    title="find the bug: only now and then",
    task="""
Each block adds up its 256 floats. The sums are right for every n that is a multiple of 256, and
often for others too, depending on which kernel ran before. Run the cell as it is, read the verdict,
and fix the kernel.
""",
    source="04_first_kernels/exercises/block_sums.cu",
    kernel="block_sums",
    inputs=lambda rng, n: {"x": floats(rng, n), "sums": empty(-(-n // BLOCK)), "n": np.int32(n)},
    reference=lambda given: {
        "sums": np.add.reduceat(given["x"].astype(np.float64), np.arange(0, len(given["x"]), BLOCK))
    },
    launch=one_thread_each,
    small=(1000, 257, 255, 1),
    full=FULL + 1,
    reduction=lambda n: BLOCK,
    bug=kinds.UNINITIALISED,
    promises=Promises(
        sizes=promises.lengths(),
        # Not rising or falling: those sums cancel.
        values=(
            promises.data(
                "x",
                promises.NEGATIVE,
                promises.POSITIVE,
                promises.EQUAL,
                promises.TIES,
                promises.MIDDLING,
                promises.SMALL,
                promises.FAINT,
                promises.LARGE,
                promises.ZEROS,
                promises.SOME_NAN,
                promises.LAST_INFINITE,
            ),
        ),
    ),
    means=(
        means.loads_shared_out(size=1024),
        means.reads_each_once(4 * 1024, size=1024),
        # In a tree, thread 0 does six times what the others do.
        means.work_shared_out(20.0, size=1024),
    ),
    hints=(
        "The verdict names an element of the tile. Which thread should have filled it?",
        "With n = 1000 the last block has 232 elements, and the loop adds up 256 of the tile.",
        "A thread with no element of x still has an element of the tile. What may stand there "
        "without changing the sum?",
        "`tile[t] = i < n ? x[i] : 0.0f;`",
    ),
    explanation="""
Shared memory is uninitialised: it begins with whatever the last block on that SM left there: often
zeros, often the tile of the same kernel, and then the sum is only a little wrong. Every element of
the tile gets a value before the barrier, and 0, the identity, is the one that changes no sum.
""",
    mutants=(
        mutant(
            "not filled",
            kinds.UNINITIALISED,
            ("tile[t] = i < n ? x[i] : 0.0f;", "if (i < n) tile[t] = x[i];"),
        ),
        mutant("reads past the end", kinds.OUT_OF_BOUNDS, ("i < n ? x[i] : 0.0f", "x[i]")),
        mutant("filled with ones", kinds.EDGES, (": 0.0f;", ": 1.0f;")),
        mutant(
            "a product for the guard",
            kinds.NOT_A_NUMBER,
            ("i < n ? x[i] : 0.0f", "x[min(i, n - 1)] * (i < n)"),
        ),
        mutant("filled with very little", kinds.WRONG, (": 0.0f;", ": 1e-30f;")),
        mutant("NaN left out", kinds.WRONG, ("i < n ?", "i < n && x[i] == x[i] ?")),
        mutant(
            "one thread adds",
            kinds.MEANS_MISSING,
            (
                "        sums[blockIdx.x] = tile[0];",
                "        float sum = 0.0f;\n"
                "        for (int k = i; k < n && k < i + kBlock; ++k) {\n"
                "            sum += x[k];\n        }\n        sums[blockIdx.x] = sum;",
            ),
        ),
        mutant(
            "returns early",
            kinds.BARRIER,
            ("tile[t] = i < n ? x[i] : 0.0f;", "if (i >= n) return;\n    tile[t] = x[i];"),
        ),
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            ("__syncthreads();  // the tile is complete", "// the tile is complete"),
        ),
        mutant(
            "no barrier in the loop",
            kinds.DATA_RACE,
            ("__syncthreads();  // everybody", "// everybody"),
        ),
    ),
)
