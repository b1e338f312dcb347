"""The exercises of "The forward pass, layer by layer"."""

from __future__ import annotations

import numpy as np

from course_utils import ceil_div
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import Worked

from .common import (
    ANY_LOGITS,
    EPS,
    MOMENTUM,
    PIXELS_AND_TAPS,
    THREADS,
    a_thread_each,
    blocks,
    channels,
    convolved,
    image_layer,
    scores,
    squares,
)

CONV_FORWARD = KernelExercise(
    source="09_mnist_cnn/forward/conv_forward.cu",
    inputs=image_layer,
    reference=convolved,
    launch=lambda size: Launch((blocks(size[0] * size[2] * size[3]), size[4]), (THREADS,)),
    small=((2, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 257, 257, 1), (1, 1, 1, 1, 1)),
    worked=Worked(  # y is twice the pixel at the right
        size=(1, 1, 2, 3, 1), values={"w": (0, 0, 0, 0, 0, 2, 0, 0, 0)}
    ),
    axes={"y": ("image", "channel", "row", "column")},
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: 9 * size[1],
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 3, 5),
            C=(1, 2, 3, 7, 16),
            H=(1, 2, 3, 14, 28),
            W=(1, 2, 3, 14, 28),
            F=(1, 2, 5),
        ).with_outlier(N=65, C=131, H=131, W=131, F=33),
        values=PIXELS_AND_TAPS,
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(4, 2, 8, 8, 2)),
        method.no_redundant_work(3.0),
    ),
)


def batch(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
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
        **int32s(N=n, C=c, P=p),
        "momentum": MOMENTUM,
        "eps": EPS,
    }


def moments(given: Given) -> dict[str, np.ndarray]:
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


NORM_STATISTICS = KernelExercise(
    source="09_mnist_cnn/forward/norm_statistics.cu",
    inputs=batch,
    reference=moments,
    launch=lambda size: Launch((size[1],), (THREADS,)),
    small=((3, 2, 49), (5, 3, 131), (2, 1, 40_009), (2, 1, 1), (1, 2, 1), (1, 1, 1)),
    worked=Worked(  # means 1 and 2, deviations 10 and 20, sample variances 120 and 480
        size=(2, 2, 3),
        values={
            "x": (21, 1, -9, 22, -18, -18, 1, -9, 1, 22, 22, -18),
            "running_mean": (11, -8),
            "running_variance": (20, 80),
        },
        whole=("x",),
    ),
    full=(1024, 16, 784),
    reduction=lambda size: size[0] * size[2],
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 3, 7), C=(1, 2, 3, 16), P=(1, 2, 49, 196, 255, 257, 784)
        ).with_outlier(N=131, C=67, P=40_009),
        values=(
            (
                *domain.data("x", domain.NEGATIVE, domain.POSITIVE, domain.EQUAL, domain.MIDDLING),
                InputClass("x far from 0", lambda given, rng: {"x": given["x"] + np.float32(2000)}),
            ),
            domain.scalars("momentum", 0.25),
            domain.scalars("eps", 0.5),
        ),
    ),
    method=(
        method.one_store_per_result(4.0),
        method.balanced_work(6.0, size=(4, 3, 256)),
        method.no_redundant_work(3.0),
    ),
)


def image_planes(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    m, h, w = size
    return {"x": floats(rng, (m, h, w)), "y": empty((m, h // 2, w // 2)), **int32s(M=m, H=h, W=w)}


POOL_FORWARD = KernelExercise(
    source="09_mnist_cnn/forward/pool_forward.cu",
    inputs=image_planes,
    reference=lambda given: {"y": squares(given["x"]).max(-1)},
    launch=lambda size: a_thread_each(size[0] * (size[1] // 2) * (size[2] // 2)),
    small=((3, 14, 18), (3, 7, 5), (5, 28, 28), (1, 515, 523), (1, 2, 2)),
    axes={"y": ("image", "row", "column")},
    full=(4096, 28, 28),
    contract=Domain(
        sizes=domain.shapes(
            M=(1, 2, 5, 40), H=(2, 3, 14, 28, 29), W=(2, 3, 14, 28, 31)
        ).with_outlier(M=2053, H=1031, W=1031),
        values=(domain.data("x", *domain.ANY_FLOAT),),
    ),
    method=(
        method.one_store_per_result(size=(5, 28, 28)),
        method.balanced_work(),
        method.no_redundant_work(2.0),
    ),
)


def dense_layer(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    n, i, o = size
    return {
        "x": floats(rng, (n, i)),
        "w": floats(rng, (o, i)),
        "b": floats(rng, o),
        "y": empty((n, o)),
        **int32s(N=n, I=i, O=o),
    }


def of_rows(given: Given) -> dict[str, np.ndarray]:
    x, w = given["x"].astype(np.float64), given["w"].astype(np.float64)
    return {"y": x @ w.T + given["b"]}


LINEAR_FORWARD = KernelExercise(
    source="09_mnist_cnn/forward/linear_forward.cu",
    inputs=dense_layer,
    reference=of_rows,
    launch=lambda size: Launch((ceil_div(size[0] * size[2], 8),), (THREADS,)),
    small=((3, 33, 5), (257, 257, 1), (1, 257, 257), (5, 100, 10), (2, 64, 9), (1, 1, 1)),
    axes={"y": ("image", "output")},
    full=(256, 1568, 128),
    reduction=lambda size: size[1],
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 3, 7), I=(1, 2, 31, 32, 33, 128, 1568), O=(1, 2, 5, 10, 33)
        ).with_outlier(N=2053, I=32_771, O=2053),
        values=(
            (
                *domain.data("x", *domain.ORDINARY),
                domain.zero_times_infinity_along("w", -1, "x", -1),
                domain.infinite_at_the_ends("x", -1, "w", -1),
            ),
            domain.data("w", *domain.ORDINARY),
            domain.data("b", *domain.ORDINARY),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(4, 256, 8)),
        method.shuffles(5, advice="The lanes combine their sums by shuffles.", size=(4, 64, 8)),
        method.coalesced(
            "load",
            at_most=4.5,
            advice="Lane l takes the elements l, l + 32, l + 64 ... of the two rows.",
            size=(4, 256, 8),
        ),
    ),
)


def losses(given: Given) -> dict[str, np.ndarray]:
    z = given["z"].astype(np.float64)
    largest = z.max(axis=1)
    chosen = z[np.arange(len(z)), given["label"]]
    return {"loss": np.log(np.exp(z - largest[:, None]).sum(axis=1)) + largest - chosen}


def sharp(given: Given) -> dict[str, np.ndarray]:
    """With every third row too far apart for a power, or for a probability, in fp32."""
    given["z"][2::3] *= np.float32(40)
    return given


CROSS_ENTROPY_FORWARD = KernelExercise(
    source="09_mnist_cnn/forward/cross_entropy_forward.cu",
    inputs=lambda rng, size: (
        sharp(scores(rng, size)) | {"loss": empty(size[0])} | int32s(N=size[0], K=size[1])
    ),
    reference=losses,
    launch=lambda size: a_thread_each(size[0]),
    small=((300, 10), (3, 7), (33, 3), (33, 2), (1, 5), (1, 2)),
    budget=150_000,
    full=(1 << 16, 10),
    reduction=lambda size: size[1],
    contract=ANY_LOGITS,
    method=(method.one_store_per_result(), method.balanced_work()),
)


def strided_layer(rng: np.random.Generator, size: tuple[int, ...]) -> Given:
    n, c, h, w, f = size
    return {
        "x": floats(rng, (n, c, h, w)),
        "w": floats(rng, (f, c, 5, 5)),
        "b": floats(rng, f),
        "y": empty((n, f, (h + 1) // 2, (w + 1) // 2)),
        **int32s(N=n, C=c, H=h, W=w, F=f),
    }


def at_every_second(given: Given) -> dict[str, np.ndarray]:
    around = np.pad(given["x"].astype(np.float64), ((0, 0), (0, 0), (2, 2), (2, 2)))
    w, (rows, columns) = given["w"].astype(np.float64), given["x"].shape[2:]
    y = np.zeros((len(around), len(w), (rows + 1) // 2, (columns + 1) // 2))
    for r, s in np.ndindex(5, 5):
        seen = around[:, :, r : r + rows : 2, s : s + columns : 2]
        y += np.einsum("nchw,fc->nfhw", seen, w[..., r, s])
    return {"y": y + given["b"][:, None, None]}


STRIDED_CONV = KernelExercise(
    inputs=strided_layer,
    reference=at_every_second,
    launch=lambda size: a_thread_each(
        size[0] * size[4] * ((size[2] + 1) // 2) * ((size[3] + 1) // 2)
    ),
    small=((2, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 61, 61, 1), (1, 1, 1, 1, 1)),
    worked=Worked(
        size=(1, 1, 2, 3, 1), values={"w": {(0, 0, 2, 2): 2, (0, 0, 2, 3): -1}, "b": (1,)}
    ),
    axes={"y": ("image", "filter", "row", "column")},
    full=(256, 16, 28, 28, 32),
    reduction=lambda size: 25 * size[1],
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 3, 5), C=(1, 2, 3), H=(1, 2, 3, 14, 28), W=(1, 2, 3, 15, 28), F=(1, 2, 5)
        ).with_outlier(N=65, C=67, H=257, W=259, F=33),
        values=(
            domain.data("x", *domain.ORDINARY, domain.LAST_INFINITE),
            domain.data("w", *domain.ORDINARY),
            domain.data("b", *domain.ORDINARY),
        ),
    ),
    method=(
        method.one_store_per_result(size=(3, 2, 14, 14, 2)),
        method.balanced_work(size=(4, 2, 32, 32, 2)),
        method.no_redundant_work(3.0),
    ),
)
