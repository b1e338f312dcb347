"""Finds the operation that first makes a NaN, or an infinity, of numbers.

NaN passes through every later operation, so the one that made it says more than the place where it
is met. Only operations in single and double precision and in half precision are followed, one
number at a time: not packed operations, nor tensor cores.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..findings.report import Counts
from ..findings.reported_state import Index
from ..isa import ptx
from ..isa.instruction_set import DTYPES
from ..isa.location import Location
from ..machine.code import Block, Decoded
from ..machine.lanes import Group
from ..machine.observer import Observer
from ..machine.operands import convert

FORMS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "fma": "{} * {} + {}",
    "mad": "{} * {} + {}",
    "div": "{} / {}",
    "rcp": "1 / {}",
    "sqrt": "the square root of {}",
    "rsqrt": "1 / the square root of {}",
    "lg2": "the logarithm of {}",
    "ex2": "2 to the power of {}",
    "sin": "the sine of {}",
    "cos": "the cosine of {}",
}
KINDS = ("f16", "f32", "f64")


@dataclass(frozen=True)
class Made:
    """An operation, ``-inf - -inf``, and the first thread (x, y, z) that executed it."""

    operation: str
    location: Location | None
    thread: Index
    block: Index


class FirstNan(Observer):
    """Watches one launch until an operation makes a NaN or, with ``infinite``, an infinity of
    finite numbers. ``made`` is None until then."""

    def __init__(self, infinite: bool) -> None:
        self._infinite = infinite
        self._sources: list[np.ndarray] = []
        self._runs: np.ndarray | None = None  # the lanes whose guard holds, None for all
        self.made: Made | None = None

    def launch_ends(self, counts: Counts, recorded: dict[str, Any]) -> None:
        recorded["made"] = self.made

    def wants_instructions(self, group: Group, block: Block) -> bool:
        return self.made is None

    def instruction_starts(self, group: Group, decoded: Decoded) -> None:
        self._sources = []
        i = decoded.instruction
        kind = _kind(i)
        if self.made is not None or not kind or decoded.ends:
            return
        self._sources = [_value(group, operand, kind) for operand in i.operands[1:]]
        self._runs = None
        if i.guard is not None:
            self._runs = group.full(group.R[i.guard.slot]) != i.guard.negated

    def instruction_ends(self, group: Group, decoded: Decoded) -> None:
        i = decoded.instruction
        target = i.operands[0] if i.operands else None
        if self.made is not None or not self._sources or not isinstance(target, ptx.Register):
            return
        result = _value(group, target, _kind(i))
        if self._infinite:
            made = np.isinf(result)
            for source in self._sources:
                made = made & np.isfinite(source)
        else:
            made = np.isnan(result)
            for source in self._sources:
                made = made & ~np.isnan(source)
        if not made.any():
            return
        made = np.broadcast_to(made, group.n)
        if self._runs is not None:
            made = made & self._runs
        if not made.any():
            return
        at = int(np.argmax(made))
        numbers = [f"{float(group.full(source)[at]):.7g}" for source in self._sources]
        thread, block = group.batch.thread_and_block(int(group.lanes[at]))
        self.made = Made(FORMS[i.opcode].format(*numbers), i.location, thread, block)


def _kind(i: ptx.Instruction) -> str:
    """The type of an operation in floating point that is followed, "" for any other."""
    kinds = [m for m in i.modifiers if m in DTYPES or m in ("f16x2", "bf16", "bf16x2")]
    return kinds[0] if i.opcode in FORMS and len(kinds) == 1 and kinds[0] in KINDS else ""


def _value(group: Group, operand: ptx.Operand, kind: str) -> np.ndarray:
    """The values of an operand in the lanes of a group, (n,) or (1,)."""
    dtype = DTYPES[kind]
    if isinstance(operand, ptx.Register):
        return convert(group.R[operand.slot], dtype)
    if isinstance(operand, ptx.Immediate):
        return np.array([operand.value], dtype)
    return np.zeros(1, dtype)
