"""mbarriers, and what else makes threads of a cluster wait for each other.

Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier" and the pages
of mbarrier.init, .inval, .arrive, .arrive_drop, .expect_tx, .complete_tx, .test_wait, .try_wait,
.pending_count; "mapa", "getctarank", "barrier.cluster".
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..findings.causes import Cause
from ..findings.report import BARRIER, Finding, KernelFault
from ..isa import ptx
from ..isa.instruction_set import ENDINGS, ending, step
from ..machine.accesses import Site
from ..machine.async_state import KEY_SHIFT, Wait
from ..machine.clusters import RANK_SHIFT, RANKS
from ..machine.code import Ending, Step
from ..machine.lanes import Group
from ..machine.operands import Put
from ..machine.program import Builder
from ..memory.address_space import SHARED_WINDOW
from .control import _choose, _go, _then_on


class BarrierSite(Site):
    """An operand that is the address of an mbarrier."""

    def __init__(self, b: Builder, i: ptx.Instruction, operand: ptx.Operand) -> None:
        super().__init__(b, i, operand, "b64", 1)
        shared = any(m.startswith("shared") for m in i.modifiers)
        self.space = "shared"
        self.window = SHARED_WINDOW if shared else 0
        self.is_atomic = True

    def keys(self, group: Group) -> np.ndarray:
        """For each lane the mbarrier it names: block of the batch << 24 | offset; int64."""
        batch = group.batch
        addresses, homes = self.addresses(group)
        if (addresses != addresses[0]).any():
            batch.memory.region_starts(self, group, addresses)
        else:
            batch.memory.region_starts(self, group, addresses[:1])
        homes = group.slots if homes is None else homes
        return homes << KEY_SHIFT | (addresses & np.uint64((1 << KEY_SHIFT) - 1)).astype(np.int64)


@ending("mbarrier")
def mbarrier(b: Builder, i: ptx.Instruction) -> Ending | None:
    """Each ends its basic block, because try_wait may send lanes two ways."""
    decode = {
        "init": _init,
        "inval": _inval,
        "arrive": _arrive,
        "arrive_drop": _arrive,
        "expect_tx": _expect,
        "complete_tx": _complete,
        "test_wait": _test,
        "pending_count": _pending,
        "try_wait": _try,
    }.get(i.modifiers[0])
    if decode is None:
        return None
    end, back = _try(b, i) if decode is _try else _then_on(b, decode(b, i)), b.next_block
    return end if i.guard is None else _choose(b, i, end, _go(back))


def _init(b: Builder, i: ptx.Instruction) -> Step:
    site, count = BarrierSite(b, i, i.operands[0]), b.read(i.operands[1], "u32")

    def act(group: Group) -> None:
        counts = group.full(count(group.R))
        group.batch.engine.initialise(site.keys(group), counts, group.lanes, i)

    return act


def _inval(b: Builder, i: ptx.Instruction) -> Step:
    site = BarrierSite(b, i, i.operands[0])
    return lambda group: group.batch.engine.invalidate(site.keys(group), group.lanes, i)


def _arrive(b: Builder, i: ptx.Instruction) -> Step:
    """A state comes first unless the mbarrier may be another block's; a count or bytes come last"""
    operands = list(i.operands)
    put = b.write(operands.pop(0), "b64") if not isinstance(operands[0], ptx.Address) else None
    site = BarrierSite(b, i, operands[0])
    last = b.read(operands[1], "u32") if len(operands) > 1 else None
    expects, drop = "expect_tx" in i.modifiers, i.modifiers[0] == "arrive_drop"

    def act(group: Group) -> None:
        number = None if last is None else group.full(last(group.R)).astype(np.int64)
        counts, sizes = (None, number) if expects else (number, None)
        states = group.batch.engine.arrive(site.keys(group), group.lanes, i, counts, sizes, drop)
        if put is not None:
            put(group.R, states)

    return act


def _expect(b: Builder, i: ptx.Instruction) -> Step:
    site, size = BarrierSite(b, i, i.operands[0]), b.read(i.operands[1], "u32")

    def act(group: Group) -> None:
        sizes = group.full(size(group.R))
        group.batch.engine.expect_tx(site.keys(group), group.lanes, sizes, i)

    return act


def _complete(b: Builder, i: ptx.Instruction) -> Step:
    site, size = BarrierSite(b, i, i.operands[0]), b.read(i.operands[1], "u32")

    def act(group: Group) -> None:
        engine = group.batch.engine
        sizes = group.full(size(group.R))
        for key, count, lane in zip(site.keys(group), sizes, group.lanes, strict=True):
            engine.complete_tx(int(key), int(count), lane, i)

    return act


def _pending(b: Builder, i: ptx.Instruction) -> Step:
    put, get = b.write(i.operands[0], "b32"), b.read(i.operands[1], "b64")
    return lambda group: put(group.R, (get(group.R) & np.uint64(0xFFFFFFFF)).astype(np.uint32))


def _wait_operands(
    b: Builder, i: ptx.Instruction
) -> tuple[Put, Callable[[Group], tuple[np.ndarray, np.ndarray]], bool]:
    """(setter of the predicate, look): ``look(group)`` gives each lane's mbarrier and phase."""
    parity = "parity" in i.modifiers
    put, site = b.write(i.operands[0], "pred"), BarrierSite(b, i, i.operands[1])
    get = b.read(i.operands[2], "u32" if parity else "b64")

    def look(group: Group) -> tuple[np.ndarray, np.ndarray]:
        keys, value = site.keys(group), group.full(get(group.R)).astype(np.int64)
        foreign = np.flatnonzero(keys >> KEY_SHIFT != group.slots)
        if len(foreign):
            thread, block = group.batch.thread_and_block(group.lanes[foreign[0]])
            text = (
                f"Barrier misuse: thread {thread} of block {block} waits at {i.location} for an "
                "mbarrier of another block. A block can arrive there, but wait only for its own."
            )
            cause = Cause.MBARRIER_OF_OTHER_BLOCK
            raise KernelFault(Finding(BARRIER, text, i.location, thread, block, cause=cause))
        return keys, value if parity else value >> 32

    return put, look, parity


def _test(b: Builder, i: ptx.Instruction) -> Step:
    put, look, parity = _wait_operands(b, i)

    def act(group: Group) -> None:
        engine = group.batch.engine
        passed = engine.passed(*look(group), parity, group.lanes, i)
        if not passed.all():
            engine.skip_ahead()
        put(group.R, passed)

    return act


def _try(b: Builder, i: ptx.Instruction) -> Ending:
    """Lanes whose phase has not completed are parked until it has: no lane spins."""
    put, look, parity = _wait_operands(b, i)
    back = b.next_block

    def end(group: Group) -> Group | None:
        engine = group.batch.engine
        keys, phases = look(group)
        passed = engine.passed(keys, phases, parity, group.lanes, i)
        if passed.all():
            put(group.R, np.ones(1, bool))
            group.block = back
            return group
        on, late = None, group
        if passed.any():
            on = group.split_off(np.flatnonzero(passed))
            late = group.split_off(np.flatnonzero(~passed))
            put(on.R, np.ones(1, bool))
            on.block = back
        late.block = back
        engine.park(Wait(late, keys[~passed], phases[~passed], parity, i, put))
        return on

    return end


@step("mapa")
def mapa(b: Builder, i: ptx.Instruction) -> Step:
    """The address of the same byte in the block of another rank."""
    kind = i.modifiers[-1]
    get, rank = b.read(i.operands[1], kind), b.read(i.operands[2], "u32")
    put = b.write(i.operands[0], kind)

    def act(group: Group) -> Group | None:
        address, shift = get(group.R), rank(group.R)
        keep = address.dtype.type((1 << 8 * address.itemsize) - 1 - RANKS)
        if group.batch.clusters is None:
            return put(group.R, address)
        return put(group.R, address & keep | shift.astype(address.dtype) << RANK_SHIFT)

    return act


@step("getctarank")
def getctarank(b: Builder, i: ptx.Instruction) -> Step:
    """The rank of the block whose shared memory an address is in."""
    get, put = b.read(i.operands[1], i.modifiers[-1]), b.write(i.operands[0], "b32")
    return lambda group: put(group.R, (get(group.R) >> RANK_SHIFT & 0xFF).astype(np.uint32))


_block_barrier = ENDINGS["barrier"]


@ending("barrier")
def barrier(b: Builder, i: ptx.Instruction) -> Ending | None:
    """barrier.cluster.arrive and .wait; any other barrier is one of a block."""
    if "cluster" not in i.modifiers:
        return _block_barrier(b, i)
    back, waits = b.next_block, "wait" in i.modifiers

    def end(group: Group) -> Group | None:
        clusters = group.batch.clusters
        group.block = back
        if clusters is None:  # a block is a cluster of its own
            if not waits:
                return group
            return group.batch.barriers.arrive(group, i, 16, None, False, "", None, None)
        if waits:
            return clusters.wait(group, i)
        clusters.arrive(group, i)
        return group

    return end if i.guard is None else _choose(b, i, end, _go(back))
