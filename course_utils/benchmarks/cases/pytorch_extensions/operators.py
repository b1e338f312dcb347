"""The cases of chapter 07 share their kernels' chapter, and rows of a type of elements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....devices.selection import cp
from ...harness.arrays import double
from ...harness.chapter_kernels import ChapterKernels
from ...harness.float_bits import from_bf16, to_bf16
from ...harness.workload import Workload

CHAPTER = ChapterKernels("07_pytorch_extensions")
Rows = tuple[int, int]  # a size: rows, columns


@dataclass(frozen=True)
class Kind:
    """A type of elements: its name in CUDA, its bytes, and how far the result of a formula in fp32
    may be off once it is rounded to it."""

    c_type: str
    width: int
    rtol: float

    def made(self, numbers: Any) -> Any:
        """fp32 ``numbers`` as an array of this kind, bf16 as its bits."""
        return to_bf16(numbers) if self.width == 2 else numbers

    def exact(self, array: Any) -> Any:
        """The numbers of an ``array`` of this kind, in float64."""
        return double(from_bf16(array) if self.width == 2 else array)

    def empty(self, shape: Any) -> Any:
        """An uninitialised array of this kind."""
        return cp.empty(shape, np.uint16 if self.width == 2 else np.float32)


FP32 = Kind("float", 4, 1e-5)
BF16 = Kind("__nv_bfloat16", 2, 2**-8)
KINDS = {"fp32": FP32, "bf16": BF16}
TEST_SIZES = {"fp32": ((1, 1), (2, 4097), (3, 31), (9, 264)), "bf16": ((3, 31), (9, 264))}


@dataclass(frozen=True)
class KindWork(Workload):
    """Work whose results are of a kind, and whose outputs may be several arrays in one."""

    kind: Kind = FP32

    def numbers(self, result: Any) -> Any:
        """fp32, from an array of the kind or a tensor."""
        if hasattr(result, "detach"):
            return cp.asarray(result.detach().float())
        return from_bf16(result) if self.kind.width == 2 else result
