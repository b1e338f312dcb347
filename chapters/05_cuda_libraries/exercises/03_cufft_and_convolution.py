"""The exercises of "cuFFT and convolution"."""

from __future__ import annotations

from math import log2, prod

import numpy as np

from course_utils.exercises import (
    Cases,
    Exercise,
    Launch,
    Promises,
    PythonExercise,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.means import Means
from course_utils.exercises.promises import Given

FOLDER = "05_cuda_libraries/exercises"

# --- the other half ---


def mirrored(given: Given) -> dict:
    n = int(given["n"])
    half = given["half"].reshape(-1, n // 2 + 1, 2).astype(np.float64)
    rest = half[:, 1 : (n + 1) // 2][:, ::-1] * [1, -1]
    return {"whole": np.concatenate((half, rest), axis=1)[:, :n].reshape(-1)}


WHOLE_SPECTRUM = Exercise(
    id="05.whole_spectrum",
    title="the other half",
    task="""
A real transform of n numbers stores n / 2 + 1 frequencies. Write the kernel that makes all n of
them: any number of rows, any n from 1 on, even or odd.
""",
    source=f"{FOLDER}/whole_spectrum.cu",
    kernel="whole_spectrum",
    inputs=lambda rng, size: {
        "half": floats(rng, 2 * size[0] * (size[1] // 2 + 1)),
        "whole": empty(2 * size[0] * size[1]),
        "n": np.int32(size[1]),
    },
    reference=mirrored,
    launch=lambda size: Launch((size[0], -(-size[1] // 128)), (128,)),
    small=((3, 300), (2, 129), (4, 8), (1, 1)),
    full=(4096, 4096),
    promises=Promises(
        sizes=promises.shapes(
            rows=(1, 5, 7), n=(1, 2, 3, 4, 5, 31, 64, 127, 256, 257, 1025)
        ).with_longest(rows=67, n=40_001),
        values=(promises.data("half", *promises.ANY_FLOAT),),
    ),
    # A thread may store a pair that mirror each other, and the one in the middle twice.
    means=(means.one_store_each(at_most=1.01), means.work_shared_out()),
    hints=(
        "Frequencies k and n - k of real numbers are conjugates: equal real parts, opposite "
        "imaginary parts.",
        "`half` has the frequencies 0 to n / 2. For a larger k take n - k, which is stored.",
        "`from[n - k]`, its `.y` with the other sign.",
    ),
    explanation="""
Of n real numbers come n / 2 + 1 complex ones. That seems to be one number more, but the imaginary
parts of frequency 0 and, where n is even, of n / 2 are zero. A row of the half has an odd number of
elements whenever n is a multiple of four. A plan for real transforms in place has to leave room for
it: rows of n / 2 + 1 pairs.
""",
    mutants=(
        mutant(
            "rows as far as 16 bits",
            kinds.WRONG,
            ("(size_t)blockIdx.x * stored", "(unsigned short)(blockIdx.x * stored)"),
        ),
        mutant("not conjugated", kinds.WRONG, (" : -mirrored.y", " : mirrored.y")),
        mutant(
            "all conjugated", kinds.WRONG, ("k < stored ? mirrored.y :", "k < 0 ? mirrored.y :")
        ),
        mutant(
            "both parts turned",
            kinds.WRONG,
            ("make_float2(mirrored.x,", "make_float2(k < stored ? mirrored.x : -mirrored.x,"),
        ),
        mutant("one too far", kinds.WRONG, (": n - k]", ": n - k - 1]")),
        mutant("not mirrored", kinds.WRONG, (": n - k]", ": k - stored]")),
        mutant(
            "the middle mirrored too",
            kinds.WRONG,
            ("mirrored.x, k < stored ?", "mirrored.x, k < n / 2 ?"),
        ),
        mutant("rows of half of n", kinds.WRONG, ("blockIdx.x * stored", "blockIdx.x * (n / 2)")),
        mutant(
            "rows as if n were odd", kinds.WRONG, ("stored = n / 2 + 1", "stored = (n + 1) / 2")
        ),
        mutant("one row", kinds.WRONG, ("half + (size_t)blockIdx.x * stored", "half")),
        mutant(
            "places that a short can count",
            kinds.OUT_OF_BOUNDS,
            ("const int k = blockIdx.y * blockDim.x", "const short k = blockIdx.y * blockDim.x"),
        ),
        mutant(
            "eight rows at most",
            kinds.FIRST_BLOCK,
            ("half + (size_t)blockIdx.x * stored", "half + (size_t)(blockIdx.x % 8) * stored"),
        ),
        mutant(
            "imaginary parts taken for zero",
            kinds.WRONG,
            ("make_float2(mirrored.x, k <", "make_float2(mirrored.x, k % n == 0 ? 0.0f : k <"),
        ),
        mutant(
            "a row by one thread",
            kinds.MEANS_MISSING,
            (
                "    if (k < n) {\n        const float2 mirrored",
                "    for (int k = 0; k < n && blockIdx.y + threadIdx.x == 0; ++k) {\n"
                "        const float2 mirrored",
            ),
        ),
        mutant("half a row", kinds.PARTLY_WRITTEN, ("if (k < n) {", "if (k < stored) {")),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (k < n) {", "if (k < n + 200) {")),
    ),
)

# --- where a plan looks ---


def place_of(
    b: int, index: tuple, n: tuple, embed: tuple | None, stride: int, dist: int, half: bool
) -> int:
    if embed is None:
        embed = (*n[:-1], n[-1] // 2 + 1) if half else n
        stride, dist = 1, prod(embed)
    return b * dist + stride * sum(at * prod(embed[axis + 1 :]) for axis, at in enumerate(index))


def any_place(rng: np.random.Generator) -> tuple:
    rank = int(rng.integers(1, 4))
    n = tuple(int(extent) for extent in rng.integers(1, 12, rank))
    half = bool(rng.integers(2))
    there = (*n[:-1], n[-1] // 2 + 1) if half else n
    index = tuple(int(rng.integers(extent)) for extent in there)
    embed = None
    if rng.integers(3):
        inner = (int(extent + rng.integers(5)) for extent in there[1:])
        embed = (int(rng.integers(there[0] + 5)), *inner)
    stride, dist = (int(value) for value in rng.integers(1, 200, 2))
    return int(rng.integers(0, 9)), index, n, embed, stride, dist, half


PLAN_PLACE = PythonExercise(
    id="05.plan_place",
    title="where a plan looks",
    task="""
Write `plan_place(b, index, n, embed, stride, dist, half)`: how many elements lie before element
`index` of transform `b`, in the input or the output of a plan.
""",
    source=f"{FOLDER}/plan_place.py",
    function="plan_place",
    cases=(
        (0, (3,), (8,), (8,), 1, 8, False),
        (2, (3,), (8,), (8,), 5, 1, False),
        (1, (2, 3), (4, 6), (9, 7), 2, 100, False),
        (3, (1, 2, 3), (2, 4, 6), (9, 5, 8), 1, 999, False),
        (2, (3,), (8,), None, 5, 7, False),
        (2, (3,), (8,), None, 5, 7, True),
        (1, (3, 2), (4, 6), None, 1, 1, True),
        (1, (1, 3, 2), (2, 4, 7), None, 3, 1, True),
        (2, (1, 2), (4, 6), (4, 9), 1, 36, True),
        (1, (3, 2), (4, 6), (2, 7), 1, 40, False),
        (0, (1, 2, 3), (4, 5, 6), (4, 5, 7), 1, 1, True),
        (2, (5,), (8,), (0,), 3, 1, False),
        (5, (900, 1000, 3), (1024, 1024, 1024), None, 1, 1, False),
    ),
    reference=place_of,
    promises=Cases(any_place, count=64),
    means="Any way to the place is right.",
    hints=(
        "With an embed it is the formula as it stands: a loop over the axes multiplies by the next "
        "extent and adds the next index, and the first extent drops out because it meets a zero.",
        "Packed means: the extents are n themselves, the stride is 1, and a transform begins where "
        "the one before ends.",
        "Packed, on the complex side of a real transform, the last extent is n[-1] // 2 + 1, and "
        "the distance is the product of these extents.",
    ),
    explanation="""
The stride lies inside all axes, the distance outside, and they need not be nested: columns of a
matrix have a stride of a whole row and a distance of 1. A distance *smaller* than a transform
makes inputs overlap, which is allowed where nothing is written. And the trap of `NULL`: without an
embed a plan forgets the stride and the distance that you gave it, and says nothing.
""",
    mutants=(
        mutant("packed, with its stride", kinds.WRONG, ("stride, dist = 1, 1", "dist = 1")),
        mutant(
            "packed, with its distance",
            kinds.WRONG,
            ("        for extent in embed:\n            dist *= extent\n", ""),
        ),
        mutant("no embed is an error", kinds.EXCEPTION, ("if embed is None:", "if embed == ():")),
        mutant(
            "the whole always", kinds.WRONG, ("if half else n", "if half and len(n) > 3 else n")
        ),
        mutant("the half always", kinds.WRONG, ("if half else n", "if True else n")),
        mutant(
            "the half of every axis",
            kinds.WRONG,
            (
                "(*n[:-1], n[-1] // 2 + 1)",
                "tuple(extent // 2 + 1 for extent in n)",
            ),
        ),
        mutant(
            "the half of an embed",
            kinds.WRONG,
            (
                "    place = 0\n",
                "    if half and len(embed) > 2 and embed[-1] > n[-1] // 2 + 1:\n"
                "        embed = (*embed[:-1], embed[-1] // 2 + 1)\n"
                "    place = 0\n",
            ),
        ),
        mutant(
            "embed as the sizes",
            kinds.WRONG,
            ("zip(index, embed, strict=True)", "zip(index, n, strict=True)"),
        ),
        mutant(
            "columns first",
            kinds.WRONG,
            ("zip(index, embed, strict=True)", "zip(index[::-1], embed[::-1], strict=True)"),
        ),
        mutant(
            "the extent before",
            kinds.WRONG,
            ("zip(index, embed, strict=True)", "zip(index, embed[1:] + embed[:1], strict=True)"),
        ),
        mutant(
            "stride outside",
            kinds.WRONG,
            ("return b * dist + place * stride", "return (b * dist + place) * stride"),
        ),
        mutant("no stride", kinds.WRONG, ("place * stride", "place")),
        mutant(
            "the first extent used",
            kinds.WRONG,
            ("place * extent + at", "place * extent + at % max(extent, 1)"),
        ),
        mutant(
            "places of 32 bits",
            kinds.WRONG,
            ("return b * dist + place * stride", "return (b * dist + place * stride) % (1 << 32)"),
        ),
        mutant("one transform", kinds.WRONG, ("return b * dist + ", "return ")),
    ),
)

# --- full, same, valid ---


def part(given: Given) -> dict:
    x, h = (given[name].astype(np.float64) for name in "xh")
    full = np.convolve(x, h)
    first, count = int(given["first"]), int(given["count"])
    return {"y": np.pad(full[first:], (0, count))[:count]}


ONLY_THE_TAPS = Means(
    "instructions of all threads, over those of the course's solution",
    lambda work: work.counts.thread_instructions / work.of_ours().counts.thread_instructions,
    at_most=6.0,
    advice="A result has as many products as the filter has taps: go through these, and not "
    "through all numbers of x.",
    size=(1025, 8, 0, 1032),
)

CONVOLUTION_PART = Exercise(
    id="05.convolution_part",
    title="full, same and valid in one kernel",
    task="""
Write the loop that computes any part of a convolution by its definition. Any number of taps from 1
on, also more than x has numbers; where a tap meets no number of x, it adds nothing, not even where
it is infinite. Numbers of x may be infinite or NaN.
""",
    source=f"{FOLDER}/convolution_part.cu",
    kernel="convolution_part",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]),
        "h": floats(rng, size[1]),
        "y": empty(size[3]),
        "n": np.int32(size[0]),
        "taps": np.int32(size[1]),
        "first": np.int32(size[2]),
        "count": np.int32(size[3]),
    },
    reference=part,
    launch=lambda size: Launch((-(-size[3] // 128),), (128,)),
    small=(
        (300, 9, 3, 309),
        (700, 601, 600, 70),
        (130, 4, 1, 134),
        (3, 7, 0, 150),
        (33_500, 3, 33_300, 200),  # places that a short does not count
        (9, 4801, 4700, 130),
        (1, 1, 0, 1),
    ),
    budget=600_000,
    full=(1 << 24, 33, 16, 1 << 24),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(
            n=(1, 2, 5, 31, 127, 257, 1025),
            taps=(1, 2, 3, 8, 33, 61),
            first=(0, 1, 2, 30, 60, 300),
            count=(1, 30, 130, 301, 1100),
        ).with_longest(n=4099, taps=301, count=4099),
        values=(
            (*promises.data("x h", *promises.ORDINARY), promises.infinite_at_the_ends("h", -1)),
            (
                *promises.data("x", promises.SOME_INFINITE, promises.SOME_NAN),
                promises.zeros_and_infinities("h", "x"),
                promises.zeros_and_infinities("x", "h"),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(at_most=4.0, size=(1025, 8, 0, 1032)),
        ONLY_THE_TAPS,
    ),
    hints=(
        "A loop over j, from 0 to taps - 1. The number that it meets is x[i + first - j].",
        "That place may lie before x[0] or behind x[n - 1]: then the term is left out.",
        "`const int from = i + first - j; if (from >= 0 && from < n) sum += h[j] * x[from];`",
    ),
    explanation="""
The names full, same and valid are values of `first` and `count`: (0, n + taps - 1), then ((taps -
1) / 2, n), and (taps - 1, n - taps + 1). Nothing else differs. That j is *subtracted* is what
makes a convolution of it; with a plus it is a correlation, which neural networks compute and call
a convolution.
""",
    mutants=(
        mutant("taps of 0 skipped", kinds.EDGES, ("sum += h[j]", "if (h[j] != 0.0f) sum += h[j]")),
        mutant(
            "numbers of 0 skipped", kinds.WRONG, ("sum += h[j]", "if (x[from] != 0.0f) sum += h[j]")
        ),
        mutant("a correlation", kinds.WRONG, ("from = i + first - j", "from = i + first + j")),
        mutant("before the first", kinds.OUT_OF_BOUNDS, ("from >= 0 && ", "")),
        mutant("behind the last", kinds.OUT_OF_BOUNDS, (" && from < n", "")),
        mutant("the whole from its start", kinds.WRONG, ("from = i + first - j", "from = i - j")),
        mutant(
            "round and round",
            kinds.WRONG,
            ("from = i + first - j;", "from = (i + first - j + 64 * n) % n;"),
        ),
        mutant("the filter backwards", kinds.WRONG, ("h[j] * x", "h[taps - 1 - j] * x")),
        mutant("a tap short", kinds.WRONG, ("j < taps;", "j < taps - 1;")),
        mutant("a tap too many", kinds.OUT_OF_BOUNDS, ("j < taps;", "j <= taps;")),
        mutant("without the first number", kinds.WRONG, ("from >= 0", "from > 0")),
        mutant(
            "the edge repeated",
            kinds.WRONG,
            (
                "        if (from >= 0 && from < n) {\n"
                "            sum += h[j] * x[from];\n        }",
                "        sum += h[j] * x[from < 0 ? 0 : from < n ? from : n - 1];",
            ),
        ),
        mutant(
            "a result ahead", kinds.OFF_BY_ONE, ("from = i + first - j", "from = i + first + 1 - j")
        ),
        mutant(
            "the place as a byte",
            kinds.WRONG,
            ("from = i + first - j", "from = i + (signed char)first - j"),
        ),
        mutant(
            "a factor of zero beside x",
            kinds.NOT_A_NUMBER,
            (
                "        if (from >= 0 && from < n) {\n"
                "            sum += h[j] * x[from];\n        }",
                "        const float here = from >= 0 && from < n;\n"
                "        sum += here * h[j] * x[min(max(from, 0), n - 1)];",
            ),
        ),
        mutant(
            "a number of zero beside x",
            kinds.NOT_A_NUMBER,
            (
                "        if (from >= 0 && from < n) {\n"
                "            sum += h[j] * x[from];\n        }",
                "        sum += h[j] * (from >= 0 && from < n ? x[from] : 0.0f);",
            ),
        ),
        mutant(
            "nothing beyond the whole",
            kinds.EDGES,
            (
                "    for (int j = 0;",
                "    if (i + first > n + taps - 2) return;\n    for (int j = 0;",
            ),
        ),
        mutant(
            "all of x for each",
            kinds.MEANS_MISSING,
            (
                "for (int j = 0; j < taps; ++j) {\n        const int from = i + first - j;",
                "for (int q = 0; q < n; ++q) {\n        const int j = i + first - q;\n"
                "        const int from = j >= 0 && j < taps ? q : -1;",
            ),
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (i >= count) {", "if (i > count + 200) {")),
    ),
)

# --- how long a segment? ---


def cheapest(taps: int, most: int) -> tuple[int, float]:
    def work(points: int) -> float:
        return (10 * points * log2(points) + 6 * points) / (2 * (points - taps + 1))

    allowed = [1 << k for k in range(1, 40) if taps <= 1 << k <= most]
    points = min(allowed, key=work)
    return points, work(points)


def any_filter(rng: np.random.Generator) -> tuple[int, int]:
    taps = int(2 ** rng.uniform(0, 13))
    least = max(1, (taps - 1).bit_length())
    return taps, 1 << int(rng.integers(least, least + 8))


def the_only_tie() -> tuple[tuple[int, int]]:
    """128 FLOPs a result with 2^23 points and with 2^24."""
    return ((655_361, 1 << 24),)


BEST_SEGMENT = PythonExercise(
    id="05.best_segment",
    title="how long a segment?",
    task="""
Write `best_segment(taps, most)`: the length of segment with the fewest FLOPs for each result that
is kept, and that number of FLOPs.
""",
    source=f"{FOLDER}/best_segment.py",
    function="best_segment",
    cases=(
        (1, 2),
        (1, 4096),
        (2, 1 << 16),
        (9, 16),
        (129, 1 << 20),
        (129, 512),
        (513, 1 << 14),
        (4096, 4096),
        (4097, 1 << 20),
        (1 << 27, 1 << 40),
    ),
    reference=cheapest,
    rtol=1e-9,
    promises=Cases(any_filter, large=the_only_tie),
    means="Any way to the best length is right.",
    hints=(
        "P goes 2, 4, 8, … up to `most`; those shorter than the filter keep nothing.",
        "A row of P complex points costs 2 · 5 P log2(P) for the two transforms and 6 P for the "
        "products, and leaves 2 (P - taps + 1) results.",
        "Keep a pair (P, work) and replace it only where the work is smaller: so the smaller P "
        "wins a tie.",
    ),
    explanation="""
A short segment throws most of its results away, a long one has more stages. In between the minimum
is flat: for 129 taps it lies at 1024 points, and 2048 or 512 cost a few per cent more. So there is
room to choose by other things: what fits into shared memory, or how few bytes are read twice.
""",
    mutants=(
        mutant("overlap forgotten", kinds.WRONG, ("points - taps + 1", "points")),
        mutant("one result less", kinds.WRONG, ("points - taps + 1", "points - taps")),
        mutant("one transform", kinds.WRONG, ("2 * 5 * points", "5 * points")),
        mutant("no products", kinds.WRONG, (" + 6 * points)", ")")),
        mutant("products of real numbers", kinds.WRONG, (" + 6 * points)", " + points)")),
        mutant("one segment a row", kinds.WRONG, ("/ (2 * (points", "/ ((points")),
        mutant("the natural logarithm", kinds.WRONG, ("log2(points)", "log2(points) * 0.6931")),
        mutant("of equal ones the larger", kinds.WRONG, ("work < best[1]", "work <= best[1]")),
        mutant(
            "twenty lengths at most",
            kinds.NOTHING_RETURNED,
            ("while points <= most", "while points <= most and points <= 1 << 19"),
        ),
        mutant("the longest", kinds.WRONG, ("work < best[1]", "work > 0")),
        mutant(
            "the first that fits", kinds.WRONG, ("best is None or work < best[1]", "best is None")
        ),
        mutant("below most only", kinds.NOTHING_RETURNED, ("points <= most", "points < most")),
        mutant(
            "twice the filter at least",
            kinds.WRONG,
            ("points >= taps", "points >= 2 * taps"),
        ),
        mutant("all work", kinds.WRONG, (" / (2 * (points - taps + 1))", "")),
    ),
)

# --- two segments a transform ---


def paired(given: Given) -> dict:
    n, points, step = (int(given[name]) for name in ("n", "points", "step"))
    rows = rows_for(n, step)
    long = np.pad(given["x"], (0, 2 * rows * step + points))
    segments = np.stack([long[s * step :][:points] for s in range(2 * rows)])
    return {"out": np.stack((segments[0::2], segments[1::2]), axis=-1).reshape(-1)}


def rows_for(n: int, step: int) -> int:
    return -(-n // (2 * step))


TWO_SEGMENTS = Exercise(
    id="05.two_segments",
    title="two segments, one transform",
    task="""
Cut a long signal into segments that overlap, and put two of them side by side into each row of
complex numbers. Any number of points, and any step from one segment to the next, also a larger one,
as long as n + points + step fits an `int`.
""",
    source=f"{FOLDER}/two_segments.cu",
    kernel="two_segments",
    inputs=lambda rng, size: {
        "x": floats(rng, size[0]),
        "out": empty(2 * size[1] * rows_for(size[0], size[2])),
        "n": np.int32(size[0]),
        "points": np.int32(size[1]),
        "step": np.int32(size[2]),
    },
    reference=paired,
    launch=lambda size: Launch((rows_for(size[0], size[2]), -(-size[1] // 128)), (128,)),
    small=((1000, 250, 201), (5000, 70, 2000), (300, 130, 33), (20, 8, 5), (1, 1, 1)),
    full=(1 << 24, 4096, 3968),
    exact=True,
    promises=Promises(
        sizes=promises.shapes(
            n=(1, 3, 31, 256, 1025, 4099), points=(1, 2, 33, 64, 257), step=(50, 97, 300)
        ).with_longest(n=70_001, points=2053),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    # Zeros first and then what there is: two stores, and right.
    means=(means.one_store_each(at_most=2.0), means.work_shared_out()),
    hints=(
        "Segment 2 r begins at 2 r step, segment 2 r + 1 a step later.",
        "The two places are `2 * blockIdx.x * step + k` and that plus `step`.",
        "Each has its own question: a place from n on gives a zero.",
    ),
    explanation="""
The filter is real, so its convolution with a + i b is that with a plus i times that with b: the two
never mix, and nothing has to be taken apart. Where the two spectra themselves are wanted, they do:
chapter 06 shows how.
""",
    mutants=(
        mutant(
            "plus zero",
            kinds.WRONG,
            ("a < n ? x[a] :", "a < n ? x[a] + 0.0f :"),
        ),
        mutant(
            "parts exchanged",
            kinds.WRONG,
            (
                "make_float2(a < n ? x[a] : 0.0f, b < n ? x[b] : 0.0f)",
                "make_float2(b < n ? x[b] : 0.0f, a < n ? x[a] : 0.0f)",
            ),
        ),
        mutant(
            "no overlap", kinds.WRONG, ("2 * blockIdx.x * step + k", "2 * blockIdx.x * points + k")
        ),
        mutant("the second without overlap", kinds.WRONG, ("b = a + step", "b = a + points")),
        mutant("one segment ahead", kinds.WRONG, ("2 * blockIdx.x * step", "blockIdx.x * step")),
        mutant("the same twice", kinds.WRONG, ("b = a + step", "b = a")),
        mutant("even and odd numbers", kinds.WRONG, ("+ k, b = a + step", "+ 2 * k, b = a + 1")),
        mutant("first beyond the end", kinds.OUT_OF_BOUNDS, ("a < n ? x[a] : 0.0f", "x[a]")),
        mutant("second beyond the end", kinds.OUT_OF_BOUNDS, ("b < n ? x[b] : 0.0f", "x[b]")),
        mutant("one question for both", kinds.OUT_OF_BOUNDS, ("b < n ? x[b]", "a < n ? x[b]")),
        mutant("a whole pair or none", kinds.WRONG, ("a < n ? x[a]", "b < n ? x[a]")),
        mutant("round to the start", kinds.WRONG, ("b < n ? x[b] : 0.0f", "x[b % n]")),
        mutant(
            "a factor of zero in place of a choice",
            kinds.WRONG,
            ("b < n ? x[b] : 0.0f", "x[min(b, n - 1)] * (b < n)"),
        ),
        mutant(
            "places that a short can count", kinds.OUT_OF_BOUNDS, ("const int a", "const short a")
        ),
        mutant("no guard", kinds.OUT_OF_BOUNDS, ("if (k >= points) {", "if (k > points + 200) {")),
    ),
)
