"""Copies that go on while the threads that started them do other things.

Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy" and its pages on
cp.async and groups. Larger copies are in :mod:`.bulk_copies`.

Here every copy becomes a :class:`~..machine.async_state.Transfer` that says which elements go
where. The engine decides when.
"""

from __future__ import annotations

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import Traits, step
from ..machine.accesses import Reached, Site
from ..machine.async_state import Transfer
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..memory.address_space import SHARED_WINDOW
from .bulk_copies import bulk_copy, bytes_at, tensor_copy
from .loads_stores import _in_pieces
from .mbarrier import BarrierSite


@step("cp", traits=lambda modifiers: Traits(memory="copy", async_proxy="bulk" in modifiers))
def cp(b: Builder, i: ptx.Instruction) -> Step | None:
    """Every cp and cp.reduce: a copy, a commit, a wait, or an arrival at an mbarrier."""
    m = i.modifiers
    if m[0] == "reduce":
        m = m[1:]
    if m[0] != "async" or "im2col" in m:
        return None
    if "commit_group" in m or "wait_group" in m or "wait_all" in m:
        return _groups(b, i)
    if "prefetch" in m:
        return lambda group: None
    if "tensor" in m:
        return tensor_copy(b, i)
    if "bulk" in m:
        return bulk_copy(b, i)
    return _arrive(b, i) if "mbarrier" in m else _cp_async(b, i)


def _groups(b: Builder, i: ptx.Instruction) -> Step:
    """Each thread's groups of copies complete in the order in which they were committed."""
    queue = "bulk" if "bulk" in i.modifiers else "async"
    if "commit_group" in i.modifiers:
        return lambda group: group.batch.engine.commit(queue, group.lanes)
    left = ptx.integer(i.operands[0]) if i.operands else None
    return lambda group: group.batch.engine.wait_group(queue, group.lanes, left, i)


def _arrive(b: Builder, i: ptx.Instruction) -> Step:
    """cp.async.mbarrier.arrive: once all earlier cp.async of the thread have completed."""
    site = BarrierSite(b, i, i.operands[0])
    noinc = "noinc" in i.modifiers

    def act(group: Group) -> None:
        engine, keys = group.batch.engine, site.keys(group)
        if not noinc:  # the mbarrier expects one arrival more
            for key, lane in zip(keys.tolist(), group.lanes, strict=True):
                engine.find(key, lane, i).pending += 1
        engine.start(Transfer(i, group.lanes, queue="async", arrivals=keys))

    return act


def _cp_async(b: Builder, i: ptx.Instruction) -> Step:
    """4, 8 or 16 bytes for each thread, filled with 0 past the source's size."""
    size = getattr(i.operands[2], "value", None)
    if size not in (4, 8, 16):
        raise ptx.PtxError("it copies 4, 8 or 16 bytes, and says so by a literal")
    kind, count = ("b32", 1) if size == 4 else ("b64", size // 8)
    target = Site(b, i, i.operands[0], kind, count)
    source = Site(b, i, i.operands[1], kind, count)
    target.window, target.space, target.is_store = SHARED_WINDOW, "shared", True
    source.window, source.space = 0, "global"
    target.values = [lambda R: np.zeros(1, np.uint64)] * 2
    last = i.operands[3] if len(i.operands) > 3 else None
    given = ignored = None
    if isinstance(last, ptx.Register) and last.type == "pred":
        ignored = b.read(last, "pred")
    elif last is not None and ("L2::cache_hint" not in i.modifiers or len(i.operands) > 4):
        given = b.read(last, "u32")
    needed = tuple(b.reads)
    pieces = np.arange(count)

    def elements(group: Group, first: int, index: np.ndarray) -> np.ndarray:
        places = group.full(index + first)[:, None]
        return places if count == 1 else places + pieces

    def take(group: Group, goal: Reached, found: Reached) -> None:
        region, first, index = goal
        put = elements(group, first, index)
        region_from, first, index = found
        rows = elements(group, first, index)
        group.batch.engine.start(
            Transfer(
                i,
                group.lanes,
                region.view(target.dtype),
                put,
                region_from.view(source.dtype),
                rows,
                regions=(region, region_from),
                queue="async",
            )
        )

    def act(group: Group) -> None:
        if given is not None:
            sizes = group.full(given(group.R)).astype(np.int64)
        elif ignored is not None:
            sizes = np.where(group.full(ignored(group.R)), 0, size)
        else:
            whole(group)
            return
        full = sizes == size
        many = np.count_nonzero(full)
        if many == group.n:
            whole(group)
            return
        if many:
            whole(group.subset(full.nonzero()[0], needed))
        rest = (~full).nonzero()[0]
        short(group.subset(rest, needed), sizes[rest])

    def whole(group: Group) -> None:
        goal = target.locate(group)
        found = source.locate(group) if goal else None
        if goal is None or found is None:
            _in_pieces(source if goal else target, group, whole, needed, ())
        else:
            take(group, goal, found)

    def short(group: Group, sizes: np.ndarray) -> None:
        """Some bytes of the source, none of them outside. The others are zeros."""
        goal = target.locate(group)
        if goal is None:
            for index in target.pieces(group):
                short(group.subset(index, needed), sizes[index])
            return
        data = np.zeros((group.n, size), np.uint8)
        base = group.full(source.base(group.R))
        for n in np.flatnonzero(sizes):
            address = int(base[n]) + source.offset
            data[n, : sizes[n]] = bytes_at(group, int(n), i, address, int(sizes[n]), False)[2]
        values = data.view(target.dtype).ravel()
        region, first, index = goal
        put = group.full(index + first)[:, None] + pieces
        rows = np.arange(group.n * count).reshape(group.n, count)
        group.batch.engine.start(
            Transfer(
                i,
                group.lanes,
                region.view(target.dtype),
                put,
                values,
                rows,
                regions=(region, None),
                queue="async",
            )
        )

    return act
