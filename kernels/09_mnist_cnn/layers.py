"""The layers of chapter 09, forward and backward: each function starts one kernel or two.

All tensors are fp32 on the device and in C order, images are N x C x H x W. A function makes its
result and returns it. ``KERNELS`` holds what each name starts, loaded when it is first asked for;
put a kernel of your own in its place, with the same parameters, and the functions use it.
"""

from __future__ import annotations

from typing import Any

from course_utils import ceil_div, cp, load
from course_utils.paths import kernel_file

THREADS = 256
MOMENTUM, EPS = 0.1, 1e-5  # of the running statistics, and added to a variance: PyTorch's


class Kernels(dict[str, Any]):
    """The chapter's kernels by name."""

    def __missing__(self, name: str) -> Any:
        self[name] = load(kernel_file(name, "09_mnist_cnn")).kernel
        return self[name]


KERNELS = Kernels()


def blocks(n: int) -> int:
    """How many blocks of 256 threads hold n of them."""
    return ceil_div(n, THREADS)


def _run(name: str, grid: Any, *arguments: Any, threads: int = THREADS) -> None:
    KERNELS[name](grid, threads, arguments)


def conv(x: Any, w: Any) -> Any:
    """N x F x H x W, from x of N x C x H x W and filters w of F x C x 3 x 3."""
    n, channels, height, width = x.shape
    y = cp.empty((n, len(w), height, width), cp.float32)
    grid = blocks(n * height * width), len(w)
    _run("conv_forward", grid, x, w, y, n, channels, height, width, len(w))
    return y


def conv_backward(dy: Any, x: Any, w: Any, want_input: bool = True) -> tuple[Any, Any]:
    """dx (None where it is not wanted, as of the first layer) and dw."""
    n, channels, height, width = x.shape
    shape = n, channels, height, width, len(w)
    dw = cp.empty(w.shape, cp.float32)
    _run("conv_backward_weight", (channels, len(w)), x, dy, dw, *shape, threads=64)
    if not want_input:
        return None, dw
    dx = cp.empty(x.shape, cp.float32)
    _run("conv_backward_input", (blocks(n * height * width), channels), dy, w, dx, *shape)
    return dx, dw


def statistics(x: Any, running_mean: Any, running_variance: Any) -> tuple[Any, Any]:
    """mean and 1 / standard deviation of each channel over the batch; moves the running ones."""
    n, channels, height, width = x.shape
    mean, rstd = cp.empty(channels, cp.float32), cp.empty(channels, cp.float32)
    shape = n, channels, height * width
    _run("norm_statistics", channels, x, mean, rstd, running_mean, running_variance, *shape,
         MOMENTUM, EPS)  # fmt: skip
    return mean, rstd


def norm(x: Any, mean: Any, rstd: Any, gamma: Any, beta: Any) -> Any:
    """gamma (x - mean) rstd + beta, channel by channel."""
    n, channels, height, width = x.shape
    y = cp.empty(x.shape, cp.float32)
    shape = n, channels, height * width
    _run("norm_forward", blocks(x.size), x, mean, rstd, gamma, beta, y, *shape)
    return y


def norm_backward(dy: Any, x: Any, mean: Any, rstd: Any, gamma: Any) -> tuple[Any, Any, Any]:
    """dx, dgamma and dbeta."""
    n, channels, height, width = x.shape
    dgamma, dbeta = cp.empty(channels, cp.float32), cp.empty(channels, cp.float32)
    shape = n, channels, height * width
    _run("norm_backward_sums", channels, x, mean, rstd, dy, dgamma, dbeta, *shape)
    dx = cp.empty(x.shape, cp.float32)
    _run("norm_backward", blocks(x.size), x, mean, rstd, gamma, dgamma, dbeta, dy, dx, *shape)
    return dx, dgamma, dbeta


def relu(x: Any) -> Any:
    y = cp.empty(x.shape, cp.float32)
    _run("relu_forward", blocks(x.size), x, y, x.size)
    return y


def relu_backward(dy: Any, y: Any) -> Any:
    dx = cp.empty(y.shape, cp.float32)
    _run("relu_backward", blocks(y.size), y, dy, dx, y.size)
    return dx


def pool(x: Any) -> Any:
    """The largest of each 2 x 2 pixels."""
    n, channels, height, width = x.shape
    y = cp.empty((n, channels, height // 2, width // 2), cp.float32)
    _run("pool_forward", blocks(y.size), x, y, n * channels, height, width)
    return y


def pool_backward(dy: Any, x: Any) -> Any:
    n, channels, height, width = x.shape
    dx = cp.empty(x.shape, cp.float32)
    _run("pool_backward", blocks(dy.size), x, dy, dx, n * channels, height, width)
    return dx


def linear(x: Any, w: Any, b: Any) -> Any:
    """N x O, from x of N x I, w of O x I and b of O."""
    n, (outputs, inputs) = len(x), w.shape
    y = cp.empty((n, outputs), cp.float32)
    _run("linear_forward", ceil_div(n * outputs, THREADS // 32), x, w, b, y, n, inputs, outputs)
    return y


def linear_backward(dy: Any, x: Any, w: Any) -> tuple[Any, Any, Any]:
    """dx, dw and db."""
    n, (outputs, inputs) = len(x), w.shape
    dx, dw = cp.empty(x.shape, cp.float32), cp.empty(w.shape, cp.float32)
    db = cp.empty(outputs, cp.float32)
    _run("linear_backward_input", blocks(x.size), dy, w, dx, n, inputs, outputs)
    _run("linear_backward_weight", blocks(w.size), dy, x, dw, db, n, inputs, outputs)
    return dx, dw, db


def cross_entropy(logits: Any, labels: Any) -> Any:
    """The loss of each image, from N x K logits and uint8 labels."""
    loss = cp.empty(len(logits), cp.float32)
    _run("cross_entropy_forward", blocks(len(logits)), logits, labels, loss, *logits.shape)
    return loss


def cross_entropy_backward(logits: Any, labels: Any) -> Any:
    """The gradient of the batch's mean loss."""
    dz = cp.empty(logits.shape, cp.float32)
    _run("cross_entropy_backward", blocks(len(logits)), logits, labels, dz, *logits.shape)
    return dz


def sgd(w: Any, dw: Any, rate: float) -> None:
    """w -= rate dw, in place."""
    _run("sgd", blocks(w.size), w, dw, rate, w.size)
