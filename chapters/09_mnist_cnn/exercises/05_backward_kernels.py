"""The exercises of "The backward pass, layer by layer"."""

from __future__ import annotations

import numpy as np

from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.versions import told_apart
from course_utils.exercises.authoring.worked import Worked

from .common import (
    ANY_LOGITS,
    CORNERS_INFINITE,
    EPS,
    THREADS,
    a_thread_each,
    blocks,
    channels,
    probabilities,
    scores,
    squares,
    taps,
)
from .tested_gradients import POOLS, planes_and_gradients

IMAGES = domain.shapes(
    N=(1, 2, 3, 5), C=(1, 2, 3, 7), H=(1, 2, 3, 14, 28), W=(1, 2, 3, 14, 28), F=(1, 2, 5, 16)
).with_outlier(N=65, C=33, H=1031, W=1031, F=67)


def of_logits(given: Given) -> dict[str, np.ndarray]:
    z, label = given["z"], given["label"]
    return {"dz": (probabilities(z) - np.eye(z.shape[1])[label]) / len(z)}


CROSS_ENTROPY_BACKWARD = KernelExercise(
    source="09_mnist_cnn/backward/cross_entropy_backward.cu",
    inputs=lambda rng, size: scores(rng, size) | {"dz": empty(size)} | int32s(N=size[0], K=size[1]),
    reference=of_logits,
    launch=lambda size: a_thread_each(size[0]),
    small=((300, 10), (3, 7), (33, 3), (33, 2), (1, 5), (1, 2)),
    budget=150_000,
    axes={"dz": ("image", "class")},
    full=(1 << 16, 10),
    reduction=lambda size: size[1],
    contract=ANY_LOGITS,
    method=(method.one_store_per_result(2.0), method.balanced_work()),
)


def dense_layer(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    n, i, o = size
    return {
        "dy": floats(rng, (n, o)),
        "x": floats(rng, (n, i)),
        "dw": empty((o, i)),
        "db": empty(o),
        **int32s(N=n, I=i, O=o),
    }


def of_weights(given: Given) -> dict[str, np.ndarray]:
    dy = given["dy"].astype(np.float64)
    return {"dw": dy.T @ given["x"].astype(np.float64), "db": dy.sum(0)}


LINEAR_BACKWARD_WEIGHT = KernelExercise(
    source="09_mnist_cnn/backward/linear_backward_weight.cu",
    inputs=dense_layer,
    reference=of_weights,
    launch=lambda size: a_thread_each(size[1] * size[2]),
    small=((3, 33, 5), (257, 257, 1), (257, 1, 257), (5, 10, 10), (7, 1, 3), (1, 1, 1)),
    axes={"dw": ("output", "input")},
    full=(256, 1568, 128),
    reduction=lambda size: 16 * size[0],  # sorted gradients cancel late, from whichever end
    contract=Domain(
        sizes=domain.shapes(
            N=(1, 2, 7, 33, 256), I=(1, 2, 31, 33, 128), O=(1, 2, 5, 10)
        ).with_outlier(N=2053, I=32_771, O=32_771),
        values=(
            domain.data("dy", *domain.ORDINARY),
            (
                *domain.data("x", *domain.ORDINARY),
                domain.zero_times_infinity_along("dy", -2, "x", -2),
                domain.infinite_at_the_ends("x", -2, "dy", -2),
            ),
        ),
    ),
    method=(
        method.one_store_per_result(size=(3, 33, 16)),
        method.balanced_work(size=(4, 32, 8)),
        method.no_redundant_work(3.0),
    ),
)


def image_planes(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    m, h, w = size
    x = np.round(2 * floats(rng, (m, h, w))) / 2  # some of four are equal
    return {
        "x": x,
        "dy": floats(rng, (m, h // 2, w // 2)),
        "dx": empty((m, h, w)),
        **int32s(M=m, H=h, W=w),
    }


def to_the_largest(given: Given) -> dict[str, np.ndarray]:
    four = squares(given["x"])
    m, rows, columns, _ = four.shape
    chosen = np.eye(4, dtype=bool)[np.where(np.isnan(four), np.inf, four).argmax(-1)]
    dx = np.where(chosen, given["dy"][..., None], 0.0).reshape(m, rows, columns, 2, 2)
    return {"dx": dx.transpose(0, 1, 3, 2, 4).reshape(m, 2 * rows, 2 * columns)}


POOL_BACKWARD = KernelExercise(
    source="09_mnist_cnn/backward/pool_backward.cu",
    inputs=image_planes,
    reference=to_the_largest,
    launch=lambda size: a_thread_each(size[0] * (size[1] // 2) * (size[2] // 2)),
    small=((3, 14, 18), (2, 8, 4), (5, 28, 28), (1, 514, 522), (1, 2, 2)),
    axes={"dx": ("image", "row", "column")},
    full=(4096, 28, 28),
    contract=Domain(
        sizes=domain.shapes(M=(1, 2, 5, 40), H=(2, 4, 14, 28), W=(2, 4, 14, 28)).with_outlier(
            M=1031, H=1030, W=1030
        ),
        values=(
            domain.data("x", *domain.ANY_ORDERED, domain.LOWEST),
            domain.data("dy", *domain.ORDINARY, domain.SOME_INFINITE),
        ),
    ),
    method=(
        method.one_store_per_result(size=(5, 28, 28)),
        method.balanced_work(),
        method.no_redundant_work(2.0),
    ),
)


TEST_MAX_POOL = told_apart(
    POOLS,
    "Which four pixels would show it: with which equal ones, of which sign, in which plane?",
    planes_and_gradients,
)


def batch(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
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
        **int32s(N=n, C=c, P=p),
    }


def through_the_norm(given: Given) -> dict[str, np.ndarray]:
    names = "x", "mean", "rstd", "gamma", "dgamma", "dbeta", "dy"
    x, mean, rstd, gamma, dgamma, dbeta, dy = (given[name].astype(np.float64) for name in names)
    of_channel = (None, slice(None), None)
    normalised = (x - mean[of_channel]) * rstd[of_channel]
    count = x.shape[0] * x.shape[2]
    through = (dbeta[of_channel] + normalised * dgamma[of_channel]) / count
    return {"dx": (gamma * rstd)[of_channel] * (dy - through)}


TWO_CHANNELS = {  # means of 1 and 2, standard deviations of 2 and 4
    "x": (5, 1, -1, 6, -2, -2, 1, -1, 1, 6, 6, -2),
    "mean": (1, 2),
    "rstd": (0.5, 0.25),
}


def sums_of_gradients(given: Given) -> dict[str, np.ndarray]:
    """dgamma and dbeta of the batch."""
    dy = given["dy"].astype(np.float64)
    normalised = (given["x"] - given["mean"][:, None]) * given["rstd"][:, None]
    return {"dgamma": (dy * normalised).sum((0, 2)), "dbeta": dy.sum((0, 2))}


NORM_BACKWARD = KernelExercise(
    source="09_mnist_cnn/backward/norm_backward.cu",
    inputs=batch,
    reference=through_the_norm,
    launch=lambda size: a_thread_each(size[0] * size[1] * size[2]),
    small=((3, 3, 49), (5, 4, 131), (4, 16, 1), (2, 1, 3)),
    worked=Worked(  # dgamma and dbeta are multiples of the six numbers of a channel
        size=(2, 2, 3),
        values={**TWO_CHANNELS, "dy": (3, 1, -2, 4, 2, -1, 4, 2, -2, 3, 2, 2)},
        derived=sums_of_gradients,
    ),
    axes={"dx": ("image", "channel", "pixel")},
    full=(1024, 16, 784),
    reduction=lambda size: 4,
    contract=Domain(
        sizes=domain.shapes(N=(2, 3, 7), C=(1, 2, 3, 16), P=(2, 7, 49, 196, 257)).with_outlier(
            N=1031, C=259, P=40_009
        ),
        values=(domain.data("dy", *domain.ORDINARY), domain.data("gamma", *domain.ORDINARY)),
    ),
    method=(method.one_store_per_result(), method.balanced_work(), method.no_redundant_work(3.0)),
)


def image_layer(rng: np.random.Generator, size: tuple[int, ...]) -> Given:
    n, c, h, w, f = size
    return {
        "dy": floats(rng, (n, f, h, w)),
        "w": floats(rng, (f, c, 3, 3)),
        "dx": empty((n, c, h, w)),
        **int32s(N=n, C=c, H=h, W=w, F=f),
    }


def of_pixels(given: Given) -> dict[str, np.ndarray]:
    w = given["w"].astype(np.float64)[:, :, ::-1, ::-1]
    parts = (np.einsum("nfhw,fc->nchw", dy, w[:, :, r, s]) for r, s, dy in taps(given["dy"]))
    return {"dx": sum(parts)}


CONV_BACKWARD_INPUT = KernelExercise(
    source="09_mnist_cnn/backward/conv_backward_input.cu",
    inputs=image_layer,
    reference=of_pixels,
    launch=lambda size: Launch((blocks(size[0] * size[2] * size[3]), size[1]), (THREADS,)),
    small=((3, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 257, 257, 1), (1, 1, 1, 1, 1)),
    worked=Worked(size=(1, 1, 2, 3, 1)),
    axes={"dx": ("image", "channel", "row", "column")},
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: 9 * size[4],
    contract=Domain(
        sizes=IMAGES,
        values=(
            domain.data("dy", *domain.ORDINARY, domain.LAST_INFINITE, CORNERS_INFINITE),
            domain.data("w", *domain.ORDINARY),
            (domain.AS_GIVEN, domain.zeros_and_infinities("w", "dy")),
        ),
    ),
    method=(
        method.one_store_per_result(),
        method.balanced_work(size=(4, 2, 8, 8, 2)),
        method.no_redundant_work(3.0),
    ),
)


def image_pair(rng: np.random.Generator, size: tuple[int, ...]) -> Given:
    n, c, h, w, f = size
    return {
        "x": floats(rng, (n, c, h, w)),
        "dy": floats(rng, (n, f, h, w)),
        "dw": empty((f, c, 3, 3)),
        **int32s(N=n, C=c, H=h, W=w, F=f),
    }


def of_filters(given: Given) -> dict[str, np.ndarray]:
    dy = given["dy"].astype(np.float64)
    found = [np.einsum("nchw,nfhw->fc", x, dy) for _, _, x in taps(given["x"])]
    return {"dw": np.stack(found, axis=-1).reshape(*found[0].shape, 3, 3)}


CONV_BACKWARD_WEIGHT = KernelExercise(
    source="09_mnist_cnn/backward/conv_backward_weight.cu",
    inputs=image_pair,
    reference=of_filters,
    launch=lambda size: Launch((size[1], size[4]), (64,)),
    small=((2, 3, 5, 7, 4), (3, 2, 14, 14, 2), (1, 1, 1, 1, 1)),
    budget=500_000,  # more than 65,535 pixels for 64 threads
    worked=Worked(size=(1, 1, 2, 3, 1)),
    axes={"dw": ("filter", "channel", "row", "column")},
    full=(256, 16, 14, 14, 32),
    reduction=lambda size: size[0] * size[2] * size[3],
    contract=Domain(
        sizes=domain.shapes(  # N = 1 twice: beside the most rows it is one image
            N=(1, 1, 2, 3, 5),
            C=(1, 2, 3, 7),
            H=(1, 2, 3, 14, 28),
            W=(1, 2, 3, 14, 28),
            F=(1, 2, 5, 16),
        ).with_outlier(N=65, C=33, H=40_009, W=1031, F=67),
        values=(domain.data("x", *domain.ORDINARY), domain.data("dy", *domain.ORDINARY)),
    ),
    method=(method.one_store_per_result(), method.balanced_work(1.7, size=(4, 2, 16, 16, 2))),
)
