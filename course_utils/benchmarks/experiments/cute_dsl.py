"""Products in CUTLASS's Python DSL (``kernels/08_cute_tma_blackwell/cute_dsl``) beside the same
kernels in C++ and the libraries: one run, one method, the right result of each.

The package's licence allows its output on NVIDIA's GPUs, so nothing of it runs on the emulator.
"""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import Any

from ...checking import difference
from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...errors import LessonError
from ..cases.hopper import CASES, CHAPTER, RUNGS, hopper_call
from ..cases.matmul import OPERAND_TYPES, SUM_ERROR, nt_work
from ..harness.arrays import double, normal
from ..harness.chapter_kernels import program
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.measure import ceilings
from ..harness.measure import measure as measured
from ..harness.torch_runs import Runs
from ..harness.workload import KernelCall, Workload

NAME = "cute_dsl"
PACKAGE = "nvidia-cutlass-dsl"
FOLDER = "08_cute_tma_blackwell/cute_dsl"
HOPPER, TILED = f"{FOLDER}/gemm_hopper_dsl.py", f"{FOLDER}/gemm_bf16_dsl.py"
IN_CPP = "gemm_hopper", "gemm_persistent", "gemm_bf16_tiled"
SOURCES = (HOPPER, TILED, *CHAPTER.files(*IN_CPP))
SIZES = 2048, 4096, 8192
TILE = 128  # rows and columns of C of a block of gemm_bf16_tiled, and its threads
SHARED_BYTES = 3 * 256 * 128  # of its three stages
Run = Callable[..., None]  # by the addresses of A, B and C


def measure() -> dict[str, Any]:
    """The figures of each size. Raises LessonError without a GPU or the package, and where a result
    is wrong."""
    need_gpu()
    if importlib.util.find_spec("nvidia_cutlass_dsl") is None:
        raise LessonError(f"The measurement called {NAME} needs the package {PACKAGE}.")
    seconds: dict[str, float] = {}
    runs: dict[str, Run] = {}
    for file in (HOPPER, TILED):
        start = time.perf_counter()
        runs[file] = program(file, "compiled")()
        seconds[_short(file)] = round(time.perf_counter() - start, 2)
    check_edges(runs[HOPPER])
    bandwidth = ceilings()
    case = next(each for each in CASES if each.name == "gemm_hopper")
    beside = replace(case, make=_beside(runs), sustained_sizes=())
    products = []
    for n in SIZES:
        record = measured(beside, n, bandwidth)
        times = {"gemm_hopper": record["ours"]["median_ms"], **record["libraries"]}
        products.append({"size": n, "spread": record["ours"]["spread"], "median_ms": times})
    return {"package": version(PACKAGE), "compile_seconds": seconds, "products": products}


def _beside(runs: dict[str, Run]) -> Callable[[int], Workload]:
    """The product of ``gemm_hopper``, and beside the libraries all others of SOURCES."""

    def make(n: int) -> Workload:
        factors: list[Any] = []

        def launch(a: Any, b: Any, c: Any) -> KernelCall:
            factors.extend((a, b))
            return hopper_call("gemm_hopper", a, b, c)

        work = nt_work(n, "bf16", launch)
        a, b = factors
        return replace(work, libraries={**work.libraries, **_others(a, b, n, runs)})

    return make


def _others(a: Any, b: Any, n: int, runs: dict[str, Run]) -> Runs:
    """Each of SOURCES but ``gemm_hopper``, by its name, with a C of its own."""
    tiled, tiles = CHAPTER.kernel("gemm_bf16_tiled"), (n // TILE) ** 2
    blocks = RUNGS["gemm_persistent"].grid(n, n)

    def calls(name: str, c: Any) -> Callable[[], Any]:
        if name == "gemm_persistent":
            return hopper_call(name, a, b, c).ready()
        if name == "gemm_bf16_tiled":
            return KernelCall(tiled, tiles, TILE, (a, b, c, n, n, n), SHARED_BYTES).ready()
        addresses = (each.data.ptr for each in (a, b, c))
        more = (blocks,) if name == HOPPER else ()
        return partial(runs[name], *addresses, n, n, n, *more)

    def returning(name: str) -> Callable[[], Any]:
        c = cp.empty((n, n), a.dtype)
        call = calls(name, c)

        def run() -> Any:
            call()
            return c

        return run

    return {_short(name): returning(name) for name in (*IN_CPP[1:], HOPPER, TILED)}


def _short(file: str) -> str:
    return file.rpartition("/")[2]


def check_edges(run: Run) -> None:
    """Raises LessonError where ``gemm_hopper_dsl`` is wrong at sizes that no tile divides."""
    for m, n, k in ((1000, 776, 328), (1, 8, 8)):
        a, b = to_bf16(normal((m, k))), to_bf16(normal((n, k), 1))
        c = cp.full((m, n), 0xFFFF, a.dtype)  # NaN
        run(*(each.data.ptr for each in (a, b, c)), m, n, k, sm_count())
        exact = double(from_bf16(a)) @ double(from_bf16(b)).T
        rtol = OPERAND_TYPES["bf16"].rtol
        if wrong := difference(from_bf16(c), exact, rtol, k * SUM_ERROR):
            raise LessonError(f"{_short(HOPPER)} at {m} x {n} x {k}: {wrong}.")
