"""The exercises of "Why GPUs?"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Ask,
    Cases,
    Exercise,
    NumberExercise,
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
from course_utils.exercises.vectors import BLOCK, FULL, SMALL, one_thread_each, spare_blocks


def crowd(rng: np.random.Generator) -> tuple[int, int, int]:
    """Jobs, workers and seconds; often as many jobs as fill some rounds, or one more or fewer.

    So few rounds that they can be gone through one by one."""
    workers = int(rng.integers(1, 10 ** rng.integers(1, 7)))
    rounds = int(rng.integers(0, 10 ** rng.integers(1, 5)))
    over = int(rng.choice([-1, 0, 1, workers // 2]))
    return max(workers * rounds + over, 0), workers, int(rng.integers(1, 10 ** rng.integers(1, 11)))


FINISH_TIME = PythonExercise(
    id="03.finish_time",
    title="when is the crowd done?",
    task="""
Write the Python function behind the picture: when is the last of `jobs` jobs done? Try it on paper
with 24 and then with 25 jobs for 8 workers that need 4 seconds each. The numbers may be huge, but
there are at most 10,000 jobs for each worker.
""",
    source="03_gpu_introduction/exercises/finish_time.py",
    function="finish_time",
    cases=(
        (24, 8, 4),
        (25, 8, 4),
        (24, 1, 1),
        (3, 8, 4),
        (0, 8, 4),
        (10**18 + 1, 10**15, 3),
        (10**40 + 1, 10**37, 3),
        (100, 7, 10**20 + 1),
        (10, 3, 10**100 + 1),
        (70_000, 7, 2),
    ),
    reference=lambda jobs, workers, seconds: -(-jobs // workers) * seconds,
    promises=Cases(crowd),
    means="Any formula that is right for whole numbers of every size is a good one.",
    hints=(
        "The workers go in rounds. In each round all of them finish a job at the same moment.",
        "24 jobs are 3 rounds of 8. The 25th job needs a round of its own.",
        "Rounds are `jobs / workers`, rounded up: `(jobs + workers - 1) // workers`.",
        "`return (jobs + workers - 1) // workers * seconds`",
    ),
    explanation="""
The latency, `seconds`, is paid once a round; the number of rounds depends on how many jobs there
are for each worker. The same formula counts the rounds in which a GPU executes its blocks: the next
notebook calls them waves.
""",
    mutants=(
        mutant("rounds down", kinds.WRONG, ("(jobs + workers - 1) // workers", "jobs // workers")),
        mutant(
            "no rounding", kinds.WRONG_TYPE, ("(jobs + workers - 1) // workers", "jobs / workers")
        ),
        mutant(
            "one round too many", kinds.WRONG, ("(jobs + workers - 1) //", "(jobs + workers) //")
        ),
        mutant("rounds only", kinds.WRONG, (" * seconds", "")),
        mutant(
            "by way of a float",
            kinds.WRONG,
            ("(jobs + workers - 1) // workers", "-int(-jobs / workers // 1)"),
        ),
        mutant(
            "by way of a long double",
            kinds.WRONG,
            (
                "return (jobs + workers - 1) // workers * seconds",
                "import numpy as np\n\n"
                "    return int(np.ceil(np.longdouble(jobs) / np.longdouble(workers))) * seconds",
            ),
        ),
        mutant("at most 10³⁰ seconds", kinds.WRONG, (" * seconds", " * min(seconds, 10**30)")),
        mutant("only some seconds", kinds.WRONG, (" * seconds", " * min(seconds, 4)")),
        mutant("all in a row", kinds.WRONG, ("(jobs + workers - 1) // workers", "jobs")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


HYPOTENUSE = Exercise(
    id="03.hypotenuse",
    title="from a loop to threads",
    task="""
The comment shows a loop in C. Turn it into a kernel: one thread for each iteration of the loop. The
launch has whole blocks of 256 threads, so when `n` is no multiple of 256 some threads have no
iteration to do. `sqrtf` is the square root of a float.
""",
    source="03_gpu_introduction/exercises/hypotenuse.cu",
    kernel="hypotenuse",
    inputs=lambda rng, n: {
        "a": floats(rng, n),
        "b": floats(rng, n),
        "c": empty(n),
        "n": np.int32(n),
    },
    reference=lambda given: {
        "c": np.hypot(given["a"].astype(np.float64), given["b"].astype(np.float64))
    },
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            (  # not both at once: the root of inf² + NaN² is NaN, and hypotf says inf
                *promises.data("a", *promises.ORDINARY, promises.SOME_INFINITE, promises.SOME_NAN),
                *promises.data("b", promises.SOME_INFINITE, promises.SOME_NAN),
            ),
            promises.data("b", *promises.ORDINARY, promises.ZEROS),
            promises.data("a b", promises.SMALL, promises.VERY_SMALL, promises.ZEROS),
        ),
    ),
    means=(
        means.no_extra_work(5),
        means.a_thread_each(size=20 * BLOCK),
        means.no_surplus_threads(),
        means.work_shared_out(size=20 * BLOCK),
    ),
    target=Target(
        label="elements stored for each result",
        measure=lambda counts: counts.global_store_bytes / 4 / 512,
        at_most=4.0,  # c[i] = a[i] * a[i]; c[i] += b[i] * b[i]; ... is slow, but no loop
        advice="The result is right, but every thread goes through the whole loop. Let each thread "
        "do one iteration only, its own.",
        size=512,
    ),
    hints=(
        "`celsius` above has the same three lines: which iteration is mine, does it exist, do it.",
        "`const int i = blockIdx.x * blockDim.x + threadIdx.x;` is this thread's iteration.",
        "The loop ran while `i < n`. Here the same condition stands in an `if`.",
        "`if (i < n) { c[i] = sqrtf(a[i] * a[i] + b[i] * b[i]); }`",
    ),
    explanation="""
The body of the loop did not change at all. `for` became a launch, its `i` became a number that each
thread computes for itself, and its condition became an `if`. This works because no iteration of the
loop needs the result of another.
""",
    mutants=(
        mutant(
            "the last element once more by each surplus thread",
            kinds.MEANS_MISSING,
            (
                "= blockIdx.x * blockDim.x + threadIdx.x;",
                "= min(int(blockIdx.x * blockDim.x + threadIdx.x), n - 1);",
            ),
        ),
        mutant("no bounds guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("<= for <", kinds.OUT_OF_BOUNDS, ("i < n) {", "i <= n) {")),
        mutant(
            "local index",
            kinds.FIRST_BLOCK,
            ("blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x"),
        ),
        mutant(
            "a little more under the root",
            kinds.WRONG,
            ("        c[i] = sqrtf(", "        c[i] = sqrtf(1e-20f + "),
        ),
        mutant(
            "no root",
            kinds.WRONG,
            ("        c[i] = sqrtf(", "        c[i] = ("),
        ),
        mutant(
            "an infinite b cut",
            kinds.WRONG,
            ("b[i] * b[i]);\n", "fminf(b[i] * b[i], 1e20f));\n"),
        ),
        mutant(
            "a b of NaN dropped",
            kinds.WRONG,
            ("b[i] * b[i]);\n", "fmaxf(b[i] * b[i], 0.0f));\n"),
        ),
        mutant("a twice", kinds.WRONG, ("b[i] * b[i]);\n", "a[i] * a[i]);\n")),
        mutant("last iteration missed", kinds.EDGES, ("i < n) {", "i < n - 1) {")),
        mutant("never stores", kinds.NOTHING_WRITTEN, ("    c[i] =", "    float side =")),
        mutant(
            "one thread for all",
            kinds.MEANS_MISSING,
            ("    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n", ""),
            (
                "if (i < n) {",
                "for (int i = 0; i < n && blockIdx.x + threadIdx.x == 0; ++i) {",
            ),
        ),
        mutant("a short index", kinds.OUT_OF_BOUNDS, ("const int i", "const short i")),
        mutant(
            "the loop kept",
            kinds.TARGET_MISSED,
            ("    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n", ""),
            ("if (i < n) {", "for (int i = 0; i < n; ++i) {"),
        ),
    ),
)


PREDICT_TRAFFIC = NumberExercise(
    id="03.predict_traffic",
    title="predict the traffic",
    task="""
`celsius` runs on 1000 temperatures, in 4 blocks of 256 threads. Predict how many bytes it reads
and writes in the device's memory, and how many floating-point operations it makes. Then run the
cell: the emulator counts.
""",
    source="03_gpu_introduction/celsius.cu",
    kernel="celsius",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    launch=one_thread_each,
    asks={
        "bytes_read": Ask(
            "bytes that the threads read from x",
            1000,
            lambda counts: counts.global_load_bytes,
            {
                1000: "That is the number of floats. How many bytes does a float of 32 bits have?",
                4096: "1024 threads are launched, but the last 24 have no element to read.",
                8000: "Reading and writing together; here only the reading is asked for.",
                32000: "Those are bits. A byte has 8 of them.",
            },
        ),
        "bytes_written": Ask(
            "bytes that the threads write to y",
            1000,
            lambda counts: counts.global_store_bytes,
            {
                1000: "That is the number of floats. How many bytes does a float of 32 bits have?",
                4096: "1024 threads are launched, but the last 24 have no element to write.",
                8000: "Reading and writing together; here only the writing is asked for.",
                32000: "Those are bits. A byte has 8 of them.",
            },
        ),
        "flops": Ask(
            "floating-point operations",
            1000,
            lambda counts: counts.flops,
            {
                1000: "One element takes a subtraction and a multiplication.",
                3000: "5 / 9 is known when the kernel is compiled: no thread divides.",
                2048: "The threads without an element compute nothing.",
            },
        ),
    },
    hints=(
        "Only threads with `i < n` read, compute and write.",
        "A float has 32 bits, and a byte has 8.",
        "`x[i] - 32.0f` is one operation, `* (5.0f / 9.0f)` another; the compiler divides 5 by 9.",
    ),
    explanation="""
Each element takes 4 bytes in, 4 bytes out and 2 operations: a quarter of an operation for each
byte. An H200 can make 14 operations in fp32 in the time in which its memory delivers a byte, and
cards with slower memory more (both from data sheets), so here the arithmetic waits for the memory.
The last notebook of this chapter makes a picture of that.
""",
    mutants=(
        mutant("floats for bytes", kinds.WRONG_NUMBER, ("bytes_read = 4000", "bytes_read = 1000")),
        mutant("all threads", kinds.WRONG_NUMBER, ("bytes_written = 4000", "bytes_written = 4096")),
        mutant("a division", kinds.WRONG_NUMBER, ("flops = 2000", "flops = 3000")),
        mutant("dots left", kinds.WRONG_TYPE, ("flops = 2000", "flops = ...")),
        mutant("renamed", kinds.WRONG_NAME, ("bytes_read = 4000", "read = 4000")),
    ),
)


PEAK_TFLOPS = PythonExercise(
    id="03.peak_tflops",
    title="where a peak comes from",
    task="""
The peak in a data sheet is a multiplication. Write it: from the number of multiprocessors, the
lanes of each, and the clock in GHz, the TFLOP/s of fused multiply-adds.
""",
    source="03_gpu_introduction/exercises/peak_tflops.py",
    function="peak_tflops",
    cases=(
        (132, 128, 1.98),
        (108, 64, 1.41),
        (80, 64, 1.53),
        (16, 8, 1.35),
        (1, 1, 1.0),
        (4000, 4096, 12.5),
    ),
    reference=lambda multiprocessors, lanes, gigahertz: (
        2 * multiprocessors * lanes * gigahertz / 1000
    ),
    promises=Cases(
        lambda rng: (
            int(rng.integers(1, 10 ** rng.integers(1, 4))),
            int(rng.integers(1, 10 ** rng.integers(1, 4))),
            float(rng.uniform(0.01, 5)),
        )
    ),
    means="Any formula that is right is a good one.",
    hints=(
        "In one clock cycle, all lanes of all multiprocessors together finish how many FMAs?",
        "An FMA multiplies and adds: two floating-point operations.",
        "Giga is 10^9 and tera 10^12: divide by 1000.",
        "`return 2 * multiprocessors * lanes * gigahertz / 1000`",
    ),
    explanation="""
132 multiprocessors with 128 lanes at 1.98 GHz give the 66.9 TFLOP/s of an H100 in the table.
Nobody measured that number: it is what would happen if every lane made an FMA in every cycle. Few
kernels come near it; the last notebook of this chapter shows what stops the others.
""",
    mutants=(
        mutant("an FMA counted once", kinds.WRONG, ("2 * multiprocessors", "multiprocessors")),
        mutant("gigaflops", kinds.WRONG, (" / 1000", "")),
        mutant(
            "128 lanes at most",
            kinds.WRONG,
            ("multiprocessors * lanes", "multiprocessors * min(lanes, 128)"),
        ),
        mutant(
            "5 GHz at most",
            kinds.WRONG,
            ("flops_per_cycle * gigahertz", "flops_per_cycle * min(gigahertz, 5)"),
        ),
        mutant("whole numbers", kinds.WRONG, ("/ 1000", "// 1000")),
        mutant(
            "an int",
            kinds.WRONG_TYPE,
            ("flops_per_cycle * gigahertz / 1000", "int(flops_per_cycle)"),
        ),
        mutant("no clock", kinds.WRONG, (" * gigahertz", " * 1.0")),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)
