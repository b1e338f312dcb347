"""The kernels of chapter 04 that compute with barriers, atomics, branches and patterns of access."""

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.device import ON_GPU

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
    clean(load(f"{FOLDER}/shift_left.cu"), 1, blocks(n, 32) * 32, (x, n))
    np.testing.assert_array_equal(x.get(), np.append(before[1:], before[-1]))


def test_the_shift_without_a_barrier_is_found_to_race():
    report = sanitize(load(f"{FOLDER}/shift_left_race.cu"), 1, 128, (normal(128), 128))
    assert [finding.kind for finding in report.findings] == ["data race"]


# --- atomics ---

HISTOGRAMS = ("global", "shared", "aggregated", "vector")


@pytest.mark.parametrize("rung", HISTOGRAMS)
@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n, most", [(1, 256), (17, 3), (1009, 1), (4099, 256)])
def test_a_histogram_counts_every_byte_once(rung, n, most, seed):
    pixels = np.random.default_rng(seed).integers(256 - most, 256, n).astype(np.uint8)
    counts = cp.zeros(256, cp.uint32)
    grid = blocks(n, 256) if rung == "global" else 3
    clean(load(f"{FOLDER}/histogram_{rung}.cu"), grid, 256, (cp.asarray(pixels), counts, n))
    np.testing.assert_array_equal(counts.get(), np.bincount(pixels, minlength=256))


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n, shift", [(1, 0.0), (257, -9.0), (1009, 0.0)])
def test_a_loop_around_compare_and_swap_finds_the_largest_float(n, shift, seed):
    x = normal(n, seed) + np.float32(shift)
    highest = cp.full(1, -np.inf, cp.float32)
    clean(load(f"{FOLDER}/atomic_max_float.cu"), blocks(n, 256), 256, (x, highest, n))
    assert highest.get()[0] == x.get().max()


@pytest.mark.parametrize("n", [1, 257, 1009])
def test_each_integer_atomic_does_what_its_name_says(n):
    x = np.random.default_rng(n).integers(1, 2**32, n, dtype=np.uint32)
    start = np.array([0, 0, 2**32 - 1, 0, 2**32 - 1, 0, 0, 0, 0, 0, 0], np.uint32)
    result, ticket = cp.asarray(start), cp.zeros(n, cp.uint32)
    args = cp.asarray(x), result, ticket, n
    clean(load(f"{FOLDER}/integer_atomics.cu"), blocks(n, 256), 256, args)
    add, sub, low, high, every, some, odd, up, down, last, first = map(int, result.get())
    assert add == n and sorted(ticket.get()) == list(range(n))
    assert sub == -int(x.sum(dtype=np.uint64)) % 2**32
    assert (low, high) == (x.min(), x.max())
    assert every == np.bitwise_and.reduce(x)
    assert some == np.bitwise_or.reduce(x)
    assert odd == np.bitwise_xor.reduce(x)
    assert (up, down) == (n % 10, -n % 10)
    assert last in x and first in x
