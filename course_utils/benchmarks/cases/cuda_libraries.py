"""Uniform random numbers beside cuRAND's and PyTorch's: chapter 05."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...devices.selection import cp
from ...integers import ceil_div
from ..harness.case import Case
from ..harness.chapter_kernels import ChapterKernels, program
from ..harness.torch_runs import as_tensors, torch_on_gpu
from ..harness.workload import KernelCall, Workload
from ..libraries.curand import uniform_floats

CHAPTER = ChapterKernels("05_cuda_libraries")
PHILOX = "07_pytorch_extensions/philox.py"
STREAMS = 65536  # subsequences of cuRAND's order
SEED = 1234


def _uniform(n: int) -> Workload:
    out = cp.empty(n, cp.float32)
    libraries = uniform_floats(cp.empty(n, cp.float32), SEED)
    if torch_on_gpu():
        (tensor,) = as_tensors(cp.empty(n, cp.float32))

        def refill() -> None:
            tensor.uniform_()  # numbers of its own

        libraries |= {"torch.rand": refill}

    def expected() -> Any:
        turn, stream = np.divmod(np.arange(n // 4), STREAMS)
        drawn = program(PHILOX, "philox")(SEED, stream, turn).ravel()
        return cp.asarray(program(PHILOX, "uniform")(drawn))

    kernel = CHAPTER.kernel("philox_uniform")
    call = KernelCall(kernel, ceil_div(n, 1024), 256, (out, SEED, n))
    return Workload((call,), out, expected, libraries=libraries)


CASES = (
    Case(
        "philox_uniform",
        "uniform random numbers, fp32",
        CHAPTER.files("philox_uniform"),
        _uniform,
        bytes=lambda n: 4 * n,
        flops=lambda n: 0,
        gpu_sizes=(1 << 20, 1 << 24, 1 << 26),
        test_sizes=(4, 1020, 262_152),
    ),
)
