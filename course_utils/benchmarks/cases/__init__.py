"""The kernels that are measured beside libraries, a module or a folder a chapter."""

from importlib import import_module
from typing import Any

from ..harness.case import Case

# blackwell and block_scaled have no CASES: no GPU with their tensor cores has measured them.
# `python -m course_utils prove-blackwell` runs and times them on one.
MODULES = (
    "gpu_introduction",
    "first_kernels",
    "cuda_libraries",
    "library_filters",
    "matmul",
    "few_rows",
    "fft",
    "convolution",
    "gemv_and_softmax",
    "pytorch_extensions",
    "cute",
    "hopper",
    "hopper_attention",
)
CASES: tuple[Case, ...]  # of all of them


def __getattr__(name: str) -> Any:
    """``CASES``, put together when first asked for: no notebook needs it to start."""
    if name != "CASES":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    modules = (import_module(f".{module}", __name__) for module in MODULES)
    globals()[name] = tuple(case for module in modules for case in module.CASES)
    return globals()[name]
