"""The exercises of "cuRAND"."""

from __future__ import annotations

from runpy import run_path

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Promises,
    PythonExercise,
    empty,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Given
from course_utils.paths import KERNELS

FOLDER = "05_cuda_libraries/exercises"
OURS = run_path(str(KERNELS / "07_pytorch_extensions/philox.py"))
SEEDS = (0, 1, (1 << 40) + 3, (1 << 64) - 99)


def words(rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """Any 32 bits."""
    return rng.integers(0, 1 << 32, shape, dtype=np.uint32)


# --- skipping ahead ---


def after_steps(given: Given) -> dict:
    factor, step, modulus = 1664525, 1013904223, 1 << 32

    def state(steps: int) -> int:
        power = pow(factor, steps, (factor - 1) * modulus)  # so that the sum can be divided
        return (power * int(given["seed"]) + (power - 1) // (factor - 1) * step) % modulus

    skip = int(given["skip"])
    return {"out": np.array([state(skip + i) for i in range(int(given["n"]))], np.uint32)}


SKIP_AHEAD = Exercise(
    id="05.skip_ahead",
    title="a billion steps at once",
    task="""
Let thread i find the state after skip + i steps without taking them one by one: a few dozen
operations are enough for any number of 64 bits.
""",
    source=f"{FOLDER}/skip_ahead.cu",
    kernel="skip_ahead",
    inputs=lambda rng, n: {
        "out": empty(n, np.uint32),
        "seed": np.uint32(rng.integers(0, 1 << 32)),
        "skip": np.uint64(1000),
        "n": np.int32(n),
    },
    reference=after_steps,
    launch=lambda n: Launch((-(-n // 128),), (128,)),
    small=(300, 33, 1),
    full=1 << 16,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(most=1025).with_longest(n=65_600),
        values=(
            promises.scalars("skip", 0, 1, 1 << 31, (1 << 32) + 5, (1 << 63) + 12345),
            promises.scalars("seed", 0, 1, (1 << 32) - 1),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        means.instructions(
            "products (two or three for each bit of the number of steps)",
            "mad.",
            "mul.",
            at_most=300 * 4099,
            advice="A few dozen operations lead to any place, all i steps of thread i included.",
            size=4099,
        ),
    ),
    hints=(
        "Two steps: a(ax + c) + c = a²x + (ac + c). So two steps in one have the factor a² and the "
        "step ac + c.",
        "Do that again and you have four steps in one, then eight. The bits of the number of steps "
        "say which of these you take.",
        "`for (left = skip + i; left > 0; left /= 2)`: take the step if `left` is odd, then make "
        "two of it. The step is doubled before the factor: it needs the old one.",
    ),
    explanation="""
All arithmetic is modulo 2³², which unsigned numbers do by themselves. Any generator whose step is
linear can skip like this. XORWOW's is linear in its bits: a matrix takes the place of the factor,
and its `curand_init` multiplies by such matrices to reach a subsequence. Philox needs none of it:
its state is the place itself. The upper half of `skip` changes nothing here: after 2³² steps this
generator begins anew, another reason to take a better one.
""",
    mutants=(
        mutant(
            "one by one",
            kinds.MEANS_MISSING,
            ("left > 0; left /= 2", "left > 0; --left"),
            (
                "if (left % 2 == 1) {\n            state = factor * state + step;\n        }\n"
                "        step = factor * step + step;\n        factor = factor * factor;",
                "state = factor * state + step;",
            ),
        ),
        mutant(
            "factor first",
            kinds.WRONG,
            (
                "        step = factor * step + step;\n        factor = factor * factor;",
                "        factor = factor * factor;\n        step = factor * step + step;",
            ),
        ),
        mutant("step not doubled", kinds.WRONG, ("        step = factor * step + step;\n", "")),
        mutant(
            "step doubled plainly", kinds.WRONG, ("step = factor * step + step", "step = 2 * step")
        ),
        mutant("even for odd", kinds.WRONG, ("left % 2 == 1", "left % 2 == 0")),
        mutant(
            "signed",
            kinds.WRONG,
            ("unsigned long long left = skip + i", "long long left = skip + i"),
        ),
        mutant("all threads alike", kinds.WRONG, ("skip + i; left", "skip; left")),
        mutant(
            "i steps one by one",
            kinds.MEANS_MISSING,
            ("skip + i; left", "skip; left"),
            (
                "    out[i] = state;",
                "    for (int j = 0; j < i; ++j) state = kFactor * state + kStep;\n"
                "    out[i] = state;",
            ),
        ),
        mutant("a step too far", kinds.OFF_BY_ONE, ("skip + i; left", "skip + i + 1; left")),
        mutant(
            "the state squared",
            kinds.WRONG,
            ("factor = factor * factor", "factor = factor * state"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= n) {", "if (i > n + 200) {")),
    ),
)

# --- the rounds ---


def after_rounds(given: Given) -> dict:
    low = np.uint64(0xFFFFFFFF)
    x, y, z, w = given["counters"].astype(np.uint64).T
    for turn in range(int(given["rounds"])):
        keys = (int(given["key"]) >> 32 * i for i in (0, 1))
        weyl = zip(keys, (0x9E3779B9, 0xBB67AE85), strict=True)
        first, second = (np.uint64(key + turn * step & 0xFFFFFFFF) for key, step in weyl)
        by_x, by_z = np.uint64(0xD2511F53) * x, np.uint64(0xCD9E8D57) * z
        x, y, z, w = by_z >> 32 ^ y ^ first, by_z & low, by_x >> 32 ^ w ^ second, by_x & low
    return {"out": np.stack([x, y, z, w], axis=1).astype(np.uint32)}


PHILOX_ROUNDS = Exercise(
    id="05.philox_rounds",
    title="a round of Philox",
    task="""
Write the round, as you saw it in NumPy: two products of 64 bits, two exclusive ors each, and the
key moves on. Any counters, any key of 64 bits, any number of rounds from 0 on.
""",
    source=f"{FOLDER}/philox_rounds.cu",
    kernel="philox_rounds",
    inputs=lambda rng, n: {
        "counters": words(rng, (n, 4)),
        "out": empty((n, 4), np.uint32),
        "key": np.uint64(0x123456789ABCDEF0),
        "rounds": np.int32(10),
        "n": np.int32(n),
    },
    reference=after_rounds,
    launch=lambda n: Launch((-(-n // 128),), (128,)),
    small=(300, 33, 1),
    full=1 << 22,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(most=1025).with_longest(n=65_600),
        values=(
            promises.scalars("rounds", 0, 1, 2, 7, 300),
            promises.scalars("key", *SEEDS),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "`__umulhi(a, b)` is the upper half of the product of two unsigned numbers, `a * b` the "
        "lower.",
        "All four new numbers come from the old ones: make a new `uint4` of them at once.",
        "`c = make_uint4(__umulhi(kFactorZ, c.z) ^ c.y ^ key_x, kFactorZ * c.z, "
        "__umulhi(kFactorX, c.x) ^ c.w ^ key_y, kFactorX * c.x);`",
        "`key_x += kWeylX; key_y += kWeylY;` wraps around by itself.",
    ),
    explanation="""
A product spreads each bit of a factor over those above it, and its upper half has no short way back
to a pattern of the input. The odd factor makes the lower half a permutation, and the exclusive ors
keep the whole round one: no two counters can meet in one result. So each of the 2¹²⁸ blocks of four
comes exactly once for a key.
""",
    mutants=(
        mutant(
            "a short index",
            kinds.OUT_OF_BOUNDS,
            ("const int i", "const short i"),
        ),
        mutant("the key stands still", kinds.WRONG, ("key_x += kWeylX;\n", "")),
        mutant("half of the key stands still", kinds.WRONG, ("        key_y += kWeylY;\n", "")),
        mutant(
            "halves of a product exchanged",
            kinds.WRONG,
            ("kFactorX * c.x)", "__umulhi(kFactorX, c.x))"),
        ),
        mutant("factors exchanged", kinds.WRONG, ("kFactorZ, c.z) ^ c.y", "kFactorX, c.z) ^ c.y")),
        mutant("keys exchanged", kinds.WRONG, ("c.y ^ key_x", "c.y ^ key_y")),
        mutant("with a sign", kinds.WRONG, ("__umulhi(kFactorZ, c.z)", "__mulhi(kFactorZ, c.z)")),
        mutant("ten rounds always", kinds.WRONG, ("round < rounds", "round < 10")),
        mutant(
            "sixteen rounds at most",
            kinds.WRONG,
            ("round < rounds", "round < rounds && round < 16"),
        ),
        mutant("one round short", kinds.WRONG, ("round < rounds", "round < rounds - 1")),
        mutant(
            "the key's upper half forgotten",
            kinds.WRONG,
            ("static_cast<unsigned>(key >> 32)", "static_cast<unsigned>(key)"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= n) {", "if (i > n + 200) {")),
    ),
)

# --- going on where you stopped ---


def later_part(given: Given) -> dict:
    first, streams = int(given["offset"]), int(given["streams"])
    start = first // 4
    groups = range(start, (first + int(given["n"]) + 3) // 4)
    turn, stream = np.divmod(np.array(groups, np.uint64), np.uint64(streams))
    drawn = OURS["philox"](int(given["seed"]), stream, turn).ravel()
    return {"out": drawn[first - 4 * start :][: int(given["n"])]}


GO_ON = Exercise(
    id="05.go_on",
    title="going on where you stopped",
    task="""
Draw n numbers of cuRAND's stream from any offset on, so that two calls that follow each other
give what one would have given. Any grid, any block, any number of subsequences, any seed. A block
of four is computed once, by the thread that stores its numbers.
""",
    source=f"{FOLDER}/go_on.cu",
    kernel="go_on",
    inputs=lambda rng, n: {
        "out": empty(n, np.uint32),
        "seed": np.uint64(1234),
        "offset": np.uint64(rng.integers(1, 4)),
        "streams": np.int32(100),
        "n": np.int32(n),
    },
    reference=later_part,
    launch=lambda n: Launch((-(-n // 512) + 1,), (128,)),
    small=(1001, 4096, 130, 3, 1),
    budget=250_000,  # for one thread alone
    full=1 << 24,
    exact=True,
    promises=Promises(
        sizes=promises.shapes(n=(1, 2, 3, 4, 5, 31, 32, 33, 127, 128, 1025, 4096, 4099)),
        launches=promises.grids((1, 1), (1, 32), (3, 96), (7, 256), (40, 1)),
        values=(
            promises.scalars(
                "offset", 0, 1, 2, 3, 4, 399, 401, (1 << 34) + 5, (1 << 59) + 6, (1 << 59) + 75
            ),
            promises.scalars("seed", *SEEDS),
            (  # many of them show far on in the stream only
                *promises.scalars("streams", 1, 3),
                *promises.together(
                    *(
                        {"streams": streams, "offset": (1 << 59) + 6}
                        for streams in (65_536, 70_001, 1 << 29, (1 << 31) - 1)
                    )
                )[1:],
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=1001),
        means.instructions(
            "upper halves of products (two a round, ten rounds a block of four)",
            "mul.hi",
            at_least=18 * 250,
            at_most=22 * 260,
            advice="Let one thread call `philox` for a group, and store all of it that is wanted.",
            size=1001,
        ),
    ),
    within=2.5,
    hints=(
        "Number k of the stream is in group k / 4. Group g is the one of subsequence g % streams "
        "and of its block g / streams.",
        "The groups go from offset / 4 to (offset + n - 1) / 4, both of them included.",
        "Deal the *groups* to the threads: `for (group = first + thread; group < end; group += "
        "threads)`.",
        "Number j of a group belongs to out[4 * group + j - offset], if that exists: it may lie "
        "before out[0] too.",
    ),
    explanation="""
The offset is a place in the stream, and a counter has no trouble with a place. That is what
`curandSetGeneratorOffset` sets. A generator with a state has to run through all that it leaves out,
or jump by a method of its own; for the Mersenne Twister cuRAND refuses.
""",
    mutants=(
        mutant(
            "offset in a double",
            kinds.PARTLY_WRITTEN,
            ("offset / 4;", "(unsigned long long)((double)offset / 4);"),
        ),
        mutant("offset in groups", kinds.PARTLY_WRITTEN, ("first = offset / 4", "first = offset")),
        mutant("last group forgotten", kinds.EDGES, ("(offset + n + 3) / 4", "(offset + n) / 4")),
        mutant(
            "4,096 numbers of whole groups",
            kinds.EDGES,
            ("(offset + n + 3) / 4", "(offset + n + 3) / 4 - (n == 4096 && offset % 4 > 0)"),
        ),
        mutant("groups of n alone", kinds.EDGES, ("(offset + n + 3) / 4", "first + (n + 3) / 4")),
        mutant(
            "group as in the array",
            kinds.WRONG,
            ("4 * group + j - offset", "4 * (group - first) + j"),
        ),
        mutant("one stream", kinds.WRONG, ("group % streams, group / streams", "0, group")),
        mutant(
            "65,536 streams at most",
            kinds.WRONG,
            ("    const int threads", "    streams = min(streams, 65536);\n    const int threads"),
        ),
        mutant(
            "numbers of all streams in an int",
            kinds.WRONG,
            ("group % streams,", "4 * group % (4u * streams) / 4,"),
        ),
        mutant(
            "a thread that is alone forgotten",
            kinds.EDGES,
            ("first + thread;", "first + thread + (threads == 1);"),
        ),
        mutant("a stream each", kinds.WRONG, ("group % streams, group / streams", "group, 0")),
        mutant(
            "exchanged",
            kinds.WRONG,
            ("group % streams, group / streams", "group / streams, group % streams"),
        ),
        mutant("before the first", kinds.OUT_OF_BOUNDS, ("i >= 0 && ", "")),
        mutant("beyond the last", kinds.OUT_OF_BOUNDS, (" && i < n", "")),
        mutant(
            "offset in 32 bits",
            kinds.WRONG,
            ("first = offset / 4", "first = (unsigned)offset / 4"),
            ("(offset + n + 3) / 4", "((unsigned)offset + n + 3) / 4"),
            ("- offset)", "- (unsigned)offset)"),
        ),
        mutant(
            "counts on the grid", kinds.PARTLY_WRITTEN, ("group += threads", "group += 1ull << 60")
        ),
    ),
)

# --- which number is whose? ---


def place_in_torch(i: int, threads: int) -> tuple[int, int, int]:
    first = i // (4 * threads)  # the blocks before are full
    for number in range(4):
        if i - (4 * first + number) * threads < threads:
            return i - (4 * first + number) * threads, first, number
    raise AssertionError("an element has a place")


WHERE_FROM = PythonExercise(
    id="05.where_from",
    title="which number is whose?",
    task="""
Write `where_from(i, threads)`: from which subsequence, from which of its blocks of four, and from
which number of the block, 0 to 3, element i of `torch.rand` comes, where PyTorch's grid has
`threads` threads and the offset is 0.
""",
    source=f"{FOLDER}/where_from.py",
    function="where_from",
    cases=(
        (0, 256),
        (255, 256),
        (256, 256),
        (1000, 256),
        (1024, 256),
        (5000, 512),
        (3, 1),
        (5_000_000_000, 540_672),
        (2**60 - 1, 2**58),
    ),
    reference=place_in_torch,
    promises=Cases(lambda rng: (int(rng.integers(0, 40_000)), int(rng.integers(1, 2000)))),
    means="Any way to the place is right.",
    hints=(
        "Thread t takes the elements t, t + threads, t + 2 · threads, … in this order.",
        "So element i is number i // threads of those that thread i % threads draws.",
        "Of that number, the quotient and the remainder by 4 are the block and the place in it.",
    ),
    explanation="""
The elements that share a block of four lie as many apart as there are threads. That keeps each of
the four stores of a warp coalesced, and it ties the result to the grid: on a GPU with fewer
multiprocessors PyTorch starts fewer threads, and draws other numbers from the same seed.
""",
    mutants=(
        mutant(
            "32 bits",
            kinds.WRONG,
            ("divmod(i, threads)", "divmod(i % 2**32, threads)"),
        ),
        mutant(
            "as cuRAND's host API", kinds.WRONG, ("divmod(i, threads)", "divmod(i // 4, threads)")
        ),
        mutant("exchanged", kinds.WRONG, ("before // 4, before % 4", "before % 4, before // 4")),
        mutant("by the element", kinds.WRONG, ("before // 4, before % 4", "before // 4, i % 4")),
        mutant("by a float", kinds.WRONG, ("divmod(i, threads)", "int(i / threads), i % threads")),
        mutant("no blocks", kinds.WRONG, ("before // 4, before % 4", "before, 0")),
        mutant("pairs", kinds.WRONG, ("before // 4, before % 4", "before // 2, before % 2")),
        mutant("rounded up", kinds.WRONG, ("before // 4,", "-(-before // 4),")),
    ),
)

# --- normal numbers ---


def extreme(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """No bit, all bits, and some in between."""
    return rng.choice(np.array([0, 1 << 31, (1 << 32) - 200, (1 << 32) - 1], np.uint32), x.shape)


def by_radius_and_angle(given: Given) -> dict:
    u, v = (OURS["uniform"](given[name]).astype(np.float64) for name in ("first", "second"))
    radius = np.sqrt(-2 * np.log(u))
    pairs = radius * np.sin(2 * np.pi * v), radius * np.cos(2 * np.pi * v)
    return {"out": np.stack(pairs, axis=1).ravel()}


BOX_MULLER = Exercise(
    id="05.box_muller",
    title="two normal numbers from two uniform ones",
    task="""
Make two normal numbers of two times 32 bits by the method of Box and Muller, in the order of
cuRAND: the sine first. Any bits, all zeros and all ones too: none of them may give an infinity.
No fast functions: near 1, the error of `__logf` is as large as the logarithm itself.
""",
    source=f"{FOLDER}/box_muller.cu",
    kernel="box_muller",
    inputs=lambda rng, n: {
        "first": words(rng, n),
        "second": words(rng, n),
        "out": empty(2 * n),
        "n": np.int32(n),
    },
    reference=by_radius_and_angle,
    launch=lambda n: Launch((-(-n // 128),), (128,)),
    small=(1000, 129, 31, 1),
    full=1 << 24,
    reduction=lambda n: 32,
    promises=Promises(
        sizes=promises.lengths(most=4099),
        values=(
            promises.data("first", ("among its smallest and largest", extreme)),
            promises.data("second", ("among its smallest and largest", extreme)),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(),
        means.instructions(
            "square roots",
            "sqrt",
            "rsqrt",
            at_least=1000,
            at_most=1100,
            advice="A pair has one radius: two angles of one radius are what makes it a pair.",
            size=1000,
        ),
        means.instructions(
            "fast logarithms, sines and cosines",
            "lg2.approx",
            "sin.approx",
            "cos.approx",
            at_most=0,
            advice="Near 1 the logarithm is small, and the error of `__logf` is not: take `logf`, "
            "and `sincospif`.",
            size=1000,
        ),
    ),
    hints=(
        "`uniform(bits)` is above 0, so its logarithm is finite.",
        "`logf` is the natural logarithm. It is negative here, and minus two makes it positive.",
        "`sincospif(x, &sine, &cosine)` gives the sine and the cosine of pi times x.",
    ),
    explanation="""
The point (radius · cosine, radius · sine) has two normal coordinates, independent of each other.
The largest that 32 bits can give is sqrt(-2 ln 2⁻³³), about 6.76: of true normal numbers one in
seventy thousand million lies beyond. Where you draw more than that, take 53 bits.
""",
    mutants=(
        mutant(
            "from 0 on",
            kinds.WRONG,
            ("logf(uniform(first[i]))", "logf(first[i] * 2.3283064e-10f)"),
        ),
        mutant(
            "the cosine first",
            kinds.WRONG,
            ("radius * sine;", "radius * cosine;"),
            ("out[2 * i + 1] = radius * cosine;", "out[2 * i + 1] = radius * sine;"),
        ),
        mutant("twice the same", kinds.WRONG, ("radius * cosine", "radius * sine")),
        mutant("half a turn", kinds.WRONG, ("2.0f * uniform(second", "uniform(second")),
        mutant("a fast logarithm", kinds.MEANS_MISSING, ("logf(", "__logf(")),
        mutant(
            "a fast sine",
            kinds.MEANS_MISSING,
            ("sincospif(2.0f *", "__sincosf(6.2831853f *"),
        ),
        mutant("another logarithm", kinds.SCALED, ("logf(", "log2f(")),
        mutant("without the two", kinds.SCALED, ("-2.0f * logf", "-logf")),
        mutant(
            "exchanged",
            kinds.WRONG,
            ("uniform(first[i])", "uniform(second[i])"),
            ("2.0f * uniform(second[i])", "2.0f * uniform(first[i])"),
        ),
        mutant("the first for both", kinds.WRONG, ("uniform(second[i])", "uniform(first[i])")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i < n) {", "if (i < n + 200) {")),
        mutant("half of the pairs", kinds.PARTLY_WRITTEN, ("if (i < n) {", "if (2 * i < n) {")),
    ),
)

# --- dice ---


def throws(given: Given) -> dict:
    n, sides = int(given["n"]), int(given["sides"])
    refused = (1 << 32) % sides
    out, open_ = np.zeros(n, np.uint32), np.arange(n, dtype=np.uint64)
    block = 0
    while len(open_):
        tried = OURS["philox"](int(given["seed"]), open_, block).astype(np.uint64) * np.uint64(
            sides
        )
        good = (tried & np.uint64(0xFFFFFFFF)) >= refused
        found = good.any(axis=1)
        first = good.argmax(axis=1)
        out[open_[found]] = (tried[np.arange(len(open_)), first] >> 32)[found]
        open_, block = open_[~found], block + 1
    return {"out": out}


TRIES = (  # the last two of these need 25 and 33 numbers for one of 1,000 throws
    {"sides": (1 << 31) + 1, "seed": 5},
    {"sides": (1 << 31) + 1, "seed": 3932},
    {"sides": (1 << 31) + 1, "seed": 2_193_970},
)


DICE = Exercise(
    id="05.dice",
    title="dice without a favourite",
    task="""
Make whole numbers from 0 to sides - 1, each equally likely, of numbers of 32 bits, for any number
of sides from 1 on. 2³² is a multiple of few numbers, so some of the bits have to be refused, and
the next number of the subsequence is tried. No number of tries is enough for certain.
""",
    source=f"{FOLDER}/dice.cu",
    kernel="dice",
    inputs=lambda rng, n: {
        "out": empty(n, np.uint32),
        "seed": np.uint64(99),
        "sides": np.uint32(3 << 30),
        "n": np.int32(n),
    },
    reference=throws,
    launch=lambda n: Launch((-(-n // 128),), (128,)),
    small=(1000, 129, 31, 1),
    full=1 << 22,
    exact=True,
    promises=Promises(
        sizes=promises.lengths(most=4099),
        values=(
            promises.scalars("seed", *SEEDS),
            (
                *promises.scalars("sides", 1, 2, 6, 52, 1 << 31, (1 << 32) - 1),
                *promises.together(*TRIES),
            ),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "`0u - sides` is 2³² - sides, which has the same remainder by sides as 2³².",
        "`bits * sides` of two unsigned numbers is the lower half of the product, "
        "`__umulhi(bits, sides)` the upper one.",
        "Try the four numbers of `philox(seed, i, 0)` in their order, then those of "
        "`philox(seed, i, 1)`, and so on, until one is good.",
    ),
    explanation="""
`bits % sides` favours the small numbers: of 2³² numbers dealt to 3 · 2³⁰ sides, a third of the
sides gets two each and the others one. The upper half of `bits * sides` has the same fault in
other places; with the refusals each side keeps exactly as many numbers as the others. For six
sides four numbers out of 2³² are refused, for 2³¹ + 1 nearly half.
""",
    mutants=(
        mutant("the remainder", kinds.WRONG, ("__umulhi(each[j], sides)", "each[j] % sides")),
        mutant("none refused", kinds.WRONG, ("each[j] * sides >= refused", "true")),
        mutant("as many refused as sides", kinds.WRONG, ("(0u - sides) % sides", "sides")),
        mutant("a power of two refused", kinds.WRONG, ("(0u - sides) % sides", "~0u % sides + 1")),
        mutant(
            "half of the bits refused",
            kinds.WRONG,
            ("(0u - sides) % sides", "sides >> 31 ? 0u - sides : (0u - sides) % sides"),
        ),
        mutant(
            "one more refused",
            kinds.WRONG,
            ("* sides >= refused", "* sides > refused + (1u << 28)"),
        ),
        mutant(
            "the same four again",
            kinds.ENDLESS_LOOP,
            ("philox(seed, i, block)", "philox(seed, i, 0)"),
        ),
        mutant(
            "four tries",
            kinds.PARTLY_WRITTEN,
            ("block = 0;; ++block", "block = 0; block < 1; ++block"),
        ),
        mutant(
            "twenty-four tries",
            kinds.PARTLY_WRITTEN,
            ("block = 0;; ++block", "block = 0; block < 6; ++block"),
        ),
        mutant(
            "thirty-two tries",
            kinds.PARTLY_WRITTEN,
            ("block = 0;; ++block", "block = 0; block < 8; ++block"),
        ),
        mutant("one of a block", kinds.WRONG, ("j < 4", "j < 1")),
        mutant(
            "a subsequence a block of threads",
            kinds.FIRST_BLOCK,
            ("philox(seed, i,", "philox(seed, threadIdx.x,"),
        ),
        mutant(
            "by a float",
            kinds.WRONG,
            ("__umulhi(each[j], sides)", "(unsigned)(uniform(each[j]) * sides)"),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= n) {", "if (i > n + 200) {")),
    ),
)
