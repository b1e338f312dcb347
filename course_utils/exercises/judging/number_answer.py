"""Predictions: the right numbers are counted on the emulator, the student's are compared."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...checking import difference
from ...checking.excerpts import source_excerpt
from ...checking.verdict import Verdict
from ..authoring import kinds
from ..authoring.spec import RTOL, NumberExercise
from ..isolation.plain_values import Unserialisable, read
from .outcome import simple

HOW_TO_START = "Write your numbers instead of the dots, then run the cell. A guess is welcome."
LARGEST_POWER = 64
SECONDS = 10.0  # for a cell that computes its numbers
LEAST_DIGITS = 3  # of one that is rounded
MEMORY_WORDS = re.compile(r"sector|request|wavefront|bank", re.I)
UPSIDE_DOWN = "The quotient is upside down: read again which number is per which."
ROUND_UP = "Round up: the last one is there too, though it is only partly full."
WHICH_WAY = "Does the remainder count as a whole one, or not at all?"
DRAW_THE_WARP = "Draw the 32 threads of a warp and write under each the address it touches."
OPERATIONS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs,
    "int": int,
    "max": max,
    "min": min,
    "round": round,
}


class NotANumber(ValueError):
    """A line that is neither a number nor simple arithmetic; the message is for the reader."""


class NotSimple(NotANumber):
    """A line of some other Python, which only running the cell can tell about."""


def verdict_of(exercise: NumberExercise, source: str) -> Verdict:
    """Compare every prediction with the count."""
    try:
        given = assignments(source)
    except NotSimple:
        found = _by_running(exercise, source)
        if isinstance(found, Verdict):
            return found
        given = found
    except (RecursionError, MemoryError):
        message = "a line is nested too deeply to be read."
        return simple(kinds.WRONG_TYPE, message, hint="A number, or arithmetic such as 32 * 4.")
    except SyntaxError as error:
        message = f"line {error.lineno} is not `name = number`."
        lines = [error.lineno] if error.lineno else []
        return simple(kinds.SYNTAX_ERROR, message, excerpt=source_excerpt(source, lines))
    except NotANumber as error:
        return simple(kinds.WRONG_TYPE, str(error), hint="A number, or arithmetic such as 32 * 4.")
    missing = [name for name in exercise.asks if name not in given]
    if missing:
        message = f"there is no line that begins with {missing[0]} = "
        return simple(kinds.WRONG_NAME, message, hint=_of_another_class(exercise, given))
    for name, right in exercise.counted(exercise).items():
        value = given[name]
        if value is not None and not math.isfinite(value):
            message = f"{name} = {value} is not finite."
            return simple(kinds.WRONG_TYPE, message, hint="Every count is a finite number.")
        if value is None:
            message = f"{name} is still `...`."
            return simple(kinds.WRONG_TYPE, message, hint="Replace the dots. A guess is welcome.")
        if difference(value, right, rtol=RTOL, atol=0.0) and not _rounds_to(value, right):
            return _wrong(exercise, name, value, right)
    numbers = ", ".join(f"{name} = {given[name]:.12g}" for name in exercise.asks)
    message = f"{exercise.id} is right: the emulator counts {numbers}."
    return simple(kinds.PASS, message, hint=f'solution("{exercise.id}") explains the numbers.')


def _of_another_class(exercise: NumberExercise, given: Mapping[str, Any]) -> str:
    """The advice for an answer to the course's own numbers, where a class has others."""
    if exercise.own is None or not exercise.own.asks.keys() <= given.keys():
        return ""
    return (
        "These are the course's own numbers, and your class has others: "
        f'reset("{exercise.id}") brings its starter.'
    )


def assignments(source: str) -> dict[str, float | None]:
    """Names and values of lines such as ``sectors = 32 * 4``; None for dots.

    Raises SyntaxError for what Python cannot read, and NotANumber for anything but arithmetic.
    """
    found: dict[str, float | None] = {}
    for line in ast.parse(source).body:
        names = line.targets if isinstance(line, ast.Assign) else []
        known = [name.id for name in names if isinstance(name, ast.Name)]
        if not isinstance(line, ast.Assign) or len(known) < len(names):
            raise NotSimple(f"line {line.lineno} is not `name = number`.")
        found |= dict.fromkeys(known, _value(line.value, found))
    return found


def _value(node: ast.expr, known: dict[str, float | None]) -> float | None:
    if isinstance(node, ast.Constant) and node.value is Ellipsis:
        return None
    number = node.value if isinstance(node, ast.Constant) else None
    if isinstance(number, (int, float)) and not isinstance(number, bool):
        return _in_range(number, node)
    if isinstance(node, ast.Name) and known.get(node.id) is not None:
        return known[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, known)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATIONS:
        left, right = _number(node.left, known), _number(node.right, known)
        if isinstance(node.op, ast.Pow) and not -LARGEST_POWER <= right <= LARGEST_POWER:
            raise NotANumber(f"line {node.lineno}: that power is too large.")
        try:
            return _in_range(OPERATIONS[type(node.op)](left, right), node)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise NotANumber(f"line {node.lineno}: {error}.") from None
    if (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and (function := FUNCTIONS.get(node.func.id))
    ):
        arguments = [_number(argument, known) for argument in node.args]
        try:
            return _in_range(function(*arguments), node)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise NotANumber(f"line {node.lineno}: {error}.") from None
    message = f"line {node.lineno}: `{ast.unparse(node)[:60]}` is not a number."
    raise (NotANumber if isinstance(node, (ast.Constant, ast.Name)) else NotSimple)(message)


def _by_running(exercise: NumberExercise, source: str) -> dict[str, float | None] | Verdict:
    """The numbers that the cell, run as a program, gives the names; or why it gives none."""
    from .python_process import problem_of, run_answer, unanswered

    answer = run_answer(exercise, source, SECONDS, names=tuple(exercise.asks))
    if answer.result is None:
        return unanswered(answer, "the cell", SECONDS)
    if problem := problem_of(answer.result):
        return problem
    found: dict[str, float | None] = {}
    for name, value in answer.result["values"].items():
        number = read(value)
        if isinstance(number, Unserialisable) and number.type_name == "ellipsis":
            found[name] = None
            continue
        try:
            if isinstance(number, bool) or not isinstance(number, (int, float, np.number)):
                raise TypeError
            found[name] = float(number)
        except (OverflowError, TypeError):
            message = f"{name} is `{str(number)[:60]}`, which is not a number to compare with."
            return simple(kinds.WRONG_TYPE, message, hint="A count, or arithmetic that gives one.")
    return found


def _in_range(value: float, node: ast.expr) -> float:
    """``value``, which is neither complex nor too large for what is done with it next."""
    try:
        float(value)
    except (OverflowError, TypeError) as error:
        raise NotANumber(f"line {node.lineno}: {error}.") from None
    return value


def _number(node: ast.expr, known: dict[str, float | None]) -> float:
    value = _value(node, known)
    if value is None:
        raise NotANumber(f"line {node.lineno} still has dots.")
    return value


def _rounds_to(value: float, right: float, digits: range = range(LEAST_DIGITS, 16)) -> bool:
    """Is it the right number, and not an integer, with one of these counts of ``digits``?"""
    if float(right).is_integer():
        return False
    return any(value == float(f"{right:.{few}g}") for few in digits)


def _wrong(exercise: NumberExercise, name: str, value: float, right: float) -> Verdict:
    """Too many or too few, and what the student overlooked where the author foresaw it."""
    counts = float(right).is_integer()
    rounded = not float(value).is_integer() and _rounds_to(value, right, range(1, LEAST_DIGITS))
    if not counts and rounded:
        message = f"{name} = {value:.12g} has too few digits to tell."
        hint = f"Give {LEAST_DIGITS} digits or more, or the arithmetic itself."
        return simple(kinds.WRONG_NUMBER, message, hint=hint)
    if isinstance(right, int) and not float(value).is_integer():
        message = f"{name} = {value:.12g} is not an integer, and a count always is."
        hint = ROUND_UP if math.ceil(value) == right else WHICH_WAY
        return simple(kinds.WRONG_NUMBER, message, hint=hint)
    more, less = ("too many", "too few") if counts else ("too much", "too little")
    much = more if value > right else less
    message = f"{name} = {value:.12g} is {much}."
    ask = exercise.asks[name]
    hint = ask.traps.get(value, "")
    if not hint and not counts and not difference(value * right, 1.0, rtol=RTOL, atol=0.0):
        hint = UPSIDE_DOWN
    if not hint and MEMORY_WORDS.search(ask.question):
        hint = f"{kinds.NEXT_STEP[kinds.WRONG_NUMBER]} {DRAW_THE_WARP}"
    return simple(kinds.WRONG_NUMBER, message, hint=hint)
