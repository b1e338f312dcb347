"""The kernels of chapter 04 about memory, barriers, atomics, branches and fusion."""

import numpy as np
import pytest

from course_utils import cp, load, profile, sanitize
from course_utils.devices.selection import ON_GPU
from course_utils.paths import kernel_file

FOLDER = "04_first_kernels"


def blocks(size, block):
    return -(-size // block)


def normal(shape, seed=0):
    return cp.asarray(np.random.default_rng(seed).standard_normal(shape, dtype=np.float32))


def clean(kernel, grid, block, args, shared_mem=0):
    """Run under every check; on the emulator the arrays receive what the kernel wrote."""
    report = sanitize(kernel, grid, block, args, shared_mem=shared_mem)
    assert report.clean, str(report)
    if ON_GPU:
        kernel(grid, block, args, shared_mem=shared_mem)


# --- barriers ---


@pytest.mark.parametrize("n", [1, 2, 32, 33, 255, 1024])
def test_a_barrier_makes_the_shift_right(n):
    x = normal(n)
    before = x.get()
    clean(load(kernel_file("shift_left", FOLDER)), 1, blocks(n, 32) * 32, (x, n))
    np.testing.assert_array_equal(x.get(), np.append(before[1:], before[-1]))


def test_the_shift_without_a_barrier_is_found_to_race():
    report = sanitize(load(kernel_file("shift_left_race", FOLDER)), 1, 128, (normal(128), 128))
    assert [finding.kind for finding in report.findings] == ["data race"]


# --- atomics ---

HISTOGRAMS = ("global", "shared", "aggregated", "vector")


@pytest.mark.parametrize("rung", HISTOGRAMS)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n, most", [(1, 256), (17, 3), (1009, 1), (4099, 256)])
def test_a_histogram_counts_every_byte_once(rung, n, most, seed):
    pixels = np.random.default_rng(seed).integers(256 - most, 256, n).astype(np.uint8)
    counts = cp.zeros(256, cp.uint32)
    grid = blocks(n, 256) if rung in ("global", "aggregated") else 3
    clean(
        load(kernel_file(f"histogram_{rung}", FOLDER)), grid, 256, (cp.asarray(pixels), counts, n)
    )
    np.testing.assert_array_equal(counts.get(), np.bincount(pixels, minlength=256))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n, shift", [(1, 0.0), (257, -9.0), (1009, 0.0)])
def test_a_loop_around_compare_and_swap_finds_the_largest_float(n, shift, seed):
    x = normal(n, seed) + np.float32(shift)
    highest = cp.full(1, -np.inf, cp.float32)
    clean(load(kernel_file("atomic_max_float", FOLDER)), blocks(n, 256), 256, (x, highest, n))
    assert highest.get()[0] == x.get().max()


@pytest.mark.parametrize("n", [1, 257, 1009])
def test_each_integer_atomic_does_what_its_name_says(n):
    x = np.random.default_rng(n).integers(1, 2**32, n, dtype=np.uint32)
    start = np.array([0, 0, 2**32 - 1, 0, 2**32 - 1, 0, 0, 0, 0, 0, 0], np.uint32)
    result, ticket = cp.asarray(start), cp.zeros(n, cp.uint32)
    args = cp.asarray(x), result, ticket, n
    clean(load(kernel_file("integer_atomics", FOLDER)), blocks(n, 256), 256, args)
    add, sub, low, high, every, some, odd, up, down, last, first = map(int, result.get())
    assert add == n and sorted(ticket.get()) == list(range(n))
    assert sub == -int(x.sum(dtype=np.uint64)) % 2**32
    assert (low, high) == (x.min(), x.max())
    assert every == np.bitwise_and.reduce(x)
    assert some == np.bitwise_or.reduce(x)
    assert odd == np.bitwise_xor.reduce(x)
    assert (up, down) == (n % 10, -n % 10)
    assert last in x and first in x


# --- transposes and sums, with inputs other than those of the benchmarks ---

TRANSPOSES = ("naive", "shared", "padded", "swizzled", "vector")


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("rows, columns", [(4, 132), (100, 36), (192, 64)])
@pytest.mark.parametrize("rung", TRANSPOSES)
def test_a_transpose_writes_every_element_to_its_place(rung, rows, columns, seed):
    a, out = normal((rows, columns), seed), cp.full((columns, rows), cp.nan, cp.float32)
    grid, block = (blocks(columns, 32), blocks(rows, 32)), (32, 32)
    if rung == "vector":
        grid, block = (blocks(rows, 64), blocks(columns, 64)), 256
    load(kernel_file(f"transpose_{rung}", FOLDER))(grid, block, (a, out, rows, columns))
    np.testing.assert_array_equal(out.get(), a.get().T)


@pytest.mark.parametrize(
    "rung, sectors, wavefronts",
    [("naive", 32, 0), ("shared", 4, 32), ("padded", 4, 1), ("swizzled", 4, 1), ("vector", 16, 4)],
)
def test_each_rung_of_the_transpose_does_away_with_what_it_says(rung, sectors, wavefronts):
    a, out = normal((128, 128)), cp.empty((128, 128), cp.float32)
    tile, block = (64, 256) if rung == "vector" else (32, (32, 32))
    grid = 128 // tile, 128 // tile
    counts = profile(
        load(kernel_file(f"transpose_{rung}", FOLDER)), grid, block, (a, out, 128, 128)
    ).counts
    assert counts.global_store_sectors == sectors * counts.global_store_requests
    assert counts.shared_load_wavefronts == wavefronts * counts.shared_load_requests


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n", [1, 1023, 70001])
@pytest.mark.parametrize("rung", ["shared_interleaved", "shared_sequential", "warp_shuffle"])
def test_a_tree_leaves_one_sum_for_each_block(rung, n, seed):
    x, sums = normal(n, seed) + np.float32(0.1), cp.full(blocks(n, 256), cp.nan, cp.float32)
    load(kernel_file(f"sum_{rung}", FOLDER))(blocks(n, 256), 256, (x, sums, n))
    parts = np.add.reduceat(x.get().astype(np.float64), np.arange(0, n, 256))
    np.testing.assert_allclose(sums.get(), parts, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n", [1, 3, 1023, 70001])
@pytest.mark.parametrize("grid", [1, 5])
def test_sums_of_a_grid_of_any_size_make_up_the_whole(grid, n, seed):
    x, sums = normal(n, seed) + np.float32(0.1), cp.full(grid, cp.nan, cp.float32)
    load(kernel_file("sum_vector", FOLDER))(grid, 1024, (x, sums, n))
    exact = x.get().sum(dtype=np.float64)
    np.testing.assert_allclose(sums.get().sum(), exact, rtol=1e-5, atol=1e-5 * n**0.5)
    total, done = cp.full(1, cp.nan, cp.float32), cp.zeros(1, cp.uint32)
    load(kernel_file("sum_single_pass", FOLDER))(grid, 1024, (x, total, sums, done, n))
    np.testing.assert_allclose(total.get(), [exact], rtol=1e-5, atol=1e-5 * n**0.5)


def test_the_sum_in_one_pass_is_ready_for_the_next_launch_and_gives_the_same_bits():
    n, grid = 70001, 7
    x, done = normal(n), cp.zeros(1, cp.uint32)
    kernel = load(kernel_file("sum_single_pass", FOLDER))
    totals = set()
    for _ in range(3):
        total, partial = cp.full(1, cp.nan, cp.float32), cp.full(grid, cp.nan, cp.float32)
        kernel(grid, 1024, (x, total, partial, done, n))
        totals.add(total.get().tobytes())
    assert len(totals) == 1 and done.get()[0] == 0


# --- fusion ---


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("keep", [0.1, 0.5, 1.0])
def test_dropout_keeps_the_share_that_it_is_asked_to(keep, seed):
    n = 20000
    y = cp.ones(n, cp.float32)
    load(kernel_file("chain_dropout", FOLDER))(blocks(n, 256), 256, (y, seed, keep, n))
    kept = y.get() != 0
    assert abs(kept.mean() - keep) <= 4 * (keep * (1 - keep) / n) ** 0.5
    np.testing.assert_allclose(y.get()[kept], 1 / keep, rtol=1e-6)


def test_the_gradient_of_dropout_is_zero_where_the_forward_pass_dropped():
    n, seed, keep = 1012, 5, 0.7
    y, dy, dx = cp.ones(n, cp.float32), normal(n), cp.full(n, cp.nan, cp.float32)
    load(kernel_file("chain_dropout", FOLDER))(blocks(n, 256), 256, (y, seed, keep, n))
    kernel = load(kernel_file("dropout_backward_recomputed", FOLDER))
    kernel(blocks(n, 1024), 256, (dy, dx, seed, keep, n))
    np.testing.assert_allclose(dx.get(), dy.get() * y.get(), rtol=1e-6)


# --- branches ---


def issued(kernel, n=256, steps=64):
    """Warp instructions for n elements."""
    x, y = normal(n), cp.empty(n, cp.float32)
    return profile(kernel, blocks(n, 256), 256, (x, y, steps, n)).counts.warp_instructions


def test_a_warp_that_parts_issues_nearly_twice_the_instructions():
    by_thread, by_warp, free = (
        issued(load(kernel_file(f"branch_{how}", FOLDER)))
        for how in ("by_thread", "by_warp", "free")
    )
    assert 1.7 < by_thread / by_warp < 2.1
    assert free < 1.1 * by_warp
