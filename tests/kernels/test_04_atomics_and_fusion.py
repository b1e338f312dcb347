"""What the kernels of chapter 04 show besides their results: barriers, atomics, sums, dropout."""

import re

import numpy as np
import pytest
from launchers import draw
from launches_04 import CHAPTER

from course_utils import ceil_div, cp, load, profile, sanitize

kernel = CHAPTER.kernel


def test_a_block_that_waits_for_one_too_many_gives_up():
    arrived, met = cp.full(1, -1, dtype=cp.int32), cp.ones(3, cp.int32)
    kernel("meet")(3, 32, (arrived, met, 50))
    assert met.get().tolist() == [0, 0, 0]


def test_tickets_go_to_one_thread_each_and_the_last_words_to_any_thread():
    n = 257
    x = np.random.default_rng(n).integers(1, 2**32, n, dtype=np.uint32)
    result, ticket = cp.zeros(11, cp.uint32), cp.full(n, 2**32 - 1, cp.uint32)
    kernel("integer_atomics")(2, 256, (cp.asarray(x), result, ticket, n))
    assert sorted(ticket.get()) == list(range(n))
    exchanged, swapped = result.get()[9:]
    assert exchanged in x and swapped in x


@pytest.mark.parametrize(
    "how, sectors, wavefronts",
    [("naive", 32, 0), ("shared", 4, 32), ("padded", 4, 1), ("swizzled", 4, 1), ("vector", 16, 4)],
)
def test_each_rung_of_the_transpose_does_away_with_what_it_says(how, sectors, wavefronts):
    a, out = cp.asarray(draw((128, 128))), cp.empty((128, 128), cp.float32)
    tile, block = (64, 256) if how == "vector" else (32, (32, 32))
    launch = (128 // tile, 128 // tile), block, (a, out, 128, 128)
    counts = profile(kernel(f"transpose_{how}"), *launch).counts
    assert counts.global_store_sectors == sectors * counts.global_store_requests
    assert counts.shared_load_wavefronts == wavefronts * counts.shared_load_requests


def test_the_sum_in_one_pass_is_ready_for_the_next_launch_and_gives_the_same_bits():
    n, grid = 20011, 7
    x, done = cp.asarray(draw(n)), cp.zeros(1, cp.uint32)
    totals = set()
    for _ in range(3):
        total, partial = cp.full(1, cp.nan, cp.float32), cp.full(grid, cp.nan, cp.float32)
        kernel("sum_single_pass")(grid, 1024, (x, total, partial, done, n))
        totals.add(total.get().tobytes())
    assert len(totals) == 1 and done.get()[0] == 0


FENCE = r" *__threadfence\(\); // {}.*\n"


@pytest.mark.parametrize("side", ["release", "acquire"])
def test_the_sum_in_one_pass_needs_the_fence_of_either_side(side):
    n, grid = 9000, 3
    text, cut = re.subn(FENCE.format(side), "", kernel("sum_single_pass").module.source)
    assert cut == 1
    total, partial = cp.zeros(1, cp.float32), cp.zeros(grid, cp.float32)
    given = cp.asarray(draw(n)), total, partial, cp.zeros(1, cp.uint32), n
    found = sanitize(load(source=text, filename="no_fence.cu"), grid, 1024, given)
    assert "__threadfence()" in str(found)


def test_the_acquire_of_the_sum_in_one_pass_is_in_the_thread_that_reads_the_count():
    text = kernel("sum_single_pass").module.source
    assert text.index("atomicInc(") < text.index("// acquire") < text.index("if (last)")


@pytest.mark.parametrize("keep, seed", [(0.1, 1), (0.5, 2), (1.0, 1)])
def test_dropout_keeps_the_share_that_it_is_asked_to(keep, seed):
    n = 20000
    y = cp.ones(n, cp.float32)
    kernel("chain_dropout")(ceil_div(n, 256), 256, (y, seed, keep, n))
    kept = y.get() != 0
    assert abs(kept.mean() - keep) <= 4 * (keep * (1 - keep) / n) ** 0.5
    np.testing.assert_allclose(y.get()[kept], 1 / keep, rtol=1e-6)


def test_the_gradient_of_dropout_is_zero_where_the_forward_pass_dropped():
    n, seed, keep = 1012, 5, 0.7
    y, dy, dx = cp.ones(n, cp.float32), cp.asarray(draw(n)), cp.full(n, cp.nan, cp.float32)
    kernel("chain_dropout")(ceil_div(n, 256), 256, (y, seed, keep, n))
    kernel("dropout_backward_recomputed")(ceil_div(n, 1024), 256, (dy, dx, seed, keep, n))
    np.testing.assert_allclose(dx.get(), dy.get() * y.get(), rtol=1e-6)


def issued(name, n=256, steps=64):
    """Warp instructions for n elements."""
    x, y = cp.asarray(draw(n)), cp.empty(n, cp.float32)
    return profile(kernel(name), ceil_div(n, 256), 256, (x, y, steps, n)).counts.warp_instructions


def test_a_diverged_warp_issues_nearly_twice_the_instructions():
    by_thread, by_warp, free = (issued(f"branch_{how}") for how in ("by_thread", "by_warp", "free"))
    assert 1.7 < by_thread / by_warp < 2.1
    assert free < 1.1 * by_warp


def test_our_softmax_reads_each_element_once():
    x, y = cp.asarray(draw((2, 4096))), cp.empty((2, 4096), dtype=cp.float32)
    counts = profile(kernel("softmax_row"), 2, 256, (x, y, 4096)).counts
    assert counts.global_load_bytes == x.nbytes
