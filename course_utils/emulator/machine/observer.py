"""Observers: they watch a launch by the events that it sends them.

The machine runs kernels and knows no check. It sends events to its observers. An observer
overrides the events that it wants and keeps its records to itself. :class:`Observers` is the
list of them that a launch has. An event that none of them wants costs the call of an empty
function, and :attr:`Observers.access`, which would be called for every load and store, is asked
for once.

Lanes are numbered within their batch: the warp of a lane is ``lane >> 5``, its block
``lane // batch.lanes_per_block``. A mask ``joined`` is bool, (blocks, warps of a block), or
(clusters, warps of a cluster) where that is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..findings.report import Counts, Finding
    from ..findings.reported_state import ReportedAccess
    from ..isa import ptx
    from ..memory.address_space import Region
    from .accesses import AddressPattern, Site, WatchedAccess
    from .async_state import MBarrier, Transfer
    from .batch import Batch
    from .code import Block, Code, Decoded
    from .lanes import Group
    from .named_barriers import BarrierState


class Observer:
    """Watches one launch. Every event does nothing unless it is overridden."""

    # --- the launch ---

    def batch_starts(self, batch: Batch) -> None:
        """Blocks become resident together, before any lane runs."""

    def batch_ends(self, batch: Batch) -> None:
        """All lanes of a batch have ended, and every copy has landed."""

    def blocks_end(self, batch: Batch, blocks: np.ndarray) -> None:
        """The last threads of some blocks, int64 (n,), have ended."""

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        """The launch has ended without a fault. A recorder puts its data into ``recorded``,
        under the name of a field of :class:`~course_utils.emulator.LaunchResult`."""

    # --- instructions ---

    def wants_instructions(self, group: Group, block: Block) -> bool:
        """Asked before a basic block runs: are the two events of each instruction wanted? An
        observer that declines may still subscribe in its middle, by ``Scheduler.subscribing``, and
        gets the events of the instructions after."""
        return False

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        """An instruction is about to run for a group, its guard not looked at yet."""

    def instruction_ends(self, group: Group, decoded: Decoded) -> None:
        """It has run. Not called for one that ends its basic block."""

    def instruction_masked(self, instruction: ptx.Instruction, lanes: int) -> None:
        """An instruction was skipped by as many lanes, whose guard is false."""

    def lanes_diverge(self, group: Group, ways: np.ndarray) -> None:
        """The lanes of a group go several ways at the end of its block: bool or int, (n,)."""

    def work_done(self, instruction: ptx.Instruction, kind: str, flops: int) -> None:
        """Floating-point work of an instruction that does not say it in its name. ``kind`` is the
        type of the operands."""

    # --- registers ---

    def function_starts(self, group: Group) -> None:
        """A kernel or a function begins: ``group.code`` is its code, its registers are blank."""

    def registers_pass(
        self, group: Group, depth: int, code: Code, pairs: list[tuple[int, int]]
    ) -> None:
        """Values came from the registers of ``code``, called ``depth`` deep, to the
        group's: (slot there, slot here) of each."""

    def values_missing(
        self, group: Group, instruction: ptx.Instruction, target: ptx.Operand, lanes: np.ndarray
    ) -> None:
        """A shuffle gave some lanes (bool, (n,)) the value of a lane that takes no part in it."""

    # --- memory ---

    def access(
        self,
        site: Site,
        group: Group,
        region: Region,
        first: int,
        index: np.ndarray,
        pattern: AddressPattern,
    ) -> None:
        """All lanes of a group are about to access one array, within its bounds.

        ``first + index``, int64 (n,) or (1,), are elements of ``site.width`` bytes of the array's
        storage. ``pattern`` has their addresses.
        """

    def tiles_read(
        self,
        reader: WatchedAccess,
        group: Group,
        firsts: np.ndarray,
        region: Region,
        index: np.ndarray,
        inside: np.ndarray,
    ) -> None:
        """Tensor cores read tiles of shared memory.

        ``index``, int64 (tiles, ...), are elements of 16 bytes of the array's storage, where
        they are ``inside`` of it. ``firsts`` are the positions in the group of a lane that reads
        each tile.
        """

    def wgmma_commits(self, group: Group) -> None:
        """``wgmma.commit_group``: the work of warps since the last one is a group."""

    def wgmma_waits(self, group: Group, wait: ptx.Instruction) -> None:
        """``wgmma.wait_group``: all groups of warps but the last few, its operand, are done."""

    def remote_access(self, site: ReportedAccess, group: Group, homes: np.ndarray) -> None:
        """Lanes reach into shared memory of the blocks ``homes``, int64 (n,), of their cluster."""

    # --- order ---

    def fence(self, group: Group, instruction: ptx.Instruction) -> None:
        """``fence`` or ``membar``, of any kind."""

    def warps_converge(self, group: Group, block: Block) -> None:
        """Lanes come to an instruction of whole warps, the first of a block, with a member mask."""

    def warps_meet(self, group: Group) -> None:
        """``bar.warp.sync``: the lanes of each warp have met."""

    def barrier_arrives(
        self,
        group: Group,
        instruction: ptx.Instruction,
        number: int,
        threads: int | None,
        state: BarrierState,
    ) -> None:
        """Lanes arrive at barrier ``number``, which waits for ``threads`` (None: all of a block);
        ``state`` does not count them yet."""

    def barrier_completes(
        self, batch: Batch, joined: np.ndarray, number: int, arrived: np.ndarray
    ) -> None:
        """The warps ``joined`` met at barrier ``number`` of their block. Those ``arrived`` among
        them did not wait there (``bar.arrive``)."""

    def barrier_released_by_exit(
        self, batch: Batch, slots: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        """In the blocks ``slots`` all threads have ended that had not come to ``instruction``, a
        barrier for all of a block: those who wait there go on."""

    def cluster_arrives(self, group: Group, instruction: ptx.Instruction) -> None:
        """Lanes arrive at the barrier of their cluster."""

    def cluster_barrier_completes(self, batch: Batch, joined: np.ndarray) -> None:
        """The warps ``joined`` (clusters, warps of a cluster) met at the barrier of theirs."""

    def cluster_passed(self, group: Group) -> None:
        """Lanes have waited for their cluster, and go on."""

    # --- asynchronous copies ---

    def copy_starts(self, batch: Batch, transfer: Transfer) -> None:
        """A copy, or work of a tensor core, was started."""

    def copy_lands(self, batch: Batch, transfer: Transfer) -> None:
        """It is done, for some of its lanes at least: ``transfer`` holds those alone."""

    def copy_observed(self, batch: Batch, transfer: Transfer, instruction: ptx.Instruction) -> None:
        """Threads learn of the end of their own ``cp.async``, by ``instruction``."""

    def copy_visible(self, batch: Batch, transfer: Transfer, instruction: ptx.Instruction) -> None:
        """A thread gets to know, by ``instruction``, that its bulk copy to global memory is there,
        and not only that its source has been read."""

    def bytes_copied(
        self, instruction: ptx.Instruction, spaces: tuple[str, str], size: int
    ) -> None:
        """A bulk copy moves bytes from one memory to another."""

    def mbarrier_initialised(self, batch: Batch, barrier: MBarrier) -> None:
        """A lane has initialised an mbarrier."""

    def mbarrier_arrives(
        self,
        batch: Batch,
        barrier: MBarrier,
        lanes: np.ndarray,
        instruction: ptx.Instruction,
        transfer: Transfer | None,
    ) -> None:
        """Lanes arrive at an mbarrier, or a ``transfer`` of theirs reports its end to it."""

    def mbarrier_completes(self, batch: Batch, barrier: MBarrier) -> None:
        """The phase of an mbarrier is complete."""

    def mbarrier_waits(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        """Lanes begin to wait for the phase of an mbarrier, which isn't complete."""

    def mbarrier_passed(
        self, batch: Batch, barrier: MBarrier, lanes: np.ndarray, instruction: ptx.Instruction
    ) -> None:
        """Lanes have waited for an mbarrier, and go on."""

    # --- tensor memory ---

    def pair_allocates(self, group: Group, instruction: ptx.Instruction, peer: int) -> None:
        """A warp executes ``tcgen05.alloc`` for its block and the block ``peer`` of the pair."""

    def tensor_access(
        self,
        batch: Batch,
        instruction: ptx.Instruction,
        lane: int,
        kind: str,
        block: int,
        lanes: np.ndarray,
        columns: slice,
        writes: bool,
    ) -> None:
        """An instruction that ``lane`` has issued uses ``lanes`` × ``columns`` of the tensor memory
        of ``block``. ``kind``: who completes it, "ld", "st" or "tensor" (mma, cp, shift)."""

    def tensor_release(
        self, batch: Batch, instruction: ptx.Instruction, lane: int, block: int, columns: slice
    ) -> None:
        """``tcgen05.dealloc``."""

    def tensor_wait(self, group: Group, kind: str) -> None:
        """``tcgen05.wait::ld`` or ``::st``; ``kind`` "ld" or "st"."""

    def tensor_fence(self, group: Group, before: bool) -> None:
        """``tcgen05.fence::before_thread_sync``, or ``::after_thread_sync``."""

    def misuse_tolerated(self, finding: Finding) -> None:
        """A thread did something that the manual does not allow, but that still has a meaning."""


def ignore_event(*_: Any) -> None:
    """The function of an event that no observer wants."""


def _of_all(handlers: list[Callable[..., None]]) -> Callable[..., None]:
    if len(handlers) < 2:
        return handlers[0] if handlers else ignore_event

    def tell(*what: Any) -> None:
        for handler in handlers:
            handler(*what)

    return tell


EVENTS = tuple(
    name
    for name, value in vars(Observer).items()
    if callable(value) and name != "wants_instructions"
)


_wanted: dict[type[Observer], frozenset[str]] = {}


def _overridden(kind: type[Observer]) -> frozenset[str]:
    """The events that observers of a class want, looked for once."""
    if kind not in _wanted:
        own = (e for e in EVENTS if getattr(kind, e) is not getattr(Observer, e))
        _wanted[kind] = frozenset(own)
    return _wanted[kind]


class Observers:
    """The observers of a launch: each event is an attribute that calls all that want it."""

    def __init__(self, observers: Iterable[Observer] = ()) -> None:
        observers = list(observers)
        told = [(o, _overridden(type(o))) for o in observers]
        for event in EVENTS:
            setattr(self, event, _of_all([getattr(o, event) for o, own in told if event in own]))
        wants = Observer.wants_instructions
        self._by_instruction = [o for o in observers if type(o).wants_instructions is not wants]

    def instruction_observers(self, group: Group, block: Block) -> list[Observer]:
        """The observers that want each instruction of a block."""
        if not self._by_instruction:
            return self._by_instruction
        return [o for o in self._by_instruction if o.wants_instructions(group, block)]

    if TYPE_CHECKING:

        def __getattr__(self, event: str) -> Callable[..., None]: ...


SILENT = Observers()
