"""What was found in a launch, once for each place, with a count of the rest."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from .report import Finding


class FindingLog:
    """Keeps the first finding of each kind at each place, which its ``key`` says."""

    def __init__(self):
        self._found: dict[Hashable, Finding] = {}

    def add(self, key: Hashable, finding: Finding) -> None:
        if not self.again(key):
            self._found[key] = finding

    def again(self, key: Hashable, times: int = 1) -> bool:
        """Whether there is a finding like it already, which has then been met so often more."""
        found = self._found.get(key)
        if found is not None:
            self._found[key] = replace(found, repeats=found.repeats + times)
        return found is not None

    def collected(self) -> list[Finding]:
        return list(self._found.values())
