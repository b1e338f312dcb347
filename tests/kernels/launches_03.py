"""How tests launch the kernels of chapter 03 that no benchmark launches."""

from dataclasses import dataclass

import numpy as np
from launchers import Chapter, draw, work

from course_utils import ceil_div, cp, hardware
from course_utils.benchmarks.harness.workload import Workload

CHAPTER = Chapter("03_gpu_introduction")
kernel = CHAPTER.kernel
RNG = np.random.default_rng(5)


def positive(n):
    return np.abs(draw(n, seed=5)) + np.float32(0.5)


@CHAPTER.launch("celsius", sizes=[1, 31, 257, 1000])
def celsius(name, n):
    x, y = np.linspace(32, 212, n, dtype=np.float32), cp.empty(n, cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), y, n)
    return work(kernel(name), *launch, y, np.linspace(0, 100, n), rtol=1e-5, atol=1e-4)


# --- execution ---


@CHAPTER.launch("any_order", sizes=[1, 256, 1000])
def any_order(name, n):
    order = cp.asarray(RNG.permutation(ceil_div(n, 256)).astype(np.int32))
    x, y = positive(n), cp.empty(n, cp.float32)
    return work(kernel(name), len(order), 256, (order, cp.asarray(x), y, n), y, 2 * x)


@dataclass(frozen=True)
class AnyOrder(Workload):
    """Work whose results may come in any order; ``expected`` has them in rising order."""

    def numbers(self, result):
        return cp.sort(result)


@CHAPTER.launch("block_diary", sizes=[1, 9, 33])
def block_diary(name, count):
    sm, ticket, counter = (cp.empty(size, cp.int32) for size in (count, count, 1))
    begin, end = cp.empty(count, cp.int64), cp.empty(count, cp.int64)
    launch = count, 33, (sm, ticket, begin, end, counter, 100)
    tickets = np.arange(count)
    return work(kernel(name), *launch, ticket, tickets, AnyOrder, cleared=(counter,))


@CHAPTER.launch("fma_chain", sizes=[0, 1, 37])
def fma_chain(name, steps):
    x, y = positive(66), cp.empty(66, cp.float32)
    expected = x.astype(np.float64)
    for _ in range(steps):
        expected = expected * np.float32(0.999) + 0.5
    return work(kernel(name), 2, 33, (cp.asarray(x), y, steps), y, expected, rtol=1e-5)


@CHAPTER.launch("load_chain", sizes=[0, 1, 37])
def load_chain(name, steps):
    following = cp.asarray(((np.arange(66) + 5) % 66).astype(np.int32))
    at = cp.empty(66, cp.int32)
    expected = (np.arange(66) + 5 * steps) % 66
    return work(kernel(name), 2, 33, (following, at, steps), at, expected)


@CHAPTER.launch("two_paths", sizes=[0, 1, 8, 32])
def two_paths(name, limit):
    x, y = positive(95), cp.empty(95, cp.float32)
    exact, lane = x.astype(np.float64), np.arange(95) % 32
    expected = np.where(lane < limit, np.sqrt(exact) + 1, 1 / exact - 1)
    launch = 1, 95, (cp.asarray(x), y, limit)
    return work(kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-6)


@CHAPTER.launch("nested_paths", sizes=[32, 61])
def nested_paths(name, threads):
    x, y = positive(2 * threads), cp.empty(2 * threads, cp.float32)
    exact, lane = x.astype(np.float64), np.arange(2 * threads) % threads % 32
    ways = [np.sqrt(exact) + 1, 1 / exact + 1]
    expected = np.select([lane < 8, lane < 16], ways, np.cos(exact))
    return work(kernel(name), 2, threads, (cp.asarray(x), y), y, expected, rtol=1e-5, atol=1e-6)


@CHAPTER.launch("trip_counts", sizes=[33, 64])
def trip_counts(name, threads):
    x, y = positive(40), cp.empty(threads, cp.float32)
    turns = RNG.integers(0, 41, threads).astype(np.int32)
    sums = np.concatenate([[0], np.cumsum(x.astype(np.float64))])
    launch = 1, threads, (cp.asarray(x), cp.asarray(turns), y)
    return work(kernel(name), *launch, y, sums[turns], rtol=1e-5)


@CHAPTER.launch("split_by", sizes=[1, 16, 32])
def split_by(name, group):
    x, y = positive(512), cp.empty(512, cp.float32)
    expected, odd = x.astype(np.float64), np.arange(512) // group % 2 == 1
    for _ in range(64):
        expected = np.where(odd, 1 / (expected + 1), np.sqrt(expected + 1))
    split = kernel(name, GROUP=group)
    return work(split, 2, 256, (cp.asarray(x), y), y, expected, rtol=1e-5)


# --- memory ---


@CHAPTER.launch("window_each", "window_shared", sizes=[1, 16, 257, 1000])
def window(name, n):
    x, y = draw(n), cp.empty(n, cp.float32)
    expected = np.convolve(np.pad(x.astype(np.float64), 16), np.ones(33), "valid")
    return work(kernel(name), ceil_div(n, 256), 256, (cp.asarray(x), y, n), y, expected, atol=1e-4)


@CHAPTER.launch(
    "delay_line", sizes=[(u, *shape) for u in (0, 1) for shape in ((1, 1), (33, 5), (70, 130))]
)
def delay_line(name, unrolled, steps, sequences):
    x, y = draw((steps, sequences)), cp.empty((steps, sequences), cp.float32)
    expected = x.copy()
    expected[32:] -= x[:-32]
    launch = ceil_div(sequences, 128), 128, (cp.asarray(x), y, steps, sequences)
    return work(kernel(name, UNROLLED=unrolled), *launch, y, expected)


@CHAPTER.launch("every_space", sizes=[1, 255, 1000])
def every_space(name, n):
    tour, weights = kernel(name), np.array([0, 0.25, 0.5, 1], np.float32)
    tour.module.variable("weights", 4, np.float32)[...] = cp.asarray(weights)
    x, which = draw(n), RNG.integers(0, 4, n, dtype=np.int32)
    y, count = cp.empty(n, cp.float32), ceil_div(n, 256)
    tiles = np.pad(x.astype(np.float64), (0, count * 256 - n)).reshape(count, 256)
    right = np.roll(tiles, -1, axis=1).reshape(-1)[:n]
    expected = weights[which] * x + (1 - weights[which]) * right
    arguments = cp.asarray(x), cp.asarray(which), y, n
    return work(tour, count, 256, arguments, y, expected, atol=1e-6)


def place_after(chain, steps):
    at = 0
    for _ in range(steps):
        at = int(chain[at])
    return np.array([at])


@CHAPTER.launch("pointer_chase", sizes=[0, 1, 63, 130])
def pointer_chase(name, steps):
    chain, place, cycles = hardware.ring(64, 32), cp.empty(1, cp.uint32), cp.empty(1, cp.int64)
    launch = 1, 1, (cp.asarray(chain), place, steps, cycles)
    return work(kernel(name), *launch, place, place_after(chain, steps), cleared=(place,))


@CHAPTER.launch("shared_chase", sizes=[(constant, n) for constant in (0, 1) for n in (1, 100)])
def shared_chase(name, constant, length):
    chase, chain = kernel(name, CONSTANT=constant), hardware.ring(length, 1)
    ring = chase.module.variable("constant_ring", 1024, np.uint32)
    ring[:length] = cp.asarray(chain)
    steps, place, cycles = length - 1, cp.empty(1, cp.uint32), cp.empty(1, cp.int64)
    launch = 1, 1, (cp.asarray(chain), length, place, steps, cycles)
    return work(chase, *launch, place, place_after(chain, steps), cleared=(place,))


@CHAPTER.launch("read_again", sizes=[(0, 1000), (1, 1000), (0, 77), (1, 78)])
def read_again(name, private, vectors):
    x, sums, grid, block, passes = draw(4 * vectors), cp.empty(66, cp.float32), 2, 33, 3
    each = x.astype(np.float64).reshape(vectors, 4).sum(axis=1)
    piece = vectors // grid
    expected = [
        each[b * piece + t : (b + 1) * piece : block].sum()
        if private
        else each[b * block + t :: grid * block].sum()
        for b, t in np.ndindex(grid, block)
    ]
    launch = grid, block, (cp.asarray(x), vectors, passes, sums)
    expected = passes * np.array(expected)
    return work(kernel(name, PRIVATE=private), *launch, sums, expected, atol=1e-4)


@CHAPTER.launch("shared_again", sizes=[1, 3])
def shared_again(name, passes):
    x, sums = draw(4096), cp.empty(512, cp.float32)
    each = x.astype(np.float64).reshape(1024, 4).sum(axis=1)
    first = np.arange(256)[:, None, None] + 32 * np.arange(passes)[:, None]
    expected = np.tile(each[(first + 256 * np.arange(4)) % 1024].sum(axis=(1, 2)), 2)
    return work(kernel(name), 2, 256, (cp.asarray(x), passes, sums), sums, expected, atol=1e-4)


@CHAPTER.launch("constant_read", sizes=[1, 5, 32])
def constant_read(name, different):
    read, y = kernel(name), cp.empty(66, cp.float32)
    table = np.arange(256, dtype=np.float32)
    read.module.variable("table", 256, np.float32)[...] = cp.asarray(table)
    first = np.arange(66) % 33 % different
    expected = table[(first[:, None] + np.arange(300)) % 256].sum(axis=1, dtype=np.float64)
    return work(read, 2, 33, (y, 300, different), y, expected)


# --- roofline ---


@CHAPTER.launch("fma_chains", sizes=[("float", 1), ("float", 3), ("double", 3)])
def fma_chains(name, number, chains):
    sums = cp.empty(66, np.float32 if number == "float" else np.float64)
    starts = np.arange(33)[:, None] + np.arange(chains)
    expected = np.tile((4 * starts + 3).sum(axis=1), 2)  # 2 (2 x + 1) + 1
    launch = 2, 33, (2.0, 1.0, 2, cp.empty(1, cp.int64), sums)
    return work(kernel(name, CHAINS=chains, NUMBER=number), *launch, sums, expected)
