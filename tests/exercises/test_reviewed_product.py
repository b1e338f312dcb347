"""The kernel of 06.review_product has the faults that its answer names: one repaired line each."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.exercises.authoring.registry import find

COUNTED = re.compile(r"^ ?\d+(?:  |$)", re.MULTILINE)
M, N, K = 33, 40, 70
REPAIRS = {
    7: (
        ("    if (row >= m || column >= n) return;\n", ""),
        ("first + x < k", "row < m && first + x < k"),
    ),
    11: (("first + y < n ?", "first + y < k && column < n ?"),),
    13: (("b[j][x];", "b[j][x]; __syncthreads();"),),
    15: (("C[row * m + column] = sum;", "if (row < m && column < n) C[row * n + column] = sum;"),),
}


def run(*repaired: int) -> tuple[str, bool]:
    """What sanitize says with some lines repaired, and whether the product is right."""
    source = COUNTED.sub("", find("06.review_product").task.split("```")[1].removeprefix("text\n"))
    for line in repaired:
        for old, new in REPAIRS[line]:
            assert source.count(old) == 1
            source = source.replace(old, new)
    rng = np.random.default_rng(1)
    a, b = (cp.asarray(rng.integers(-4, 5, shape), dtype=np.float32) for shape in ((M, K), (K, N)))
    c = cp.zeros((M, N), np.float32)
    kernel = load(source=source, device="emulator")
    report = sanitize(kernel, (2, 2), (32, 32), (a, b, c, M, N, K))
    return str(report), not report.findings and np.array_equal(c.get(), a.get() @ b.get())


def test_with_all_four_repaired_the_product_is_right() -> None:
    report, right = run(*REPAIRS)
    assert right, report


@pytest.mark.parametrize("line", REPAIRS)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired the product is wrong, or sanitize finds the fault."""
    assert not run(*(REPAIRS.keys() - {line}))[1]


def test_the_lines_are_those_of_the_answer() -> None:
    lines = find("06.review_product").task.splitlines()
    for number, ((old, _), *_) in REPAIRS.items():
        assert old.strip() in next(line for line in lines if re.match(rf" ?{number}  ", line))
    found: dict[str, dict[int, str]] = {}
    exec(find("06.review_product").solution + "\nanswer = review_product()", found)
    assert found["answer"].keys() == REPAIRS.keys()
