"""The exercises of "Divergence, fusion, occupancy"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_utils.emulator import Counts
from course_utils.exercises import (
    Cases,
    Exercise,
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
from course_utils.exercises.promises import AS_GIVEN, Values
from course_utils.exercises.vectors import FULL, SMALL, one_thread_each, spare_blocks
from course_utils.observing.occupancy_calculator import Occupancy, Resources


def after_rounds(given) -> dict:
    """The two series of 04.one_way, in float64."""
    x, rounds = given["x"].astype(np.float64), int(given["rounds"])
    first, second = x, x
    for _ in range(rounds):
        first = 0.95 * first + 1.0
    for _ in range(rounds + 8):
        second = 0.9 * second - 1.0
    return {"y": np.where(x < 0, second, first)}


def warp_instructions_per_warp(warps: int) -> Callable[[Counts], float]:
    """What a launch of ``warps`` warps spends on each of them."""
    return lambda counts: counts.warp_instructions / warps


ONE_WAY = Exercise(
    id="04.one_way",
    title="one path for all",
    task="""
The kernel is right, but the sign of its number sends a thread into one of two loops, and signs are
mixed. There is no need to rearrange anything, and every round stays a product and a sum: look at
how the two loops differ. With 16 rounds, a warp may spend at most 90 instructions.
""",
    source="04_first_kernels/exercises/one_way.cu",
    kernel="one_way",
    inputs=lambda rng, n: {
        "x": 4 * floats(rng, n),
        "y": empty(n),
        "rounds": np.int32(16),
        "n": np.int32(n),
    },
    reference=after_rounds,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 600,  # up to 308 rounds, each with a factor that is rounded
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            promises.data(
                "x", promises.ZEROS_OF_BOTH_SIGNS, promises.SMALLEST_NORMAL, *promises.ANY_FINITE
            ),
            promises.scalars("rounds", 0, 1, 7, 17, 300),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=1024),
        means.instructions(
            "multiplications with an addition",
            "fma.",
            "mul.",
            at_least=16 * 1024,
            advice="The rounds stay: each is a product and a sum.",
            size=1024,
        ),
    ),
    target=Target(
        label="instructions of a warp",
        measure=warp_instructions_per_warp(32),
        at_most=90,
        advice="Choose rounds, factor and term first, with `?:`; then one loop for all threads.",
        size=1024,
    ),
    hints=(
        "The loops differ in three numbers: how many rounds, the factor, and what is added.",
        "`condition ? a : b` selects a number without a branch.",
        "`const int trips = v < 0.0f ? rounds + 8 : rounds;`; the factor and the term likewise.",
        "Decide before the loop: a condition inside it costs instructions in every round.",
        "`for (int round = 0; round < trips; ++round) { v = factor * v + term; }`",
    ),
    explanation="""
The lanes with 16 rounds are inactive in the last 8, so the warp executes 24 rounds in place of 16 +
24: the longest path, and no longer the sum of both. That works whenever two paths differ in numbers
only.
""",
    mutants=(
        mutant(
            "still two paths",
            kinds.TARGET_MISSED,
            (
                "for (int round = 0; round < trips; ++round) {",
                "if (negative) { for (int round = 0; round < trips; ++round) { v = 0.9f * v - 1.0f;"
                " } } else for (int round = 0; round < trips; ++round) {",
            ),
        ),
        mutant("as many rounds for all", kinds.WRONG, ("negative ? rounds + 8 : rounds", "rounds")),
        mutant("paths swapped", kinds.WRONG, ("v < 0.0f;", "v >= 0.0f;")),
        mutant("one factor", kinds.WRONG, ("negative ? 0.9f : 0.95f", "0.95f")),
        mutant("by lane, not by sign", kinds.WRONG, ("negative = v < 0.0f", "negative = i % 2")),
        mutant("16 rounds always", kinds.WRONG, ("rounds + 8 : rounds", "24 : 16")),
        mutant("by the sign bit", kinds.WRONG, ("v < 0.0f", "__float_as_int(v) < 0")),
        mutant("0 with the negative ones", kinds.WRONG, ("v < 0.0f", "v <= 0.0f")),
        mutant("72 rounds and no more", kinds.WRONG, ("round < trips", "round < min(trips, 72)")),
        mutant("hardly negative ones", kinds.WRONG, ("v < 0.0f", "v < -1e-30f")),
    ),
)


def any_chain(rng: np.random.Generator) -> tuple[int, list[tuple[str, ...]]]:
    """One to twelve links, each of which reads up to three arrays; some names begin alike."""
    names = np.array(["x", "X", "x2", "bias", "bias_2", "scale"])

    def link() -> tuple[str, ...]:
        return tuple(map(str, rng.permutation(names)[: rng.integers(4)]))

    links = [link() for _ in range(rng.integers(1, 13))]
    return int(2 ** rng.uniform(0, 70)), links


CHAIN_BYTES = PythonExercise(
    id="04.chain_bytes",
    title="predict the bytes of a chain",
    task="""
How many bytes does a chain of element-wise kernels move, and how many are left when it is fused?
Write the count that you made by hand as a function. Our chain is `[("x",), (), (), ("x",)]`: the
last link reads `x` once more, beside what the third one made. It has 36 and 8 bytes an element. No
link names an array twice, and `n` may be of any size.
""",
    source="04_first_kernels/exercises/chain_bytes.py",
    function="chain_bytes",
    cases=(
        (1000, [("x",), (), (), ("x",)]),
        (257, [("x",)]),
        (10, [("x", "y")]),
        (1 << 20, [("x",), ("bias",), ("x", "residual"), ("bias",)]),
        (7, [("a", "b"), ("c",), (), (), ()]),
        (100, [(), ("x",)]),
        (3, [("x",), *[(f"bias{k}", "x") for k in range(200)]]),
        (5, [("x",), *[()] * 300]),
        (0, [("x",), ()]),
        (1000, [(), ()]),
    ),
    promises=Cases(any_chain),
    means="Any way to count that is right is a good one.",
    reference=lambda n, links: (
        4 * n * (sum(map(len, links)) + 2 * len(links) - 1),
        4 * n * (len({name for names in links for name in names}) + 1),
    ),
    hints=(
        "Begin with separate kernels: link k reads its named arrays, writes one, and, if it is not "
        "the first, reads the result of the link before.",
        "Our chain: 2, 2, 2 and 3 arrays, each of 4 n bytes.",
        "Fused, only arrays with a name are read, each once, and only the last result is written.",
        "`{name for names in links for name in names}` is the set of different names.",
    ),
    explanation="""
For each link that is fused with the one before, a write and a read vanish: 8 bytes an element.
Reading an array once that several links need is a second gain. Neither depends on what the links
compute.
""",
    mutants=(
        mutant(
            "names that begin alike",
            kinds.WRONG,
            ("{name for names in links", "{name[0] for names in links"),
        ),
        mutant(
            "names counted twice",
            kinds.WRONG,
            (
                "{name for names in links for name in names}",
                "[name for names in links for name in names]",
            ),
        ),
        mutant(
            "by way of a float",
            kinds.WRONG,
            ("4 * n * separate, 4 * n", "int(4.0 * n * separate), 4 * n"),
        ),
        mutant(
            "large and small letters alike",
            kinds.WRONG,
            ("{name for names in links", "{name.lower() for names in links"),
        ),
        mutant("no hand-over read", kinds.WRONG, ("(1 if k > 0 else 0)", "0")),
        mutant("the first reads one more", kinds.WRONG, ("(1 if k > 0 else 0)", "1")),
        mutant("no result written", kinds.WRONG, ("len(different) + 1", "len(different)")),
        mutant("elements, not bytes", kinds.WRONG, ("4 * n * separate, 4 * n", "n * separate, n")),
        mutant(
            "three arrays at most",
            kinds.WRONG,
            ("len(different) + 1", "min(len(different), 3) + 1"),
        ),
        mutant(
            "an empty link at place 5",
            kinds.WRONG,
            ("(1 if k > 0", "(1 if k > 0 and (names or k != 5)"),
        ),
        mutant("no return", kinds.NOTHING_RETURNED, ("return ", "")),
    ),
)


def gradient_inputs(rng: np.random.Generator, n: int) -> dict:
    x = 2 * floats(rng, n)
    return {
        "dy": floats(rng, n),
        "x": x,
        "s": (1 / (1 + np.exp(-x.astype(np.float64)))).astype(np.float32),
        "dx": empty(n),
        "n": np.int32(n),
    }


def silu_gradient(given) -> dict:
    dy, x = given["dy"].astype(np.float64), given["x"].astype(np.float64)
    s = np.exp(np.minimum(x, 0)) / (1 + np.exp(-np.abs(x)))  # overflows for no x
    return {"dx": dy * s * (1 + x * (1 - s))}


def far_from_zero(given: dict, rng: np.random.Generator) -> dict:
    """x where s is 1 or 0 as a float, and exp(x) or exp(-x) infinite."""
    x = given["x"]
    return {"x": np.copysign(200 + 1e4 * np.abs(x), x)}


def not_so_far(given: dict, rng: np.random.Generator) -> dict:
    """x where s is hardly less than 1, or more than 0, and that little counts."""
    return {"x": np.copysign(rng.uniform(8, 15, len(given["x"])), given["x"])}


def cancelled_by_dy(given: dict, rng: np.random.Generator) -> dict:
    """x where s is next to nothing, and dy so large that dx is not."""
    x = -rng.uniform(20, 60, len(given["x"]))
    return {"x": x, "dy": np.exp(-x) * rng.uniform(0.5, 1, len(x))}


FAR = "x far from 0, on either side"
NEVER_STORED = Values("s never stored", lambda given, rng: {"s": np.full_like(given["s"], np.nan)})

SILU_BACKWARD = Exercise(
    id="04.silu_backward",
    title="recompute it",
    task="""
The gradient of SiLU needs `s = 1 / (1 + exp(-x))`. The forward pass stored it, and this kernel
reads it. Change the kernel so that it need not be stored: at most 12 bytes loaded and stored for
an element, and a right gradient for any finite x.
""",
    source="04_first_kernels/exercises/silu_backward.cu",
    kernel="silu_backward",
    inputs=gradient_inputs,
    reference=silu_gradient,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 16,
    promises=Promises(
        sizes=promises.lengths(),
        launches=spare_blocks,
        values=(
            (
                *promises.data("x", promises.POSITIVE, promises.NEGATIVE, promises.ZEROS),
                *promises.data("x", promises.RISING, promises.SMALL),
                Values(FAR, far_from_zero),
                Values("x from 8 to 15, on either side", not_so_far),
                Values("x near the largest float", lambda g, rng: {"x": np.copysign(1e38, g["x"])}),
                Values("x from -60 to -20, dy about exp(-x)", cancelled_by_dy),
                Values("x from -15 to -8", lambda g, rng: {"x": -rng.uniform(8, 15, len(g["x"]))}),
            ),
            promises.data("dy", promises.NEGATIVE, promises.HUGE, promises.SMALL),
            (AS_GIVEN, NEVER_STORED),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(size=1024)),
    target=Target(
        label="bytes loaded and stored for an element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 1024,
        at_most=12.0,
        advice="x and dy have to be read and dx written. s follows from x, which is there already.",
        size=1024,
    ),
    hints=(
        "The array `s` may stay among the parameters; just do not read it.",
        "x[i] is in the register `value`: everything about s follows from it.",
        "As in chain_silu.cu: `__expf(-value)`.",
        "`const float gate = 1.0f / (1.0f + __expf(-value));`",
    ),
    explanation="""
12 bytes an element in place of 16, and the forward pass writes 4 less: 20 bytes for both passes in
place of 28, for an exponential and a division. The memory for `s` is free as
well, and in training that is often the greater gain.
""",
    mutants=(
        mutant("still stored", kinds.TARGET_MISSED, ("1.0f / (1.0f + __expf(-value))", "s[i]")),
        mutant("sign forgotten", kinds.WRONG, ("__expf(-value)", "__expf(value)")),
        mutant("an own array", kinds.TARGET_MISSED, ("gate = 1", "gate = 0.0f * s[i] + 1")),
        mutant(
            "1 from 10 on",
            kinds.WRONG,
            ("__expf(-value));", "__expf(value > 10.0f ? -99.0f : -value));"),
        ),
        mutant(
            "by a tanh, near -1",
            kinds.PRECISION,
            ("1.0f / (1.0f + __expf(-value))", "0.5f * tanhf(0.5f * value) + 0.5f"),
        ),
        mutant(
            "cut off at -20",
            kinds.WRONG,
            ("const float value = x[i];", "const float value = fmaxf(x[i], -20.0f);"),
        ),
        mutant("only the gate", kinds.WRONG, (" * (1.0f + value * (1.0f - gate))", "")),
        mutant("a short index", kinds.OUT_OF_BOUNDS, ("const int i", "const short i")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= n) {", "if (false) {")),
    ),
)


def closed(given) -> dict:
    """The largest of three neighbours, then the smallest of three of those, in a ring."""
    x = given["x"]
    m = np.maximum(np.maximum(np.roll(x, 1), x), np.roll(x, -1))
    return {"y": np.minimum(np.minimum(np.roll(m, 1), m), np.roll(m, -1))}


CLOSING = Exercise(
    id="04.closing",
    title="fuse what needs its neighbours",
    task="""
Two kernels close small gaps in the outline of a shape. The first computes `m[i] = max(x[i - 1],
x[i], x[i + 1])`, the second `y[i] = min(m[i - 1], m[i], m[i + 1])`; the outline is a ring. Each
loads 3 floats and stores one: 32 bytes for an element. Write one kernel that does both with at most
24. What a thread needs of `m`, its neighbours would have stored; now no thread does.
""",
    source="04_first_kernels/exercises/closing.cu",
    kernel="closing",
    inputs=lambda rng, n: {"x": floats(rng, n), "y": empty(n), "n": np.int32(n)},
    reference=closed,
    launch=one_thread_each,
    small=(1000, 257, 31, 5, 2, 1),
    full=FULL,
    promises=Promises(
        sizes=promises.lengths(),
        values=(promises.data("x", *promises.ANY_ORDERED),),
    ),
    means=(means.one_store_each(), means.work_shared_out(size=1024)),
    target=Target(
        label="bytes loaded and stored for an element",
        measure=lambda counts: (counts.global_load_bytes + counts.global_store_bytes) / 1024,
        at_most=24.0,
        advice="Five different x are needed. Load each into a variable of its own, then compute.",
        size=1024,
    ),
    hints=(
        "m[i - 1] needs x[i - 2], x[i - 1] and x[i]. Which x does y[i] need in all?",
        "Load the five into five variables; `in_ring(i - 2, n)` is the index of the first.",
        "Compute all three m in registers, though each neighbour computes two of them as well.",
        "`fmaxf(fmaxf(a, b), c)` is the largest of three, `fminf(fminf(l, m), r)` the smallest.",
        "Do not forget the guard `if (i < n)`.",
    ),
    explanation="""
Every m is computed three times, by three threads, and never stored: recomputing it is what makes
this fusion possible. The loads of neighbours overlap, and L1 serves most of them; from device
memory come 4 bytes an element and 4 go back, 8 in place of 16. With wider windows a thread would
recompute ever more; then a tile in shared memory, with a halo, is the better home for m.
""",
    mutants=(
        mutant(
            "loads more than once",
            kinds.TARGET_MISSED,
            (
                "const float left = fmaxf(fmaxf(a, b), c);",
                "const volatile float *again = x;\n"
                "        const float left = fmaxf(fmaxf(a, again[in_ring(i - 1, n)]), again[i]);",
            ),
        ),
        mutant("only the largest", kinds.WRONG, ("fminf(fminf(left, middle), right)", "middle")),
        mutant("no ring", kinds.OUT_OF_BOUNDS, ("x[in_ring(i - 2, n)]", "x[i - 2]")),
        mutant("a mirror at the end", kinds.EDGES, ("in_ring(i + 1, n)", "min(i + 1, n - 1)")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant("opening", kinds.WRONG, ("fminf(fminf(left, middle)", "fmaxf(fmaxf(left, middle)")),
        mutant(
            "none above 1e30",
            kinds.WRONG,
            (
                "fminf(fminf(left, middle), right)",
                "fminf(fminf(left, middle), fminf(right, 1e30f))",
            ),
        ),
    ),
)


def resident_blocks(threads: int, registers: int, shared: int) -> int:
    """What the course's own occupancy says."""
    needs = Resources(registers)
    return Occupancy("kernel", "sm_90a", threads, shared, needs).blocks_per_sm


def any_block(rng: np.random.Generator) -> tuple[int, int, int]:
    """A block that is limited by its warps, its registers or its shared memory, or by any."""
    registers = int(rng.integers(1, rng.choice([33, 65, 256])))
    threads = int(rng.integers(1, rng.choice([65, 400, 1025])))
    shared = int(rng.integers(rng.choice([2000, 60_000, 227 * 1024 + 1])))
    if rng.integers(2):  # just at, below or above what fits another time
        room = 228 * 1024 // int(rng.integers(1, 33)) // 128 * 128 - 1024
        shared = max(room + int(rng.integers(-128, 129)), 0)
    return threads, registers, shared


BLOCKS_PER_SM = PythonExercise(
    id="04.blocks_per_sm",
    title="predict the occupancy",
    task="""
Write the function that tells how many blocks fit on an SM: none, if not even one does. Predict
first, on paper: blocks of 256 threads with 40 registers each, and with 41.
""",
    source="04_first_kernels/exercises/blocks_per_sm.py",
    function="blocks_per_sm",
    cases=(
        (256, 40, 0),
        (256, 41, 0),
        (1024, 32, 0),
        (32, 16, 0),
        (100, 32, 4096),
        (32, 80, 0),
        (128, 24, 227 * 1024),
        (256, 16, 28 * 1024),
        (64, 255, 1000),
        (192, 40, 20_000),
    ),
    reference=resident_blocks,
    promises=Cases(any_block, 150),
    means="Any way to the number that is right is a good one.",
    hints=(
        "Work out four numbers of blocks and return the smallest.",
        "Warps of a block: `(threads + 31) // 32`; `-(-a // b)` is a shorter way to round up.",
        "Registers of a warp: 32 times those of a thread, rounded up to a multiple of 256. 40 "
        "registers make 1280, 41 make 1536.",
        "A part of the SM holds `16384 // registers_of_warp` warps, and there are four parts.",
        "Shared memory of a block: `shared + 1024`, rounded up to a multiple of 128.",
    ),
    explanation="""
One register more, from 40 to 41, and 6 blocks become 5: resources are allocated in coarse units, so
occupancy falls in steps. `occupancy` does the same arithmetic with the registers of your kernel.
""",
    mutants=(
        mutant("1000 bytes more", kinds.WRONG, ("shared + 1024", "shared + 1000")),
        mutant("warps not whole", kinds.WRONG, ("-(-threads // 32)", "threads // 32")),
        mutant(
            "registers not rounded",
            kinds.WRONG,
            ("-(-registers * 32 // 256) * 256", "registers * 32"),
        ),
        mutant(
            "one large file of registers",
            kinds.WRONG,
            ("4 * (16384 // registers_of_warp)", "65536 // registers_of_warp"),
        ),
        mutant("no share for the system", kinds.WRONG, ("(shared + 1024)", "max(shared, 1)")),
        mutant(
            "shared memory in whole KB",
            kinds.WRONG,
            ("(shared + 1024) // 128) * 128", "(shared + 1024) // 1024) * 1024"),
        ),
        mutant("blocks without a limit", kinds.WRONG, ("by_warps, 32,", "by_warps,")),
        mutant("the most, not the least", kinds.WRONG, ("min(by_warps", "max(by_warps")),
    ),
)


def few_negative(rng: np.random.Generator, n: int) -> dict:
    """One in sixteen is negative, wherever chance puts it."""
    x = np.abs(floats(rng, n)) + np.float32(0.01)
    x[rng.random(n) < 1 / 16] *= -1
    return {"x": x, "y": empty(n), "n": np.int32(n)}


def long_way(given) -> dict:
    """After 32 rounds of v = sqrt(v v + 1), v v has grown by 32; or it has overflowed in the
    first."""
    x = given["x"].astype(np.float64)
    square = np.where(x * x > np.finfo(np.float32).max, np.inf, x * x)
    return {"y": np.where(x < 0, np.sqrt(square + 32), x)}


def negative_block(given: dict, rng: np.random.Generator) -> dict:
    """All numbers of the first block are negative."""
    x = given["x"].copy()
    x[:256] = -np.abs(x[:256]) - np.float32(0.01)
    return {"x": x}


GATHER_THE_FEW = Exercise(
    id="04.gather_the_few",
    title="gather the few",
    task="""
About one number in sixteen needs a long computation, and they lie anywhere: a block may have none,
or only such ones. So nearly every warp has one, and executes the long path with hardly a lane
active. Gather them: a list in shared memory, filled with an atomic, gives the few of a block to its
first threads. On average, a warp may spend at most 70 instructions.
""",
    source="04_first_kernels/exercises/gather_the_few.cu",
    kernel="gather_the_few",
    inputs=few_negative,
    reference=long_way,
    launch=one_thread_each,
    small=SMALL,
    full=FULL,
    reduction=lambda n: 32,
    promises=Promises(
        sizes=promises.shapes(n=(*promises.LENGTHS, 70_001)),
        launches=spare_blocks,
        values=(
            (
                *promises.data(
                    "x",
                    promises.ZEROS_OF_BOTH_SIGNS,
                    promises.LARGE_NEGATIVE,
                    promises.SOME_NAN,
                    promises.SMALLEST_NORMAL,
                    promises.SOME_INFINITE,
                    *promises.ORDINARY,
                ),
                Values("x with one negative block", negative_block),
            ),
        ),
    ),
    means=(
        means.atomics(
            "shared", at_least=8, advice="An atomic gives out the slots of the list.", size=2048
        ),
        means.shared_memory(
            4 * 64, advice="The indices of the few are in a list in shared memory.", size=2048
        ),
        means.one_store_each(),
        means.instructions(
            "square roots",
            "sqrt.",
            at_least=2048,  # 32 for each of about 128
            advice="The rounds of the long computation stay: only who does them changes.",
            size=2048,
        ),
    ),
    target=Target(
        label="instructions of a warp, on average",
        measure=warp_instructions_per_warp(64),
        at_most=70,
        advice="The numbers are right. In the long loop, all lanes of the first warp should work "
        "and no other warp at all.",
        size=2048,
    ),
    hints=(
        "`__shared__ int list[kThreads];` and a counter, which one thread sets to 0 first.",
        "`list[atomicAdd(&count, 1)] = i;` takes the next free slot.",
        "Whose number is not negative stores it at once. Then all wait: `__syncthreads();`",
        "After the barrier: `if (threadIdx.x < count)`, take `list[threadIdx.x]` and compute.",
        "Two barriers: one after the counter is 0, one after the list is complete. No thread may "
        "return before them.",
    ),
    explanation="""
About 16 of a block's 256 numbers are negative, so one warp executes the loop with half of its
lanes, where about seven executed it with two each. The order of the list is open, and no result
depends on it. Whether it pays depends on the length of the loop: list, atomics and barriers have
their price.
""",
    mutants=(
        mutant(
            "no first barrier",
            kinds.DATA_RACE,
            ("__syncthreads(); // the list is empty", "// the list is empty"),
        ),
        mutant(
            "no second barrier",
            kinds.DATA_RACE,
            ("__syncthreads(); // the list is complete", "// the list is complete"),
        ),
        mutant("no atomic", kinds.DATA_RACE, ("list[atomicAdd(&count, 1)]", "list[count++]")),
        mutant(
            "all the same slot",
            kinds.UNINITIALISED,
            ("list[atomicAdd(&count, 1)] = i", "list[0] = i, atomicAdd(&count, 1)"),
        ),
        mutant("counter not zero", kinds.UNINITIALISED, ("        count = 0;\n", "")),
        mutant(
            "a short cut for large ones",
            kinds.WRONG,
            ("round < 32;", "round < 32 && fabsf(v) < 1e18f;"),
        ),
        mutant("a list for 32", kinds.OUT_OF_BOUNDS, ("list[kThreads]", "list[32]")),
        mutant(
            "a formula for the rounds",
            kinds.MEANS_MISSING,
            (
                "if (v < 0.0f) {",
                "if (v < 0.0f) {\n            y[i] = sqrtf(v * v + 32.0f);\n"
                "        } else if (v < -1.0f) {",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "{")),
        mutant(
            "every warp still",
            kinds.TARGET_MISSED,
            (
                "list[atomicAdd(&count, 1)] = i;",
                "float w = v; for (int round = 0; round < 32; ++round) { w = sqrtf(w * w + 1.0f); }"
                " y[i] = w;",
            ),
        ),
    ),
)
