"""How tests launch the layers of chapter 09, forward and backward, and the fused kernels of a
training step, against float64."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from fast_step import FAST, IMAGES, LABELS, FastStep, fast_step
from launchers import Chapter, InPlace, draw, work
from taps_09 import convolved, taps

from course_utils import ceil_div, cp
from course_utils.benchmarks.harness.workload import KernelCall, Workload
from course_utils.checking.on_device import difference

CHAPTER = Chapter("09_mnist_cnn")
kernel = CHAPTER.kernel
CONVOLUTIONS = [(1, 1, 1, 1, 1), (1, 1, 28, 28, 3), (3, 2, 5, 7, 4), (2, 5, 14, 3, 2)]  # N C H W F
CHANNELS = [(1, 1, 2), (3, 2, 49), (5, 3, 131), (2, 16, 1)]  # N C P
MATRICES = [(1, 1, 1), (3, 33, 5), (5, 100, 10), (7, 31, 129)]  # N I O
CLOSE = {"rtol": 1e-5, "atol": 2e-5}


def host(*shape, seed=0):
    """The same random numbers as fp32 on the device and as float64 on the host."""
    values = draw(shape, seed)
    return cp.asarray(values), values.astype(np.float64)


def nothing(*shape):
    return cp.empty(shape, cp.float32)


# --- forward ---


@CHAPTER.launch("conv_forward", sizes=CONVOLUTIONS)
def conv_forward(name, n, c, h, w, f):
    (x, x64), (filters, filters64) = host(n, c, h, w), host(f, c, 3, 3, seed=1)
    y = nothing(n, f, h, w)
    expected = convolved(x64, filters64)
    launch = (ceil_div(n * h * w, 256), f), 256, (x, filters, y, n, c, h, w, f)
    return work(kernel(name), *launch, y, expected, **CLOSE)


@CHAPTER.launch("norm_statistics", sizes=[(1, 1, 1), *CHANNELS, (4, 1, 300)])
def norm_statistics(name, n, c, p):
    x = draw((n, c, p)) + 3 * np.arange(1, c + 1, dtype=np.float32)[:, None]
    x64, found = x.astype(np.float64), nothing(4, c)
    start = np.stack([np.full(c, value, np.float32) for value in (np.nan, np.nan, 0.5, 2)])
    mean, variance = x64.mean((0, 2)), x64.var((0, 2))
    expected = np.stack([mean, (variance + 1e-5) ** -0.5, start[2], start[3]])
    if n * p > 1:
        expected[2] += 0.1 * (mean - 0.5)
        expected[3] += 0.1 * (x64.var((0, 2), ddof=1) - 2)
    arguments = cp.asarray(x), *found, n, c, p, 0.1, 1e-5
    return work(kernel(name), c, 256, arguments, found, expected, InPlace, start=start, **CLOSE)


@CHAPTER.launch("norm_forward", sizes=CHANNELS)
def norm_forward(name, n, c, p):
    x, x64 = host(n, c, p)
    vectors, (mean, rstd, gamma, beta) = host(4, c, seed=1)
    y, expected = nothing(n, c, p), np.swapaxes(x64, 1, 2) - mean
    expected = np.swapaxes(expected * rstd * gamma + beta, 1, 2)
    launch = ceil_div(x.size, 256), 256, (x, *vectors, y, n, c, p)
    return work(kernel(name), *launch, y, expected, **CLOSE)


@CHAPTER.launch("relu_forward", sizes=[1, 255, 257])
def relu_forward(name, n):
    x, y = draw(n), nothing(n)
    x[::5] = np.resize(np.float32([0, -0.0, np.inf, -np.inf, np.nan]), len(x[::5]))
    expected = np.where(x <= 0, 0, x)
    return work(kernel(name), ceil_div(n, 256), 256, (cp.asarray(x), y, n), y, expected)


def planes(m, h, w):
    """m images with pixels that are equal and some that are NaN, as fp32."""
    x = np.round(2 * draw((m, h, w))) / 2
    x[:, ::3, ::4] = x[:, :1, :1]
    x[0, -1, -1] = np.nan
    return x


def squares(x):
    """The four pixels of each 2 x 2, as M x H/2 x W/2 x 4."""
    m, h, w = x.shape
    cut = x[:, : h // 2 * 2, : w // 2 * 2].reshape(m, h // 2, 2, w // 2, 2)
    return cut.transpose(0, 1, 3, 2, 4).reshape(m, h // 2, w // 2, 4)


@CHAPTER.launch("pool_forward", sizes=[(1, 2, 2), (3, 28, 28), (5, 7, 9), (2, 3, 2)])
def pool_forward(name, m, h, w):
    x, y = planes(m, h, w), nothing(m, h // 2, w // 2)
    launch = ceil_div(y.size, 256), 256, (cp.asarray(x), y, m, h, w)
    return work(kernel(name), *launch, y, squares(x).max(-1))


@CHAPTER.launch("linear_forward", sizes=MATRICES)
def linear_forward(name, n, i, o):
    (x, x64), (w, w64), (b, b64) = host(n, i), host(o, i, seed=1), host(o, seed=2)
    y = nothing(n, o)
    launch = ceil_div(n * o, 8), 256, (x, w, b, y, n, i, o)
    return work(kernel(name), *launch, y, x64 @ w64.T + b64, **CLOSE)


def scores(n, k):
    """Logits that would overflow an exponential, their softmax in float64, and labels."""
    z = 3 * draw((n, k)) + np.float32(100) * (np.arange(n) % 3)[:, None].astype(np.float32)
    power = np.exp(z.astype(np.float64) - z.max(axis=1, keepdims=True))
    label = np.random.default_rng(1).integers(0, k, n).astype(np.uint8)
    return z, power / power.sum(axis=1, keepdims=True), label


@CHAPTER.launch("cross_entropy_forward", sizes=[(1, 1), (3, 10), (257, 7)])
def cross_entropy_forward(name, n, k):
    z, probability, label = scores(n, k)
    loss = nothing(n)
    arguments = cp.asarray(z), cp.asarray(label), loss, n, k
    expected = -np.log(probability[np.arange(n), label])
    return work(
        kernel(name), ceil_div(n, 256), 256, arguments, loss, expected, rtol=1e-5, atol=2e-5
    )


# --- backward ---


@CHAPTER.launch("cross_entropy_backward", sizes=[(1, 1), (3, 10), (257, 7)])
def cross_entropy_backward(name, n, k):
    z, probability, label = scores(n, k)
    dz = nothing(n, k)
    arguments = cp.asarray(z), cp.asarray(label), dz, n, k
    expected = (probability - np.eye(k)[label]) / n
    return work(kernel(name), ceil_div(n, 256), 256, arguments, dz, expected, rtol=1e-4, atol=1e-7)


@CHAPTER.launch("linear_backward_input", sizes=MATRICES)
def linear_backward_input(name, n, i, o):
    (dy, dy64), (w, w64), dx = host(n, o), host(o, i, seed=1), nothing(n, i)
    launch = ceil_div(n * i, 256), 256, (dy, w, dx, n, i, o)
    return work(kernel(name), *launch, dx, dy64 @ w64, **CLOSE)


@CHAPTER.launch("linear_backward_weight", sizes=MATRICES)
def linear_backward_weight(name, n, i, o):
    (dy, dy64), (x, x64), found = host(n, o), host(n, i, seed=1), nothing(o * i + o)
    arguments = dy, x, found[: o * i], found[o * i :], n, i, o
    expected = np.concatenate([(dy64.T @ x64).ravel(), dy64.sum(0)])
    return work(kernel(name), ceil_div(o * i, 256), 256, arguments, found, expected, **CLOSE)


@CHAPTER.launch("pool_backward", sizes=[(1, 2, 2), (3, 28, 28), (5, 6, 10), (2, 4, 2)])
def pool_backward(name, m, h, w):
    x, dx = planes(m, h, w), nothing(m, h, w)
    dy, dy64 = host(m, h // 2, w // 2, seed=1)
    four = squares(x)
    winner = np.where(np.isnan(four), np.inf, four).argmax(-1)
    expected = np.eye(4)[winner] * dy64[..., None]
    expected = expected.reshape(m, h // 2, w // 2, 2, 2).transpose(0, 1, 3, 2, 4).reshape(m, h, w)
    launch = ceil_div(dy.size, 256), 256, (cp.asarray(x), dy, dx, m, h, w)
    return work(kernel(name), *launch, dx, expected, rtol=1e-6)


@CHAPTER.launch("relu_backward", sizes=[1, 255, 257])
def relu_backward(name, n):
    y, (dy, dy64), dx = np.maximum(draw(n), 0), host(n, seed=1), nothing(n)
    expected = np.where(y > 0, dy64, 0)
    return work(kernel(name), ceil_div(n, 256), 256, (cp.asarray(y), dy, dx, n), dx, expected)


def normalised(n, c, p):
    """x and dy, mean and rstd of x, and the normalised x in float64."""
    (x, x64), (dy, dy64) = host(n, c, p), host(n, c, p, seed=1)
    mean, rstd = x64.mean((0, 2)), (x64.var((0, 2)) + 1e-5) ** -0.5
    vectors = cp.asarray(np.stack([mean, rstd]).astype(np.float32))
    return x, dy, vectors, rstd, (x64 - mean[:, None]) * rstd[:, None], dy64


@CHAPTER.launch("norm_backward_sums", sizes=CHANNELS)
def norm_backward_sums(name, n, c, p):
    x, dy, vectors, _, h, dy64 = normalised(n, c, p)
    found = nothing(2, c)
    expected = np.stack([(dy64 * h).sum((0, 2)), dy64.sum((0, 2))])
    return work(kernel(name), c, 256, (x, *vectors, dy, *found, n, c, p), found, expected, **CLOSE)


@CHAPTER.launch("norm_backward", sizes=CHANNELS)
def norm_backward(name, n, c, p):
    x, dy, vectors, rstd, h, dy64 = normalised(n, c, p)
    gamma, gamma64 = host(c, seed=2)
    sums = np.stack([(dy64 * h).sum((0, 2)), dy64.sum((0, 2))])
    dx = nothing(n, c, p)
    through = (sums[1][:, None] + h * sums[0][:, None]) / (n * p)
    expected = (gamma64 * rstd)[:, None] * (dy64 - through)
    arguments = x, *vectors, gamma, *cp.asarray(sums.astype(np.float32)), dy, dx, n, c, p
    # With few values a channel, terms as large as rstd cancel.
    atol = 2e-5 * float(rstd.max())
    return work(
        kernel(name), ceil_div(x.size, 256), 256, arguments, dx, expected, rtol=1e-4, atol=atol
    )


@CHAPTER.launch("conv_backward_input", sizes=CONVOLUTIONS)
def conv_backward_input(name, n, c, h, w, f):
    (dy, dy64), (filters, filters64) = host(n, f, h, w), host(f, c, 3, 3, seed=1)
    dx = nothing(n, c, h, w)
    expected = sum(
        np.einsum("nfhw,fc->nchw", pixels, filters64[:, :, 2 - r, 2 - s])
        for (r, s), pixels in taps(dy64)
    )
    launch = (ceil_div(n * h * w, 256), c), 256, (dy, filters, dx, n, c, h, w, f)
    return work(kernel(name), *launch, dx, expected, **CLOSE)


@CHAPTER.launch("conv_backward_weight", sizes=CONVOLUTIONS)
def conv_backward_weight(name, n, c, h, w, f):
    (x, x64), (dy, dy64) = host(n, c, h, w), host(n, f, h, w, seed=1)
    dw, expected = nothing(f, c, 3, 3), np.empty((f, c, 3, 3))
    for (r, s), pixels in taps(x64):
        expected[:, :, r, s] = np.einsum("nchw,nfhw->fc", pixels, dy64)
    launch = (c, f), 64, (x, dy, dw, n, c, h, w, f)
    return work(kernel(name), *launch, dw, expected, rtol=1e-4, atol=1e-4)


@CHAPTER.launch("sgd", sizes=[1, 255, 257])
def sgd(name, n):
    start, (dw, dw64), w = draw(n), host(n, seed=1), nothing(n)
    launch = ceil_div(n, 256), 256, (w, dw, 0.05, n)
    return work(
        kernel(name), *launch, w, start - 0.05 * dw64, InPlace, start=start, rtol=1e-6, atol=1e-7
    )


# --- the fused kernels of a training step: each on what the others made, see fast_step.py ---


@dataclass(frozen=True)
class Output:
    """One of several outputs: ``seen`` makes the numbers to look at of it on the host. ``start`` is
    what it holds before, where the kernel also reads it."""

    array: Any
    expected: np.ndarray
    atol: float
    seen: Callable[[np.ndarray], np.ndarray] = np.asarray
    start: np.ndarray | None = None


@dataclass(frozen=True)
class Outputs(Workload):
    """Work with several outputs, by name."""

    outputs: dict[str, Output] = field(default_factory=dict)

    def poison(self):
        for output in self.outputs.values():
            if output.start is None:
                output.array.view(np.uint8)[...] = 255
            else:
                output.array[...] = cp.asarray(output.start)

    def wrong(self, result=None):
        for name, output in self.outputs.items():
            found = output.seen(cp.asnumpy(output.array))
            if wrong := difference(found, output.expected, 0.0, output.atol):
                return f"{name}: {wrong}"
        return ""


def with_outputs(launch, outputs, cleared=()):
    call = KernelCall(launch.kernel, launch.grid, launch.block, launch.arguments, launch.shared)
    first = next(iter(outputs.values()))
    return Outputs((call,), first.array, lambda: first.expected, outputs=outputs, cleared=cleared)


def total(parts):
    return parts.sum(0, dtype=np.float64)


FUSED = {  # kernel: {output: (what is seen of it, what that must be)}
    "input_moments": {
        "moments": (lambda step, found: found[0] / 2.0**32, FastStep.moments),
    },
    "prepare": {
        "factors3": (FastStep.factors3_found, FastStep.factors3),
    },
    "conv1_conv2": {
        "pool1": (lambda step, found: step.pool1_found(), FastStep.pool1),
        "c2": (lambda step, found: step.c2_found().reshape(-1, 32, 14, 14), FastStep.conv2),
        "best2": (lambda step, found: found, FastStep.best2),
        "squares": (lambda step, found: step.statistics2(), FastStep.conv2_statistics),
    },
    "linear_layers": {
        "scale2": (lambda step, found: found, FastStep.scale2),
        "dy2": (lambda step, found: found, lambda step: step.linear["dy2"]),
        "sums2": (lambda step, found: total(found), lambda step: step.linear["sums2"]),
        "dweight3": (
            lambda step, found: total(found).ravel(),
            lambda step: step.dweight3_sums().ravel(),
        ),
        "sums": (lambda step, found: total(found), lambda step: step.linear["sums"]),
    },
    "conv2_backward": {
        "dconv2": (lambda step, found: total(found).ravel(), FastStep.dconv2_sums),
        "sums1": (lambda step, found: found.sum((2, 3)), FastStep.sums1),
    },
}


def fused(name, n, precision):
    bf16 = precision == "bf16"
    step = fast_step(n, bf16)
    step.step.clock[0] = 0  # conv2_backward has moved it on
    launch = step.launches[name]
    names = [parameter.name for parameter in launch.kernel.signature.parameters]
    outputs = {}
    for output, (seen, expect) in FUSED[name].items():
        array, expected = launch.arguments[names.index(output)], expect(step)
        rounded = bf16 and output != "scale2"
        atol = float(np.abs(expected).max()) * (8e-3 if rounded else 1e-5)
        outputs[output] = Output(array, expected, atol, partial(seen, step))
    added = ("moments", "pool1", "factors3")
    return with_outputs(launch, outputs, tuple(outputs[k].array for k in added if k in outputs))


for fused_name in FUSED:
    precisions = ["fp32"] if fused_name == "input_moments" else ["fp32", "bf16"]
    CHAPTER.launch(fused_name, sizes=[*product((3, 4), precisions)])(fused)


@CHAPTER.launch("update", sizes=[3])
def update(name, n):
    """A step of gradient descent with the gradients of the network that runs layer by layer."""
    step = FastStep(n, False, FAST.tiles_for(n))
    other = FAST.plain.Network(3)
    for key, values in step.network.parameters.items():
        other.parameters[key][...] = values
    x = FAST.plain.prepared(IMAGES[step.order])
    labels = cp.asarray(LABELS[step.order])
    gradients = other.backward(other.forward(x, training=True), labels)
    outputs = {}
    for key in ("conv1", "gamma1", "conv2", "beta2", "weight3", "weight4", "bias4"):
        values = step.network.parameters[key]
        start = cp.asnumpy(values).copy()
        expected = start - 0.5 * cp.asnumpy(gradients[key]).astype(np.float64)
        outputs[key] = Output(values, expected, 2e-5, start=start)
    return with_outputs(step.launches[name], outputs)
