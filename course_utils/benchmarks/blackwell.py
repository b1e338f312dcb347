"""``python -m course_utils prove-blackwell``: the kernels for sm_100a, run on a GPU that has it.

No such GPU was at hand when the course was written, so nothing in ``assets/benchmarks`` is theirs.
Each kernel is run many times at awkward sizes and compared with float64, then timed beside cuBLAS.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..devices.properties import device_name, sm_count
from ..devices.selection import EMULATOR, cp
from ..launching.modules import Kernel, load
from ..launching.tensor_maps import tensor_map
from ..needs import lacking
from ..observing.timing import bench
from ..text_tables import Column, Columns
from .baselines import cublas
from .case import KernelCall, Work, double, normal
from .cases.matmul import FACTORS, SUM_ERROR, Bf16Work, from_bf16, to_bf16

ARCH = "sm_100a"
FOLDER = "08_cute_tma_blackwell/blackwell_gemm"
ROWS, STEPS, ROW_BYTES = 128, 64, 128  # of D for a block; of K in a box, and their bytes
SHAPES = ((1, 8, 8), (128, 256, 64), (127, 248, 72), (256, 512, 4096), (1000, 1032, 1048))
REPEATS = 20  # of each shape: what is missing between threads shows now and then only
SIZES = (2048, 4096, 8192)  # that are timed

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class TensorRung:
    """A kernel for any M, N and K that are multiples of 8, and how it is launched: ``grid(m, n, bn,
    pairs)`` blocks of 192 threads, ``stages`` of boxes, ``blocks`` that share the columns of B."""

    file: str
    stages: int
    blocks: int
    grid: Callable[[int, int, int, int], tuple[int, ...]]


def _pieces(extent: int, size: int) -> int:
    return -(-extent // size)


RUNGS = {
    "umma_stages": TensorRung(
        "02_umma_stages.cu", 4, 1, lambda m, n, bn, _: (_pieces(n, bn), _pieces(m, ROWS))
    ),
    "umma_pair": TensorRung(
        "03_umma_pair.cu", 6, 2, lambda m, n, bn, _: (2 * _pieces(m, 2 * ROWS), _pieces(n, bn))
    ),
    "umma_persistent": TensorRung(
        "04_umma_persistent.cu",
        6,
        2,
        lambda m, n, bn, pairs: (2 * min(pairs, _pieces(m, 2 * ROWS) * _pieces(n, bn)),),
    ),
}


def blackwell_kernel(file: str, **defines: int) -> Kernel:
    """A kernel of the folder, on a GPU of its kind if there is one, else on the emulator."""
    device = EMULATOR if lacking(ARCH) else None
    return load(f"{FOLDER}/{file}", arch=ARCH, defines=defines, device=device).kernel


def product_call(
    name: str, a: Any, b: Any, d: Any, *, bn: int = 256, stages: int = 0, pairs: int = 0
) -> KernelCall:
    """The call of rung ``name`` for D = A B^T, the bits of bf16 matrices (M, K), (N, K), (M, N).

    ``bn``: columns of D for a block or a pair. ``stages``: of the ring; the rung's own for 0.
    ``pairs``: how many the persistent kernel has, 0 for as many as the GPU has room for.
    """
    rung = RUNGS[name]
    stages, pairs = stages or rung.stages, pairs or sm_count() // 2
    maps = (
        tensor_map(x, (rows, STEPS), swizzle=ROW_BYTES)
        for x, rows in ((a, ROWS), (b, bn // rung.blocks))
    )
    (m, k), n = a.shape, len(b)
    shared = stages * (ROWS + bn // rung.blocks) * ROW_BYTES
    kernel = blackwell_kernel(rung.file, BN=bn, STAGES=stages)
    return KernelCall(kernel, rung.grid(m, n, bn, pairs), 192, (*maps, d, m, n, k), shared)


def product_work(name: str, shape: Shape, seed: int = 0, **launch: int) -> Work:
    """The product of rung ``name`` for random matrices of ``shape`` (M, N, K), beside float64 and,
    on a GPU, cuBLAS; ``launch`` as for :func:`product_call`."""
    m, n, k = shape
    a, b = to_bf16(normal((m, k), seed)), to_bf16(normal((n, k), seed + 1))
    d = cp.empty((m, n), cp.uint16)
    return Bf16Work(
        (product_call(name, a, b, d, **launch),),
        output=d,
        expected=lambda: double(from_bf16(a)) @ double(from_bf16(b)).T,
        rtol=FACTORS["bf16"].rtol,
        atol=k * SUM_ERROR,
        libraries=cublas.products("bf16", a, b, lambda: cp.empty_like(d)),
        same_bits=False,  # how tensor cores add up is not documented
    )


def tile_work(columns: int = 64, seed: int = 0) -> Work:
    """The one tile of ``umma_tile``: 128 x ``columns`` results in fp32."""
    a, b = to_bf16(normal((ROWS, STEPS), seed)), to_bf16(normal((columns, STEPS), seed + 1))
    d = cp.empty((ROWS, columns), cp.float32)
    maps = (tensor_map(x, x.shape, swizzle=ROW_BYTES) for x in (a, b))
    kernel = blackwell_kernel("01_umma_tile.cu", COLUMNS=columns)
    return Work(
        (KernelCall(kernel, 1, ROWS, (*maps, d)),),
        output=d,
        expected=lambda: double(from_bf16(a)) @ double(from_bf16(b)).T,
        atol=STEPS * SUM_ERROR,
        same_bits=False,
    )


def faults(work: Work, repeats: int) -> str:
    """How the result differs, in the first of ``repeats`` runs that is wrong; "" if none is."""
    for turn in range(1, repeats + 1):
        work.poison()
        work()
        if wrong := work.wrong():
            return f"run {turn} of {repeats}: {wrong}"
    return ""


def all_right(shapes: tuple[Shape, ...] = SHAPES, repeats: int = REPEATS, **launch: int) -> bool:
    """Run every kernel at every shape, print a line for each, and say whether all are right."""
    works = {f"umma_tile, {columns} columns": tile_work(columns) for columns in (32, 64, 128)}
    found = [_printed(name, work, repeats) for name, work in works.items()]
    for name in RUNGS:
        for seed, shape in enumerate(shapes):
            label = f"{name}, {' x '.join(map(str, shape))}"
            found.append(_printed(label, product_work(name, shape, seed, **launch), repeats))
    return not any(found)


def _printed(label: str, work: Work, repeats: int) -> str:
    wrong = faults(work, repeats)
    print(f"{label:<34}{wrong or f'right in {repeats} runs'}", flush=True)
    return wrong


def print_times() -> None:
    """Time every rung at n x n x n beside the faster of cuBLAS and cuBLASLt's best, in turn."""
    table = Columns(
        Column("kernel", 18, left=True),
        Column("n", 6),
        Column("ms", 9, ".4f"),
        Column("TFLOP/s", 8, ".0f"),
        Column("library", 24, left=True),
        Column("times its speed", spec=".3f"),
    )
    print(table.headings)
    for n in SIZES:
        for name in RUNGS:
            work = product_work(name, (n, n, n))
            (call,) = work.launches
            turns = {"": call.ready(), **work.libraries}
            times = {each: bench(run).median_ms for each, run in turns.items()}
            ours, best = times.pop(""), min(times, key=lambda each: times[each])
            rate = 2 * n**3 / ours / 1e9
            print(table.row(name, n, ours, rate, best, times[best] / ours), flush=True)


def run(args: argparse.Namespace) -> int:
    """Prove what can be proved; the command's exit status."""
    if missing := lacking(ARCH):
        print(
            f"prove-blackwell needs {missing} (a B200), and this machine has none: the kernels are "
            f"compiled for that target alone. On the emulator they run in chapter 08."
        )
        return 2
    print(f"on {device_name()}")
    if not all_right():
        print("Not proved: see the lines above. compute-sanitizer may tell more.")
        return 1
    print_times()
    return 0


def add_parser(subparsers: Any) -> None:
    """Register ``prove-blackwell``."""
    parser = subparsers.add_parser(
        "prove-blackwell", help="run and time the kernels for sm_100a on a B200"
    )
    parser.set_defaults(func=run)
