"""The project of the chapter: a fused activation with both of its gradients."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from course_utils import ceil_div
from course_utils.emulator import Counts
from course_utils.errors import LessonError
from course_utils.exercises.authoring import domain, method
from course_utils.exercises.authoring.domain import Domain, DrawnCases, Given
from course_utils.exercises.authoring.launches import Launch, empty, floats, int32s
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise, Target
from course_utils.exercises.authoring.worked import Worked

Size = tuple[int, int, int]  # rows, columns, strips
COUNTED = 96, 256, 2  # the size whose launches are counted
ELEMENTS = COUNTED[0] * COUNTED[1]


def layer(rng: np.random.Generator, size: Size) -> Given:
    rows, columns, strips = size
    return {
        "x": floats(rng, (rows, columns)),
        "bias": floats(rng, columns),
        "y": empty((rows, columns)),
        "dy": floats(rng, (rows, columns)),
        "dx": empty((rows, columns)),
        "partial": empty((strips, columns)),
        "dbias": empty(columns),
        **int32s(rows=rows, columns=columns, strips=strips),
    }


def both_ways(given: Given) -> dict[str, np.ndarray]:
    """y in fp32, which is exact to the last bit, and from it the gradients in float64."""
    total = given["x"] + given["bias"]
    y = np.where(total <= 0, np.float32(0), total) ** 2
    dx = 2 * np.sqrt(y.astype(np.float64)) * given["dy"]
    strips = int(given["strips"])
    partial = np.array([dx[first::strips].sum(axis=0) for first in range(strips)])
    return {"y": y, "dx": dx, "partial": partial, "dbias": dx.sum(axis=0)}


def three_launches(size: Size) -> tuple[Launch, ...]:
    _, columns, strips = size
    tiles = ceil_div(columns, 128), strips
    return (
        Launch(
            tiles,
            (256,),
            kernel="squared_relu",
            arguments=("x", "bias", "y", "rows", "columns"),
        ),
        Launch(
            tiles,
            (256,),
            kernel="squared_relu_backward",
            arguments=("y", "dy", "dx", "partial", "rows", "columns"),
        ),
        Launch(
            (ceil_div(columns, 256),),
            (256,),
            kernel="sum_strips",
            arguments=("partial", "dbias", "strips", "columns"),
        ),
    )


def requests(counts: Counts) -> float:
    """Loads and stores by warps, for each 128 elements of the matrix."""
    return 128 * (counts.global_load_requests + counts.global_store_requests) / ELEMENTS


SAME_BITS = (
    "Atomics on floats add in the order in which threads arrive, so two runs differ in their last "
    "bits. Let one thread add up the numbers of others, in a fixed order."
)

SQUARED_RELU = KernelExercise(
    inputs=layer,
    reference=both_ways,
    launch=three_launches,
    small=((40, 68, 3), (1, 132, 2), (1, 4, 1)),
    full=(1 << 13, 1 << 12, 33),
    reduction=lambda size: size[0],
    contract=Domain(
        sizes=domain.shapes(
            rows=domain.extents(100), columns=domain.extents(270, of=4), strips=(1, 2, 3, 33)
        ).with_outlier(rows=1031),
        values=(
            domain.data("x", *domain.ORDINARY, domain.SOME_INFINITE, domain.SOME_NAN),
            domain.data("bias", domain.NEGATIVE, domain.TIES, domain.SOME_NAN),
            domain.data("dy", domain.NEGATIVE, domain.TIES, domain.MIDDLING),
        ),
    ),
    method=(
        method.one_store_per_result(size=COUNTED),
        method.balanced_work(4.0, size=COUNTED),
        method.atomics("global", at_most=0, advice=SAME_BITS, size=COUNTED),
        method.atomics("shared", at_most=0, advice=SAME_BITS, size=COUNTED),
        Requirement(
            "bytes read from global memory, over the bytes of x, y and dy",
            lambda stats: stats.counts.global_load_bytes / (3 * 4 * ELEMENTS),
            at_most=1.15,
            advice="Let a thread stay in its columns: it reads their bias once, and adds up their "
            "dx in registers.",
            size=COUNTED,
        ),
    ),
    target=Target(
        label="loads and stores of global memory by a warp, for each 128 elements",
        measure=requests,
        at_most=7,
        advice="All numbers are right, and each is read once. How many of them could a lane move "
        "with one instruction?",
        size=COUNTED,
    ),
    worked=Worked(
        size=(2, 4, 1),
        values={
            "x": (1, -4, 0, 2, 3, 1, -1, 0),
            "bias": (2, 1, 1, -1),
            "dy": (5, 1, 2, 3, 1, 2, 4, 1),
        },
    ),
)

# --- the operator ---


@dataclass(frozen=True)
class Batch:
    """x of a shape, seen as ``view``, a bias and dy. All numbers are halves. ``ones``: dy is the
    gradient of a sum. ``across``: dy is a transposed tensor. ``apart``: the numbers of the bias
    aren't neighbours in memory."""

    shape: tuple[int, ...]
    view: str = "as it is"
    ones: bool = False
    seed: int = 1
    across: bool = False
    apart: bool = False

    def __repr__(self) -> str:
        by = " x ".join(map(str, self.shape))
        others = {
            "dy of a sum": self.ones,
            "dy transposed": self.across,
            "every other number of a bias": self.apart,
        }
        return f"<x {', '.join([by, self.view, *(words for words in others if others[words])])}>"

    def numbers(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """x as it is stored, the bias, and dy."""
        rng = np.random.default_rng(self.seed)
        x, dy = (np.round(2 * floats(rng, self.shape)) / 2 for _ in range(2))
        seen = VIEWS[self.view](x)
        bias = np.round(2 * floats(rng, seen.shape[-1])) / 2
        dy = dy.reshape(seen.shape) if dy.size == seen.size else np.ones_like(seen)
        return x, bias, np.ones_like(dy) if self.ones else dy


VIEWS: dict[str, Callable[[Any], Any]] = {  # the same for arrays and for tensors
    "as it is": lambda x: x,
    "transposed": lambda x: x.swapaxes(-1, -2),
    "every other column": lambda x: x[..., ::2],
    "every other row": lambda x: x[::2],
    "without its first column": lambda x: x[..., 1:],
}


def launched(name: str, *tensors: Any) -> None:
    """Raises an error, in the words of a verdict, where a launch would refuse the tensors."""
    from torch._subclasses.fake_tensor import FakeTensor

    for tensor in tensors:
        if isinstance(tensor, FakeTensor) or tensor.is_meta:
            raise LessonError(
                f"{name} was called with a fake tensor, which has no numbers. Call it inside an "
                "operator, and give that operator a fake function."
            )
        if not tensor.is_contiguous():
            raise LessonError(
                f"{name} was called with the strides {tensor.stride()} of a tensor of the shape "
                f"{tuple(tensor.shape)}: a kernel takes contiguous ones."
            )
    if tensors[0].dim() != 2 or len(tensors[0]) == 0:
        raise LessonError(
            f"{name} was called with the shape {tuple(tensors[0].shape)}: a kernel takes matrices "
            "of at least one row."
        )


CALLS: list[str] = []  # of the two functions below, in a case


def forward(x: Any, bias: Any) -> Any:
    launched("forward", x, bias)
    CALLS.append("forward")
    return (x.detach() + bias.detach()).clamp(min=0) ** 2


def backward(y: Any, dy: Any) -> tuple[Any, Any]:
    launched("backward", y, dy)
    CALLS.append("backward")
    dx = 2 * y.detach().sqrt() * dy.detach()
    return dx, dx.sum(0)


@contextmanager
def filled_with_nan() -> Iterator[None]:
    """New tensors hold NaN, so that an unwritten result is never right by chance."""
    import torch

    before = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before, warn_only=warns)


def outside(tensor: Any) -> tuple[Any, ...]:
    """A tensor without its numbers: type, shape and strides."""
    strides = [*tensor.stride()] if tensor.numel() else []
    return str(tensor.dtype), [*tensor.shape], strides


FAKES = "y", "the gradient of x", "the gradient of the bias"


def in_words(seen: Sequence[Any], name: str) -> str:
    dtype, shape, strides = seen
    return f"fake tensors: {name} is {dtype}, shape {shape}, strides {strides}"


def first_fake_mode() -> None:
    """Enter the mode of fake tensors in the thread that lives longest. Where PyTorch was built for
    CUDA and sees no GPU, releases up to 2.11 take a guard of the thread that enters first, and
    other threads use it after that one has ended."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        pass


@cache
def made(make_operator: Callable[..., Any]) -> Any:
    """The operator, once for all cases."""
    return make_operator(forward, backward)


def passed(make_operator: Callable[..., Any], batch: Batch) -> tuple[Any, ...]:
    """y and both gradients, the calls and the memory for them, and the same from fake tensors."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    operator = made(make_operator)
    CALLS.clear()
    stored, bias, dy = map(torch.from_numpy, batch.numbers())
    if batch.apart:
        bias = bias.repeat_interleave(2)[::2]
    if batch.across:
        dy = dy.swapaxes(-1, -2).contiguous().swapaxes(-1, -2)
    leaf, bias = stored.requires_grad_(), bias.requires_grad_()
    x = VIEWS[batch.view](leaf.clone())
    kept: list[Any] = []

    def pack(tensor: Any) -> Any:
        kept.append(tensor)
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    with filled_with_nan(), hooks:
        y = operator(x, bias)
    strangers = [tuple(t.shape) for t in kept if t.data_ptr() != y.data_ptr()]
    gone = weakref.ref(x)
    kept.clear()
    del x
    waits = "y alone waits"
    if strangers or gone() is not None:
        waits = f"a tensor that isn't y waits, {strangers or 'x'}"
    with filled_with_nan():
        y.backward(torch.ones(()).expand_as(y) if batch.ones else dy)
    calls = f"calls: {', '.join(CALLS) or 'none'}"
    results = [[*outside(t), t.flatten().tolist()] for t in (y.detach(), leaf.grad, bias.grad)]
    with FakeTensorMode(allow_non_fake_inputs=False):
        fake = VIEWS[batch.view](torch.empty(batch.shape, requires_grad=True))
        fake_bias = torch.empty_strided(bias.shape, bias.stride(), requires_grad=True)
        fake_y = operator(fake, fake_bias)
        fake_dy = torch.empty_strided(dy.shape, dy.stride())
        end, slope = (fake_y.sum(), None) if batch.ones else (fake_y, fake_dy)
        slopes = torch.autograd.grad(end, (fake, fake_bias), slope)
        fakes = [outside(t) for t in (fake_y, *slopes)]
    return (*results, calls, waits, *map(in_words, fakes, FAKES))


def as_promised(batch: Batch) -> tuple[Any, ...]:
    stored, bias, dy = batch.numbers()
    r = np.maximum(VIEWS[batch.view](stored) + bias, 0)
    leaf_gradient = np.zeros_like(stored)
    VIEWS[batch.view](leaf_gradient)[...] = dx = 2 * r * dy
    dbias = dx.reshape(-1, len(bias)).sum(axis=0)

    def described(array: np.ndarray) -> list[Any]:
        steps = [step // array.itemsize for step in np.ascontiguousarray(array).strides]
        return ["torch.float32", [*array.shape], steps if array.size else []]

    arrays = r * r, leaf_gradient, dbias
    results = [[*described(x), x.ravel().tolist()] for x in arrays]
    calls = "calls: forward, backward" if stored.size else "calls: none"
    fakes = map(in_words, map(described, (r * r, dx, dbias)), FAKES)
    return (*results, calls, "y alone waits", *fakes)


def any_batch(rng: np.random.Generator) -> tuple[Batch]:
    dimensions = int(rng.integers(2, 5))
    shape = tuple(int(n) for n in rng.integers(2, 5, dimensions))
    view, dy = str(rng.choice(list(VIEWS))), int(rng.integers(3))
    seed, apart = int(rng.integers(1 << 30)), bool(rng.integers(2))
    return (Batch(shape, view, dy == 1, seed, dy == 2, apart),)


ACTIVATION_OPERATOR = PythonExercise(
    function="make_operator",
    rtol=1e-5,
    needs=("torch",),
    seconds=60,
    imports=("torch._dynamo",),  # by the first operator of a process
    prepare=first_fake_mode,
    call=passed,
    start="result[0] is y, then come the gradients of x as it is stored and of the bias: each has "
    "its type, shape, strides and numbers. Then come your calls of forward and backward, and the "
    "memory that waits for the backward pass. Last come the same three from fake tensors: a "
    "result with the strides of x or dy is a promise that your operator doesn't keep.",
    cases=(
        (Batch((2, 4)),),
        (Batch((3, 4), ones=True),),
        (Batch((4, 3), "transposed"),),
        (Batch((8,)),),
        (Batch((2, 3, 4)),),
        (Batch((2, 4, 3), "transposed", ones=True),),
        (Batch((3, 8), "every other column"),),
        (Batch((5, 4), "every other row"),),
        (Batch((3, 5), "without its first column"),),
        (Batch((3, 4), across=True),),
        (Batch((3, 4), apart=True),),
        (Batch((0, 4)),),
        (Batch((2, 0, 4), ones=True),),
    ),
    reference=as_promised,
    contract=DrawnCases(any_batch),
)
