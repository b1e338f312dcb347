"""What PTX is made of: operands, instructions, variables, functions and their lexical scopes.

Source: PTX ISA, "Syntax" and "State Spaces, Types, and Variables".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from .location import Location

SIZES = {"pred": 1}
for _bits in (8, 16, 32, 64, 128):
    for _kind in "bsuf":
        SIZES[f"{_kind}{_bits}"] = _bits // 8
SIZES |= {"f16x2": 4, "bf16": 2, "bf16x2": 4, "tf32": 4}


UNEXPECTED = "its operands or modifiers are unexpected"  # of a form that no decoder knows


class PtxError(ValueError):
    """The PTX text breaks a rule of the language, or uses a part of it that is not known here."""


# --- operands -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Register:
    """A register of one function. ``slot`` is its number there, ``type`` such as "f32" or "pred";
    ``negated``: written ``!p``."""

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
    """A special register, by its name without ``%``."""

    name: str  # "tid.x", "laneid", "clock64"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable or function by name, with a byte offset."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """``[base + offset]``; ``extra`` holds what may follow inside the brackets (coordinates)."""

    base: Register | Symbol | Immediate | Special
    offset: int = 0
    extra: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class OperandList:
    """``{a, b}``, ``(a, b)`` or ``p|q``."""

    items: tuple[Operand, ...]


SINK = Special("_")
UNREADABLE = "unreadable"  # the opcode of what is no instruction
Operand = Register | Immediate | Special | Symbol | Address | OperandList


def items(operand: Operand) -> tuple[Operand, ...]:
    """The elements of a vector; of anything else just that."""
    return operand.items if isinstance(operand, OperandList) else (operand,)


def register(operand: Operand | None) -> Register:
    """The operand of a form that asks for a register there. Raises PtxError for any other."""
    if isinstance(operand, Register):
        return operand
    raise PtxError(UNEXPECTED)


def address(operand: Operand) -> Address:
    """The operand of a form that asks for ``[...]`` there. Raises PtxError for any other."""
    if isinstance(operand, Address):
        return operand
    raise PtxError(UNEXPECTED)


def symbol(operand: Operand) -> Symbol:
    """The operand of a form that asks for a name there. Raises PtxError for any other."""
    if isinstance(operand, Symbol):
        return operand
    raise PtxError(UNEXPECTED)


def integer(operand: Operand) -> int:
    """The value of a literal of a form that asks for an integer there. Raises PtxError for any
    other operand."""
    if isinstance(operand, Immediate) and isinstance(operand.value, int):
        return operand.value
    raise PtxError(UNEXPECTED)


def elements(operand: Operand) -> tuple[Operand, ...]:
    """The operands in ``{...}`` of a form that asks for a list there. Raises PtxError for any
    other operand."""
    if isinstance(operand, OperandList):
        return operand.items
    raise PtxError(UNEXPECTED)


@dataclass(slots=True)
class Instruction:
    """One instruction as it is written, its operands resolved in its ``scope``."""

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
        """The opcode with its modifiers: "fma.rn.ftz.f32"."""
        return ".".join((self.opcode, *self.modifiers))


@dataclass(slots=True)
class Variable:
    """A declared variable. ``initial`` is the text of its values. ``external``: the module only
    names it, as it does dynamic shared memory."""

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
        """The register that ``name`` means here, or None where no scope declares it."""
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
        """A new register of type ``kind`` in this scope."""
        register = Register(self.function.new_slot(kind), kind, name)
        self.registers[name] = register
        return register

    def label(self, name: str) -> int | None:
        """The index of the instruction after a label, or None for an unknown label."""
        return next((s.labels[name] for s in self._outwards() if name in s.labels), None)

    def variable(self, name: str) -> Variable:
        """The variable that ``name`` means here. Raises PtxError where no scope declares it."""
        found = next((s.variables[name] for s in self._outwards() if name in s.variables), None)
        if found is None:
            raise PtxError(UNEXPECTED)
        return found

    def table(self, name: str) -> list[str]:
        """The labels of a ``.branchtargets``. Raises PtxError for an unknown table."""
        found = next((s.tables[name] for s in self._outwards() if name in s.tables), None)
        if found is None:
            raise PtxError(UNEXPECTED)
        return found

    def _outwards(self) -> Iterator[Scope]:
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass
class Function:
    """A kernel (``is_entry``) or a device function. ``attributes``: performance directives such as
    "maxntid". ``body``: its text, None for a declaration. ``slot_types``: of each register, of
    which the body declares the first ``declared``."""

    name: str
    is_entry: bool
    parameters: list[Variable]
    results: list[Variable]
    attributes: dict[str, tuple[int, ...]]
    body: str | None
    instructions: list[Instruction] = field(default_factory=list)
    variables: list[Variable] = field(default_factory=list)  # shared and local, of every scope
    slot_types: list[str] = field(default_factory=list)
    declared: int = 0

    def new_slot(self, kind: str) -> int:
        """The number of a new register of type ``kind``."""
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
