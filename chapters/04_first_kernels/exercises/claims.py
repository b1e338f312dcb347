"""Cases whose right answer no verdict may show: of exercises that ask for a choice, or for inputs
that show a mistake."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Claim:
    """A case: ``name`` is the answer's subject. ``said`` is the next step for an answer that is
    wrong, which the exercise's ``call`` notes. ``prepare(name)`` compiles what the case needs: no
    compiler may be started while an answer runs."""

    name: str
    said: str = ""
    prepare: Callable[[str], Any] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Claim:
        """The copy that an answer is tried on: each is made just before."""
        if self.prepare is not None:
            self.prepare(self.name)
        return Claim(self.name)

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
