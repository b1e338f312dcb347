"""Chapter 08's kernels in CuTe beside the same kernels by hand, and CUTLASS's builder with an
epilogue visitor tree beside ours and cuBLASLt.

nvcc makes a library of the builder's kernel, which takes about a minute, and ``build`` keeps it.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...checking import difference
from ...compiling.headers import cute_header_paths
from ...devices.selection import cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import load
from ...launching.tensor_maps import tensor_map
from ...observing.timing import Bench, bench
from ...paths import KERNELS, ROOT
from ...records.sources import source_hash
from ..cases.hopper import gelu, hopper_call
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.measure import TURNS, order
from ..libraries import cublas

CHAPTER = "08_cute_tma_blackwell"
LIBRARY = f"{CHAPTER}/host/cutlass_visitors.cu"
FLAGS = "-std=c++17 -O3 -DNDEBUG -arch=sm_90a --expt-relaxed-constexpr -shared -Xcompiler -fPIC"
PAIRS = {  # by hand and in CuTe: rows of a tile, stages, threads
    ("hopper_gemm/02_gemm_wgmma.cu", "cute_hopper/01_cute_wgmma.cu"): (64, 1, 128),
    ("hopper_gemm/04_gemm_producer.cu", "cute_hopper/02_cute_pipeline.cu"): (128, 5, 256),
}
FILES = (
    *(f"{CHAPTER}/{file}" for pair in PAIRS for file in pair),
    f"{CHAPTER}/hopper_gemm/gemm_bias_gelu.cu",
    LIBRARY,
)
SIZES = 4096, 8192
RUNS = 4  # a turn


def builder() -> ctypes.CDLL:
    """The library of ``cutlass_visitors.cu``, built unless ``build`` has it.

    Raises LessonError without CUTLASS's headers, or where nvcc refuses the source.
    """
    built = ROOT / "build" / f"cutlass_visitors_{source_hash(LIBRARY)}.so"
    if not built.is_file():
        if not cute_header_paths():
            raise LessonError("cutlass: CUTLASS's headers are missing (the extra cute).")
        include = Path(cute_header_paths()[0])
        folders = include, include.parent / "tools/util/include"
        built.parent.mkdir(exist_ok=True)
        command = ["nvcc", *FLAGS.split(), *(f"-I{each}" for each in folders)]
        command += [str(KERNELS / LIBRARY), "-o", str(built)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LessonError(f"cutlass: nvcc refused the library.\n{done.stderr[-2000:]}")
    library = ctypes.CDLL(str(built))
    library.workspace_bytes.restype = ctypes.c_size_t
    library.status_word.restype = ctypes.c_char_p
    return library


def by_builder(library: ctypes.CDLL, a: Any, b: Any, bias: Any, c: Any) -> Callable[[], Any]:
    """C = GELU(A B^T + bias) by the library, on CuPy's current stream.

    A run raises LessonError where CUTLASS refuses the product.
    """
    sizes = a.shape[0], b.shape[0], a.shape[1]
    workspace = cp.empty(max(library.workspace_bytes(*sizes), 16), cp.uint8)
    arrays = tuple(ctypes.c_void_p(each.data.ptr) for each in (a, b, bias, c))

    def run() -> Any:
        stream = ctypes.c_void_p(cp.cuda.get_current_stream().ptr)
        room = ctypes.c_void_p(workspace.data.ptr)
        if status := library.product(*arrays, *sizes, room, stream):
            raise LessonError(f"cutlass: {library.status_word(status).decode()}.")
        return c

    return run


def in_turns(sides: dict[str, Callable[[], Any]]) -> dict[str, dict[str, float]]:
    """Milliseconds of each side: the median of all runs of all turns, and their spread."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(TURNS):
        for name in order(list(sides), turn):
            times[name] += bench(sides[name], warmup=2, repeats=RUNS).times_ms
    found = {name: Bench(tuple(each)) for name, each in times.items()}
    return {
        name: {"median_ms": round(each.median_ms, 5), "spread_ms": round(each.spread_ms, 5)}
        for name, each in found.items()
    }


def matrices(n: int) -> tuple[Any, Any, Any]:
    """A and B (n, n), and a bias (n), in bf16. The products have a variance of one."""
    draw = cp.random.default_rng(n)
    scales = ((n, n), 1), ((n, n), n**-0.5), ((n,), 1)
    a, b, bias = (
        to_bf16(scale * draw.standard_normal(shape, dtype=cp.float32)) for shape, scale in scales
    )
    return a, b, bias


def pairs(n: int) -> dict[str, dict[str, float]]:
    """Each pair of PAIRS at n, in turns. Raises LessonError where two differ in a bit."""
    a, b, _ = matrices(n)
    sides: dict[str, Callable[[], Any]] = {}
    for files, (rows, stages, threads) in PAIRS.items():
        maps = (tensor_map(a, (rows, 64), swizzle=128), tensor_map(b, (128, 64), swizzle=128))
        results = []
        for file in files:
            kernel = load(f"{CHAPTER}/{file}", arch="sm_90a").kernel
            c = cp.full((n, n), 0xFFFF, cp.uint16)
            grid, shared = (ceil_div(n, 128), ceil_div(n, rows)), stages * (rows + 128) * 128
            kernel(grid, threads, (*maps, c, n, n, n), shared_mem=shared)
            values = kernel.convert((*maps, c, n, n, n))
            sides[kernel.name] = partial(kernel.raw, grid, (threads,), values, shared_mem=shared)
            results.append(c)
        if bool((results[0] != results[1]).any()):
            raise LessonError(f"{' and '.join(files)} differ.")
    return in_turns(sides)


def bias_gelu(library: ctypes.CDLL, n: int) -> dict[str, dict[str, float]]:
    """GELU(A B^T + bias) at n by ours, the builder and cuBLASLt's best, in turns.

    Raises LessonError where a result is wrong.
    """
    a, b, bias = matrices(n)
    c = cp.full((n, n), 0xFFFF, cp.uint16)
    call = hopper_call("gemm_bias_gelu", a, b, c, bias).ready()
    theirs = cublas.with_bias("bf16", "gelu bias", a, b, bias, lambda: cp.empty_like(c))
    sides: dict[str, Callable[[], Any]] = {
        "gemm_bias_gelu": lambda: (call(), c)[1],
        "CUTLASS's builder": by_builder(library, a, b, bias, cp.full_like(c, 0xFFFF)),
        "cuBLASLt": next(iter(theirs.values())),
    }
    some = slice(0, n, n // 8)
    x, y, z = (from_bf16(each).astype(cp.float64) for each in (a[some], b, bias))
    expected = gelu(x @ y.T + z)
    measured = in_turns(sides)
    for name, run in sides.items():
        if wrong := difference(from_bf16(run()[some]), expected, rtol=2**-7, atol=2**-9):
            raise LessonError(f"{name} at {n}: {wrong}.")
    return measured


def measure() -> dict[str, Any]:
    """The times at each of SIZES, and the resources of a block of the builder's kernel."""
    library = builder()
    of_block = (ctypes.c_int * 3)()
    library.describe(of_block)
    names = "shared_bytes", "threads", "stages"
    return {
        "flags": FLAGS,
        "block": dict(zip(names, of_block, strict=True)),
        "pairs": {str(n): pairs(n) for n in SIZES},
        "bias_gelu": {str(n): bias_gelu(library, n) for n in SIZES},
    }
