"""The operation that first makes a NaN or an infinity of numbers is found."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, Options

SOURCE = r"""
extern "C" __global__ void f(const float* x, float* y, int which) {
    int i = threadIdx.x;
    float a = x[i], b = a;
    if (which == 0) b = sqrtf(a);
    else if (which == 1) b = (a + 1) / (a + 1);
    else if (which == 2) b = a / (a + 1);
    else if (which == 3) b = expf(-100 * a);
    else if (which == 4) b = 2 * a + 1;
    else if (which == 5) b = (float)((double)a / (a + 1)) - a / (a + 1);
    y[i] = b;
}
"""


@pytest.fixture(scope="module")
def entry():
    return EmulatedModule(compile_ptx(SOURCE, filename="kernel.cu")).entry("f")


def made(entry, x, which, first_nan):
    x, y = np.array(x, np.float32), np.zeros(len(x), np.float32)
    options = Options(first_nan=first_nan)
    return entry.launch((1,), (len(x),), [x, y, np.int32(which)], options=options).made


@pytest.mark.parametrize(
    ("which", "first_nan", "operation", "line"),
    [
        (0, "nan", "the square root of -1", 5),
        (1, "nan", "0 / 0", 6),
        (2, "inf", "-1 / 0", 7),
        (3, "inf", "", 8),
        (5, "nan", "-inf - -inf", 10),
    ],
)
def test_the_operation_its_line_and_its_thread_are_told(entry, which, first_nan, operation, line):
    found = made(entry, [1, 2, -1, 4], which, first_nan)
    assert operation in found.operation
    assert (found.location.line, found.thread, found.block) == (line, (2, 0, 0), (0, 0, 0))


@pytest.mark.parametrize("first_nan", ["nan", "inf"])
def test_a_nan_or_an_infinity_that_was_loaded_was_made_by_no_operation(entry, first_nan):
    for which in (0, 1, 2, 4):
        assert made(entry, [np.nan, 1, 2], which, first_nan) is None
    assert made(entry, [np.inf, 1], 4, first_nan) is None


def test_there_are_two_kinds_to_look_for():
    with pytest.raises(ValueError, match='"nan" or "inf"'):
        Options(first_nan="null")
