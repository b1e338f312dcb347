"""Every kernel that is measured: right, clean, and the same on both devices."""

import pytest

from course_utils import sanitize
from course_utils.benchmarks import CASES
from course_utils.devices.selection import ON_GPU

RUNS = [
    pytest.param(case, n, id=f"{case.name}-{n}".replace(" ", ""))
    for case in CASES
    for n in case.test_sizes
]


@pytest.mark.parametrize("case, n", RUNS)
def test_a_kernel_agrees_with_float64_at_odd_sizes(case, n):
    work = case.make(n)
    work.poison()
    work()
    assert not work.wrong()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_kernel_has_no_findings(case):
    work = case.make(case.test_sizes[-1])
    for array in work.cleared:
        array.fill(0)
    for item in work.launches:
        report = sanitize(item.kernel, item.grid, item.block, item.args, shared_mem=item.shared_mem)
        assert report.clean, str(report)


@pytest.mark.skipif(not ON_GPU, reason="compares a GPU with the emulator")
@pytest.mark.parametrize("case, n", RUNS)
def test_both_devices_give_the_same_bits(case, n):
    work = case.make(n)
    if not work.same_bits:
        pytest.skip("the order of the additions is not fixed")
    work.poison()
    twin = work.on_emulator()
    work()
    twin()
    assert work.output.get().tobytes() == twin.output.get().tobytes()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_result_that_was_not_written_is_wrong(case):
    work = case.make(case.test_sizes[-1])
    work.poison()
    assert work.wrong()


def test_no_two_cases_share_a_name():
    assert len({case.name for case in CASES}) == len(CASES)


def test_the_emulator_issues_as_many_instructions_as_it_should():
    """The speed that is promised rests on this count: 256³ products, one fma each."""
    case = next(c for c in CASES if c.name == "sgemm_naive")
    (item,) = case.make(64).on_emulator().launches
    counts = item.kernel.launch(item.grid, item.block, item.args).counts
    fmas = sum(n for name, n in counts.opcodes.items() if name.startswith("fma"))
    assert fmas == 64**3
    assert counts.thread_instructions < 8 * 64**3
    assert counts.warp_instructions * 32 == counts.thread_instructions
