"""PyTorch beside our kernels: tensors on our arrays, and formulas by its compiler."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np

from ...devices.selection import ON_GPU
from ...errors import LessonError

Runs = dict[str, Callable[[], Any]]  # ways to compute one thing, by name
MOST_SHAPES = 64  # that torch's compiler takes of one function, instead of 8


def torch_on_gpu() -> Any:
    """The torch module where it can use this machine's GPU, otherwise None."""
    if not ON_GPU:
        return None
    try:  # torch's compiler follows an import, but breaks its graph at find_spec
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def need_torch(benchmark: str, and_triton: bool = False) -> Any:
    """The torch module. Raises LessonError, which names the ``benchmark``, where it cannot use a
    GPU, or where Triton is wanted and missing."""
    torch = torch_on_gpu()
    if torch is None or (and_triton and importlib.util.find_spec("triton") is None):
        wanted = "PyTorch with CUDA, and Triton" if and_triton else "PyTorch with CUDA"
        raise LessonError(f"The benchmark called {benchmark} needs {wanted}.")
    return torch


def as_tensors(*arrays: Any) -> tuple[Any, ...]:
    """The arrays as torch tensors that share their memory, uint16 as the bits of bf16. Needs
    torch_on_gpu()."""
    torch = torch_on_gpu()

    def tensor(array: Any) -> Any:
        if array.dtype == np.uint16:
            return torch.as_tensor(array.view(np.int16), device="cuda").view(torch.bfloat16)
        return torch.as_tensor(array, device="cuda")

    return tuple(map(tensor, arrays))


def compiled(
    function: Callable[..., Any], *inputs: Any, graph: bool = False, name: str = "torch.compile"
) -> Runs:
    """``function(*inputs)`` by torch's compiler at its best, called ``name``: called directly and,
    on request, as a CUDA ``graph``, which copies its inputs first."""
    modes = {name: "max-autotune-no-cudagraphs"}
    if graph:
        modes[f"{name}, CUDA graph"] = "max-autotune"

    def run(mode: str) -> Any:
        return _compiled(function, mode)(*inputs)

    return {each: partial(run, mode) for each, mode in modes.items()}


def by_torch(function: Callable[..., Any], *arrays: Any, graph: bool = False) -> Runs:
    """``function`` on tensors of the ``arrays``, eagerly and :func:`compiled`, or nothing
    without torch_on_gpu()."""
    if torch_on_gpu() is None:
        return {}
    tensors = as_tensors(*arrays)
    eager = {"torch eager": lambda: function(*tensors)}
    return eager | compiled(function, *tensors, graph=graph)


def unchecked(runs: Mapping[str, Callable[[], Any]]) -> Runs:
    """``runs`` by name, each returning None instead of its result: they are timed, not checked."""

    def timed(run: Callable[[], Any]) -> None:
        run()

    return {name: partial(timed, run) for name, run in runs.items()}


@cache
def _compiled(function: Callable[..., Any], mode: str) -> Callable[..., Any]:
    return compiled_whole(function, mode)


def compiled_whole(function: Callable[..., Any], mode: str | None = None) -> Callable[..., Any]:
    """``function`` by torch's compiler, as one graph for each shape. Needs torch_on_gpu(). A call
    fails where the compiler stops, or has met MOST_SHAPES: it would go on with eager kernels."""
    torch = torch_on_gpu()
    torch._dynamo.config.recompile_limit = MOST_SHAPES
    made: Callable[..., Any] = torch.compile(function, dynamic=False, fullgraph=True, mode=mode)
    return made
