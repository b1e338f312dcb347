"""The kernel of 08.review_the_loader has the faults that its spec names: one repaired line each."""

from __future__ import annotations

import numpy as np
import pytest
from repairs import Reviewed

from course_utils import cp, load, sanitize, tensor_map

ROWS = 32
INIT, WAIT = "mbarrier_init(shared_address(&full), 1);", "mbarrier_wait(shared_address(&full), "
ADD = "sum += tile[row][threadIdx.x];"
KERNEL = Reviewed(
    "08.review_the_loader",
    {
        6: ((INIT, f"{{ {INIT} mbarriers_are_ready(); }}"),),
        10: (("8 * 64)", "sizeof(tile))"),),
        13: ((f"{WAIT}0)", f"{WAIT}box % 2)"),),
        14: ((ADD, f"{ADD} __syncthreads();"),),
    },
)


def run(source: str) -> tuple[str, bool]:
    """What sanitize says of the kernel, and whether the sums are right."""
    kernel = load(source=f'#include "ptx.cuh"\n#include "tma.cuh"\n{source}', device="emulator")
    x = np.arange(ROWS * 64, dtype=np.float32).reshape(ROWS, 64)
    matrix, y = cp.asarray(x), cp.zeros(64, np.float32)
    report = sanitize(kernel, 1, 64, (tensor_map(matrix, (8, 64)), y, ROWS))
    return str(report), not report.findings and np.array_equal(y.get(), x.sum(0))


@pytest.mark.parametrize("line", KERNEL.repairs)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired the kernel is still wrong, or gets a report."""
    report, right = run(KERNEL.all_but(line))
    assert not right, report


def test_no_other_line_has_a_fault() -> None:
    """With the four repaired it's right, and the report is clean."""
    report, right = run(KERNEL.all_repaired())
    assert right, report


def test_the_answer_names_the_lines() -> None:
    assert KERNEL.names_its_lines()
