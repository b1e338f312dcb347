"""The polynomial activation beside what PyTorch makes of its formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.torch_runs import by_torch
from ...harness.workload import KernelCall, Workload
from .operators import CHAPTER


def _formula(x: Any) -> Any:
    return x * x + x + 1


def _polynomial(name: str, per_thread: int) -> Callable[[int], Workload]:
    """One of the kernels, whose threads take ``per_thread`` elements each."""

    def make(n: int) -> Workload:
        x, y = normal(n), cp.empty(n, cp.float32)
        groups = n // per_thread
        kernel = CHAPTER.kernel(name)
        call = KernelCall(kernel, ceil_div(groups, 256), 256, (x, y, groups))

        def expected() -> Any:
            return _formula(double(x))

        return Workload(
            (call,), y, expected, rtol=1e-6, atol=1e-6, libraries=by_torch(_formula, x, graph=True)
        )

    return make


def _case(name: str, per_thread: int, test_sizes: tuple[int, ...]) -> Case:
    return Case(
        name,
        "polynomial activation, fp32",
        CHAPTER.files(name),
        _polynomial(name, per_thread),
        bytes=lambda n: 8 * n,
        flops=lambda n: 4 * n,
        gpu_sizes=(1 << 20, 1 << 24, 1 << 26),
        test_sizes=test_sizes,
    )


CASES = (
    _case("polynomial", 1, (1, 255, 257)),
    _case("polynomial_vector", 4, (4, 1020, 1028)),
)
