"""The kernels of 03/01 and 03/02 at awkward sizes: right, and clean under every check."""

import numpy as np
import pytest

from course_utils import cp, load, profile, sanitize
from course_utils.paths import kernel_file

FOLDER = "03_gpu_introduction"
RNG = np.random.default_rng(5)


def ran(kernel, grid, block, args):
    """Launch ``kernel`` after its report came out clean."""
    report = sanitize(kernel, grid, block, args)
    assert report.clean, str(report)
    kernel(grid, block, args)


def positive(n):
    return cp.asarray(RNG.random(n, dtype=np.float32) + np.float32(0.5))


def empty(n, dtype=np.float32):
    return cp.full(n, np.nan if dtype == np.float32 else 77, dtype=dtype)


@pytest.mark.parametrize("n", [1, 31, 257, 1000])
def test_water_freezes_at_zero_celsius_and_boils_at_a_hundred(n):
    x, y = cp.asarray(np.linspace(32, 212, n, dtype=np.float32)), empty(n)
    ran(load(kernel_file("celsius", FOLDER)), (-(-n // 256),), (256,), (x, y, n))
    np.testing.assert_allclose(y.get(), np.linspace(0, 100, n), rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("n", [1, 256, 1000])
def test_blocks_in_any_order_double_every_element(n):
    blocks = -(-n // 256)
    order = cp.asarray(RNG.permutation(blocks).astype(np.int32))
    x, y = positive(n), empty(n)
    ran(load(kernel_file("any_order", FOLDER)), (blocks,), (256,), (order, x, y, n))
    np.testing.assert_array_equal(y.get(), 2 * x.get())


@pytest.mark.parametrize("limit", [0, 1, 8, 32])
def test_two_paths_take_the_root_below_the_limit_and_the_inverse_above(limit):
    x, y = positive(96), empty(96)
    ran(load(kernel_file("two_paths", FOLDER)), (1,), (96,), (x, y, limit))
    exact = x.get().astype(np.float64)
    expected = np.where(np.arange(96) % 32 < limit, np.sqrt(exact) + 1, 1 / exact - 1)
    np.testing.assert_allclose(y.get(), expected, rtol=1e-5, atol=1e-6)


def test_nested_paths_have_three_ways():
    x, y = positive(64), empty(64)
    ran(load(kernel_file("nested_paths", FOLDER)), (2,), (32,), (x, y))
    exact, lane = x.get().astype(np.float64), np.arange(64) % 32
    ways = [np.sqrt(exact) + 1, 1 / exact + 1]
    expected = np.select([lane < 8, lane < 16], ways, np.cos(exact))
    np.testing.assert_allclose(y.get(), expected, rtol=1e-5, atol=1e-6)


def test_every_thread_adds_as_many_numbers_as_it_is_told():
    x, y = positive(40), empty(64)
    trips = RNG.integers(0, 41, 64).astype(np.int32)
    ran(load(kernel_file("trip_counts", FOLDER)), (1,), (64,), (x, cp.asarray(trips), y))
    sums = np.concatenate([[0], np.cumsum(x.get().astype(np.float64))])
    np.testing.assert_allclose(y.get(), sums[trips], rtol=1e-5)


@pytest.mark.parametrize("group", [1, 16, 32])
def test_a_branch_costs_a_warp_only_where_its_own_lanes_differ(group):
    kernel = load(kernel_file("split_by", FOLDER), defines={"GROUP": group})
    x, y = positive(512), empty(512)
    ran(kernel, (2,), (256,), (x, y))
    expected = x.get().astype(np.float64)
    odd = np.arange(512) // group % 2 == 1
    for _ in range(64):
        expected = np.where(odd, 1 / (expected + 1), np.sqrt(expected + 1))
    np.testing.assert_allclose(y.get(), expected, rtol=1e-5)
    counts = profile(kernel, (2,), (256,), (x, y)).counts
    full = counts.thread_instructions == 32 * counts.warp_instructions
    assert full == (group == 32)


def test_a_vote_tells_every_lane_what_all_lanes_said():
    x = cp.asarray(RNG.integers(0, 40, 32).astype(np.int32))
    ballot, some, every = empty(32, np.uint32), empty(32, np.int32), empty(32, np.int32)
    ran(load(kernel_file("votes", FOLDER)), (1,), (32,), (x, ballot, some, every))
    values = x.get()
    bits = sum(1 << lane for lane in range(32) if values[lane] % 5 == 0)
    assert (ballot.get() == bits).all()
    assert (some.get() == int((values > 30).any())).all()
    assert (every.get() == int((values > 30).all())).all()


def test_chains_go_as_many_steps_as_they_are_told():
    x, y = positive(64), empty(64)
    ran(load(kernel_file("fma_chain", FOLDER)), (2,), (32,), (x, y, 3))
    value = x.get().astype(np.float64)
    for _ in range(3):
        value = value * np.float32(0.999) + 0.5
    np.testing.assert_allclose(y.get(), value, rtol=1e-5)
    following, at = cp.asarray(((np.arange(64) + 5) % 64).astype(np.int32)), empty(64, np.int32)
    ran(load(kernel_file("load_chain", FOLDER)), (2,), (32,), (following, at, 3))
    np.testing.assert_array_equal(at.get(), (np.arange(64) + 15) % 64)


def test_every_block_keeps_a_diary():
    sm, ticket, counter = (cp.zeros(n, cp.int32) for n in (9, 9, 1))
    begin, end = cp.zeros(9, cp.int64), cp.zeros(9, cp.int64)
    args = (sm, ticket, begin, end, counter, 100)
    load(kernel_file("block_diary", FOLDER))((9,), (33,), args)
    assert sorted(ticket.get()) == list(range(9))
    assert (end.get() >= begin.get()).all() and (begin.get() > 0).all()
    assert (sm.get() >= 0).all() and int(counter.get()[0]) == 9
