"""The benchmarks of chapter 08: matrix products with wgmma, rung by rung, beside cuBLASLt."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...devices.properties import sm_count
from ...devices.selection import ON_GPU, cp
from ...integers import ceil_div
from ...launching.tensor_maps import tensor_map
from ..harness.arrays import double, normal
from ..harness.case import Case, Size
from ..harness.chapter_kernels import ChapterKernels
from ..harness.float_bits import from_bf16, to_bf16
from ..harness.workload import KernelCall, Workload
from ..libraries import cublas
from .matmul import OPERAND_TYPES, SUM_ERROR, Bf16Work, nt_case, nt_work, torch_product

CHAPTER = ChapterKernels("08_cute_tma_blackwell")
EMULATED_MULTIPROCESSORS = 4  # of a grid whose blocks stay: two clusters
ROW_BYTES = 128  # of a tile in shared memory


@dataclass(frozen=True)
class Rung:
    """A kernel of the ladder: its tile of C, the stages of its ring, its threads.

    ``cluster``: blocks that share a tile of B, each of which loads a part. Blocks that ``stay``
    take tile after tile. ``boxes``: bytes of shared memory through which TMA stores C, 0 where the
    threads do it.
    """

    rows: int
    columns: int
    stages: int
    threads: int
    cluster: int = 1
    stays: bool = False
    boxes: int = 0

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block."""
        return self.stages * (self.rows + self.columns) * ROW_BYTES + self.boxes

    def grid(self, m: int, n: int) -> int | tuple[int, int]:
        """Blocks for C (m, n): one a tile, or the fewest that need no more rounds than all do."""
        down, across = ceil_div(m, self.rows), ceil_div(n, self.columns)
        if not self.stays:
            return across, down
        tiles = ceil_div(down, self.cluster) * across
        clusters = multiprocessors() // self.cluster
        return ceil_div(tiles, ceil_div(tiles, clusters)) * self.cluster


RUNGS = {
    "gemm_wgmma": Rung(64, 128, stages=1, threads=128),
    "gemm_stages": Rung(128, 128, stages=3, threads=128),
    "gemm_producer": Rung(128, 128, stages=5, threads=256),
    "gemm_two_consumers": Rung(128, 256, stages=4, threads=384),
    "gemm_persistent": Rung(128, 256, stages=4, threads=384, stays=True),
    "gemm_multicast": Rung(128, 256, stages=4, threads=384, cluster=2, stays=True),
    # Blocks alone, as a search on an H200 found it: those of a cluster wait for each other.
    "gemm_hopper": Rung(128, 256, stages=4, threads=384, stays=True, boxes=1 << 15),
    "gemm_ping_pong": Rung(128, 128, stages=6, threads=384, stays=True, boxes=1 << 15),
}
RUNGS |= dict.fromkeys(("gemm_fp8", "gemm_int8", "gemm_bias_gelu"), RUNGS["gemm_hopper"])


def multiprocessors() -> int:
    """Blocks of a grid that stays: one for each of the GPU's, or a few on the emulator."""
    return sm_count() if ON_GPU else EMULATED_MULTIPROCESSORS


def hopper_call(
    name: str, a: Any, b: Any, c: Any, *more: Any, cluster: int | None = None
) -> KernelCall:
    """The call of the rung ``name`` for C = A B^T: ``a`` (M, K), ``b`` (N, K), ``c`` (M, N), rows
    multiples of 16 bytes. ``more`` are arguments after c; ``cluster``: blocks that share a tile of
    B, for kernels that leave it open. The arrays have to live as long as it is used."""
    (m, k), n = a.shape, len(b)
    rung = RUNGS[name]
    rung = replace(rung, cluster=cluster or rung.cluster)
    width = ROW_BYTES // a.dtype.itemsize
    maps = (
        tensor_map(x, (rows, width), swizzle=128)
        for x, rows in ((a, rung.rows), (b, rung.columns // rung.cluster))
    )
    to = tensor_map(c, (16, ROW_BYTES // c.dtype.itemsize), swizzle=128) if rung.boxes else c
    defines = {"CLUSTER": rung.cluster} if rung.boxes else {}
    kernel = CHAPTER.kernel(name, "sm_90a", **defines)
    arguments = (*maps, to, *more, m, n, k)
    return KernelCall(kernel, rung.grid(m, n), rung.threads, arguments, rung.shared_bytes)


def _rung(
    name: str, sizes: tuple[int, ...], sustained: tuple[int, ...] = (), kind: str = "bf16"
) -> Case:
    def make(n: int) -> Workload:
        return nt_work(n, kind, partial(hopper_call, name))

    more = {"gpu_sizes": sizes, "sustained_sizes": sustained, "test_sizes": (144,)}
    return nt_case(name, kind, make, chapter=CHAPTER, **more)


# --- with bias and activation ---


def gelu(x: Any) -> Any:
    """GELU by its formula with tanh."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def _bias_gelu(n: int) -> Workload:
    """The products are scaled to a variance of one, so that the curve of GELU counts."""
    factors: tuple[tuple[Size, float], ...] = ((n, n), 1), ((n, n), n**-0.5), (n, 1)
    a, b, bias = (
        to_bf16(scale * normal(shape, seed)) for seed, (shape, scale) in enumerate(factors)
    )
    c = cp.empty((n, n), np.uint16)

    def expected() -> Any:
        return gelu(double(from_bf16(a)) @ double(from_bf16(b)).T + double(from_bf16(bias)))

    return Bf16Work(
        (hopper_call("gemm_bias_gelu", a, b, c, bias),),
        output=c,
        expected=expected,
        rtol=2**-7,
        atol=2**-9,  # tanh.approx errs by 2**-11, of numbers up to about 4
        libraries=cublas.with_bias("bf16", "gelu bias", a, b, bias, lambda: cp.empty_like(c)),
        same_bits=False,
    )


# --- few rows: the operands exchanged ---


SHAPES = (4096, 4096), (1024, 8192), (8192, 8192), (4096, 14336)  # N, K: layers of LLMs
SHARED_BYTES = 228 * 1024  # of a multiprocessor
SHARED_BESIDES = 1536  # of a block: what CUDA takes, and mbarriers


def small_m_plan(m: int, n: int, k: int, **tried: int) -> dict[str, int]:
    """The defines of ``gemm_small_m.cu`` for a shape, ``tried`` in place of ours.

    As a search on an H200 found it. Up to one narrow tile a multiprocessor: as many slices of K, up
    to four, as leave each block a multiprocessor of its own; two slices, two blocks each, where the
    tiles alone nearly fill all. More tiles than that: wide ones, and blocks that stay. Up to 32
    rows half the shared memory is enough for a block, unless there are four slices.
    """
    rows = next((each for each in (8, 16, 32) if m <= each), 64)
    sms, down = multiprocessors(), ceil_div(m, rows)
    tiles = ceil_div(n, 64) * down
    if tiles > sms:
        shape = {"BN": 128, "CLUSTER": 1, "DEPTH": 2, "BLOCKS": 1}
    else:
        most = min(sms // tiles, ceil_div(k, 128) // 2)
        slices = max((each for each in (1, 2, 4) if each <= most), default=1)
        nearly_all = 8 * tiles > 7 * sms and k >= 512
        half = nearly_all or (rows <= 32 and slices < 4)
        shape = {
            "BN": 64,
            "CLUSTER": 2 if nearly_all else slices,
            "DEPTH": 2 if half or slices == 4 else 4,
            "BLOCKS": 2 if half else 1,
        }
    found = {"ROWS": rows} | shape | tried
    room = SHARED_BYTES // found["BLOCKS"] - SHARED_BESIDES
    sums, one = (small_m_bytes(found | {"STAGES": stages}) for stages in (0, 1))
    return {"STAGES": (room - sums) // (one - sums)} | found


def small_m_bytes(plan: dict[str, int]) -> int:
    """Dynamic shared memory of a block: its stages, and what a cluster sends it of its sums."""
    rows, width, cluster = plan["ROWS"], plan["BN"], plan["CLUSTER"]
    pairs = cluster * ceil_div(rows // 4, cluster)  # of each thread
    sums = pairs * 8 * 2 * width if cluster > 1 else 0
    return plan["STAGES"] * plan["DEPTH"] * (width + rows) * ROW_BYTES + sums


def small_m_call(a: Any, b: Any, c: Any, **tried: int) -> KernelCall:
    """The call of ``gemm_small_m.cu`` for C = A B^T; ``a`` and ``b`` have to live as long as it is
    used. ``tried`` are defines in place of those of :func:`small_m_plan`."""
    (m, k), n = a.shape, len(b)
    plan = small_m_plan(m, n, k, **tried)
    rows, width = plan["ROWS"], plan["BN"]
    maps = (tensor_map(x, (box, 64), swizzle=128) for x, box in ((a, rows), (b, width)))
    tiles, down = ceil_div(n, width), ceil_div(m, rows)
    rounds = 1
    if plan["CLUSTER"] == 1:
        rounds = ceil_div(tiles * down, plan["BLOCKS"] * multiprocessors())
    grid = ceil_div(tiles, rounds), plan["CLUSTER"], down
    kernel = CHAPTER.kernel("gemm_small_m", "sm_90a", **plan)
    return KernelCall(kernel, grid, 2 * width + 32, (*maps, c, m, n, k), small_m_bytes(plan))


def _small_m(size: tuple[int, int, int]) -> Workload:
    m, n, k = size
    a, b = to_bf16(normal((m, k))), to_bf16(normal((n, k), 1))
    c = cp.empty((m, n), np.uint16)
    return Bf16Work(
        (small_m_call(a, b, c),),
        output=c,
        expected=lambda: double(from_bf16(a)) @ double(from_bf16(b)).T,
        rtol=OPERAND_TYPES["bf16"].rtol,
        atol=k * SUM_ERROR,
        libraries=cublas.products("bf16", a, b, lambda: cp.empty_like(c))
        | torch_product("bf16", a, b),
    )


CASES = (
    _rung("gemm_wgmma", (8192,)),
    _rung("gemm_stages", (8192,)),
    _rung("gemm_producer", (8192,)),
    _rung("gemm_two_consumers", (8192,)),
    _rung("gemm_persistent", (8192,)),
    _rung("gemm_multicast", (8192,)),
    _rung("gemm_hopper", (2048, 4096, 8192), sustained=(4096, 8192)),
    _rung("gemm_ping_pong", (2048, 4096, 8192)),
    _rung("gemm_fp8", (4096, 8192), sustained=(8192,), kind="fp8"),
    _rung("gemm_int8", (4096, 8192), sustained=(8192,), kind="int8"),
    Case(
        "gemm_bias_gelu",
        "GEMM with bias and GELU, bf16",
        CHAPTER.files("gemm_bias_gelu"),
        _bias_gelu,
        bytes=lambda n: 3 * 2 * n * n,
        flops=lambda n: 2 * n**3,
        gpu_sizes=(4096, 8192),
        test_sizes=(144,),
        peak="bf16",
    ),
    Case(
        "gemm_small_m",
        "few rows times a matrix, bf16",
        CHAPTER.files("gemm_small_m"),
        _small_m,
        bytes=lambda n: 2 * (n[0] * n[2] + n[1] * n[2] + n[0] * n[1]),
        flops=lambda n: 2 * n[0] * n[1] * n[2],
        gpu_sizes=tuple((m, *shape) for shape in SHAPES for m in (1, 16, 64)),
        test_sizes=((17, 136, 264),),
        ceiling="read",
        peak="bf16",
    ),
)
