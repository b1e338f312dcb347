"""Programs under review, with some of their faults repaired: each fault is to be one by itself."""

from __future__ import annotations

import re
from dataclasses import dataclass

from course_utils.exercises.authoring.registry import find

COUNTED = re.compile(r"^ ?\d+(?:  |$)", re.MULTILINE)  # the number that the page gives a line
Repair = tuple[tuple[str, str], ...]  # pieces of the text, each with what takes its place


@dataclass(frozen=True)
class Reviewed:
    """The program on the page of exercise ``id``, with a repair for each line that has a fault."""

    id: str
    repairs: dict[int, Repair]

    @property
    def lines(self) -> dict[int, str]:
        """The lines of the program by their numbers on the page."""
        text = find(self.id).task.split("```")[1].removeprefix("text\n")
        return dict(enumerate(COUNTED.sub("", text).splitlines(), 1))

    def repaired(self, *lines: int) -> str:
        """The program with these lines repaired."""
        source = "\n".join(self.lines.values())
        for old, new in (pair for line in lines for pair in self.repairs[line]):
            assert source.count(old) == 1, old
            source = source.replace(old, new)
        return source

    def all_repaired(self) -> str:
        return self.repaired(*self.repairs)

    def all_but(self, line: int) -> str:
        """The program with the fault of this line alone."""
        return self.repaired(*(self.repairs.keys() - {line}))

    def names_its_lines(self) -> bool:
        """Whether the solution names the lines that have repairs, and each repair begins there."""
        lines = self.lines
        begin = all(repair[0][0].strip() in lines[n] for n, repair in self.repairs.items())
        return begin and answer_of(self.id).keys() == self.repairs.keys()


def answer_of(id: str) -> dict:
    """What the solution of a Python exercise without arguments returns."""
    exercise = find(id)
    names: dict = {}
    exec(exercise.solution, names)
    return names[exercise.function]()
