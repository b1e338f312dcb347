"""Copies of whole blocks of bytes and of boxes of tensors, and st.async.

Source: PTX ISA, "Data Movement and Conversion Instructions": cp.async.bulk, cp.reduce.async.bulk,
cp.async.bulk.tensor, st.async.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from ..findings.causes import Cause
from ..findings.fault_messages import access_fault
from ..findings.report import BAD_TENSOR_MAP, BARRIER, MISALIGNED, Finding, KernelFault
from ..findings.wording import where
from ..isa import ptx
from ..isa.instruction_set import DTYPES, STEPS, step
from ..machine.async_state import KEY_SHIFT, Transfer
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..machine.runtime_functions import read_bytes
from ..memory.address_space import SHARED_WINDOW, Region
from ..memory.tensor_box import ENCODED_BYTES, Box, decode
from ..numerics.floats import to_tf32
from .atomics import _operation
from .mbarrier import BarrierSite

OUTSIDE = (
    Cause.OUTSIDE_ARRAY,
    Cause.OUTSIDE_ARRAY_COMPUTED,
    Cause.OUTSIDE_SHARED_ARRAY,
    Cause.OUTSIDE_ARRAY_GUARDED,
    Cause.DYNAMIC_SHARED_TOO_SMALL,
)


class Piece:
    """What :func:`access_fault` wants to know of an access: some bytes of a copy."""

    def __init__(self, instruction: ptx.Instruction, is_store: bool, space: str) -> None:
        self.instruction, self.is_store, self.space = instruction, is_store, space
        self.is_atomic, self.bytes, self.width = False, 4, 4


def bytes_at(
    group: Group,
    n: int,
    i: ptx.Instruction,
    address: int,
    size: int,
    writes: bool,
    rank: int | None = None,
) -> tuple[Region, int, np.ndarray]:
    """(region, first byte of its storage, a view of the bytes) of what lane ``n`` can copy at a
    generic address. ``rank``: of the block of the cluster that is meant, if not in the address.
    Raises KernelFault where the ``size`` bytes leave the array, or may not be written."""
    batch, home = group.batch, int(group.slots[n])
    one = Group(batch, group.lanes[n : n + 1], group.code, group.block, group.R)
    if batch.clusters is not None:
        stripped, homes = batch.clusters.strip(np.array([address], np.uint64), one)
        address = int(stripped[0])
        if homes is not None:
            if rank is not None:
                homes = one.slots // batch.clusters.size * batch.clusters.size + rank
            batch.clusters.check(Piece(i, writes, "shared"), one, homes)
            home = int(homes[0])
    region = batch.memory.region_at(address)
    if region is None or address + size > region.end or (writes and region.read_only):
        space = "shared" if address >> 48 == SHARED_WINDOW >> 48 else "global"
        if region is not None and not (writes and region.read_only):
            address = region.end - region.end % 4  # the first bytes past the end
            region = None
        fault = access_fault(batch, Piece(i, writes, space), one, 0, address, region)
        if fault.finding.cause in OUTSIDE:
            raise KernelFault(replace(fault.finding, cause=Cause.COPY_OUTSIDE_ARRAY))
        raise fault
    start = address - region.start + (home * region.stride if region.owner == "block" else 0)
    return region, start, region.storage[start : start + size]


def aligned(group: Group, n: int, i: ptx.Instruction, what: str, value: int, to: int) -> None:
    """Raise KernelFault where an address or a size of a copy isn't a multiple of ``to`` bytes."""
    if value % to:
        thread, block = group.batch.thread_and_block(group.lanes[n])
        text = (
            f"Misaligned copy: {where(thread, block)} starts a copy at {i.location} whose {what} "
            f"isn't a multiple of {to} bytes: {value & 0xFFFFFFFF:#x}."
        )
        cause = Cause.COPY_MISALIGNED
        raise KernelFault(Finding(MISALIGNED, text, i.location, thread, block, cause=cause))


def _aligned_box(group: Group, n: int, i: ptx.Instruction, first: int, size: int) -> None:
    """Report a box whose rows do not begin at multiples of 16 bytes: an H200 stops a load of one
    with "illegal instruction"."""
    if first * size % 16:
        thread, block = group.batch.thread_and_block(group.lanes[n])
        text = (
            f"Misaligned copy: {where(thread, block)} starts a copy at {i.location} whose box "
            f"begins at {first} along the tensor's last axis: that must be a multiple of "
            f"{16 // size} elements (16 bytes)."
        )
        cause = Cause.COPY_MISALIGNED
        raise KernelFault(Finding(MISALIGNED, text, i.location, thread, block, cause=cause))


def _barrier_beside(group: Group, n: int, i: ptx.Instruction, key: int, home: int) -> None:
    """Report an mbarrier that does not lie in ``home``, the block whose memory a copy of lane ``n``
    fills, nor, with .cta_group::2, in the other block of its pair."""
    told = key >> KEY_SHIFT
    if told == home or ("cta_group::2" in i.modifiers and told == home ^ 1):
        return
    batch = group.batch
    (thread, block), first = batch.thread_and_block(group.lanes[n]), batch.first
    into, of = batch.block_index(first + home), batch.block_index(first + told)
    text = (
        f"Barrier misuse: at {i.location} {where(thread, block)} starts a copy into block {into} "
        f"that signals an mbarrier of block {of}. Only a copy with .cta_group::2 may signal one of "
        "another block, and that of its pair alone."
    )
    cause = Cause.COPY_SIGNALS_OTHER_BLOCK
    raise KernelFault(Finding(BARRIER, text, i.location, thread, block, cause=cause))


class CopyPlace:
    """An address operand of a bulk copy: ``of(group)`` gives every lane's generic address."""

    def __init__(self, b: Builder, operand: ptx.Operand, space: str) -> None:
        operand = ptx.address(operand)
        wide = not isinstance(operand.base, ptx.Register) or ptx.SIZES[operand.base.type] == 8
        self.get = b.read(operand.base, "u64" if wide else "u32")
        self.offset = operand.offset + (SHARED_WINDOW if space.startswith("shared") else 0)

    def of(self, group: Group) -> list[int]:
        """The generic address of each lane."""
        return [int(a) + self.offset for a in group.full(self.get(group.R))]


def _multicast(
    b: Builder, i: ptx.Instruction, operands: list[ptx.Operand]
) -> Callable[[Group], Sequence[Sequence[int | None]]]:
    """For each lane the ranks that get the data: None for the one in the address."""
    if "multicast::cluster" not in i.modifiers:
        return lambda group: [[None]] * group.n
    get = b.read(operands.pop(0), "u16")

    def ranks(group: Group) -> list[list[int]]:
        masks = group.full(get(group.R)).tolist()
        return [[r for r in range(16) if mask >> r & 1] for mask in masks]

    return ranks


def _deliver(
    group: Group,
    n: int,
    i: ptx.Instruction,
    key: int | None,
    rank: int | None,
    size: int,
    **parts: Any,
) -> None:
    """Start a copy of lane ``n`` that reports to an mbarrier, or else to a bulk group."""
    if key is not None and rank is not None:  # the same mbarrier of each block that gets the data
        clusters = group.batch.clusters
        blocks = clusters.size if clusters else 1
        if "cta_group::2" in i.modifiers:  # or of its peer: the one with the parity of `key`'s
            rank = rank & ~1 | (key >> KEY_SHIFT) % blocks & 1
        home = int(group.slots[n]) // blocks * blocks + rank
        key = home << KEY_SHIFT | key & (1 << KEY_SHIFT) - 1
    group.batch.engine.start(
        Transfer(
            i,
            group.lanes[n : n + 1],
            queue=None if key is not None else "bulk",
            complete=None if key is None else (key, size),
            **parts,
        )
    )


def _count(group: Group, i: ptx.Instruction, spaces: tuple[str, str], size: int) -> None:
    """Tell the profiler of a copy from one memory to another."""
    group.batch.launch.observers.bytes_copied(i, spaces, size)


def bulk_copy(b: Builder, i: ptx.Instruction) -> Step | None:
    """A run of bytes, both ends and the size multiples of 16; cp.reduce combines instead."""
    m = i.modifiers
    spaces = [x for x in m if x.startswith("shared") or x == "global"]
    operands = list(i.operands)
    target, source = CopyPlace(b, operands[0], spaces[0]), CopyPlace(b, operands[1], spaces[1])
    way = spaces[1].partition("::")[0], spaces[0].partition("::")[0]
    size = b.read(operands[2], "u32")
    operands = operands[3:]
    to_barrier = "mbarrier::complete_tx::bytes" in m
    site = BarrierSite(b, i, operands.pop(0)) if to_barrier else None
    ranks = _multicast(b, i, operands)
    dtype, operation = np.dtype(np.uint64), None
    if m[0] == "reduce":
        name = next(x for x in m if x in ("add", "min", "max", "inc", "dec", "and", "or", "xor"))
        dtype, operation = DTYPES[m[-1]], _operation(name, m[-1])
        if operation is None:
            return None

    def act(group: Group) -> None:
        keys = site.keys(group).tolist() if site else [None] * group.n
        sizes = group.full(size(group.R)).tolist()
        rows = zip(target.of(group), source.of(group), sizes, keys, ranks(group), strict=True)
        for n, (to, from_, count, key, blocks) in enumerate(rows):
            for what, value in (("destination", to), ("source", from_), ("size", count)):
                aligned(group, n, i, what, value, 16)
            if count == 0:
                continue
            home, start, _ = bytes_at(group, n, i, from_, count, False)
            _count(group, i, way, count)
            steps = np.arange(count // dtype.itemsize)[None]
            for rank in blocks:
                goal, first, _ = bytes_at(group, n, i, to, count, True, rank)
                _deliver(
                    group,
                    n,
                    i,
                    key,
                    rank,
                    count,
                    target=goal.view(dtype),
                    put=first // dtype.itemsize + steps,
                    source=home.view(dtype),
                    take=start // dtype.itemsize + steps,
                    operation=operation,
                    regions=(goal, home),
                )

    return act


def tensor_copy(b: Builder, i: ptx.Instruction) -> Step | None:
    """A box of a tensor of 1 to 5 dimensions, as a tensor map describes it."""
    m, operands = i.modifiers, list(i.operands)
    rank = int(next(x for x in m if x[1:] == "d")[0])
    loads = m.index("global") > 0 and any(x.startswith("shared") for x in m[: m.index("global")])
    first, second = operands[0], operands[1]
    memory, tensor = (first, second) if loads else (second, first)
    shared = CopyPlace(b, memory, "shared")
    map_at = CopyPlace(b, tensor, "generic")
    coordinates = [b.read(c, "s32") for c in ptx.elements(ptx.address(tensor).extra[0])]
    site = BarrierSite(b, i, operands[2]) if loads else None
    rest = operands[3:]
    ranks = _multicast(b, i, rest) if loads else lambda group: [[None]] * group.n
    name = next((x for x in m if x in ("add", "min", "max", "inc", "dec", "and", "or", "xor")), "")
    reduces = m[0] == "reduce"

    def act(group: Group) -> None:
        keys = site.keys(group).tolist() if site else [None] * group.n
        places = zip(shared.of(group), map_at.of(group), keys, ranks(group), strict=True)
        at = [group.full(c(group.R)).tolist() for c in coordinates]
        for n, (address, map_address, key, blocks) in enumerate(places):
            aligned(group, n, i, "shared memory address", address, 128)
            data = read_bytes(group, int(group.lanes[n]), map_address, ENCODED_BYTES)
            box = _decoded(group, n, i, data, rank)
            _aligned_box(group, n, i, at[0][n], box.unit.itemsize)
            inside, outside = box.tensor_offsets([c[n] for c in at])
            offsets = box.shared_offsets(address)
            unit, size = box.unit.itemsize, box.bytes
            lowest = int(offsets.min())
            tensor_region = group.batch.memory.region_at(box.address)
            if tensor_region is None:
                _bad_map(
                    group, n, i, "its array no longer exists: keep it until the kernel has run"
                )
            take = (box.address - tensor_region.start + inside) // unit
            whole = None if outside is None else ~outside
            moved = size if whole is None else int(whole.sum()) * unit
            _count(group, i, ("global", "shared") if loads else ("shared", "global"), moved)
            for block in blocks:
                region, start, _ = bytes_at(group, n, i, address + lowest, size, loads, block)
                if loads and block is None:
                    _barrier_beside(group, n, i, key, start // region.stride)
                put = (start - lowest + offsets) // unit
                views = region.view(box.unit), tensor_region.view(box.unit)
                if loads:
                    rounds = _rounded_to_tf32 if box.tf32 else None
                    _deliver(
                        group,
                        n,
                        i,
                        key,
                        block,
                        size,
                        target=views[0],
                        put=put[None],
                        source=views[1],
                        take=(take if whole is None else take * whole)[None],
                        valid=None if whole is None else whole[None],
                        fill=box.fill,
                        convert=rounds,
                        regions=(region, tensor_region),
                    )
                    continue
                chosen = slice(None) if whole is None else np.flatnonzero(whole)
                if whole is not None and not whole.any():
                    continue
                operation = _operation(name, box.kind) if reduces else None
                _deliver(
                    group,
                    n,
                    i,
                    None,
                    None,
                    size,
                    target=views[1],
                    put=take[chosen][None],
                    source=views[0],
                    take=put[chosen][None],
                    operation=operation,
                    regions=(tensor_region, region),
                )

    return act


def _decoded(group: Group, n: int, i: ptx.Instruction, data: bytes, rank: int) -> Box:
    return decode(data, rank, lambda text: _bad_map(group, n, i, text))


def _rounded_to_tf32(loaded: np.ndarray) -> np.ndarray:
    """As an H200 rounds what it loads by a TFLOAT32 map, measured: as cvt.rn.tf32.f32 does."""
    return to_tf32(loaded, "rn").view(np.float32)


def _bad_map(group: Group, n: int, i: ptx.Instruction, text: str) -> NoReturn:
    thread, block = group.batch.thread_and_block(group.lanes[n])
    message = f"Bad tensor map: {where(thread, block)} uses one at {i.location}, but {text}."
    cause = Cause.TENSOR_MAP_INVALID
    raise KernelFault(Finding(BAD_TENSOR_MAP, message, i.location, thread, block, cause=cause))


_plain_store = STEPS["st"]


@step("st")
def st(b: Builder, i: ptx.Instruction) -> Step | None:
    """st.async: a store into another block that reports to an mbarrier there."""
    if "async" not in i.modifiers:
        return _plain_store(b, i)
    kind = i.modifiers[-1]
    dtype = DTYPES[kind]
    target, values = CopyPlace(b, i.operands[0], "shared"), i.operands[1]
    gets = [b.read(v, kind) for v in (ptx.items(values))]
    site = BarrierSite(b, i, i.operands[2])
    size = dtype.itemsize * len(gets)

    def act(group: Group) -> None:
        data = np.stack([group.full(get(group.R)) for get in gets], axis=1)
        for n, (to, key) in enumerate(
            zip(target.of(group), site.keys(group).tolist(), strict=True)
        ):
            aligned(group, n, i, "destination", to, size)
            region, start, _ = bytes_at(group, n, i, to, size, True)
            steps = np.arange(len(gets))[None]
            _deliver(
                group,
                n,
                i,
                key,
                None,
                size,
                target=region.view(dtype),
                put=start // dtype.itemsize + steps,
                source=data[n],
                take=steps,
                regions=(region, None),
            )

    return act
