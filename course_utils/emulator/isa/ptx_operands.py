"""Reads the operands of PTX instructions: registers, literals, addresses, vectors, symbols.

Source: PTX ISA, "Syntax: Constants" and "Instruction Operands".
"""

from __future__ import annotations

import re
import struct
from functools import lru_cache

from .ptx import (
    SINK,
    Address,
    Immediate,
    Operand,
    OperandList,
    PtxError,
    Register,
    Scope,
    Special,
    Symbol,
)

_INTEGER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?")
_BRACKET = re.compile(r"[\[{(]")
_SUM = re.compile(r"([\w$%.]+)\s*(?:([+-])\s*(-?\w+))?")
_DECIMAL = re.compile(r"[-+]?(\d+\.\d*([eE][-+]?\d+)?|\d+[eE][-+]?\d+|\.\d+)")


def split(text: str) -> list[str]:
    """Split at the commas that are outside every bracket."""
    if not _BRACKET.search(text):
        return [part for piece in text.split(",") if (part := piece.strip())]
    parts, depth, start = [], 0, 0
    for i, char in enumerate(text):
        if char in "[{(":
            depth += 1
        elif char in "]})":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def parse_operand(text: str, scope: Scope) -> Operand:
    """Read one operand. ``scope`` says which register or variable a name is. Raises PtxError for
    text that is none, and for ``!`` before anything but a predicate."""
    text = text.strip()
    if register := scope.registers.get(text):  # most operands are
        return register
    if text == "_":
        return SINK
    if text[0] == "[":
        parts = split(text[1:-1])
        base, offset = _parse_sum(parts[0], scope)
        return Address(base, offset, tuple(parse_operand(p, scope) for p in parts[1:]))
    if text[0] == "{" and text[-1] != "}":  # a vector and a predicate
        vector, _, predicate = text.rpartition("|")
        return OperandList((parse_operand(vector, scope), parse_operand(predicate, scope)))
    if text[0] in "{(":
        return OperandList(tuple(parse_operand(p, scope) for p in split(text[1:-1])))
    if "|" in text:
        return OperandList(tuple(parse_operand(p, scope) for p in text.split("|")))
    if text[0] == "!":
        register = scope.register(text[1:].strip())
        if register is None or register.type != "pred":
            raise PtxError(f"{text[1:]} after ! isn't a predicate")
        return Register(register.slot, register.type, register.name, True)
    base, offset = _parse_sum(text, scope)
    if isinstance(base, Symbol) and offset:
        return Symbol(base.name, offset)
    return base


def _parse_sum(text: str, scope: Scope) -> tuple[Register | Immediate | Special | Symbol, int]:
    text = text.strip()
    if not text.startswith("%") and (literal := parse_literal(text)):
        return literal, 0
    match = _SUM.fullmatch(text)
    if match is None:
        raise PtxError(f"cannot read the operand: {text}")
    offset = int(match[3].rstrip("U"), 0) if match[3] else 0
    offset = -offset if match[2] == "-" else offset
    name = match[1]
    register = scope.register(name)
    if register is not None:
        return register, offset
    if name.startswith("%"):
        return Special(name[1:]), offset
    return Symbol(name), offset


@lru_cache(4096)
def parse_literal(text: str) -> Immediate | None:
    """Integers in four bases, ``0f3F800000``, ``0d3FF0000000000000`` and decimal floats."""
    if text[:2] in ("0f", "0F") and len(text) == 10:
        return Immediate(struct.unpack(">f", bytes.fromhex(text[2:]))[0], 32)
    if text[:2] in ("0d", "0D") and len(text) == 18:
        return Immediate(struct.unpack(">d", bytes.fromhex(text[2:]))[0], 64)
    if _INTEGER.fullmatch(text):
        digits = text.rstrip("U")
        sign, digits = (-1, digits[1:]) if digits[0] == "-" else (1, digits.lstrip("+"))
        if len(digits) > 1 and digits[0] == "0" and digits.isdigit():
            return Immediate(sign * int(digits, 8))
        return Immediate(sign * int(digits, 0))
    if _DECIMAL.fullmatch(text):
        return Immediate(float(text), 64)
    if text == "WARP_SZ":
        return Immediate(32)
    return None
