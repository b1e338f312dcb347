"""The launches of one run of a case, and their expected output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from ...checking import difference
from ...devices.selection import ON_GPU
from ...launching.arguments import carry_over
from ...launching.early_launch import launch_early
from ...launching.kernels import Kernel
from ...launching.older_gpus import GpuTooOld


@dataclass(frozen=True)
class KernelCall:
    """One call of a kernel: ``launch()`` checks and runs it. One that is ``early`` waits by itself
    for the kernel before: when it is measured it may begin while that one still runs."""

    kernel: Kernel
    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: tuple[Any, ...]
    shared_mem: int = 0
    early: bool = False

    def __call__(self) -> None:
        self.kernel(self.grid, self.block, self.args, shared_mem=self.shared_mem)

    def ready(self) -> Callable[[], Any]:
        """The call, checked and made once here, as a function that neither checks nor waits: in a
        measurement the host must keep ahead of the GPU.

        Raises :class:`~course_utils.launching.older_gpus.GpuTooOld` where the emulator would run
        it: there is nothing to measure.
        """
        if self.kernel.is_beyond_gpu(self.shared_mem):
            raise GpuTooOld(f"{self.kernel.name} cannot be timed here: this GPU is too old for it.")
        self()
        grid, block = (x if isinstance(x, tuple) else (x,) for x in (self.grid, self.block))
        values = self.kernel.convert(self.args)
        if self.early:
            blocks, threads = ((*x, 1, 1)[:3] for x in (grid, block))
            return partial(launch_early, self.kernel.raw, blocks, threads, values, self.shared_mem)
        return partial(self.kernel.raw, grid, block, values, shared_mem=self.shared_mem)

    @property
    def shared_bytes(self) -> int:
        """Shared memory of a block: declared in the kernel, and asked for by the launch."""
        declared: int = self.kernel.raw.shared_size_bytes
        return declared + self.shared_mem


Calls = tuple[KernelCall, ...]


@dataclass(frozen=True)
class Workload:
    """One run of a case: ``work()`` clears ``cleared`` with zeros, then launches.

    ``output`` is the array that ``expected()`` gives in float64 (or exactly, for integers), within
    ``rtol`` and ``atol``. ``libraries`` do the same by name, each a function with no arguments that
    returns its result, or None to be timed without a check. They are there on a GPU only.
    ``cleared`` are arrays that a kernel adds to. ``as_a_graph``: ours is measured as one CUDA graph
    of its launches. ``same_bits``: both devices add in one order, so that their results are equal
    bit for bit.
    """

    launches: tuple[KernelCall, ...]
    output: Any
    expected: Callable[[], Any]
    rtol: float = 0.0
    atol: float = 0.0
    libraries: Mapping[str, Callable[[], Any]] = field(default_factory=dict)
    cleared: tuple[Any, ...] = ()
    same_bits: bool = True
    as_a_graph: bool = False

    def __call__(self) -> None:
        for array in self.cleared:
            array.fill(0)
        for launch in self.launches:
            launch()

    def poison(self) -> None:
        """Fill the output with bytes that are NaN as a float and -1 as an integer."""
        self.output.view(np.uint8)[...] = 255

    def numbers(self, result: Any) -> Any:
        """The numbers that ``result`` holds, if its dtype isn't theirs."""
        return result

    def wrong(self, result: Any = None) -> str:
        """How ``result`` (the output) differs from the expected one, or "" if it's right."""
        got = self.numbers(self.output if result is None else result)
        return difference(got, self.expected(), self.rtol, self.atol)

    def on_emulator(self) -> Workload:
        """The same work for the emulator, on copies of the arrays, or itself if that runs here."""
        if not ON_GPU:
            return self
        arguments = [item.args for item in self.launches]
        # All at once: an array that two launches share stays one array.
        flat = (self.output, *self.cleared, *chain.from_iterable(arguments))
        carried = iter(carry_over(flat)[0])
        output, cleared = next(carried), tuple(islice(carried, len(self.cleared)))

        def expected() -> Any:
            want = self.expected()
            return want.get() if hasattr(want, "get") else want

        return replace(
            self,
            expected=expected,
            launches=tuple(
                replace(item, kernel=item.kernel.emulated, args=tuple(islice(carried, len(args))))
                for item, args in zip(self.launches, arguments, strict=True)
            ),
            output=output,
            cleared=cleared,
            libraries={},
        )
