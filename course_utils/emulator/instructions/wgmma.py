"""Matrices of a warpgroup: wgmma.mma_async, fence, commit_group, wait_group.

Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions", "Matrix
Descriptor Format", "Strides", "Swizzling Modes"; layouts as in CUTLASS, ``mma_sm90_desc.hpp``.

Four warps multiply A (64 × K, from shared memory or from registers) by B (K × N, from shared
memory), K being 32 bytes. Each warp holds 16 rows of D in the layout of mma's accumulator. Tiles in
shared memory are told by a 64-bit *descriptor*; they are made of chunks of 16 bytes, and all that
descriptors and swizzles do is to say where each chunk lies.

The multiplication happens at once, where a GPU takes until ``wait_group``. Writing the result late
would not do: the compiler may put ``mov`` between the instructions of one group, which copy
accumulators in flight and mean nothing on a GPU. That a result is used too early is seen in the
program itself instead: see :mod:`..checks.barriers.early_use`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..findings.causes import Cause
from ..findings.fault_messages import access_fault
from ..findings.report import BARRIER, MISALIGNED, UNKNOWN_INSTRUCTION, Finding, KernelFault
from ..findings.wording import where
from ..isa import ptx
from ..isa.instruction_set import PLAIN, Traits, step
from ..machine.code import Step
from ..machine.lanes import Group
from ..machine.program import Builder
from ..memory.address_space import SHARED_WINDOW
from ..numerics.tensor_core_sums import sums_on_hopper
from .fragment_layouts import (
    ACCUMULATORS,
    CHUNK,
    ELEMENTS,
    RAW,
    accumulate,
    decode,
    fragment_a,
    fragment_c,
    per_register,
    read_registers,
    write_registers,
)
from .matrix import check_registers, known, matrix_work, shape_of, shapes_for, types_of
from .warp import WarpRows

WARPGROUP = 128  # threads
SPANS = np.array([16, 128, 64, 32])  # bytes that a swizzle mode covers; 16: no swizzle
ORDER_ONLY = ("fence", "commit_group", "wait_group")


def swizzle(addresses: np.ndarray, span: int | np.ndarray) -> np.ndarray:
    """Shared memory addresses, bits 4… exchanged by bits 7… within ``span`` bytes."""
    return addresses ^ ((addresses >> 7 & (span // 16 - 1)) << 4)


def chunk_addresses(descriptors: np.ndarray, size: int, k: int, mn_major: bool) -> np.ndarray:
    """Where the chunks of operand tiles lie in shared memory, for (tiles,) u64 descriptors.

    A tile has ``size`` rows (of A; columns of B), called mn below. K-major: (tiles, size, 2), each
    chunk a run along k. MN-major (b16 only): (tiles, k, size / 8), each a run along mn.
    """
    fields = descriptors.astype(np.int64)[:, None, None]
    start, leading, stride = ((fields >> bit & 0x3FFF) << 4 for bit in (0, 16, 32))
    span = SPANS[fields >> 62 & 3]
    return swizzle(start + chunk_offsets(leading, stride, span, size, k, mn_major), span)


def chunk_offsets(
    leading: int | np.ndarray,
    stride: int | np.ndarray,
    span: int | np.ndarray,
    size: int,
    k: int,
    mn_major: bool,
    per: int = 8,
    lines: int = 8,
) -> np.ndarray:
    """Bytes from the start of a tile to each of its chunks, before they are swizzled.

    Numbers, or arrays of shape (tiles, 1, 1) that give a tile each. A chunk holds ``per`` elements
    (MN-major); ``lines`` of ``span`` bytes make one atom. Shapes as in :func:`chunk_addresses`.
    """
    plain = np.equal(span, 16)
    if mn_major:
        j, line = np.arange(size // per), np.arange(k)[:, None]
        across = np.where(plain, stride, leading)  # from one span of mn to the next
        down = np.where(plain, leading, stride)  # from one atom along k to the next
        per_span = span // 16
        offset = j % per_span * 16 + j // per_span * across
    else:
        j, line = np.arange(2), np.arange(size)[:, None]
        down = np.asarray(stride)
        offset = j * np.where(plain, leading, 16)
    return offset + line % lines * span + line // lines * down


@dataclass
class Reader:
    """Reads operand tiles from shared memory; has what reports want to know of a memory access."""

    instruction: ptx.Instruction
    width: int  # bytes of an element
    bytes: int = 16
    space: str = "shared"
    is_store: bool = False
    is_atomic: bool = False
    order: str = ""
    traits = PLAIN

    def read(self, group: Group, firsts: np.ndarray, addresses: np.ndarray) -> np.ndarray:
        """The chunks at ``addresses`` (tiles, …) of shared memory; ``firsts`` are the positions in
        the group of the first lane of each tile's warpgroup."""
        batch = group.batch
        slots = group.slots[firsts].reshape(-1, *[1] * (addresses.ndim - 1))
        chunks = np.empty(addresses.shape, CHUNK)
        missing = np.ones(addresses.shape, bool)
        for region in batch.memory.shared:
            offset = addresses - (region.start - SHARED_WINDOW)
            inside = (offset >= 0) & (offset <= region.size - 16)
            if not inside.any():
                continue
            index = offset + slots * region.stride >> 4
            batch.launch.observers.tiles_read(self, group, firsts, region, index, inside)
            if inside.all():
                return region.view(CHUNK).take(index)
            chunks[inside] = region.view(CHUNK).take(index[inside])
            missing &= ~inside
        if missing.any():
            tile = int(np.nonzero(missing)[0][0])
            address = SHARED_WINDOW + int(addresses[missing][0])
            raise access_fault(
                batch, self, group, int(firsts[tile]), address, batch.memory.region_at(address)
            )
        return chunks


def _incomplete(group: Group, why: str, cause: Cause = Cause.WARPGROUP_INCOMPLETE) -> KernelFault:
    thread, block = group.batch.thread_and_block(group.lanes[0])
    instruction = group.code.blocks[group.block].instructions[0]
    text = f"wgmma at {instruction.location} needs all 128 threads of a warpgroup, but {why}."
    return KernelFault(Finding(BARRIER, text, instruction.location, thread, block, cause=cause))


@dataclass(frozen=True)
class Warpgroups:
    """The warpgroups of a group of lanes. ``which`` and ``rank``: the warpgroup of each warp, and
    its place in it; ``firsts``: position of a lane of each warpgroup."""

    count: int
    which: np.ndarray
    rank: np.ndarray
    firsts: np.ndarray

    @staticmethod
    def of(group: Group) -> Warpgroups:
        """The warpgroups of a group. Raises KernelFault where one is incomplete."""
        per_block = group.batch.lanes_per_block // 32
        slot, warp = np.divmod(group.warps, per_block)
        if (warp // 4 * 4 + 4 > per_block).any():
            threads = group.batch.threads
            why = f"the block has {threads} threads, so its last warpgroup has only {threads % 128}"
            raise _incomplete(group, why, Cause.WARPGROUP_MISSING_WARPS)
        numbers, first_warps, which = np.unique(
            slot * per_block + warp // 4, return_index=True, return_inverse=True
        )
        firsts = np.searchsorted(group.lanes >> 5, group.warps[first_warps])
        if group.n < 128 * len(numbers):
            ended = 128 - np.diff([*firsts, group.n]).min()
            raise _incomplete(group, f"{ended} of them have ended")
        return Warpgroups(len(numbers), which, warp % 4, firsts)

    def together(self, per_warp: np.ndarray) -> np.ndarray:
        """(warps, 16, columns) -> (warpgroups, 64, columns); 0 for warps that are not here."""
        whole = np.zeros((self.count, 4, *per_warp.shape[1:]), per_warp.dtype)
        whole[self.which, self.rank] = per_warp
        return whole.reshape(self.count, 64, -1)

    def apart(self, whole: np.ndarray) -> np.ndarray:
        """(warpgroups, 64, columns) -> (warps, 16, columns)."""
        return whole.reshape(self.count, 4, 16, -1)[self.which, self.rank]


def _start_swizzles(
    group: Group, groups: Warpgroups, i: ptx.Instruction, descriptors: np.ndarray
) -> None:
    """Raise KernelFault where a tile of ``descriptors`` doesn't start in the first of the eight
    lines after which its swizzle repeats, as one without a base offset has to."""
    span = SPANS[(descriptors >> np.uint64(62)).astype(int)]
    starts = (descriptors.astype(np.int64) & 0x3FFF) << 4
    wrong = np.flatnonzero(starts >> 7 & (span // 16 - 1))
    if not wrong.size:
        return
    which = int(wrong[0])
    thread, block = group.batch.thread_and_block(group.lanes[groups.firsts[which]])
    address = SHARED_WINDOW + int(starts[which])
    array, repeats = group.batch.memory.region_at(address), 8 * int(span[which])
    place = ""
    if array is not None:
        into = address - array.start
        place = f", {into} bytes into {array.name}" if into else f", where {array.name} begins"
    text = (
        f"Misaligned tile: {where(thread, block)} multiplies at {i.location} a tile with a swizzle "
        f"of {span[which]} bytes, which starts at byte {starts[which]} of shared memory{place}. "
        f"The swizzle repeats at multiples of {repeats} bytes, and a tile must start in "
        f"the first {span[which]} bytes after one."
    )
    aligned = array is None or array.start % repeats == 0
    cause = Cause.TILE_OFFSET_MISALIGNED if aligned else Cause.TILE_MISALIGNED
    raise KernelFault(Finding(MISALIGNED, text, i.location, thread, block, cause=cause))


def _operand(
    b: Builder, i: ptx.Instruction, operand: ptx.Operand, kind: str, size: int, mn_major: bool
) -> Callable[[Group, Warpgroups], np.ndarray]:
    """A getter of a tile in shared memory: f64 (warpgroups, size, k)."""
    k, bits = shape_of(i)[2], ELEMENTS[kind][0]
    reader, get = Reader(i, bits // 8), b.read(operand, "u64")

    def read(group: Group, groups: Warpgroups) -> np.ndarray:
        descriptors = group.full(get(group.R))[groups.firsts]
        if (descriptors >> np.uint64(49) & np.uint64(7)).any():
            raise KernelFault(
                Finding(
                    UNKNOWN_INSTRUCTION,
                    "The emulator doesn't support a matrix descriptor with a base offset: start "
                    f"swizzled tiles at multiples of 1024 bytes ({i.location}).",
                    i.location,
                    cause=Cause.UNKNOWN_INSTRUCTION,
                )
            )
        _start_swizzles(group, groups, i, descriptors)
        addresses = chunk_addresses(descriptors, size, k, mn_major)
        tile = decode(kind, reader.read(group, groups.firsts, addresses).view(RAW[bits]))
        if mn_major:
            return tile.reshape(-1, k, size).swapaxes(1, 2)
        return tile.reshape(-1, size, k)

    return read


def _traits(modifiers: tuple[str, ...]) -> Traits:
    if modifiers[0] != "mma_async":
        act = {"fence": "fences", "commit_group": "commits", "wait_group": "waits"}
        return Traits(registers=act.get(modifiers[0], ""))
    return Traits(
        async_proxy=True,
        matrix=lambda i: [o for o in i.operands[:2] if isinstance(o, ptx.OperandList)],
        registers="fills in groups",
        work=matrix_work(modifiers, WARPGROUP),
    )


def _order(i: ptx.Instruction) -> Step:
    """fence, commit_group, wait_group: the machine has nothing to do, its observers may have."""
    if i.modifiers[0] == "commit_group":
        return lambda group: group.batch.launch.observers.wgmma_commits(group)
    if i.modifiers[0] == "fence":
        return lambda group: None
    if not isinstance(i.operands[0], ptx.Immediate):
        raise ptx.PtxError("it waits for all but a number of groups")
    return lambda group: group.batch.launch.observers.wgmma_waits(group, i)


@step("wgmma", traits=_traits)
def wgmma(b: Builder, i: ptx.Instruction) -> Step | None:
    """wgmma.mma_async.sync.aligned.shape.dtype.atype.btype
    d, a, b-desc, scale-d, imm-scale-a, imm-scale-b, imm-trans-a, imm-trans-b."""
    if i.modifiers[0] in ORDER_ONLY:
        return _order(i)
    if not known(i, "mma_async") or len(types_of(i)) != 3:
        return None
    m, n, k = shape_of(i)
    d_kind, a_kind, b_kind = types_of(i)
    if shapes_for(d_kind, a_kind, b_kind, d_kind) is None:
        return None
    step_n = 16 if d_kind == "s32" and n > 24 else 8
    if m != 64 or n % step_n or not 8 <= n <= 256 or k * ELEMENTS[a_kind][0] != 256:
        return None
    dtype, bits = ACCUMULATORS[d_kind], ELEMENTS[a_kind][0]
    d, a, b_, scale_d, *numbers = i.operands
    check_registers(i, d, 16 * n, dtype.itemsize * 8)
    from_registers = isinstance(a, ptx.OperandList)
    if from_registers:
        check_registers(i, a, 16 * k, bits)
    signs = [ptx.integer(x) for x in numbers[:2]] or [1, 1]
    trans = [bool(ptx.integer(x)) for x in numbers[2:]] or [
        False
    ]  # of A, if it is in memory, and of B
    if from_registers:
        count = len(ptx.items(a)) * per_register(bits)
        place, get_a = fragment_a(16, k, per_register(bits), count), read_registers(b, a, bits)
    else:
        tile_a = _operand(b, i, a, a_kind, 64, trans[0])
    tile_b = _operand(b, i, b_, b_kind, n, trans[-1])
    place_d, keep = fragment_c(16, n), b.read(scale_d, "pred")
    get_d = read_registers(b, d, dtype.itemsize * 8)
    put_d = write_registers(b, d, dtype)
    saturate = "satfinite" in i.modifiers
    sums = sums_on_hopper(a_kind, b_kind, k, warpgroup=True) if d_kind == "f32" else None

    def act(group: Group) -> None:
        rows, groups = WarpRows(group, None), Warpgroups.of(group)
        if from_registers:
            left = groups.together(place.matrix(decode(a_kind, get_a(group, rows))))
        else:
            left = tile_a(group, groups)
        if signs[0] * signs[1] < 0:
            left = -left
        right = tile_b(group, groups).swapaxes(1, 2)
        kept = group.full(keep(group.R))[groups.firsts]
        added = None
        if kept.any():
            added = groups.together(place_d.matrix(get_d(group, rows).view(dtype)))
            if not kept.all():
                added[~kept] = 0
        if sums is not None:
            result = accumulate(sums(left, right, added), None, dtype, saturate)
        else:
            result = accumulate(left @ right, added, dtype, saturate)
        put_d(group, rows, place_d.held(groups.apart(result)))

    return act
