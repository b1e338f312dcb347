"""The benchmarks of cross entropy over a large vocabulary, with its gradient; and of dropout."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ....devices.selection import cp
from ....errors import LessonError
from ....integers import ceil_div
from ...harness.arrays import normal
from ...harness.case import Case
from ...harness.torch_runs import Runs, as_tensors, compiled, torch_on_gpu, unchecked
from ...harness.workload import KernelCall, Workload
from ...libraries import rivals
from .operators import CHAPTER, KINDS, TEST_SIZES, Kind, KindWork, Rows

IGNORED = -100  # the target of a row that does not count, as in PyTorch
SIZES = ((4096, 131072),)
MOST_GROUPS = 8  # of 16 bytes that a thread copies


def fused_defines(columns: int, kind: Kind) -> dict[str, Any]:
    """How ``cross_entropy_fused.cu`` divides a row of ``columns``: a thread copies up to 8 groups
    of 16 bytes, and a cluster has as many blocks as that takes.
    Raises LessonError where a row is longer than the shared memory of eight blocks holds."""
    groups = ceil_div(columns * kind.width, 16)
    for threads in (128, 256, 512):
        for cluster in (1, 2, 4, 8):
            if threads * cluster * MOST_GROUPS >= groups:
                return {
                    "ELEMENT": kind.c_type,
                    "THREADS": threads,
                    "GROUPS": ceil_div(groups, threads * cluster),
                    "CLUSTER": cluster,
                }
    raise LessonError(f"A row of {columns} numbers is too long for the memory of a cluster.")


def inputs_of(n: Rows, kind: Kind) -> tuple[Any, Any]:
    """Logits of a kind, and targets, some of which are IGNORED."""
    rows, columns = n
    target = np.random.default_rng(4).integers(0, columns, rows)
    target[1::1024] = IGNORED
    return kind.made(2 * normal(n)), cp.asarray(target)


def exact_loss(x: Any, target: Any) -> tuple[Any, Any]:
    """The loss of each row and the gradient of their mean, in float64."""
    rows = np.arange(len(x))
    shifted = x - x.max(axis=1, keepdims=True)
    sums = np.exp(shifted).sum(axis=1, keepdims=True)
    counts = target != IGNORED
    there = cp.where(counts, target, 0)
    loss = cp.where(counts, np.log(sums[:, 0]) - shifted[cp.asarray(rows), there], 0)
    gradient = np.exp(shifted) / sums
    gradient[cp.asarray(rows), there] -= 1
    return loss, gradient * (counts[:, None] / max(int(counts.sum()), 1))


def _separate(x: Any, target: Any, dx: Any, loss: Any, weight: Any) -> tuple[KernelCall, ...]:
    rows, columns = x.shape
    kept = cp.empty(rows, np.float32)
    forward = x, target, loss, kept, columns, IGNORED
    backward = x, target, kept, weight, dx, columns, IGNORED
    grid = ceil_div(columns, 1024), rows
    return (
        KernelCall(CHAPTER.kernel("cross_entropy_forward"), rows, 256, forward),
        KernelCall(CHAPTER.kernel("cross_entropy_backward"), grid, 256, backward),
    )


def fused_call(
    x: Any, target: Any, dx: Any, loss: Any, weight: Any, kind: Kind, **tried: Any
) -> KernelCall:
    """The call of ``cross_entropy_fused.cu``; ``tried`` are defines in place of ours."""
    rows, columns = x.shape
    defines = fused_defines(columns, kind) | tried
    kernel = CHAPTER.kernel("cross_entropy_fused", **defines)
    arguments = x, target, weight, dx, loss, columns, IGNORED
    shared = 16 * defines["THREADS"] * defines["GROUPS"]
    return KernelCall(kernel, rows * defines["CLUSTER"], defines["THREADS"], arguments, shared)


def _work(fused: bool, kind: Kind) -> Callable[[Rows], Workload]:
    def make(n: Rows) -> Workload:
        rows, columns = n
        x, target = inputs_of(n, kind)
        dx, loss = kind.empty(n), cp.empty(rows, np.float32)
        weight, mean = cp.empty(1, np.float32), cp.empty(1, np.float32)
        middle = (
            (fused_call(x, target, dx, loss, weight, kind),)
            if fused
            else _separate(x, target, dx, loss, weight)
        )
        count = KernelCall(CHAPTER.kernel("target_weight"), 1, 256, (target, weight, rows, IGNORED))
        end = KernelCall(CHAPTER.kernel("mean_loss"), 1, 256, (loss, weight, mean, rows))
        return KindWork(
            (count, *middle, end),
            output=dx,
            expected=lambda: exact_loss(kind.exact(x), target)[1],
            rtol=2 * kind.rtol,
            atol=1e-5 / rows / columns,
            libraries=_torch_gradients(x, target, kind) | rivals.cross_entropy(x, target, IGNORED)
            if fused
            else {},
            same_bits=False,  # expf may differ in its last digit
            kind=kind,
        )

    return make


def _torch_gradients(x: Any, target: Any, kind: Kind) -> Runs:
    """The gradient of PyTorch's mean loss, by autograd from its own kernels and from compiled ones,
    and with the loss in one compiled graph."""
    torch = torch_on_gpu()
    if torch is None:
        return {}
    logits, classes = as_tensors(x, target)
    inputs = logits.requires_grad_(), classes
    losses = {"torch eager": lambda: _torch_loss(*inputs)} | compiled(_torch_loss, *inputs)

    def gradient(loss: Callable[[], Any]) -> Any:
        return torch.autograd.grad(loss(), inputs[0])[0]

    def first(both: Callable[[], Any]) -> Any:
        return both()[0]

    tensors, name = as_tensors(x, target), "torch.compile, one graph"
    both = compiled(_torch_gradient_and_loss, *tensors, name=name)
    runs: Runs = {name: partial(gradient, loss) for name, loss in losses.items()}
    runs |= {name: partial(first, run) for name, run in both.items()}
    # PyTorch's own kernels round the logarithms of probabilities to bf16: far off, so unchecked
    return runs if kind.width == 4 else unchecked(runs)


def _torch_gradient_and_loss(x: Any, target: Any) -> Any:
    return torch_on_gpu().func.grad_and_value(_torch_loss)(x, target)


def _torch_loss(x: Any, target: Any) -> Any:
    return torch_on_gpu().nn.functional.cross_entropy(x, target, ignore_index=IGNORED)


def _case(name: str, fused: bool, kind: str) -> Case:
    apart = "cross_entropy_forward", "cross_entropy_backward"
    own = ("cross_entropy_fused",) if fused else apart
    return Case(
        name,
        f"cross entropy and its gradient, {kind}",
        CHAPTER.files(*own, "target_weight", "mean_loss"),
        _work(fused, KINDS[kind]),
        bytes=lambda n: 2 * KINDS[kind].width * n[0] * n[1],
        flops=lambda n: 4 * n[0] * n[1],  # subtract, exp, add, multiply
        gpu_sizes=SIZES,
        test_sizes=TEST_SIZES[kind],
    )


CASES = (
    _case("cross_entropy_separate", False, "fp32"),
    _case("cross_entropy_fused", True, "fp32"),
    _case("cross_entropy_fused_bf16", True, "bf16"),
)
