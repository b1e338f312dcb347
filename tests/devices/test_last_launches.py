"""A failing check names the kernel that wrote the array."""

from types import SimpleNamespace

import numpy as np
import pytest

from course_utils.checking import check
from course_utils.checking.error_kinds import NEXT_STEP, Slip
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.emulated_kernels import RawModule
from course_utils.devices.last_launches import Launched, last_launch_on, remember
from course_utils.devices.selection import EMULATOR
from course_utils.emulator import KernelFault
from course_utils.launching.modules import load

SOURCE = """
extern "C" __global__ void fill(const float *x, float *y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1;
}
"""
RIGHT = np.arange(8, dtype=np.float32) * 2 + 5


@pytest.fixture(scope="module")
def kernels():
    raw = RawModule(code=SOURCE).get_function("fill")
    return {"load": load(source=SOURCE, device=EMULATOR).fill, "raw": raw}


@pytest.mark.parametrize("route", ["load", "raw"])
def test_a_failing_check_names_the_call_that_examines_the_last_kernel(kernels, route):
    x, y = cp.arange(8, dtype=cp.float32), cp.empty(8, cp.float32)
    kernels[route]((2,), (4,), (x, y, np.int32(8)))
    for array in (y, y[2:], y.reshape(2, 4)):
        right = np.resize(RIGHT, array.shape)
        assert "sanitize(fill, 2, 4, args)" in check(array, right, raising=False).hint
    assert "sanitize" not in check(x, RIGHT, raising=False).hint  # const: an input
    assert "sanitize" not in check(cp.zeros(8, cp.float32), RIGHT, raising=False).hint
    assert "sanitize" not in check(2 * y, 4 * y, raising=False).hint  # scaled: no race does that


@pytest.mark.parametrize("route", ["load", "raw"])
def test_after_a_launch_that_a_fault_ended_the_fault_comes_first(kernels, route):
    x, y = cp.arange(8, dtype=cp.float32), cp.zeros(8, cp.float32)
    with pytest.raises(KernelFault):
        kernels[route]((2,), (8,), (x, y, np.int32(9)))
    verdict = check(y, RIGHT, raising=False)
    assert "fault" in verdict.hint and "sanitize(fill, 2, 8, args)" in verdict.hint
    assert NEXT_STEP[verdict.kind] not in verdict.hint
    y[:] = x + cp.arange(8) % 3  # computed anew
    assert "fault" not in check(y, RIGHT, raising=False).hint
    kernels[route]((1,), (4,), (x, y, np.int32(8)))
    assert "fault" not in check(y, RIGHT, raising=False).hint


def test_a_shape_is_written_as_short_as_it_can_be():
    y = cp.zeros(8, cp.float32)
    remember(Launched("k", (2, 3, 1), (32, 1, 1)), (y, 5))
    assert last_launch_on(y).as_sanitized == "sanitize(k, (2, 3), 32, args)"


@pytest.mark.parametrize("route", ["load", "raw"])
def test_a_launch_on_a_view_that_no_name_holds_is_remembered(kernels, route):
    x, y = cp.arange(8, dtype=cp.float32), cp.empty(8, cp.float32)
    kernels[route]((2,), (4,), (x, y[0:][:], np.int32(8)), shared_mem=64)
    assert last_launch_on(y).as_sanitized == "sanitize(fill, 2, 4, args, shared_mem=64)"


def test_arrays_of_a_gpu_are_known_by_their_addresses_until_they_are_freed():
    class OnGpu(SimpleNamespace):
        __cuda_array_interface__ = {}  # noqa: RUF012

    whole, part, other = (
        OnGpu(data=SimpleNamespace(ptr=start), nbytes=size)
        for start, size in ((4096, 400), (4200, 40), (4496, 400))
    )
    remember(Launched("k", (1,), (32,)), (whole,))
    assert last_launch_on(part).kernel == "k" and last_launch_on(other) is None
    del whole
    assert last_launch_on(part) is None


def test_the_arrays_of_the_last_launch_are_evidence_while_they_give_the_expected_result():
    numbers = np.random.default_rng(3).standard_normal((2, 6, 6))
    a, b, c = (cp.asarray(each) for each in (*numbers, numbers[0].T @ numbers[1]))
    remember(Launched("mm", (1,), (36,)), (a, b, c, 6))
    right = numbers[0] @ numbers[1]
    verdict = check(c, right, raising=False)
    assert verdict.slip is Slip.OPERAND_LAYOUT and "argument 1 is read by columns" in str(verdict)
    a[...] = 0
    assert check(c, right, raising=False).slip is None


def test_a_right_result_that_an_earlier_version_left_is_told(kernels, capsys):
    skips = RawModule(code=SOURCE.replace("threadIdx.x;", "threadIdx.x + 2;"))
    x, y = cp.arange(8, dtype=cp.float32), cp.empty(8, cp.float32)
    right = np.arange(8, dtype=np.float32) + 1
    for kernel, warns in (
        (kernels["raw"], False),
        (kernels["raw"], False),  # the same code again
        (skips.get_function("fill"), True),
    ):
        kernel((2,), (4,), (x, y, np.int32(8)))
        check(y, right)
        assert ("fill changed nothing in output" in capsys.readouterr().err) == warns
    y[...] = 0
    kernels["raw"]((2,), (4,), (x, y, np.int32(8)))
    check(y, right)
    assert not capsys.readouterr().err
