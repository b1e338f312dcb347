"""What the machine asks of the launch that its blocks belong to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from ..findings.finding_log import FindingLog
from ..findings.options import Options
from ..isa.ptx import Instruction
from ..memory.address_space import DeviceHeap, Regions
from .child_launches import ChildLaunches
from .code import Code
from .observer import Observers
from .unstarted_clusters import UnstartedBlocks


class KernelState(Protocol):
    """The kernel of a launch. ``shared``: (offset, bytes) of each shared variable, −1 bytes for
    dynamic memory, which begins at ``dynamic_offset``, all in bytes."""

    shared: dict[str, tuple[int, int]]
    static_shared: int
    dynamic_offset: int
    reserved_offset: int
    tensor_memory: bool

    @property
    def forms(self) -> list[Instruction]:
        """One instruction for each opcode with its modifiers."""

    def instructions(self) -> Iterator[Instruction]:
        """The instructions of the kernel and of every function that it could call."""

    def code_for(self, clustered: bool, name: str | None = None) -> Code:
        """The decoded kernel, or the function ``name`` as it calls it."""


class ModuleState(Protocol):
    """The module of a launch's kernel."""

    heap: DeviceHeap

    def kernel_needs(self, name: str) -> tuple[int, int]:
        """A kernel's bytes of arguments and most threads of a block, (-1, 0) for no kernel."""

    def defines(self, name: str) -> bool:
        """Whether the module has the body of a function."""

    def function_at(self, address: int, instruction: Instruction) -> str:
        """The name of the function at an address. Raises KernelFault where there is none."""


class LaunchState(Protocol):
    """A launch under way. ``grid``, ``block`` and ``cluster`` are (x, y, z) counts, ``budget`` and
    ``issued`` instructions, ``dynamic_shared`` bytes, ``execution_counts`` [lanes, warps] of each
    block of code. ``entry`` is the kernel, ``module`` the one that it comes from."""

    @property
    def entry(self) -> KernelState: ...
    @property
    def module(self) -> ModuleState: ...

    options: Options
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    cluster: tuple[int, int, int]
    clustered: bool
    code: Code
    code_is_clustered: bool
    dynamic_shared: int
    parameters: dict[str, bytes]
    parameter_regions: Regions
    observers: Observers
    findings: FindingLog
    printed: list[tuple[tuple[int, ...], str]]
    printed_size: int
    unprinted: int
    budget: int
    issued: int
    execution_counts: dict[tuple[Code, int], list[int]]
    wants_whole_grid: bool
    children: ChildLaunches
    unstarted: UnstartedBlocks

    def grid_workspace(self) -> int:
        """The address of the barrier of the whole grid, or 0 in a launch that has none."""
