"""The tile and the grid that a product's shape gets."""

import pytest

from course_utils.benchmarks.harness.stream_k_plan import FEW_MEDIUM, LARGE, MEDIUM, SMALL, plan
from course_utils.errors import LessonError

H200 = 132


@pytest.mark.parametrize(
    "n, tile, grid",
    [
        (512, SMALL, 128),  # a block a tile: 128 tiles nearly fill the 132 multiprocessors
        (768, FEW_MEDIUM, 132),  # 72 tiles do not, and are shared
        (1024, FEW_MEDIUM, 128),
        (1536, MEDIUM, 3 * H200),
        (1792, MEDIUM, 392),  # three rounds, nearly full
        (2048, LARGE, 128),
        (2176, MEDIUM, 3 * H200),  # no multiple of 256
        (4096, LARGE, H200),  # 512 tiles do not fit at once
    ],
)
def test_the_shape_chooses_tile_and_grid(n, tile, grid):
    found = plan(n, n, n, H200)
    assert (found.tile, found.grid) == (tile, grid)


@pytest.mark.parametrize("shape", [(512, 512, 100), (48, 512, 512), (512, 32, 512), (0, 64, 32)])
def test_a_shape_without_whole_tiles_is_refused(shape):
    with pytest.raises(LessonError, match="whole tiles"):
        plan(*shape, H200)


def test_no_block_is_without_a_step():
    found = plan(32, 64, 32, H200)
    assert found.grid == 1


@pytest.mark.parametrize("tile", [LARGE, MEDIUM, FEW_MEDIUM, SMALL])
def test_the_blocks_of_a_multiprocessor_fit_its_shared_memory(tile):
    assert tile.BLOCKS * (tile.shared_bytes + 1024) <= 228 * 1024
