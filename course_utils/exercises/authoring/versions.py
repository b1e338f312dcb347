"""Exercises that ask for a test: versions of one function, some right, each of the others with one
mistake. The student's test gets them one at a time and says which it accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..isolation.closed_book import run_in_clean_frame
from .domain import DrawnCases
from .spec import PythonExercise


@dataclass
class Version:
    """A function for the test, right or with the one mistake that ``text`` names. The test calls
    ``computes``, and ``calls`` counts how often."""

    text: str
    computes: Callable[..., Any]
    right: bool = False
    calls: int = 0

    def __repr__(self) -> str:
        return f"<{self.text}>"


def told_apart(
    versions: tuple[Version, ...],
    start: str,
    check: Callable[..., Any] = lambda *arguments, **named: None,
    function: str = "is_right",
    contract: str | DrawnCases = "The versions are given: a test is right if it accepts the right "
    "ones alone.",
) -> PythonExercise:
    """The exercise to write ``function``, a test that is True for the right ``versions`` alone.

    ``check`` gets the arguments of each call that the test makes and raises a ``LessonError`` for
    those that the contract of the versions doesn't allow. ``start`` says where to begin with a
    version that the test takes for another. ``contract`` may draw more versions.
    """

    def put_to_the_test(test: Callable[..., Any], version: Version) -> Any:
        computes, calls = version.computes, [0]

        def tested(*arguments: Any, **named: Any) -> Any:  # can't see the version: it knows
            check(*arguments, **named)
            calls[0] += 1
            with np.errstate(all="ignore"):
                return computes(*arguments, **named)

        try:
            return run_in_clean_frame(partial(test, tested))
        finally:
            version.calls = calls[0]

    return PythonExercise(
        function=function,
        cases=tuple((replace(version),) for version in versions),
        reference=lambda version: version.right,
        call=put_to_the_test,
        method=lambda version: (
            "" if version.calls else "Your test never called the function that it judges."
        ),
        start=start,
        contract=contract,
    )
