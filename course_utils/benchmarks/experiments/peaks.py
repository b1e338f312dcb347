"""The peak of a GPU's arithmetic, and where the kernels of chapter 03 stand below it."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import load
from ...observing.timing import bench
from ..cases import CASES
from ..harness import nsight_compute
from ..harness.arrays import double, normal
from ..harness.case import Case, Size
from ..harness.workload import KernelCall, Workload
from .single_launch import launch_of

BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
# Nsight Compute's names of what crosses each level, and the bytes of its unit; a sector has 32
# (Nsight Compute, "Metrics Reference"). For L2: what the L1 caches ask of it.
TRAFFIC = {
    "L1": ("l1tex__t_bytes.sum", 1),
    "L2": ("lts__t_sectors_srcunit_tex.sum", 32),
    "HBM": ("dram__bytes.sum", 1),
}


def _vec_add(n: int) -> Workload:
    a, b, c = normal(n), normal(n, 1), cp.empty(n, cp.float32)
    launch = KernelCall(
        load("04_first_kernels/threads/vec_add.cu").kernel, ceil_div(n, 256), 256, (a, b, c, n)
    )
    return Workload((launch,), c, lambda: double(a) + double(b), rtol=1e-6, atol=1e-7)


# vec_add without the libraries beside it: a notebook need not import torch.
VEC_ADD = replace(next(case for case in CASES if case.name == "vec_add"), make=_vec_add)


def peak_flops(number: str = "float", chains: int = 8) -> float:
    """FLOP/s of multiply-adds in registers: ``number`` is "float" or "double"."""
    need_gpu()
    kernel = load(
        "03_gpu_introduction/roofline/fma_chains.cu", defines={"CHAINS": chains, "NUMBER": number}
    )
    blocks, threads, steps = sm_count() * 16, 256, 20_000
    cycles = cp.zeros(1, cp.int64)
    sums = cp.empty(blocks * threads, cp.float32 if number == "float" else cp.float64)
    return bench(
        lambda: kernel((blocks,), (threads,), (0.5, 1.0, steps, cycles, sums)),
        repeats=7,
        flops=2 * blocks * threads * chains * steps,
    ).flops_per_second


def matmul_rates(batches: Iterable[int] = BATCHES, n: int = 8192) -> dict[str, Any]:
    """Milliseconds of W (n × n) times X (n × batch) by the library, for fp32 and fp16."""
    need_gpu()
    sizes = list(batches)
    found: dict[str, list[float]] = {"fp32": [], "fp16": []}
    rng = cp.random.default_rng(0)
    for name, dtype in (("fp32", cp.float32), ("fp16", cp.float16)):
        w = rng.standard_normal((n, n), dtype=cp.float32).astype(dtype)
        for batch in sizes:
            x = rng.standard_normal((n, batch), dtype=cp.float32).astype(dtype)
            y = cp.empty((n, batch), dtype)
            time_ms = bench(functools.partial(cp.matmul, w, x, out=y), repeats=9).median_ms
            found[name].append(round(time_ms, 5))
    return {"n": n, "batch": sizes, **found}


def launches() -> dict[str, tuple[Case, Size]]:
    """The kernels of the roofline notebook by name, with the size at which each is measured."""
    cases = {case.name: case for case in (*CASES, VEC_ADD)}
    sizes: dict[str, Size] = {
        "vec_add": 1 << 28,
        "softmax_rows": (16384, 4096),
        "gemv_rows": (16384, 16384),
        "conv3x3": (64, 64, 512, 512),
        "sgemm_naive": 4096,
        "sgemm_coalesced": 4096,
        "sgemm_shared_32": 4096,
    }
    return {name: (cases[name], n) for name, n in sizes.items()}


def sources() -> tuple[str, ...]:
    """The files of those kernels, below ``kernels/``."""
    return tuple(file for case, _ in launches().values() for file in case.files)


def kernel_rate(name: str) -> dict[str, Any]:
    """One kernel of the roofline, timed: FLOPs, least bytes, and milliseconds (L2 cold).
    Raises LessonError for a wrong result."""
    need_gpu()
    case, n = launches()[name]
    work = case.make(n)
    work.poison()
    time_ms = bench(work, warmup=2, repeats=9).median_ms
    if wrong := work.wrong():
        raise LessonError(f"{name}: {wrong}.")
    return {
        "kernel": name,
        "size": n,
        "flops": case.flops(n),
        "bytes": case.bytes(n),
        "median_ms": round(time_ms, 5),
    }


def traffic(name: str) -> dict[str, int]:
    """Bytes that one launch moves through L1, L2 and HBM, as Nsight Compute counts them.

    Empty where ncu is missing or may not count (see the notebook on profiling).
    """
    _, n = launches()[name]
    metrics = [metric for metric, _ in TRAFFIC.values()]
    try:
        (found,) = nsight_compute.counts(*launch_of(name, n), metrics, launches=1)
    except LessonError:
        return {}
    return {level: round(found.metrics[metric] * unit) for level, (metric, unit) in TRAFFIC.items()}


SIZES = tuple(1 << n for n in range(10, 29, 2))  # elements


def short_vectors(sizes: Iterable[int] = SIZES) -> list[dict[str, float]]:
    """vec_add for ever shorter vectors: elements and milliseconds, caches warm."""
    need_gpu()
    found = []
    for n in sizes:
        item = VEC_ADD.make(n).launches[0]
        values = item.kernel.convert(item.args)
        grid, block = (item.grid,), (item.block,)
        run = functools.partial(item.kernel.raw, grid, block, values)
        time_ms = bench(run, repeats=21).median_ms
        found.append({"elements": n, "median_ms": round(time_ms, 5)})
    return found
