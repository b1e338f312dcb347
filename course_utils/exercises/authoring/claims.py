"""Cases whose right answer no verdict may show: of exercises that ask for a choice, for inputs
that show a mistake, or for the sense of a report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ...checking.tolerance import Tolerance
from ...errors import LessonError
from ..isolation.closed_book import run_in_clean_frame
from .spec import PythonExercise

AGREES = "as the report has it"
NEAR = Tolerance(rtol=0.01, atol=0.0)  # of a number that is read from a report


@dataclass
class Claim:
    """A case: ``name`` is the answer's subject. ``said`` is the next step for an answer that is
    wrong, which the exercise's ``call`` notes."""

    name: str
    said: str = ""

    def __repr__(self) -> str:
        return repr(self.name)

    def refuse(self, answer: Any, said: str) -> str:
        """The answer as a verdict quotes it, once ``said`` is noted."""
        self.said = said
        return answer if isinstance(answer, str) else repr(answer)

    @staticmethod
    def advice(claim: Claim) -> str:
        """The ``method`` of an exercise whose cases are claims."""
        return claim.said


def read_report(
    subjects: Iterable[str],
    behind: Callable[[str], tuple[str, float]],
    names: Collection[str],
    example: str,
    other_name: str,
    other_number: str,
    function: str = "",
) -> PythonExercise:
    """The exercise to read a report: the function gets each of ``subjects`` and returns one of
    ``names`` and the number that proves it, as ``behind`` has them.

    ``example`` is such an answer. ``other_name`` and ``other_number`` are the next step for an
    answer with another name, and for one with the right name and another number.
    """

    def defended(answered: Callable[[str], Any], claim: Claim) -> str:
        found = answered(claim.name)
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            return claim.refuse(found, f"Return a name and its number, such as `{example}`.")
        name, number = found
        if not isinstance(name, str) or not isinstance(number, Real) or isinstance(number, bool):
            return claim.refuse(found, f"Return a name and its number, such as `{example}`.")
        right, proof = behind(claim.name)
        if name not in names:
            return claim.refuse(found, "Take one of the names, as the docstring spells them.")
        if name != right:
            return claim.refuse(found, other_name)
        if not NEAR.close(np.float64(number), np.float64(proof)):
            return claim.refuse(found, other_number)
        return AGREES

    return PythonExercise(
        function=function,
        cases=tuple((Claim(subject),) for subject in subjects),
        reference=lambda claim: AGREES,
        call=defended,
        method=Claim.advice,
        contract="The report is given, with all that is asked about it.",
    )


def choose_and_defend(
    choices: Mapping[int, tuple[str, str]],
    example: str,
    start: str,
    contract: str,
    function: str = "",
) -> PythonExercise:
    """The exercise to return ``choices``: by its number the right choice, and the fact that decides
    it. A verdict says of each if it's right. ``example`` is a dictionary of the right form, and
    ``start`` says where to begin."""

    def defended(answer: Callable[[], Any]) -> tuple[str, ...] | None:
        found = run_in_clean_frame(answer)
        if found is None:
            return None
        if type(found) is not dict or any(type(number) is not int for number in found):
            raise LessonError(f"return a dictionary such as {example}")
        return tuple(f"{k}: {_said_of(found.get(k), right)}" for k, right in choices.items())

    return PythonExercise(
        function=function,
        cases=((),),
        reference=lambda: tuple(f"{number}: right" for number in choices),
        call=defended,
        start=start,
        contract=contract,
    )


def _said_of(entry: Any, right: tuple[str, str]) -> str:
    """Whether an ``entry`` of :func:`choose_and_defend` is right, and which part of it is."""
    if type(entry) is not tuple or [type(x) for x in entry] != [str, str]:
        return "no pair of a choice and a fact yet"
    if entry == right:
        return "right"
    if entry[0] == right[0]:
        return "choice right, fact not"
    if entry[1] == right[1]:
        return "fact right, choice not"
    return "not yet"
