"""Turns the instructions of a function into basic blocks of Python closures, once per function.

A *step* is a closure ``step(group)`` that does what one instruction does to every lane of a group.
An *ending* decides where the lanes go next: ``end(group)`` returns the group when it simply goes on
in a new block, or None when it was split, parked or finished. Steps find their operands bound: the
builder hands out a *getter* per source and a *setter* per destination, and notes which registers an
instruction reads and writes, from which it learns what must be carried when a group is split.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..findings.causes import Cause
from ..findings.report import PLEASE_REPORT, UNKNOWN_INSTRUCTION, Finding, KernelFault
from ..findings.wording import at_line
from ..isa import ptx
from ..isa.instruction_set import DTYPES, ENDINGS, GATHERS, STEPS, flops_of, operation, traits_of
from ..isa.ptx import Immediate, Instruction, Register, Special, Symbol
from ..isa.symbols import function_name
from .block_order import block_ranks
from .code import Block, Code, Decoded, Ending, Step, liveness
from .contraction import contractions
from .fusion import Computation, Movable, fused
from .lanes import Group, blend
from .observer import ignore_event
from .operands import (
    Get,
    Put,
    convert,
    into_register,
    into_wider,
    of_constant,
    of_register,
    one_result,
)
from .special_registers import WIDE

MOVABLE = {"add", "cvta", "ld", "ldu", "mov", "st"}  # steps that do no more than what they say


def unknown(instruction: Instruction) -> KernelFault:
    """The fault of an instruction that the machine does not know, or cannot read."""
    where = f" ({instruction.location})" if instruction.location else ""
    text = f"The emulator does not know the instruction `{instruction.full_opcode}`{where}.\n"
    if instruction.trouble:
        text = f"The emulator cannot read an instruction{where}: {instruction.trouble}.\n"
    text += f"  {instruction.text}"
    if instruction.trouble:
        text += f"\nIf an assembler takes it, {PLEASE_REPORT}."
    cause = Cause.UNKNOWN_INSTRUCTION
    return KernelFault(Finding(UNKNOWN_INSTRUCTION, text, instruction.location, cause=cause))


def not_defined(instruction: Instruction, name: str) -> KernelFault:
    """The fault of a call of a function that has no body in the module."""
    where = at_line(instruction.location)
    cause = Cause.FUNCTION_NOT_DEFINED
    text = (
        f"The function {function_name(name)} is called{where}. This module declares it and does "
        "not define it."
    )
    if name.startswith(("cuda", "__cudaCDP")):
        cause = Cause.KERNEL_LAUNCHES_KERNEL
        called = "cuda" + re.sub("^(__cudaCDP2?|cuda)", "", name)
        text = (
            f"The kernel calls {called}{where}. The emulator doesn't have that function of the "
            "device runtime (dynamic parallelism)."
        )
    finding = Finding(UNKNOWN_INSTRUCTION, text, instruction.location, cause=cause)
    return KernelFault(finding)


def constant(literal: Immediate, kind: str) -> np.ndarray:
    """A literal as a length-1 array of the operand type ``kind``."""
    dtype = DTYPES[kind]
    if dtype.kind == "f" and (literal.float_bits or not isinstance(literal.value, int)):
        return np.array([literal.value], dtype)
    if literal.float_bits:
        bits = np.array([literal.value], np.float32 if literal.float_bits == 32 else np.float64)
        return convert(bits, dtype)
    if dtype.kind == "b":
        return np.array([literal.value != 0])
    width = dtype.itemsize * 8
    bits = np.array([int(literal.value) & ((1 << width) - 1)], DTYPES[f"u{width}"])
    return bits.view(dtype)


Closure = Callable[[Group], Any]  # a step, or an ending where the opcode ends a block


class Builder:
    """Decodes one function. ``addresses`` resolves module variables and functions."""

    def __init__(self, function: ptx.Function, addresses: Callable[[str], int]) -> None:
        self.function, self.addresses = function, addresses
        del function.slot_types[function.declared :]  # those that decoding it once has added
        self.ranked: frozenset[str] = frozenset()  # shared variables whose addresses carry a rank
        self.specials: dict[str, int] = {}
        self.parameter_slots: dict[tuple[int, int], int] = {}  # (id of variable, offset)
        self.reads: set[int] = set()
        self.writes: set[int] = set()
        self.targets: list[int] = []
        self.falls_through = True
        self.plain: Computation | None = None  # of the instruction being decoded

    # --- operands ---

    def read(self, operand: ptx.Operand, kind: str) -> Get:
        """A getter ``get(R)`` of the operand's value as type ``kind``."""
        dtype = DTYPES[kind]
        if isinstance(operand, Immediate):
            return of_constant(constant(operand, kind))
        if isinstance(operand, Symbol) and operand.name not in self.specials:
            variable = self.find_local(operand)
            if variable is None and operand.name in self.ranked:
                slot = self.special("shared_base")
                self.reads.add(slot)
                place = np.uint64(self.addresses(operand.name) + operand.offset)
                return lambda R: convert(R[slot] + place, dtype)
            if variable is None:
                value = np.array([self.addresses(operand.name) + operand.offset], np.uint64)
                return of_constant(convert(value, dtype))
        slot = self.slot_of(operand)
        self.reads.add(slot)
        offset = operand.offset if isinstance(operand, Symbol) else 0
        if offset:
            return lambda R: convert(R[slot] + np.uint64(offset), dtype)
        if isinstance(operand, Register) and operand.negated:
            return lambda R: ~R[slot]
        return of_register(slot, dtype)

    def write(self, operand: ptx.Operand, kind: str) -> Put:
        """A setter ``put(R, value)``; a narrower type is extended to the register's width."""
        if operand == ptx.SINK:
            return lambda R, value: None
        slot = self.slot_of(operand)
        self.writes.add(slot)
        width = ptx.SIZES[self.function.slot_types[slot]]
        dtype = DTYPES[kind]
        narrow = kind != "pred" and dtype.itemsize < width
        return into_wider(slot, dtype, width) if narrow else into_register(slot)

    def slot_of(self, operand: ptx.Operand) -> int:
        """The slot that holds an operand. Raises PtxError for one that no register holds."""
        if isinstance(operand, Register):
            return operand.slot
        if isinstance(operand, Special):
            return self.special(operand.name)
        if isinstance(operand, Symbol):
            return self.special("local:" + operand.name)
        raise ptx.PtxError("a register is needed, and there is another operand")

    def special(self, name: str) -> int:
        """The slot of a special register or of a local array (``local:`` and its name)."""
        if name not in self.specials:
            wide = name.startswith("local:") or name in WIDE
            kind = "pred" if name == "cc" else "b64" if wide else "b32"
            self.specials[name] = self.function.new_slot(kind)
        return self.specials[name]

    def find_local(self, symbol: Symbol) -> ptx.Variable | None:
        """The local array of this name, or None where the name means something else."""
        return next(
            (v for v in self.function.variables if v.name == symbol.name and v.space == "local"),
            None,
        )

    def parameter(self, variable: ptx.Variable, offset: int, kind: str) -> int:
        """The slot that stands for bytes of a ``.param`` variable of a function call."""
        key = (id(variable), offset)
        if key not in self.parameter_slots:
            self.parameter_slots[key] = self.function.new_slot("b" + str(ptx.SIZES[kind] * 8))
        return self.parameter_slots[key]

    def slots_of_parameter(self, variable: ptx.Variable) -> dict[int, int]:
        """Byte offset -> slot, for the bytes of a ``.param`` variable that are used."""
        return {o: s for (key, o), s in self.parameter_slots.items() if key == id(variable)}

    @property
    def next_block(self) -> int:
        """The block that follows the instruction being decoded."""
        return self.block_at.get(self.position + 1, len(self.block_at))

    def label(self, name: str, scope: ptx.Scope) -> int:
        """The index of the instruction after a label; noted as a successor. Raises PtxError
        for an unknown ``name``."""
        index = scope.label(name)
        if index is None:
            raise ptx.PtxError(f"unknown label {name}")
        self.targets.append(index)
        return index

    # --- decoding ---

    def decode(self) -> Code:
        """The whole function. An instruction that cannot be decoded raises where it is run."""
        function = self.function
        leaders = self._leaders()
        starts = sorted(leaders)
        self.block_at = {start: n for n, start in enumerate(starts)}
        self.contracted = contractions(function)
        blocks = []
        for n, start in enumerate(starts):
            stop = starts[n + 1] if n + 1 < len(starts) else len(function.instructions)
            blocks.append(self._block(n, start, function.instructions[start:stop]))
        for block in blocks:
            block.successors = [s for s in block.successors if s < len(blocks)]
        live = liveness(blocks)
        blank = [
            np.zeros(1, bool if t == "pred" else DTYPES[f"u{ptx.SIZES[t] * 8}"])
            for t in function.slot_types
        ]

        results = [self.slots_of_parameter(v) for v in function.results]
        kept = {slot for slots in results for slot in slots.values()}

        return Code(
            function.name,
            0,
            blocks,
            block_ranks([block.successors for block in blocks]),
            blank,
            [tuple(sorted(slots | kept)) for slots in live],
            self.specials,
            [self.slots_of_parameter(v) for v in function.parameters],
            results,
            [v for v in function.variables if v.space == "local"],
            tuple(sorted(live[0] - {*self.specials.values(), *self.parameter_slots.values()})),
        )

    def _leaders(self) -> set[int]:
        function = self.function
        leaders = {0}
        scopes = {id(i.scope): i.scope for i in function.instructions}
        for inner in scopes.values():
            scope: ptx.Scope | None = inner
            while scope is not None:
                leaders.update(scope.labels.values())
                scope = scope.parent
        for n, instruction in enumerate(function.instructions):
            if instruction.opcode in ENDINGS:
                leaders.add(n + 1)
            if is_gathering(instruction):
                leaders.add(n)
        return {n for n in leaders if n < len(function.instructions)} or {0}

    def _block(self, number: int, start: int, instructions: list[Instruction]) -> Block:
        block = Block(number, instructions, [], _next(number + 1))
        movable: list[Movable | None] = []
        self.falls_through, self.targets, self.start = True, [], start
        for position, instruction in enumerate(instructions, start):
            self.position, self.reads, self.writes = position, set(), set()
            self.plain = None
            act = self._instruction(instruction, block)
            block.reads |= self.reads - block.writes
            block.writes |= self.writes
            if instruction.opcode in ENDINGS:
                block.end = act
            else:
                block.steps.append(act)
                movable.append(self._movable(instruction, act))
        block.fused = fused(block.steps, movable)
        block.matrix = any(decoded.traits.matrix for decoded in block.decoded)
        block.opcodes = Counter(i.full_opcode for i in instructions)
        block.flops = Counter((w.flops, w.threads) for w in map(flops_of, instructions) if w)
        block.successors = [self.block_at[t] for t in self.targets if t in self.block_at]
        if self.falls_through:
            block.successors.append(number + 1)
        return block

    def _movable(self, instruction: Instruction, act: Step) -> Movable | None:
        """What must be known of the instruction just decoded for others to move across it."""
        plain = self.plain if self.plain and self.plain.act is act else None
        if instruction.guard is not None or not (plain or instruction.opcode in MOVABLE):
            return None
        joins = plain if plain and plain.op.heavy else None
        return Movable(act, frozenset(self.reads), frozenset(self.writes), joins)

    def _instruction(self, instruction: Instruction, block: Block) -> Closure:
        try:
            picks = GATHERS.get(instruction.opcode)
            mask = None if picks is None else picks(instruction)
            block.gather = block.gather if mask is None else self.read(mask, "b32")
            block.warpgroup |= instruction.full_opcode.startswith("wgmma.mma_async")
            act, traits = self._act(instruction), traits_of(instruction)
        except Exception as error:  # of a form that the decoders did not expect
            own = isinstance(error, (ptx.PtxError, KernelFault))
            instruction.trouble = str(error) if own else ptx.UNEXPECTED
            instruction.opcode, instruction.guard = ptx.UNREADABLE, None
            instruction.modifiers = instruction.operands = ()
            self.reads, self.writes, self.falls_through = set(), set(), True
            block.gather = None
            act, traits = None, traits_of(instruction)
        opcode = instruction.opcode
        act = act or _stop(unknown(instruction))
        parameter = any(m.startswith("param") for m in instruction.modifiers)
        reads, writes = frozenset(self.reads), frozenset(self.writes)
        ends = opcode in ENDINGS
        one = Decoded(instruction, reads, writes, act, opcode, parameter, ends, traits)
        block.decoded.append(one)
        if ends or instruction.guard is None:
            return act
        return self._guarded(instruction, act)

    def _act(self, instruction: Instruction) -> Closure | None:
        opcode = instruction.opcode
        if opcode in ENDINGS:
            return ENDINGS[opcode](self, instruction)
        if opcode in STEPS:
            return STEPS[opcode](self, instruction)
        return self.compute(instruction)

    def compute(self, instruction: Instruction) -> Step | None:
        """An instruction of the table: results = compute(*sources). None for an unknown form.
        Raises PtxError for too few or too many sources."""
        op = operation(instruction.opcode, instruction.modifiers)
        if op is None:
            return None
        first, *rest = instruction.operands
        sources: Sequence[ptx.Operand] = rest
        if contracted := self.contracted.get(self.position):
            op, sources = contracted.op, contracted.sources
        outputs = list(first.items) if isinstance(first, ptx.OperandList) else [first]
        gets = [self.read(o, k) for o, k in zip(sources, op.src, strict=False)]
        if len(gets) != len(op.src):
            raise ptx.PtxError(f"it has {len(gets)} sources where {len(op.src)} are needed")
        if op.carry_in:
            gets.append(self.read(Special("cc"), "pred"))
        puts = [self.write(o, k) for o, k in zip(outputs, op.dst, strict=False)]
        if op.carry_out:
            puts.append(self.write(Special("cc"), "pred"))
        compute = op.first if len(puts) == 1 and op.first is not None else op.compute
        if len(puts) == 1 and (len(op.dst) + op.carry_out == 1 or op.first is not None):
            act = one_result(compute, gets, puts[0])
            self.plain = Computation(op, tuple(sources), tuple(gets), puts[0], act)
            return act

        def act_several(group: Group) -> None:
            R = group.R
            for put, value in zip(puts, compute(*(get(R) for get in gets)), strict=False):
                put(R, value)

        return act_several

    def _guarded(self, instruction: Instruction, act: Step) -> Step:
        """Run ``act`` for the lanes whose guard is true, and blend what it wrote into the rest."""
        needed = tuple(self.reads | self.writes)
        written = tuple(self.writes)
        guard = self.read(ptx.register(instruction.guard), "pred")
        self.reads |= self.writes

        def guarded(group: Group) -> None:
            chosen = guard(group.R)
            masked = group.batch.launch.observers.instruction_masked
            if masked is not ignore_event:
                masked(instruction, group.n - np.count_nonzero(group.full(chosen)))
            count = np.count_nonzero(chosen)
            if count == chosen.size:
                act(group)
            elif count:
                index = np.flatnonzero(chosen)
                part = group.subset(index, needed)
                act(part)
                for slot in written:
                    group.R[slot] = blend(group, group.R[slot], index, part.R[slot])

        return guarded


def is_gathering(instruction: Instruction) -> bool:
    """Whether the lanes that its mask names wait for each other there."""
    if instruction.opcode not in GATHERS:
        return False
    try:
        return GATHERS[instruction.opcode](instruction) is not None
    except (AttributeError, LookupError, ValueError):
        return False  # its decoder says what is wrong with it


def _stop(fault: KernelFault) -> Step:
    def act(group: Group) -> None:
        raise fault

    return act


def _next(number: int) -> Ending:
    def fall_through(group: Group) -> Group:
        group.block = number
        return group

    return fall_through
