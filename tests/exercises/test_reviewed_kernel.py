"""The kernel of 04.review_the_count has the faults that its spec names: one repaired line each."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.exercises.authoring.registry import find

COUNTED = re.compile(r"^ ?\d+(?:  |$)", re.MULTILINE)
REPAIRS = {
    6: ("    if (i >= n) return;\n", ""),
    7: ("mine = 0;", "mine = 0;\n    __syncthreads();"),
    10: ("count[0] += mine", "atomicAdd(count, mine)"),
}
GUARD = ("if (x[i] >", "if (i < n && x[i] >")  # goes with the repair of line 6
REPORTS = {6: "Barrier misuse", 7: "Data race", 10: "Data race"}


def findings(*repaired: int) -> str:
    """What sanitize says of the kernel, with some of its lines repaired."""
    source = COUNTED.sub(
        "", find("04.review_the_count").task.split("```")[1].removeprefix("text\n")
    )
    for old, new in (*(REPAIRS[line] for line in repaired), *((GUARD,) if 6 in repaired else ())):
        assert source.count(old) == 1
        source = source.replace(old, new)
    arrays = cp.ones(300, np.float32), cp.zeros(1, np.int32), 300
    return str(sanitize(load(source=source), (2,), (256,), arrays))


@pytest.mark.parametrize("line", REPAIRS)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired it gets the report of its kind."""
    assert REPORTS[line] in findings(*(REPAIRS.keys() - {line}))


def test_no_other_line_has_a_fault() -> None:
    """With the three repaired the report is clean."""
    assert "Data race" not in findings(*REPAIRS) and "misuse" not in findings(*REPAIRS)


def test_the_lines_are_those_of_the_spec() -> None:
    """The page numbers the lines, and the answer names the same."""
    lines = find("04.review_the_count").task.splitlines()
    for number, (old, _) in REPAIRS.items():
        line = next(line for line in lines if re.match(rf" ?{number}  ", line))
        assert old.strip() in line
    answer: dict[str, dict[int, str]] = {}
    exec(find("04.review_the_count").solution + "\nanswer = review_the_count()", answer)
    assert answer["answer"].keys() == REPAIRS.keys()
