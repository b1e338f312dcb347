"""Reports on kernels of other languages have the lines of their Python."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from course_utils import cp, emulated_triton, profile, sanitize, trace
from course_utils.devices.limits import LaunchError
from course_utils.emulator import DATA_RACE
from course_utils.launching import other_languages
from course_utils.launching.kernels import LaunchFault
from tests.emulator.other_languages import recorded
from tests.emulator.other_languages.cases import CASES

needs_triton = pytest.mark.skipif(not find_spec("triton"), reason="needs triton")


class CUDADispatcher:
    """Stands for a kernel of ``@cuda.jit`` where there is no Numba."""


CUDADispatcher.__module__ = "numba.cuda.dispatcher"


@pytest.fixture
def recorded_case(monkeypatch):
    """Lets Numba's compiler give what was recorded."""

    def use(name):
        case = CASES[name]
        arrays = case.made()

        def prepared(kernel, grid, block, args, shared):
            assert (grid, block, shared) == (case.grid, case.block, 0)
            return recorded.replayed(case, arrays)

        monkeypatch.setattr(other_languages.emulator, "prepared_numba", prepared)
        return case, arrays

    return use


def test_a_report_shows_the_line_of_the_python(recorded_case):
    case, _ = recorded_case("numba_no_barrier_90")
    report = sanitize(CUDADispatcher(), case.grid, case.block, case.args)
    assert {finding.kind for finding in report.findings} == {DATA_RACE}
    line = case.file.read_text().splitlines()[case.line() - 1]
    assert f"{case.line()} | {line}" in str(report)


def test_a_clean_kernel_is_not_compiled_again(recorded_case):
    case, arrays = recorded_case("numba_saxpy_90")
    assert sanitize(CUDADispatcher(), case.grid, case.block, case.args).clean
    assert arrays["o"].any()


def test_sectors_are_counted_by_the_line_of_the_python(recorded_case):
    case, _ = recorded_case("numba_saxpy_90")
    counted = profile(CUDADispatcher(), case.grid, case.block, case.args)
    source = case.file.read_text().splitlines()
    line = 1 + source.index("        y[i] = a * x[i] + y[i]")
    assert counted.access(line, store=True).array == "y" and counted.source.splitlines() == source


def test_a_trace_has_the_lines_of_the_python(recorded_case):
    case, _ = recorded_case("numba_saxpy_90")
    steps = trace(CUDADispatcher(), case.grid, case.block, case.args)
    assert steps.at(1 + case.file.read_text().splitlines().index("    if i < x.size:"))


def test_only_triton_kernels_take_constants(recorded_case):
    case, _ = recorded_case("numba_saxpy_90")
    with pytest.raises(LaunchError, match="BLOCK"):
        sanitize(CUDADispatcher(), case.grid, case.block, case.args, BLOCK=4)


def test_a_function_of_the_package_that_is_no_kernel_is_refused():
    class Function: ...

    Function.__module__ = "triton.runtime.other"
    with pytest.raises(LaunchError, match=r"Function isn't a kernel.*@triton\.jit"):
        sanitize(Function(), 1, None, ())


@pytest.mark.emulator
@needs_triton
def test_a_triton_kernel_with_the_courses_arrays():
    from tests.emulator.other_languages.triton_kernels import add, no_mask

    x, o = cp.arange(1000, dtype=cp.float32), cp.empty(1000, dtype=cp.float32)
    assert sanitize(add, (4,), None, (x, x, o, 1000), BLOCK=256, num_warps=2).clean
    assert (o == 2 * x).all()
    with pytest.raises(LaunchError, match="num_warps"):
        sanitize(add, (4,), 128, (x, x, o, 1000), BLOCK=256)
    with pytest.raises(LaunchFault, match=r"x\[1000\]"):
        emulated_triton(no_mask, (4,), x, o, BLOCK=256)
