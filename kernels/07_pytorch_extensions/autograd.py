"""Reverse-mode automatic differentiation on tensors, and what a small network needs of it.

A :class:`Tensor` holds an array, the tensors that it was made of, and for each of these a function
that takes the gradient of the result back to it. Whatever computes on the arrays is ``ops``, the
*operations*: :class:`NumPy` here, or ``Kernels`` of ``tensor_kernels.py``, with the course's own
CUDA kernels. The graph is the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from course_utils.errors import LessonError

Pull = Callable[[Any], Any]  # from the gradient of a result to that of one of its parents


class NumPy:
    """The operations in NumPy. All arrays have one dtype, fp64 by default."""

    def __init__(self, dtype: Any = np.float64) -> None:
        self.dtype = np.dtype(dtype)

    def array(self, values: Any) -> np.ndarray:
        """A new array of these values: what is in the graph belongs to nobody else."""
        return np.array(values, self.dtype)

    def number(self, value: float) -> np.ndarray:
        """A constant, of shape ()."""
        return np.array(value, self.dtype)

    def host(self, x: Any) -> np.ndarray:
        return np.asarray(x)

    def labels(self, values: Any) -> np.ndarray:
        return np.array(values, np.int32)

    def add(self, a: Any, b: Any) -> Any:
        return np.add(a, b)

    def multiply(self, a: Any, b: Any) -> Any:
        return np.multiply(a, b)

    def matmul(self, a: Any, b: Any) -> Any:
        return a @ b

    def sum(self, x: Any, axis: int) -> Any:
        """Along one axis, which stays with length 1."""
        return x.sum(axis, keepdims=True)

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:
        return np.broadcast_to(x, shape).copy()

    def tanh(self, x: Any) -> Any:
        return np.tanh(x)

    def tanh_backward(self, y: Any, dy: Any) -> Any:
        return dy * (1 - y * y)

    def relu(self, x: Any) -> Any:
        return np.where(x <= 0, x.dtype.type(0), x)

    def relu_backward(self, y: Any, dy: Any) -> Any:
        return np.where(y <= 0, dy.dtype.type(0), dy)

    def cross_entropy(self, z: Any, labels: Any) -> Any:
        """The loss of each row of logits z, N x K."""
        rows, least = np.arange(len(z)), z.max(1)
        return np.log(np.exp(z - least[:, None]).sum(1)) - (z[rows, labels] - least)

    def cross_entropy_backward(self, z: Any, labels: Any, dloss: Any) -> Any:
        power = np.exp(z - z.max(1, keepdims=True))
        dz = power / power.sum(1, keepdims=True)
        dz[np.arange(len(z)), labels] -= 1
        return dz * dloss[:, None]

    def momentum(self, w: Any, v: Any, dw: Any, rate: float, momentum: float, decay: float) -> None:
        """Move v, and with it w, both in place."""
        v[...] = momentum * v + (dw + decay * w)
        w -= rate * v


class Tensor:
    """An array of the operations' kind, and after ``backward`` its gradient, of the same shape.

    ``edges`` are pairs (parent, function from this tensor's gradient to the parent's share).
    ``learns`` is true where a gradient is wanted: of a leaf by its maker's word, of a result where
    a parent learns.
    """

    def __init__(
        self,
        data: Any,
        ops: Any,
        edges: Sequence[tuple[Tensor, Pull]] = (),
        *,
        learns: bool = False,
    ) -> None:
        self.data, self.ops = data, ops
        self.learns = learns or any(parent.learns for parent, _ in edges)
        self.edges = tuple(edges) if self.learns else ()  # else nobody will ask
        self.grad: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def __add__(self, other: Any) -> Tensor:
        return add(self, self._operand(other))

    def __mul__(self, other: Any) -> Tensor:
        return multiply(self, self._operand(other))

    def __sub__(self, other: Any) -> Tensor:
        return self + self._operand(other) * -1.0

    def __matmul__(self, other: Tensor) -> Tensor:
        return matmul(self, other)

    __radd__, __rmul__ = __add__, __mul__

    def sum(self, axis: int | None = None) -> Tensor:
        """Over one axis, which goes; without it over all, to one number of shape ().

        An axis may be counted from the end (-1); raises LessonError where there is no such axis.
        """
        return sum_of(self, axis)

    def mean(self) -> Tensor:
        return self.sum() * (1 / self.data.size)

    def tanh(self) -> Tensor:
        return tanh(self)

    def relu(self) -> Tensor:
        return relu(self)

    def backward(self) -> None:
        """Add the gradient of this number to the ``grad`` of every tensor that it depends on.

        A leaf keeps what it had from an earlier call, until ``grad`` is None again.
        """
        if self.data.size != 1:
            raise LessonError(
                f"backward begins at one number, and this tensor has shape {self.shape}. "
                "Call .sum() or .mean() first."
            )
        order = in_order(self)
        for node in order:
            if node.edges:
                node.grad = None
        self.grad = self.ops.number(1.0).reshape(self.shape)
        for node in reversed(order):
            for parent, pull in node.edges:
                if parent.learns:
                    share = pull(node.grad)
                    parent.grad = share if parent.grad is None else self.ops.add(parent.grad, share)

    def numpy(self) -> np.ndarray:
        """The values, on the host."""
        return self.ops.host(self.data)

    def _operand(self, other: Any) -> Tensor:
        """A tensor as it is, a number as a constant."""
        return other if isinstance(other, Tensor) else Tensor(self.ops.number(other), self.ops)


def tensor(values: Any, ops: Any, learns: bool = False) -> Tensor:
    """``values`` as a leaf, in an array of its own."""
    return Tensor(ops.array(values), ops, learns=learns)


def in_order(end: Tensor) -> list[Tensor]:
    """All tensors that ``end`` depends on, each after its parents; without recursion, since a chain
    may be longer than Python's stack."""
    order, seen, stack = [], set(), [(end, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            stack.append((node, True))
            stack += [(parent, False) for parent, _ in node.edges]
    return order


def unbroadcast(dy: Any, shape: tuple[int, ...], ops: Any) -> Any:
    """dy summed along every axis that broadcasting added or repeated, so that it has ``shape``."""
    spare = dy.ndim - len(shape)
    for axis in range(dy.ndim):
        if axis < spare or (shape[axis - spare] == 1 and dy.shape[axis] != 1):
            dy = ops.sum(dy, axis)
    return dy.reshape(shape)


# --- each operation: its result, and how a gradient goes back to each parent ---


def add(a: Tensor, b: Tensor) -> Tensor:
    ops = a.ops
    edges = (
        (a, lambda dy: unbroadcast(dy, a.shape, ops)),
        (b, lambda dy: unbroadcast(dy, b.shape, ops)),
    )
    return Tensor(ops.add(a.data, b.data), ops, edges)


def multiply(a: Tensor, b: Tensor) -> Tensor:
    ops = a.ops
    edges = (
        (a, lambda dy: unbroadcast(ops.multiply(dy, b.data), a.shape, ops)),
        (b, lambda dy: unbroadcast(ops.multiply(dy, a.data), b.shape, ops)),
    )
    return Tensor(ops.multiply(a.data, b.data), ops, edges)


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """M x N, from M x K and K x N."""
    ops = a.ops
    if len(a.shape) != 2 or len(b.shape) != 2 or a.shape[1] != b.shape[0]:
        raise LessonError(f"no product of shapes {a.shape} and {b.shape}: give M x K and K x N.")
    edges = (
        (a, lambda dy: ops.matmul(dy, b.data.T)),
        (b, lambda dy: ops.matmul(a.data.T, dy)),
    )
    return Tensor(ops.matmul(a.data, b.data), ops, edges)


def sum_of(x: Tensor, axis: int | None = None) -> Tensor:
    ops = x.ops
    if axis is None:
        flat = ops.sum(x.data.reshape(-1), 0).reshape(())
        kept: tuple[int, ...] = (1,) * len(x.shape)
    else:
        axis = _axis(axis, x.shape)
        kept = x.shape[:axis] + (1,) + x.shape[axis + 1 :]
        flat = ops.sum(x.data, axis).reshape(x.shape[:axis] + x.shape[axis + 1 :])
    return Tensor(flat, ops, [(x, lambda dy: ops.expand(dy.reshape(kept), x.shape))])


def _axis(axis: Any, shape: tuple[int, ...]) -> int:
    """``axis`` counted from the front."""
    try:
        return normalize_axis_index(axis, len(shape))
    except (TypeError, np.exceptions.AxisError):
        axes = f"one from {-len(shape)} to {len(shape) - 1}" if shape else "no axis, it has none"
        raise LessonError(f"no axis {axis!r} in the shape {shape}: give sum {axes}.") from None


def tanh(x: Tensor) -> Tensor:
    ops, y = x.ops, x.ops.tanh(x.data)
    return Tensor(y, ops, [(x, lambda dy: ops.tanh_backward(y, dy))])


def relu(x: Tensor) -> Tensor:
    ops, y = x.ops, x.ops.relu(x.data)
    return Tensor(y, ops, [(x, lambda dy: ops.relu_backward(y, dy))])


def cross_entropy(z: Tensor, labels: Any) -> Tensor:
    """The mean loss of logits z, N x K, where ``labels`` (of ``ops.labels``) are right."""
    ops = z.ops
    edges = [(z, lambda dy: ops.cross_entropy_backward(z.data, labels, dy))]
    return Tensor(ops.cross_entropy(z.data, labels), ops, edges).mean()


# --- a network ---


class MLP:
    """Linear layers with tanh (or relu) between them. ``sizes`` are its widths: (2, 16, 16, 2)."""

    def __init__(
        self, sizes: Sequence[int], ops: Any, seed: int = 0, activation: str = "tanh"
    ) -> None:
        """Weights drawn evenly from +-1 / sqrt(inputs of a neuron), as PyTorch draws them."""
        rng = np.random.default_rng(seed)
        self.ops, self.activation = ops, {"tanh": tanh, "relu": relu}[activation]
        self.parameters: list[Tensor] = []
        for inputs, outputs in zip(sizes, sizes[1:], strict=False):
            for shape in ((inputs, outputs), (outputs,)):
                values = rng.uniform(-(inputs**-0.5), inputs**-0.5, shape)
                self.parameters.append(tensor(values, ops, learns=True))

    def __call__(self, x: Tensor) -> Tensor:
        """Logits, N x the last of the sizes, from x of N x the first."""
        layers = list(zip(self.parameters[::2], self.parameters[1::2], strict=True))
        for weight, bias in layers[:-1]:
            x = self.activation(x @ weight + bias)
        weight, bias = layers[-1]
        return x @ weight + bias


class SGD:
    """Gradient descent with momentum and weight decay, as PyTorch's ``SGD`` does it."""

    def __init__(
        self, parameters: Sequence[Tensor], rate: float, momentum: float = 0.9, decay: float = 0.0
    ) -> None:
        self.parameters, self.rate = list(parameters), rate
        self.momentum, self.decay = momentum, decay
        ops = self.parameters[0].ops
        self.velocities = [ops.array(np.zeros(p.shape)) for p in self.parameters]

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    def step(self) -> None:
        for p, v in zip(self.parameters, self.velocities, strict=True):
            p.ops.momentum(p.data, v, p.grad, self.rate, self.momentum, self.decay)


def two_moons(n: int, noise: float = 0.15, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n points, n x 2, on two half circles that reach into each other, and which of the two each
    belongs to (0 or 1). ``noise`` is the deviation by which they miss it."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    angle = np.pi * rng.random(n)
    circle = np.stack([np.cos(angle), np.sin(angle)], 1)
    points = np.where(labels[:, None] == 0, circle, np.array([1.0, 0.5]) - circle)
    return points + noise * rng.standard_normal((n, 2)), labels.astype(np.int32)
