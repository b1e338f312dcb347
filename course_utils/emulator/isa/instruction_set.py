"""What the machine knows of its instructions: how each is decoded, and what it is like.

The modules of :mod:`..instructions` enter theirs here. One that computes a value from values is an
entry of ``TABLE``; any other is decoded by a function in ``STEPS``, or in ``ENDINGS`` when it ends
a basic block. What the checks and the counters want to know of it are its :class:`Traits`, said
where it is entered.

A register holds a 1-D NumPy array: one element per lane, or a single element when all lanes agree.
Arrays in registers are never changed in place. An entry of the table is a *builder*: it reads the
modifiers of one instruction (``("rn", "ftz", "f32")`` for ``fma.rn.ftz.f32``) and answers with an
:class:`Op`, which names the types of the operands and the function that computes the result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .arithmetic import Arithmetic

if TYPE_CHECKING:
    from . import ptx

DTYPES: dict[str, np.dtype] = {
    "pred": np.dtype(np.bool_),
    "u8": np.dtype(np.uint8),
    "s8": np.dtype(np.int8),
    "b8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "s16": np.dtype(np.int16),
    "b16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "s32": np.dtype(np.int32),
    "b32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "s64": np.dtype(np.int64),
    "b64": np.dtype(np.uint64),
    "u128": np.dtype("V16"),  # raw bytes: NumPy has no integer of 128 bits
    "b128": np.dtype("V16"),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),  # raw bits: NumPy has no bfloat16
    "f16x2": np.dtype(np.uint32),  # raw bits of a packed pair
    "bf16x2": np.dtype(np.uint32),
    "f32": np.dtype(np.float32),
    "tf32": np.dtype(np.uint32),  # raw bits
    "f64": np.dtype(np.float64),
    "e4m3x2": np.dtype(np.uint16),
    "e5m2x2": np.dtype(np.uint16),
    "e2m1x2": np.dtype(np.uint8),
    "ue8m0x2": np.dtype(np.uint16),
}


@dataclass(frozen=True)
class Op:
    """One decoded instruction: ``results = compute(*sources)``.

    ``dst`` and ``src`` name the type of every destination and source. ``compute`` gets arrays of
    exactly those dtypes (lengths n or 1, mixed freely) and returns an array, or a tuple of arrays
    when there are several destinations. Where ``carry_in`` is set, the carry flag arrives as one
    more bool source; where ``carry_out`` is set, it is returned as one more bool result. ``first``
    computes the first of two results alone, where the second goes nowhere. ``heavy``: it takes so
    many NumPy calls that several of them had better be one (:mod:`..machine.fusion`).
    """

    dst: tuple[str, ...]
    src: tuple[str, ...]
    compute: Callable[..., Any]
    carry_in: bool = False
    carry_out: bool = False
    first: Callable[..., Any] | None = None
    heavy: bool = False


Compute = Callable[..., np.ndarray]  # of arrays of n elements or of one, mixed freely
OpBuilder = Callable[[tuple[str, ...]], "Op | None"]
TABLE: dict[str, OpBuilder] = {}
FLUSHED: set[str] = set()  # opcodes whose result depends on whether subnormals are flushed


def instruction(*names: str, flushed: bool = False) -> Callable[[OpBuilder], OpBuilder]:
    """Enter a builder under one or more base opcodes (``"add"``, ``"mad"``).

    The builder returns None for a form it does not know; the machine then reports the instruction.
    ``flushed``: what it computes depends on whether subnormal numbers are flushed to zero.
    """

    FLUSHED.update(names if flushed else ())

    def enter(builder: OpBuilder) -> OpBuilder:
        for name in names:
            TABLE[name] = builder
        return builder

    return enter


@dataclass(frozen=True)
class Traits:
    """What the checks and the counters want to know of an instruction, beside how to run it.

    ``results``: how many operands, from the first, it writes. ``memory``: "load", "store", "atomic"
    or, for what starts an asynchronous copy, "copy". ``branch``: "guarded" when a guard sends the
    lanes of a warp different ways, "indexed" when its first operand does. ``barrier``: whose it is,
    "block", "warp" or "cluster". ``fence``: it orders ordinary memory. ``async_proxy``: it reads
    shared memory through the asynchronous proxy. ``over_warp``: each result depends on all lanes of
    the warp. ``matrix``: it mixes lanes in a way of its own; picks the operands whose registers
    hold the data. ``registers``: what it does to registers in flight: "fills" them some time later,
    "fills in groups", "commits" a group, "waits" for all but some groups, "waits for all",
    "fences" or "copies" them. ``work``: the floating-point operations that its name tells of.
    """

    results: int = 1
    memory: str = ""
    branch: str = ""
    barrier: str = ""
    fence: bool = False
    async_proxy: bool = False
    over_warp: bool = False
    matrix: Callable[[ptx.Instruction], Sequence[ptx.Operand]] | None = None
    registers: str = ""
    work: Arithmetic | None = None


PLAIN = Traits()
Describe = Traits | Callable[[tuple[str, ...]], Traits]
_TRAITS: dict[str, Describe] = {}
_WORK: dict[tuple[str, str], Arithmetic] = {}  # of opcodes in the table, by type
# A decoder gets the builder of machine/program.py and an instruction. It returns a closure, or None
# for a form that it does not know. Both types are above this room, and here they are any.
Decoder = Callable[[Any, "ptx.Instruction"], Callable[..., Any] | None]
Mask = Callable[["ptx.Instruction"], "ptx.Operand | None"]
STEPS: dict[str, Decoder] = {}
ENDINGS: dict[str, Decoder] = {}
GATHERS: dict[str, Mask] = {}
_D = TypeVar("_D", bound=Decoder)
_M = TypeVar("_M", bound=Mask)


def _entering(
    table: dict[str, Decoder], opcodes: tuple[str, ...], traits: Describe | None
) -> Callable[[_D], _D]:
    if traits is not None:
        _TRAITS.update(dict.fromkeys(opcodes, traits))

    def enter(decode: _D) -> _D:
        table.update(dict.fromkeys(opcodes, decode))
        return decode

    return enter


def step(*opcodes: str, traits: Describe | None = None) -> Callable[[_D], _D]:
    """Enter a decoder of instructions that act and fall through to the next; ``traits`` may be a
    function of the modifiers."""
    return _entering(STEPS, opcodes, traits)


def ending(*opcodes: str, traits: Describe | None = None) -> Callable[[_D], _D]:
    """Enter a decoder of instructions that end a basic block."""
    return _entering(ENDINGS, opcodes, traits)


def gathers(*opcodes: str) -> Callable[[_M], _M]:
    """Mark instructions that wait until the lanes of a warp named in their mask have arrived.

    The decorated function picks the operand that holds the mask; None when there is no waiting.
    """

    def enter(mask: _M) -> _M:
        GATHERS.update(dict.fromkeys(opcodes, mask))
        return mask

    return enter


def counts_as(opcode: str, kind: str, work: Arithmetic) -> None:
    """Note the floating-point work of an instruction of the table, for one type."""
    _WORK[opcode, kind] = work


@lru_cache(maxsize=4096)
def operation(opcode: str, modifiers: tuple[str, ...]) -> Op | None:
    """What the table says of an instruction; None for one that it does not know."""
    return TABLE[opcode](modifiers) if opcode in TABLE else None


@lru_cache(maxsize=4096)
def _traits(opcode: str, modifiers: tuple[str, ...]) -> Traits:
    known = _TRAITS.get(opcode, PLAIN)
    return known if isinstance(known, Traits) else known(modifiers)


def traits_of(instruction: ptx.Instruction) -> Traits:
    """The traits of an instruction; those of one that computes a value where none were given."""
    return _traits(instruction.opcode, instruction.modifiers)


def flops_of(instruction: ptx.Instruction) -> Arithmetic | None:
    """The floating-point work of an instruction; None for one that does none.

    Functions such as ``div``, ``sqrt`` or ``sin`` count nothing, as in ncu's three counters, though
    a GPU computes some of them with additions and multiplications. ``tcgen05.mma`` says its shape
    only when it runs.
    """
    kind = instruction.modifiers[-1] if instruction.modifiers else ""
    return traits_of(instruction).work or _WORK.get((instruction.opcode, kind))
