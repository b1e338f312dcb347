"""One bf16 product whose blocks take the tiles of C in different orders: time, and bytes of DRAM.

The kernel is ``gemm_bf16_pipeline.cu``; BAND rows of tiles are visited together, column by column.
The bytes are what Nsight Compute counts.
"""

from __future__ import annotations

from typing import Any

from ...checking import difference
from ...devices.selection import cp
from ...errors import LessonError
from ...observing.timing import Bench, bench
from ..cases.matmul import CHAPTER, OPERAND_TYPES, SUM_ERROR
from ..harness import nsight_compute
from ..harness.arrays import double, normal
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.workload import KernelCall

KERNEL = "gemm_bf16_pipeline"
SOURCES = CHAPTER.files(KERNEL)
SIZE = 8192
BM, BN = 128, 256  # a tile of C
BANDS = 1, 2, 4, 8, 16, 32, SIZE // BM  # the first goes row by row, the last column by column
TURNS = 3
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
LOOKED_UP, FOUND = "lts__t_sectors_op_read.sum", "lts__t_sectors_op_read_lookup_hit.sum"
COUNT = "from course_utils.benchmarks.experiments import tile_orders; tile_orders.launch_each()"


def calls(n: int) -> tuple[dict[int, KernelCall], tuple[Any, Any, Any]]:
    """The product of n x n matrices in the order of each of the BANDS, and its arrays."""
    a, b = to_bf16(normal((n, n))), to_bf16(normal((n, n), 1))
    c = cp.empty((n, n), cp.uint16)
    grid, shared = n // BM * (n // BN), 4 * (BM + BN) * 128
    kernels = {band: CHAPTER.kernel(KERNEL, BAND=band) for band in BANDS}
    arguments = a, b, c, n, n, n
    return {
        band: KernelCall(kernel, grid, 256, arguments, shared) for band, kernel in kernels.items()
    }, (a, b, c)


def launch_each() -> None:
    """Each order once, for Nsight Compute."""
    for call in calls(SIZE)[0].values():
        call()


def measure() -> dict[str, Any]:
    """The figures of each order. Raises LessonError where two orders differ in a bit."""
    ready, arrays = calls(SIZE)
    times: dict[int, list[float]] = {band: [] for band in BANDS}
    results = []
    for turn in range(TURNS):  # in turn: the clock goes up and down
        for band, call in ready.items():
            arrays[2].view("uint8")[...] = 255
            times[band] += bench(call.ready(), repeats=10).times_ms
            if turn == 0:
                results.append(arrays[2].copy())
    if any(bool((result != results[0]).any()) for result in results[1:]):
        raise LessonError(f"{KERNEL}: the order of the tiles changes the product.")
    some = slice(0, SIZE, SIZE // 8)
    a, b, _ = map(from_bf16, arrays)
    expected = double(a[some]) @ double(b).T
    tolerances = {"rtol": OPERAND_TYPES["bf16"].rtol, "atol": SIZE * SUM_ERROR}
    if wrong := difference(from_bf16(results[0][some]), expected, **tolerances):
        raise LessonError(f"{KERNEL}: {wrong}.")
    of_all = {band: Bench(tuple(taken)) for band, taken in times.items()}
    metrics = READ, WRITTEN, LOOKED_UP, FOUND
    counted = nsight_compute.counts(COUNT, KERNEL, metrics, launches=len(BANDS))
    return {
        "size": SIZE,
        "tile": [BM, BN],
        "orders": [
            {
                "band": band,
                "median_ms": round(of_all[band].median_ms, 4),
                "spread_ms": round(of_all[band].spread_ms, 4),
                "dram_bytes_read": found.metrics.get(READ),
                "dram_bytes_written": found.metrics.get(WRITTEN),
                "l2_sectors_read": found.metrics.get(LOOKED_UP),
                "l2_sectors_hit": found.metrics.get(FOUND),
            }
            for band, found in zip(BANDS, counted, strict=True)
        ],
    }
