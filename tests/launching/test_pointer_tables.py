"""Addresses of arrays, for a parameter that is a pointer to pointers."""

import numpy as np
import pytest

from course_utils import cp, load, pointers
from course_utils.devices.limits import LaunchError
from course_utils.launching.arguments import carry_over

SUM = """extern "C" __global__ void sum_of(const float *const *rows, float *y, int count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int row = 0; row < count; ++row) sum += rows[row][i];
    y[i] = sum;
}"""


@pytest.mark.parametrize("whole", (False, True))
def test_a_kernel_finds_every_array_of_a_table(whole):
    x = np.arange(21, dtype=np.float32).reshape(3, 7)
    rows = cp.asarray(x) if whole else [cp.asarray(row) for row in x]
    y = cp.zeros(7, cp.float32)
    load(source=SUM)(1, 32, (pointers(rows), y, 3, 7))
    assert np.array_equal(y.get(), x.sum(0))


def test_a_table_of_an_array_that_is_an_argument_too_is_one_of_its_copy():
    rows = cp.ones((2, 5), cp.float32)
    (table, array), _ = carry_over((pointers(rows), rows))
    assert table.arrays is array


@pytest.mark.parametrize(
    "given, told",
    [
        (np.ones((3, 7), np.float32), "holds float32"),
        (np.ones((3, 7), np.int32), "holds int32"),
        ([1, 2, 3], r"pointers\(\[\.\.\.\]\)"),
    ],
)
def test_what_is_no_table_of_addresses_is_refused(given, told):
    table = given if isinstance(given, list) else cp.asarray(given)
    with pytest.raises(LaunchError, match=rf"argument 1 .*rows.* a table of addresses.*{told}"):
        load(source=SUM)(1, 32, (table, cp.zeros(7, cp.float32), 3, 7))


def test_an_array_of_addresses_is_a_table():
    x = cp.asarray(np.arange(21, dtype=np.float32).reshape(3, 7))
    table = cp.asarray(np.array([row.data.ptr for row in x], np.uint64))
    y = cp.zeros(7, cp.float32)
    load(source=SUM)(1, 32, (table, y, 3, 7))
    assert np.array_equal(y.get(), x.get().sum(0))
