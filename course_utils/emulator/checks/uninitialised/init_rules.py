"""How uninitialised bytes pass through instructions whose result depends on some sources only.

A rule gives the marks of the results, by register; None where it does not apply. Without a rule
every byte of each result is uninitialised when a source has an uninitialised byte.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...isa import ptx
from ...machine.code import Code, Decoded
from ...machine.lanes import Group, Registers
from ...numerics.rounding import ceil_div

if TYPE_CHECKING:
    from .init_check import InitCheck

Results = dict[int, np.ndarray]  # register -> the mark of each lane of a group

# A mark is record << 28 | lane << 8 | a bit for each uninitialised byte of the register; of the 16
# bytes of a b128 all are when one is.
LANE_SHIFT, RECORD_SHIFT = 8, 28
BYTES = 0xFF


def whole(marks: np.ndarray) -> np.ndarray:
    """Marks of values whose bytes are all uninitialised when one is."""
    return np.where(marks & BYTES, marks | BYTES, 0)


def over_warps(group: Group, marks: np.ndarray) -> np.ndarray:
    """The mark of some lane of each warp, for all its lanes."""
    starts = np.searchsorted(group.lanes >> 5, group.warps)
    counts = np.diff(np.append(starts, group.n))
    return np.repeat(np.maximum.reduceat(marks, starts), counts)


def echo_of(group: Group, registers: Registers, replaced: dict[int, np.ndarray]) -> Group:
    """The same lanes, with other values in some of their registers."""
    echo = Group(group.batch, group.lanes, group.code, group.block, list(registers))
    echo.stack, echo.local_top = group.stack, group.local_top
    for slot, value in replaced.items():
        echo.R[slot] = value
    return echo


def _marks(check: InitCheck, group: Group, operand: ptx.Operand) -> np.ndarray:
    found = check.marks_of(group, operand)
    return np.zeros(group.n, np.int64) if found is None else found


def _shuffled(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    """Where each lane's value comes from is found by shuffling the lanes' numbers."""
    source = decoded.instruction.operands[1]
    if check.marks_of(group, source) is None:  # the number of the lane is what is uninitialised
        return None
    slot = ptx.register(source).slot
    key = (len(group.stack), group.code, slot)
    echo = echo_of(group, group.R, {slot: group.lanes.astype(np.uint32)})
    decoded.act(echo)
    first = decoded.instruction.operands[0]
    target = ptx.register(ptx.items(first)[0])
    other = set(decoded.writes) - {target.slot}
    nothing = np.zeros(group.n, np.int64)
    taken = check.marks(group.batch)[key][group.full(echo.R[target.slot]).astype(np.int64)]
    return {target.slot: taken, **dict.fromkeys(other, nothing)}


def _select(check: InitCheck, group: Group, decoded: Decoded) -> Results:
    target, a, b, by = decoded.instruction.operands
    chooser = ptx.register(by)
    taken = group.full(group.R[chooser.slot]) != chooser.negated
    value = np.where(taken, _marks(check, group, a), _marks(check, group, b))
    decided = _marks(check, group, by)
    return {ptx.register(target).slot: np.where(decided, whole(decided), value)}


def _logic(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    """and, or: byte by byte. A defined predicate may decide alone, and a byte of a constant."""
    i = decoded.instruction
    target, a, b = i.operands
    ends = i.opcode == "or"  # the value that decides
    if i.modifiers[-1] == "pred":
        known = {}
        for x in (a, b):
            marks = _marks(check, group, x)
            settled = (
                group.full(group.R[x.slot]) != x.negated
                if isinstance(x, ptx.Register)
                else np.full(group.n, bool(ptx.integer(x)))
            )
            known[id(x)] = marks, (marks == 0) & (settled == ends)
        (first, done), (second, done_too) = known[id(a)], known[id(b)]
        either = np.where(first, first, second)
        return {ptx.register(target).slot: np.where(done | done_too, 0, either)}
    first = _kept(group, a, b, _marks(check, group, a), 0xFF if ends else 0)
    second = _kept(group, b, a, _marks(check, group, b), 0xFF if ends else 0)
    joined = _joined(first, second)
    code = group.code
    if code not in check.field_masks:
        check.field_masks[code] = _field_masks(code)
    if id(decoded) in check.field_masks[code]:
        joined = _without_bit_field(check, joined, ptx.integer(b))
    return {ptx.register(target).slot: joined}


def _field_masks(code: Code) -> frozenset[int]:
    """The ``and`` instructions, by their id, that clear a bit field before its new value is put
    in: load, and, or, store, all at one address."""
    found = set()
    for block in code.blocks:
        loaded: dict[int, ptx.Address] = {}  # register -> the address that it came from
        masked: dict[int, tuple[ptx.Address, int]] = {}  # register -> address, id of its `and`
        for decoded in block.decoded:
            operands = decoded.instruction.operands
            before = [s for s in decoded.reads if s in masked]
            if decoded.opcode == "st" and isinstance(operands[1], ptx.Register):
                address, mask = masked.get(operands[1].slot, (None, 0))
                if address == operands[0]:
                    found.add(mask)
            passed = masked[before[0]] if decoded.opcode == "or" and before else None
            cleared = None
            if decoded.opcode == "and" and isinstance(operands[2], ptx.Immediate):
                source = operands[1]
                cleared = loaded.get(source.slot) if isinstance(source, ptx.Register) else None
            for slot in decoded.writes:
                loaded = {s: a for s, a in loaded.items() if slot not in (s, _base(a))}
                masked = {s: a for s, a in masked.items() if slot not in (s, _base(a[0]))}
                if decoded.opcode == "ld" and isinstance(operands[1], ptx.Address):
                    loaded[slot] = operands[1]
                elif passed is not None:
                    masked[slot] = passed
                elif cleared is not None:
                    masked[slot] = cleared, id(decoded)
    return frozenset(found)


def _base(address: ptx.Address) -> int | None:
    """The register of an address, if it has one."""
    return address.base.slot if isinstance(address.base, ptx.Register) else None


def _without_bit_field(check: InitCheck, marks: np.ndarray, mask: int) -> np.ndarray:
    """The marks without bytes that hold a bit field which is about to be set. The other
    bits of these bytes count as set, because marks know whole bytes only."""
    own = np.zeros(len(marks), bool)  # read from an array of one thread or block
    for number in np.unique(marks[marks != 0] >> RECORD_SHIFT):
        region = check.reads.records[number].region
        if region is not None and region.owner != "all":
            own |= marks >> RECORD_SHIFT == number
    whole_bytes = sum(1 << n for n in range(8) if mask >> 8 * n & 0xFF in (0, 0xFF))
    return np.where(own, _only(marks, marks & whole_bytes), marks)


def _kept(
    group: Group, operand: ptx.Operand, other: ptx.Operand, marks: np.ndarray, decides: int
) -> np.ndarray:
    """The marks of the bytes of ``operand`` that ``other``, where it is a constant, does not
    decide."""
    if not isinstance(other, ptx.Immediate):
        return marks
    value = ptx.integer(other)
    kept = sum(1 << n for n in range(8) if value >> 8 * n & 0xFF != decides)
    return _only(marks, marks & kept)


def _only(marks: np.ndarray, bytes_: np.ndarray) -> np.ndarray:
    """The same marks with other ``bytes_``: none where there are no more."""
    return np.where(bytes_ & BYTES, marks & ~BYTES | bytes_ & BYTES, 0)


def _joined(*of_operands: np.ndarray) -> np.ndarray:
    """Marks of a value whose bytes are each made of the same byte of several values."""
    total = of_operands[0]
    for marks in of_operands[1:]:
        total = np.where(total & BYTES, total, marks) | marks & BYTES
    return total


def _bytewise(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    """xor, not: byte by byte."""
    target, *sources = decoded.instruction.operands
    if decoded.instruction.modifiers[-1] == "pred":
        return None
    return {ptx.register(target).slot: _joined(*(_marks(check, group, x) for x in sources))}


def _of_three(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    """lop3: byte by byte, without those on which its table and its constants do not depend."""
    target, *sources, table = decoded.instruction.operands
    if isinstance(target, ptx.OperandList) or len(sources) != 3:
        return None
    fixed = tuple(ptx.integer(x) if isinstance(x, ptx.Immediate) else None for x in sources)
    counted = _counted(ptx.integer(table), fixed)
    marks = [_marks(check, group, x) for x in sources]
    kept = [_only(mark, mark & bytes_) for mark, bytes_ in zip(marks, counted, strict=True)]
    return {ptx.register(target).slot: _joined(*kept)}


@cache
def _counted(table: int, fixed: tuple[int | None, ...]) -> list[int]:
    """For each source of a lop3 the bytes on which its result depends. ``fixed``: the sources that
    are constants."""
    counted = [0, 0, 0]
    for bit in range(32):
        known = [None if value is None else value >> bit & 1 for value in fixed]
        for entry in range(8):
            bits = entry >> 2 & 1, entry >> 1 & 1, entry & 1
            if any(k is not None and k != b for k, b in zip(known, bits, strict=True)):
                continue
            for n, weight in enumerate((4, 2, 1)):
                if (table >> entry ^ table >> (entry ^ weight)) & 1:
                    counted[n] |= 1 << bit // 8
    return counted


def _moved(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    target, source = decoded.instruction.operands
    if decoded.instruction.modifiers[-1] == "b128":
        return None
    if isinstance(target, ptx.OperandList):
        marks, width = _marks(check, group, source), _share(decoded, len(target.items))
        parts = {}
        for n, item in enumerate(target.items):
            if isinstance(item, ptx.Register):
                mask = marks >> n * width & ((1 << width) - 1)
                parts[item.slot] = np.where(mask, marks & ~BYTES | mask, 0)
        return parts
    if isinstance(source, ptx.OperandList):
        width, total = _share(decoded, len(source.items)), np.zeros(group.n, np.int64)
        for n, item in enumerate(source.items):
            marks = _marks(check, group, item)
            mask = (marks & ((1 << width) - 1)) << n * width
            total = np.where(mask, np.where(total, total, marks & ~BYTES) | mask, total)
        return {ptx.register(target).slot: total}
    return dict.fromkeys(decoded.writes, _marks(check, group, source))


def _share(decoded: Decoded, count: int) -> int:
    return ptx.SIZES[decoded.instruction.modifiers[-1]] // count


def _converted(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    """Integers: the bytes that are left; everything else depends on all bytes."""
    *_, to, kind = decoded.instruction.modifiers
    if to[0] not in "usb" or kind[0] not in "usb" or kind[0] == "b":
        return None
    target, source = decoded.instruction.operands
    width = min(ptx.SIZES.get(to, 8), ptx.SIZES.get(kind, 8))
    marks = _marks(check, group, source)
    mask = marks & ((1 << width) - 1)
    marks = np.where(mask, marks & ~BYTES | mask, 0)
    wider = kind[0] == "s" and ptx.SIZES[to] > ptx.SIZES[kind]
    return {ptx.register(target).slot: whole(marks) if wider else marks}


def _shifted(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    i = decoded.instruction
    target, source, by = i.operands[:3]
    if not isinstance(by, ptx.Immediate) or i.modifiers[-1][0] == "s":
        return None
    marks, width = _marks(check, group, source), ptx.SIZES[i.modifiers[-1]]
    mask = marks & ((1 << width) - 1)
    first = ptx.integer(by)
    low, high = first // 8, ceil_div(first, 8)
    if i.opcode == "shl":
        mask = (mask << low | mask << high) & ((1 << width) - 1)
    elif i.opcode == "shr":
        mask = mask >> low | mask >> high
    else:  # bfe: from bit `by`, as many as the last operand says
        count = i.operands[3]
        if not isinstance(count, ptx.Immediate):
            return None
        last = (first + ptx.integer(count) - 1) // 8
        mask = mask & ((2 << last) - 1) & ~((1 << low) - 1)
        return {ptx.register(target).slot: np.where(mask, marks | BYTES, 0)}
    return {ptx.register(target).slot: np.where(mask, marks & ~BYTES | mask, 0)}


def _permuted(check: InitCheck, group: Group, decoded: Decoded) -> Results | None:
    """prmt with a constant selector picks bytes of two registers."""
    i = decoded.instruction
    target, a, b, chosen = i.operands
    if not isinstance(chosen, ptx.Immediate) or len(i.modifiers) > 1:
        return None
    both = [_marks(check, group, x) for x in (a, b)]
    total = np.zeros(group.n, np.int64)
    for n in range(4):
        pick = ptx.integer(chosen) >> 4 * n & 7
        marks = both[pick // 4]
        total = np.where(
            marks >> pick % 4 & 1, np.where(total, total, marks & ~BYTES) | 1 << n, total
        )
    return {ptx.register(target).slot: total}


Rule = Callable[["InitCheck", Group, Decoded], "Results | None"]

RULES: dict[str, Rule] = {
    "shfl": _shuffled,
    "selp": _select,
    "and": _logic,
    "or": _logic,
    "xor": _bytewise,
    "not": _bytewise,
    "lop3": _of_three,
    "mov": _moved,
    "cvt": _converted,
    "shl": _shifted,
    "shr": _shifted,
    "bfe": _shifted,
    "prmt": _permuted,
}
