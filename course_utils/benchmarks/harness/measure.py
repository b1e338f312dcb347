"""Timing: the emulator's speed, a GPU's ceilings, and a kernel beside the libraries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from ...devices.properties import device_name, sm_count
from ...devices.selection import cp
from ...emulator import ALL_CHECKS, Options
from ...errors import LessonError
from ...launching.modules import load
from ...observing.timing import Bench, bench
from .case import Case, Size
from .sustained import back_to_back, sustained
from .torch_runs import torch_on_gpu
from .workload import Workload

TURNS = 10  # ours and each library, in another order each time
SLOW_MS = 20.0  # slower work runs once per turn


def emulate(case: Case, size: Size) -> tuple[int, float, float]:
    """A run of ``size`` on the emulator: thread instructions, seconds, and seconds with the whole
    sanitizer. The least of three runs each, in turn."""
    work = case.make(size).on_emulator()
    seconds: dict[bool, list[float]] = {False: [], True: []}
    for checked in (False, True) * 3:
        start, count = time.perf_counter(), 0
        for item in work.launches:
            result = item.kernel.launch(
                item.grid,
                item.block,
                item.args,
                shared_mem=item.shared_mem,
                options=Options(checks=ALL_CHECKS if checked else ()),
            )
            assert result and result.counts, "the emulator counts"
            count += result.counts.thread_instructions
        seconds[checked].append(time.perf_counter() - start)
    return count, min(seconds[False]), min(seconds[True])


def ceilings() -> dict[str, float]:
    """Bytes per second of a large copy (those read and those written) and of a pure read, the best
    of several grids: 4 GiB each, or less where the GPU has little memory."""
    free, _ = cp.cuda.runtime.memGetInfo()
    size = min(1 << 32, 1 << (free // 4).bit_length() - 1)
    source, target = cp.zeros(size, cp.uint8), cp.empty(size, cp.uint8)
    words, never = source.view(cp.float32), cp.zeros(1, cp.float32)
    read = load("04_first_kernels/coalescing/read_only.cu").kernel
    arguments = words, never, words.size // 4

    def read_rate(blocks: int) -> float:
        grid = blocks * sm_count()
        return bench(lambda: read(grid, 256, arguments), bytes=size).bytes_per_second

    return {
        "copy": bench(lambda: cp.copyto(target, source), bytes=2 * size).bytes_per_second,
        "read": max(map(read_rate, (8, 16, 32))),
    }


def measure(case: Case, n: Size, bandwidth: Mapping[str, float]) -> dict[str, Any]:
    """One record: ours and each library in TURNS short turns, at size n, with a cold L2 cache.

    Each turn has another order (:func:`order`): who comes first may find a GPU that is faster.

    The output is poisoned before each of our turns and checked after the last run. A
    ``median_ms`` is over all ``runs`` of all turns, and ``spread`` is the distance from the first
    to the third quartile of ours, over their median. ``ratio`` is how many times faster than the
    fastest library ours is, ``roofline_fraction`` the least possible time (see
    :meth:`Case.roofline_ms`) over ours, None where that is not known. At the ``sustained_sizes`` of
    a case there are 100 runs, a burst, and ``sustained`` is the result of :func:`.sustained` for
    ours and the fastest library. Elsewhere it is None. Raises LessonError where a result is wrong.
    """
    work, burst = case.make(n), n in case.sustained_sizes
    sides = {"": _fast(work), **work.libraries}
    times: dict[str, list[float]] = {name: [] for name in sides}
    runs = {name: _runs(run, burst) for name, run in sides.items()}
    for turn in range(TURNS):
        work.poison()
        for name in order(list(sides), turn):
            warmup, repeats = runs[name]
            times[name] += bench(sides[name], warmup=warmup, repeats=repeats).times_ms
    ours = Bench(tuple(times[""]))
    libraries = {
        name: round(Bench(tuple(each)).median_ms, 5) for name, each in times.items() if name
    }
    fastest = min(libraries, key=libraries.__getitem__) if libraries else None
    for_seconds = sustained(sides[""], sides[fastest], back_to_back) if burst and fastest else None
    _check(work, f"{case.name} at {n}")
    least = case.roofline_ms(n, bandwidth, device_name())
    return {
        "kernel": case.name,
        "what": case.what,
        "size": list(n) if isinstance(n, tuple) else n,
        "bytes": case.bytes(n),
        "flops": case.flops(n),
        "ours": {
            "median_ms": round(ours.median_ms, 5),
            "spread": round(ours.spread_ms / ours.median_ms, 4),
            "runs": len(ours.times_ms),
        },
        "baseline": fastest and {"name": fastest, "median_ms": libraries[fastest]},
        "libraries": libraries,
        "ratio": fastest and round(libraries[fastest] / ours.median_ms, 4),
        "sustained": for_seconds,
        "roofline_fraction": None if least is None else round(least / ours.median_ms, 4),
        **_resources(work),
        "source": case.source_hash,
        "measured": datetime.now(UTC).isoformat(timespec="minutes")[:16],
    }


def _resources(work: Workload) -> dict[str, int]:
    """The most registers of a thread, and the most shared memory of a block."""
    return {
        "registers": max(item.kernel.attributes["num_regs"] for item in work.launches),
        "shared_bytes": max(item.shared_bytes for item in work.launches),
    }


def order(names: Sequence[str], turn: int) -> list[str]:
    """``names`` in the order of a turn. Two turns go forwards and backwards from one name to the
    next, with the others in any order between them, so that each comes first and last about equally
    often, and none always comes after the same other one."""
    at = turn // 2
    ends = [names[at % len(names)], names[(at + 1) % len(names)]][: len(names)]
    between = [name for name in names if name not in ends]
    random.Random(at).shuffle(between)
    turned = [ends[0], *between, *ends[1:]]
    return turned[::-1] if turn % 2 else turned


def _runs(run: Callable[[], Any], burst: bool) -> tuple[int, int]:
    """How many warm-ups and how many runs make a turn: 100 runs for a burst, else 40, and 10 if
    it's slow."""
    if bench(run, warmup=1, repeats=1).median_ms > SLOW_MS:
        return 0, 1
    return 2, (100 if burst else 40) // TURNS


def _fast(work: Workload) -> Callable[[], None]:
    """``work`` with its launches ready."""
    launches = [item.ready() for item in work.launches]

    def run() -> None:
        for array in work.cleared:
            array.data.memset_async(0, array.nbytes)
        for launch in launches:
            launch()

    return graph_of(run) if work.as_a_graph else run


def _check(work: Workload, name: str) -> None:
    if wrong := work.wrong():
        raise LessonError(f"{name}: {wrong}.")
    for library, run in work.libraries.items():
        result = run()
        if result is not None and (wrong := work.wrong(result)):
            raise LessonError(f"{name}, {library}: {wrong}.")


def graph_of(run: Callable[[], Any]) -> Callable[[], Any]:
    """The launches of ``run``, by CuPy or PyTorch, as one CUDA graph, and a function that launches
    it."""
    stream, torch = cp.cuda.Stream(non_blocking=True), torch_on_gpu()
    cp.cuda.Device().synchronize()
    if torch is None:
        with stream:
            run()  # everything is loaded before the capture
            stream.synchronize()
            stream.begin_capture()
            run()
            launch: Callable[[], Any] = stream.end_capture().launch
            return launch
    graph, theirs = torch.cuda.CUDAGraph(), torch.cuda.ExternalStream(stream.ptr)
    with stream, torch.cuda.stream(theirs):
        run()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=theirs):  # keeps the memory of its tensors
            run()
    return partial(_replayed, graph, stream)


def _replayed(graph: Any, stream: Any) -> None:
    """Replay a graph of PyTorch's. ``stream`` has to live as long as it."""
    graph.replay()
