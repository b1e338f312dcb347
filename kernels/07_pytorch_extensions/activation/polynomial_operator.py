"""``course::polynomial``: a polynomial with trainable coefficients, as an operator of PyTorch.

On a GPU its kernels run on the tensor's device and on PyTorch's current stream. Without one the
emulator runs them on CPU tensors.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import cache
from typing import Any

import torch

from course_utils import ceil_div, cp, device, load

FOLDER = "07_pytorch_extensions/activation"
RUNS_ON = "cuda" if device() == "cuda" else "cpu"
C_TYPES = {torch.float32: "float", torch.float64: "double"}
THREADS = 256


def check(x: torch.Tensor, coefficients: torch.Tensor) -> None:
    """Raise TypeError or ValueError, in words, for what the kernels cannot take."""
    if x.dtype not in C_TYPES:
        raise TypeError(f"polynomial: x is {x.dtype}; the kernels take float32 and float64.")
    if coefficients.dtype != x.dtype:
        raise TypeError(
            f"polynomial: x is {x.dtype} and coefficients are {coefficients.dtype}. "
            f"Convert one of them: coefficients.to(x.dtype)."
        )
    if x.device.type not in (RUNS_ON, "meta"):
        raise ValueError(f"polynomial: x is on {x.device}. Move it: x.to('{RUNS_ON}').")
    if coefficients.device != x.device:
        raise ValueError(
            f"polynomial: x is on {x.device} and coefficients are on {coefficients.device}."
        )
    if coefficients.dim() != 1 or len(coefficients) == 0:
        shape = tuple(coefficients.shape)
        raise ValueError(f"polynomial: coefficients are one row of at least one, not {shape}.")


@cache
def kernel(name: str, dtype: torch.dtype) -> Any:
    """The instance of the kernel ``name`` for tensors of ``dtype``, compiled once."""
    instance = f"{name}<{C_TYPES[dtype]}>"
    return load(f"{FOLDER}/{name}.cu", names=[instance])[instance]


def launch(kernel: Any, n: int, *arguments: Any) -> None:
    """Start ``kernel`` with a thread for each of n elements, where PyTorch would start its own."""
    blocks = ceil_div(n, THREADS)
    if n == 0:  # a grid of no blocks is an error
        return
    if device() == "emulator":
        kernel(blocks, THREADS, arguments)
        return
    where = next(a.device for a in arguments if isinstance(a, torch.Tensor))
    stream = torch.cuda.current_stream(where)
    with ExitStack() as guards:
        guards.enter_context(cp.cuda.Device(where.index))
        guards.enter_context(cp.cuda.Stream.from_external(stream))
        kernel.raw((blocks,), (THREADS,), kernel.convert(arguments))  # and do not wait for it


@torch.library.custom_op("course::polynomial", mutates_args=())
def polynomial(x: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    """c[0] + c[1] x + c[2] x² + ..., for x of any shape; contiguous."""
    check(x, coefficients)
    x, coefficients = x.contiguous(), coefficients.contiguous()
    y, n = torch.empty_like(x), x.numel()
    launch(kernel("polynomial_value", x.dtype), n, x, coefficients, y, len(coefficients), n)
    return y


@polynomial.register_fake
def _(x: torch.Tensor, coefficients: torch.Tensor) -> torch.Tensor:
    check(x, coefficients)
    return torch.empty_like(x, memory_format=torch.contiguous_format)


@torch.library.custom_op("course::polynomial_backward", mutates_args=())
def polynomial_backward(
    x: torch.Tensor, coefficients: torch.Tensor, dy: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The gradients of x and of the coefficients, from that of y."""
    x, coefficients, dy = x.contiguous(), coefficients.contiguous(), dy.contiguous()
    n, count = x.numel(), len(coefficients)
    dx, partial = torch.empty_like(x), x.new_empty(ceil_div(n, THREADS), count)
    arguments = x, coefficients, dy, dx, partial, count, n
    launch(kernel("polynomial_gradient", x.dtype), n, *arguments)
    return dx, partial.sum(0)


@polynomial_backward.register_fake
def _(
    x: torch.Tensor, coefficients: torch.Tensor, dy: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    dx = torch.empty_like(x, memory_format=torch.contiguous_format)
    return dx, coefficients.new_empty(coefficients.shape)


def keep(ctx: Any, inputs: tuple, output: torch.Tensor) -> None:
    """What the backward pass will need."""
    ctx.save_for_backward(*inputs)


def gradients(ctx: Any, dy: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """A gradient for each input, in their order."""
    return polynomial_backward(*ctx.saved_tensors, dy)


polynomial.register_autograd(gradients, setup_context=keep)
