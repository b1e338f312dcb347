"""The kernels of 03/03 and 03/04 at awkward sizes, and the figures that come with the course."""

import numpy as np
import pytest

from course_utils import cp, hardware, load, sanitize
from course_utils.benchmarks.microbenchmarks import memories
from course_utils.devices.selection import ON_GPU
from course_utils.errors import LessonError
from course_utils.observing.occupancy_calculator import occupancy
from course_utils.paths import kernel_file

RNG = np.random.default_rng(5)
FOLDER = "03_gpu_introduction"


def normal(*shape):
    return cp.asarray(RNG.standard_normal(shape, dtype=np.float32))


def ran(kernel, grid, block, args):
    """Launch ``kernel`` after its report came out clean."""
    report = sanitize(kernel, grid, block, args)
    assert report.clean, str(report)
    kernel(grid, block, args)


@pytest.mark.parametrize("n", [1, 16, 257, 1000])
@pytest.mark.parametrize("name", ["window_each", "window_shared"])
def test_a_window_is_the_sum_of_the_neighbours_that_exist(name, n):
    x, y = normal(n), cp.full(n, cp.nan, cp.float32)
    ran(load(kernel_file(f"{name}", FOLDER)), -(-n // 256), 256, (x, y, n))
    exact = np.convolve(np.pad(x.get().astype(np.float64), 16), np.ones(33), "valid")
    np.testing.assert_allclose(y.get(), exact, atol=1e-4)


@pytest.mark.parametrize("steps, sequences", [(1, 1), (33, 5), (70, 130)])
@pytest.mark.parametrize("unrolled", [0, 1])
def test_a_delay_line_subtracts_what_came_32_steps_before(unrolled, steps, sequences):
    x, y = normal(steps, sequences), cp.full((steps, sequences), cp.nan, cp.float32)
    kernel = load(kernel_file("delay_line", FOLDER), defines={"UNROLLED": unrolled})
    ran(kernel, -(-sequences // 128), 128, (x, y, steps, sequences))
    expected = x.get()
    expected[32:] -= x.get()[:-32]
    np.testing.assert_array_equal(y.get(), expected)


@pytest.mark.parametrize("unrolled, local_bytes", [(0, 128), (1, 0)])
def test_only_the_loop_keeps_its_array_in_local_memory(unrolled, local_bytes):
    kernel = load(kernel_file("delay_line", FOLDER), defines={"UNROLLED": unrolled})
    assert occupancy(kernel, 128).resources.local_bytes == local_bytes


def test_a_limit_of_32_registers_makes_the_delay_line_spill():
    options = ("--maxrregcount=32",)
    kernel = load(kernel_file("delay_line", FOLDER), defines={"UNROLLED": 1}, options=options)
    assert occupancy(kernel, 128).resources.spill_loads > 0


@pytest.mark.parametrize("n", [1, 255, 1000])
def test_the_tour_mixes_neighbours_within_a_block(n):
    tour, weights = (
        load(kernel_file("every_space", FOLDER)),
        np.array([0, 0.25, 0.5, 1], np.float32),
    )
    tour.variable("weights", 4, np.float32)[...] = cp.asarray(weights)
    x, which = normal(n), cp.asarray(RNG.integers(0, 4, n, dtype=np.int32))
    y, blocks = cp.full(n, cp.nan, cp.float32), -(-n // 256)
    ran(tour, blocks, 256, (x, which, y, n))
    tiles = np.pad(x.get().astype(np.float64), (0, blocks * 256 - n)).reshape(blocks, 256)
    right = np.roll(tiles, -1, axis=1).reshape(-1)[:n]
    part = weights[which.get()]
    np.testing.assert_allclose(y.get(), part * x.get() + (1 - part) * right, atol=1e-6)


def test_the_tour_really_needs_local_memory():
    assert occupancy(load(kernel_file("every_space", FOLDER)), 256).resources.local_bytes == 16


@pytest.mark.parametrize("places, stride", [(1, 1), (7, 1), (64, 32)])
def test_a_ring_visits_every_place_once(places, stride):
    chain, at, seen = hardware.ring(places, stride), 0, []
    for _ in range(places):
        seen.append(at)
        at = int(chain[at])
    assert at == 0
    assert sorted(seen) == list(range(0, places * stride, stride))


@pytest.mark.parametrize("steps", [1, 63, 130])
def test_a_chase_ends_where_the_chain_says(steps):
    chain, at = hardware.ring(64, 32), 0
    place, cycles = cp.zeros(1, cp.uint32), cp.zeros(1, cp.int64)
    ran(load(kernel_file("pointer_chase", FOLDER)), 1, 1, (cp.asarray(chain), place, 0, cycles))
    load(kernel_file("pointer_chase", FOLDER))(1, 1, (cp.asarray(chain), place, steps, cycles))
    for _ in range(steps):
        at = int(chain[at])
    assert int(place[0]) == at


@pytest.mark.parametrize("constant", [0, 1])
def test_a_chase_through_shared_or_constant_memory_ends_there_too(constant):
    module = load(kernel_file("shared_chase", FOLDER), defines={"CONSTANT": constant})
    chain, place, cycles = hardware.ring(100, 1), cp.zeros(1, cp.uint32), cp.zeros(1, cp.int64)
    module.variable("constant_ring", 1024, np.uint32)[:100] = cp.asarray(chain)
    module(1, 1, (cp.asarray(chain), 100, place, 99, cycles))
    assert chain[int(place[0])] == 0


@pytest.mark.parametrize("number, dtype", [("float", np.float32), ("double", np.float64)])
def test_every_chain_of_multiply_adds_counts(number, dtype):
    sums, cycles = cp.zeros(64, dtype), cp.zeros(1, cp.int64)
    kernel = load(kernel_file("fma_chains", FOLDER), defines={"CHAINS": 3, "NUMBER": number})
    ran(kernel, 2, 32, (2.0, 1.0, 2, cycles, sums))
    starts = np.arange(32)[:, None] + np.arange(3)
    np.testing.assert_array_equal(sums.get(), np.tile((4 * starts + 3).sum(axis=1), 2))


@pytest.mark.parametrize("private", [0, 1])
def test_reading_again_reads_everything_in_every_pass(private):
    sums = cp.zeros(64, cp.float32)
    kernel = load(kernel_file("read_again", FOLDER), defines={"PRIVATE": private})
    ran(kernel, 2, 32, (cp.ones(4000, cp.float32), 1000, 3, sums))
    assert float(sums.sum()) == 12_000


def test_the_shared_tile_is_read_whole_in_every_pass():
    sums = cp.zeros(512, cp.float32)
    ran(load(kernel_file("shared_again", FOLDER)), 2, 256, (cp.ones(4096, cp.float32), 3, sums))
    assert float(sums.sum()) == 2 * 3 * 4096


@pytest.mark.parametrize("different", [1, 5, 32])
def test_the_table_is_read_from_as_many_places_as_asked_for(different):
    module, y = load(kernel_file("constant_read", FOLDER)), cp.zeros(64, cp.float32)
    table = np.arange(256, dtype=np.float32)
    module.variable("table", 256, np.float32)[...] = cp.asarray(table)
    ran(module, 1, 64, (y, 300, different))
    expected = [table[(i % different + np.arange(300)) % 256].sum() for i in range(64)]
    np.testing.assert_array_equal(y.get(), expected)


def test_everything_that_can_be_measured_comes_with_the_course():
    assert set(hardware.MEASURES) <= set(hardware.stored())


@pytest.mark.skipif(ON_GPU, reason="a GPU measures for itself")
def test_without_a_gpu_measured_gives_the_stored_figures_and_their_gpu():
    content = hardware.stored()
    assert hardware.measured("delay") == (content["delay"], content["device"])


@pytest.mark.skipif(ON_GPU, reason="a GPU can measure")
def test_without_a_gpu_nothing_is_measured():
    with pytest.raises(LessonError, match="hardware.stored"):
        memories.latency(4096)
