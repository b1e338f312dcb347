"""What the cases of chapter 04 share: their files, and grids and tensors for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

from ....devices.properties import sm_count, threads_per_sm
from ....integers import ceil_div
from ....paths import kernel_file
from ...harness.case import course_kernel, torch_on_gpu

CHAPTER = "04_first_kernels"
kernel_named = partial(course_kernel, CHAPTER)


def files_of(*names: str) -> tuple[str, ...]:
    """The files of the kernels ``names``, below ``kernels/``."""
    return tuple(kernel_file(name, CHAPTER) for name in names)


def as_tensors(*arrays: Any) -> tuple[Any, ...]:
    """The arrays as torch tensors that share their memory; only where torch_on_gpu()."""
    return tuple(torch_on_gpu().as_tensor(array, device="cuda") for array in arrays)


def resident_grid(n: int, threads: int, elements: int) -> int:
    """A grid that fills every SM with threads, or less where n elements need no more.

    A thread takes ``elements`` at a time.
    """
    full = threads_per_sm() // threads * sm_count()
    return min(full, ceil_div(n, threads * elements))


def compiled(function: Callable[..., Any], *inputs: Any) -> dict[str, Callable[[], Any]]:
    """What torch's compiler makes of ``function(*inputs)`` at its best, by name: called directly,
    and as a CUDA graph, which copies its inputs first."""
    direct, graph = "max-autotune-no-cudagraphs", "max-autotune"
    return {
        "torch.compile": lambda: _compiled(function, direct)(*inputs),
        "torch.compile, CUDA graph": lambda: _compiled(function, graph)(*inputs),
    }


def unchecked(runs: Mapping[str, Callable[[], Any]]) -> dict[str, Callable[[], None]]:
    """``runs`` by name, each returning None instead of its result: they are timed, not checked."""

    def timed(run: Callable[[], Any]) -> None:
        run()

    return {name: partial(timed, run) for name, run in runs.items()}


@cache
def _compiled(function: Callable[..., Any], mode: str) -> Callable[..., Any]:
    made: Callable[..., Any] = torch_on_gpu().compile(function, dynamic=False, mode=mode)
    return made
