"""Looks back from an access: the steps of its address, and the condition that it comes after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ..isa.instruction_set import TABLE
from ..isa.location import Location
from ..isa.ptx import Address, Immediate, Instruction, Operand, Register, Special, Symbol
from .reported_state import ReportedCode, ReportedStep

MOST_BLOCKS = 400  # of a function that is searched for conditions
MOST_STEPS = 32  # instructions from a product to the address that it is part of
ORDINARY = {"ld", "ldu", "st", "atom", "red"}
SAME = {"mov", "cvt", "cvta"}  # the result steps as the source does
COPIES = {*SAME, "setp", "selp", "slct"}  # and comparisons, beside those of the table
SUMS = {"add", "sub"}
BELOW = {"lt", "le", "lo", "ls"}
BY_SIZE = BELOW | {"gt", "ge", "hi", "hs"}
SIZES = ("ntid", "nctaid", "nclusterid", "cluster_nctaid")  # of a launch, alike in all threads
OF_THREAD = ("tid", "laneid", "warpid", "lanemask")
Source = str | int | tuple[str, int]  # of a value: see _Sources


def setter(code: ReportedCode, register: Register) -> Instruction | None:
    """The instruction that sets a register, None where there are several, or none."""
    found = [
        step.instruction
        for block in code.blocks
        for step in block.decoded
        if register.slot in step.writes
    ]
    return found[0] if len(found) == 1 else None


def step_of(code: ReportedCode, access: Instruction) -> int | None:
    """Bytes from one element to the next as the address of an access is computed: 24 for ``p[i]``
    of structs with 24 bytes. None where no constant factor is found."""
    if access.opcode not in ORDINARY:
        return None
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    return None if place is None else min(_factors(code, place.base, MOST_STEPS), default=None)


def _factors(code: ReportedCode, operand: Operand, left: int) -> Iterator[int]:
    """The constants by which indices are multiplied in the sum that a register holds."""
    i = setter(code, operand) if isinstance(operand, Register) and left else None
    if i is None:
        return
    factors = [o.value for o in i.operands[2:3] if isinstance(o, Immediate)]
    factor = factors[0] if factors and isinstance(factors[0], int) else 0
    if i.opcode == "shl":
        yield 1 << factor
    elif i.opcode in ("mul", "mad") and factor > 0:
        yield factor
    if i.opcode in SAME:
        yield from _factors(code, i.operands[1], left - 1)
    elif i.opcode in SUMS:
        for source in i.operands[1:3]:
            yield from _factors(code, source, left - 1)
    elif i.opcode == "mad":
        yield from _factors(code, i.operands[3], left - 1)


def condition_before(code: ReportedCode, number: int, access: Instruction) -> Location | None:
    """The line of the last comparison that limits the index of an access in basic block ``number``
    from above: of an ``if`` or of a loop. None where there is none, or where a part of the index is
    compared with nothing: ``j < 4`` alone doesn't limit ``x[first + j]``."""
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    if access.opcode not in ORDINARY or place is None or len(code.blocks) > MOST_BLOCKS:
        return None
    sources = _Sources(code)
    index = sources.of([place.base])
    found = list[tuple[Register, set[Source]]]()
    for decider in in_loop(code, number):  # the end of a loop may be compared by != alone
        end, loop = code.blocks[decider].instructions[-1].guard, sources.place(decider)
        if end is not None and loop is not None and loop in sources.of([end]):
            found.append((end, {loop}))
    guards = _guards_before(code, number)
    if access.guard is not None and _bounds(code, access.guard):
        guards.append((access.guard, True))
    found += [(guard, sources.of(_limited(code, guard, holds))) for guard, holds in guards]
    about = [guard for guard, parts in found if parts & index]
    if not about or not index <= set().union(*(parts for _, parts in found)):
        return None
    return _line_of(code, about[-1])


def _guards_before(code: ReportedCode, number: int) -> list[tuple[Register, bool]]:
    """The predicates that let a thread through to a basic block, each from a comparison by size,
    the last one last, and whether each holds there."""
    found = []
    for decider, block in enumerate(code.blocks):
        guard, ways = block.instructions[-1].guard, set(block.successors)
        if decider == number or len(ways) != 2 or guard is None or not _bounds(code, guard):
            continue
        led = [way for way in ways if number in reached(code, way, without=decider)]
        if len(led) == 1 and number not in reached(code, 0, without=decider):
            found.append((decider, (guard, led[0] == block.successors[0])))
    # The last of them is the one that can't be reached without passing all others.
    passed = [sum(d not in reached(code, 0, o) for o, _ in found) for d, _ in found]
    return [found[n][1] for n in np.argsort(passed, kind="stable")]


def index_sources(code: ReportedCode, access: Instruction) -> tuple[bool, bool]:
    """Of the address of an access: whether threads of a block compute it differently, by their own
    numbers, and whether it depends on values that were loaded or computed in ways unknown."""
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    sources = _Sources(code)
    found = set[Source]() if place is None else sources.of([place.base])
    return any(map(_is_number, found)), any(map(sources.is_value, found))


def of_thread_alone(code: ReportedCode, number: int, access: Instruction) -> bool:
    """Whether the index of an access in basic block ``number`` is made of the thread's own numbers
    and nothing else that differs, and no condition by size comes before it."""
    place = next((o for o in access.operands if isinstance(o, Address)), None)
    if place is None or len(code.blocks) > MOST_BLOCKS or access.guard is not None:
        return False
    found = _Sources(code).of([place.base])
    own = (isinstance(s, str) and s.startswith((*OF_THREAD, "ctaid")) for s in found)
    return bool(found) and all(own) and not _guards_before(code, number)


def loads_of(code: ReportedCode, *operands: Operand) -> list[Instruction]:
    """The loads and atomics that values are computed from, in a loop too."""
    setters = _setters(code)
    waiting = [o.slot for o in operands if isinstance(o, Register)]
    seen, found = set[int](), list[Instruction]()
    while waiting:
        slot = waiting.pop()
        steps = [] if slot in seen else setters.get(slot, [])
        seen.add(slot)
        for _, step in steps:
            if reads_variable(step.instruction) or step.instruction.opcode in ("ldu", "atom"):
                found.append(step.instruction)
            else:
                waiting += step.reads
    return found


def branches_before(
    code: ReportedCode, instruction: Instruction, *, for_good: bool = False
) -> list[Location]:
    """The lines of the conditions that decide whether a thread gets to an instruction of a function
    and that threads of a block can find different, the last one first. Those made of the threads'
    own numbers come alone, without those that only load values that may be the same.

    ``for_good``: only conditions that keep a thread from the instruction until it ends, as that of
    a ``return`` does."""
    if len(code.blocks) > MOST_BLOCKS:
        return []
    inside = (n for n, b in enumerate(code.blocks) if any(i is instruction for i in b.instructions))
    number = next(inside, None)
    if number is None:
        return []
    sources, after = _Sources(code), reached(code, number, -1)
    found = []
    for decider, guard, missed in _deciders(code, number):
        if not any(_is_number(s) or sources.is_value(s) for s in sources.of([guard])):
            continue
        missed_from = reached(code, missed, -1)
        if for_good and number in missed_from:
            continue
        round_again = reached(code, missed, decider)
        if any(not code.blocks[n].successors for n in round_again) and (
            decider in after or decider not in missed_from
        ):  # else it ends a loop before the instruction
            found.append((decider, guard))
    found = [(d, guard) for d, guard in found if sources.differ([guard])] or found
    # The last of them is the one from which no other can be reached but by a loop.
    passed = [sum(d not in reached(code, 0, o) for o, _ in found) for d, _ in found]
    last_first = sorted(range(len(found)), key=lambda n: -passed[n])
    lines = (line for n in last_first for line in _lines_that_differ(code, sources, found[n][1]))
    once = {(line.file, line.line): line for line in lines}
    return list(once.values())


def _lines_that_differ(code: ReportedCode, sources: _Sources, guard: Register) -> list[Location]:
    """The lines of the parts of a condition that threads of a block can find different, the last
    one first. Compilers merge the conditions of two ``return`` statements."""
    whole, parts = _line_of(code, guard), sources.parts_that_differ(guard)
    lines = [line for part in parts if (line := _line_of(code, part)) is not None]
    if whole is None or any(line.file != whole.file for line in lines):
        return [] if whole is None else [whole]
    if len(lines) == 1 and lines[0].line < whole.line:
        return [whole]  # compilers move comparisons up
    return sorted(lines, key=lambda at: -at.line)


def _deciders(code: ReportedCode, number: int) -> Iterator[tuple[int, Register, int]]:
    """The basic blocks whose branch decides whether a thread gets to basic block ``number``, each
    with its predicate and with the way that doesn't lead there."""
    for decider, block in enumerate(code.blocks):
        guard, ways = block.instructions[-1].guard, set(block.successors)
        if decider == number or guard is None or len(ways) != 2:
            continue
        missed = [way for way in ways if number not in reached(code, way, without=decider)]
        if len(missed) == 1:
            yield decider, guard, missed[0]


def predicates_of(code: ReportedCode, instruction: Instruction) -> list[Register]:
    """The predicates that decide whether a thread executes an instruction of a function."""
    own = [] if instruction.guard is None else [instruction.guard]
    for number, block in enumerate(code.blocks):
        if any(i is instruction for i in block.instructions) and len(code.blocks) <= MOST_BLOCKS:
            return own + [guard for _, guard, _ in _deciders(code, number)]
    return own


def _is_number(source: Source) -> bool:
    """Whether it is a number by which the threads of a block differ."""
    return isinstance(source, str) and source.startswith(OF_THREAD)


def _setters(code: ReportedCode) -> dict[int, list[tuple[int, ReportedStep]]]:
    """The instructions that write each register, by its slot, with their basic blocks' numbers."""
    found = dict[int, list[tuple[int, ReportedStep]]]()
    for number, block in enumerate(code.blocks):
        for step in block.decoded:
            for slot in step.writes:
                found.setdefault(slot, []).append((number, step))
    return found


class _Sources:
    """What the values of registers are computed from, beside constants and parameters of the
    kernel: special registers by name, loads and registers without a value by slot, and the
    variables of a loop by its place."""

    def __init__(self, code: ReportedCode) -> None:
        self.code = code
        self.setters = _setters(code)

    def of(self, operands: Iterable[Operand]) -> set[Source]:
        waiting = [o.slot for o in operands if isinstance(o, Register)]
        seen, found = set[int](), set[Source]()
        while waiting:
            slot = waiting.pop()
            if slot in seen:
                continue
            seen.add(slot)
            setters = self.setters.get(slot, [])
            if len(setters) != 1:
                found.add(self._variable(slot, [number for number, _ in setters]))
            for _, step in setters:
                i = step.instruction
                if any(isinstance(o, Symbol) for o in i.operands):
                    continue  # the address of an array
                if i.opcode in TABLE or i.opcode in COPIES:
                    waiting += step.reads
                    names = [o.name for o in i.operands if isinstance(o, Special)]
                    found.update(name for name in names if not name.startswith(SIZES))
                elif i.opcode != "ld" or reads_variable(i):
                    found.add(slot)
        return found

    def is_value(self, source: Source) -> bool:
        """Whether it is a value that was loaded, or computed in a way unknown."""
        return isinstance(source, int) and source in self.setters  # else as a launch sets it

    def differ(self, operands: Iterable[Operand]) -> bool:
        """Whether values depend on a number by which the threads of a block differ, be it by the
        place that they are loaded from."""
        waiting, seen = self.of(operands), set[Source]()
        while waiting:
            source = waiting.pop()
            if _is_number(source):
                return True
            if source in seen or not self.is_value(source):
                continue
            seen.add(source)
            steps = [step for _, step in self.setters[source]] if isinstance(source, int) else []
            if len(steps) != 1 or not reads_variable(steps[0].instruction):
                return True
            places = (o for o in steps[0].instruction.operands if isinstance(o, Address))
            waiting |= self.of(place.base for place in places)
        return False

    def parts_that_differ(self, guard: Register) -> list[Register]:
        """Of the comparisons that a predicate is made of, those that threads of a block can find
        different. The predicate itself where there are none."""
        return [part for part in self._comparisons(guard) if self.differ([part])] or [guard]

    def _comparisons(self, predicate: Register) -> list[Register]:
        """The predicates that ``and``, ``or`` and ``not`` make a predicate of, or itself."""
        i = setter(self.code, predicate)
        if i is None or i.opcode not in ("and", "or", "xor", "not"):
            return [predicate]
        return [p for o in i.operands[1:] if isinstance(o, Register) for p in self._comparisons(o)]

    def _variable(self, slot: int, numbers: list[int]) -> Source:
        """A register that is set several times: by the loop that it changes in, if it is one."""
        for number in reversed(numbers):
            if number in in_loop(self.code, number):
                return self._loop(number) or slot
        return slot

    def _loop(self, number: int) -> Source | None:
        """The line of the comparison that comes after a basic block, as the place of its loop."""
        seen = set[int]()
        while number not in seen:
            seen.add(number)
            ways = set(self.code.blocks[number].successors)
            if len(ways) == 2:
                return self.place(number)
            if len(ways) == 1:
                number = ways.pop()
        return None

    def place(self, number: int) -> Source | None:
        """The line of the comparison that a basic block ends with."""
        guard = self.code.blocks[number].instructions[-1].guard
        line = None if guard is None else _line_of(self.code, guard)
        return None if line is None else (line.file, line.line)


def _limited(code: ReportedCode, register: Register, holds: bool) -> list[Operand]:
    """The values that are below another by comparisons, if a predicate ``holds`` or not."""
    i = setter(code, register)
    holds ^= register.negated
    if i is None or i.opcode in ("and", "or", "xor", "not"):
        sources = () if i is None else i.operands[1:]
        holds ^= i is not None and i.opcode == "not"
        return [o for s in sources if isinstance(s, Register) for o in _limited(code, s, holds)]
    if i.opcode != "setp" or not BY_SIZE & {*i.modifiers}:
        return []
    return [i.operands[1 if bool(BELOW & {*i.modifiers}) == holds else 2]]


def _line_of(code: ReportedCode, register: Register) -> Location | None:
    found = setter(code, register)
    return None if found is None else found.location


def reads_variable(i: Instruction) -> bool:
    """Whether it loads from memory, and no parameter."""
    return i.opcode == "ld" and "param" not in i.modifiers


def _bounds(code: ReportedCode, register: Register) -> bool:
    """Whether a predicate comes from a comparison by size, as a guard against an index does."""
    i = setter(code, register)
    if i is None or i.opcode in ("and", "or", "xor", "not"):
        sources = () if i is None else i.operands[1:]
        return any(_bounds(code, s) for s in sources if isinstance(s, Register))
    return i.opcode == "setp" and bool(BY_SIZE & {*i.modifiers})


def reached(code: ReportedCode, first: int, without: int) -> set[int]:
    """The basic blocks that can be reached from ``first``, which is one, but not by ``without``."""
    waiting, seen = [first], set[int]()
    while waiting:
        block = waiting.pop()
        if block != without and block not in seen:
            seen.add(block)
            waiting += code.blocks[block].successors
    return seen


def in_loop(code: ReportedCode, number: int) -> set[int]:
    """The basic blocks of the loops around basic block ``number``, none for one outside a loop."""
    after = set().union(*(reached(code, s, -1) for s in code.blocks[number].successors))
    if number not in after:
        return set()
    before = _leading_to(code, number)
    return {n for n in after if n in before}


def _leading_to(code: ReportedCode, number: int) -> set[int]:
    """The basic blocks from which ``number`` can be reached, and itself."""
    comes_from: list[list[int]] = [[] for _ in code.blocks]
    for block, each in enumerate(code.blocks):
        for successor in each.successors:
            comes_from[successor].append(block)
    waiting, seen = [number], set[int]()
    while waiting:
        block = waiting.pop()
        if block not in seen:
            seen.add(block)
            waiting += comes_from[block]
    return seen
