"""Every kernel of the benchmark table: right, clean, and the same on both devices."""

import numpy as np
import pytest

from course_utils import cp, sanitize
from course_utils.benchmark import CASES
from course_utils.device import ON_GPU
from course_utils.emulator import cupy_api

IDS = [case.name for case in CASES]
SIZES = (1, 17, 61)


def expected(case, args):
    """What the kernel should store, in float64, from the arguments of a launch."""
    a, b = (np.array(x.get(), np.float64) for x in args[:2])
    return a + b if case.name == "vec_add" else a @ b


def poisoned(args):
    args[2][...] = cp.nan
    return args


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_kernel_agrees_with_float64_at_odd_sizes(case, n):
    grid, block, args = case.make(n)
    case.load()(grid, block, poisoned(args))
    tolerance = 1e-6 * (1 if case.name == "vec_add" else n**0.5) * 4
    np.testing.assert_allclose(
        args[2].get(), expected(case, args), rtol=tolerance, atol=4 * tolerance
    )


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_a_kernel_has_no_findings(case):
    grid, block, args = case.make(61)
    assert sanitize(case.load(), grid, block, args).clean


@pytest.mark.skipif(not ON_GPU, reason="compares a GPU with the emulator")
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_both_devices_give_the_same_bits(case, n):
    grid, block, args = case.make(n)
    kernel = case.load()
    kernel(grid, block, poisoned(args))
    twins = tuple(cupy_api.asarray(a.get()) if hasattr(a, "get") else a for a in args)
    twins[2][...] = np.nan
    kernel.emulated(grid, block, twins)
    assert args[2].get().tobytes() == twins[2].get().tobytes()


def test_the_emulator_issues_as_many_instructions_as_it_should():
    """The speed that is promised rests on this count: 256³ products, one fma each."""
    case = next(c for c in CASES if c.name == "sgemm_naive")
    grid, block, args = case.make(64)
    result = case.load("emulator").launch(
        grid, block, tuple(cupy_api.asarray(a.get()) if hasattr(a, "get") else a for a in args)
    )
    counts = result.counts
    fmas = sum(n for name, n in counts.opcodes.items() if name.startswith("fma"))
    assert fmas == 64**3
    assert counts.thread_instructions < 8 * 64**3
    assert counts.warp_instructions * 32 == counts.thread_instructions
