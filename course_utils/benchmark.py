"""``python -m course_utils bench``: how fast the emulator runs, or the course's kernels on a GPU.

On the emulator a figure is million thread-instructions per second of wall time, memcheck on; the
instruction counts themselves never change from run to run. On a GPU each kernel is timed beside
the library that does the same work, in turn within one process, and the records go to
``assets/benchmarks/<device>.json``; the README's table is drawn from that file.
"""

from __future__ import annotations

import argparse
import datetime
import hashlib
import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from .device import EMULATOR, ON_GPU, cp, device
from .emulator.machine import Options
from .kernels import KERNELS, ROOT, Kernel, load
from .timing import bench

FOLDER = ROOT / "assets" / "benchmarks"
README = ROOT / "README.md"
MARKS = "<!-- benchmarks -->\n", "<!-- end of benchmarks -->"


@dataclass(frozen=True)
class Case:
    """A kernel with its launch at one size, and what it computes as the library does it.

    ``make(n)`` gives (grid, block, args) with inputs drawn from a standard normal distribution and
    the output last but for the sizes; ``library(args)`` does the same work. ``bytes`` and ``flops``
    give the least that has to be moved and computed at size n.
    """

    name: str
    file: str
    make: Callable[[int], tuple]
    library_name: str
    library: Callable[[tuple], object]
    bytes: Callable[[int], int]
    flops: Callable[[int], int]
    gpu_sizes: tuple[int, ...]
    emulator_size: int
    defines: dict = field(default_factory=dict)

    def load(self, where: str | None = None) -> Kernel:
        return load(self.file, defines=self.defines, device=where).kernel


def _normal(shape) -> object:
    values = np.random.default_rng(0).standard_normal(shape, dtype=np.float32)
    return cp.asarray(values)


def _vec_add(n: int) -> tuple:
    a, b, c = _normal(n), _normal(n), cp.empty(n, cp.float32)
    return ((n + 255) // 256,), (256,), (a, b, c, n)


def _sgemm(tile: int) -> Callable[[int], tuple]:
    def make(n: int) -> tuple:
        a, b, c = _normal((n, n)), _normal((n, n)), cp.empty((n, n), cp.float32)
        blocks = (n + tile - 1) // tile
        return (blocks, blocks), (tile, tile), (a, b, c, n, n, n)

    return make


def _matmul(args: tuple) -> None:
    cp.matmul(args[0], args[1], out=args[2])


def _matmul_case(name: str, file: str, tile: int, **defines: int) -> Case:
    return Case(
        name,
        f"06_matmul_and_fft/{file}.cu",
        _sgemm(tile),
        "cuBLAS SGEMM",
        _matmul,
        lambda n: 3 * 4 * n * n,
        lambda n: 2 * n**3,
        (1024, 4096),
        256,
        defines,
    )


CASES = (
    Case(
        "vec_add",
        "04_first_kernels/vec_add.cu",
        _vec_add,
        "cupy.add",
        lambda args: cp.add(args[0], args[1], out=args[2]),
        lambda n: 3 * 4 * n,
        lambda n: n,
        (1 << 20, 1 << 28),
        1 << 20,
    ),
    _matmul_case("sgemm_naive", "sgemm_naive", 32),
    _matmul_case("sgemm_coalesced", "sgemm_coalesced", 32),
    _matmul_case("sgemm_shared_16", "sgemm_shared", 16, TILE=16),
    _matmul_case("sgemm_shared_32", "sgemm_shared", 32, TILE=32),
)


def emulate(case: Case, *, racecheck: bool = False) -> tuple[int, float]:
    """(thread instructions, seconds) of one launch on the emulator; the best of three runs."""
    grid, block, args = case.make(case.emulator_size)
    kernel = case.load(EMULATOR)
    best, count = float("inf"), 0
    for _ in range(3):
        start = time.perf_counter()
        result = kernel.launch(grid, block, args, options=Options(racecheck=racecheck))
        best = min(best, time.perf_counter() - start)
        count = result.counts.thread_instructions
    return count, best


def measure(case: Case, n: int, ceiling: float) -> dict:
    """One record: ours and the library's, A B A B, at size n. ``ceiling``: bytes per second.

    ``spread`` is how far our two medians lie apart, ``ratio`` how many times faster than the
    library ours is, ``floor_fraction`` the larger of the two floors (bytes over ``ceiling``, FLOPs
    over the H200's 66.9 fp32 TFLOP/s) over our time.
    """
    grid, block, args = case.make(n)
    kernel = case.load()
    ours = bench(lambda: kernel(grid, block, args))
    theirs = bench(lambda: case.library(args))
    args[2][...] = cp.nan
    again = bench(lambda: kernel(grid, block, args))
    result = args[2].copy()
    theirs_again = bench(lambda: case.library(args))
    if not bool(cp.allclose(result, args[2], rtol=1e-3, atol=1e-3)):
        raise SystemExit(f"{case.name}: the result differs from {case.library_name}'s at n = {n}")
    median = min(ours.median_ms, again.median_ms)
    library = min(theirs.median_ms, theirs_again.median_ms)
    floor_ms = max(case.bytes(n) / ceiling, case.flops(n) / 66.9e12) * 1e3
    return {
        "kernel": case.name,
        "size": n,
        "flops": case.flops(n),
        "ours": {
            "median_ms": round(median, 5),
            "spread": round(abs(ours.median_ms - again.median_ms) / median, 4),
        },
        "baseline": {"name": case.library_name, "median_ms": round(library, 5)},
        "ratio": round(library / median, 4),
        "floor_fraction": round(floor_ms / median, 4),
        "source": hashlib.sha256((KERNELS / case.file).read_bytes()).hexdigest()[:12],
    }


def _copy_ceiling() -> float:
    """Bytes per second of a large copy on this GPU, counting those read and those written."""
    source = cp.zeros(1 << 30, cp.uint8)
    target = cp.empty_like(source)
    return bench(lambda: cp.copyto(target, source), bytes=2 << 30).bytes_per_second


def run(args: argparse.Namespace) -> int:
    where = args.device or device()
    if where == EMULATOR:
        print("The emulator, memcheck on (best of three runs)")
        print(f"{'kernel':<18}{'size':>9}{'million thread-instr.':>23}{'seconds':>9}{'M/s':>7}")
        for case in CASES:
            count, seconds = emulate(case)
            rate = count / seconds / 1e6
            print(
                f"{case.name:<18}{case.emulator_size:>9,}{count / 1e6:>23,.1f}"
                f"{seconds:>9.3f}{rate:>7,.0f}"
            )
        return 0
    if not ON_GPU:
        print("bench --device cuda needs an NVIDIA GPU; this machine has none.")
        return 2
    name = cp.cuda.runtime.getDeviceProperties(0)["name"].decode()
    ceiling = _copy_ceiling()
    records = [measure(case, n, ceiling) for case in CASES for n in case.gpu_sizes]
    print(f"{name}: a large copy moves {ceiling / 1e12:.2f} TB/s")
    print(f"{'kernel':<18}{'size':>12}{'ms':>10}{'library ms':>12}{'ratio':>8}{'of floor':>10}")
    for r in records:
        print(
            f"{r['kernel']:<18}{r['size']:>12,}{r['ours']['median_ms']:>10.4f}"
            f"{r['baseline']['median_ms']:>12.4f}{r['ratio']:>8.2f}{r['floor_fraction']:>10.2f}"
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / (re.sub(r"\W+", "_", name.lower()) + ".json")
    content = {
        "device": name,
        "driver": cp.cuda.runtime.driverGetVersion(),
        "cuda": cp.cuda.runtime.runtimeGetVersion(),
        "date": datetime.date.today().isoformat(),
        "copy_bytes_per_second": round(ceiling),
        "records": records,
    }
    file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    README.write_text(with_table(README.read_text(encoding="utf-8"), content), encoding="utf-8")
    print(f"written to {file.relative_to(ROOT)}; the table of README.md is drawn from it")
    return 0


def with_table(readme: str, content: dict) -> str:
    """``readme`` with the table between its marks drawn from the records of one device."""
    before, rest = readme.split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    lines = [
        f"Measured on one {content['device']} on {content['date']}, median of cold-cache runs:",
        "",
        "| kernel | size | time | library | its time | ours is |",
        "|---|--:|--:|---|--:|--:|",
    ]
    for r in content["records"]:
        ours, base = r["ours"], r["baseline"]
        lines.append(
            f"| {r['kernel']} | {r['size']:,} | {ours['median_ms']:.3g} ms | {base['name']} "
            f"| {base['median_ms']:.3g} ms | {r['ratio']:.2f}× as fast |"
        )
    return before + MARKS[0] + "\n".join(lines) + "\n" + MARKS[1] + after


def stored(kernels: list[str], size: int) -> tuple[dict[str, float], tuple[str, float], str]:
    """Measured figures that come with the course, for machines that cannot measure.

    Returns GFLOP/s by kernel, (library, its GFLOP/s), and the name of the GPU they come from.
    Raises KeyError for a kernel or size that was not measured.
    """
    (file,) = FOLDER.glob("*.json")
    content = json.loads(file.read_text(encoding="utf-8"))
    found = {r["kernel"]: r for r in content["records"] if r["size"] == size}

    def rate(record: dict, milliseconds: float) -> float:
        return record["flops"] / milliseconds / 1e6

    bars = {name: rate(found[name], found[name]["ours"]["median_ms"]) for name in kernels}
    library = found[kernels[-1]]["baseline"]
    line = library["name"], rate(found[kernels[-1]], library["median_ms"])
    return bars, line, content["device"]


def add_parser(subparsers) -> None:
    parser = subparsers.add_parser("bench", help="measure the emulator, or the kernels on a GPU")
    parser.add_argument("--device", choices=("emulator", "cuda"), help="default: this machine's")
    parser.set_defaults(func=run)
