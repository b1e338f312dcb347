"""The kernel of 08.review_the_loader has the faults that its spec names: one repaired line each."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course_utils import cp, load, sanitize, tensor_map
from course_utils.exercises.authoring.registry import find

COUNTED = re.compile(r"^ ?\d+(?:  |$)", re.MULTILINE)
ROWS = 32
REPAIRED = {
    6: "if (threadIdx.x == 0) { mbarrier_init(shared_address(&full), 1); mbarriers_are_ready(); }",
    10: "mbarrier_expect(shared_address(&full), sizeof(tile));",
    13: "mbarrier_wait(shared_address(&full), box % 2);",
    14: "for (int row = 0; row < 8; ++row) sum += tile[row][threadIdx.x]; __syncthreads();",
}


def lines() -> dict[int, str]:
    """The page's kernel by the numbers of its lines."""
    text = find("08.review_the_loader").task.split("```")[1].removeprefix("text\n")
    return dict(enumerate(COUNTED.sub("", text).splitlines(), 1))


def run(*repaired: int) -> tuple[str, bool]:
    """What sanitize says with some lines repaired, and whether the sums are right."""
    source = "\n".join(REPAIRED[n] if n in repaired else line for n, line in lines().items())
    kernel = load(source=f'#include "ptx.cuh"\n#include "tma.cuh"\n{source}', device="emulator")
    x = np.arange(ROWS * 64, dtype=np.float32).reshape(ROWS, 64)
    matrix, y = cp.asarray(x), cp.zeros(64, np.float32)
    arguments = tensor_map(matrix, (8, 64)), y, ROWS
    report = sanitize(kernel, 1, 64, arguments)
    return str(report), not report.findings and np.array_equal(y.get(), x.sum(0))


@pytest.mark.parametrize("line", REPAIRED)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired the kernel is still wrong, or gets a report."""
    report, right = run(*(REPAIRED.keys() - {line}))
    assert not right, report


def test_no_other_line_has_a_fault() -> None:
    """With the four repaired it's right, and the report is clean."""
    report, right = run(*REPAIRED)
    assert right, report


def test_the_answer_names_the_lines() -> None:
    """The solution's lines are the ones that the repairs above replace."""
    found: dict[str, dict[int, str]] = {}
    exec(find("08.review_the_loader").solution + "\nanswer = review_the_loader()", found)
    assert found["answer"].keys() == REPAIRED.keys()
