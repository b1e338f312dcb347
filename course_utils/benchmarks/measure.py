"""Timing: the emulator's speed, a GPU's ceilings, and a kernel beside the libraries."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from ..devices.properties import device_name, sm_count
from ..devices.selection import cp
from ..emulator import ALL_CHECKS, Options
from ..errors import LessonError
from ..launching.modules import load
from ..observing.timing import bench
from .case import Case, Size, Work

SLOW_MS = 20.0  # a run that takes longer is repeated less often


def emulate(case: Case) -> tuple[int, float, float]:
    """(thread instructions, seconds, seconds with the whole sanitizer) of one run on the emulator;
    the best of three runs, in turn with and without."""
    work = case.make(case.emulator_size).on_emulator()
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
            count += result.counts.thread_instructions
        seconds[checked].append(time.perf_counter() - start)
    return count, min(seconds[False]), min(seconds[True])


def ceilings() -> dict[str, float]:
    """Bytes per second of a large copy (those read and those written) and of a pure read."""
    size = 1 << 30
    source, target = cp.zeros(size, cp.uint8), cp.empty(size, cp.uint8)
    words, never = source.view(cp.float32), cp.zeros(1, cp.float32)
    read = load("04_first_kernels/coalescing/read_only.cu").kernel
    arguments = words, never, words.size // 4
    grid = 16 * sm_count()
    return {
        "copy": bench(lambda: cp.copyto(target, source), bytes=2 * size).bytes_per_second,
        "read": bench(lambda: read(grid, 256, arguments), bytes=size).bytes_per_second,
    }


def measure(case: Case, n: Size, bandwidth: Mapping[str, float]) -> dict[str, Any]:
    """One record: ours and each library in turn, twice over, at size n, with a cold L2 cache.

    The output is poisoned before each of our two turns and checked after the last one. ``spread``
    is how far our two medians lie apart, ``ratio`` how many times faster than the fastest library
    ours is, ``roofline_fraction`` the least possible time (see :meth:`Case.roofline_ms`) over ours,
    None where that is not known.
    Raises LessonError where a result is wrong.
    """
    work = case.make(n)
    turns = {"": _fast(work), **work.libraries}
    times: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(2):
        work.poison()
        for name, run in turns.items():
            times[name].append(_median_ms(run))
    _check(work, f"{case.name} at {n}")
    ours = min(times[""])
    libraries = {name: round(min(both), 5) for name, both in times.items() if name}
    fastest = min(libraries, key=libraries.__getitem__) if libraries else None
    least = case.roofline_ms(n, bandwidth, device_name())
    kernels = [item.kernel for item in work.launches]
    return {
        "kernel": case.name,
        "what": case.what,
        "size": list(n) if isinstance(n, tuple) else n,
        "bytes": case.bytes(n),
        "flops": case.flops(n),
        "ours": {
            "median_ms": round(ours, 5),
            "spread": round((max(times[""]) - ours) / ours, 4),
        },
        "baseline": fastest and {"name": fastest, "median_ms": libraries[fastest]},
        "libraries": libraries,
        "ratio": fastest and round(libraries[fastest] / ours, 4),
        "roofline_fraction": None if least is None else round(least / ours, 4),
        "registers": max(kernel.attributes["num_regs"] for kernel in kernels),
        "shared_bytes": max(item.shared_bytes for item in work.launches),
        "source": case.source_hash,
        "measured": datetime.now(UTC).isoformat(timespec="minutes")[:16],
    }


def _median_ms(run: Callable[[], Any]) -> float:
    once = bench(run, warmup=1, repeats=1).median_ms
    return bench(run, repeats=5 if once > SLOW_MS else 20).median_ms


def _fast(work: Work) -> Callable[[], None]:
    """``work`` with its launches ready."""
    launches = [item.ready() for item in work.launches]

    def run() -> None:
        for array in work.cleared:
            array.data.memset_async(0, array.nbytes)
        for launch in launches:
            launch()

    return run


def _check(work: Work, name: str) -> None:
    if wrong := work.wrong():
        raise LessonError(f"{name}: {wrong}.")
    for library, run in work.libraries.items():
        result = run()
        if result is not None and (wrong := work.wrong(result)):
            raise LessonError(f"{name}, {library}: {wrong}.")
