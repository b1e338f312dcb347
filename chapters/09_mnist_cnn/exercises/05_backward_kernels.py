"""The exercises of "The backward pass, layer by layer"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises import (
    Exercise,
    Launch,
    Promises,
    empty,
    floats,
    kinds,
    means,
    mutant,
    promises,
)

from .common import (
    CORNERS_INFINITE,
    EPS,
    FAR_FROM_0,
    THREADS,
    a_thread_each,
    blocks,
    channels,
    integers,
    probabilities,
    scores,
    squares,
    taps,
)

IMAGES = promises.shapes(
    N=(1, 2, 3, 5), C=(1, 2, 3, 7), H=(1, 2, 3, 14, 28), W=(1, 2, 3, 14, 28), F=(1, 2, 5, 16)
).with_longest(N=65, C=33, H=1031, W=1031, F=67)


def of_logits(given) -> dict:
    z, label = given["z"], given["label"]
    return {"dz": (probabilities(z) - np.eye(z.shape[1])[label]) / len(z)}


CROSS_ENTROPY_BACKWARD = Exercise(
    id="09.cross_entropy_backward",
    title="the first gradient",
    task="""
The gradient of the batch's *mean* loss for each logit. A thread has an image. Any number of images,
two classes or more, and any logits whose differences are finite.
""",
    source="09_mnist_cnn/backward/cross_entropy_backward.cu",
    kernel="cross_entropy_backward",
    inputs=lambda rng, size: (
        scores(rng, size) | {"dz": empty(size)} | integers(N=size[0], K=size[1])
    ),
    reference=of_logits,
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
    means=(means.one_store_each(2.0), means.work_shared_out()),
    hints=(
        "The loss is log(sum of exp(z)) − z_label. The derivative of the first part for z_k is "
        "exp(z_k) over the sum: the probability of k.",
        "The second part takes 1 away where k is the label, and nothing elsewhere.",
        "The mean over the batch divides by N. As before, subtract the row's largest logit.",
        "`dz[n * K + k] = (expf(row[k] - largest) / sum - (k == label[n] ? 1.0f : 0.0f)) / N;`",
    ),
    explanation="""
Softmax and logarithm together have a simpler gradient than each of them: what the network said
minus what it should have said. Over the K logits of an image it adds up to 0, but for rounding.
""",
    mutants=(
        mutant("not the mean", kinds.SCALED, ("0.0f)) / N", "0.0f))")),
        mutant("divided by the classes", kinds.SCALED, ("0.0f)) / N", "0.0f)) / K")),
        mutant(
            "the sum's logarithm added to the largest",
            kinds.WRONG,
            ("expf(row[k] - largest) / sum", "expf(row[k] - (largest + logf(sum)))"),
        ),
        mutant("label forgotten", kinds.WRONG, (" - (k == label[n] ? 1.0f : 0.0f)", "")),
        mutant(
            "label's row only",
            kinds.PARTLY_WRITTEN,
            ("k < K; ++k) {\n        float p", "k < label[n] + 1; ++k) {\n        float p"),
        ),
        mutant(
            "no maximum",
            kinds.NOT_A_NUMBER,
            ("float largest = row[0];", "float largest = 0.0f * row[0];"),
            ("largest = fmaxf(largest, row[k]);", "largest = fmaxf(largest, 0.0f * row[k]);"),
        ),
        mutant("sign", kinds.SCALED, ("(probability -", "-(probability -")),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("n >= N", "n > N")),
    ),
)


def dense_layer(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    n, i, o = size
    return {
        "dy": floats(rng, (n, o)),
        "x": floats(rng, (n, i)),
        "dw": empty((o, i)),
        "db": empty(o),
        **integers(N=n, I=i, O=o),
    }


def of_weights(given) -> dict:
    dy = given["dy"].astype(np.float64)
    return {"dw": dy.T @ given["x"].astype(np.float64), "db": dy.sum(0)}


LINEAR_BACKWARD_WEIGHT = Exercise(
    id="09.linear_backward_weight",
    title="what a weight did",
    task="""
w[o][i] takes x[n][i] to y[n][o], in every image n of the batch. A thread has one weight: add up
what it contributed. The threads of the first column also have a bias each. Any shape; a number of x
may be infinite, and a gradient 0.
""",
    source="09_mnist_cnn/backward/linear_backward_weight.cu",
    kernel="linear_backward_weight",
    inputs=dense_layer,
    reference=of_weights,
    launch=lambda size: a_thread_each(size[1] * size[2]),
    small=((3, 33, 5), (257, 257, 1), (257, 1, 257), (5, 10, 10), (7, 1, 3), (1, 1, 1)),
    full=(256, 1568, 128),
    reduction=lambda size: 16 * size[0],  # sorted gradients cancel late, from whichever end
    promises=Promises(
        sizes=promises.shapes(
            N=(1, 2, 7, 33, 256), I=(1, 2, 31, 33, 128), O=(1, 2, 5, 10)
        ).with_longest(N=2053, I=32_771, O=32_771),
        values=(
            promises.data("dy", *promises.ORDINARY),
            (
                *promises.data("x", *promises.ORDINARY),
                promises.zero_times_infinity_along("dy", -2, "x", -2),
            ),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(4, 32, 8)),
        means.no_extra_work(3.0),
    ),
    hints=(
        "y[n][o] = sum of x[n][i] w[o][i] + b[o]. The loss's derivative for w[o][i] is the sum "
        "over n of dy[n][o] x[n][i].",
        "dy is N x O and x is N x I: `dy[n * O + o]` and `x[n * I + i]`.",
        "b[o] goes into y[n][o] with factor 1: its gradient is the sum over n of dy[n][o]. One of "
        "the threads of row o stores it, the one with i == 0.",
    ),
    explanation="""
It is a matrix product again, of dyᵀ (O x N) and x (N x I), and so is `linear_backward_input`, of
dy (N x O) and w (O x I): three products for a linear layer, one on the way forward and two back.
""",
    mutants=(
        mutant(
            "first image only",
            kinds.WRONG,
            ("n < N; ++n) {\n        s", "n < 1; ++n) {\n        s"),
        ),
        mutant(
            "512 images at most",
            kinds.WRONG,
            ("n < N; ++n) {\n        s", "n < N && n < 512; ++n) {\n        s"),
        ),
        mutant(
            "places in 16 bits",
            kinds.WRONG,
            ("x[n * I + i]", "x[(unsigned short)(n * I + i)]"),
        ),
        mutant(
            "4096 weights at most",
            kinds.FIRST_BLOCK,
            ("dw[result] =", "if (result < 4096) dw[result] ="),
        ),
        mutant(
            "gradients of 0 left out",
            kinds.ALL_ZEROS,
            ("        sum += dy[n", "        if (dy[n * O + o] != 0.0f) sum += dy[n"),
        ),
        mutant(
            "mean over the batch",
            kinds.SCALED,
            ("dw[result] = sum;", "dw[result] = sum / N;"),
            ("db[o] = of_bias;", "db[o] = of_bias / N;"),
        ),
        mutant(
            "bias forgotten",
            kinds.NOTHING_WRITTEN,
            ("db[o] = of_bias;", ""),
        ),
        mutant(
            "every thread stores the bias", kinds.MEANS_MISSING, ("if (i == 0) {", "if (i >= 0) {")
        ),
        mutant("transposed", kinds.TRANSPOSED, ("dw[result] = sum", "dw[i * O + o] = sum")),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("result >= O * I", "result > O * I")),
    ),
)


def image_planes(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    m, h, w = size
    x = np.round(2 * floats(rng, (m, h, w))) / 2  # some of four are equal
    return {
        "x": x,
        "dy": floats(rng, (m, h // 2, w // 2)),
        "dx": empty((m, h, w)),
        **integers(M=m, H=h, W=w),
    }


def to_the_largest(given) -> dict:
    four = squares(given["x"])
    m, rows, columns, _ = four.shape
    chosen = np.eye(4, dtype=bool)[np.where(np.isnan(four), np.inf, four).argmax(-1)]
    dx = np.where(chosen, given["dy"][..., None], 0.0).reshape(m, rows, columns, 2, 2)
    return {"dx": dx.transpose(0, 1, 3, 2, 4).reshape(m, 2 * rows, 2 * columns)}


POOL_BACKWARD = Exercise(
    id="09.pool_backward",
    title="the winner takes all",
    task="""
The gradient goes to the pixel that was the largest of its four, and the others get 0. Of equal ones
the first gets it, in the order of memory. H and W are even. Any floats but NaN: what the header
says of NaN is the course's kernel, and yours may leave it out.
""",
    source="09_mnist_cnn/backward/pool_backward.cu",
    kernel="pool_backward",
    inputs=image_planes,
    reference=to_the_largest,
    launch=lambda size: a_thread_each(size[0] * (size[1] // 2) * (size[2] // 2)),
    small=((3, 14, 18), (2, 8, 4), (5, 28, 28), (1, 514, 522), (1, 2, 2)),
    full=(4096, 28, 28),
    promises=Promises(
        sizes=promises.shapes(M=(1, 2, 5, 40), H=(2, 4, 14, 28), W=(2, 4, 14, 28)).with_longest(
            M=1031, H=1030, W=1030
        ),
        values=(
            promises.data("x", *promises.ANY_ORDERED, promises.LOWEST),
            promises.data("dy", *promises.ORDINARY, promises.SOME_INFINITE),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(), means.no_extra_work(2.0)),
    hints=(
        "Find the largest as on the way forward, and remember which of the four it was.",
        "`bool larger = value > largest`: of equal ones the first stays.",
        "Store all four in a second loop, also the zeros: nobody has cleared dx.",
    ),
    explanation="""
The way forward could have stored which pixel won, a byte for each. To look again costs a read of
the four, and no memory that lasts from one pass to the other.
""",
    mutants=(
        mutant(
            "the last of equal ones", kinds.WRONG, ("value > largest ||", "value >= largest ||")
        ),
        mutant("all four get it", kinds.WRONG, ("k == winner ? gradient : 0.0f", "gradient")),
        mutant("a quarter each", kinds.WRONG, ("k == winner ? gradient : 0.0f", "gradient / 4")),
        mutant(
            "zeros not stored",
            kinds.PARTLY_WRITTEN,
            (
                "        dx[corner + k / 2 * W + k % 2] = k == winner ? gradient : 0.0f;",
                "        if (k == winner) dx[corner + k / 2 * W + k % 2] = gradient;",
            ),
        ),
        mutant(
            "begins at zero",
            kinds.WRONG,
            ("float largest = x[corner];", "float largest = fmaxf(x[corner], 0.0f);"),
        ),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("i >= M * rows", "i > M * rows")),
        mutant(
            "65,536 squares at most",
            kinds.PARTLY_WRITTEN,
            ("(i >= M * rows", "(i >= 65536 || i >= M * rows"),
        ),
    ),
)


def batch(rng: np.random.Generator, size: tuple[int, int, int]) -> dict:
    n, c, p = size
    x, dy = channels(rng, size), floats(rng, size)
    x64, dy64 = x.astype(np.float64), dy.astype(np.float64)
    mean, rstd = x64.mean((0, 2)), (x64.var((0, 2)) + np.float64(EPS)) ** -0.5
    normalised = (x64 - mean[:, None]) * rstd[:, None]
    vectors = {
        "mean": mean,
        "rstd": rstd,
        "gamma": floats(rng, c),
        "dgamma": (dy64 * normalised).sum((0, 2)),
        "dbeta": dy64.sum((0, 2)),
    }
    return {
        "x": x,
        **{name: values.astype(np.float32) for name, values in vectors.items()},
        "dy": dy,
        "dx": empty(size),
        **integers(N=n, C=c, P=p),
    }


def through_the_norm(given) -> dict:
    names = "x", "mean", "rstd", "gamma", "dgamma", "dbeta", "dy"
    x, mean, rstd, gamma, dgamma, dbeta, dy = (given[name].astype(np.float64) for name in names)
    of_channel = (None, slice(None), None)
    normalised = (x - mean[of_channel]) * rstd[of_channel]
    count = x.shape[0] * x.shape[2]
    through = (dbeta[of_channel] + normalised * dgamma[of_channel]) / count
    return {"dx": (gamma * rstd)[of_channel] * (dy - through)}


NORM_BACKWARD = Exercise(
    id="09.norm_backward",
    title="through the mean and the variance",
    task="""
Find dx: the gradient of one pixel, by its own result, by the mean and by the variance. Both sums
over the channel are there: `dbeta`, the sum of dy, and `dgamma`, the sum of dy times the normalised
x. A thread has a pixel. Any shape.
""",
    source="09_mnist_cnn/backward/norm_backward.cu",
    kernel="norm_backward",
    inputs=batch,
    reference=through_the_norm,
    launch=lambda size: a_thread_each(size[0] * size[1] * size[2]),
    small=((3, 3, 49), (5, 4, 131), (4, 16, 1), (2, 1, 3)),
    full=(1024, 16, 784),
    reduction=lambda size: 4,
    promises=Promises(
        sizes=promises.shapes(N=(2, 3, 7), C=(1, 2, 3, 16), P=(2, 7, 49, 196, 257)).with_longest(
            N=1031, C=259, P=40_009
        ),
        values=(
            promises.data("dy", *promises.ORDINARY),
            promises.data("gamma", *promises.ORDINARY),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(), means.no_extra_work(3.0)),
    hints=(
        "y = γ h + β with h = (x − mean) rstd. If mean and rstd were constants, dx would be γ rstd "
        "dy.",
        "The mean moves with every pixel: that takes the mean of dy away, dbeta / (N P).",
        "The deviation moves with pixels far from the mean: that takes h dgamma / (N P) away.",
        "`dx[i] = gamma[c] * rstd[c] * (dy[i] - (dbeta[c] + normalised * dgamma[c]) / (N * P));`",
    ),
    explanation="""
Pixel i moves the mean by 1 / (N P), so every h of the channel falls by rstd / (N P): times γ dy and
added up, that is γ rstd dβ / (N P). It moves the variance by 2 (x − mean) / (N P), and so rstd by
−rstd² h / (N P), with its own h; h_j of any pixel j then falls by rstd h h_j / (N P): times γ dy_j
and added up, γ rstd h dγ / (N P).

What is taken away is the part of dy that batch norm undoes: a shift and a scale of the whole
channel do not change its result, so no gradient can point that way. The sums of dx, and of dx h,
over a channel are 0 (but for ε).
""",
    mutants=(
        mutant("constants", kinds.WRONG, ("(dy[i] - through_batch)", "dy[i]")),
        mutant("mean only", kinds.WRONG, ("(dbeta[c] + normalised * dgamma[c])", "dbeta[c]")),
        mutant(
            "variance only",
            kinds.WRONG,
            ("(dbeta[c] + normalised * dgamma[c])", "normalised * dgamma[c]"),
        ),
        mutant("divided by the pixels of an image", kinds.WRONG, ("/ (N * P)", "/ P")),
        mutant("no gamma", kinds.WRONG, ("gamma[c] * rstd[c] * (", "rstd[c] * (")),
        mutant("first channel for all", kinds.FIRST_BLOCK, ("i / P % C", "i / P % C * 0")),
        mutant("past the last", kinds.OUT_OF_BOUNDS, ("i < N * C * P", "i <= N * C * P")),
    ),
)


def image_layer(rng: np.random.Generator, size: tuple[int, ...]) -> dict:
    n, c, h, w, f = size
    return {
        "dy": floats(rng, (n, f, h, w)),
        "w": floats(rng, (f, c, 3, 3)),
        "dx": empty((n, c, h, w)),
        **integers(N=n, C=c, H=h, W=w, F=f),
    }


def of_pixels(given) -> dict:
    w = given["w"].astype(np.float64)[:, :, ::-1, ::-1]
    parts = (np.einsum("nfhw,fc->nchw", dy, w[:, :, r, s]) for r, s, dy in taps(given["dy"]))
    return {"dx": sum(parts)}


CONV_BACKWARD_INPUT = Exercise(
    id="09.conv_backward_input",
    title="the filters, turned",
    task="""
A pixel went into up to nine results of every filter. A thread has one pixel of one channel: add up
those results' gradients, each times the weight by which it went in. Any shape; a gradient may be
infinite.
""",
    source="09_mnist_cnn/backward/conv_backward_input.cu",
    kernel="conv_backward_input",
    inputs=image_layer,
    reference=of_pixels,
    launch=lambda size: Launch((blocks(size[0] * size[2] * size[3]), size[1]), (THREADS,)),
    small=((3, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 257, 257, 1), (1, 1, 1, 1, 1)),
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: 9 * size[4],
    promises=Promises(
        sizes=IMAGES,
        values=(
            promises.data("dy", *promises.ORDINARY, promises.LAST_INFINITE, CORNERS_INFINITE),
            promises.data("w", *promises.ORDINARY),
            (promises.AS_GIVEN, promises.zeros_and_infinities("w", "dy")),
        ),
    ),
    means=(
        means.one_store_each(),
        means.work_shared_out(size=(4, 2, 8, 8, 2)),
        means.no_extra_work(3.0),
    ),
    hints=(
        "By tap k the result at (row, column) reads the pixel at (row + k / 3 - 1, column + k % 3 "
        "- 1). So by tap k this pixel went into the result at (row + 1 - k / 3, column + 1 - k % "
        "3).",
        "The sum goes over the filters: w[f][c] begins at `w + (f * C + c) * 9`, dy[n][f] at "
        "`dy + (image * F + f) * H * W`.",
        "A result outside the image does not exist: 0 for it.",
    ),
    explanation="""
It is the kernel of the way forward with three changes: the sum goes over filters and not over
channels, weights are found by f and c exchanged, and the nine taps go the other way round, which is
the filter turned by 180 degrees.
""",
    mutants=(
        mutant(
            "nothing times what lies there",
            kinds.NOT_A_NUMBER,
            ("(inside ? value : 0.0f) * taps[tap]", "value * (inside ? taps[tap] : 0.0f)"),
        ),
        mutant(
            "not turned",
            kinds.WRONG,
            ("row + 1 - tap / 3;", "row - 1 + tap / 3;"),
            ("column + 1 - tap % 3;", "column - 1 + tap % 3;"),
        ),
        mutant(
            "transposed in place of turned",
            kinds.WRONG,
            ("row + 1 - tap / 3;", "row + 1 - tap % 3;"),
            ("column + 1 - tap % 3;", "column + 1 - tap / 3;"),
        ),
        mutant(
            "filters and channels exchanged",
            kinds.WRONG,
            ("w + (f * C + c) * 9", "w + (f * C + c) % (C * F) / 1 * 9 * 0 + (c * F + f) * 9"),
        ),
        mutant("one filter", kinds.WRONG, ("f < F; ++f", "f < 1; ++f")),
        mutant(
            "places in 16 bits",
            kinds.WRONG,
            ("inside ? r * W + s", "inside ? (unsigned short)(r * W + s)"),
        ),
        mutant("images C apart", kinds.FIRST_BLOCK, ("(image * F + f)", "(image * C + f)")),
        mutant("no check of the column", kinds.OUT_OF_BOUNDS, (" && s >= 0 && s < W;", ";")),
        mutant(
            "past the last pixel", kinds.OUT_OF_BOUNDS, ("pixel >= N * H * W", "pixel > N * H * W")
        ),
    ),
)


def image_pair(rng: np.random.Generator, size: tuple[int, ...]) -> dict:
    n, c, h, w, f = size
    return {
        "x": floats(rng, (n, c, h, w)),
        "dy": floats(rng, (n, f, h, w)),
        "dw": empty((f, c, 3, 3)),
        **integers(N=n, C=c, H=h, W=w, F=f),
    }


def of_filters(given) -> dict:
    dy = given["dy"].astype(np.float64)
    found = [np.einsum("nchw,nfhw->fc", x, dy) for _, _, x in taps(given["x"])]
    return {"dw": np.stack(found, axis=-1).reshape(*found[0].shape, 3, 3)}


CONV_BACKWARD_WEIGHT = Exercise(
    id="09.conv_backward_weight",
    title="nine numbers from all pixels",
    task="""
A weight was used at every pixel of every image. A block of 64 threads has one filter and one
channel, nine weights: share the pixels out, and let each thread add up nine sums of its own. What
follows adds up over the block. Any shape.
""",
    source="09_mnist_cnn/backward/conv_backward_weight.cu",
    kernel="conv_backward_weight",
    inputs=image_pair,
    reference=of_filters,
    launch=lambda size: Launch((size[1], size[4]), (64,)),
    small=((2, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 1, 1, 1)),
    budget=500_000,  # more than 65,535 pixels for 64 threads
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: size[0] * size[2] * size[3],
    promises=Promises(
        sizes=promises.shapes(  # N = 1 twice: beside the most rows it is one image
            N=(1, 1, 2, 3, 5),
            C=(1, 2, 3, 7),
            H=(1, 2, 3, 14, 28),
            W=(1, 2, 3, 14, 28),
            F=(1, 2, 5, 16),
        ).with_longest(N=65, C=33, H=40_009, W=1031, F=67),
        values=(
            promises.data("x", *promises.ORDINARY),
            promises.data("dy", *promises.ORDINARY),
        ),
    ),
    means=(means.one_store_each(), means.work_shared_out(1.7, size=(4, 2, 16, 16, 2))),
    hints=(
        "dw[f][c][r][s] is the sum over n, row and column of dy[n][f][row][column] times "
        "x[n][c][row + r - 1][column + s - 1].",
        "Two loops: over the pixels, in steps of kThreads, and over the images. The gradient is "
        "the same for all nine taps.",
        "`sum[tap]` stays in a register only if `tap` is known to the compiler: `#pragma unroll` "
        "before the loop over the taps.",
        "Outside the image the pixel is 0, as on the way forward.",
    ),
    explanation="""
A result for each of few weights, and a sum over all pixels: a reduction, the opposite of the other
two kernels of the layer, which have many results and short sums. With few filters and channels
there are few blocks, and on a GPU most multiprocessors have nothing to do.
""",
    mutants=(
        mutant(
            "places in 16 bits",
            kinds.WRONG,
            ("int row = place / W", "int row = (unsigned short)place / W"),
        ),
        mutant("one image", kinds.WRONG, ("image < N; ++image", "image < 1; ++image")),
        mutant(
            "one thread does it all",
            kinds.MEANS_MISSING,
            (
                "place = threadIdx.x; place < H * W; place += kThreads",
                "place = threadIdx.x ? H * W : 0; place < H * W; ++place",
            ),
        ),
        mutant(
            "first pixels only",
            kinds.WRONG,
            ("place < H * W; place += kThreads", "place < min(H * W, kThreads); place += kThreads"),
        ),
        mutant(
            "turned",
            kinds.WRONG,
            ("row + tap / 3 - 1;", "row + 1 - tap / 3;"),
            ("column + tap % 3 - 1;", "column + 1 - tap % 3;"),
        ),
        mutant("no check of the column", kinds.OUT_OF_BOUNDS, (" && s >= 0 && s < W;", ";")),
        mutant(
            "every second row of 64",
            kinds.WRONG,
            ("place += kThreads", "place += 2 * kThreads"),
        ),
        mutant(
            "filter and channel exchanged",
            kinds.OUT_OF_BOUNDS,
            ("x + (image * C + c)", "x + (image * C + f)"),
            ("dy[(image * F + f)", "dy[(image * F + c)"),
        ),
    ),
)
