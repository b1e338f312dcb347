"""The kernel of 07.review_quantiser has the faults that its spec names: one repaired line each."""

from __future__ import annotations

import numpy as np
import pytest
from repairs import Reviewed

from course_utils import cp, load, sanitize

KERNEL = Reviewed(
    "07.review_quantiser",
    {
        7: (("= mine;", "= mine;\n    __syncthreads();"),),
        9: (
            (
                "        if (threadIdx.x >= half) break;\n        ",
                "        if (threadIdx.x < half) ",
            ),
        ),
        13: (("128.0f", "127.0f"),),
        16: (("x[start + i] / step", "rintf(x[start + i] / step)"),),
    },
)
REPORTS = {7: "Data race", 9: "Barrier misuse"}


def quantised(source: str) -> tuple[np.ndarray, np.ndarray]:
    """The codes and the scale of a row with the largest number positive, and 300 columns."""
    x = np.linspace(-0.9, 1, 300, dtype=np.float32)[None]
    q, scale = cp.zeros(300, np.int8), cp.zeros(1, np.float32)
    load(source=source)((1,), (256,), (cp.asarray(x), q, scale, 300))
    return x[0] / scale.get()[0], q.get()


@pytest.mark.parametrize("line", REPORTS)
def test_each_fault_of_threads_is_one(line: int) -> None:
    """With all others repaired it gets the report of its kind."""
    arrays = cp.ones(300, np.float32), cp.zeros(300, np.int8), cp.zeros(1, np.float32), 300
    kernel = load(source=KERNEL.all_but(line))
    assert REPORTS[line] in str(sanitize(kernel, (1,), (256,), arrays))


def test_each_fault_of_numbers_is_one() -> None:
    """With all others repaired the largest number wraps, or an error is larger than half a step."""
    steps, codes = quantised(KERNEL.all_but(13))
    assert codes[-1] != 127 and abs(steps[-1] - codes[-1]) > 1
    steps, codes = quantised(KERNEL.all_but(16))
    assert np.abs(steps - codes).max() > 0.9


def test_without_faults_it_is_right() -> None:
    arrays = cp.ones(300, np.float32), cp.zeros(300, np.int8), cp.zeros(1, np.float32), 300
    assert not sanitize(load(source=KERNEL.all_repaired()), (1,), (256,), arrays).findings
    steps, codes = quantised(KERNEL.all_repaired())
    assert np.abs(steps - codes).max() <= 0.5001


def test_the_lines_are_those_of_the_answer() -> None:
    assert KERNEL.names_its_lines()
