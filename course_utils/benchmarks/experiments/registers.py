"""What limits on registers do to kernels of chapter 04: the fused convolution and the fast sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from ...devices.properties import need_gpu, sm_count
from ...devices.selection import cp
from ...errors import LessonError
from ...launching.modules import load
from ...observing.timing import bench
from ..cases.first_kernels.fused_convolutions import CASES
from ..harness.arrays import normal

CONVOLUTION = "04_first_kernels/fusion/conv_bn_relu_pool_filters.cu"
SUM = "04_first_kernels/reductions/05_sum_vector.cu"
SOURCES = CONVOLUTION, SUM
SIZE = 32, 3, 16, 224, 224  # images, channels, filters, height, width
SUM_BOUNDS = "(kThreads)", "(kThreads, 2)"


def register_limits(limits: Iterable[int] = (255, 0, 80, 64, 48, 40, 32)) -> list[dict[str, float]]:
    """conv_bn_relu_pool_filters.cu at :data:`SIZE`, compiled with a limit on its registers (0:
    none, the compiler decides): the limit, the registers that it took, and milliseconds.

    Raises LessonError where there is no GPU, or where a result is wrong.
    """
    need_gpu()
    work = next(case for case in CASES if CONVOLUTION in case.files).make(SIZE)
    found = []
    for limit in limits:
        options = (f"--maxrregcount={limit}",) if limit else ()
        kernel = load(CONVOLUTION, options=options).kernel
        work.poison()
        run = bench(replace(work.launches[0], kernel=kernel), repeats=11)
        if wrong := work.wrong():
            raise LessonError(f"{CONVOLUTION} with a limit of {limit} registers: {wrong}.")
        found.append(
            {
                "limit": limit,
                "registers": kernel.raw.num_regs,
                "median_ms": round(run.median_ms, 5),
            }
        )
    return found


def sum_bounds(n: int = 1 << 28) -> list[dict[str, str | float]]:
    """sum_vector.cu on n fp32 elements with each of :data:`SUM_BOUNDS`: the launch bounds, and
    milliseconds with two blocks for each SM. Raises LessonError where there is no GPU.
    """
    need_gpu()
    module = load(SUM)
    x, grid = normal(n), 2 * sm_count()
    sums = cp.empty(grid, cp.float32)
    found: list[dict[str, str | float]] = []
    for bounds in SUM_BOUNDS:
        kernel = module.edited({SUM_BOUNDS[-1]: bounds}).kernel
        run = bench(partial(kernel, grid, 1024, (x, sums, n)), repeats=11)
        found.append({"bounds": bounds, "median_ms": round(run.median_ms, 4)})
    return found
