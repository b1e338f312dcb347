"""What the kernels of chapter 03 show besides their results: who branches, what spills, when."""

import numpy as np
import pytest
from launches_03 import CHAPTER, positive

from course_utils import cp, profile
from course_utils.observing.occupancy_calculator import occupancy

kernel = CHAPTER.kernel


@pytest.mark.parametrize("group", [1, 16, 32])
def test_a_branch_costs_a_warp_only_where_its_own_lanes_differ(group):
    x, y = cp.asarray(positive(512)), cp.empty(512, cp.float32)
    counts = profile(kernel("split_by", GROUP=group), 2, 256, (x, y)).counts
    full = counts.thread_instructions == 32 * counts.warp_instructions
    assert full == (group == 32)


def test_every_block_keeps_a_diary():
    sm, ticket, counter = (cp.full(n, -1, cp.int32) for n in (9, 9, 1))
    counter.fill(0)
    begin, end = cp.zeros(9, cp.int64), cp.zeros(9, cp.int64)
    kernel("block_diary")(9, 33, (sm, ticket, begin, end, counter, 100))
    assert (end.get() >= begin.get()).all() and (begin.get() > 0).all()
    assert (sm.get() >= 0).all() and int(counter.get()[0]) == 9


@pytest.mark.parametrize("unrolled, local_bytes", [(0, 128), (1, 0)])
def test_only_the_loop_keeps_its_array_in_local_memory(unrolled, local_bytes):
    delay_line = kernel("delay_line", UNROLLED=unrolled)
    assert occupancy(delay_line, 128).resources.local_bytes == local_bytes


def test_a_limit_of_32_registers_makes_the_delay_line_spill():
    delay_line = kernel("delay_line", options=("--maxrregcount=32",), UNROLLED=1)
    assert occupancy(delay_line, 128).resources.spill_loads > 0


def test_the_tour_really_needs_local_memory():
    assert occupancy(kernel("every_space"), 256).resources.local_bytes == 16


@pytest.mark.parametrize("name", ["pointer_chase", "shared_chase"])
def test_a_chase_counts_cycles(name):
    place, cycles = cp.zeros(1, cp.uint32), cp.full(1, -1, cp.int64)
    next_place = cp.zeros(4, cp.uint32)
    length = (4,) if name == "shared_chase" else ()
    kernel(name)(1, 1, (next_place, *length, place, 9, cycles))
    assert int(cycles.get()[0]) > 0


def test_chains_of_multiply_adds_count_cycles():
    cycles, sums = cp.full(1, -1, cp.int64), cp.empty(32, np.float32)
    kernel("fma_chains")(1, 32, (2.0, 1.0, 9, cycles, sums))
    assert int(cycles.get()[0]) > 0
