"""Shared by the chapter's exercises: choices that are defended by a fact."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from course_utils.errors import LessonError

Choices = Mapping[int, tuple[str, str]]


def defended(choices: Choices, example: str) -> Callable[[Callable[[], Any]], Any]:
    """Runs an answer, and says of each numbered choice whether it and its fact are right."""

    def said_of(function: Callable[[], Any]) -> tuple[str, ...] | None:
        found = function()
        if found is None:
            return None
        if type(found) is not dict or any(type(k) is not int for k in found):
            raise LessonError(f"return a dictionary such as {example}")
        return tuple(f"{k}: {judged(found.get(k), right)}" for k, right in choices.items())

    return said_of


def judged(entry: Any, right: tuple[str, str]) -> str:
    if type(entry) is not tuple or [type(x) for x in entry] != [str, str]:
        return "no pair of a choice and a fact yet"
    if entry == right:
        return "right"
    if entry[0] == right[0]:
        return "the choice is right, and another fact decides"
    if entry[1] == right[1]:
        return "the fact is right, and leads to another choice"
    return "not yet"


def all_right(choices: Choices) -> tuple[str, ...]:
    return tuple(f"{k}: right" for k in choices)
