"""Finds uses of uninitialised values: in global, shared and local memory, and in registers.

Reading such a value is often harmless (a padded vector load, a tile's last column), so it is
reported where it is *used*: stored to global memory, deciding a branch, making up an address. Each
byte of uninitialised memory has 0xFF in a *shadow*, every other byte 0. Registers into which
such bytes were loaded carry *marks*, one for each lane, which follow the value from instruction to
instruction. As long as nothing undefined was loaded there are no marks, and nothing to follow.

Instructions that mix lanes (shuffles, matrices) are followed by running them once more on their
marks: ones in place of what is undefined, zeros elsewhere. What comes out other than 0 is
undefined: ones are NaN as a floating-point number, which goes through every sum.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..machine import ptx
from ..machine.faults import where
from ..machine.lanes import Group
from ..machine.observer import SILENT, Observer
from ..machine.report import UNINITIALISED, Finding
from ..machine.uninitialised import InitShadow

# A mark is record << 28 | lane << 8 | the bytes of the register that are undefined, a bit for each.
LANE_SHIFT, RECORD_SHIFT = 8, 28
BYTES = 0xFF
MOST_RECORDS = 4096  # reads remembered one by one; after that one for each instruction

MATRIX = {"ldmatrix", "stmatrix", "movmatrix", "mma", "wmma", "wgmma"}
IN_MEMORY = {"ld", "ldu", "st", "atom", "red", "cp"}  # followed when they reach memory
WHOLE_WARP = {"vote", "match", "redux"}


@dataclass(eq=False)
class _BatchState:
    """``marks``: (depth of calls, code, register) -> the mark of every lane; ``undefined``: shared
    or local region -> its shadow, None when all is written."""

    marks: dict = field(default_factory=dict)
    undefined: dict = field(default_factory=dict)


@dataclass(eq=False)
class Record:
    """A read of an uninitialised value: ``cells[n]`` is the element that ``lanes[n]`` read."""

    batch: object
    lanes: np.ndarray
    site: object = None  # None for what no memory access gave: see `what` and `location`
    region: object = None
    cells: np.ndarray | None = None
    what: str = "a variable that was never given a value"
    location: object = None

    def of(self, lane: int) -> tuple[str, int]:
        """The array and the index that a lane read."""
        at = min(int(np.searchsorted(self.lanes, lane)), len(self.lanes) - 1)
        cell, width = int(self.cells[at]), self.site.width
        if self.region.owner != "all":
            cell = cell * width % self.region.stride // width
        return self.region.name, cell


def _blank(batch, region) -> InitShadow:
    """A shadow of a region in which nothing is undefined."""
    if region.owner == "all":
        return InitShadow(region.storage.size)
    copies = batch.block_count * (1 if region.owner == "block" else batch.lanes_per_block)
    return InitShadow(copies * region.stride, region.stride)


def _byte_mask(bits: np.ndarray, width: int) -> np.ndarray:
    """InitShadow elements as masks with a bit for each undefined byte; int64."""
    rows = np.ascontiguousarray(bits).view(np.uint8).reshape(-1, width)
    return (rows & (1 << np.arange(width)).astype(np.uint8)).sum(axis=1, dtype=np.int64)


class InitCheck(Observer):
    """Follows uninitialised values through one launch."""

    def __init__(self, launch):
        self.findings = launch.findings
        self._batches: dict[object, _BatchState] = {}
        self.records: list[Record] = []
        self._last: dict[int, int] = {}  # id of an instruction -> its last record
        self._global: dict = {}
        self._met = 0  # bytes of an element, once the instruction being run met undefined ones
        self._before: list = []  # the registers before it
        self._reached: list = []  # the regions that a matrix instruction being run accesses

    def batch_starts(self, batch) -> None:
        self._batches[batch] = _BatchState()

    def batch_ends(self, batch) -> None:
        del self._batches[batch]

    def marks(self, batch) -> dict:
        return self._batches[batch].marks

    def undefined(self, batch) -> dict:
        return self._batches[batch].undefined

    # --- memory ---

    def shadow(self, batch, region) -> InitShadow | None:
        """The shadow of a region; None when all of it has been written."""
        table = self._global if region.owner == "all" else self.undefined(batch)
        if region not in table:
            table[region] = self._new_shadow(batch, region)
        found = table[region]
        if found is not None and found.complete():
            found = table[region] = None
        return found

    def _new_shadow(self, batch, region) -> InitShadow | None:
        if region.owner == "all":
            return None if region.unwritten is None else region.unwritten.shadow(region)
        if region.space not in ("shared", "local"):
            return None
        shadow = _blank(batch, region)
        whole = len(shadow.bytes) // region.stride * region.stride
        shadow.bytes[:whole].reshape(-1, region.stride)[:, : region.size] = 0xFF
        return shadow

    def access(self, site, group: Group, region, first: int, index, spread) -> None:
        opcode = site.instruction.opcode
        if opcode == "cp":
            return  # see `copy_starts`
        if opcode in MATRIX and region not in self._reached:
            self._reached.append(region)
        marks, shadow = self.marks(group.batch), self.shadow(group.batch, region)
        if shadow is not None and not (marks and site.is_store):
            start = first * site.width
            stop = start + spread.high - spread.low + site.bytes
            if stop <= shadow.low or start > shadow.high:
                shadow = None  # all is written there
        if shadow is None and not marks:
            return
        cells = group.full(index + first)
        if opcode in MATRIX:
            self._met = self._met or (0 if shadow is None else site.width)
            if site.is_store and not marks and shadow is not None:
                for piece in range(site.bytes // site.width):
                    shadow.write(cells + piece, site.width, None)
        elif site.is_atomic:
            self._update(site, group, region, shadow, cells)
        elif site.is_store:
            self._store(site, group, region, shadow, cells)
        else:
            self._load(site, group, region, shadow, cells)

    def _load(self, site, group: Group, region, shadow: InitShadow | None, cells) -> None:
        target = site.instruction.operands[0]
        for piece, item in enumerate(
            target.items if isinstance(target, ptx.OperandList) else (target,)
        ):
            marks = None
            if shadow is not None:
                marks = self._read(site, group, region, shadow, cells + piece)
            if isinstance(item, ptx.Register):
                if marks is not None and site.kind[0] == "s" and ptx.SIZES[item.type] > site.width:
                    marks = _whole(marks)
                self._put(group, group.lanes, item.slot, marks)

    def _read(self, site, group: Group, region, shadow: InitShadow, cells) -> np.ndarray | None:
        """The marks of elements read; None when all are defined."""
        bits = shadow.view(site.width).take(cells)
        if not bits.any():
            return None
        mask = _byte_mask(bits, site.width)
        record = self._record(site, group, region, cells)
        marks = np.where(mask, record << RECORD_SHIFT | group.lanes << LANE_SHIFT | mask, 0)
        if shadow.marks is not None:
            before = shadow.marks[cells * site.width // 4]
            marks = np.where((before > 0) & (mask > 0), before & ~BYTES | mask, marks)
        return marks

    def _record(self, site, group: Group, region, cells) -> int:
        key = id(site.instruction)
        if len(self.records) < MOST_RECORDS or key not in self._last:
            self.records.append(Record(group.batch, group.lanes, site, region, cells))
            self._last[key] = len(self.records) - 1
        return self._last[key]

    def _store(self, site, group: Group, region, shadow: InitShadow | None, cells) -> None:
        source = site.instruction.operands[1]
        for piece, item in enumerate(
            source.items if isinstance(source, ptx.OperandList) else (source,)
        ):
            marks = self._of(group, item)
            if marks is not None:
                marks = marks & ~BYTES | marks & ((1 << site.width) - 1)
                marks = np.where(marks & BYTES, marks, 0)
                if region.space == "global":
                    whole = marks & BYTES == (1 << site.width) - 1
                    if whole.any():  # parts of a value may be the padding of a structure
                        index = int(cells[np.argmax(whole)]) + piece
                        text = f"stores in {region.name}[{index}] a result of"
                        found = np.where(whole, marks, 0)
                        self._use(group.batch, group.lanes, found, site.instruction, text)
                    marks = np.where(whole, 0, marks)
                if not marks.any():
                    marks = None
            if marks is not None and shadow is None:
                shadow = _blank(group.batch, region)
                table = self._global if region.owner == "all" else self.undefined(group.batch)
                table[region] = shadow
            if shadow is not None:
                shadow.write(cells + piece, site.width, marks)

    def _update(self, site, group: Group, region, shadow: InitShadow | None, cells) -> None:
        where_to = f"{region.name}[{int(cells[0])}]" if region.owner == "all" else region.name
        for operand in site.instruction.operands[1:]:
            marks = self._of(group, operand)
            if marks is not None and marks.any():
                text = f"updates {where_to} with a result of"
                self._use(group.batch, group.lanes, marks, site.instruction, text)
        if shadow is not None:
            marks = self._read(site, group, region, shadow, cells)
            if marks is not None:
                self._use(group.batch, group.lanes, marks, site.instruction, "updates")
            shadow.write(cells, site.width, None)
        target = site.instruction.operands[0]
        if isinstance(target, ptx.Register):
            self._put(group, group.lanes, target.slot, None)

    def copy_starts(self, batch, transfer) -> None:
        """A copy defines what it writes, unless its source is not."""
        target, source = transfer.regions
        if target is None:  # no copy, or one into tensor memory
            return
        width = transfer.target.dtype.itemsize
        bad = None
        shadow = None if source is None else self.shadow(batch, source)
        if shadow is not None:
            bits = shadow.view(width)[transfer.take]
            bad = bits != 0
            if transfer.valid is not None:
                bad &= transfer.valid
        here = self.shadow(batch, target)
        if bad is None or not bad.any():
            if here is not None:
                here.view(width)[transfer.put] = 0
            return
        row, column = (int(x[0]) for x in np.nonzero(bad))
        lanes = transfer.lanes[row : row + 1]
        site = _CopySource(transfer.instruction, width)
        group = Group(batch, lanes, None, 0, None)
        cells = transfer.take[row : row + 1, column].astype(np.int64)
        record = self._record(site, group, source, cells)
        mark = np.array([record << RECORD_SHIFT | int(lanes[0]) << LANE_SHIFT | BYTES])
        if target.space == "global":
            index = int(transfer.put[row, column])
            text = f"copies to {target.name}[{index}]"
            self._use(batch, lanes, mark, transfer.instruction, text)
            return
        if here is None:
            here = self.undefined(batch)[target] = _blank(batch, target)
        here.low, here.high = 0, here.stride
        here.view(width)[transfer.put] = np.where(bad, bits, 0)

    def tiles_read(self, reader, group: Group, firsts, region, index, inside) -> None:
        shadow = self.shadow(group.batch, region)
        if shadow is not None and not self._met:
            self._met = reader.width if shadow.view(16).take(index[inside]).any() else 0

    # --- registers ---

    def function_starts(self, group: Group) -> None:
        """Registers that may be read before they are set are undefined."""
        batch, depth = group.batch, len(group.stack)
        for key in [k for k in self.marks(batch) if k[0] == depth]:
            self._put(group, group.lanes, key[2], None, key)
        if group.code.unset:
            self.records.append(Record(batch, group.lanes))
            record = len(self.records) - 1
            for slot in group.code.unset:
                marks = record << RECORD_SHIFT | group.lanes << LANE_SHIFT | BYTES
                self._put(group, group.lanes, slot, marks)

    def values_missing(self, group: Group, instruction, target, lanes: np.ndarray) -> None:
        lanes = group.lanes[lanes]
        if len(lanes) and isinstance(target, ptx.Register):
            what = f"a lane that takes no part in the shuffle at {instruction.location}"
            self.records.append(
                Record(group.batch, lanes, what=what, location=instruction.location)
            )
            record = len(self.records) - 1
            marks = record << RECORD_SHIFT | lanes << LANE_SHIFT | BYTES
            self._put(group, lanes, target.slot, marks)

    def registers_pass(self, group: Group, depth: int, code, pairs) -> None:
        marks = self.marks(group.batch)
        for there, here in pairs if marks else ():
            found = marks.get((depth, code, there))
            self._put(group, group.lanes, here, None if found is None else found[group.lanes])

    def _of(self, group: Group, operand) -> np.ndarray | None:
        """The marks of a register for the lanes of a group; None when it has none."""
        if not isinstance(operand, ptx.Register):
            return None
        found = self.marks(group.batch).get((len(group.stack), group.code, operand.slot))
        return None if found is None else found[group.lanes]

    def _put(self, group: Group, lanes: np.ndarray, slot: int, marks, key=None) -> None:
        """Give a register its marks; None: it is defined in these lanes."""
        batch = group.batch
        key = key or (len(group.stack), group.code, slot)
        all_marks = self.marks(batch)
        found = all_marks.get(key)
        if marks is None or not marks.any():
            if found is not None:
                found[lanes] = 0
                if not found.any():
                    del all_marks[key]
            return
        if found is None:
            found = all_marks[key] = np.zeros(batch.block_count * batch.lanes_per_block, np.int64)
        found[lanes] = marks

    def follows(self, group: Group, block) -> bool:
        if self.marks(group.batch):
            self._forget(group, block)
        return True  # a load may bring marks into any block

    def instruction_starts(self, group: Group, decoded) -> None:
        if decoded.opcode in MATRIX:
            self._before = list(group.R)
            self._met, self._reached = 0, []
        elif self.marks(group.batch):
            (self._ending if decoded.ends else self._follow)(group, decoded)

    def instruction_ends(self, group: Group, decoded) -> None:
        if decoded.opcode in MATRIX:
            self._matrix(group, decoded)

    def _forget(self, group: Group, block) -> None:
        """Drop the marks of registers that nothing will read again."""
        depth, code = len(group.stack), group.code
        live = code.live[block.number]
        for key in list(self.marks(group.batch)):
            if key[0] == depth and key[1] is code and key[2] not in live:
                self._put(group, group.lanes, key[2], None)

    def _follow(self, group: Group, decoded) -> None:
        """Bring the marks up to date for an instruction that is about to run."""
        i, lanes, code = decoded.instruction, group.lanes, group.code
        marks, depth = self.marks(group.batch), len(group.stack)
        chosen = None
        if i.guard is not None:
            self._decides(group, i.guard, i)
            guard = group.full(group.R[i.guard.slot]) != i.guard.negated
            if not guard.all():
                chosen = np.flatnonzero(guard)
                lanes = lanes[chosen]
                if not len(lanes):
                    return
        for operand in i.operands:
            if isinstance(operand, ptx.Address):
                found = self._of(group, operand.base)
                found = found if found is None or chosen is None else found[chosen]
                if found is not None and found.any():
                    self._use(group.batch, lanes, found, i, "works out an address from")
        if i.opcode in IN_MEMORY and not decoded.parameter:
            return
        sources = [s for s in decoded.reads if (depth, code, s) in marks]
        if not sources:
            for slot in decoded.writes:
                if (depth, code, slot) in marks:
                    self._put(group, lanes, slot, None)
            return
        rule = _RULES.get(i.opcode)
        if i.opcode == "shfl":
            results = self._shuffled(group, decoded)
        elif rule is not None:
            results = rule(self, group, decoded)
        else:
            results = None
        if results is None:
            total = np.zeros(group.n, np.int64)
            for slot in sources:
                found = marks[depth, code, slot][group.lanes]
                total = np.where(total, total, found)
            if i.opcode in WHOLE_WARP:
                total = _over_warps(group, total)
            results = dict.fromkeys(decoded.writes, _whole(total))
        for slot, value in results.items():
            self._put(group, lanes, slot, value if chosen is None else value[chosen])

    def _ending(self, group: Group, decoded) -> None:
        i = decoded.instruction
        if i.guard is not None:
            self._decides(group, i.guard, i)
        if i.opcode == "brx":
            self._decides(group, i.operands[0], i)
        for operand in i.operands:
            if isinstance(operand, ptx.Address):
                found = self._of(group, operand.base)
                if found is not None and found.any():
                    self._use(group.batch, group.lanes, found, i, "works out an address from")
        for slot in decoded.writes:
            self._put(group, group.lanes, slot, None)

    def _decides(self, group: Group, register, instruction) -> None:
        marks = self._of(group, register)
        if marks is not None and marks.any():
            self._use(group.batch, group.lanes, marks, instruction, "decides a branch by")
            self._put(group, group.lanes, register.slot, None)

    # --- instructions that mix lanes ---

    def _shuffled(self, group: Group, decoded) -> dict:
        """Where each lane's value comes from is found by shuffling the lanes' numbers."""
        slot = decoded.instruction.operands[1].slot
        key = (len(group.stack), group.code, slot)
        echo = self._echo(group, {slot: group.lanes.astype(np.uint32)})
        decoded.act(echo)
        first = decoded.instruction.operands[0]
        target = first.items[0] if isinstance(first, ptx.OperandList) else first
        other = set(decoded.writes) - {target.slot}
        nothing = np.zeros(group.n, np.int64)
        taken = self.marks(group.batch)[key][group.full(echo.R[target.slot]).astype(np.int64)]
        return {target.slot: taken, **dict.fromkeys(other, nothing)}

    def _echo(self, group: Group, replaced: dict[int, np.ndarray], registers=None) -> Group:
        echo = Group(group.batch, group.lanes, group.code, group.block, list(registers or group.R))
        echo.stack, echo.local_top = group.stack, group.local_top
        for slot, value in replaced.items():
            echo.R[slot] = value
        return echo

    def _matrix(self, group: Group, decoded) -> None:
        i, batch, marked = decoded.instruction, group.batch, self.marks(group.batch)
        if i.modifiers[0] in ("fence", "commit_group", "wait_group"):
            return
        slots = _data_slots(i)
        found = {s: self._of(group, s) for s in slots} if marked else {}
        kept = next((r for r in self._reached if r.space == "global"), None)
        if kept is not None and not decoded.writes:  # a tile is stored, and leaves the kernel
            bad = next((m for m in found.values() if m is not None and (m & BYTES).any()), None)
            if bad is not None:
                self._use(batch, group.lanes, bad, i, f"stores in {kept.name} a result of")
            found = {}
        if not self._met and not any(m is not None for m in found.values()):
            if marked:
                for slot in decoded.writes:
                    self._put(group, group.lanes, slot, None)
            return
        replaced = {}
        for register, marks in ((s, found.get(s)) for s in slots):
            dtype = np.dtype(f"u{max(ptx.SIZES[register.type], 1)}")
            bits = np.zeros(group.n, dtype)
            if marks is not None:
                bits[marks != 0] = np.iinfo(dtype).max
            replaced[register.slot] = bits
        echo = self._echo(group, replaced, self._before)
        with _ShadowsAsMemory(self, batch, {*batch.shared, *self._reached}):
            decoded.act(echo)
        results = {slot: group.full(echo.R[slot] != 0) for slot in decoded.writes}
        if any(bad.any() for bad in results.values()):
            inside = [m for m in found.values() if m is not None and m.any()]
            origin = int(inside[0].max()) if inside else self._matrix_record(group, i)
            results = {slot: np.where(bad, origin | BYTES, 0) for slot, bad in results.items()}
        for slot, marks in results.items():
            self._put(group, group.lanes, slot, marks)

    def _matrix_record(self, group: Group, i) -> int:
        """A mark for memory that a matrix instruction read; which element is not known."""
        shadows = ((r, self.shadow(group.batch, r)) for r in (*self._reached, *group.batch.shared))
        region, shadow = next((r, s) for r, s in shadows if s is not None)
        site = _CopySource(i, self._met)
        cell = np.flatnonzero(shadow.bytes)[:1] // self._met
        record = self._record(site, group, region, np.broadcast_to(cell, group.n))
        return record << RECORD_SHIFT | int(group.lanes[0]) << LANE_SHIFT | BYTES

    # --- reports ---

    def _use(self, batch, lanes: np.ndarray, marks: np.ndarray, instruction, what: str) -> None:
        """Report the first of the lanes whose value is marked; ``what`` it does with the value."""
        at = int(np.argmax(marks & BYTES != 0))
        mark = int(marks[at])
        record = self.records[mark >> RECORD_SHIFT]
        reader = mark >> LANE_SHIFT & ((1 << RECORD_SHIFT - LANE_SHIFT) - 1)
        thread, block = batch.who(lanes[at])
        here = instruction.location
        head = f"Uninitialised read: {where(thread, block)} {what}"
        if record.site is None:
            text = f"{head} {record.what}, at {here}."
            finding = Finding(
                UNINITIALISED, text, here, thread, block, other_location=record.location
            )
            self.findings.add(("uninitialised", record.what, here, what.split()[0]), finding)
            return
        name, index = record.of(reader)
        there, other = record.site.instruction.location, record.batch.who(reader)[0]
        place = "" if record.region.space == "global" else f" in {record.region.space} memory"
        text = (
            f"{head} uninitialised memory, at {here}:\n"
            f"  {name}[{index}]{place}, read by thread {other} at {there}."
        )
        finding = Finding(
            UNINITIALISED, text, here, thread, block, name, index, 0, there, other
        )  # fmt: skip
        self.findings.add(("uninitialised", there, here, what.split()[0]), finding)


@dataclass(eq=False)
class _CopySource:
    instruction: object
    width: int


class _ShadowsAsMemory:
    """While it is entered, the regions hold their own shadows, and nobody observes."""

    def __init__(self, check: InitCheck, batch, regions: set):
        self.check, self.batch, self.regions = check, batch, regions

    def __enter__(self):
        batch = self.batch
        self.kept = [(r, r.storage, r.views) for r in self.regions]
        self.observers = batch.on_access, batch.launch.observers
        for region in self.regions:
            shadow = self.check.shadow(batch, region)
            size = region.storage.size
            region.storage = np.zeros(size, np.uint8) if shadow is None else shadow.bytes[:size]
            region.views = {}
        batch.on_access, batch.launch.observers = None, SILENT

    def __exit__(self, *error):
        self.batch.on_access, self.batch.launch.observers = self.observers
        for region, storage, views in self.kept:
            region.storage, region.views = storage, views


def _whole(marks: np.ndarray) -> np.ndarray:
    """Marks of values of which every byte is undefined when one is."""
    return np.where(marks & BYTES, marks | BYTES, 0)


def _over_warps(group: Group, marks: np.ndarray) -> np.ndarray:
    """The mark of some lane of each warp, for all its lanes."""
    starts = np.searchsorted(group.lanes >> 5, group.warps)
    counts = np.diff(np.append(starts, group.n))
    return np.repeat(np.maximum.reduceat(marks, starts), counts)


def _data_slots(i) -> list:
    """The registers that hold what a matrix instruction computes with, or moves."""
    operands = {
        "mma": i.operands[1:4], "movmatrix": i.operands[1:2], "stmatrix": i.operands[1:],
        "wgmma": i.operands[:2], "ldmatrix": (),
        "wmma": {"mma": i.operands[1:4], "store": i.operands[1:2]}.get(i.modifiers[0], ()),
    }[i.opcode]  # fmt: skip
    found = []
    for operand in operands:
        items = operand.items if isinstance(operand, ptx.OperandList) else (operand,)
        if i.opcode == "wgmma" and not isinstance(operand, ptx.OperandList):
            continue  # a descriptor
        found += [x for x in items if isinstance(x, ptx.Register)]
    return found


# --- instructions of which a part of the sources decides ------------------------------------------


def _marks(check: InitCheck, group: Group, operand) -> np.ndarray:
    found = check._of(group, operand)
    return np.zeros(group.n, np.int64) if found is None else found


def _select(check: InitCheck, group: Group, decoded) -> dict:
    target, a, b, by = decoded.instruction.operands
    taken = group.full(group.R[by.slot]) != by.negated
    value = np.where(taken, _marks(check, group, a), _marks(check, group, b))
    decided = _marks(check, group, by)
    return {target.slot: np.where(decided, _whole(decided), value)}


def _logic(check: InitCheck, group: Group, decoded) -> dict | None:
    """and, or: a defined operand may decide alone; a constant mask clears bytes."""
    i = decoded.instruction
    target, a, b = i.operands
    ends = i.opcode == "or"  # the value that decides
    if i.modifiers[-1] == "pred":
        value = {}
        for x in (a, b):
            marks = _marks(check, group, x)
            settled = group.full(group.R[x.slot]) != x.negated if isinstance(x, ptx.Register) else (
                np.full(group.n, bool(x.value)))  # fmt: skip
            value[id(x)] = marks, (marks == 0) & (settled == ends)
        (first, done), (second, done_too) = value[id(a)], value[id(b)]
        either = np.where(first, first, second)
        return {target.slot: np.where(done | done_too, 0, either)}
    if not isinstance(b, ptx.Immediate):
        return None
    kept = sum(1 << n for n in range(8) if (b.value >> 8 * n & 0xFF) != (0xFF if ends else 0))
    marks = _marks(check, group, a)
    return {target.slot: np.where(marks & kept, marks & ~BYTES | marks & kept, 0)}


def _moved(check: InitCheck, group: Group, decoded) -> dict:
    target, source = decoded.instruction.operands
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
        return {target.slot: total}
    return dict.fromkeys(decoded.writes, _marks(check, group, source))


def _share(decoded, count: int) -> int:
    return ptx.SIZES[decoded.instruction.modifiers[-1]] // count


def _converted(check: InitCheck, group: Group, decoded) -> dict | None:
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
    return {target.slot: _whole(marks) if wider else marks}


def _shifted(check: InitCheck, group: Group, decoded) -> dict | None:
    i = decoded.instruction
    target, source, by = i.operands[:3]
    if not isinstance(by, ptx.Immediate) or i.modifiers[-1][0] == "s":
        return None
    marks, width = _marks(check, group, source), ptx.SIZES[i.modifiers[-1]]
    mask = marks & ((1 << width) - 1)
    low, high = by.value // 8, -(-by.value // 8)
    if i.opcode == "shl":
        mask = (mask << low | mask << high) & ((1 << width) - 1)
    elif i.opcode == "shr":
        mask = mask >> low | mask >> high
    else:  # bfe: from bit `by`, as many as the last operand says
        count = i.operands[3]
        if not isinstance(count, ptx.Immediate):
            return None
        last = (by.value + count.value - 1) // 8
        mask = mask & ((2 << last) - 1) & ~((1 << low) - 1)
        return {target.slot: np.where(mask, marks | BYTES, 0)}
    return {target.slot: np.where(mask, marks & ~BYTES | mask, 0)}


def _permuted(check: InitCheck, group: Group, decoded) -> dict | None:
    """prmt with a constant selector picks bytes of two registers."""
    i = decoded.instruction
    target, a, b, chosen = i.operands
    if not isinstance(chosen, ptx.Immediate) or len(i.modifiers) > 1:
        return None
    both = [_marks(check, group, x) for x in (a, b)]
    total = np.zeros(group.n, np.int64)
    for n in range(4):
        pick = chosen.value >> 4 * n & 7
        marks = both[pick // 4]
        total = np.where(
            marks >> pick % 4 & 1, np.where(total, total, marks & ~BYTES) | 1 << n, total
        )
    return {target.slot: total}


_RULES = {
    "selp": _select, "and": _logic, "or": _logic, "mov": _moved, "cvt": _converted,
    "shl": _shifted, "shr": _shifted, "bfe": _shifted, "prmt": _permuted,
}  # fmt: skip
