"""Division rounded up, as kernels' grids need it."""

import numpy as np
import pytest

from course_utils import ceil_div


def test_it_rounds_up_what_is_left_over():
    assert [ceil_div(n, 256) for n in (0, 1, 255, 256, 257, 1000)] == [0, 1, 1, 1, 2, 4]
    assert ceil_div(-257, 256) == -1
    assert ceil_div(10**30 + 1, 10) == 10**29 + 1


@pytest.mark.parametrize("dtype", (np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64))
def test_arrays_and_their_elements_keep_their_type_and_do_not_overflow(dtype):
    most = np.iinfo(dtype).max
    n, k = np.array([0, 1, most - 1, most], dtype), dtype(4)
    found = ceil_div(n, k)
    assert found.dtype == dtype
    assert found.tolist() == [-(-int(each) // 4) for each in n]
    assert ceil_div(dtype(9), k) == 3 and ceil_div(dtype(9), 4) == 3


def test_shapes_broadcast():
    assert ceil_div(np.array([[10], [20]]), np.array([3, 4])).tolist() == [[4, 3], [7, 5]]
