"""Judges a student's Python function by its results in its own process."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...checking import difference, judge
from ...checking.excerpts import source_excerpt
from ...checking.verdict import Verdict, format_value
from ...needs import how_to_get, missing, skip_line
from ..authoring import kinds
from ..authoring.language_spec import LanguageExercise
from ..authoring.spec import RTOL, PythonExercise
from ..isolation.plain_values import Unserialisable, plain, read, written
from .outcome import clip_printed, method_missing, right, simple
from .python_case import BY_HAND, SMALLER, with_case
from .python_process import compiled, problem_of, run_answer, unanswered
from .shown_values import show, show_both
from .trials import all_cases

ATOL = 1e-12  # of a number that is returned, by whatever formula
STEPS = {  # where a kernel's step speaks of threads
    kinds.ALL_ZEROS: BY_HAND,
    kinds.NOT_A_NUMBER: "Find the first NaN: 0 * inf, 0 / 0, inf / inf, inf - inf, or the root or "
    "logarithm of a negative number. An inf often is an overflow, such as exp of a large number.",
    kinds.EDGES: "Work out the first wrong element by hand: what makes it different from those "
    "that are right?",
    kinds.TRANSPOSED: "Two dimensions have changed places: compare the order of the result's "
    "dimensions with the one that is asked for.",
}
RESULT = "result"  # the name of a value that a function returned
AROUND = 3  # numbers of a list before and after the first wrong one
LETTERS = 30  # of a string before and after the first wrong one
NOT_NUMBERS = (tuple, list, dict, str, np.ndarray)
ITERATORS = ("generator", "map", "filter", "zip", "range", "enumerate", "reversed")
# Complex NaN of a function is computed. An array that was just made holds NumPy's own.
NO_NAN_OF_OURS = np.array([0x7FF8DEADDEADDEAD], np.uint64).view(np.float64)[0]
REFUSED = (
    "Other cases have None for an answer, and this one hasn't: which condition or exception lets "
    "it end there? Or does it end without `return value`?"
)


def verdict_of(exercise: PythonExercise, source: str, seconds: float | None = None) -> Verdict:
    """Run ``source`` and every case of ``exercise``. The time limit covers all of it."""
    try:
        compiled(source, exercise)
    except SyntaxError as error:
        return _syntax_error(error, source)
    except (RecursionError, MemoryError):
        message = "this cell holds an expression that is nested too deeply to be read."
        return simple(kinds.SYNTAX_ERROR, message)
    except ValueError as error:  # a zero byte
        return simple(kinds.SYNTAX_ERROR, f"Python cannot read this cell: {error}.")
    if lacking := missing(exercise.needs):
        remedy = how_to_get(exercise.needs)
        hint = f"{remedy} Then restart the kernel." if remedy else ""
        return simple(kinds.NO_PACKAGE, skip_line(lacking), hint=hint)
    seconds = exercise.seconds if seconds is None else seconds
    printed = ""
    # Faults in the fixed cases are reported before the drawn ones, which may be large, begin.
    for first in (0, len(exercise.cases)):
        answer = run_answer(exercise, source, seconds, first=first, packages=exercise.needs)
        if answer.result is None:
            verdict = unanswered(answer, exercise.function, seconds)
            if not answer.timed_out:
                return verdict  # its output is the excerpt
        else:
            verdict = judged(exercise, answer.result, first)
        printed = printed or clip_printed(answer.output)
        if not verdict.passed:
            break
    return replace(verdict, printed=printed)


def judged(exercise: PythonExercise, found: dict[str, Any], first: int = 0) -> Verdict:
    """The verdict on the results of :func:`.python_process.answers`, from case ``first`` on."""
    cases = all_cases(exercise)[first:]
    for arguments, call in zip(cases, found["calls"], strict=False):
        shown = f"{exercise.function}({', '.join(show(x) for x in arguments)})"
        value, expected = read(call["value"]), exercise.reference(*arguments)
        if exercise.word and _type(value) == _type(expected) == "int":
            verdict = _compare_words(int(value), int(expected), shown, exercise.word)
        else:
            how = exercise.exact, exercise.rtol, exercise.axes, exercise.compared
            verdict = _compare(value, expected, shown, *how)
            verdict = verdict and with_case(verdict, exercise, arguments, value, expected, shown)
        if verdict is not None and value is None and _may_be_none(exercise):
            message = f"{shown} returned None, expected {show(expected)}."
            kind = kinds.WRONG if _some_value(found) else kinds.NOTHING_RETURNED
            verdict = simple(kind, message, hint=REFUSED)
        if verdict is not None and call["advice"]:  # a missing method is the likely cause
            verdict = replace(verdict, hint=call["advice"])
        if verdict is None and (changed := _changed(arguments, call["left"])):
            message = f"{shown} changed its argument number {changed}, which is its caller's."
            hint = "Work on a copy, or make a new one."
            verdict = simple(kinds.INPUT_CHANGED, message, hint=hint)
        if verdict is None and call["advice"]:
            verdict = method_missing(call["advice"])
        if verdict is not None:
            return verdict
    if problem := problem_of(found):
        if problem.kind == kinds.EXCEPTION and not problem.message.startswith("running"):
            arguments = cases[len(found["calls"])]
            shown = f"{exercise.function}({', '.join(show(x) for x in arguments)})"
            problem = replace(problem, message=f"{shown}: {problem.message}")
        elif isinstance(exercise, LanguageExercise) and problem.cause:
            (case,) = cases[len(found["calls"])]
            problem = replace(problem, message=f"{problem.message.rstrip()}\n  ({case})")
        return problem
    return right(exercise.id, "in every case")


def _may_be_none(exercise: PythonExercise) -> bool:
    """Whether None is the right answer in one of the fixed cases."""
    return any(exercise.reference(*arguments) is None for arguments in exercise.cases)


def _some_value(found: dict[str, Any]) -> bool:
    """Whether a call returned another value than None."""
    return any(read(call["value"]) is not None for call in found["calls"])


def _changed(arguments: tuple[Any, ...], left: list[Any]) -> int:
    """The number of the first of ``arguments`` that has changed, from 1 on, or 0. Numbers, strings,
    lists and arrays are compared. Other types check themselves, in ``method``."""
    after = left[1]
    for number, (before, now) in enumerate(zip(arguments, after, strict=True), 1):
        if not isinstance(plain(before), Unserialisable) and written(before) != now:
            return number
    return 0


def _compare(
    got: Any,
    want: Any,
    shown: str,
    exact: bool = False,
    limit: float = RTOL,
    axes: tuple[str, ...] = (),
    compared: str = "returned",
) -> Verdict | None:
    """The verdict on ``got``, None when it is right."""
    if got is None and want is not None:
        return simple(kinds.NOTHING_RETURNED, f"{shown} returned None.")
    if isinstance(want, np.ndarray):
        if not isinstance(got, np.ndarray):
            return _wrong_type(got, want, shown)
        rtol = limit if want.dtype.kind in "fc" else None
        initial = NO_NAN_OF_OURS if want.dtype.kind == "c" else None
        verdict = judge(
            got,
            want,
            rtol=rtol,
            name=RESULT,
            zeros=True,
            exact=exact,
            initial=initial,
            axes=axes if got.shape == want.shape else (),
        )
        message = "\n  ".join([f"{shown}: {verdict.message}", *verdict.facts])
        kind = kinds.WRONG if verdict.kind == kinds.FIRST_BLOCK else verdict.kind  # has no blocks
        hint = _next_step(shown) if kind == kinds.WRONG else STEPS.get(kind, verdict.hint)
        return None if verdict.passed else simple(kind, message, hint=hint)
    if _type(got) != _type(want):
        return _wrong_type(got, want, shown)
    if _right(got, want, limit):
        return None
    if _equal(got, want):
        message = f"{shown} returned {show(got)}: equal to {show(want)}, but of another type."
        return simple(kinds.WRONG_TYPE, message)
    within = f", within {100 * limit:g} %" if limit > RTOL else ""
    place, texts = _shown_part(got, want, limit)
    answer = f"{shown} {compared}" if place == RESULT else f"{shown}: {place} is"
    message = f"{answer} {texts[0]}, expected {texts[1]}{within}."
    first_wrong = _first_wrong(got, want, limit)
    told = first_wrong.startswith(f"{place},")
    arrays = isinstance(want, tuple) and any(isinstance(x, np.ndarray) for x in want)
    if not told and (place != RESULT or arrays or _cut(texts)):
        message += f"\n  first wrong: {first_wrong}"
    return simple(kinds.WRONG, message, hint=f"{_about_the_items(got, want)}{_next_step(shown)}")


def _compare_words(got: int, want: int, shown: str, bits: int) -> Verdict | None:
    """The verdict on a word of fields, bit by bit, None when it is right."""
    if got == want:
        return None
    texts = [f"0x{x:0{bits // 4}x}" if x >= 0 else f"-0x{-x:x}" for x in (got, want)]
    message = f"{shown} returned {texts[0]}, expected {texts[1]}."
    differ = got ^ want
    if differ >> bits:
        which = f"it does not fit {bits} bits"
    else:
        which = f"wrong bits: {_runs([bit for bit in range(bits) if differ >> bit & 1])}"
    hint = "Which field of the word do these bits belong to? Work that one out by hand."
    return simple(kinds.WRONG, f"{message}\n  {which}", hint=hint)


def _runs(numbers: list[int]) -> str:
    """``[1, 4, 5, 6]`` as "1, 4 to 6"."""
    ends = [n for n in numbers if n + 1 not in numbers]
    firsts = [n for n in numbers if n - 1 not in numbers]
    pairs = zip(firsts, ends, strict=True)
    return ", ".join(f"{a} to {b}" if b > a else f"{a}" for a, b in pairs)


def _cut(texts: tuple[str, str]) -> bool:
    """Whether one of the texts of two values is cut, which may hide where they differ."""
    return any(text.endswith("...") for text in texts)


def _shown_part(
    got: Any, want: Any, limit: float, place: str = RESULT
) -> tuple[str, tuple[str, str]]:
    """Of nested tuples, lists and dicts the largest part that differs first and can be written out:
    its place, and both texts of it. Of a long list of numbers or a long string it's those around
    the first wrong one."""
    texts = show_both(got, want)
    if _cut(texts) and _dicts(got, want) and (keys := _keys_that_differ(got, want)):
        key = keys[0]
        if _has(got, key) and _has(want, key):
            return _shown_part(got[key], want[key], limit, f"{place}[{key!r}]")
        return f"{place}[{key!r}]", (_shown_item(got, key), _shown_item(want, key))
    if _cut(texts) and isinstance(got, str) and isinstance(want, str):
        k = _first_that_differs(got, want, limit)
        around = slice(max(k - LETTERS, 0), min(k + LETTERS + 1, max(len(got), len(want))))
        return f"{place}[{around.start}:{around.stop}]", show_both(got[around], want[around])
    if not _cut(texts) or not _lists(got, want):
        return place, texts
    k = _first_that_differs(got, want, limit)
    if k < min(len(got), len(want)) and any(isinstance(x, NOT_NUMBERS) for x in want):
        return _shown_part(got[k], want[k], limit, f"{place}[{k}]")
    around = slice(max(k - AROUND, 0), min(k + AROUND + 1, max(len(got), len(want))))
    place = f"{place}[{around.start}:{around.stop}]"
    return place, show_both(got[around], want[around])


def _lists(got: Any, want: Any) -> bool:
    return all(isinstance(x, (tuple, list)) for x in (got, want))


def _dicts(got: Any, want: Any) -> bool:
    return isinstance(got, dict) and isinstance(want, dict)


def _keys_that_differ(got: dict[Any, Any], want: dict[Any, Any]) -> list[Any]:
    """The keys with a wrong value, or that only one of the two has, in the order wanted."""
    return [
        key
        for key in {**want, **got}
        if key not in got or key not in want or not _right(got[key], want[key], 0.0)
    ]


def _has(items: Any, key: Any) -> bool:
    """Whether a dict has a key, or a list, tuple or string an index."""
    return key in items if isinstance(items, dict) else key < len(items)


def _shown_item(items: Any, key: Any) -> str:
    return show(items[key]) if _has(items, key) else "nothing"


def _first_that_differs(got: Sequence[Any], want: Sequence[Any], limit: float) -> int:
    """The index of the first wrong item, or of the first that only one of the two has."""
    pairs = enumerate(zip(got, want, strict=False))
    return next((k for k, (g, w) in pairs if not _right(g, w, limit)), min(len(got), len(want)))


def _first_wrong(got: Any, want: Any, limit: float, place: str = RESULT) -> str:
    """Where nested tuples, lists and dicts, and arrays and strings in them, differ first:
    ``result[1][0], expected 2, got 3``."""
    if _dicts(got, want) and (keys := _keys_that_differ(got, want)):
        return _wrong_item(got, want, keys[0], limit, place)
    long_strings = isinstance(got, str) and isinstance(want, str) and _cut(show_both(got, want))
    if _lists(got, want) or long_strings:
        return _wrong_item(got, want, _first_that_differs(got, want, limit), limit, place)
    if isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and got.shape == want.shape:
        near = _near(want, limit)
        for index in np.ndindex(want.shape) if got.dtype == want.dtype else ():
            g, w = got[index], want[index]
            if difference(g, w, 0.0, near) if near else g != w:
                expected, found = format_value(w), format_value(g)
                return f"{place}{list(index)}, expected {expected}, got {found}"
    texts = show_both(got, want)
    return f"{place}, expected {texts[1]}, got {texts[0]}"


def _wrong_item(got: Any, want: Any, key: Any, limit: float, place: str) -> str:
    """Where the items at a key or an index differ first, or that only one of the two has it."""
    place = f"{place}[{key!r}]"
    if _has(got, key) and _has(want, key):
        return _first_wrong(got[key], want[key], limit, place)
    return f"{place}, expected {_shown_item(want, key)}, got {_shown_item(got, key)}"


def _near(want: np.ndarray, limit: float) -> float:
    """How far off an element of an array may be, since sums cancel in places. 0 where all is
    exact."""
    if want.dtype.kind != "f" or limit == RTOL:
        return 0.0
    return limit * float(np.abs(want[np.isfinite(want)]).max(initial=0))


def _about_the_items(got: Any, want: Any) -> str:
    """That a tuple or list is too long or too short, or that it or one in it is out of order."""
    if not isinstance(want, (tuple, list)):
        return ""
    if len(got) != len(want):
        return f"The result's length is {len(got)}, and {len(want)} was expected. "
    for inner, wanted in ((got, want), *zip(got, want, strict=True)):
        if isinstance(inner, (tuple, list)) and isinstance(wanted, (tuple, list)):
            if any(isinstance(item, np.ndarray) for item in wanted):
                continue  # their text is rounded
            items = sorted(map(repr, inner))
            same_items = items == sorted(map(repr, wanted))
            if isinstance(wanted, tuple) and len(set(items)) < len(items):
                continue  # (3, 3, 2) for (2, 3, 3) is chance more often than order
            if same_items and not _right(inner, wanted):
                kind = "list" if isinstance(wanted, list) else "tuple"
                return f"The items of a {kind} are right, and their order is not. "
    return ""


def _next_step(shown: str) -> str:
    """The next step for a wrong result: a case that is not shown whole cannot be worked out."""
    return SMALLER if "array of shape" in shown or "..." in shown else BY_HAND


def _right(got: Any, want: Any, limit: float = RTOL) -> bool:
    """Numbers within ``limit`` of those wanted, also in tuples and lists. The rest is equal, and of
    one type."""
    if isinstance(want, (tuple, list)):
        if not isinstance(got, (tuple, list)) or len(got) != len(want):
            return False
        return all(_right(g, w, limit) for g, w in zip(got, want, strict=True))
    if isinstance(want, np.ndarray) and want.dtype.kind == "f" and limit != RTOL:
        if _type(got) != _type(want) or got.dtype != want.dtype or got.shape != want.shape:
            return False
        return not difference(got, want, 0.0, _near(want, limit))
    if isinstance(want, float):
        return isinstance(got, numbers.Real) and not difference(float(got), want, limit, ATOL)
    return _type(got) == _type(want) and bool(np.all(got == want))


def _equal(got: Any, want: Any) -> bool:
    """Are the numbers in tuples and lists equal, whatever their types?"""
    if isinstance(want, (tuple, list)):
        same = isinstance(got, (tuple, list)) and len(got) == len(want)
        return same and all(map(_equal, got, want))
    return isinstance(got, numbers.Real) and isinstance(want, numbers.Real) and got == want


def _type(value: Any) -> str:
    """Types by what they mean: NumPy's integers are integers, and lists count as tuples."""
    if isinstance(value, (bool, np.bool_)):
        return "bool"
    if isinstance(value, numbers.Integral):
        return "int"
    if isinstance(value, numbers.Real):
        return "float"
    return "tuple" if isinstance(value, (tuple, list)) else type(value).__name__


def _wrong_type(got: Any, want: Any, shown: str) -> Verdict:
    names = [x.type_name if isinstance(x, Unserialisable) else _type(x) for x in (got, want)]
    if isinstance(want, list):
        names[1] = "list"
    if isinstance(got, list):
        names[0] = "list"
    if want is None:
        message = f"{shown} returned {show(got)}, expected None."
        return simple(kinds.WRONG, message, hint=_next_step(shown))
    message = f"{shown} returned the {names[0]} {show(got)}, expected a value of type {names[1]}."
    hint = ""
    if names[0] in ITERATORS and isinstance(want, (list, tuple)):
        hint = f"A {names[0]} only promises its items: `{names[1]}(...)` collects them."
    return simple(kinds.WRONG_TYPE, message, hint=hint)


def _syntax_error(error: SyntaxError, source: str) -> Verdict:
    line = error.lineno or 1
    excerpt = source_excerpt(source, [line], around=0)
    if excerpt and error.offset:
        excerpt += "\n" + " " * (len("->   1 | ") + error.offset - 1) + "^"
    hint = ""
    if "__global__" in source:
        hint = "This exercise is answered in Python, and the cell looks like CUDA C++."
    return simple(kinds.SYNTAX_ERROR, f"line {line}: {error.msg}.", hint=hint, excerpt=excerpt)
