"""The kernel of 04.review_the_count has the faults that its spec names: one repaired line each."""

from __future__ import annotations

import numpy as np
import pytest
from repairs import Reviewed

from course_utils import cp, load, sanitize

KERNEL = Reviewed(
    "04.review_the_count",
    {
        6: (("    if (i >= n) return;\n", ""), ("if (x[i] >", "if (i < n && x[i] >")),
        7: (("mine = 0;", "mine = 0;\n    __syncthreads();"),),
        10: (("count[0] += mine", "atomicAdd(count, mine)"),),
    },
)
REPORTS = {6: "Barrier misuse", 7: "Data race", 10: "Data race"}


def findings(source: str) -> str:
    """What sanitize says of the kernel."""
    arrays = cp.ones(300, np.float32), cp.zeros(1, np.int32), 300
    return str(sanitize(load(source=source), (2,), (256,), arrays))


@pytest.mark.parametrize("line", KERNEL.repairs)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired it gets the report of its kind."""
    assert REPORTS[line] in findings(KERNEL.all_but(line))


def test_no_other_line_has_a_fault() -> None:
    """With the three repaired the report is clean."""
    report = findings(KERNEL.all_repaired())
    assert "Data race" not in report and "misuse" not in report


def test_the_lines_are_those_of_the_spec() -> None:
    assert KERNEL.names_its_lines()
