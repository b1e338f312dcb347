"""The exercises of "The network in C"."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from course_utils.exercises import Cases, HostExercise, kinds, mutant


def runs(*cases: str) -> tuple[str, ...]:
    """Cases for a main function, each with a number that only it and the checker know."""
    return tuple(f"{case} {crc32(case.encode()) % 1_000_000}" for case in cases)


def is_right(case: str) -> str:
    """What a main function prints where all of the result is right."""
    return f"right in run {case.split()[-1]}\n"


def planes(rng: np.random.Generator) -> str:
    """M H W and how many different values there are: with few of them many are equal."""
    m, h, w = (int(n) for n in rng.integers(1, (9, 33, 33)))
    return runs(f"{m} {2 * h} {2 * w} {rng.choice([1, 2, 4, 100_000, 200_000, 300_000])}")[0]


POOL_GRADIENT = HostExercise(
    id="09.pool_gradient",
    title="back through the max pool",
    task="""
Send each gradient to the pixel that won, and 0 to the three that lost. A pixel that lost could have
been a little larger without changing the result, so the loss does not depend on it. (There are at
most 1,000,000 pixels, of any size, and a gradient may be infinite. The input that a verdict names
is M, H, W, how many different values x has, and a number that the test program wants back.)
""",
    source="09_mnist_cnn/exercises/pool_gradient.c",
    driver="09_mnist_cnn/exercises/pool_gradient_main.c",
    cases=runs(
        "1 2 2 100000",
        "1 4 6 100000",
        "2 4 6 3",
        "3 28 28 4",
        "2 2 10 1",
        "5 6 2 100000",
        "2 8 6 200000",
        "2 8 6 300000",
        "1 70000 2 100000",
        "1 2 70000 100000",
        "1 1000 1000 100000",
        "131 4 2 100000",
    ),
    reference=is_right,
    promises=Cases(planes),
    hints=(
        "Loop over the elements of dy. Element (row, column) belongs to the square of x whose "
        "upper left pixel is (2 row, 2 column).",
        "All planes lie one below the other: M planes of H rows are M H rows.",
        "The square's four places are `corner`, `corner + 1`, `corner + W` and `corner + W + 1`, "
        "with `corner = 2 * row * W + 2 * column`.",
        "Begin with the first as winner and let another one win only if it is larger: `>`, not "
        "`>=`. The numbers may all be negative: do not begin with 0.",
    ),
    explanation="""
The pool has no parameters, so this is all of its gradient: a switch that lets the gradient through
to one of four. It needs x again, or a note of who won. Which of several equal pixels wins is a
convention, and PyTorch's is the first: black background is all equal, so it happens often.
""",
    mutants=(
        mutant(
            "what is lowest never wins",
            kinds.WRONG_OUTPUT,
            (
                "            int winner = place[0];",
                "            int winner = x[place[0]] < -3e38f ? place[1] : place[0];",
            ),
        ),
        mutant("the last of equal ones", kinds.WRONG_OUTPUT, ("> x[winner]", ">= x[winner]")),
        mutant("the smallest", kinds.WRONG_OUTPUT, ("> x[winner]", "< x[winner]")),
        mutant("zeros left out", kinds.WRONG_OUTPUT, ("dx[place[k]] = 0.0f;", "(void)place[k];")),
        mutant(
            "a gradient for all four",
            kinds.WRONG_OUTPUT,
            ("dx[place[k]] = 0.0f;", "dx[place[k]] = dy[row * (W / 2) + column];"),
        ),
        mutant("three of four looked at", kinds.WRONG_OUTPUT, ("k = 1; k < 4", "k = 1; k < 3")),
        mutant(
            "added to what was there",
            kinds.WRONG_OUTPUT,
            ("dx[winner] = dy", "dx[winner] += 1 + dy"),
        ),
        mutant(
            "places in 18 bits",
            kinds.WRONG_OUTPUT,
            (
                "corner = 2 * row * W + 2 * column",
                "corner = (2 * row * W + 2 * column) & 0x3ffff",
            ),
        ),
        mutant("one plane", kinds.WRONG_OUTPUT, ("row < M * H / 2", "row < H / 2")),
        mutant("W for W / 2", kinds.OUT_OF_BOUNDS, ("dy[row * (W / 2)", "dy[row * W")),
        mutant("no zero", kinds.WRONG_OUTPUT, ("int winner = place[0];", "int winner = place[3];")),
        mutant(
            "nothing is below -1e30",
            kinds.WRONG_OUTPUT,
            (
                "if (x[place[k]] > x[winner])",
                "if (x[place[k]] > x[winner] && x[place[k]] > -1e30f)",
            ),
        ),
    ),
)


def batches(rng: np.random.Generator) -> str:
    n, c, p = (int(k) for k in rng.integers(1, (9, 7, 90)))
    base, far = rng.choice([0, 1, -300, 1000, 1e-5]), rng.choice([0, 0, 1000])
    return runs(f"{n} {c} {p} {base} {far}")[0]


CHANNEL_STATISTICS = HostExercise(
    id="09.channel_statistics",
    title="mean and variance of a channel",
    task="""
Batch norm's first half: the mean and the variance of each channel over all images of the batch. The
pixels of a channel do not lie in one piece. A pixel may lie far from all others. (x has at most
1,000,000 elements. The input that a verdict names is N, C, P, about where the means lie, how far
the first pixel of a channel is from there, and a number that the test program wants back.)
""",
    source="09_mnist_cnn/exercises/channel_statistics.c",
    driver="09_mnist_cnn/exercises/channel_statistics_main.c",
    cases=runs(
        "2 1 3 0 0",
        "3 2 5 0 0",
        "1 1 1 5 0",
        "4 3 1 1 0",
        "1 4 49 0 0",
        "50 2 196 1000 0",
        "64 1 784 -1000 0",
        "50 2 784 0 1000",
        "1 1 1000000 1 0",
        "131 67 3 0 0",
        "3 2 49 1e-5 0",
        "300 2 3 0 0",
        "2 300 3 0 0",
        "1 65600 2 0 0",
        "65600 1 2 0 0",
    ),
    reference=is_right,
    promises=Cases(batches),
    hints=(
        "Pixel p of channel c of image n is number `(n * C + c) * P + p`.",
        "Channel by channel: one double loop over n and p for the sum, and a second one for the "
        "squared distances, once the mean is known.",
        "A channel has N · P pixels. Convert before you multiply if that could overflow: "
        "`(double)N * P`.",
        "A float has 24 bits. The mean of the squares minus the square of the mean takes two "
        "numbers near 1,000,000 from each other, to find one near 0.1: in float nothing is left.",
    ),
    explanation="""
Two walks over the data, since the distances need the mean. One walk is enough if both sums are kept
in double: the squares of 24-bit numbers have 48 bits, and a double keeps 53. Many GPUs are slow in
double (those for graphics compute at a 64th of their speed in float, an H200 at half), so this
chapter's kernel keeps to floats and walks twice. Means and squared distances that are merged in
pairs would do it in one walk.
""",
    mutants=(
        mutant(
            "one walk, in floats",
            kinds.WRONG_OUTPUT,
            ("double sum = 0, squares = 0;", "float sum = 0, squares = 0;"),
            ("x[(n * C + c) * P + p] - center", "x[(n * C + c) * P + p]"),
            ("(squares / ((double)N * P))", "(squares / ((double)N * P) - center * center)"),
        ),
        mutant(
            "sums in floats",
            kinds.WRONG_OUTPUT,
            ("double sum = 0, squares", "float sum = 0, squares"),
        ),
        mutant(
            "distances from the first pixel, in floats",
            kinds.WRONG_OUTPUT,
            (
                "double sum = 0, squares = 0;",
                "const float first = x[c * P];\n        float sum = 0, squares = 0;",
            ),
            ("sum += x[(n * C + c) * P + p];", "sum += x[(n * C + c) * P + p] - first;"),
            ("center = sum / ((double)N * P)", "center = first + sum / ((double)N * P)"),
            ("x[(n * C + c) * P + p] - center", "x[(n * C + c) * P + p] - first"),
            (
                "(squares / ((double)N * P))",
                "(squares / ((double)N * P) - (center - first) * (center - first))",
            ),
        ),
        mutant(
            "of a sample",
            kinds.WRONG_OUTPUT,
            ("(squares / ((double)N * P))", "(squares / ((double)N * P - 1))"),
        ),
        mutant(
            "the deviation's squares forgotten",
            kinds.WRONG_OUTPUT,
            ("distance * distance", "distance"),
        ),
        mutant("256 channels at most", kinds.WRONG_OUTPUT, ("c < C; ++c", "c < C && c < 256; ++c")),
        mutant("one image", kinds.WRONG_OUTPUT, ("sum / ((double)N * P)", "sum / P")),
        mutant(
            "channels in a row",
            kinds.WRONG_OUTPUT,
            ("sum += x[(n * C + c) * P + p]", "sum += x[(c * N + n) * P + p]"),
        ),
        mutant(
            "pixels first",
            kinds.WRONG_OUTPUT,
            ("sum += x[(n * C + c) * P + p]", "sum += x[(n * P + p) * C + c]"),
        ),
        mutant(
            "sums go on",
            kinds.WRONG_OUTPUT,
            ("double sum = 0, squares = 0;", "static double sum, squares;"),
        ),
        mutant(
            "P not multiplied",
            kinds.WRONG_OUTPUT,
            ("sum += x[(n * C + c) * P + p]", "sum += x[n * C + c + p]"),
        ),
        mutant(
            "a pixel too many",
            kinds.OUT_OF_BOUNDS,
            ("sum += x[(n * C + c) * P + p]", "sum += x[(n * C + c) * P + p + 1]"),
        ),
    ),
)


def layers(rng: np.random.Generator) -> str:
    n, c, h, w, f = (int(k) for k in rng.integers(1, (4, 6, 18, 18, 6)))
    return runs(f"{n} {c} {h} {w} {f}")[0]


CONV_GRADIENT = HostExercise(
    id="09.conv_gradient",
    title="back through the convolution",
    task="""
Each pixel went into up to nine results of every filter. Add up what comes back from them: the
gradient of each result times the tap by which the pixel went in. (A tensor has at most 1,000,000
elements. The input that a verdict names is N, C, H, W, F, and a number that the test program wants
back.)
""",
    source="09_mnist_cnn/exercises/conv_gradient.c",
    driver="09_mnist_cnn/exercises/conv_gradient_main.c",
    cases=runs(
        "1 1 3 3 1",
        "1 1 5 4 1",
        "2 3 5 4 2",
        "1 2 1 1 3",
        "3 1 1 7 2",
        "1 5 8 1 1",
        "1 2 70 71 2",
        "1 1 5 4 67",
        "2 67 3 4 1",
        "67 2 2 3 1",
        "1 1 300 301 1",
        "1 1 2 3 300",
        "1 300 2 3 1",
        "300 1 2 3 1",
        "1 1 2 40000 1",
        "1 1 40000 2 1",
    ),
    reference=is_right,
    promises=Cases(layers),
    hints=(
        "Take one tap. The result at (r, s) read the pixel at (r + i - 1, s + j - 1) with it. "
        "Solve that for r and s.",
        "r = row + 1 - i and s = column + 1 - j. Where that is no place of dy, there was no such "
        "result.",
        "Pixels of channel c went into all F filters, by the taps `w[((f * C + c) * 3 + i) * 3 + "
        "j]`.",
        "`sum += dy[((n * F + f) * H + r) * W + s] * w[((f * C + c) * 3 + i) * 3 + j];` in loops "
        "over f, i and j.",
    ),
    explanation="""
The signs have turned: forwards it is row + i - 1, backwards row + 1 - i. Taken together the nine
taps are the filter turned by 180 degrees, and the sum runs over filters where it ran over channels.
So the gradient of a convolution by its input is a convolution again, and a fast forward function
serves both ways.
""",
    mutants=(
        mutant(
            "filters not turned",
            kinds.WRONG_OUTPUT,
            ("row + 1 - i, s = column + 1 - j", "row - 1 + i, s = column - 1 + j"),
        ),
        mutant(
            "turned in rows only", kinds.WRONG_OUTPUT, ("s = column + 1 - j", "s = column - 1 + j")
        ),
        mutant("one filter", kinds.WRONG_OUTPUT, ("f < F", "f < 1")),
        mutant(
            "filters and channels swapped",
            kinds.OUT_OF_BOUNDS,
            ("(f * C + c) * 3", "(c * F + f) * 4"),
        ),
        mutant(
            "65,536 pixels at most",
            kinds.WRONG_OUTPUT,
            ("place < N * C * H * W", "place < N * C * H * W && place < 65536"),
        ),
        mutant("128 filters at most", kinds.WRONG_OUTPUT, ("f < F", "f < F && f < 128")),
        mutant("image 0", kinds.WRONG_OUTPUT, ("(n * F + f) * H", "f * H")),
        mutant("no look to the side", kinds.OUT_OF_BOUNDS, (" || s < 0 || s >= W", "")),
        mutant("no look up", kinds.OUT_OF_BOUNDS, ("r < 0 || ", "")),
        mutant("result beyond the last row", kinds.OUT_OF_BOUNDS, ("r >= H", "r > H")),
        mutant("two taps a side", kinds.WRONG_OUTPUT, ("j < 3", "j < 2")),
        mutant(
            "added to what was there", kinds.WRONG_OUTPUT, ("dx[place] = sum", "dx[place] += sum")
        ),
    ),
)
