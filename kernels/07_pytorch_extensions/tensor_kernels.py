"""The operations of ``autograd.py`` on the course's own CUDA kernels: each call is one launch.

Arrays are fp32 on the device, of at most two axes. ``KERNELS`` holds what each name starts, loaded
when it is first asked for; put a kernel of your own in its place, with the same parameters, and the
operations use it.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from course_utils import ceil_div, cp, load
from course_utils.errors import LessonError
from course_utils.paths import kernel_file

THREADS, WARPS, TILE = 256, 8, 16  # of a block, and of a side of the product's blocks
LONG, SHORTEST = 256, 64  # a sum beyond LONG terms is cut into slices of SHORTEST at least,
BLOCKS = 264  # as many as make two blocks for each of an H200's 132 multiprocessors


class Loaded(dict[str, Any]):
    """The chapter's kernels by name."""

    def __missing__(self, name: str) -> Any:
        self[name] = load(kernel_file(name, "07_pytorch_extensions")).kernel
        return self[name]


KERNELS = Loaded()


class Kernels:
    """The operations of :class:`autograd.NumPy`, by kernels. ``launches`` counts them by name.

    Without ``split`` each element of a product and each sum is the work of one block or warp,
    however many terms it has.
    """

    def __init__(self, split: bool = True) -> None:
        self.split = split
        self.launches: dict[str, int] = {}
        self._numbers: dict[float, Any] = {}

    def array(self, values: Any) -> Any:
        """A new array on the device."""
        return cp.array(np.asarray(values, np.float32))

    def number(self, value: float) -> Any:
        """A constant, of shape (): copied to the device once, and the same array ever after."""
        if value not in self._numbers:
            self._numbers[value] = self.array(value)
        return self._numbers[value]

    def labels(self, values: Any) -> Any:
        return cp.array(np.asarray(values, np.int32))

    def host(self, x: Any) -> np.ndarray:
        return cp.asnumpy(x)

    def add(self, a: Any, b: Any) -> Any:
        return self._broadcast("tensor_add", a, b)

    def multiply(self, a: Any, b: Any) -> Any:
        return self._broadcast("tensor_multiply", a, b)

    def matmul(self, a: Any, b: Any) -> Any:
        """A transposed matrix is read as it lies, by its strides."""
        (m, k), n = a.shape, b.shape[1]
        return self._product(_contiguous(a), _strides(a), _contiguous(b), _strides(b), (m, n, k))

    def sum(self, x: Any, axis: int) -> Any:
        """Along one axis of x, which stays with length 1; numpy's AxisError where there is none. A
        long sum with few results is a product with ones, a single number of which is stored and
        repeated by strides of 0."""
        axis = normalize_axis_index(axis, x.ndim)
        before, length, after = x.shape[:axis], x.shape[axis], x.shape[axis + 1 :]
        if self.split and length > LONG and prod(before) == 1:
            columns = prod(after)
            of_x = 0 if length == 1 else columns, int(columns > 1)
            y = self._product(self.number(1.0), (0, 0), x, of_x, (1, columns, length))
            return y.reshape(*before, 1, *after)
        y = cp.empty((*before, 1, *after), cp.float32)
        self._run("tensor_sum", ceil_div(y.size, WARPS), x, y, prod(before), length, prod(after))
        return y

    def expand(self, x: Any, shape: tuple[int, ...]) -> Any:
        y = cp.empty(shape, cp.float32)
        rows, columns = _two(shape)
        strides = _strides(x.reshape(_two(x.shape)))
        self._run("tensor_expand", _blocks(y.size), x, y, rows, columns, *strides)
        return y

    def tanh(self, x: Any) -> Any:
        return self._each("tensor_tanh", x)

    def tanh_backward(self, y: Any, dy: Any) -> Any:
        return self._each("tensor_tanh_backward", y, dy)

    def relu(self, x: Any) -> Any:
        return self._each("tensor_relu", x)

    def relu_backward(self, y: Any, dy: Any) -> Any:
        return self._each("tensor_relu_backward", y, dy)

    def cross_entropy(self, z: Any, labels: Any) -> Any:
        loss = cp.empty(len(z), cp.float32)
        self._run("tensor_cross_entropy", _blocks(len(z)), z, labels, loss, *z.shape)
        return loss

    def cross_entropy_backward(self, z: Any, labels: Any, dloss: Any) -> Any:
        dz = cp.empty(z.shape, cp.float32)
        arguments = z, labels, dloss, dz, *z.shape
        self._run("tensor_cross_entropy_backward", ceil_div(len(z), WARPS), *arguments)
        return dz

    def momentum(self, w: Any, v: Any, dw: Any, rate: float, momentum: float, decay: float) -> None:
        """Move v, and with it w, both in place."""
        self._run("tensor_momentum", _blocks(w.size), w, v, dw, rate, momentum, decay, w.size)

    def _product(
        self,
        a: Any,
        of_a: tuple[int, int],
        b: Any,
        of_b: tuple[int, int],
        size: tuple[int, int, int],
    ) -> Any:
        """M x N, from arrays and their strides. A long K is cut into slices, one or more for each
        multiprocessor, and the slices' results are added up in their order."""
        m, n, k = size
        across, down = ceil_div(n, TILE), ceil_div(m, TILE)
        length = k
        if self.split and k > LONG:
            each = max(SHORTEST, ceil_div(k * across * down, BLOCKS))
            length = ceil_div(each, TILE) * TILE
        slices = max(ceil_div(k, length), 1) if length else 1
        c = cp.empty((slices, m, n), cp.float32)
        arguments = a, b, c, m, n, k, length, *of_a, *of_b
        self._run("tensor_matmul", (across, down, slices), *arguments, block=(TILE, TILE))
        if slices == 1:
            return c[0]
        y = cp.empty((m, n), cp.float32)
        self._run("tensor_sum", ceil_div(y.size, WARPS), c, y, 1, slices, m * n)
        return y

    def _broadcast(self, name: str, a: Any, b: Any) -> Any:
        shape = np.broadcast_shapes(a.shape, b.shape)
        c = cp.empty(shape, cp.float32)
        strides = *_strides(a.reshape(_two(a.shape))), *_strides(b.reshape(_two(b.shape)))
        self._run(name, _blocks(c.size), a, b, c, *_two(shape), *strides)
        return c

    def _each(self, name: str, *arrays: Any) -> Any:
        """A kernel that makes one number of those at the same place."""
        result = cp.empty(arrays[0].shape, cp.float32)
        self._run(name, _blocks(result.size), *arrays, result, result.size)
        return result

    def _run(self, name: str, grid: Any, *arguments: Any, block: Any = THREADS) -> None:
        KERNELS[name](grid, block, arguments)
        self.launches[name] = self.launches.get(name, 0) + 1


def _blocks(n: int) -> int:
    return ceil_div(n, THREADS)


def _two(shape: tuple[int, ...]) -> tuple[int, int]:
    """A shape as (rows, columns), by axes of length 1 in front, as broadcasting adds them."""
    if len(shape) > 2:
        raise LessonError(f"these kernels take at most two axes, and the shape is {shape}.")
    rows, columns = (1, 1, *shape)[-2:]
    return rows, columns


def _strides(x: Any) -> tuple[int, int]:
    """Elements from a row to the next and from a column to the next, 0 along a length of 1."""
    rows, columns = (
        0 if length == 1 else stride // x.itemsize
        for length, stride in zip(x.shape, x.strides, strict=True)
    )
    return rows, columns


def _contiguous(x: Any) -> Any:
    """The same memory as an array in C order: a transposed one, transposed back."""
    return x if x.flags.c_contiguous else x.T
