"""What was found in a launch, once for each place, with a count of the rest."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

from .report import ERROR, WARNING, Finding


class FindingLog:
    """Keeps the first finding of each kind at each place, which its ``key`` says.

    ``unchanged``: writes after another thread's read, ordered by nothing, that stored the value
    that was there. They aren't findings.
    """

    def __init__(self) -> None:
        self.unchanged = 0
        self._found: dict[Hashable, Finding] = {}
        self._notes: dict[Hashable, str] = {}

    def add(self, key: Hashable, finding: Finding, note: str = "") -> None:
        """``note``: the last lines of a warning, which go when it turns out to be an error."""
        if not self.again(key):
            self._found[key] = finding
            self._notes[key] = note

    def again(self, key: Hashable, times: int = 1) -> bool:
        """Whether there is a finding like it already, which has then been met so often more."""
        found = self._found.get(key)
        if found is not None:
            self._found[key] = replace(found, repeats=found.repeats + times)
        return found is not None

    def warns(self, key: Hashable) -> bool:
        """Whether there is a finding like it, of the level WARNING."""
        return key in self._found and self._found[key].level == WARNING

    def is_error(self, key: Hashable) -> None:
        """A finding that was a warning so far is an error."""
        self._found[key] = replace(self._found[key], level=ERROR)

    def collected(self) -> list[Finding]:
        """The findings so far, in the order in which they were first met."""
        return [self._whole(key) for key in self._found]

    def _whole(self, key: Hashable) -> Finding:
        found, note = self._found[key], self._notes[key]
        if found.level == ERROR or not note:
            return found
        return replace(found, message=f"{found.message}\n  {note}")
