"""The search behind the autotuned product: what it rules out, what it measures, what is stored."""

from __future__ import annotations

import numpy as np
import pytest

from course_utils import autotune, cp, load, measurements, profile
from course_utils.benchmarks.experiments.autotune import Tiles, why_not

FILE_SIZES = Tiles(128, 256, 8, 8, 16, 3)
SHAPES = [FILE_SIZES, Tiles(64, 128, 16, 16, 8, 2), Tiles(64, 64, 32, 8, 8, 4)]


@pytest.mark.parametrize(
    ("tiles", "reason"),
    [
        (FILE_SIZES, ""),
        (Tiles(64, 64, 8, 16, 16, 2), "does not divide"),
        (Tiles(64, 64, 8, 16, 8, 2), "threads"),
        (Tiles(128, 256, 8, 8, 16, 20), "shared memory"),
        (Tiles(128, 256, 8, 16, 16, 3), "registers"),
        (Tiles(256, 256, 8, 8, 16, 3), ""),
    ],
)
def test_arithmetic_rules_out_what_cannot_be_launched(tiles, reason):
    assert why_not(tiles) == reason


def test_the_compiler_rules_out_what_spills():
    assert autotune.examine(Tiles(256, 256, 8, 8, 16, 3))["reason"] == "spills"


def test_a_candidate_takes_the_shared_memory_that_the_kernel_is_launched_with():
    assert FILE_SIZES.shared_bytes == 3 * (8 * (128 + 4) + 8 * 256) * 4


@pytest.mark.parametrize("tiles", SHAPES, ids=str)
def test_a_candidate_that_is_left_computes_the_product(tiles):
    assert not why_not(tiles)
    rng = np.random.default_rng(5)
    m, n, k = 2 * tiles.BM, tiles.BN, 3 * tiles.BK
    a, b = (rng.standard_normal(shape, dtype=np.float32) for shape in ((m, k), (k, n)))
    c = cp.full((m, n), cp.nan, dtype=cp.float32)
    kernel = load(autotune.KERNEL, defines=tiles.defines)
    args = cp.asarray(a), cp.asarray(b), c, m, n, k
    kernel((1, 2), (tiles.threads,), args, shared_mem=tiles.shared_bytes)
    np.testing.assert_allclose(c.get(), a.astype(float) @ b, atol=2e-4)


@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 24), (64, 60, 12), (4, 4, 1)])
def test_the_kernel_with_wide_copies_multiplies_a_turned_matrix(m, n, k):
    rng = np.random.default_rng(6)
    a, b = (rng.standard_normal(size, dtype=np.float32) for size in ((m, k), (k, n)))
    c = cp.full((m, n), cp.nan, dtype=cp.float32)
    args = cp.asarray(np.ascontiguousarray(a.T)), cp.asarray(b), c, m, n, k
    autotune.transposed_copies()((1, 1), (256,), args)
    np.testing.assert_allclose(c.get(), a.astype(float) @ b, atol=2e-4)


def test_a_turned_matrix_is_copied_by_a_quarter_of_the_requests():
    args = *(cp.zeros((128, 128), cp.float32) for _ in range(3)), 128, 128, 128
    wide = profile(autotune.transposed_copies(), (1, 1), (256,), args).counts
    narrow = profile(load(autotune.COPIES), (1, 1), (256,), args).counts
    assert wide.global_load_requests * 5 == narrow.global_load_requests * 2


def test_every_order_holds_each_row_and_column_once():
    for defines in list(autotune.order_defines().values())[1:]:
        assert sorted(map(int, defines["ROWS"].split(","))) == list(range(8))
        assert sorted(map(int, defines["COLUMNS"].split(","))) == list(range(16))


def test_the_stored_search_holds_the_whole_grid_and_says_why_each_was_ruled_out():
    found = measurements("autotune")["candidates"]
    assert [Tiles(**entry["tiles"]) for entry in found] == autotune.grid()
    for entry in found:
        assert ("tflops" in entry) == (entry["reason"] == "")
        if entry["reason"] != "spills":
            assert entry["reason"] == why_not(Tiles(**entry["tiles"]))
