"""Lines of a function that a thread comes by, as far as the source shows it by numbers."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence

from .outside_index import integer_value

Index = tuple[int, int, int]
SIGNS = {
    "==": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
CONDITION = re.compile(r"([^=!<>&|]+?)\s*(==|!=|<=|>=|<|>)\s*([^=!<>&|]+)")
ASSIGNED = re.compile(r"\b(\w+)\s*=(?!=)\s*([^;,=]+)[;,]")
CHANGED = re.compile(r"\b(\w+)\s*(?:\+\+|--|[-+*/%&|^]=|<<=|>>=)|(?:\+\+|--)\s*(\w+)")


def passed_over(
    lines: Sequence[str], first: int, last: int, thread: Index | None, block: Index | None
) -> set[int]:
    """The numbers of the lines from ``first`` to ``last``, counted from 1 and without comments,
    that are in a branch with braces which the thread surely doesn't take: its condition compares
    numbers of the thread and constants."""
    numbered = [_with_numbers(text, thread, block) for text in lines]
    known, left = _variables(numbered), set[int]()
    taken = list[bool | None]()  # of the braces that are open: None for all but an if with an else
    for n in range(first, last + 1):
        text = numbered[n - 1].strip()
        closed: bool | None = None
        for _ in range(text.count("}")):
            closed = taken.pop() if taken else None
        if False in taken:
            left.add(n)
        holds: bool | None = None
        if condition := re.search(r"\bif\s*\((.*)\)\s*\{$", text):
            holds = _holds(condition[1], known)
        elif re.search(r"\}\s*else\s*\{$", text) and closed is not None:
            holds = not closed
        taken += [holds] * text.count("{")
    return left


def _with_numbers(text: str, thread: Index | None, block: Index | None) -> str:
    for name, index in (("threadIdx", thread), ("blockIdx", block)):
        for axis, number in zip("xyz", index or (), strict=False):
            text = re.sub(rf"\b{name}\.{axis}\b", str(number), text)
    return text


def _variables(lines: Sequence[str]) -> Mapping[str, str]:
    """The expressions of the variables that are set once."""
    found = [pair for text in lines for pair in ASSIGNED.findall(text)]
    names = [name for name, _ in found]
    changed = {a or b for text in lines for a, b in CHANGED.findall(text)}
    return {name: text for name, text in found if names.count(name) == 1 and name not in changed}


def _holds(condition: str, known: Mapping[str, str]) -> bool | None:
    """Whether a comparison of integers holds, None where that isn't known."""
    found = CONDITION.fullmatch(condition.strip())
    if found is None:
        return None
    a, b = integer_value(found[1], known), integer_value(found[3], known)
    return None if a is None or b is None else bool(SIGNS[found[2]](a, b))
