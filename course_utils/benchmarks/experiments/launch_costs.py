"""What launching costs: chapter 04's chain of four kernels, one by one, as a graph and fused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...checking import difference
from ...devices.properties import need_gpu
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import load
from ...observing.timing import bench
from ..cases.first_kernels.chains import ATOL, KEEP, RTOL, SCALE, SEED, SHIFT, exact_chain
from ..harness.arrays import normal
from ..harness.workload import KernelCall

FUSED = "chain_fused"
CHAIN = "chain_affine", "chain_silu", "chain_dropout", "chain_residual"
TOPIC = "04_first_kernels/fusion"
SOURCES = tuple(f"{TOPIC}/{name}.cu" for name in (*CHAIN, FUSED))
ROUNDS = 25  # of the chain, in one measurement
SIZES = tuple(1 << k for k in range(10, 27, 2))  # elements


def chain_times(sizes: Iterable[int] = SIZES) -> list[dict[str, float]]:
    """For each number of fp32 elements, microseconds of one round of the chain, four ways:
    ``separate`` launches from Python, the same launches as a ``graph``, ``fused`` into one kernel,
    and that kernel in a ``fused_graph``.

    A measurement is of 25 rounds in a row and divides by 25; arrays that fit stay in the L2 cache.
    Raises LessonError where there is no GPU, or where a way gives a wrong result.
    """
    need_gpu()
    return [{"elements": n, **_times(n)} for n in sizes]


def _times(n: int) -> dict[str, float]:
    x, y = normal(n), cp.empty(n, cp.float32)
    exact = exact_chain(x)
    each = (x, y, SCALE, SHIFT, n), (y, n), (y, SEED, KEEP, n), (y, x, n)
    arguments = dict(zip(CHAIN, each, strict=True))
    cp.cuda.Device().synchronize()  # the stream below does not wait for what made these
    separate = _rounds(arguments, n)
    fused = _rounds({FUSED: (x, y, SCALE, SHIFT, SEED, KEEP, n)}, n)
    stream = cp.cuda.Stream(non_blocking=True)
    ways = {
        "separate": separate,
        "graph": _captured(separate, stream),
        "fused": fused,
        "fused_graph": _captured(fused, stream),
    }
    found = {}
    with stream:
        for name, way in ways.items():
            y.fill(float("nan"))
            found[name] = round(1e3 * bench(way, repeats=9, flush_l2=False).median_ms / ROUNDS, 3)
            if wrong := difference(y, exact, rtol=RTOL, atol=ATOL):
                raise LessonError(f"The chain, {name}, of {n} elements: {wrong}.")
    return found


def _rounds(arguments: dict[str, tuple[Any, ...]], n: int) -> Callable[[], None]:
    """A function that launches the kernels in order, again and again, and does not wait."""
    launches = [
        KernelCall(load(f"{TOPIC}/{name}.cu").kernel, ceil_div(n, 256), 256, args).ready()
        for name, args in arguments.items()
    ]

    def run() -> None:
        for _ in range(ROUNDS):
            for launch in launches:
                launch()

    return run


def _captured(run: Callable[[], None], stream: Any) -> Callable[[], None]:
    """The launches of ``run`` as one graph."""
    with stream:
        run()  # everything is loaded before the capture
        stream.begin_capture()
        run()
        graph = stream.end_capture()
    launch: Callable[[], None] = graph.launch
    return launch
