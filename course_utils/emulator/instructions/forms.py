"""Entering the forms of an instruction that differ by type, each from the family it belongs to.

``add`` is an integer, a floating-point and a half-precision instruction. Each family enters its own
types under the same opcode; a lookup tries one family after the other.
"""

from __future__ import annotations

from collections.abc import Callable

from ..isa.arithmetic import elementwise
from ..isa.instruction_set import TABLE, Op, OpBuilder, counts_as, instruction

Build = Callable[[str, frozenset[str], str], "Op | None"]


def form(
    opcodes: str,
    types: str,
    flags: str = "",
    *,
    flushed: bool = False,
    work: dict[str, str] | None = None,
) -> Callable[[Build], Build]:
    """Enter ``build(opcode, modifiers, type)`` for ``opcode[.flag]*.type``.

    ``opcodes``, ``types`` and ``flags`` are words separated by spaces; a form with any other type
    or flag is left to the builders entered before. ``flushed`` as in :func:`instruction`; ``work``:
    what each opcode counts as, "add", "mul" or "fma".
    """
    known_types, known_flags = frozenset(types.split()), frozenset(flags.split())
    counted = work or {}

    def enter(build: Build) -> Build:
        for opcode in opcodes.split():
            for kind in known_types if counted else ():
                counts_as(opcode, kind, elementwise(counted[opcode], kind))
            instruction(opcode, flushed=flushed)(_beside(TABLE.get(opcode), opcode, build))
        return build

    def _beside(earlier: OpBuilder | None, opcode: str, build: Build) -> OpBuilder:
        def builder(modifiers: tuple[str, ...]) -> Op | None:
            if modifiers and modifiers[-1] in known_types and known_flags >= {*modifiers[:-1]}:
                op = build(opcode, frozenset(modifiers[:-1]), modifiers[-1])
                if op is not None:
                    return op
            return earlier(modifiers) if earlier else None

        return builder

    return enter
