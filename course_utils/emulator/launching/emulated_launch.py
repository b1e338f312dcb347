"""One launch: its parameters, its batches of blocks, and what came of it.

A launch cuts its grid into batches of blocks that are *resident* together, some eight thousand
lanes each, as an SM holds some blocks at a time. A kernel that asks to cancel clusters begins with
a part of its grid, so that some are left to cancel.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..findings.connected import connected
from ..findings.fault_messages import emulator_error
from ..findings.finding_log import FindingLog
from ..findings.options import LOCKSTEP, Options
from ..findings.report import Counts, KernelFault, LaunchTooLong, spoken_time
from ..isa.gpu_constants import MAX_CLUSTER, SHARED_PER_SM, WARP
from ..machine.batch import Batch
from ..machine.block_memory import LOCAL_IN_FLIGHT
from ..machine.child_launches import ChildLaunches
from ..machine.code import Code
from ..machine.observer import SILENT, Observers
from ..machine.unstarted_clusters import UnstartedBlocks
from ..memory.address_space import GLOBAL, Region, Regions
from ..numerics.rounding import ceil_div, round_up
from .launch_result import LaunchResult
from .observer_set import observers_of
from .waiting_grid import WaitingGrid

if TYPE_CHECKING:
    from .emulated_module import KernelEntry

BATCH_LANES = 32_768
STARTED_AT_ONCE = 4  # one cluster in so many, of a kernel that cancels, and otherwise one in two
MOST_AT_ONCE = 4  # of the former: in a large grid each takes over many, as on a GPU
RESIDENT_TURN = 2000  # basic blocks that a batch may run before the next is admitted
TELLING = 2.0  # seconds after which the blocks that have begun tell how long all take at least
QUIET = 5.0  # seconds after which a launch says how long it will take,
MUCH = 20.0  # if that is more seconds than these
BUDGET = 4_000_000  # instructions that a batch may issue, for each BUDGET_LANES begun


def _triple(value: int | Sequence[int]) -> tuple[int, int, int]:
    x, y, z, *_ = (value, 1, 1) if isinstance(value, int) else (*map(int, value), 1, 1)
    return x, y, z


class EmulatedLaunch:
    """One launch: its parameters, its batches in flight, and what it has counted so far."""

    def __init__(
        self,
        entry: KernelEntry,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        args: Sequence[Any],
        shared: int,
        names: Sequence[str],
        options: Options,
        depth: int = 0,
    ) -> None:
        self.entry, self.module, self.options = entry, entry.module, options
        self.grid, self.block = _triple(grid), _triple(block)
        self.dynamic_shared = shared
        for what, sizes, of in (("grid", self.grid, "blocks"), ("block", self.block, "threads")):
            if min(sizes) < 1:
                axis = "xyz"[next(n for n, size in enumerate(sizes) if size < 1)]
                raise ValueError(
                    f"{entry.name}: the {what} {sizes} has no {of} along {axis}. Each number must "
                    "be at least 1."
                )
        self.cluster = _triple(options.cluster or entry.cluster or 1)
        if min(self.cluster) < 1:
            raise ValueError(
                f"{entry.name}: a cluster of {self.cluster} has no blocks. Each of its three sizes "
                "is at least 1."
            )
        self.clustered = math.prod(self.cluster) > 1
        if (blocks := math.prod(self.cluster)) > MAX_CLUSTER:
            raise ValueError(
                f"{entry.name}: a cluster of {self.cluster} has {blocks} blocks, and a GPU takes "
                f"at most {MAX_CLUSTER}. Use a smaller cluster."
            )
        if entry.static_shared + shared > SHARED_PER_SM:
            raise ValueError(
                f"{entry.name}: {entry.static_shared + shared:,} bytes of shared memory, and a "
                f"multiprocessor has {SHARED_PER_SM:,}. Use a smaller tile."
            )
        if any(g % c for g, c in zip(self.grid, self.cluster, strict=True)):
            raise ValueError(
                f"{entry.name}: the grid {self.grid} does not divide into clusters of "
                f"{self.cluster} blocks"
            )
        self.code_is_clustered = self.clustered or entry.cluster is not None
        self.code = entry.code_for(self.code_is_clustered)
        self.printed: list[tuple[tuple[int, ...], str]] = []  # (block, warp, moment, thread), text
        self.printed_size = 0
        self.unprinted = 0  # calls of printf after the limit
        self._workspace: np.ndarray | None = None
        self.wants_whole_grid = False  # a barrier of the whole grid, in an ordinary launch
        self.children = ChildLaunches(depth)
        self.parameters: dict[str, bytes] = {}
        self.parameter_regions = Regions()
        self._bind(args, names)
        self.issued = 0  # instructions issued by batches that have ended
        self.budget = options.budget or BUDGET
        # block of code -> [lanes, warps]
        self.execution_counts: dict[tuple[Code, int], list[int]] = {}
        forward = options.schedule == LOCKSTEP
        self.unstarted = UnstartedBlocks(0, math.prod(self.grid), math.prod(self.cluster), forward)
        self.admitted = 0  # blocks that have begun
        self.ended = 0  # and those of them that have ended
        self.quiet = options.quiet
        self.began = time.monotonic()
        self.findings = FindingLog()
        observers = observers_of(self)
        self.observers = Observers(observers) if observers else SILENT

    def _bind(self, args: Sequence[Any], names: Sequence[str]) -> None:
        parameters = self.entry.function.parameters
        if len(args) != len(parameters):
            raise ValueError(
                f"{self.entry.name} takes {len(parameters)} arguments, not {len(args)}"
            )
        names = list(names) or [f"argument {n}" for n in range(len(args))]
        for parameter, value, name in zip(parameters, args, names, strict=True):
            by_value = isinstance(value, np.ndarray) and value.dtype == "V128"  # a tensor map
            by_value = by_value and parameter.size == 128
            if isinstance(value, np.ndarray) and value.ndim and not by_value:
                address = GLOBAL.pointer(value, name) if value.size else 0
                data = address.to_bytes(8, "little")
            else:
                data = value if isinstance(value, bytes) else np.asarray(value).tobytes()
                if by_value and getattr(value, "array", None) is not None:
                    GLOBAL.pointer(value.array, name)  # the array that the map describes
            if len(data) != parameter.size:
                raise ValueError(
                    f"{name}: {self.entry.name} takes {parameter.size} bytes, not {len(data)}"
                )
            self.parameters[parameter.name] = data
            self.parameter_regions.add(
                Region(
                    name,
                    "param",
                    self.entry.parameter_addresses[parameter.name],
                    len(data),
                    np.frombuffer(data, np.uint8),
                    read_only=True,
                )
            )

    def grid_workspace(self) -> int:
        """The address of the barrier that ``cooperative_groups::this_grid().sync()`` counts on; 0
        in an ordinary launch, which has none."""
        if self.options.cooperative is False:
            self.wants_whole_grid = True
            return 0
        if self._workspace is None:
            self._workspace = np.zeros(64, np.uint8)
        return GLOBAL.pointer(self._workspace, "the grid's barrier")

    @property
    def resident_blocks(self) -> int:
        """How many blocks may run at once."""
        most = self.entry.resident_blocks(self.block, self.dynamic_shared)
        return min(most, self._blocks_with_local_memory())

    def _blocks_with_local_memory(self) -> int:
        """For how many blocks at once this machine has local memory."""
        each = self.entry.local_bytes * round_up(math.prod(self.block), WARP)
        return max(1, LOCAL_IN_FLIGHT // max(each, 1))

    def run(self) -> LaunchResult:
        """Run all blocks. Raises KernelFault for a fault that ends the launch, and LaunchTooLong
        where it takes longer than ``Options.patience``."""
        try:
            self._run_batches()
        except KernelFault as fault:
            fault.earlier = connected(self.findings.collected())
            raise
        except LaunchTooLong:
            raise
        except Exception as error:
            raise emulator_error(error) from error
        return self._result()

    def _run_batches(self) -> None:
        lanes_per_block = round_up(math.prod(self.block), WARP)
        cluster = math.prod(self.cluster)
        fitting = min(BATCH_LANES // lanes_per_block, self._blocks_with_local_memory() // 2)
        per_batch = max(1, fitting // cluster) * cluster
        limit = max(per_batch, self.resident_blocks)
        if self.entry.cancels:
            clusters = math.prod(self.grid) // cluster
            some = min(MOST_AT_ONCE, ceil_div(clusters, STARTED_AT_ONCE))
            if not self.unstarted.forward:
                some = ceil_div(clusters, 2)
            limit = per_batch = min(per_batch, some * cluster)
        active: list[Batch] = []
        watch = WaitingGrid(self, limit)
        while following := self.unstarted.following(per_batch):
            first, count = following
            if sum(batch.block_count for batch in active) + count > limit:
                ended = self.ended
                active = [batch for batch in active if not self._advance(batch)]
                if self.ended == ended:
                    watch.turn_ends(active)
                continue
            self.unstarted.start(first, count)
            active.append(Batch(self, first, count))
            self.admitted += count
            active = [batch for batch in active if not self._advance(batch)]
        while active:
            active = [batch for batch in active if not self._advance(batch)]

    def _advance(self, batch: Batch) -> bool:
        """Give ``batch`` its turn; True where it has ended. Raises LaunchTooLong."""
        ended = batch.scheduler.advance(RESIDENT_TURN)
        if ended:
            self.ended += batch.block_count
        elapsed = time.monotonic() - self.began
        if elapsed > QUIET and not self.quiet:
            self._say_how_long(elapsed)
        if (patience := self.options.patience) is not None:
            share = self.admitted / (math.prod(self.grid) - self.unstarted.cancelled)
            least = elapsed / share if elapsed > TELLING else elapsed
            if least > patience:
                raise LaunchTooLong(patience, least)
        return ended

    def _say_how_long(self, elapsed: float) -> None:
        """Once, where there are blocks that have not begun, and they will take long."""
        blocks = math.prod(self.grid) - self.unstarted.cancelled
        done = (self.ended + self.admitted) / 2  # those in flight are half done
        to_go = elapsed * (blocks - done) / done
        if self.unstarted.first < self.unstarted.end and to_go > MUCH:
            self.quiet = True
            print(
                f"This launch has done {done:,.0f} of its {blocks:,} blocks in "
                f"{spoken_time(elapsed)}: the emulator needs about {spoken_time(to_go)} more. "
                "You can interrupt it and try a smaller n, and so a smaller grid.",
                file=sys.stderr,
                flush=True,
            )

    def _text(self) -> str:
        text = "".join(text for _, text in sorted(self.printed, key=lambda p: p[0]))
        if self.unprinted and self.options.most_printed is None:
            calls = self.unprinted + len(self.printed)
            text += (
                f"\nprintf's buffer of 1 MB is full: {self.unprinted:,} of {calls:,} calls are not "
                "shown.\nPrint from fewer threads. On a GPU cudaDeviceSetLimit("
                "cudaLimitPrintfFifoSize, bytes) enlarges the buffer.\n"
            )
        return text

    def _result(self) -> LaunchResult:
        counts = Counts()
        for (code, number), (lanes, warps) in self.execution_counts.items():
            block = code.blocks[number]
            counts.thread_instructions += lanes * len(block.instructions)
            counts.warp_instructions += warps * len(block.instructions)
            for name, times in block.opcodes.items():
                counts.opcodes[name] = counts.opcodes.get(name, 0) + times * lanes
            for (flops, threads), times in block.flops.items():
                counts.flops += times * (lanes * flops // threads)
        recorded: dict[str, Any] = {}
        self.observers.launch_ends(counts, recorded)
        found = connected(self.findings.collected())
        unchanged = self.findings.unchanged
        return LaunchResult(counts, found, self._text(), unchanged=unchanged, **recorded)
