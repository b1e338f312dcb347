"""What a GPU's memories and arithmetic can do, measured: latency, bandwidth, peak, transfers.

Each function measures the GPU at hand with a kernel of ``kernels/03_gpu_introduction`` and raises
:class:`~course_utils.errors.LessonError` where there is none; :func:`stored` gives the figures that
come with the course. ``python -m course_utils bench --only hardware`` measures them all and writes
``assets/benchmarks/memory/<device>.json``.
"""

from __future__ import annotations

import csv
import ctypes
import datetime
import functools
import hashlib
import io
import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..device import ON_GPU, cp
from ..errors import LessonError
from ..kernels import KERNELS, ROOT, load
from ..timing import bench
from . import first_kernels, introduction, matmul
from .case import Case, Size

FOLDER = ROOT / "assets" / "benchmarks" / "memory"
CHAPTER = "03_gpu_introduction"
SOURCES = (
    "pointer_chase.cu",
    "shared_chase.cu",
    "fma_chains.cu",
    "read_again.cu",
    "shared_again.cu",
    "constant_read.cu",
    "window_each.cu",
    "window_shared.cu",
    "delay_line.cu",
)
LINE = 128  # bytes of a line of the caches (CUDA C++ Programming Guide, "Device Memory Accesses")
KIB, MIB, GIB = 2**10, 2**20, 2**30
FOOTPRINTS = tuple(int(KIB * 2 ** (step / 2)) // LINE * LINE for step in range(4, 39))
SWEPT = tuple(MIB * n for n in (2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128, 256, 512, 1024, 2048))
COPIED = tuple(KIB * 4**n for n in range(2, 10))
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
# Nsight Compute's names of what crosses each level; a sector is 32 bytes (Nsight Compute,
# "Metrics Reference"). For L2: what the L1 caches ask of it.
TRAFFIC = {
    "L1": "l1tex__t_bytes.sum",
    "L2": "lts__t_sectors_srcunit_tex.sum",
    "HBM": "dram__bytes.sum",
}


def stored() -> dict:
    """The figures measured on the GPU that the course comes with; ``["device"]`` names it."""
    (file,) = FOLDER.glob("*.json")
    return json.loads(file.read_text(encoding="utf-8"))


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
    _need_gpu()
    chase = load(f"{CHAPTER}/pointer_chase.cu")
    chain = cp.asarray(ring(footprint // LINE, LINE // 4))
    place, cycles = cp.zeros(1, cp.uint32), cp.zeros(1, cp.int64)

    def walk(count: int) -> None:
        chase((1,), (1,), (chain, place, count, cycles))

    walk(min(footprint // LINE, 600_000))
    return _step_time(walk, cycles, steps)


def small_latencies(steps: int = 20_000) -> dict[str, tuple[float, float]]:
    """(cycles, nanoseconds) of a dependent FMA, and of loads from shared and constant memory."""
    _need_gpu()
    found = {}
    place, cycles = cp.zeros(1, cp.uint32), cp.zeros(1, cp.int64)
    sums = cp.zeros(1, cp.float32)
    fma = load(f"{CHAPTER}/fma_chains.cu", defines={"CHAINS": 1})
    found["fma"] = _step_time(
        lambda count: fma((1,), (1,), (0.5, 1.0, count, cycles, sums)), cycles, steps
    )
    for name, constant, places in (("shared", 0, 1024), ("constant", 1, 256)):
        module = load(f"{CHAPTER}/shared_chase.cu", defines={"CONSTANT": constant})
        chain = cp.asarray(ring(places, 1))
        module.variable("constant_ring", 1024, np.uint32)[:places] = chain
        place.fill(0)

        def walk(count: int, module=module, chain=chain, places=places) -> None:
            module((1,), (1,), (chain, places, place, count, cycles))

        found[name] = _step_time(walk, cycles, steps)
    return found


def _step_time(walk: Callable[[int], None], cycles, steps: int) -> tuple[float, float]:
    """(cycles, nanoseconds) of a step, from the difference between a long walk and a short one.

    What both have in common cancels: the launch, and the first loads, which find L1 empty.
    """
    times = []
    for count in (steps, 3 * steps):
        milliseconds = bench(lambda: walk(count), flush_l2=False, repeats=5).median_ms  # noqa: B023
        times.append((int(cycles[0]), milliseconds * 1e6))
    (few_cycles, few_ns), (many_cycles, many_ns) = times
    return (many_cycles - few_cycles) / (2 * steps), (many_ns - few_ns) / (2 * steps)


def sweep_bandwidth(footprint: int, *, private: bool) -> float:
    """Bytes a second that all multiprocessors together read from ``footprint`` bytes.

    ``private``: each block reads a piece of its own, so that the L1 caches can serve it; otherwise
    every load goes to L2, or to the memory behind it when the footprint is larger.
    """
    _need_gpu()
    kernel = load(f"{CHAPTER}/read_again.cu", defines={"PRIVATE": int(private)})
    blocks = _multiprocessors() * 2
    vectors = footprint // 16 // blocks * blocks
    passes = max(1, 4 * GIB // footprint)
    x = cp.zeros(vectors * 4, cp.float32)
    sums = cp.empty(blocks * 1024, cp.float32)
    found = bench(
        lambda: kernel((blocks,), (1024,), (x.view(), vectors, passes, sums)),
        flush_l2=False,
        repeats=7,
        bytes=vectors * 16 * passes,
    )
    return found.bytes_per_second


def shared_bandwidth() -> float:
    """Bytes a second that all multiprocessors together read from shared memory."""
    _need_gpu()
    kernel = load(f"{CHAPTER}/shared_again.cu")
    blocks, passes = _multiprocessors() * 8, 20_000
    x, sums = cp.zeros(4096, cp.float32), cp.empty(blocks * 256, cp.float32)
    moved = blocks * passes * 16 * 1024
    return bench(
        lambda: kernel((blocks,), (256,), (x, passes, sums)), flush_l2=False, repeats=7, bytes=moved
    ).bytes_per_second


def copy_bandwidth(nbytes: int = GIB) -> float:
    """Bytes a second of a large copy within the GPU's memory, read and written both counted."""
    _need_gpu()
    source = cp.zeros(nbytes, cp.uint8)
    target = cp.empty_like(source)
    return bench(lambda: cp.copyto(target, source), bytes=2 * nbytes).bytes_per_second


def peak_flops(number: str = "float", chains: int = 8) -> float:
    """FLOP/s of multiply-adds in registers: ``number`` is "float" or "double"."""
    _need_gpu()
    kernel = load(f"{CHAPTER}/fma_chains.cu", defines={"CHAINS": chains, "NUMBER": number})
    blocks, threads, steps = _multiprocessors() * 16, 256, 20_000
    cycles = cp.zeros(1, cp.int64)
    sums = cp.empty(blocks * threads, cp.float32 if number == "float" else cp.float64)
    return bench(
        lambda: kernel((blocks,), (threads,), (0.5, 1.0, steps, cycles, sums)),
        repeats=7,
        flops=2 * blocks * threads * chains * steps,
    ).flops_per_second


def matmul_rates(batches: Iterable[int] = BATCHES, n: int = 8192) -> dict[str, list]:
    """Milliseconds of W (n × n) times X (n × batch) by the library, for fp32 and fp16."""
    _need_gpu()
    found: dict[str, list] = {"n": n, "batch": list(batches), "fp32": [], "fp16": []}
    rng = cp.random.default_rng(0)
    for name, dtype in (("fp32", cp.float32), ("fp16", cp.float16)):
        w = rng.standard_normal((n, n), dtype=cp.float32).astype(dtype)
        for batch in found["batch"]:
            x = rng.standard_normal((n, batch), dtype=cp.float32).astype(dtype)
            y = cp.empty((n, batch), dtype)
            time_ms = bench(lambda w=w, x=x, y=y: cp.matmul(w, x, out=y), repeats=9).median_ms
            found[name].append(round(time_ms, 5))
    return found


def transfer_bandwidth(nbytes: int, *, pinned: bool, to_device: bool = True) -> float:
    """Bytes a second of one copy between the host and the device, its start and end included."""
    _need_gpu()
    host = _pinned(nbytes) if pinned else np.ones(nbytes, np.uint8)
    device = cp.ones(nbytes, cp.uint8)
    runtime, stream = cp.cuda.runtime, cp.cuda.Stream.null.ptr
    ends = (device.data.ptr, host.ctypes.data) if to_device else (host.ctypes.data, device.data.ptr)
    kind = runtime.memcpyHostToDevice if to_device else runtime.memcpyDeviceToHost
    times = []
    for _ in range(3 + max(5, min(200, 2**30 // nbytes))):
        runtime.deviceSynchronize()
        start = time.perf_counter()
        runtime.memcpyAsync(*ends, nbytes, kind, stream)
        runtime.deviceSynchronize()
        times.append(time.perf_counter() - start)
    return nbytes / statistics.median(times[3:])


def managed_memory(nbytes: int = 512 * MIB) -> dict[str, float]:
    """Milliseconds of one kernel that reads and writes managed memory which the host wrote last.

    ``first``: the pages still lie on the host; ``again``: they have moved; ``plain``: the same
    kernel over memory of the device.
    """
    _need_gpu()
    n = nbytes // 4
    scale = load("04_first_kernels/exercises/clamp.cu")
    grid, block = (_multiprocessors() * 8,), (256,)

    def once(x) -> float:
        cp.cuda.runtime.deviceSynchronize()
        start = time.perf_counter()
        scale(grid, block, (x, x, -0.5, 0.5, n))
        return (time.perf_counter() - start) * 1e3

    def managed() -> tuple:
        import cupy

        memory = cupy.cuda.malloc_managed(nbytes)
        buffer = (ctypes.c_char * nbytes).from_address(memory.ptr)
        return cp.ndarray(n, cp.float32, memory), np.frombuffer(buffer, np.float32)

    x, host = managed()
    found = {}
    host[:] = 1.0
    once(x)  # compiled and loaded
    firsts, agains = [], []
    for _ in range(3):
        host[:] = 1.0  # the pages come back to the host
        firsts.append(once(x))
        agains.append(min(once(x) for _ in range(3)))
    found["first"], found["again"] = statistics.median(firsts), statistics.median(agains)
    plain = cp.ones(n, cp.float32)
    found["plain"] = min(once(plain) for _ in range(5))
    return {"bytes": nbytes} | {name: round(value, 4) for name, value in found.items()}


def constant_times() -> dict[str, float]:
    """Milliseconds of the same constant loads by how many places a warp asks for at a time."""
    _need_gpu()
    kernel = load(f"{CHAPTER}/constant_read.cu").kernel
    blocks = _multiprocessors() * 8
    y = cp.empty(blocks * 256, cp.float32)
    return {
        str(different): round(
            bench(functools.partial(kernel, blocks, 256, (y, 4096, different))).median_ms, 5
        )
        for different in (1, 2, 4, 8, 16, 32)
    }


def window_times(n: int = 1 << 26) -> dict[str, float]:
    """Milliseconds of window_each.cu and window_shared.cu for ``n`` elements."""
    _need_gpu()
    x, y = cp.ones(n, cp.float32), cp.empty(n, cp.float32)
    found: dict[str, float] = {"elements": n}
    for name in ("window_each", "window_shared"):
        kernel = load(f"{CHAPTER}/{name}.cu").kernel
        run = functools.partial(kernel, -(-n // 256), 256, (x, y, n))
        found[name] = round(bench(run, repeats=9).median_ms, 5)
    return found


def delay_times(steps: int = 4096, sequences: int = 1 << 16) -> dict[str, dict]:
    """delay_line.cu as a loop, written out, and written out with 32 registers at most.

    For each: milliseconds, registers of a thread, and bytes of local memory of a thread.
    """
    _need_gpu()
    x, y = cp.ones((steps, sequences), cp.float32), cp.empty((steps, sequences), cp.float32)
    found = {}
    for name, unrolled, options in (
        ("loop", 0, ()),
        ("written out", 1, ()),
        ("written out, 32 registers", 1, ("--maxrregcount=32",)),
    ):
        defines = {"UNROLLED": unrolled}
        kernel = load(f"{CHAPTER}/delay_line.cu", defines=defines, options=options).kernel
        run = functools.partial(kernel, -(-sequences // 128), 128, (x, y, steps, sequences))
        found[name] = {
            "median_ms": round(bench(run, repeats=9).median_ms, 5),
            "registers": kernel.attributes["num_regs"],
            "local_bytes": kernel.attributes["local_size_bytes"],
        }
    return found


def _pinned(nbytes: int) -> np.ndarray:
    import cupy

    array = np.frombuffer(cupy.cuda.alloc_pinned_memory(nbytes), np.uint8, nbytes)
    array[:] = 1
    return array


def _multiprocessors() -> int:
    return cp.cuda.Device().attributes["MultiProcessorCount"]


def _need_gpu() -> None:
    if not ON_GPU:
        raise LessonError(
            "This measures a GPU, and this machine has none: use hardware.stored() for the figures "
            "that come with the course."
        )


# --- the kernels of the roofline ---


def roofline_launches() -> dict[str, tuple[Case, Size]]:
    """The kernels of the roofline notebook by name, with the size at which each is measured."""
    cases = {case.name: case for case in (*introduction.CASES, *first_kernels.CASES, *matmul.CASES)}
    sizes = {
        "vec_add": 1 << 28,
        "softmax_rows": (16384, 4096),
        "gemv_rows": (16384, 16384),
        "conv3x3": (64, 64, 512, 512),
        "sgemm_naive": 4096,
        "sgemm_coalesced": 4096,
        "sgemm_shared_32": 4096,
    }
    return {name: (cases[name], n) for name, n in sizes.items()}


def kernel_rate(name: str) -> dict:
    """One kernel of the roofline, timed: FLOPs, least bytes, and milliseconds (L2 cold)."""
    _need_gpu()
    case, n = roofline_launches()[name]
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
        "source": case.source_hash,
    }


def traffic(name: str) -> dict[str, int]:
    """Bytes that one launch moves through L1, L2 and HBM, as Nsight Compute counts them.

    Empty where ncu is missing or may not count (see the notebook on profiling).
    """
    if shutil.which("ncu") is None:
        return {}
    ncu = ["ncu", "--csv", "--print-units", "base", "--metrics", ",".join(TRAFFIC.values())]
    case, _ = roofline_launches()[name]
    kernel = case.files[0].rpartition("/")[2].removesuffix(".cu")
    ncu += ["--kernel-name", kernel, "--launch-count", "1"]
    code = f"from course_utils import hardware; hardware.launch_once({name!r})"
    command = [*ncu, sys.executable, "-c", code]
    text = subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout
    table = text[text.find('"ID"') :]
    found = {}
    for row in csv.DictReader(io.StringIO(table)):
        for level, metric in TRAFFIC.items():
            if row.get("Metric Name") == metric:
                factor = {"sector": 32, "byte": 1}[row["Metric Unit"]]
                found[level] = round(float(row["Metric Value"].replace(",", "")) * factor)
    return found


def launch_once(name: str) -> None:
    """Run one kernel of the roofline once, for ncu to watch."""
    case, n = roofline_launches()[name]
    case.make(n)()
    cp.cuda.runtime.deviceSynchronize()


def short_vectors(sizes: Iterable[int] = tuple(1 << n for n in range(10, 29, 2))) -> list[dict]:
    """vec_add for ever shorter vectors: elements and milliseconds, caches warm."""
    _need_gpu()
    (case,) = (c for c in first_kernels.CASES if c.name == "vec_add")
    found = []
    for n in sizes:
        item = case.make(n).launches[0]
        values = item.kernel.convert(item.args)
        grid, block = (item.grid,), (item.block,)
        run = functools.partial(item.kernel.raw, grid, block, values)
        time_ms = bench(run, repeats=21).median_ms
        found.append({"elements": n, "median_ms": round(time_ms, 5)})
    return found


# --- the file ---


def _transfers() -> list[dict]:
    found = []
    for size in COPIED:
        entry = {"bytes": size}
        for way in ("in", "out"):
            for kind in ("pageable", "pinned"):
                rate = transfer_bandwidth(size, pinned=kind == "pinned", to_device=way == "in")
                entry[f"{way}_{kind}"] = round(rate)
        found.append(entry)
    return found


# What can be measured, by the name it has in the file; each is a function of nothing.
MEASURES: dict[str, Callable[[], Any]] = {
    "latency": lambda: [[size, *_rounded(latency(size))] for size in FOOTPRINTS],
    "small_latency": lambda: {name: _rounded(two) for name, two in small_latencies().items()},
    "l1_bandwidth": lambda: [[n, round(sweep_bandwidth(n, private=True))] for n in SWEPT],
    "l2_bandwidth": lambda: [[n, round(sweep_bandwidth(n, private=False))] for n in SWEPT],
    "shared_bandwidth": lambda: round(shared_bandwidth()),
    "copy_bandwidth": lambda: round(copy_bandwidth()),
    "peak_flops": lambda: {name: round(peak_flops(name)) for name in ("float", "double")},
    "matmul": matmul_rates,
    "transfers": _transfers,
    "managed": managed_memory,
    "constant": constant_times,
    "window": window_times,
    "delay": delay_times,
    "short_vectors": short_vectors,
    "kernels": lambda: [kernel_rate(name) for name in roofline_launches()],
    "traffic": lambda: {name: traffic(name) for name in roofline_launches()},
}


def measured(name: str) -> tuple[Any, str]:
    """``name`` of :data:`MEASURES`, and the GPU it was measured on.

    On a machine with a GPU it is measured here and now; elsewhere these are the figures that come
    with the course. ``traffic`` is always the stored one, since ncu is rarely allowed to count.
    """
    if ON_GPU and name != "traffic":
        return MEASURES[name](), _device_name()
    content = stored()
    return content[name], content["device"]


def measure() -> dict:
    """Everything, on this machine's GPU: what the file holds. Takes about a minute."""
    _need_gpu()
    runtime = cp.cuda.runtime
    return {
        "device": _device_name(),
        "driver": runtime.driverGetVersion(),
        "cuda": runtime.runtimeGetVersion(),
        "date": datetime.date.today().isoformat(),
        "sources": {file: _hash(file) for file in SOURCES},
        "multiprocessors": _multiprocessors(),
        **{name: run() for name, run in MEASURES.items()},
    }


def _device_name() -> str:
    return cp.cuda.runtime.getDeviceProperties(0)["name"].decode()


def write(folder: Path = FOLDER) -> Path:
    """Measure this GPU and store the result; returns the file."""
    content = measure()
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (re.sub(r"\W+", "_", content["device"].lower()) + ".json")
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return file


def _hash(name: str) -> str:
    return hashlib.sha256((KERNELS / CHAPTER / name).read_bytes()).hexdigest()[:12]


def _rounded(pair: tuple[float, float]) -> list[float]:
    return [round(value, 2) for value in pair]
