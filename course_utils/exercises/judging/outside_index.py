"""An index of an array as the indices of its dimensions, or beside the condition on it."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np

from ...emulator import Cause, Finding
from ..authoring import kinds

ABOUT = (Cause.OUTSIDE_ARRAY, Cause.OUTSIDE_ARRAY_COMPUTED, Cause.OUTSIDE_SHARED_ARRAY)
SHARED_INDEX = (
    Cause.SAME_ELEMENT_WRITTEN,
    Cause.SAME_ELEMENT_IN_TURN,
    Cause.SAME_INDEX_COUNTED,
    Cause.UPDATE_OF_ONE_INDEX,
)
CONSTANT = re.compile(
    r"\bconst(?:expr|eval)?\s+(?:static\s+)?(?:unsigned\s+)?\w+\s+(\w+)\s*=\s*([^;,]+);"
    r"|^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(.+)$",
    re.M,
)
NARROW = re.compile(r"\b((?:unsigned\s+)?short|u?int16_t|ushort)\s+(?:int\s+)?(\w+)\s*[=;,{(]")
COMPARED = re.compile(r"([A-Za-z_]\w*)\s*(<=?|>=?)\s*([A-Za-z_]\w*)")
OPERATIONS = {
    ast.Add: int.__add__,
    ast.Sub: int.__sub__,
    ast.Mult: int.__mul__,
    ast.Div: int.__floordiv__,
    ast.Mod: int.__mod__,
}


def in_dimensions(finding: Finding, source: str, given: Mapping[str, Any]) -> str:
    """``tile_b[1536] is tile_b[3][0][0], and its first index ends at 2.``: for an element past the
    end of an array of several dimensions, which the cell declares in shared memory or which is one
    of the inputs ``given``. ``of_band[8] is of_band[1][0]: it's declared [32][8].``: for a race in
    such an array of shared memory. "" for any other."""
    name, index = finding.array, finding.index
    if finding.cause in SHARED_INDEX and name and index is not None and name not in given:
        return _of_rows(source, name, index)
    if finding.cause not in ABOUT or name is None or index is None or not finding.past:
        return ""
    count = index - finding.past + 1
    if finding.cause is Cause.OUTSIDE_SHARED_ARRAY:
        extents = declared_extents(source, name, count)
    else:
        extents = tuple(np.shape(given[name])) if name in given else ()
    if len(extents) < 2 or prod(extents) != count:
        return ""
    first, *rest = np.unravel_index(index, (index // prod(extents[1:]) + 1, *extents[1:]))
    indices = "".join(f"[{int(i)}]" for i in (first, *rest))
    return f"{name}[{index}] is {name}{indices}, and the first index ends at {extents[0] - 1}."


def _of_rows(source: str, name: str, index: int) -> str:
    extents = declared_extents(source, name, 0)
    if len(extents) < 2 or not prod(extents[1:]):
        return ""
    places = np.unravel_index(index, (index // prod(extents[1:]) + 1, *extents[1:]))
    indices = "".join(f"[{int(i)}]" for i in places)
    declared = "".join(f"[{n or ''}]" for n in extents)
    return (
        f"{name}[{index}] is {name}{indices}, of the declared {name}{declared}. An index past the "
        "end of a row is in the next row."
    )


def guard_and_index(finding: Finding, source: str, given: Mapping[str, Any]) -> str:
    """The condition that let an access through, beside the index that is used, "" where
    the source doesn't show it.

    ``Line 9 tests i < n, and n is 100. x has 37 elements, and the index is 3 * i.``, or, where they
    are of other variables, ``Line 9 tests i. The index of x is j.``
    """
    name, place, condition = finding.array, finding.location, finding.condition
    if finding.cause is not Cause.OUTSIDE_ARRAY_GUARDED or not (name and place and condition):
        return ""
    lines = [re.sub(r"//.*", "", text) for text in source.splitlines()]
    if max(place.line, condition.line) > len(lines) or finding.index is None:
        return ""
    used = re.search(rf"\b{re.escape(name)}\s*\[([^\[\]]+)\]", lines[place.line - 1])
    tests = COMPARED.findall(lines[condition.line - 1])
    if used is None or not tests:
        return ""
    parts = set(re.findall(r"[A-Za-z_]\w*", used[1]))
    for left, sign, right in tests:
        limit = given.get(right)
        if left in parts and isinstance(limit, (int, np.integer)) and "<" in sign:
            has = finding.index - finding.past + 1
            ends = f"Line {condition.line} tests {left} {sign} {right}, and {right} is {limit}"
            index = "" if used[1].strip() == left else f", and the index is {used[1].strip()}"
            elements = f"{has} element{'s' * (has != 1)}"
            return f"{ends}. {name} has {elements}{index}." if finding.past else ""
    if not parts & {word for left, _, right in tests for word in (left, right)}:
        tested = " and ".join(dict.fromkeys(left for left, _, _ in tests))
        return f"Line {condition.line} tests {tested}. The index of {name} is {used[1].strip()}."
    return ""


def narrow_index(finding: Finding, source: str) -> str:
    """``pixel is a short: after 32,767 comes -32,768.``, for an access outside an array whose line,
    or the line of the condition on it, uses a variable of 16 bits. "" for any other."""
    if finding.kind != kinds.OUT_OF_BOUNDS or finding.location is None:
        return ""
    lines = [re.sub(r"//.*", "", text) for text in source.splitlines()]
    places = [place.line for place in (finding.location, finding.condition) if place]
    used = {word for n in places if n <= len(lines) for word in re.findall(r"\w+", lines[n - 1])}
    for written, name in NARROW.findall("\n".join(lines)):
        if name in used:
            unsigned = written.startswith("u")
            after = "65,535 comes 0" if unsigned else "32,767 comes -32,768"
            return f"{name} has 16 bits ({' '.join(written.split())}): after {after}."
    return ""


def declared_extents(source: str, name: str, count: int) -> tuple[int, ...]:
    """The extents of a shared array of ``count`` elements as the source declares it, () where they
    aren't known: constants may be ``constexpr``, ``const`` or a macro. An outermost one that isn't
    known follows from the others."""
    declared = re.search(rf"\b__shared__\b[^;]*?\b{re.escape(name)}\s*((?:\[[^\]]*\]\s*)+)", source)
    if declared is None:
        return ()
    known = {a or b: value or text for a, value, b, text in CONSTANT.findall(source)}
    found = [integer_value(text, known) for text in re.findall(r"\[([^\]]*)\]", declared[1])]
    inner = found[1:]
    if None in inner:
        return ()
    extents = [n for n in inner if n is not None]
    first = found[0] if found[0] is not None else count // max(prod(extents), 1)
    return (first, *extents)


def integer_value(text: str, known: Mapping[str, str], left: int = 8) -> int | None:
    """The value of an expression of integers, None where a name or an operation isn't known."""
    try:
        tree = ast.parse(re.sub(r"//.*|(?<=\d)[uUlL]+\b", "", text).strip(), mode="eval").body
        return _of(tree, known, left)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _of(tree: ast.expr, known: Mapping[str, str], left: int) -> int | None:
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int):
        return tree.value
    if isinstance(tree, ast.Name) and tree.id in known and left:
        return integer_value(known[tree.id], known, left - 1)
    if isinstance(tree, ast.BinOp) and type(tree.op) in OPERATIONS:
        pair = [_of(side, known, left) for side in (tree.left, tree.right)]
        if isinstance(pair[0], int) and isinstance(pair[1], int):
            return OPERATIONS[type(tree.op)](pair[0], pair[1])
    return None
