"""Cases whose right answer no verdict may show: of exercises that ask for a choice, or for inputs
that show a mistake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


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
