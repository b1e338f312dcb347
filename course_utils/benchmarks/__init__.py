"""The course's kernels beside libraries, and what a GPU's memories and arithmetic can do.

``python -m course_utils bench`` (:mod:`.bench_command`) measures all of it on a GPU. On the
emulator it says how fast that runs. Each chapter has its cases below :mod:`.cases`.
:data:`.producers.PRODUCERS` make the other files of ``assets/benchmarks``.
"""

from typing import Any

from . import cases
from .harness.case import Case
from .harness.workload import KernelCall, Workload

__all__ = ["CASES", "Case", "KernelCall", "Workload"]
CASES: tuple[Case, ...]


def __getattr__(name: str) -> Any:
    """``CASES``, which is made when first asked for."""
    if name != "CASES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return cases.CASES
