"""Latency and bandwidth of a GPU's own memories, and what they do to a few kernels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import Module, load
from ...observing.timing import bench

TOPIC = "03_gpu_introduction/memory"
FMA_CHAINS = "03_gpu_introduction/roofline/fma_chains.cu"
SOURCES = (
    FMA_CHAINS,
    *(
        f"{TOPIC}/{name}.cu"
        for name in (
            "pointer_chase",
            "shared_chase",
            "read_again",
            "shared_again",
            "constant_read",
            "window_each",
            "window_shared",
            "delay_line",
        )
    ),
)
LINE = 128  # bytes of a line of the caches (CUDA C++ Programming Guide, "Device Memory Accesses")
MIB, GIB = 2**20, 2**30
TRIES = 3  # of a measurement that other work on the GPU may spoil
FOOTPRINTS = tuple(int(2**10 * 2 ** (step / 2)) // LINE * LINE for step in range(4, 39))
SWEPT = tuple(MIB * n for n in (2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048))


def ring(places: int, stride: int, seed: int = 0) -> np.ndarray:
    """A chain that visits ``places`` places once each, in random order, and comes back.

    A uint32 array of places × ``stride`` elements: element p holds the place after p. Places are
    ``stride`` elements apart, so that each lies in a line of its own when stride × 4 is 128 bytes.
    """
    order = np.random.default_rng(seed).permutation(places).astype(np.uint32) * np.uint32(stride)
    order = np.roll(order, -int(np.argmin(order)))  # begin at place 0, as the kernel does
    chain = np.zeros(places * stride, np.uint32)
    chain[order] = np.roll(order, -1)
    return chain


def latency(footprint: int, steps: int = 20_000) -> tuple[float, float]:
    """(cycles, nanoseconds) of one dependent load from a chain of ``footprint`` bytes.

    The chain is walked once (at most 600,000 steps) before, so that the caches hold what they can.
    """
    need_gpu()
    chase = load(f"{TOPIC}/pointer_chase.cu")
    chain = cp.asarray(ring(footprint // LINE, LINE // 4))
    place, cycles = cp.zeros(1, cp.uint32), cp.zeros(1, cp.int64)

    def walk(count: int) -> None:
        chase((1,), (1,), (chain, place, count, cycles))

    walk(min(footprint // LINE, 600_000))
    return _step_time(walk, cycles, steps)


def latencies() -> list[tuple[int, float, float]]:
    """(bytes, cycles, nanoseconds) of :func:`latency` for chains of ever more bytes."""
    return [(size, *latency(size)) for size in FOOTPRINTS]


def small_latencies(steps: int = 20_000) -> dict[str, tuple[float, float]]:
    """(cycles, nanoseconds) of a dependent FMA, and of loads from shared and constant memory."""
    need_gpu()
    found = {}
    place, cycles = cp.zeros(1, cp.uint32), cp.zeros(1, cp.int64)
    sums = cp.zeros(1, cp.float32)
    fma = load(FMA_CHAINS, defines={"CHAINS": 1})
    found["fma"] = _step_time(
        lambda count: fma((1,), (1,), (0.5, 1.0, count, cycles, sums)), cycles, steps
    )
    for name, constant, places in (("shared", 0, 1024), ("constant", 1, 256)):
        module = load(f"{TOPIC}/shared_chase.cu", defines={"CONSTANT": constant})
        chain = cp.asarray(ring(places, 1))
        module.variable("constant_ring", 1024, np.uint32)[:places] = chain
        place.fill(0)

        def walk(
            count: int, module: Module = module, chain: Any = chain, places: int = places
        ) -> None:
            module((1,), (1,), (chain, places, place, count, cycles))

        found[name] = _step_time(walk, cycles, steps)
    return found


def _step_time(walk: Callable[[int], None], cycles: Any, steps: int) -> tuple[float, float]:
    """(cycles, nanoseconds) of a step, from the difference between a long walk and a short one.

    What both have in common cancels: the launch, and the first loads, which find L1 empty. Where
    other work on the GPU made the short walk the longer one, both are walked again.
    Raises LessonError where that happens each time.
    """

    def timed(count: int) -> tuple[int, float]:
        found = bench(lambda: walk(count), flush_l2=False, repeats=5)
        return int(cycles[0]), found.median_ms * 1e6

    for _ in range(TRIES):
        (few_cycles, few_ns), (many_cycles, many_ns) = timed(steps), timed(3 * steps)
        if many_ns > few_ns and many_cycles > few_cycles:
            two = (many_cycles - few_cycles) / (2 * steps), (many_ns - few_ns) / (2 * steps)
            return round(two[0], 2), round(two[1], 2)
    raise LessonError(
        "a longer walk took less time than a shorter one: other work disturbs this GPU. "
        "End it, or measure later."
    )


def sweep_bandwidth(footprint: int, *, private: bool) -> float:
    """Bytes a second that all multiprocessors together read from ``footprint`` bytes.

    ``private``: each block reads a piece of its own, so that the L1 caches can serve it; otherwise
    every load goes to L2, or to the memory behind it when the footprint is larger.
    """
    need_gpu()
    kernel = load(f"{TOPIC}/read_again.cu", defines={"PRIVATE": int(private)})
    blocks = sm_count() * 2
    vectors = footprint // 16 // blocks * blocks
    passes = max(1, 4 * GIB // footprint)
    x = cp.zeros(vectors * 4, cp.float32)
    sums = cp.empty(blocks * 1024, cp.float32)
    found = bench(
        lambda: kernel((blocks,), (1024,), (x, vectors, passes, sums)),
        flush_l2=False,
        repeats=7,
        bytes=vectors * 16 * passes,
    )
    return found.bytes_per_second


def sweep(*, private: bool) -> list[tuple[int, int]]:
    """(bytes, bytes a second) of :func:`sweep_bandwidth` for ever more bytes."""
    return [(size, round(sweep_bandwidth(size, private=private))) for size in SWEPT]


def shared_bandwidth() -> float:
    """Bytes a second that all multiprocessors together read from shared memory."""
    need_gpu()
    kernel = load(f"{TOPIC}/shared_again.cu")
    blocks, passes = sm_count() * 8, 20_000
    x, sums = cp.zeros(4096, cp.float32), cp.empty(blocks * 256, cp.float32)
    moved = blocks * passes * 16 * 1024
    return bench(
        lambda: kernel((blocks,), (256,), (x, passes, sums)), flush_l2=False, repeats=7, bytes=moved
    ).bytes_per_second


def copy_bandwidth(nbytes: int = GIB) -> float:
    """Bytes a second of a large copy within the GPU's memory, read and written both counted."""
    need_gpu()
    source = cp.zeros(nbytes, cp.uint8)
    target = cp.empty_like(source)
    return bench(lambda: cp.copyto(target, source), bytes=2 * nbytes).bytes_per_second


def constant_times() -> dict[str, float]:
    """Milliseconds of the same constant loads by how many places a warp asks for at a time."""
    need_gpu()
    kernel = load(f"{TOPIC}/constant_read.cu").kernel
    blocks = sm_count() * 8
    y = cp.empty(blocks * 256, cp.float32)
    return {
        str(different): round(
            bench(functools.partial(kernel, blocks, 256, (y, 4096, different))).median_ms, 5
        )
        for different in (1, 2, 4, 8, 16, 32)
    }


def window_times(n: int = 1 << 26) -> dict[str, float]:
    """Milliseconds of window_each.cu and window_shared.cu for ``n`` elements."""
    need_gpu()
    x, y = cp.ones(n, cp.float32), cp.empty(n, cp.float32)
    found: dict[str, float] = {"elements": n}
    for name in ("window_each", "window_shared"):
        kernel = load(f"{TOPIC}/{name}.cu").kernel
        run = functools.partial(kernel, ceil_div(n, 256), 256, (x, y, n))
        found[name] = round(bench(run, repeats=9).median_ms, 5)
    return found


def delay_times(steps: int = 4096, sequences: int = 1 << 16) -> dict[str, dict[str, float]]:
    """delay_line.cu as a loop, written out, and written out with 32 registers at most.

    For each: milliseconds, registers of a thread, and bytes of local memory of a thread.
    """
    need_gpu()
    x, y = cp.ones((steps, sequences), cp.float32), cp.empty((steps, sequences), cp.float32)
    found = {}
    for name, unrolled, options in (
        ("loop", 0, ()),
        ("written out", 1, ()),
        ("written out, 32 registers", 1, ("--maxrregcount=32",)),
    ):
        defines = {"UNROLLED": unrolled}
        kernel = load(f"{TOPIC}/delay_line.cu", defines=defines, options=options).kernel
        run = functools.partial(kernel, ceil_div(sequences, 128), 128, (x, y, steps, sequences))
        found[name] = {
            "median_ms": round(bench(run, repeats=9).median_ms, 5),
            "registers": kernel.attributes["num_regs"],
            "local_bytes": kernel.attributes["local_size_bytes"],
        }
    return found
