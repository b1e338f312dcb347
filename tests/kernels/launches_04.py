"""How tests launch the kernels of chapter 04 that no benchmark launches, and some others at sizes
that no benchmark has."""

from dataclasses import dataclass

import numpy as np
from launchers import Chapter, Demonstration, InPlace, draw, work

from course_utils import ceil_div, cp
from course_utils.benchmarks.cases.first_kernels.scans_and_sorts import SCAN_THREADS, SELECT_TILE
from course_utils.benchmarks.experiments.cooperation import smoothed
from course_utils.benchmarks.experiments.litmus import ALL as LITMUS
from course_utils.benchmarks.experiments.litmus import WEAK
from course_utils.benchmarks.harness.arrays import double
from course_utils.benchmarks.harness.workload import KernelCall, Workload

CHAPTER = Chapter("04_first_kernels")
kernel = CHAPTER.kernel
SIZES = [1, 255, 257, 1009]
SHAPES = [(1, 1), (16, 32), (37, 50)]


# --- threads ---


@CHAPTER.launch("hello", sizes=[(2, 4), (1, 33)])
def hello(name, count, threads):
    lines = [f"block {block}, thread {thread}" for block, thread in np.ndindex(count, threads)]
    return Demonstration(KernelCall(kernel(name), count, threads, ()), prints=tuple(lines))


@CHAPTER.launch("thread_ids", "grid_stride_ids", sizes=SIZES)
def thread_ids(name, n):
    ids, i = cp.empty((2, n), cp.int32), np.arange(n)
    grid = ceil_div(n, 8) if name == "thread_ids" else 2
    expected = np.array([i // 8 % grid, i % 8])
    return work(kernel(name), grid, 8, (*ids, n), ids, expected)


@CHAPTER.launch("grid_stride", sizes=[(count, n) for count in (1, 3) for n in SIZES])
def grid_stride(name, count, n):
    a, b, c = draw(n), draw(n, seed=1), cp.empty(n, cp.float32)
    return work(kernel(name), count, 256, (cp.asarray(a), cp.asarray(b), c, n), c, a + b)


@CHAPTER.launch("fade", sizes=[(1, 37), (255, 0), (257, 1), (1009, 37)])
def fade(name, n, rounds):
    start, x = draw(n), cp.empty(n, cp.float32)
    expected = 1 - (1 - start.astype(np.float64)) * 0.999**rounds
    launch = ceil_div(n, 256), 256, (x, n, rounds)
    return work(kernel(name), *launch, x, expected, InPlace, start=start, rtol=1e-5, atol=1e-5)


# --- grids ---


@CHAPTER.launch("places_2d", sizes=[32, 57])
def places_2d(name, columns):
    places = cp.empty((2, 4, 32), cp.int32)
    y, x = np.mgrid[:4, :32]
    expected = np.array([y * columns + x, x * columns + y])
    return work(kernel(name), 1, (32, 4), (*places, columns), places, expected)


@CHAPTER.launch("thread_ids_2d", sizes=SHAPES)
def thread_ids_2d(name, rows, columns):
    ids = cp.empty((4, rows, columns), cp.int32)
    row, column = np.mgrid[:rows, :columns]
    expected = np.array([column // 4, row // 2, column % 4, row % 2])
    launch = (ceil_div(columns, 4), ceil_div(rows, 2)), (4, 2), (*ids, rows, columns)
    return work(kernel(name), *launch, ids, expected)


@CHAPTER.launch("image_vignette", sizes=SHAPES)
def image_vignette(name, height, width):
    rgb, out = draw((height, width, 3)), cp.empty((height, width, 3), cp.float32)
    down = (np.arange(height)[:, None] + 0.5) / height - 0.5
    across = (np.arange(width) + 0.5) / width - 0.5
    expected = rgb * (1 - down**2 - across**2)[:, :, None]
    grid = ceil_div(width, 16), ceil_div(height, 16)
    arguments = cp.asarray(rgb), out, height, width, 0.5
    return work(kernel(name), grid, (16, 16), arguments, out, expected, rtol=1e-5)


@CHAPTER.launch("image_blur", sizes=[(*shape, radius) for shape in SHAPES for radius in (0, 3)])
def image_blur(name, height, width, radius):
    grey, out = draw((height, width)), cp.empty((height, width), cp.float32)
    expected = [
        grey[max(r - radius, 0) : r + radius + 1, max(c - radius, 0) : c + radius + 1].mean(
            dtype=np.float64
        )
        for r, c in np.ndindex(height, width)
    ]
    grid = ceil_div(width, 16), ceil_div(height, 16)
    arguments = cp.asarray(grey), out, height, width, radius
    expected = np.reshape(expected, (height, width))
    return work(kernel(name), grid, (16, 16), arguments, out, expected, rtol=1e-4, atol=1e-5)


@CHAPTER.launch("volume_ball", sizes=[(1, 1, 1), (5, 9, 13)])
def volume_ball(name, *shape):
    volume = cp.empty(shape, cp.float32)
    places = np.indices(shape) - (np.array(shape).reshape(3, 1, 1, 1) - 1) / 2
    expected = np.maximum(0, 1 - np.sqrt((places**2).sum(axis=0)) / 4)
    grid = ceil_div(shape[2], 8), ceil_div(shape[1], 8), ceil_div(shape[0], 4)
    return work(kernel(name), grid, (8, 8, 4), (volume, *shape, 4.0), volume, expected, atol=1e-6)


# --- barriers and atomics ---


@CHAPTER.launch("shift_left", sizes=[1, 2, 32, 33, 255, 1024])
def shift_left(name, n):
    start, x = draw(n), cp.empty(n, cp.float32)
    expected = np.append(start[1:], start[-1])
    return work(kernel(name), 1, ceil_div(n, 32) * 32, (x, n), x, expected, InPlace, start=start)


@CHAPTER.launch("shift_left_race", sizes=[128])
def shift_left_race(name, n):
    call = KernelCall(kernel(name), 1, n, (cp.asarray(draw(n)), n))
    return Demonstration(call, finds=("data race",))


@CHAPTER.launch("meet", sizes=[(1, 1), (7, 33), (16, 64)])
def meet(name, count, threads):
    arrived, met = cp.empty(1, cp.int32), cp.empty(count, cp.int32)
    launch = count, threads, (arrived, met, 10_000)
    return work(kernel(name), *launch, met, np.ones(count), cleared=(arrived,))


@CHAPTER.launch("votes", sizes=[5, 31, 41])
def votes(name, most):
    x = np.random.default_rng(5).integers(0, most, 32).astype(np.int32)
    answers = cp.empty((3, 32), cp.int32)
    ballot = sum(1 << lane for lane in range(32) if x[lane] % 5 == 0)
    one_lane = [np.uint32(ballot).view(np.int32), (x > 30).any(), (x > 30).all()]
    arguments = cp.asarray(x), answers[0].view(cp.uint32), *answers[1:]
    expected = np.tile(np.array(one_lane, np.int64)[:, None], 32)
    return work(kernel(name), 1, 32, arguments, answers, expected)


@CHAPTER.launch("integer_atomics", sizes=[1, 257, 1009])
def integer_atomics(name, n):
    """Without atomicExch and atomicCAS, of which any thread may be the one."""
    x = np.random.default_rng(n).integers(1, 2**32, n, dtype=np.uint32)
    start = np.array([0, 0, 2**32 - 1, 0, 2**32 - 1, 0, 0, 0, 0, 0, 0], np.uint32)
    result, ticket = cp.asarray(start), cp.empty(n, cp.uint32)
    combined = [ufunc.reduce(x) for ufunc in (np.bitwise_and, np.bitwise_or, np.bitwise_xor)]
    subtracted = -int(x.sum(dtype=np.uint64)) % 2**32
    expected = np.array([n, subtracted, x.min(), x.max(), *combined, n % 10, -n % 10])
    launch = ceil_div(n, 256), 256, (cp.asarray(x), result, ticket, n)
    return work(kernel(name), *launch, result[:9], expected, InPlace, start=start[:9])


@CHAPTER.launch("atomic_max_float", sizes=[(1, 0.0), (257, -9.0), (1009, 0.0)])
def atomic_max_float(name, n, shift):
    x, highest = draw(n) + np.float32(shift), cp.empty(1, cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), highest, n)
    start = np.array([-np.inf])
    return work(kernel(name), *launch, highest, x.max(keepdims=True), InPlace, start=start)


@CHAPTER.launch(
    "histogram_global",
    "histogram_aggregated",
    "histogram_shared",
    "histogram_vector",
    "histogram_lanes",
    sizes=[(17, 3), (1009, 1), (4099, 256)],
)
def histogram(name, n, different):
    pixels = np.random.default_rng(n).integers(256 - different, 256, n).astype(np.uint8)
    counts = cp.empty(256, cp.uint32)
    one_by_one = name in ("histogram_global", "histogram_aggregated")
    grid = ceil_div(n, 256) if one_by_one else 3
    block = 1024 if name == "histogram_lanes" else 256
    launch = grid, block, (cp.asarray(pixels), counts, n)
    expected = np.bincount(pixels, minlength=256)
    return work(kernel(name), *launch, counts, expected, cleared=(counts,))


# --- coalescing ---


@dataclass(frozen=True)
class IsNaN(InPlace):
    """Work whose result is whether the output is NaN."""

    def numbers(self, result):
        return cp.isnan(result)


@CHAPTER.launch("read_only", sizes=[(n, nan) for n in (1, 5, 4099) for nan in (False, True)])
def read_only(name, vectors, nan):
    x, never = draw(4 * vectors), cp.empty(1, cp.float32)
    if nan:
        x[-1] = np.nan
    launch = 2, 256, (cp.asarray(x), never, vectors)
    return work(kernel(name), *launch, never, np.array([nan]), IsNaN, start=np.zeros(1))


# --- reductions ---


@CHAPTER.launch("softmax_row", sizes=[(1, 4), (3, 1000), (2, 4096)])
def softmax_row(name, rows, columns):
    x, y = draw((rows, columns)), cp.empty((rows, columns), cp.float32)
    powers = np.exp(x.astype(np.float64))
    expected = powers / powers.sum(axis=1, keepdims=True)
    launch = rows, 256, (cp.asarray(x), y, columns)
    return work(kernel(name), *launch, y, expected, rtol=1e-5)


@CHAPTER.launch(
    "sum_shared_interleaved", "sum_shared_sequential", "sum_warp_shuffle", sizes=[1, 1023]
)
def sums_of_blocks(name, n):
    x, sums = draw(n) + np.float32(0.1), cp.empty(ceil_div(n, 256), cp.float32)
    expected = np.add.reduceat(x.astype(np.float64), np.arange(0, n, 256))
    launch = ceil_div(n, 256), 256, (cp.asarray(x), sums, n)
    return work(kernel(name), *launch, sums, expected, rtol=1e-5, atol=1e-4)


@CHAPTER.launch("sum_single_pass", sizes=[(1, 1), (1, 1023), (5, 3), (5, 20011)])
def sum_single_pass(name, grid, n):
    x, total, done = draw(n) + np.float32(0.1), cp.empty(1, cp.float32), cp.empty(1, cp.uint32)
    launch = grid, 1024, (cp.asarray(x), total, cp.empty(grid, cp.float32), done, n)
    expected = x.sum(dtype=np.float64, keepdims=True)
    error = {"rtol": 1e-5, "atol": 1e-5 * n**0.5}
    return work(kernel(name), *launch, total, expected, Workload, cleared=(done,), **error)


@dataclass(frozen=True)
class Summed(Workload):
    """Work whose result is the sum of the output."""

    def numbers(self, result):
        return result.astype(np.float64).sum().reshape(1)


@CHAPTER.launch("sum_vector", sizes=[(1, 1), (1, 1023), (5, 3), (5, 20011)])
def sum_vector(name, grid, n):
    x, sums = draw(n) + np.float32(0.1), cp.empty(grid, cp.float32)
    expected = x.sum(dtype=np.float64, keepdims=True)
    error = {"rtol": 1e-5, "atol": 1e-5 * n**0.5}
    return work(kernel(name), grid, 1024, (cp.asarray(x), sums, n), sums, expected, Summed, **error)


# --- transposes ---

TRANSPOSES = ("naive", "shared", "padded", "swizzled", "vector")


@CHAPTER.launch(*(f"transpose_{how}" for how in TRANSPOSES), sizes=[(4, 132), (100, 36), (192, 64)])
def transpose(name, rows, columns):
    a, out = draw((rows, columns)), cp.empty((columns, rows), cp.float32)
    grid, block = (ceil_div(columns, 32), ceil_div(rows, 32)), (32, 32)
    if name == "transpose_vector":
        grid, block = (ceil_div(rows, 64), ceil_div(columns, 64)), 256
    return work(kernel(name), grid, block, (cp.asarray(a), out, rows, columns), out, a.T)


# --- the memory model ---


@dataclass(frozen=True)
class Outcomes(Workload):
    """Work whose results are how many outcomes were counted, and how many of the weak one."""

    weak: int = 0

    def poison(self) -> None:
        pass

    def numbers(self, result):
        return cp.asarray(np.array([result.get().sum(), result.get()[self.weak]], np.float64))


@CHAPTER.launch("hand_over", sizes=[1, 200])
def hand_over(name, n):
    x, box, flag, y = np.arange(n, dtype=np.int32), *(cp.empty(m, cp.int32) for m in (n, 1, n))
    launch = 2, ceil_div(n, 32) * 32, (cp.asarray(x), box, flag, y, n)
    return work(kernel(name), *launch, y, 2 * x + 1, cleared=(flag,))


@CHAPTER.launch("last_block_max", sizes=[(1, 1), (5, 2003), (300, 4099)])
def last_block_max(name, grid, n):
    x, largest_of, largest = (
        draw(n) - np.float32(5),
        cp.empty(grid, cp.float32),
        cp.empty(1, cp.float32),
    )
    done = cp.empty(1, cp.uint32)
    launch = grid, 256, (cp.asarray(x), largest_of, largest, done, n)
    return work(kernel(name), *launch, largest, x.max(keepdims=True), cleared=(done,))


@CHAPTER.launch("count_keys", sizes=[(1, 1), (3, 2003)])
def count_keys(name, grid, n):
    keys = np.random.default_rng(n).integers(0, 64, n, dtype=np.int32)
    counts, expected = cp.empty(64, cp.int32), np.bincount(keys, minlength=64)
    launch = grid, 256, (cp.asarray(keys), counts, n)
    return work(kernel(name), *launch, counts, expected, cleared=(counts,))


@CHAPTER.launch("reverse_tiles", sizes=[(1, 1), (2, 7), (5, 3)])
def reverse_tiles(name, grid, tiles):
    x, y = draw(256 * tiles), cp.empty(256 * tiles, cp.float32)
    expected = x.reshape(-1, 256)[:, ::-1].ravel()
    return work(kernel(name), grid, 256, (cp.asarray(x), y, 256 * tiles), y, expected)


@CHAPTER.launch("add_tiles", sizes=[(1, 1), (2, 5), (3, 2)])
def add_tiles(name, grid, tiles):
    x, y = draw(256 * tiles * grid), cp.empty(256 * grid, cp.float32)
    expected = x.reshape(grid, tiles, 256).astype(np.float64).sum(axis=1)[:, ::-1].ravel()
    launch = grid, 256, (cp.asarray(x), y, tiles)
    return work(kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("cluster_totals", sizes=[4, 12])
def cluster_totals(name, grid):
    x, total = draw(128 * grid) + np.float32(0.1), cp.empty(grid, cp.float32)
    expected = np.repeat(x.astype(np.float64).reshape(-1, 512).sum(axis=1), 4)
    launch = grid, 128, (cp.asarray(x), total)
    return work(kernel(name), *launch, total, expected, rtol=1e-5, atol=1e-4)


@CHAPTER.launch("hand_down", sizes=[1, 32, 33, 1000])
def hand_down(name, n):
    x, y = cp.arange(n, dtype=cp.int32), cp.full(n, -1, cp.int32)
    return work(kernel(name), 2, 32, (x, y, n), y, 2 * np.arange(n) + 1)


@CHAPTER.launch("litmus", "litmus_count", sizes=["MP", "SB", "LB", "CoRR", "IRIW"])
def litmus(name, test):
    """No machine shows the weak outcome where the accesses keep their order."""
    tried = next(t for t in LITMUS if t.test == test and not t.allowed)
    instances, rounds, loads = 192, 3, 4 if test == "IRIW" else 2
    x, y = (cp.empty(256, cp.uint32) for _ in range(2))
    found = cp.empty(rounds * loads * instances, cp.uint32)
    counts = cp.empty(16, cp.uint64)
    calls = (
        KernelCall(kernel("litmus", **tried.defines()), 3, 64, (x, y, found, 256, rounds, 2, 1)),
        KernelCall(kernel("litmus_count"), 3, 64, (found, counts, instances, rounds, loads)),
    )
    bits = WEAK[test]
    expected = np.array([rounds * instances, 0])
    cleared = x, y, counts
    return Outcomes(calls, counts, lambda: expected, cleared=cleared, weak=bits, same_bits=False)


# --- cooperation ---


@CHAPTER.launch("group_sums", sizes=[(n, group) for n in (1, 1003) for group in (8, 32)])
def group_sums(name, n, group):
    x, sums = draw(n) + np.float32(0.1), cp.empty(ceil_div(n, group), cp.float32)
    expected = np.add.reduceat(x.astype(np.float64), np.arange(0, n, group))
    launch = ceil_div(n, 96), 96, (cp.asarray(x), sums, n)
    return work(kernel(name, GROUP=group), *launch, sums, expected, rtol=1e-5, atol=1e-5)


@dataclass(frozen=True)
class InAnyOrder(Workload):
    """Work whose results may stand in any order."""

    def numbers(self, result):
        return cp.asarray(np.sort(result.get()))


@CHAPTER.launch("keep_positive", sizes=[1, 33, 1003])
def keep_positive(name, n):
    x = draw(n)
    x[0] = 1
    kept, count = cp.empty(int((x > 0).sum()), cp.float32), cp.empty(1, cp.int32)
    launch = ceil_div(n, 128), 128, (cp.asarray(x), kept, count, n)
    return work(
        kernel(name),
        *launch,
        kept,
        np.sort(x[x > 0]),
        InAnyOrder,
        cleared=(count,),
        same_bits=False,
    )


@CHAPTER.launch("reverse_long_rows", sizes=[(1, 1), (3, 1000), (2, 20_000)])
def reverse_long_rows(name, rows, columns):
    start, x = draw((rows, columns)), cp.empty((rows, columns), cp.float32)
    call = KernelCall(kernel(name), rows, 256, (x, columns), shared_mem=4 * columns)
    return InPlace((call,), x, lambda: start[:, ::-1], start=start)


@CHAPTER.launch("line_and_square", sizes=[(1, ""), (1003, "__restrict__")])
def line_and_square(name, n, restrict):
    a, x, lines = np.array([2, 3], np.float32), draw(n), cp.empty((2, n), cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(a), cp.asarray(x), *lines, n)
    expected = np.array([2 + 3 * x, 2 + 3 * x**2])
    return work(kernel(name, RESTRICT=restrict), *launch, lines, expected, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("border", sizes=[(1, 1), (9, 33), (200, 300)])
def border(name, rows, columns):
    x, expected = cp.empty((rows, columns), cp.uint8), np.ones((rows, columns))
    expected[1:-1, 1:-1] = 0
    grid = ceil_div(columns, 32), ceil_div(rows, 8)
    return work(kernel(name), grid, (32, 8), (x, rows, columns), x, expected)


@CHAPTER.launch("smooth_step", sizes=[(1, 1), (3, 1003)])
def smooth_step(name, grid, n):
    x, y = draw(n), cp.empty(n, cp.float32)
    launch = grid, 64, (cp.asarray(x), y, n)
    return work(kernel(name), *launch, y, smoothed(x, 1), rtol=1e-5, atol=1e-6)


@CHAPTER.launch("smooth_steps_grid", "smooth_steps_barrier", sizes=[(1, 1, 2), (4, 1003, 6)])
def smooth_steps(name, grid, n, steps):
    start, x, y = draw(n), cp.empty(n, cp.float32), cp.empty(n, cp.float32)
    by_hand = name == "smooth_steps_barrier"
    arrived = (cp.empty(1, cp.uint32),) if by_hand else ()
    made = kernel(name, cooperative=not by_hand)
    error = {"rtol": 1e-5, "atol": 1e-5, "start": start, "cleared": arrived}
    return work(
        made, grid, 64, (x, y, *arrived, n, steps), x, smoothed(start, steps), InPlace, **error
    )


@CHAPTER.launch("table_lookup", sizes=[(1, 1), (1003, 77)])
def table_lookup(name, n, entries):
    x, table, y = draw((n, 4)), np.full(entries, 3, np.float32), cp.empty(n, cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(x).ravel(), cp.asarray(table), y, n, entries)
    expected = x.astype(np.float64).sum(axis=1) + 3
    return work(kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-5)


# --- irregular work ---


def sparse_rows(rows, longest):
    """A matrix in CSR: offsets, columns and values, with empty rows and one of ``longest``."""
    rng = np.random.default_rng(rows)
    lengths = rng.integers(0, 6, rows)
    lengths[rows // 2] = longest
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int32)
    columns = rng.integers(0, rows, offsets[-1]).astype(np.int32)
    return offsets, columns, draw(offsets[-1])


def product(offsets, columns, values, x):
    """y = A x in float64, row by row."""
    terms = double(values) * double(x)[columns]
    return np.array([terms[a:b].sum() for a, b in zip(offsets, offsets[1:], strict=False)])


def slots(columns, values, offsets, order, width):
    """The rows ``order`` as the columns of two arrays: their columns, and their values."""
    where = np.full((width, len(order)), -1, np.int32)
    numbers = np.zeros((width, len(order)), np.float32)
    for lane, row in enumerate(order):
        part = slice(offsets[row], offsets[row + 1])
        where[: part.stop - part.start, lane] = columns[part]
        numbers[: part.stop - part.start, lane] = values[part]
    return where, numbers


SPARSE = [(1, 1), (2, 0), (33, 5), (257, 1000), (1009, 40)]


@CHAPTER.launch("spmv_rows", "spmv_warps", "spmv_merge", sizes=SPARSE)
def spmv_csr(name, rows, longest):
    matrix, x, y = sparse_rows(rows, longest), draw(rows, seed=1), cp.empty(rows, cp.float32)
    steps = rows + len(matrix[1])
    grid, block = {
        "spmv_rows": (ceil_div(rows, 256), 256),
        "spmv_warps": (ceil_div(rows, 8), 256),
        "spmv_merge": (ceil_div(steps, 896), 128),
    }[name]
    launch = grid, block, (*map(cp.asarray, matrix), cp.asarray(x), y, rows)
    expected = product(*matrix, x)
    if name == "spmv_merge":  # it adds to what is there
        zeros = np.zeros(rows, np.float32)
        return work(kernel(name), *launch, y, expected, InPlace, start=zeros, atol=1e-4)
    return work(kernel(name), *launch, y, expected, atol=1e-4)


@CHAPTER.launch("spmv_ell", sizes=SPARSE)
def spmv_ell(name, rows, longest):
    offsets, columns, values = sparse_rows(rows, longest)
    x, y, width = draw(rows, seed=1), cp.empty(rows, cp.float32), int(np.diff(offsets).max())
    padded = map(cp.asarray, slots(columns, values, offsets, range(rows), width))
    launch = ceil_div(rows, 256), 256, (*padded, cp.asarray(x), y, rows, width)
    return work(kernel(name), *launch, y, product(offsets, columns, values, x), atol=1e-4)


@CHAPTER.launch("spmv_sell", sizes=SPARSE)
def spmv_sell(name, rows, longest):
    offsets, columns, values = sparse_rows(rows, longest)
    x, y = draw(rows, seed=1), cp.empty(rows, cp.float32)
    lengths = np.diff(offsets)
    order = np.argsort(-lengths, kind="stable").astype(np.int32)
    slices = [order[i : i + 32] for i in range(0, rows, 32)]
    made = [slots(columns, values, offsets, rows, lengths[rows[0]]) for rows in slices]
    padding = ((0, 0), (0, -rows % 32))
    made[-1] = (
        np.pad(made[-1][0], padding, constant_values=-1),
        np.pad(made[-1][1], padding),
    )
    starts = np.append(0, np.cumsum([part.size for part, _ in made])).astype(np.int32)
    whole = [np.concatenate([part.ravel() for part in parts]) for parts in zip(*made, strict=True)]
    order = np.pad(order, (0, -rows % 32), constant_values=-1)
    arrays = map(cp.asarray, (starts, order, *whole, x))
    launch = ceil_div(len(slices), 8), 256, (*arrays, y, len(slices))
    return work(kernel(name), *launch, y, product(offsets, columns, values, x), atol=1e-4)


@CHAPTER.launch("bfs_vertices", "bfs_edges", sizes=[(9, 3), (257, 1000), (1009, 40)])
def bfs_level(name, vertices, longest):
    """One level from a third of the vertices, of which each has the distance 0."""
    offsets, neighbours, _ = sparse_rows(vertices, longest)
    queue = np.arange(1, vertices, 3, dtype=np.int32)
    start = np.full(vertices, -1, np.int32)
    start[queue] = 0
    degrees = np.diff(offsets)[queue]
    firsts = np.append(0, np.cumsum(degrees)).astype(np.int32)
    found = np.concatenate([neighbours[offsets[v] : offsets[v + 1]] for v in queue])
    expected = start.copy()
    expected[found[start[found] < 0]] = 1
    distance, next_queue = cp.empty(vertices, cp.int32), cp.empty(vertices, cp.int32)
    by_edge = name == "bfs_edges"
    work_items = int(firsts[-1]) if by_edge else len(queue)
    frontier = (queue, firsts[:-1]) if by_edge else (queue,)
    sizes = (len(queue), int(firsts[-1])) if by_edge else (len(queue),)
    count = cp.empty(1, cp.int32)
    args = (
        *map(cp.asarray, (offsets, neighbours, *frontier)),
        *sizes,
        *(1, distance, next_queue, count),
    )
    launch = ceil_div(work_items, 256), 256, args
    return work(kernel(name), *launch, distance, expected, InPlace, start=start, cleared=(count,))


BOXES = [(1, 1, 1), (5, 9, 13), (19, 17, 65)]


@CHAPTER.launch("heat_direct", "heat_tile", "heat_stream", sizes=BOXES)
def heat(name, *shape):
    nz, ny, nx = shape
    u, y = draw(shape), cp.empty(shape, cp.float32)
    expected = double(u)
    inner = (slice(1, -1),) * 3
    if min(shape) > 2:
        around = sum(np.roll(expected, by, axis) for axis in range(3) for by in (-1, 1))
        expected = expected.copy()
        expected[inner] += 0.1 * (around - 6 * double(u))[inner]
    grid, block, more = {
        "heat_direct": ((ceil_div(nx, 32), ceil_div(ny, 8), nz), (32, 8), ()),
        "heat_tile": (tuple(ceil_div(n, 8) for n in (nx, ny, nz)), (8, 8, 8), ()),
        "heat_stream": ((ceil_div(nx, 32), ceil_div(ny, 8), ceil_div(nz, 7)), (32, 8), (7,)),
    }[name]
    arguments = cp.asarray(u), y, np.float32(0.1), nx, ny, nz, *more
    return work(kernel(name), grid, block, arguments, y, expected, atol=1e-5)


# --- scans and sorts ---


@CHAPTER.launch("scan_cub_block", sizes=[1, 4096, 5003])
def scan_cub_block(name, n):
    x, out, sums = draw(n), cp.empty(n, cp.float32), cp.empty(ceil_div(n, 4096), cp.float32)
    expected = np.concatenate(
        [np.cumsum(double(part)) for part in np.split(x, range(4096, n, 4096))]
    )
    launch = ceil_div(n, 4096), 256, (cp.asarray(x), out, sums, n)
    return work(kernel(name), *launch, out, expected, atol=1e-4)


@CHAPTER.launch("sort_cub_block", sizes=[1, 2])
def sort_cub_block(name, tiles):
    """Its keys are all different, so the values say where each stood."""
    n = 2048 * tiles
    keys = np.random.default_rng(0).permutation(n).astype(np.uint32) * 3
    order = np.concatenate(
        [2048 * tile + part.argsort() for tile, part in enumerate(keys.reshape(tiles, -1))]
    )
    values, result = cp.arange(n, dtype=cp.uint32), cp.empty((2, n), cp.uint32)
    args = cp.asarray(keys), values, *result, cp.empty(tiles, cp.uint32)
    return work(kernel(name), tiles, 256, args, result, np.stack([keys[order], order]))


@CHAPTER.launch("look_back_diary", sizes=[(1, 0), (33, 20), (200, 1)])
def look_back_diary(name, tiles, stagger):
    x, upto, words = draw(32 * tiles), cp.empty(tiles, cp.float32), cp.empty(tiles + 1, cp.uint64)
    diary = cp.empty(tiles, cp.int32), cp.empty(tiles, cp.int32)
    expected = np.cumsum(double(x))[31::32]
    args = cp.asarray(x), upto, *diary, words, np.uint32(stagger)
    return work(kernel(name), tiles, 32, args, upto, expected, atol=1e-4, cleared=(words,))


@CHAPTER.launch("scan_specialized", sizes=[(1, 2049), (2, 8192), (3, 20481), (5, 4096)])
def scan_specialized(name, grid, n):
    """In tiles of 2048 elements, two of them in shared memory; also more blocks than tiles."""
    x, out, tiles = draw(n), cp.empty(n, cp.float32), ceil_div(n, 2048)
    words = cp.empty(tiles + 1, cp.uint64)
    launch = grid, 704, (cp.asarray(x), out, words, tiles, n), out, np.cumsum(double(x))
    small = kernel(name, STAGES=2, GROUPS=1)
    return work(small, *launch, atol=1e-3, shared_mem=2 * 8192, cleared=(words,))


@CHAPTER.launch("wait_for_first", sizes=[1, 140])
def wait_for_first(name, count):
    ready, ticket, met = cp.empty(1, cp.int32), cp.empty(1, cp.int32), cp.empty(count, cp.int32)
    launch = count, 256, (ready, ticket, met, 100_000, 1), met, np.ones(count)
    return work(kernel(name), *launch, shared_mem=204_800, cleared=(ready, ticket))


@CHAPTER.launch("select_look_back", sizes=[(1, -9.0), (8193, 9.0), (9001, 0.5)])
def number_selected(name, n, limit):
    x, words = draw(n), cp.empty(ceil_div(n, SELECT_TILE) + 1, cp.uint64)
    count, kept = cp.empty(1, cp.uint32), (x > limit).sum(keepdims=True)
    args = cp.asarray(x), limit, cp.empty(max(int(kept[0]), 1), cp.float32), count, words, n
    tiles = words.size - 1
    return work(kernel(name), tiles, SCAN_THREADS, args, count, kept, cleared=(words,))


@CHAPTER.launch("digit_counts", sizes=[(1, 1, 8), (2, 255, 32), (3, 9002, 8)])
def digit_counts(name, grid, n, copies):
    keys = np.random.default_rng(n).integers(0, 2**32, n, dtype=np.uint32)
    counts = cp.empty(1024, cp.uint32)
    digits = [np.bincount(keys >> 8 * place & 255, minlength=256) for place in range(4)]
    return work(
        kernel(name, COPIES=copies),
        *(grid, 1024, (cp.asarray(keys), counts, n), counts, np.concatenate(digits)),
        shared_mem=4096 * copies,
        cleared=(counts,),
    )


@CHAPTER.launch("sort_pass", sizes=[(1, 0, 4), (1025, 3, 4), (5003, 1, 4), (9001, 2, 32)])
def sort_pass(name, n, place, items):
    """Keys and values of one pass, half of the keys equal: in small tiles, and in a large one."""
    rng = np.random.default_rng(n)
    keys = rng.integers(0, 2**32, n, dtype=np.uint32)
    keys[rng.random(n) < 0.5] = keys[0]
    digits = keys >> 8 * place & 255
    counts = np.zeros((4, 256), np.uint32)
    counts[place] = np.bincount(digits, minlength=256)
    order = np.argsort(digits, kind="stable")
    threads = 256
    tiles = ceil_div(n, threads * items)
    words, tickets = cp.empty(4 * tiles * 256, cp.uint32), cp.empty(4, cp.uint32)
    result = cp.empty((2, n), cp.uint32)
    args = (
        *(cp.asarray(keys), result[0], cp.arange(n, dtype=cp.uint32), result[1]),
        *(cp.asarray(counts.reshape(-1)), words, tickets, place, n),
    )
    return work(
        kernel(name, THREADS=threads, ITEMS=items, PAIRS=1),
        *(tiles, threads, args, result, np.stack([keys[order], order])),
        shared_mem=4 * threads * items,
        cleared=(words, tickets),
    )
