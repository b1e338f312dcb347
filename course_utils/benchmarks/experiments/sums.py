"""What bounds the sums of chapter 04: loads in flight, instructions, order."""

from __future__ import annotations

from typing import Any

from ...compiling.nvrtc import compile_cubin
from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...launching.modules import load
from ...observing.timing import bench
from ...paths import kernel_file
from ..cases import CASES
from ..harness import nsight_compute, sass
from ..harness.arrays import normal
from .single_launch import launch_of

CHAPTER = "04_first_kernels"
TREES = "sum_shared_interleaved", "sum_shared_sequential"
COUNTED = (*TREES, "sum_warp_shuffle")
REPEATED = "sum_atomic", "sum_single_pass"
VECTOR = kernel_file("sum_vector", CHAPTER)
SOURCES = (VECTOR, *(kernel_file(name, CHAPTER) for name in (*COUNTED, *REPEATED)))
SIZE, REPEATED_SIZE = 1 << 28, 4_000_037
THREADS, LOADS = (64, 128, 256, 512, 1024), (1, 2, 4)
BOUNDS = "(kThreads, 2)"
METRICS = {
    "warp_instructions": "smsp__inst_executed.sum",
    "issue_active_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
}


def measure() -> dict[str, Any]:
    """All of it on this GPU. Raises LessonError without ncu, or without NVIDIA's disassembler."""
    need_gpu()
    x = normal(SIZE)
    return {
        "elements": SIZE,
        "in_flight": {
            str(loads): [in_flight(x, threads, loads) for threads in THREADS] for loads in LOADS
        },
        "ncu": {name: instructions(name) for name in COUNTED},
        "sass": {name: tree_step(name) for name in TREES},
        "ten_sums": {
            "elements": REPEATED_SIZE,
            **{name: ten_sums(name, REPEATED_SIZE) for name in REPEATED},
        },
    }


def in_flight(x: Any, threads: int, loads: int) -> tuple[int, int]:
    """(bytes in flight on an SM, bytes a second) with a block of ``threads`` on each SM, each of
    which has ``loads`` loads of 16 bytes on their way."""
    changes = {"kThreads = 1024": f"kThreads = {threads}", "kLoads = 4": f"kLoads = {loads}"}
    kernel = load(VECTOR).edited({**changes, BOUNDS: "(kThreads)"}).kernel
    grid = sm_count()
    sums = cp.empty(grid, cp.float32)
    run = bench(
        lambda: kernel(grid, threads, (x, sums, x.size)), warmup=1, repeats=5, bytes=x.nbytes
    )
    return 16 * threads * loads, round(run.bytes_per_second)


def instructions(name: str) -> dict[str, float]:
    """What ncu counts of the first launch of the case ``name``: its :data:`METRICS`."""
    (found,) = nsight_compute.counts(*launch_of(name, SIZE), METRICS.values(), launches=1)
    return {key: round(found.metrics[metric], 2) for key, metric in METRICS.items()}


def tree_step(name: str) -> list[str]:
    """A step of a tree in the GPU's own instructions: the barrier, the loads, the addition and the
    store. Raises LessonError where there is no disassembler."""
    source = load(kernel_file(name, CHAPTER)).source
    arch = f"sm_{cp.cuda.Device().compute_capability}"
    return one_step(sass.listing(compile_cubin(source, filename=f"{name}.cu", arch=arch)))


def one_step(listing: list[str]) -> list[str]:
    """From the first barrier on, up to the first store: what touches shared memory, and what
    adds."""
    first = next(k for k, line in enumerate(listing) if "BAR.SYNC" in line)
    step = []
    for line in listing[first:]:
        opcode = line.split()[1] if line.startswith("@") else line.split()[0]
        if opcode.startswith(("BAR", "LDS", "FADD", "STS")):
            step.append(line)
        if opcode.startswith("STS"):
            break
    return step


def ten_sums(name: str, n: int) -> dict[str, float]:
    """How many different results ten runs of the case ``name`` give, the least and the largest."""
    work = next(case for case in CASES if case.name == name).make(n)
    found = set()
    for _ in range(10):
        work()
        found.add(round(float(work.output[0]), 6))
    return {"different": len(found), "least": min(found), "largest": max(found)}
