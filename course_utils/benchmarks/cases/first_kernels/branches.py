"""Branches that a warp takes together, or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.workload import KernelCall, Workload
from .common import CHAPTER

SERIES_STEPS = 256


def _branch(name: str, width: int) -> Callable[[int], Workload]:
    """``width`` neighbours in a row take the same way."""

    def make(n: int) -> Workload:
        x, out = normal(n), cp.empty(n, cp.float32)

        def expected() -> Any:
            term = cp.where(cp.arange(n) // width % 2 == 0, 1.0, 3.0)
            value = double(x)
            for _ in range(SERIES_STEPS):
                value = 0.5 * value + term
            return value

        launch = KernelCall(CHAPTER.kernel(name), ceil_div(n, 256), 256, (x, out, SERIES_STEPS, n))
        return Workload((launch,), output=out, expected=expected, rtol=1e-6)

    return make


def _branch_case(name: str, width: int) -> Case:
    return Case(
        name,
        f"two series of {SERIES_STEPS} FMAs",
        CHAPTER.files(name),
        _branch(name, width),
        bytes=lambda n: 8 * n,
        flops=lambda n: 2 * SERIES_STEPS * n,
        gpu_sizes=(1 << 24,),
        test_sizes=(1, 61, 1009),
    )


CASES = (
    _branch_case("branch_by_thread", 1),
    _branch_case("branch_by_warp", 32),
    _branch_case("branch_free", 1),
)
