"""What a copy's pattern, width and occupancy cost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....devices.selection import ON_GPU, cp
from ....integers import ceil_div
from ...harness.arrays import double, normal
from ...harness.case import Case
from ...harness.workload import KernelCall, Workload
from .common import CHAPTER, UP_TO_2_26


def _copy(
    name: str,
    *more: int,
    first: int = 0,
    step: int = 1,
    at_once: int = 1,
    shared_mem: int = 0,
    library: bool = False,
    **defines: int,
) -> Callable[[int], Workload]:
    """out = x[first::step], ``at_once`` elements a thread; ``more`` follow n in the arguments."""

    def make(n: int) -> Workload:
        x, out = normal(first + n * step), cp.empty(n, cp.float32)
        count = n // 4 if name == "copy_vector" else n
        args = x, out, count, *more
        grid = ceil_div(n, 256 * at_once)
        libraries = {}
        if library and ON_GPU:
            theirs = cp.empty_like(out)
            libraries["cudaMemcpy"] = lambda: (cp.copyto(theirs, x), theirs)[1]
        return Workload(
            (KernelCall(CHAPTER.kernel(name, **defines), grid, 256, args, shared_mem),),
            output=out,
            expected=lambda: double(x[first::step][:n]),
            libraries=libraries,
        )

    return make


def _copy_case(
    name: str, file: str, what: str, make: Callable[[int], Workload], **settings: Any
) -> Case:
    settings = {"gpu_sizes": (1 << 26,), "test_sizes": (1, 257, 1009)} | settings
    return Case(name, what, CHAPTER.files(file), make, lambda n: 8 * n, lambda n: 0, **settings)


CASES = (
    _copy_case("copy", "copy", "copy, fp32", _copy("copy", library=True)),
    _copy_case(
        "copy_vector",
        "copy_vector",
        "copy, fp32",
        _copy("copy_vector", at_once=4, library=True),
        gpu_sizes=UP_TO_2_26,
        test_sizes=(4, 260, 1012),
    ),
    *(
        _copy_case(
            f"copy_offset_{k}",
            "copy_offset",
            "copy from an offset on",
            _copy("copy_offset", k, first=k),
        )
        for k in (0, 1, 8)
    ),
    *(
        _copy_case(
            f"copy_strided_{k}",
            "copy_strided",
            "copy of every k-th element",
            _copy("copy_strided", k, step=k),
            gpu_sizes=(1 << 25,),
        )
        for k in (1, 2, 4, 8, 16, 32)
    ),
    *(
        _copy_case(
            f"copy_in_flight_{k}",
            "copy_in_flight",
            "copy, k elements a thread",
            _copy("copy_in_flight", at_once=k, ITEMS=k),
        )
        for k in (1, 2, 4, 8, 16, 32, 64)
    ),
    *(
        _copy_case(
            f"copy_shared_limit_{k}",
            "copy_shared_limit",
            "copy, k KB of shared memory a block",
            _copy("copy_shared_limit", shared_mem=1024 * k),
        )
        for k in (1, 28, 56, 113, 226)
    ),
)
