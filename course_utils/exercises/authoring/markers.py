"""One file, two texts: the starter a student gets and the solution, cut from the same source.

A solution file marks each place the student has to fill::

    // TODO: say what to do here; more comment lines may follow
    // STARTER                   (optional: lines that only the starter has, after a bar)
    //| int i = 0;
    // SOLUTION
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // END

The starter keeps the TODO comment and the STARTER lines; the solution keeps the SOLUTION lines.
Where the student has to find a bug, a comment would give it away. Such a place begins with BUG in
place of the TODO, and the lines with a bar follow at once. Python files use ``#`` in place of
``//``.
"""

from __future__ import annotations

from dataclasses import dataclass


class MarkerError(ValueError):
    """A solution file whose markers do not pair up."""


@dataclass(frozen=True)
class _CutSource:
    starter: str
    solution: str


def starter_of(text: str, filename: str = "solution") -> str:
    """The text a student starts from."""
    return _split(text, filename).starter


def solution_of(text: str, filename: str = "solution") -> str:
    """The finished text, without markers."""
    return _split(text, filename).solution


def _split(text: str, filename: str) -> _CutSource:
    """Both texts. Raises MarkerError, naming the line, for markers that do not pair up."""
    starter: list[str] = []
    solution: list[str] = []
    state = "both"
    regions = 0
    for number, line in enumerate(text.splitlines(), 1):
        marker = _marker(line)
        if marker == "TODO":
            _expect(state == "both", filename, number, "TODO inside another region")
            state = "todo"
            regions += 1
            starter.append(line)
        elif marker == "BUG":
            _expect(state == "both", filename, number, "BUG inside another region")
            state = "starter"
            regions += 1
        elif marker == "STARTER":
            _expect(state == "todo", filename, number, "STARTER without a TODO before it")
            state = "starter"
        elif marker == "SOLUTION":
            _expect(state in ("todo", "starter"), filename, number, "SOLUTION without a TODO")
            state = "solution"
        elif marker == "END":
            _expect(state == "solution", filename, number, "END without a SOLUTION")
            state = "both"
        elif state == "starter":
            starter.append(_unbar(line, filename, number))
        elif state == "todo":
            _expect(_is_comment(line), filename, number, "code between TODO and SOLUTION")
            starter.append(line)
        elif state == "solution":
            solution.append(line)
        else:
            starter.append(line)
            solution.append(line)
    _expect(state == "both", filename, len(text.splitlines()), "the last region has no END")
    _expect(
        regions > 0, filename, 1, "no TODO and no BUG region: the starter would be the solution"
    )
    return _CutSource("\n".join(starter) + "\n", "\n".join(solution) + "\n")


def _marker(line: str) -> str:
    words = line.strip()
    for prefix in ("//", "#"):
        if words.startswith(prefix):
            words = words.removeprefix(prefix).strip()
            if words.startswith("TODO:"):
                return "TODO"
            if words in ("STARTER", "SOLUTION", "END", "BUG"):
                return words
    return ""


def _is_comment(line: str) -> bool:
    return line.strip().startswith(("//", "#"))


def _unbar(line: str, filename: str, number: int) -> str:
    indent = line[: len(line) - len(line.lstrip())]
    for prefix in ("//|", "#|"):
        if line.strip().startswith(prefix):
            code = line.strip().removeprefix(prefix).removeprefix(" ")
            return (indent + code).rstrip()
    raise MarkerError(f"{filename}:{number}: a STARTER line begins with //| (or #| in Python)")


def _expect(condition: bool, filename: str, number: int, problem: str) -> None:
    if not condition:
        raise MarkerError(f"{filename}:{number}: {problem}")
