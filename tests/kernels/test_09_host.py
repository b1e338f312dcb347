"""The network in C: every layer is right at odd shapes, stays in its arrays, and all trains."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from typing import Any

import numpy as np
import pytest
from taps_09 import convolved, taps

from course_utils import digits
from course_utils.checking import check
from course_utils.compiling.host_compilers import host_compiler
from course_utils.paths import ROOT

HOST = ROOT / "kernels/09_mnist_cnn/host"
NATIVE = "-mcpu=native" if platform.machine() in ("arm64", "aarch64") else "-march=native"
PRODUCTS = {"plain": ("-O2",), "fast": ("-O3", NATIVE)}
CONVOLUTIONS = [(1, 1, 1, 1, 1), (1, 1, 28, 28, 3), (3, 2, 5, 7, 4), (2, 5, 14, 3, 2)]  # N C H W F
MATRICES = [(1, 1, 1), (3, 33, 5), (5, 100, 10), (7, 31, 129)]  # N I O
CHANNELS = [(1, 2, 3), (3, 2, 49), (5, 3, 131), (2, 16, 1)]  # N C P
FENCE = 64  # floats of NaN on either side of an array

COMPILER = host_compiler("c")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler")


def built(folder, products: str, flags: tuple[str, ...]) -> ctypes.CDLL:
    library = folder / f"{products}.so"
    warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-psabi")
    files = [HOST / f"{name}.c" for name in ("network", "layers", f"products_{products}")]
    command = [*COMPILER.command, *flags, *warnings, "-shared", "-fPIC", *files, "-lm"]
    subprocess.run([*command, "-o", library], check=True)
    return ctypes.CDLL(library)


@pytest.fixture(scope="module", params=PRODUCTS)
def library(request, tmp_path_factory) -> ctypes.CDLL:
    return built(tmp_path_factory.mktemp("built"), request.param, PRODUCTS[request.param])


@pytest.fixture(scope="module")
def plain(tmp_path_factory) -> ctypes.CDLL:
    return built(tmp_path_factory.mktemp("built"), "plain", PRODUCTS["plain"])


class Arrays:
    """Arrays with NaN around them: one that is read spoils a result, one that is written shows."""

    def __init__(self, seed: int = 0) -> None:
        self.rng = np.random.default_rng(seed)
        self.spaces: list[tuple[np.ndarray, int]] = []

    def made(self, values: np.ndarray) -> np.ndarray:
        space = np.full(values.size + 2 * FENCE, np.nan, np.float32)
        self.spaces.append((space, values.size))
        inside = space[FENCE : FENCE + values.size].reshape(values.shape)
        inside[...] = values
        return inside

    def drawn(self, *shape: int) -> np.ndarray:
        return self.made(self.rng.standard_normal(shape))

    def room(self, *shape: int) -> np.ndarray:
        return self.made(np.full(shape, np.nan))

    def whole(self) -> bool:
        return all(
            np.isnan(space[:FENCE]).all() and np.isnan(space[FENCE + size :]).all()
            for space, size in self.spaces
        )


def call(function: Any, *arguments: Any) -> None:
    function.restype = None
    function(*(x.ctypes if isinstance(x, np.ndarray) else x for x in arguments))


@pytest.mark.parametrize("shape", CONVOLUTIONS, ids=str)
def test_the_convolution_and_its_gradients_are_right_and_stay_in_their_arrays(library, shape):
    n, c, h, w, f = shape
    arrays = Arrays()
    x, filters, dy = arrays.drawn(n, c, h, w), arrays.drawn(f, c, 3, 3), arrays.drawn(n, f, h, w)
    y, dx, dw = arrays.room(n, f, h, w), arrays.room(n, c, h, w), arrays.room(f, c, 3, 3)
    call(library.conv_forward, x, filters, y, *shape)
    call(library.conv_backward_input, dy, filters, dx, *shape)
    call(library.conv_backward_weight, x, dy, dw, *shape)
    x64, w64, dy64 = (array.astype(np.float64) for array in (x, filters, dy))
    check(y, convolved(x64, w64), reduction=9 * c)
    back = sum(np.einsum("nfhw,fc->nchw", p, w64[:, :, 2 - r, 2 - s]) for (r, s), p in taps(dy64))
    check(dx, back, reduction=9 * f)
    for (r, s), p in taps(x64):
        of_tap = np.einsum("nchw,nfhw->fc", p, dy64)
        np.testing.assert_allclose(dw[:, :, r, s], of_tap, rtol=1e-4, atol=1e-4)
    assert arrays.whole()


@pytest.mark.parametrize("shape", MATRICES, ids=str)
def test_the_linear_layer_and_its_gradients_are_right_and_stay_in_their_arrays(library, shape):
    n, i, o = shape
    arrays = Arrays()
    x, w, b, dy = arrays.drawn(n, i), arrays.drawn(o, i), arrays.drawn(o), arrays.drawn(n, o)
    y, dx, dw, db = arrays.room(n, o), arrays.room(n, i), arrays.room(o, i), arrays.room(o)
    call(library.linear_forward, x, w, b, y, *shape)
    call(library.linear_backward_input, dy, w, dx, *shape)
    call(library.linear_backward_weight, dy, x, dw, db, *shape)
    x64, w64, dy64 = (array.astype(np.float64) for array in (x, w, dy))
    for found, expected, terms in (
        (y, x64 @ w64.T + b, i),
        (dx, dy64 @ w64, o),
        (dw, dy64.T @ x64, n),
        (db, dy64.sum(0), n),
    ):
        check(found, expected, reduction=max(terms, 2))
    assert arrays.whole()


@pytest.mark.parametrize("shape", CHANNELS, ids=str)
def test_batch_norm_is_right_forward_and_backward(plain, shape):
    n, c, p = shape
    arrays = Arrays()
    x, dy, gamma, beta = *(arrays.drawn(*shape) for _ in range(2)), arrays.drawn(c), arrays.drawn(c)
    mean, rstd, dgamma, dbeta = (arrays.room(c) for _ in range(4))
    running = arrays.made(np.zeros((2, c)))
    y, dx = arrays.room(*shape), arrays.room(*shape)
    call(plain.norm_statistics, x, mean, rstd, running[0], running[1], *shape)
    call(plain.norm_forward, x, mean, rstd, gamma, beta, y, *shape)
    call(plain.norm_backward, x, mean, rstd, gamma, dy, dx, dgamma, dbeta, *shape)
    x64, dy64, g64 = (array.astype(np.float64) for array in (x, dy, gamma))
    m, v = x64.mean((0, 2)), x64.var((0, 2))
    r = (v + 1e-5) ** -0.5
    h = (x64 - m[:, None]) * r[:, None]
    close = {"rtol": 1e-4, "atol": 2e-5 * float(r.max())}
    for found, expected in (
        (mean, m),
        (rstd, r),
        (running, 0.1 * np.stack([m, x64.var((0, 2), ddof=1)])),
        (y, g64[:, None] * h + beta[:, None]),
        (dgamma, (dy64 * h).sum((0, 2))),
        (dbeta, dy64.sum((0, 2))),
        (dx, (g64 * r)[:, None] * (dy64 - dy64.mean((0, 2))[:, None]
                                   - h * (dy64 * h).mean((0, 2))[:, None])),
    ):  # fmt: skip
        np.testing.assert_allclose(found, expected, **close)
    assert arrays.whole()


def test_the_pool_takes_the_first_of_equal_pixels_and_gives_its_gradient_back(plain):
    arrays = Arrays()
    x = arrays.made(np.float32([[1, 1, 5, 2], [1, 1, 7, 7], [-3, -2, 0, 0], [-2, -9, 0, 1]])[None])
    y, dx, dy = arrays.room(1, 2, 2), arrays.room(1, 4, 4), arrays.made(np.float32([1, 2, 3, 4]))
    call(plain.pool_forward, x, y, 1, 4, 4)
    call(plain.pool_backward, x, dy, dx, 1, 4, 4)
    assert y.tolist() == [[[1, 7], [-2, 1]]]
    assert dx[0].tolist() == [[1, 0, 0, 0], [0, 0, 2, 0], [0, 3, 0, 0], [0, 0, 0, 4]]
    assert arrays.whole()


def test_large_logits_do_not_overflow(plain):
    z = np.float32([[1000, 999, -1000], [-500, -500, -500]])
    label, dz = np.uint8([1, 2]), np.full((2, 3), np.nan, np.float32)
    plain.cross_entropy_forward.restype = ctypes.c_double
    found = plain.cross_entropy_forward(z.ctypes, label.ctypes, 2, 3)
    call(plain.cross_entropy_backward, z, label, dz, 2, 3)
    power = np.exp(z.astype(np.float64) - z.max(1, keepdims=True))
    probability = power / power.sum(1, keepdims=True)
    assert found == pytest.approx(-np.log(probability[[0, 1], label]).mean())
    np.testing.assert_allclose(dz, (probability - np.eye(3)[label]) / 2, rtol=1e-5, atol=1e-7)


def test_a_few_steps_on_one_batch_make_the_loss_small(library):
    images, labels = (array[:32] for array in digits())
    x = ((images / 255 - 0.1307) / 0.3081).astype(np.float32)
    count = ctypes.c_int.in_dll(library, "parameters").value
    p = np.random.default_rng(0).uniform(-0.1, 0.1, count).astype(np.float32)
    p[144:160] = p[4784:4816] = 1  # the gammas
    running, d = np.repeat(np.float32([0, 1, 0, 1]), [16, 16, 32, 32]), np.empty_like(p)
    library.new_work.restype = ctypes.c_void_p
    library.loss.restype = ctypes.c_double
    work = ctypes.c_void_p(library.new_work(32))
    losses = []
    for _ in range(25):
        call(library.forward, p, running, x, 1, work)
        losses.append(library.loss(labels.ctypes, work))
        call(library.backward, p, d, x, labels, work)
        call(library.sgd, p, d, ctypes.c_float(0.1), count)
    library.free_work(work)
    assert losses[0] > 1.5 and losses[-1] < 0.1
