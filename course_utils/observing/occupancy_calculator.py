"""``occupancy``: how many blocks and warps of a kernel fit on one SM, and which resource sets the
limit.

No GPU is needed: NVRTC compiles the kernel for the GPU that is asked about, and its assembler
reports its registers and shared memory. The rest is arithmetic on the limits of an SM.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import Any

from ..compiling.bindings import nvrtc_version
from ..compiling.nvrtc import Compiled
from ..devices.limits import IMPOSSIBLE_SHAPE, LaunchError, dimensions
from ..devices.multiprocessors import (
    MULTIPROCESSORS,
    PARTITIONS,
    REGISTER_UNIT,
    REGISTERS,
    Multiprocessor,
)
from ..emulator import MAX_THREADS, WARP
from ..errors import LessonError
from ..integers import ceil_div
from ..launching.emulation import kernel_of
from ..launching.kernels import Kernel
from ..text_tables import pairs

NAME_WIDTH = 31  # of the names in an occupancy's text


@dataclass(frozen=True)
class Resources:
    """The resources of a compiled kernel: ``registers`` and ``local_bytes`` of each thread,
    ``static_shared`` bytes and named ``barriers`` of each block. ``spill_stores`` and
    ``spill_loads`` are bytes that the assembler moves to and from local memory because registers
    ran out. Local arrays of the source are in ``local_bytes`` alone."""

    registers: int
    static_shared: int = 0
    local_bytes: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    barriers: int = 0


@dataclass(frozen=True)
class Occupancy:
    """How a kernel fits on one SM of ``arch`` in blocks of ``threads``.

    ``limits`` says how many blocks each resource has room for, and ``limiter`` names the scarcest.
    """

    kernel: str
    arch: str
    threads: int
    shared_mem: int
    resources: Resources
    max_threads: int = MAX_THREADS

    @property
    def multiprocessor(self) -> Multiprocessor:
        """The limits of an SM of ``arch``."""
        return MULTIPROCESSORS[self.arch.rstrip("af")]

    @property
    def warps_per_block(self) -> int:
        """Warps of a block, the last one perhaps with idle lanes."""
        return ceil_div(self.threads, WARP)

    @property
    def max_warps(self) -> int:
        """Warps that an SM has room for."""
        return self.multiprocessor.threads // WARP

    @property
    def limits(self) -> dict[str, int]:
        """Resource -> blocks for which an SM has enough of it."""
        sm, needs, warps = self.multiprocessor, self.resources, self.warps_per_block
        limits = {
            "warps": self.max_warps // warps,
            "blocks": sm.blocks,
            "registers": self._by_registers(),
        }
        shared = needs.static_shared + self.shared_mem
        if shared + sm.reserved:
            each = _round_up(shared + sm.reserved, sm.shared_unit)
            limits["shared memory"] = sm.shared // each if shared <= sm.shared_block else 0
        if needs.barriers:
            limits["barriers"] = sm.barriers // needs.barriers
        return limits

    def _by_registers(self) -> int:
        if not self.resources.registers:
            return self.multiprocessor.blocks
        per_warp = _round_up(self.resources.registers * WARP, REGISTER_UNIT)
        per_partition = REGISTERS // PARTITIONS // per_warp
        return per_partition * PARTITIONS // self.warps_per_block

    @property
    def blocks_per_sm(self) -> int:
        """Blocks that run on an SM together, 0 when the kernel cannot be launched so."""
        return min(self.limits.values()) if self.threads <= self.max_threads else 0

    @property
    def warps_per_sm(self) -> int:
        """Warps that run on an SM together."""
        return self.blocks_per_sm * self.warps_per_block

    @property
    def occupancy(self) -> float:
        """Warps that run together, over those that an SM has room for."""
        return self.warps_per_sm / self.max_warps

    @property
    def limiter(self) -> str:
        """The resource that is used up first. "and" joins several that are equally scarce."""
        if self.threads > self.max_threads:
            return "threads per block"
        limits = self.limits
        return " and ".join(name for name, blocks in limits.items() if blocks == self.blocks_per_sm)

    def at(self, threads: int, shared_mem: int | None = None) -> Occupancy:
        """The same kernel in blocks of another size."""
        shared = self.shared_mem if shared_mem is None else shared_mem
        return replace(self, threads=threads, shared_mem=shared)

    def __str__(self) -> str:
        needs = self.resources
        rows = [
            ("registers per thread", f"{needs.registers}"),
            ("spilled bytes (stores, loads)", f"{needs.spill_stores}, {needs.spill_loads}"),
            ("local memory per thread", f"{needs.local_bytes:,} B"),
            ("shared memory per block", f"{needs.static_shared + self.shared_mem:,} B"),
            ("blocks per SM", f"{self.blocks_per_sm}"),
            ("warps per SM", f"{self.warps_per_sm} of {self.max_warps}"),
            ("occupancy", f"{100 * self.occupancy:.0f} %"),
            ("limited by", self.limiter),
        ]
        head = f"{self.kernel} on {self.arch}, blocks of {self.threads} threads"
        return f"{head}\n{pairs(rows, name_width=NAME_WIDTH)}"

    __repr__ = __str__


def occupancy(
    kernel: Any,
    block: int | tuple[int, ...],
    shared_mem: int = 0,
    arch: str = "sm_90a",
) -> Occupancy:
    """How many blocks of ``kernel`` fit on one SM of ``arch``: see :class:`Occupancy`.

    ``block`` is as for a launch, and ``shared_mem`` is dynamic shared memory in bytes. NVRTC
    compiles the kernel for ``arch``, so its registers depend on that GPU and on NVRTC's version.
    Raises :class:`~course_utils.errors.LessonError` for an ``arch`` whose limits are not known, and
    LaunchError for a ``block`` or a ``shared_mem`` that no GPU takes.
    """
    kernel = kernel_of(kernel)
    if arch.rstrip("af") not in MULTIPROCESSORS:
        raise LessonError(
            f"The limits of {arch!r} are not known; there are {', '.join(MULTIPROCESSORS)}."
        )
    threads = math.prod(dimensions(block, "block"))
    if threads > MAX_THREADS:
        raise LaunchError(
            f"A block has at most {MAX_THREADS} threads, not {threads:,}. Use a smaller block.",
            symptom=IMPOSSIBLE_SHAPE,
        )
    if shared_mem < 0:
        raise LaunchError(f"shared_mem is {shared_mem}. It counts bytes, so it must be 0 or more.")
    return Occupancy(
        kernel.name,
        arch,
        threads,
        shared_mem,
        resources(kernel, arch),
        kernel.raw.max_threads_per_block,
    )


def resources(kernel: Kernel, arch: str = "sm_90a") -> Resources:
    """The resources of ``kernel`` compiled for ``arch``, as NVRTC's assembler reports them."""
    compiled = compiled_with_report(kernel, arch)
    return parse_report(compiled.log, compiled.mangled.get(kernel.name, kernel.name))


def compiled_with_report(kernel: Kernel, arch: str) -> Compiled:
    """The kernel's module as a cubin for ``arch``, with the assembler's report as its log."""
    # A result from NVRTC's cache on disk comes without the report.
    fresh = ("--no-cache",) if nvrtc_version() >= (12, 9) else ()
    return kernel.module.compiled(arch, "--ptxas-options=-v", *fresh)


def parse_report(log: str, symbol: str) -> Resources:
    """Parse the report of ``ptxas -v`` on the kernel ``symbol`` (its mangled name).

    Raises ValueError when it says nothing of it.
    """
    head = rf"Compiling entry function '{re.escape(symbol)}' for"
    found = re.search(rf"{head}.*?(?=Compiling entry function|\Z)", log, re.S)
    if found is None:
        raise ValueError(f"the compiler's report does not mention {symbol}:\n{log}")

    def number(pattern: str) -> int:
        match = re.search(pattern, found[0])
        return int(match[1]) if match else 0

    return Resources(
        number(r"Used (\d+) registers"),
        number(r"(\d+) bytes smem"),
        number(r"(\d+) bytes stack frame"),
        number(r"(\d+) bytes spill stores"),
        number(r"(\d+) bytes spill loads"),
        number(r"used (\d+) barriers"),
    )


def _round_up(value: int, unit: int) -> int:
    return ceil_div(value, unit) * unit
