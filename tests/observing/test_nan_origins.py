"""A clean report names the operation that made the first NaN of the results."""

import numpy as np
import pytest

from course_utils.devices import emulated_cupy as cp
from course_utils.devices.selection import EMULATOR
from course_utils.launching.modules import load
from course_utils.observing.sanitizing import sanitize

SOURCE = """
extern "C" __global__ void f(const float* x, float* y, int n) {
    int i = threadIdx.x;
    if (i < n)
        y[i] = x[i] / (x[i] - 1);
}
"""


@pytest.fixture(scope="module")
def kernel():
    return load(source=SOURCE, device=EMULATOR).f


def report_of(kernel, numbers, size=None):
    x, y = cp.array(numbers, cp.float32), cp.empty(size or len(numbers), cp.float32)
    report = sanitize(kernel, 1, 32, (x, y, np.int32(len(numbers))))
    return report, y.get()


def test_the_operation_and_its_line_are_in_the_report(kernel):
    report, y = report_of(kernel, [3, 1, 2])
    assert report.clean and "1 / 0" in report.first_nan and "kernel.cu:5" in report.first_nan
    assert "first infinity" in str(report) and "y[i] = x[i] / (x[i] - 1)" in str(report)
    assert np.array_equal(y, np.float32([1.5, np.inf, 2]))
    report, _ = report_of(kernel, [3, np.inf])
    assert "first NaN" in str(report) and "inf / inf" in report.first_nan


def test_a_nan_of_the_input_and_unwritten_elements_are_not_told(kernel):
    assert report_of(kernel, [3, np.nan])[0].first_nan == ""
    assert report_of(kernel, [3, 2], size=5)[0].first_nan == ""
