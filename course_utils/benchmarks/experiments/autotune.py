"""The search behind ``sgemm_autotuned.cu``: a grid of tile sizes, pruned, then timed.

``search()`` does both; the notebook calls it with a small grid. ``measure()`` searches all of
:func:`grid` on this GPU, with every candidate, timed or not; ``measurements("autotune")`` has what
was found.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...checking import difference
from ...checking.tolerance import tolerance_for, unit_roundoff
from ...devices.multiprocessors import MULTIPROCESSORS, REGISTERS
from ...devices.properties import need_gpu
from ...devices.selection import ON_GPU, cp
from ...errors import LessonError
from ...integers import ceil_div
from ...launching.modules import Module, load
from ...observing.occupancy_calculator import occupancy
from ...observing.timing import bench
from ..harness.arrays import double, normal
from ..harness.stream_k_plan import bytes_of_tiles
from ..harness.stream_k_plan import plan as plan  # for the notebook that prints what it chooses
from ..harness.workload import KernelCall

KERNEL = "06_matmul_and_fft/sgemm/11_sgemm_autotuned.cu"
COPIES = "06_matmul_and_fft/sgemm/10_sgemm_cp_async.cu"
ORDERED = "06_matmul_and_fft/sgemm/12_sgemm_ordered.cu"
DOUBLE_BUFFER = "06_matmul_and_fft/sgemm/09_sgemm_double_buffer.cu"
SOURCES = KERNEL, COPIES, ORDERED, DOUBLE_BUFFER
SIZE = 4096
WARP_TILES = (128, 32), (64, 64), (32, 128), (16, 256)  # rows, columns; each lane has 8 x 16
MOST_SHARED = MULTIPROCESSORS["sm_90"].shared_block  # bytes that a block may have
MOST_REGISTERS = 255  # that an instruction can name (PTX ISA, "maxnreg"; one is always zero)


@dataclass(frozen=True)
class Tiles:
    """What can be chosen: the block's tile BM x BN of C and its depth BK, a thread's tile TM x TN,
    and how many pairs of tiles are on their way or in use."""

    BM: int
    BN: int
    BK: int
    TM: int
    TN: int
    STAGES: int

    @property
    def warp_tile(self) -> tuple[int, int]:
        """Rows and columns of C of a warp: 8 x 4 or 4 x 8 lanes, whichever is nearer a square."""
        down, across = (8, 4) if self.TM <= self.TN else (4, 8)
        return down * self.TM, across * self.TN

    @property
    def threads(self) -> int:
        """Of a block; 0 where the warps' tiles do not fill the block's."""
        rows, columns = self.warp_tile
        whole = self.BM % rows == 0 and self.BN % columns == 0
        return self.BM // rows * (self.BN // columns) * 32 if whole else 0

    @property
    def shared_bytes(self) -> int:
        """The dynamic shared memory of a block."""
        return bytes_of_tiles(self.BM, self.BN, self.BK, self.STAGES)

    @property
    def wanted_registers(self) -> int:
        """That a thread would like: its sums, and the factors for this k and for the next."""
        return self.TM * self.TN + 2 * (self.TM + self.TN)

    @property
    def defines(self) -> dict[str, int]:
        """The macros that ``sgemm_autotuned.cu`` takes them from."""
        rows, columns = self.warp_tile
        return {**asdict(self), "WM": rows, "WN": columns}

    def __str__(self) -> str:
        return f"{self.BM} x {self.BN} x {self.BK}, {self.TM} x {self.TN}, {self.STAGES} stages"


def grid(
    BM: Iterable[int] = (64, 128, 256),
    BN: Iterable[int] = (64, 128, 256),
    BK: Iterable[int] = (8, 16, 32),
    thread: Iterable[tuple[int, int]] = ((8, 8), (8, 16), (16, 8), (16, 16)),
    STAGES: Iterable[int] = (2, 3, 4),
) -> list[Tiles]:
    """Every combination of these sizes."""
    return [
        Tiles(bm, bn, bk, tm, tn, stages)
        for bm, bn, bk, (tm, tn), stages in itertools.product(BM, BN, BK, thread, STAGES)
    ]


def why_not(tiles: Tiles) -> str:
    """What rules these sizes out before anything is compiled; "" if nothing does."""
    threads = tiles.threads
    if not threads or threads % tiles.BK or tiles.BM % (threads // tiles.BK):
        return "does not divide"
    if threads % (tiles.BN // 4) or tiles.BK % (threads // (tiles.BN // 4)):
        return "does not divide"
    if not 64 <= threads <= 1024:
        return "threads"
    if tiles.shared_bytes > MOST_SHARED:
        return "shared memory"
    if min(MOST_REGISTERS, REGISTERS // threads) < tiles.TM * tiles.TN:  # the sums alone
        return "registers"
    return ""


def examine(tiles: Tiles) -> dict[str, Any]:
    """A candidate with the reason that rules it out ("" if none does) and, where it was compiled,
    with its registers. Spills are seen too: this kernel has nothing else in local memory. On a
    machine without a GPU the machine code is that of an H200."""
    found = {"tiles": asdict(tiles), "threads": tiles.threads, "shared_bytes": tiles.shared_bytes}
    if reason := why_not(tiles):
        return {**found, "reason": reason}
    kernel = _kernel(tiles).kernel
    if ON_GPU and not kernel.is_beyond_gpu(tiles.shared_bytes):
        attributes = kernel.attributes
        registers, local = attributes["num_regs"], attributes["local_size_bytes"]
    else:
        needs = occupancy(_kernel(tiles), tiles.threads, tiles.shared_bytes).resources
        registers, local = needs.registers, needs.local_bytes
    return {**found, "reason": "spills" if local else "", "registers": registers}


def search(candidates: Sequence[Tiles], n: int = SIZE, passes: int = 2) -> list[dict[str, Any]]:
    """Every candidate examined; on a GPU, those that are left also timed on n x n matrices.

    The timed ones take turns, ``passes`` times over, each with a cold L2 cache; ``tflops`` is from
    the smaller of a candidate's medians. Raises LessonError where a result is wrong.
    """
    found = [examine(tiles) for tiles in candidates]
    if not ON_GPU:
        return found
    a, b, c = normal((n, n)), normal((n, n), 1), cp.empty((n, n), cp.float32)
    exact = double(a) @ double(b)
    runs = {}
    for tiles, entry in zip(candidates, found, strict=True):
        if not entry["reason"]:
            c.fill(float("nan"))
            runs[tiles] = _launch(_kernel(tiles), tiles, a, b, c)
            _check(c, exact, str(tiles))
    times = alternate(runs, passes)
    for tiles, entry in zip(candidates, found, strict=True):
        if tiles in times:
            entry["tflops"] = round(2 * n**3 / times[tiles] / 1e9, 3)
    return found


def alternate(runs: dict[Any, Any], passes: int = 2) -> dict[Any, float]:
    """Milliseconds of each of ``runs``, which take turns: the smaller of their medians."""
    times: dict[Any, list[float]] = {name: [] for name in runs}
    for _ in range(passes):
        for name, run in runs.items():
            times[name].append(bench(run, warmup=2, repeats=7).median_ms)
    return {name: min(medians) for name, medians in times.items()}


def wide_copies(n: int = SIZE) -> dict[str, float]:
    """TFLOP/s of the double buffer, of cp.async, and of cp.async when it is handed A
    transposed, so that 16-byte copies do; and of the library.

    Raises LessonError where a result is wrong.
    """
    need_gpu()
    a, b, c = normal((n, n)), normal((n, n), 1), cp.empty((n, n), cp.float32)
    transposed, exact = cp.ascontiguousarray(a.T), double(a) @ double(b)
    theirs = cp.empty_like(c)
    kernels = {
        "double_buffer": (load(DOUBLE_BUFFER), a),
        "cp_async": (load(COPIES), a),
        "cp_async, A transposed": (transposed_copies(), transposed),
    }
    runs = {"cuBLAS": lambda: cp.matmul(a, b, out=theirs)}
    shape = ceil_div(n, 128), ceil_div(n, 128)
    for name, (kernel, left) in kernels.items():
        c.fill(float("nan"))
        runs[name] = KernelCall(kernel.kernel, shape, 256, (left, b, c, n, n, n)).ready()
        _check(c, exact, name)
    return {name: round(2 * n**3 / ms / 1e9, 3) for name, ms in alternate(runs, 3).items()}


def warp_tiles(n: int = SIZE) -> dict[str, float]:
    """TFLOP/s of ``sgemm_autotuned.cu`` by the shape of its warps' tiles, all of 4096 results."""
    need_gpu()
    a, b, c = normal((n, n)), normal((n, n), 1), cp.empty((n, n), cp.float32)
    exact, tiles, runs = double(a) @ double(b), Tiles(128, 256, 8, 8, 16, 3), {}
    for rows, columns in WARP_TILES:
        kernel = load(KERNEL, defines={"WM": rows, "WN": columns})
        c.fill(float("nan"))
        runs[f"{rows} x {columns}"] = _launch(kernel, tiles, a, b, c)
        _check(c, exact, f"{rows} x {columns}")
    return {name: round(2 * n**3 / ms / 1e9, 3) for name, ms in alternate(runs, 3).items()}


def order_defines() -> dict[str, dict[str, str]]:
    """Orders of the rows and columns of a thread's products, as macros of ``sgemm_ordered.cu``:
    the file's own, as they stand, and ten at random (seed 0)."""
    rng = np.random.default_rng(0)
    found: dict[str, dict[str, str]] = {"found by a search": {}}
    for name in ("as they stand", *(f"random {number}" for number in range(10))):
        order = np.arange if name == "as they stand" else rng.permutation
        rows, columns = (", ".join(map(str, order(count))) for count in (8, 16))
        found[name] = {"ROWS": rows, "COLUMNS": columns}
    return found


def orders(n: int = SIZE) -> dict[str, float]:
    """TFLOP/s of ``sgemm_ordered.cu`` with each of :func:`order_defines`; all do the same work."""
    need_gpu()
    a, b, c = normal((n, n)), normal((n, n), 1), cp.empty((n, n), cp.float32)
    exact, tiles, runs = double(a) @ double(b), Tiles(128, 256, 8, 8, 16, 4), {}
    for name, defines in order_defines().items():
        c.fill(float("nan"))
        runs[name] = _launch(load(ORDERED, defines=defines), tiles, a, b, c)
        _check(c, exact, name)
    return {name: round(2 * n**3 / ms / 1e9, 3) for name, ms in alternate(runs).items()}


def transposed_copies() -> Module:
    """``sgemm_cp_async.cu`` for an A that lies transposed in memory, K x M: the copies of A are
    then like those of B, 16 bytes each. Nothing else differs."""
    text = load(COPIES).source
    begin = text.index("        bool in_k = start + a_k < K;")
    end = text.index("        int x = first_column + b_column;")
    wide = """\
        bool in_a = start + b_k < K && first_row + b_column < M;
        const float *from_a = in_a ? A + (start + b_k) * M + first_row + b_column : A;
        cp_async_16(shared_address(&tile_a[stage][b_k][b_column]), from_a, in_a);
"""
    return load(source=text[:begin] + wide + text[end:], filename="sgemm_cp_async.cu")


def measure() -> dict[str, Any]:
    """The search of all of :func:`grid` on this GPU, and what was tried beside it."""
    need_gpu()
    return {
        "size": SIZE,
        "wide_copies": wide_copies(),
        "warp_tiles": warp_tiles(),
        "orders": orders(),
        "candidates": search(grid()),
    }


def _kernel(tiles: Tiles) -> Module:
    return load(KERNEL, defines=tiles.defines)


def _launch(kernel: Module, tiles: Tiles, a: Any, b: Any, c: Any) -> Any:
    n = len(a)
    shape = n // tiles.BN, n // tiles.BM
    args = a, b, c, n, n, n
    return KernelCall(kernel.kernel, shape, tiles.threads, args, tiles.shared_bytes).ready()


def _check(c: Any, exact: Any, name: str) -> None:
    tolerance = tolerance_for(exact, unit_roundoff(c.dtype), reduction=len(c))
    if wrong := difference(c, exact, tolerance.rtol, tolerance.atol):
        raise LessonError(f"{name}: {wrong}.")
