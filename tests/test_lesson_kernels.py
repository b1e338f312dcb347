"""The kernels of 04/02 and 06/02 at awkward shapes: right, and clean under every check."""

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.paths import kernel_file

RNG = np.random.default_rng(3)
SHAPES = [(1, 1), (16, 32), (37, 50)]
PRODUCTS = [(1, 1, 1), (33, 5, 7), (37, 45, 19), (16, 64, 32)]


def blocks(size, block):
    return -(-size // block)


def normal(*shape):
    return cp.asarray(RNG.standard_normal(shape, dtype=np.float32))


def ran(kernel, grid, block, args):
    """Launch ``kernel`` after its report came out clean."""
    report = sanitize(kernel, grid, block, args)
    assert report.clean, str(report)
    kernel(grid, block, args)


@pytest.mark.parametrize("m, n, k", PRODUCTS)
@pytest.mark.parametrize("rung, tile", [("naive", 32), ("coalesced", 32), ("shared", 8)])
def test_a_product_of_any_shape_agrees_with_float64(rung, tile, m, n, k):
    kernel = load(kernel_file(f"sgemm_{rung}", "06_matmul_and_fft"), defines={"TILE": tile})
    a, b, c = normal(m, k), normal(k, n), cp.full((m, n), cp.nan, cp.float32)
    grid = blocks(n, tile), blocks(m, tile)
    ran(kernel, grid[::-1] if rung == "naive" else grid, (tile, tile), (a, b, c, m, n, k))
    exact = a.get().astype(np.float64) @ b.get().astype(np.float64)
    np.testing.assert_allclose(c.get(), exact, rtol=1e-5, atol=1e-5 * k**0.5)


@pytest.mark.parametrize("tiled, times", [(0, 8), (1, 1)])
def test_tiles_cut_a_blocks_reads_to_one_for_each_element(tiled, times):
    kernel = load("06_matmul_and_fft/sgemm/block_reads.cu", defines={"TILED": tiled})
    reads_a, reads_b = cp.zeros((16, 19), cp.int32), cp.zeros((19, 16), cp.int32)
    ran(kernel, (2, 2), (8, 8), (cp.zeros_like(reads_a), cp.zeros_like(reads_b), 16, 16, 19))
    kernel((2, 2), (8, 8), (reads_a, reads_b, 16, 16, 19))
    assert (reads_a[:8].get() == times).all() and not reads_a[8:].get().any()
    assert (reads_b[:, 8:].get() == times).all() and not reads_b[:, :8].get().any()


@pytest.mark.parametrize("rows, columns", SHAPES)
def test_every_element_is_written_by_the_thread_at_its_row_and_column(rows, columns):
    ids = cp.full((4, rows, columns), -1, cp.int32)
    grid = blocks(columns, 4), blocks(rows, 2)
    ran(load("04_first_kernels/grids/thread_ids_2d.cu"), grid, (4, 2), (*ids, rows, columns))
    bx, by, tx, ty = ids.get()
    row, column = np.mgrid[:rows, :columns]
    np.testing.assert_array_equal(bx * 4 + tx, column)
    np.testing.assert_array_equal(by * 2 + ty, row)


@pytest.mark.parametrize("height, width", SHAPES)
def test_a_vignette_fades_by_the_distance_from_the_centre(height, width):
    rgb, out = normal(height, width, 3), cp.full((height, width, 3), cp.nan, cp.float32)
    grid = blocks(width, 16), blocks(height, 16)
    kernel = load("04_first_kernels/grids/image_vignette.cu")
    ran(kernel, grid, (16, 16), (rgb, out, height, width, 0.5))
    down = (np.arange(height)[:, None] + 0.5) / height - 0.5
    across = (np.arange(width) + 0.5) / width - 0.5
    light = (1 - down**2 - across**2)[:, :, None]
    np.testing.assert_allclose(out.get(), rgb.get() * light, rtol=1e-5)


@pytest.mark.parametrize("height, width", SHAPES)
@pytest.mark.parametrize("radius", [0, 1, 3])
def test_a_blur_is_the_mean_of_the_neighbours_that_exist(height, width, radius):
    gray, out = normal(height, width), cp.full((height, width), cp.nan, cp.float32)
    grid = blocks(width, 16), blocks(height, 16)
    kernel = load("04_first_kernels/grids/image_blur.cu")
    ran(kernel, grid, (16, 16), (gray, out, height, width, radius))
    image = gray.get().astype(np.float64)
    expected = [
        image[max(r - radius, 0) : r + radius + 1, max(c - radius, 0) : c + radius + 1].mean()
        for r, c in np.ndindex(height, width)
    ]
    np.testing.assert_allclose(out.get().ravel(), expected, rtol=1e-4, atol=1e-5)


def test_a_ball_glows_in_the_middle_of_a_volume_of_any_shape():
    shape = layers, rows, columns = 5, 9, 13
    volume = cp.full(shape, cp.nan, cp.float32)
    grid = blocks(columns, 8), blocks(rows, 8), blocks(layers, 4)
    kernel = load("04_first_kernels/grids/volume_ball.cu")
    ran(kernel, grid, (8, 8, 4), (volume, layers, rows, columns, 4.0))
    places = np.indices(shape) - (np.array(shape).reshape(3, 1, 1, 1) - 1) / 2
    distance = np.sqrt((places**2).sum(axis=0))
    np.testing.assert_allclose(volume.get(), np.maximum(0, 1 - distance / 4), atol=1e-6)
