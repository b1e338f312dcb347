"""The stored rates of wgmma: shared memory's roof, and that of the tensor cores."""

import pytest

from course_utils.benchmarks.experiments import wgmma_rates
from course_utils.records.measured_files import REFERENCE, measurements

CLOCK_BYTES, CLOCK_FLOPS = 128, 4096  # of a multiprocessor


@pytest.mark.parametrize("groups", wgmma_rates.GROUPS)
def test_no_rate_passes_the_roof_and_operands_in_shared_memory_reach_it(groups):
    found = measurements("wgmma", REFERENCE)["groups"][str(groups)]
    assert {place: tuple(n for n, _ in rates) for place, rates in found.items()} == (
        wgmma_rates.WIDTHS
    )
    for place, rows_of_a in (("shared", 64), ("registers", 0)):
        for n, rate in found[place]:
            by_bytes = 2 * 64 * n * 16 / (32 * (rows_of_a + n) / CLOCK_BYTES)
            roof = min(CLOCK_FLOPS, by_bytes)
            assert rate <= roof
            assert place == "registers" or rate > 0.99 * roof
