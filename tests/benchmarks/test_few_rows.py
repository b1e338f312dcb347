"""How many blocks share a tile of a product with few tiles, and what they take."""

import pytest

from course_utils import cp
from course_utils.benchmarks.cases import few_rows
from course_utils.benchmarks.experiments.tile_orders import BANDS, BM, BN, SIZE

OF_A_MULTIPROCESSOR = 228 * 1024  # bytes of shared memory; a block takes 1 KB more than it asks for
STATIC = 16  # bytes that a block has beside those of its launch


@pytest.mark.parametrize(
    "tiles, steps, slots, slices",
    [
        (64, 1024, 264, 4),  # as many as fit
        (16, 24, 528, 3),  # no fewer steps than asked for
        (300, 1024, 264, 1),
        (1, 3, 264, 1),
    ],
)
def test_a_tile_is_shared_by_as_many_blocks_as_fit(tiles, steps, slots, slices):
    assert few_rows.slices_for(tiles, steps, slots, least=8) == slices


@pytest.mark.parametrize("rows", [1, 16, 40])
def test_the_blocks_of_a_multiprocessor_fit_its_shared_memory(rows):
    fp32, bits = cp.empty((rows, 64), cp.float32), cp.empty((rows, 64), cp.uint16)
    wide, rows_of_b = cp.empty((64, 128), cp.float32), cp.empty((128, 64), cp.uint16)
    ours = few_rows.few_rows_call(fp32, wide, cp.empty((rows, 128), cp.float32))[0]
    bf16 = few_rows.bf16_few_rows_call(bits, rows_of_b, cp.empty((rows, 128), cp.uint16))[0]
    for call, blocks in ((ours, 2 if rows <= 16 else 1), (bf16, 2)):
        assert blocks * (call.shared_mem + STATIC + 1024) <= OF_A_MULTIPROCESSOR


def test_the_orders_go_from_row_by_row_to_column_by_column():
    assert BANDS[0] == 1 and BANDS[-1] == SIZE // BM and SIZE % BN == 0
