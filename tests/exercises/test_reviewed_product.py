"""The kernel of 06.review_product has the faults that its answer names: one repaired line each."""

from __future__ import annotations

import numpy as np
import pytest
from repairs import Reviewed

from course_utils import cp, load, sanitize

M, N, K = 33, 40, 70
KERNEL = Reviewed(
    "06.review_product",
    {
        7: (
            ("    if (row >= m || column >= n) return;\n", ""),
            ("first + x < k", "row < m && first + x < k"),
        ),
        11: (("first + y < n ?", "first + y < k && column < n ?"),),
        13: (("b[j][x];", "b[j][x]; __syncthreads();"),),
        15: (
            ("C[row * m + column] = sum;", "if (row < m && column < n) C[row * n + column] = sum;"),
        ),
    },
)


def run(source: str) -> tuple[str, bool]:
    """What sanitize says of the kernel, and whether the product is right."""
    rng = np.random.default_rng(1)
    a, b = (cp.asarray(rng.integers(-4, 5, shape), dtype=np.float32) for shape in ((M, K), (K, N)))
    c = cp.zeros((M, N), np.float32)
    kernel = load(source=source, device="emulator")
    report = sanitize(kernel, (2, 2), (32, 32), (a, b, c, M, N, K))
    return str(report), not report.findings and np.array_equal(c.get(), a.get() @ b.get())


def test_with_all_four_repaired_the_product_is_right() -> None:
    report, right = run(KERNEL.all_repaired())
    assert right, report


@pytest.mark.parametrize("line", KERNEL.repairs)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired the product is wrong, or sanitize finds the fault."""
    assert not run(KERNEL.all_but(line))[1]


def test_the_lines_are_those_of_the_answer() -> None:
    assert KERNEL.names_its_lines()
