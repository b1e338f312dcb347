"""Blocks that are resident together, and the scheduler that moves their lanes along.

The group that is furthest behind runs first, so that lanes that diverged at a branch reconverge
after it, but no group may keep the others waiting for ever: each runs a bounded number of basic
blocks before the rest have had a turn.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ..findings.fault_messages import (
    access_fault,
    emulator_error,
    endless_loop,
    unknown_register,
)
from ..findings.origins import never_changes
from ..findings.report import KernelFault
from ..isa.gpu_constants import LOCAL_LIMIT, WARP
from ..isa.ptx import Variable
from ..memory.address_space import (
    GLOBAL,
    GLOBAL_WINDOW,
    LOCAL_WINDOW,
    PARAM_WINDOW,
    SHARED_WINDOW,
    WINDOW_SIZE,
    Region,
    Regions,
)
from ..numerics.rounding import ceil_div, round_up
from .adversarial_schedule import adversarial_schedule
from .async_proxy import AsyncEngine
from .barriers import Barriers
from .block_memory import make_local, shared_memory, shared_size
from .clusters import RANKS, Clusters
from .deadlock_report import deadlock
from .fusion import FEW_LANES, members
from .lanes import Group, lane_masks
from .observed_steps import run_observed
from .observer import Observer, ignore_event
from .repeated_state import RepeatedState
from .special_registers import special_register
from .tensor_memory import TensorMemory

if TYPE_CHECKING:
    from .accesses import Site
    from .code import Block, Ending
    from .launch_state import LaunchState

N = TypeVar("N", int, np.ndarray)

BEFORE = 2**40  # bytes before a memory that an access is said to miss it by
QUANTUM = 64  # basic blocks that a group may run before others get theirs
ENDLESS_AFTER = 50_000  # instructions after which to look for loops that can't end
BUDGET_LANES = 8192  # for so many lanes a batch has the launch's budget once


class Batch:
    """Blocks that run together, one lane per thread."""

    def __init__(self, launch: LaunchState, first: int, count: int) -> None:
        self.launch: LaunchState = launch
        self.first: int = first
        self.block_count: int = count
        self.threads = math.prod(launch.block)
        self.lanes_per_block = round_up(self.threads, WARP)
        self.shared_stride = shared_size(launch)
        self.shared = shared_memory(launch, count, self.shared_stride)
        self.locals = Regions()
        self._local_places: dict[tuple[int, int, str], int] = {}
        self._local_end = 0
        self.windows = {
            0: GLOBAL.shared,
            SHARED_WINDOW: self.shared,
            LOCAL_WINDOW: self.locals,
            PARAM_WINDOW: launch.parameter_regions,
        }
        per_warp = np.full(self.lanes_per_block // WARP, WARP)
        per_warp[-1] -= self.lanes_per_block - self.threads
        self.live_lanes = np.tile(per_warp, count)  # by warp
        self.slots = np.repeat(np.arange(count), self.lanes_per_block)  # the block of each lane
        self.exits = 0  # grows whenever lanes end
        self.issued = 0
        self.groups: list[Group] = []
        self.subscribing: list[Observer] = []  # to the rest of the block that runs
        self.clock = 0
        self.budget = launch.budget * ceil_div(count * self.lanes_per_block, BUDGET_LANES)
        self.endless_after = ENDLESS_AFTER
        self.repeated = RepeatedState(self)
        self.service_at = self.budget  # instructions after which to service the async engine
        self.clusters: Clusters | None = (
            Clusters(self, launch.cluster) if launch.clustered else None
        )
        self.barriers = Barriers(self)
        self.engine = AsyncEngine(self)
        lanes = np.arange(count * self.lanes_per_block, dtype=np.int64)
        if self.threads % 32:
            lanes = lanes[lanes % self.lanes_per_block < self.threads]
        self.live_threads = np.full(count, self.threads)  # by block
        group = Group(self, lanes, launch.code, 0, list(launch.code.blank))
        access = launch.observers.access
        self.on_access = None if access is ignore_event else access
        self.tensor_memory = TensorMemory(self) if launch.entry.tensor_memory else None
        launch.observers.batch_starts(self)
        self.begin_frame(group)
        self.adversary = adversarial_schedule(self)
        for part in [group] if self.adversary is None else self.adversary.split(group):
            self.add(part)

    # --- memory ---

    def region_at(self, address: int) -> Region | None:
        """The region that the byte at a generic address belongs to."""
        if self.clusters is not None and address >> 48 == SHARED_WINDOW >> 48:
            address &= ~RANKS
        regions = self.regions_of(address)
        region = regions.below(address) if regions else None
        return region if region is not None and address < region.end else None

    def freed_at(self, address: int) -> tuple[int, str] | None:
        """(start, name) of the freed array that held a generic address."""
        return GLOBAL.freed_at(address)

    def regions_of(self, address: int) -> Regions | None:
        """The arrays of the memory that a generic address points into, or just before; None outside
        all."""
        if address >= GLOBAL_WINDOW - BEFORE:
            return GLOBAL.regions
        return self.windows.get((address + BEFORE) // WINDOW_SIZE * WINDOW_SIZE)

    def arguments(self) -> Iterator[Region]:
        """The arrays whose addresses were passed to the kernel."""
        for data in self.launch.parameters.values():
            if len(data) == 8 and (region := self.region_at(int.from_bytes(data, "little"))):
                yield region

    def argument(self, name: str) -> Region | None:
        """The array whose address was passed as the kernel's parameter ``name``."""
        data = self.launch.parameters.get(name, b"")
        return self.region_at(int.from_bytes(data, "little")) if len(data) == 8 else None

    def check(self, site: Site, group: Group, addresses: np.ndarray) -> np.ndarray:
        """The start of each lane's region; raises the fault of the first lane that has none."""
        homes, left = np.zeros(group.n, np.uint64), np.ones(group.n, bool)
        aligned = addresses % np.uint64(site.bytes) == 0
        while left.any():
            n = int(left.argmax())
            address = int(addresses[n])
            region = self.region_at(address)
            if (
                region is None
                or address + site.bytes > region.end
                or address % site.bytes
                or (region.read_only and site.writes)
            ):
                raise access_fault(self, site, group, n, address, region)
            regions = self.regions_of(address)
            after = regions.above(region.start) if regions else None
            last = region.end - site.bytes
            last = last if after is None else min(last, after.start - 1)
            same = left & aligned & (addresses >= np.uint64(region.start))
            same &= addresses <= np.uint64(last)
            same[n] = True
            homes[same] = region.start
            left &= ~same
        return homes

    # --- frames ---

    def begin_frame(self, group: Group) -> None:
        """Set the special registers that a function uses and make room for its local arrays."""
        code = group.code
        for name, slot in code.specials.items():
            if name == "cc":
                continue
            if not name.startswith("local:"):
                value = special_register(name, group)
                if value is None:
                    raise unknown_register(code, name)
                group.R[slot] = value
        for variable in code.locals:
            place = self._local_place(group, variable)
            if group.local_top > LOCAL_LIMIT or len(group.stack) > 4096:
                raise self._stack_is_full(group)
            if not make_local(self, place, variable.size):
                raise self._stack_is_full(group)
            own = code.specials.get("local:" + variable.name)
            if own is not None:
                group.R[own] = np.array([place], np.uint64)
        self.launch.observers.function_starts(group)

    def _local_place(self, group: Group, variable: Variable) -> int:
        """Where a local array of the function that begins is: for another depth of the stack and
        another function it's elsewhere, because other lanes may be there now."""
        key = group.local_top, id(group.code), variable.name
        size, align = variable.size + 128, max(variable.align, 16)
        group.local_top = round_up(group.local_top, align) + size
        place = self._local_places.get(key)
        if place is None:
            place = self._local_places[key] = round_up(self._local_end, align)
            self._local_end = place + size
        return place

    def _stack_is_full(self, group: Group) -> KernelFault:
        return endless_loop(self, group, recursion=True)

    def block_index(self, number: N) -> tuple[N, N, N]:
        """(x, y, z) of a block; blocks are numbered cluster by cluster. Arrays do as well."""
        gx, gy, _ = self.launch.grid
        if not self.launch.clustered:
            return number % gx, number // gx % gy, number // gx // gy
        cx, cy, cz = self.launch.cluster
        c, r = number // (cx * cy * cz), number % (cx * cy * cz)
        gx, gy = gx // cx, gy // cy
        return (
            c % gx * cx + r % cx,
            c // gx % gy * cy + r // cx % cy,
            c // gx // gy * cz + r // cx // cy,
        )

    def thread_and_block(self, lane: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """(thread, block), each (x, y, z), of a lane."""
        slot, thread = divmod(int(lane), self.lanes_per_block)
        bx, by, _ = self.launch.block
        return (
            (thread % bx, thread // bx % by, thread // bx // by),
            self.block_index(self.first + slot),
        )

    def waiting(self) -> Sequence[Group]:
        """The groups of lanes that wait for their turn."""
        return self.groups

    def thread_in_grid(self, lane: int) -> tuple[int, int, int]:
        """The number of a lane's thread in the grid along x, y and z."""
        pairs = zip(*self.thread_and_block(lane), self.launch.block, strict=True)
        x, y, z = (block * size + thread for thread, block, size in pairs)
        return x, y, z

    # --- scheduling ---

    def add(self, group: Group) -> None:
        """Let a group run when its turn comes."""
        group.quantum_left = group.quantum_left or QUANTUM
        self._queue(group)

    def _queue(self, group: Group) -> None:
        group.update_sort_key()
        self.groups.append(group)

    def tick(self) -> int:
        """A moment that is later than all before it, in the order of printf."""
        self.clock += 1
        return self.issued + self.clock

    @property
    def stuck(self) -> bool:
        """Whether lanes live and none of them can go on."""
        return bool(self.live_lanes.any()) and all(g.stalled for g in self.groups)

    def advance(self, turns: int) -> bool:
        """Run up to ``turns`` basic blocks; True when every lane has ended."""
        launch, observers = self.launch, self.launch.observers
        group: Group | None = None
        if self.issued >= self.endless_after:
            self._look_for_endless_loops()
        for _ in range(turns):
            if group is None or (self.groups and not self._behind_all(group)):
                if group is not None:
                    self.groups.append(group)
                group = self._pick()
                while group is None and self.live_lanes.any() and self.engine.force_progress():
                    group = self._pick()
                if group is None:
                    break
            code = group.code
            block = code.blocks[group.block]
            if block.gather is not None:
                observers.warps_converge(group, block)
                if block.warpgroup or not group.whole_warps:
                    group = self.gather(group, block)
                    if group is None:
                        continue
            watching = observers.instruction_observers(group, block)
            self.subscribing.clear()
            act = None
            try:
                if watching:
                    run_observed(group, block, watching, range(len(block.steps)))
                else:
                    steps = block.fused if group.n <= FEW_LANES else block.steps
                    for act in steps:
                        act(group)
                        if self.subscribing:
                            run_observed(group, block, [], block.left_after(act, steps))
                            break
            except KernelFault:
                raise
            except Exception as error:
                act = act and members(act)[0]
                at = block.steps.index(act) if act in block.steps else 0
                raise emulator_error(error, block.instructions[at], group) from error
            self.issued += len(block.instructions)
            group.quantum_left -= 1
            visit = launch.visits.get((code, block.number))
            if visit is None:
                visit = launch.visits[code, block.number] = [0, 0]
            visit[0] += group.n
            visit[1] += len(group.warps)
            if self.issued >= self.service_at:
                if self.issued > self.budget:
                    raise endless_loop(self, group)
                self.engine.service()
            before = group
            try:
                group = block.end(group)
            except KernelFault:
                raise
            except Exception as error:
                raise emulator_error(error, block.instructions[-1], before) from error
            if group is not None and self.repeated.ends_here(group):
                raise endless_loop(self, group, repeats=True)
            if group is not None and self.adversary is not None:
                for part in self.adversary.split(group):
                    self._queue(part)
                group = None
        if group is not None:
            self._queue(group)
        if not self.live_lanes.any():
            self.engine.finish()
            observers.batch_ends(self)
            for region in self.locals:  # what still refers to the batch is collected much later
                region.views.clear()
                region.storage = region.storage[:0].copy()
            launch.issued += self.issued
            return True
        if self.stuck:
            raise deadlock(self)
        return False

    def _look_for_endless_loops(self) -> None:
        """Report a loop that can't end, long before the budget is used up."""
        self.endless_after = self.issued + ENDLESS_AFTER
        places = {(group.code, group.block): group for group in self.groups}
        for (code, block), group in places.items():
            if never_changes(code, block):
                raise endless_loop(self, group)

    def _behind_all(self, group: Group) -> bool:
        """Whether a group that has just run is the one to run next, and merges with none."""
        group.update_sort_key()
        if group.quantum_left <= 0 or self.adversary is not None:
            return False
        key = group.sort_key
        return all(key < other.sort_key for other in self.groups)

    def _pick(self) -> Group | None:
        """Take the group to run next out of the list, merged with those at the same block."""
        groups = self.groups
        if len(groups) == 1:
            return None if groups[0].stalled else groups.pop()
        ready = [g for g in groups if not g.stalled]
        if not ready:
            return None
        willing = [g for g in ready if g.quantum_left > 0]
        if not willing:
            for g in ready:
                g.quantum_left, g.quantum_extended = QUANTUM, False
            willing = ready
        apart = self.adversary
        chosen = apart.choose(willing) if apart else min(willing, key=attrgetter("sort_key"))
        key = chosen.sort_key
        groups.remove(chosen)
        alike = [g for g in groups if g.sort_key == key]
        if not alike:
            return chosen
        alike = [
            g
            for g in alike
            if g.same_callers(chosen) and (apart is None or apart.may_merge(chosen, g))
        ]
        if not alike:
            return chosen
        for g in alike:
            groups.remove(g)
        return chosen.merge(alike)

    def diverge(self, group: Group, chosen: np.ndarray, taken: Ending, skipped: Ending) -> None:
        """Send the lanes of ``chosen`` one way and the others the other; both are queued.

        A turn that ends here goes on once, so that the lanes may meet again; not more often, or
        lanes that part while they spin would keep the others from theirs.
        """
        self.launch.observers.lanes_diverge(group, chosen)
        if group.quantum_left <= 0 and not group.quantum_extended:
            group.quantum_left, group.quantum_extended = QUANTUM, True
        parts = group.split(chosen, group.code.after(group.block))
        for part, go in zip(parts, (skipped, taken), strict=True):
            on = go(part)
            if on is not None:
                self._queue(on)

    def split_off(self, group: Group, index: np.ndarray) -> Group:
        """Some lanes of a group at the end of its block: they carry what later blocks may read."""
        return group.subset(index, group.code.after(group.block))

    def gather(self, group: Group, block: Block) -> Group | None:
        """Lanes whose partners named in the member mask are here go on; the others wait. The
        partners in a wgmma are the four warps of a warpgroup.

        A partner that has ended is not waited for.
        """
        mask = np.broadcast_to(block.member_mask(group), group.n)
        warps, here = lane_masks(group)
        row = np.searchsorted(warps, group.lanes >> 5)
        if block.warpgroup and group.n == self.live_lanes.sum():
            return group
        masks = self.live_masks()
        live = masks[group.lanes >> 5]
        ready = (mask & live & ~here[row]) == 0  # nobody named in the mask is elsewhere
        if block.warpgroup:
            masks[warps] &= ~here
            ready &= self._warpgroups_here(group, masks)
        if ready.all():
            return group
        on = None
        if ready.any():
            live = group.code.live[group.block]
            on = group.subset(np.flatnonzero(ready), live)
            group = group.subset(np.flatnonzero(~ready), live)
        group.stalled = True
        self.add(group)
        return on

    def _warpgroups_here(self, group: Group, elsewhere: np.ndarray) -> np.ndarray:
        """Of each lane whether none of its warpgroup is among the lanes that live ``elsewhere``."""
        per_block = self.lanes_per_block // 32
        slot, warp = np.divmod(np.arange(len(elsewhere)), per_block)
        warpgroup = slot * ceil_div(per_block, 4) + warp // 4
        missing = np.bincount(warpgroup, elsewhere != 0) > 0
        return ~missing[warpgroup[group.lanes >> 5]]

    def live_masks(self) -> np.ndarray:
        """For each warp the mask of its lanes that have not ended; uint32."""
        masks = np.zeros(len(self.live_lanes), np.uint32)
        for g in itertools.chain(self.groups, self.barriers.parked()):
            warps, bits = lane_masks(g)
            masks[warps] |= bits
        return masks

    def finish(self, group: Group) -> None:
        """The lanes of a group have come to the end of the kernel."""
        self.live_lanes -= np.bincount(group.lanes >> 5, minlength=len(self.live_lanes))
        self.live_threads -= np.bincount(group.slots, minlength=self.block_count)
        self.exits += 1
        for other in self.groups:
            other.stalled = False
        self.barriers.recheck()
        blocks = group.blocks
        self.launch.observers.blocks_end(self, blocks[self.live_threads[blocks] == 0])
        if self.tensor_memory is not None:
            self.tensor_memory.leave(group)
        if self.clusters is not None:
            self.clusters.leave(group)
