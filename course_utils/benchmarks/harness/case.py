"""A kernel (or a few that work together), the sizes it's measured at, and its least work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...records.kernel_records import Size as Size
from ...records.sources import source_hash
from .workload import Workload

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
        the GPU called ``device``, None where there are FLOPs and its :data:`PEAKS` are not known.
        """
        moved, flops = self.bytes(n) / bandwidth[self.ceiling], self.flops(n)
        if flops and device not in PEAKS:
            return None
        return 1e3 * max(moved, flops / PEAKS[device][self.peak] if flops else 0.0)
