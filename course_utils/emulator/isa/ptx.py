"""What PTX is made of: operands, instructions, variables, functions and their lexical scopes.

Source: PTX ISA, "Syntax" and "State Spaces, Types, and Variables".
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from .location import Location

SIZES = {"pred": 1}
for _bits in (8, 16, 32, 64, 128):
    for _kind in "bsuf":
        SIZES[f"{_kind}{_bits}"] = _bits // 8
SIZES |= {"f16x2": 4, "bf16": 2, "bf16x2": 4, "tf32": 4}


class PtxError(ValueError):
    """The PTX text breaks a rule of the language, or uses a part of it that is not known here."""


# --- operands -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Register:
    slot: int
    type: str
    name: str
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Immediate:
    """A literal. Integers keep their value; floats keep the bit pattern and its width."""

    value: int | float
    float_bits: int = 0  # 32 or 64 for 0f…, 0d… and decimal floats (64); 0 for integers


@dataclass(frozen=True, slots=True)
class Special:
    name: str  # "tid.x", "laneid", "clock64"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or function by name, with a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """``[base + offset]``; ``extra`` holds what may follow inside the brackets (coordinates)."""

    base: Register | Symbol | Immediate
    offset: int = 0
    extra: tuple = ()


@dataclass(frozen=True, slots=True)
class OperandList:
    """``{a, b}``, ``(a, b)`` or ``p|q``."""

    items: tuple


SINK = Special("_")
UNREADABLE = "unreadable"  # the opcode of what is no instruction
Operand = Register | Immediate | Special | Symbol | Address | OperandList


def items(operand: Operand) -> tuple:
    """The elements of a vector; of anything else just that."""
    return operand.items if isinstance(operand, OperandList) else (operand,)


@dataclass(slots=True)
class Instruction:
    opcode: str  # base name, "fma"
    modifiers: tuple[str, ...]  # ("rn", "ftz", "f32")
    operands: tuple[Operand, ...]
    guard: Register | None
    locations: tuple[Location, ...]  # innermost inlined function first, the kernel's own line last
    scope: Scope
    text: str
    trouble: str = ""  # why it cannot be read: then it has no operands

    @property
    def location(self) -> Location | None:
        """The innermost line outside of headers; it knows the helpers that it calls for, but for
        those of CUDA's own headers. The kernel's own line when all are in headers."""
        if not self.locations:
            return None
        own = (n for n, place in enumerate(self.locations) if not _in_header(place.file))
        at = next(own, len(self.locations) - 1)
        inner = self.locations[:at]
        if all(_of_cuda(place.file) for place in inner):
            return self.locations[at]
        helpers = tuple(place for place in inner[::-1] if not _of_cuda(place.file))
        return replace(self.locations[at], helpers=helpers)

    def place_in(self, file: str) -> Location | None:
        """The line of ``file`` that the instruction comes from, through inlined helpers to the code
        that calls them; where it comes from no line of it, :attr:`location`."""
        return next((place for place in self.locations if place.file == file), self.location)

    @property
    def full_opcode(self) -> str:
        return ".".join((self.opcode, *self.modifiers))


@dataclass(slots=True)
class Variable:
    space: str  # global, const, shared, local, param
    name: str
    type: str
    size: int  # bytes
    align: int
    initial: str | None = None
    external: bool = False


_NUMBERED = re.compile(r"(.*?)(\d+)")


class Scope:
    """One ``{ }`` of a function: its registers, variables and labels hide those outside it."""

    def __init__(self, parent: Scope | None, function: Function):
        self.parent, self.function = parent, function
        self.registers: dict[str, Register] = {}
        self.ranges: dict[str, tuple[str, int]] = {}
        self.variables: dict[str, Variable] = {}
        self.labels: dict[str, int] = {}
        self.tables: dict[str, list[str]] = {}

    def register(self, name: str) -> Register | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.registers:
                return scope.registers[name]
            match = _NUMBERED.fullmatch(name)
            if match and match[1] in scope.ranges:
                kind, count = scope.ranges[match[1]]
                if int(match[2]) < count:
                    return scope.declare(name, kind)
            scope = scope.parent
        return None

    def declare(self, name: str, kind: str) -> Register:
        register = Register(self.function.new_slot(kind), kind, name)
        self.registers[name] = register
        return register

    def find(self, table: str, name: str):
        scope: Scope | None = self
        while scope is not None:
            found = getattr(scope, table).get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None


@dataclass
class Function:
    name: str
    is_entry: bool
    parameters: list[Variable]
    results: list[Variable]
    attributes: dict[str, tuple[int, ...]]
    body: str | None
    instructions: list[Instruction] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)  # shared and local, of every scope
    slot_types: list[str] = field(default_factory=list)

    def new_slot(self, kind: str) -> int:
        self.slot_types.append(kind)
        return len(self.slot_types) - 1


_INCLUDE = "/include/"  # where CUDA's own headers lie
_BUILT_IN = "nvrtc_builtin_header"  # the one that NVRTC brings along
_HEADERS = {".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl"}


def _of_cuda(file: str) -> bool:
    return _INCLUDE in file or _BUILT_IN in file


def _in_header(file: str) -> bool:
    ending = PurePath(file).suffix
    return _of_cuda(file) or ending in _HEADERS or (os.path.isabs(file) and ending != ".cu")
