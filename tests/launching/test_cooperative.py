"""Launches of a whole grid at once, and shared memory that a kernel has to ask for."""

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.devices.selection import ON_GPU
from course_utils.emulator import Cause
from course_utils.errors import LessonError

pytestmark = pytest.mark.skipif(ON_GPU, reason="a fault would end this process's use of the GPU")
SYNCHRONISED = r"""
#include <cooperative_groups.h>
extern "C" __global__ void reverse(int *box, int *out)
{
    const auto grid = cooperative_groups::this_grid();
    box[grid.thread_rank()] = grid.thread_rank();
    grid.sync();
    out[grid.thread_rank()] = box[grid.size() - 1 - grid.thread_rank()];
}
"""
TILE = r"""
extern "C" __global__ void last(int *out, int n)
{
    extern __shared__ int tile[];
    tile[n - 1] = n;
    out[0] = tile[n - 1];
}
"""


@pytest.fixture(scope="module")
def together():
    return load(source=SYNCHRONISED, cooperative=True)


def arrays(n):
    return cp.zeros(n, cp.int32), cp.zeros(n, cp.int32)


def test_a_cooperative_grid_waits_for_all_its_blocks(together):
    box, out = arrays(256)
    together((4,), (64,), (box, out))
    assert (out.get() == np.arange(256)[::-1]).all()
    assert sanitize(together, (4,), (64,), (box, out)).clean


def test_a_cooperative_grid_that_is_not_resident_at_once_is_refused(together):
    fitting = 132 * 2  # blocks of 1024 threads
    with pytest.raises(LessonError, match=f"at most {fitting} blocks of 1,024 threads.*has 265"):
        together((fitting + 1,), (1024,), arrays((fitting + 1) * 1024))


def test_cupys_own_cooperative_launch_makes_the_grid_smaller_and_warns():
    kernel = cp.RawModule(code=SYNCHRONISED, enable_cooperative_groups=True).get_function("reverse")
    box, out = arrays(264 * 1024)
    with pytest.warns(UserWarning, match="reduced from 265 to 264"):
        kernel((265,), (1024,), (box, out))
    assert (out.get() == np.arange(264 * 1024)[::-1]).all()


def test_an_ordinary_launch_that_waits_for_its_grid_is_told_what_it_lacks():
    kernel = cp.RawModule(code=SYNCHRONISED).get_function("reverse")
    (found,) = sanitize(kernel, (4,), (64,), arrays(256)).findings
    assert found.cause == Cause.LAUNCH_NOT_COOPERATIVE
    for way in ("cooperative=True for load", "--cooperative", "enable_cooperative_groups=True"):
        assert way in found.message


def test_more_than_48_kb_of_shared_memory_has_to_be_asked_for():
    kernel = cp.RawKernel(TILE, "last")
    out, n = cp.zeros(1, cp.int32), 16 * 1024  # 64 KB
    with pytest.raises(LessonError, match="max_dynamic_shared_size_bytes = 65536"):
        kernel((1,), (1,), (out, np.int32(n)), shared_mem=4 * n)
    kernel.max_dynamic_shared_size_bytes = 4 * n
    kernel((1,), (1,), (out, np.int32(n)), shared_mem=4 * n)
    assert out.get()[0] == n
