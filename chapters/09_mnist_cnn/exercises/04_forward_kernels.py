"""The exercises of "The forward pass, layer by layer"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Means,
    Promises,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)
from course_utils.exercises.promises import Values

from .common import (
    CORNERS_INFINITE,
    EPS,
    FAR_FROM_0,
    MOMENTUM,
    THREADS,
    a_thread_each,
    blocks,
    channels,
    integers,
    scores,
    squares,
    taps,
)


def image_layer(rng: np.random.Generator, size: tuple[int, ...]) -> dict:
    n, c, h, w, f = size
    return {
        "x": floats(rng, (n, c, h, w)),
        "w": floats(rng, (f, c, 3, 3)),
        "y": empty((n, f, h, w)),
        **integers(N=n, C=c, H=h, W=w, F=f),
    }


def convolved(given) -> dict:
    w = given["w"].astype(np.float64)
    parts = (np.einsum("nchw,fc->nfhw", x, w[:, :, r, s]) for r, s, x in taps(given["x"]))
    return {"y": sum(parts)}


CONV_FORWARD = Exercise(
    id="09.conv_forward",
    title="a layer of filters",
    task="""
One thread has one pixel of one result. Add up its 9 C products. A pixel outside the image counts as
0, and its neighbour in memory is not it. Any number of images, channels and filters, images of any
size; a pixel may be infinite.
""",
    source="09_mnist_cnn/forward/conv_forward.cu",
    kernel="conv_forward",
    inputs=image_layer,
    reference=convolved,
    launch=lambda size: Launch((blocks(size[0] * size[2] * size[3]), size[4]), (THREADS,)),
    small=((2, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 257, 257, 1), (1, 1, 1, 1, 1)),
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: 9 * size[1],
    promises=Promises(
        sizes=promises.shapes(
            N=(1, 2, 3, 5),
            C=(1, 2, 3, 7, 16),
            H=(1, 2, 3, 14, 28),
            W=(1, 2, 3, 14, 28),
            F=(1, 2, 5),
        ).with_longest(N=65, C=131, H=131, W=131, F=33),
        values=(
            promises.data("x", *promises.ORDINARY, promises.LAST_INFINITE, CORNERS_INFINITE),
            promises.data("w", *promises.ORDINARY),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(4, 2, 8, 8, 2)),
        means.no_extra_work(3.0),
    ),
    hints=(
        "Two loops: over the channels, and over nine taps. Tap k is k / 3 - 1 rows and k % 3 - 1 "
        "columns away from the thread's own pixel.",
        "x[n][c][r][s] is `x[((image * C + c) * H + r) * W + s]`, and a channel's nine weights "
        "begin at `w + (filter * C + c) * 9`.",
        "Row and column have to lie in the image, each for itself: `r >= 0 && r < H && s >= 0 && "
        "s < W`.",
        "The result has F planes an image: `y[((image * F + filter) * H + row) * W + column]`.",
    ),
    explanation="""
The check of a tap's place reads another pixel and takes 0 in its stead, so that all threads of a
warp do the same: on the left edge of an image no warp diverges. Each pixel is read 9 F times and
each weight N H W times, where once would do. Caches serve repeated reads; notebook 06 keeps what is
used again in shared memory and registers.
""",
    mutants=(
        mutant(
            "no check of the column",
            kinds.OUT_OF_BOUNDS,
            (" && s >= 0 && s < W;", ";"),
        ),
        mutant(
            "column before the next row",
            kinds.WRONG,
            (" && s >= 0 && s < W;", " && r * W + s >= 0 && r * W + s < H * W;"),
        ),
        mutant(
            "nothing times what lies there",
            kinds.NOT_A_NUMBER,
            ("(inside ? value : 0.0f) * taps[tap]", "value * (inside ? taps[tap] : 0.0f)"),
        ),
        mutant("no check of the row", kinds.OUT_OF_BOUNDS, ("r >= 0 && r < H && ", "")),
        mutant(
            "places in 16 bits",
            kinds.WRONG,
            ("inside ? r * W + s", "inside ? (unsigned short)(r * W + s)"),
        ),
        mutant("32 channels at most", kinds.WRONG, ("c < C; ++c", "c < C && c < 32; ++c")),
        mutant("the first channel only", kinds.WRONG, ("c < C; ++c", "c < 1; ++c")),
        mutant("filter turned", kinds.WRONG, ("* taps[tap]", "* taps[8 - tap]")),
        mutant("sides exchanged", kinds.WRONG, ("inside ? r * W + s", "inside ? s * H + r")),
        mutant(
            "images lie F apart",
            kinds.OUT_OF_BOUNDS,
            ("x + (image * C + c)", "x + (image * F + c)"),
        ),
        mutant("no sum", kinds.WRONG, ("sum += (inside", "sum = (inside")),
        mutant(
            "past the last pixel",
            kinds.OUT_OF_BOUNDS,
            ("if (pixel >= N * H * W)", "if (pixel > N * H * W)"),
        ),
    ),
)


def batch(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    n, c, p = size
    x = channels(rng, size)
    if c > 1:
        x[:, -1] += np.float32(2000)  # a single pass shows in the first verdict
    return {
        "x": x,
        "mean": empty(c),
        "rstd": empty(c),
        "running_mean": floats(rng, c),
        "running_variance": np.abs(floats(rng, c)),
        **integers(N=n, C=c, P=p),
        "momentum": MOMENTUM,
        "eps": EPS,
    }


def moments(given) -> dict:
    """Mean and variance over the batch, and the running ones, in float64."""
    x, momentum = given["x"].astype(np.float64), np.float64(given["momentum"])
    mean, variance = x.mean((0, 2)), x.var((0, 2))
    running = given["running_mean"].astype(np.float64), given["running_variance"].astype(np.float64)
    found = {"mean": mean, "rstd": (variance + np.float64(given["eps"])) ** -0.5}
    count = x.shape[0] * x.shape[2]
    if count > 1:
        of_sample = variance * count / (count - 1)
        running = (
            running[0] + momentum * (mean - running[0]),
            running[1] + momentum * (of_sample - running[1]),
        )
    return {**found, "running_mean": running[0], "running_variance": running[1]}


NORM_STATISTICS = Exercise(
    id="09.norm_statistics",
    title="mean and variance of a channel",
    task="""
A block of 256 threads has a channel, in all images of the batch. Find its mean and the sum of the
squared distances from it; what follows is there. Also channels whose mean is large beside their
deviation must come out right. `block_sum<256>(value)` gives the sum over the block, in its first
warp; all threads call it, and between two calls there has to be a barrier.
""",
    source="09_mnist_cnn/forward/norm_statistics.cu",
    kernel="norm_statistics",
    inputs=batch,
    reference=moments,
    launch=lambda size: Launch((size[1],), (THREADS,)),
    small=((3, 2, 49), (5, 3, 131), (2, 1, 40_009), (2, 1, 1), (1, 2, 1), (1, 1, 1)),
    full=(1024, 16, 784),
    reduction=lambda size: size[0] * size[2],
    promises=Promises(
        sizes=promises.shapes(
            N=(1, 2, 3, 7), C=(1, 2, 3, 16), P=(1, 2, 49, 196, 255, 257, 784)
        ).with_longest(N=131, C=67, P=40_009),
        values=(
            (
                *promises.data(
                    "x", promises.NEGATIVE, promises.POSITIVE, promises.EQUAL, promises.MIDDLING
                ),
                Values("x far from 0", lambda given, rng: {"x": given["x"] + np.float32(2000)}),
            ),
            promises.scalars("momentum", 0.25),
            promises.scalars("eps", 0.5),
        ),
    ),
    means=(
        means.one_store_each(4.0),
        means.work_shared_out(6.0, size=(4, 3, 256)),
        means.no_extra_work(3.0),
    ),
    hints=(
        "Two passes: first the sum, whose mean thread 0 puts into `center`; then the squares.",
        "A loop in both: `for (int i = threadIdx.x; i < count; i += kThreads)`.",
        "Between them `__syncthreads()`: the others wait for `center`, and `block_sum` uses its "
        "shared memory again.",
        "The sum of squares minus count times the squared mean is one pass, and wrong: with a mean "
        "of 2000 both are so large that their difference has no digit left.",
    ),
    explanation="""
The second pass costs another read, from the cache when the batch is small. Welford's update, or a
sum relative to the channel's first pixel, would do it in one. The running values move a tenth of
the way with each batch; the network uses them when it answers and has no batch to look at.
""",
    mutants=(
        mutant(
            "one pass",
            kinds.WRONG,
            (
                "float distance = x[(i / P * C + c) * P + i % P] - center;\n"
                "        squares += distance * distance;",
                "float value = x[(i / P * C + c) * P + i % P];\n"
                "        squares += value * value - center * center;",
            ),
        ),
        mutant(
            "no barrier",
            kinds.DATA_RACE,
            ("    __syncthreads(); // the mean is there, and the warps' sums have been read\n", ""),
        ),
        mutant("first image only", kinds.WRONG, ("sum += x[(i / P * C + c) * P", "sum += x[c * P")),
        mutant(
            "elements numbered in 16 bits",
            kinds.WRONG,
            (
                "sum += x[(i / P * C + c) * P + i % P]",
                "sum += x[((unsigned short)i / P * C + c) * P + (unsigned short)i % P]",
            ),
        ),
        mutant(
            "channels not skipped",
            kinds.WRONG,
            ("sum += x[(i / P * C + c) * P + i % P]", "sum += x[c * count + i]"),
        ),
        mutant(
            "no block sum of the squares",
            kinds.WRONG,
            ("    squares = block_sum<kThreads>(squares);\n", ""),
        ),
        mutant("not divided", kinds.WRONG, ("center = sum / count;", "center = sum;")),
    ),
)


def image_planes(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    m, h, w = size
    return {
        "x": floats(rng, (m, h, w)),
        "y": empty((m, h // 2, w // 2)),
        **integers(M=m, H=h, W=w),
    }


POOL_FORWARD = Exercise(
    id="09.pool_forward",
    title="the largest of four",
    task="""
Each thread takes the largest of 2 × 2 pixels. A last row or column of an odd side is left out. Any
floats: where one of the four is NaN, the result is NaN.
""",
    source="09_mnist_cnn/forward/pool_forward.cu",
    kernel="pool_forward",
    inputs=image_planes,
    reference=lambda given: {"y": squares(given["x"]).max(-1)},
    launch=lambda size: a_thread_each(size[0] * (size[1] // 2) * (size[2] // 2)),
    small=((3, 14, 18), (3, 7, 5), (5, 28, 28), (1, 515, 523), (1, 2, 2)),
    full=(4096, 28, 28),
    promises=Promises(
        sizes=promises.shapes(
            M=(1, 2, 5, 40), H=(2, 3, 14, 28, 29), W=(2, 3, 14, 28, 31)
        ).with_longest(M=2053, H=1031, W=1031),
        values=(promises.data("x", *promises.ANY_FLOAT),),
    ),
    means=(means.one_store_each(), means.work_shared_out(), means.no_extra_work(2.0)),
    hints=(
        "y[i] is row i / columns % rows and column i % columns of plane i / (rows * columns).",
        "Its four pixels begin at twice that row and column of a plane of H x W.",
        "Begin with the first pixel as the largest, not with a number of your own: all four may be "
        "below it.",
        "A comparison with NaN is false, and `fmaxf` passes NaN by: ask `isnan(value)`.",
    ),
    explanation="""
The layer keeps a quarter of the pixels and has no weights. That NaN wins is no luxury: a network
that has gone wrong should show it, and `fmaxf` would hide it here.
""",
    mutants=(
        mutant(
            "begins at zero",
            kinds.WRONG,
            ("float largest = corner[0];", "float largest = 0.0f * corner[0];"),
        ),
        mutant(
            "fmaxf",
            kinds.WRONG,
            ("value > largest || isnan(value) ? value : largest", "fmaxf(largest, value)"),
        ),
        mutant("three of four", kinds.WRONG, ("k < 4; ++k", "k < 3; ++k")),
        mutant("row not doubled", kinds.FIRST_BLOCK, ("% rows * 2) * W", "% rows) * W")),
        mutant(
            "odd sides", kinds.WRONG, ("/ (rows * columns) * H", "/ (rows * columns) * 2 * rows")
        ),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("i >= M * rows", "i > M * rows")),
        mutant("65,536 results at most", kinds.WRONG, ("y[i] =", "if (i < 65536) y[i] =")),
    ),
)


def dense_layer(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    n, i, o = size
    return {
        "x": floats(rng, (n, i)),
        "w": floats(rng, (o, i)),
        "b": floats(rng, o),
        "y": empty((n, o)),
        **integers(N=n, I=i, O=o),
    }


def of_rows(given) -> dict:
    x, w = given["x"].astype(np.float64), given["w"].astype(np.float64)
    return {"y": x @ w.T + given["b"]}


LINEAR_FORWARD = Exercise(
    id="09.linear_forward",
    title="a row times a row",
    task="""
Both matrices lie in memory row by row, and a result is the product of a row of x with a row of w,
with the bias added. A warp has a result: its lanes read 32 neighbours of a row together, and
combine what they have by shuffles. Any shape; a number of x may be infinite, and its weight 0.
""",
    source="09_mnist_cnn/forward/linear_forward.cu",
    kernel="linear_forward",
    inputs=dense_layer,
    reference=of_rows,
    launch=lambda size: Launch((-(-size[0] * size[2] // 8),), (THREADS,)),
    small=((3, 33, 5), (257, 257, 1), (1, 257, 257), (5, 100, 10), (2, 64, 9), (1, 1, 1)),
    full=(256, 1568, 128),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(
            N=(1, 2, 3, 7), I=(1, 2, 31, 32, 33, 128, 1568), O=(1, 2, 5, 10, 33)
        ).with_longest(N=2053, I=32_771, O=2053),
        values=(
            (
                *promises.data("x", *promises.ORDINARY),
                promises.zero_times_infinity_along("w", -1, "x", -1),
            ),
            promises.data("w", *promises.ORDINARY),
            promises.data("b", *promises.ORDINARY),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(4, 256, 8)),
        means.shuffles(5, advice="The lanes combine their sums by shuffles.", size=(4, 64, 8)),
        Means(
            "sectors that a load of a warp touches",
            lambda work: work.counts.global_load_sectors / work.counts.global_load_requests,
            at_most=4.5,
            advice="Lane l takes the elements l, l + 32, l + 64 ... of the two rows.",
            size=(4, 256, 8),
        ),
    ),
    hints=(
        "`for (int i = lane; i < I; i += kWarpSize)`: the lanes beside each other read neighbours.",
        "`warp_sum(value)` of reduce.cuh adds up over the 32 lanes; all of them call it.",
        "One lane stores the sum, and adds the bias once: `if (lane == 0)`.",
    ),
    explanation="""
Had the weights been stored the other way round, I x O, a thread for each result would have read
neighbours beside its neighbours. PyTorch stores O x I, so that a row of weights is a neuron. A
result takes 32 threads, so the number of a thread would wrap beyond 2²⁷ results; the number of the
warp, counted from the block's, does not.
""",
    mutants=(
        mutant(
            "bias in every lane",
            kinds.WRONG,
            ("sum = warp_sum(sum);", "sum = warp_sum(sum + b[o]);"),
        ),
        mutant("no bias", kinds.WRONG, ("sum + b[o]", "sum")),
        mutant("no combining", kinds.WRONG, ("    sum = warp_sum(sum);\n", "")),
        mutant(
            "weights of 0 left out",
            kinds.WRONG,
            ("        sum += x[n", "        if (w[o * I + i] != 0.0f) sum += x[n"),
        ),
        mutant(
            "1024 results at most",
            kinds.FIRST_BLOCK,
            ("if (lane == 0)", "if (lane == 0 && result < 1024)"),
        ),
        mutant(
            "places in 16 bits",
            kinds.EDGES,
            ("x[n * I + i]", "x[(unsigned short)(n * I + i)]"),
        ),
        mutant("64 rounds at most", kinds.WRONG, ("i < I; i +=", "i < I && i < 2048; i +=")),
        mutant("last elements missed", kinds.WRONG, ("i < I; i +=", "i + 31 < I; i +=")),
        mutant(
            "rows and columns exchanged", kinds.OUT_OF_BOUNDS, ("w[o * I + i]", "w[i * O + o + 1]")
        ),
        mutant(
            "each lane a piece of its own",
            kinds.MEANS_MISSING,
            (
                "for (int i = lane; i < I; i += kWarpSize) {",
                "int piece = (I + 31) / 32;\n"
                "    for (int i = lane * piece; i < min(I, (lane + 1) * piece); ++i) {",
            ),
        ),
        mutant("every lane stores", kinds.MEANS_MISSING, ("if (lane == 0)", "if (lane >= 0)")),
    ),
)


def losses(given) -> dict:
    z = given["z"].astype(np.float64)
    largest = z.max(axis=1)
    chosen = z[np.arange(len(z)), given["label"]]
    return {"loss": np.log(np.exp(z - largest[:, None]).sum(axis=1)) + largest - chosen}


def sharp(given: dict) -> dict:
    """With every third row too far apart for a power, or for a probability, in fp32."""
    given["z"][2::3] *= np.float32(40)
    return given


CROSS_ENTROPY = Exercise(
    id="09.cross_entropy_forward",
    title="how wrong a guess is",
    task="""
The loss of an image is −log of the probability that the network gives to its label: of the softmax
of its K logits. A thread has an image. Any number of images, two classes or more, and any logits
whose differences are finite.
""",
    source="09_mnist_cnn/forward/cross_entropy_forward.cu",
    kernel="cross_entropy_forward",
    inputs=lambda rng, size: (
        sharp(scores(rng, size)) | {"loss": empty(size[0])} | integers(N=size[0], K=size[1])
    ),
    reference=losses,
    launch=lambda size: a_thread_each(size[0]),
    small=((300, 10), (3, 7), (33, 3), (33, 2), (1, 5), (1, 2)),
    budget=150_000,
    full=(1 << 16, 10),
    reduction=lambda size: size[1],
    promises=Promises(
        sizes=promises.shapes(N=(3, 5, 31, 33, 257), K=(2, 3, 4, 10, 100, 257)).with_longest(
            N=1031, K=521
        ),
        values=(promises.data("z", *promises.ANY_FINITE, FAR_FROM_0),),
    ),
    means=(means.one_store_each(), means.work_shared_out()),
    hints=(
        "−log(exp(z_label) / sum of exp(z)) is log(sum of exp(z)) − z_label: no division.",
        "`expf(100.0f)` overflows. Subtract the row's largest logit from all; the result stays the "
        "same, as a factor that cancels.",
        "Begin the search for the largest with `row[0]`.",
        "`loss[n] = logf(sum) - (row[label[n]] - largest);`",
    ),
    explanation="""
To take the softmax first and its logarithm after it would lose: a probability of 1e-50 is 0 in
fp32, and its logarithm minus infinity, where the loss is 115. Subtract first, and it stays finite.
What is lost lies at the other end: a loss below 6e-8 comes out as 0, since the sum is then 1 in
fp32. It is too small to matter to a mean.
""",
    mutants=(
        mutant(
            "no maximum",
            kinds.WRONG,
            ("expf(row[k] - largest)", "expf(row[k])"),
            ("(row[label[n]] - largest)", "row[label[n]]"),
        ),
        mutant(
            "largest of positive ones",
            kinds.WRONG,
            ("float largest = row[0];", "float largest = fmaxf(row[0], 0.0f);"),
        ),
        mutant("sign", kinds.SCALED, ("loss[n] = logf(sum) - (", "loss[n] = -logf(sum) + (")),
        mutant(
            "logarithm of a quotient",
            kinds.WRONG,
            (
                "logf(sum) - (row[label[n]] - largest)",
                "-logf(expf(row[label[n]] - largest) / sum)",
            ),
        ),
        mutant("label not used", kinds.WRONG, ("row[label[n]]", "row[0]")),
        mutant("128 classes", kinds.WRONG, ("row[label[n]]", "row[label[n] & 127]")),
        mutant(
            "largest put back first",
            kinds.WRONG,
            (
                "logf(sum) - (row[label[n]] - largest)",
                "logf(sum) + largest - row[label[n]]",
            ),
        ),
        mutant("largest not put back", kinds.WRONG, ("(row[label[n]] - largest)", "row[label[n]]")),
        mutant("one row", kinds.WRONG, ("z + n * K", "z + 0 * K")),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("n >= N", "n > N")),
    ),
)
