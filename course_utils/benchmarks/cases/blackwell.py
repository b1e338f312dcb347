"""Products on Blackwell's tensor cores: bf16 factors, sums in tensor memory (sm_100a).

No such GPU was at hand when the course was written, so nothing in ``assets/benchmarks`` is theirs:
:mod:`.prove_blackwell` runs them on one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...devices.properties import sm_count
from ...devices.selection import EMULATOR, cp
from ...integers import ceil_div
from ...launching.kernels import Kernel
from ...launching.modules import load
from ...launching.tensor_maps import tensor_map
from ...needs import lacking
from ..harness.arrays import double, normal
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.workload import KernelCall, Workload
from ..libraries import cublas
from .matmul import OPERAND_TYPES, SUM_ERROR, Bf16Work, ProductSize

ARCH = "sm_100a"
FOLDER = "08_cute_tma_blackwell/blackwell_gemm"
ROWS, STEPS, ROW_BYTES = 128, 64, 128  # of D for a block; of K in a box, and their bytes
BOX = (32, 64)  # rows of a warp and columns, of a box of D


@dataclass(frozen=True)
class TensorRung:
    """A kernel for any M, N and K that are multiples of 8, and how it is launched: ``grid(m, n, bn,
    pairs)`` blocks of 192 threads, ``stages`` of boxes, ``blocks`` that share the columns of B.
    With ``stores_boxes`` D is stored by TMA, from boxes in shared memory."""

    file: str
    stages: int
    blocks: int
    grid: Callable[[int, int, int, int], tuple[int, ...]]
    stores_boxes: bool = False


def pair_tiles(m: int, n: int, bn: int) -> int:
    """Tiles of 256 x ``bn`` in a matrix of m x n."""
    return ceil_div(m, 2 * ROWS) * ceil_div(n, bn)


RUNGS = {
    "umma_stages": TensorRung(
        "02_umma_stages.cu", 4, 1, lambda m, n, bn, _: (ceil_div(n, bn), ceil_div(m, ROWS))
    ),
    "umma_pair": TensorRung(
        "03_umma_pair.cu", 6, 2, lambda m, n, bn, _: (2 * ceil_div(m, 2 * ROWS), ceil_div(n, bn))
    ),
    "umma_persistent": TensorRung(
        "04_umma_persistent.cu",
        6,
        2,
        lambda m, n, bn, pairs: (2 * min(pairs, pair_tiles(m, n, bn)),),
    ),
    "umma_boxes": TensorRung(
        "05_umma_boxes.cu",
        6,
        2,
        lambda m, n, bn, pairs: (2 * min(pairs, pair_tiles(m, n, bn)),),
        stores_boxes=True,
    ),
    "umma_clc": TensorRung(
        "06_umma_clc.cu",
        6,
        2,
        lambda m, n, bn, _: (2 * pair_tiles(m, n, bn),),
        stores_boxes=True,
    ),
}


def blackwell_kernel(file: str, folder: str = FOLDER, **defines: int) -> Kernel:
    """A kernel of a folder, on a GPU of its kind if there is one, else on the emulator."""
    device = EMULATOR if lacking(ARCH) else None
    return load(f"{folder}/{file}", arch=ARCH, defines=defines, device=device).kernel


def product_call(
    name: str, a: Any, b: Any, d: Any, *, bn: int = 256, stages: int = 0, pairs: int = 0
) -> KernelCall:
    """The call of rung ``name`` for D = A B^T, the bits of bf16 matrices (M, K), (N, K), (M, N).

    ``bn``: columns of D for a block or a pair. ``stages``: of the ring; the rung's own for 0.
    ``pairs``: how many the persistent kernel has, 0 for as many as the GPU has room for.
    """
    rung = RUNGS[name]
    stages, pairs = stages or rung.stages, pairs or sm_count() // 2
    maps = (
        tensor_map(x, (rows, STEPS), swizzle=ROW_BYTES)
        for x, rows in ((a, ROWS), (b, bn // rung.blocks))
    )
    (m, k), n = a.shape, len(b)
    shared = stages * (ROWS + bn // rung.blocks) * ROW_BYTES
    to: Any = d
    if rung.stores_boxes:
        to, shared = tensor_map(d, BOX, swizzle=ROW_BYTES), shared + 8 * BOX[0] * ROW_BYTES
    kernel = blackwell_kernel(rung.file, BN=bn, STAGES=stages)
    return KernelCall(kernel, rung.grid(m, n, bn, pairs), 192, (*maps, to, m, n, k), shared)


def product_work(name: str, shape: ProductSize, seed: int = 0, **launch: int) -> Workload:
    """The product of rung ``name`` for random matrices of ``shape`` (M, N, K), beside float64 and,
    on a GPU, cuBLAS; ``launch`` as for :func:`product_call`."""
    m, n, k = shape
    a, b = to_bf16(normal((m, k), seed)), to_bf16(normal((n, k), seed + 1))
    d = cp.empty((m, n), cp.uint16)
    return Bf16Work(
        (product_call(name, a, b, d, **launch),),
        output=d,
        expected=lambda: double(from_bf16(a)) @ double(from_bf16(b)).T,
        rtol=OPERAND_TYPES["bf16"].rtol,
        atol=k * SUM_ERROR,
        libraries=cublas.products("bf16", a, b, lambda: cp.empty_like(d)),
        same_bits=False,  # how tensor cores add up is not documented
    )


def tile_work(columns: int = 64, seed: int = 0) -> Workload:
    """The one tile of ``umma_tile``: 128 x ``columns`` results in fp32."""
    a, b = to_bf16(normal((ROWS, STEPS), seed)), to_bf16(normal((columns, STEPS), seed + 1))
    d = cp.empty((ROWS, columns), cp.float32)
    maps = (tensor_map(x, x.shape, swizzle=ROW_BYTES) for x in (a, b))
    kernel = blackwell_kernel("01_umma_tile.cu", COLUMNS=columns)
    return Workload(
        (KernelCall(kernel, 1, ROWS, (*maps, d)),),
        output=d,
        expected=lambda: double(from_bf16(a)) @ double(from_bf16(b)).T,
        atol=STEPS * SUM_ERROR,
        same_bits=False,
    )
