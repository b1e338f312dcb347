"""A kernel (or a few that work together) at one size, as tests and benchmarks need it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from typing import Any

import numpy as np

from ...checking import difference
from ...devices.selection import ON_GPU, cp
from ...errors import LessonError
from ...launching.arguments import carry_over
from ...launching.early_launch import launch_early
from ...launching.kernels import Kernel
from ...launching.modules import load
from ...launching.older_gpus import GpuTooOld
from ...paths import KERNELS, kernel_file
from ...records.sources import source_hash

Size = int | tuple[int, ...]

# Operations per second by a GPU's name (dense, no sparsity), from NVIDIA's data sheets.
PEAKS = {
    "NVIDIA H200": {
        "fp32": 66.9e12,
        "tf32": 494e12,
        "bf16": 989e12,
        "fp8": 1979e12,
        "int8": 1979e12,
    }
}


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


@dataclass(frozen=True)
class Workload:
    """What one run of a case does: ``work()`` clears ``cleared`` with zeros, then launches.

    ``output`` is the array that ``expected()`` gives in float64 (or exactly, for integers), within
    ``rtol`` and ``atol``. ``libraries`` do the same by name, each a function with no arguments that
    returns its result, or None to be timed without a check; they are there on a GPU only.
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
        """The numbers that ``result`` stands for, where its dtype is not theirs."""
        return result

    def wrong(self, result: Any = None) -> str:
        """How ``result`` (the output) differs from what is expected; empty where it is right."""
        got = self.numbers(self.output if result is None else result)
        return difference(got, self.expected(), self.rtol, self.atol)

    def on_emulator(self) -> Workload:
        """The same work for the emulator, on copies of the arrays; itself where that is here."""
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


@dataclass(frozen=True)
class Case:
    """A kernel of the course, the sizes it is measured at, and the least work it has to do.

    ``files`` lie below ``kernels/``; the first one's folder is the case's chapter. ``what`` says in
    a few words what is computed: cases with the same words are rungs of one ladder. ``make(n)``
    prepares a :class:`Workload` at size n, with inputs drawn from a normal distribution where they
    are floats. ``bytes`` and ``flops`` are the least that has to be moved and computed at size n;
    ``ceiling`` ("copy" or "read") is the rate of memory they are held against, ``peak`` a key of a
    GPU's :data:`PEAKS`. ``emulator_sizes`` put the case into the emulator's table of speeds.
    ``test_sizes`` are the awkward sizes it is tested at. At ``sustained_sizes`` it is measured for
    seconds as well: where work meets the GPU's limit of power.
    """

    name: str
    what: str
    files: tuple[str, ...]
    make: Callable[[Any], Workload]
    bytes: Callable[[Any], int]
    flops: Callable[[Any], int]
    gpu_sizes: tuple[Size, ...]
    emulator_sizes: tuple[Size, ...] = ()
    test_sizes: tuple[Size, ...] = (1, 17, 61)
    ceiling: str = "copy"
    peak: str = "fp32"
    sustained_sizes: tuple[Size, ...] = ()

    @property
    def chapter(self) -> str:
        """Such as ``04_first_kernels``."""
        return self.files[0].partition("/")[0]

    @property
    def source_hash(self) -> str:
        """Twelve digits that change with the code of the kernels and of their headers."""
        return source_hash(*self.files)

    def roofline_ms(self, n: Size, bandwidth: Mapping[str, float], device: str) -> float | None:
        """The least time in ms: the larger of bytes over ``bandwidth`` and FLOPs over the peak of
        the GPU called ``device``; None where there are FLOPs and its :data:`PEAKS` are not known.
        """
        moved, flops = self.bytes(n) / bandwidth[self.ceiling], self.flops(n)
        if flops and device not in PEAKS:
            return None
        return 1e3 * max(moved, flops / PEAKS[device][self.peak] if flops else 0.0)


def normal(shape: Size, seed: int = 0) -> Any:
    """fp32 numbers of a standard normal distribution on this machine's device."""
    if ON_GPU:
        return cp.random.default_rng(seed).standard_normal(shape, dtype=np.float32)
    return cp.asarray(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32))


def double(array: Any) -> Any:
    """``array`` in float64, for a reference."""
    return array.astype(np.float64)


def softmax_of(x: Any) -> Any:
    """The softmax of each row of ``x`` in float64, for a reference."""
    powers = np.exp(double(x) - double(x).max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def course_kernel(chapter: str, name: str, **defines: int | str) -> Kernel:
    """The kernel ``name`` of a ``chapter``, from whichever topic folder has it, compiled for this
    machine's device with ``defines`` as its macros."""
    return course_kernel_for(None, chapter, name, **defines)


def course_kernel_for(arch: str | None, chapter: str, name: str, **defines: int | str) -> Kernel:
    """As :func:`course_kernel`, compiled for ``arch`` ("sm_90a")."""
    return load(kernel_file(name, chapter), defines=defines, arch=arch).kernel


def program(file: str, name: str) -> Any:
    """What the Python ``file`` below ``kernels/`` calls ``name``.

    Triton wants it from a module, and torch.compile from one that is imported.
    """
    path = KERNELS / file
    spec = importlib.util.spec_from_file_location(f"course_{path.stem}", path)
    assert spec and spec.loader, f"{path} is Python"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def torch_on_gpu() -> Any:
    """The torch module where it can use this machine's GPU, otherwise None."""
    if not ON_GPU or importlib.util.find_spec("torch") is None:
        return None
    import torch

    return torch if torch.cuda.is_available() else None


def need_torch(benchmark: str, and_triton: bool = False) -> Any:
    """The torch module. Raises LessonError, which names the ``benchmark``, where it cannot use a
    GPU, or where Triton is wanted and missing."""
    torch = torch_on_gpu()
    if torch is None or (and_triton and importlib.util.find_spec("triton") is None):
        wanted = "PyTorch with CUDA, and Triton" if and_triton else "PyTorch with CUDA"
        raise LessonError(f"The benchmark called {benchmark} needs {wanted}.")
    return torch
