"""Products of Blackwell's tensor cores with a scale for each block along K: MXFP8 and NVFP4.

Sources: OCP, "Microscaling Formats (MX) Specification"; PTX ISA, "Block Scaling". No GPU that has
them was at hand; :mod:`.prove_blackwell` runs them on one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

from ...devices.selection import cp
from ...integers import ceil_div
from ...launching.tensor_maps import tensor_map
from ...paths import KERNELS
from ..harness.workload import KernelCall, Workload
from .blackwell import ROW_BYTES, ROWS, blackwell_kernel
from .matmul import SUM_ERROR, ProductSize

FOLDER = "08_cute_tma_blackwell/block_scaled"
TENSOR_SCALE = np.float32(0.75)  # of NVFP4's results, in these works


@dataclass(frozen=True)
class BlockFormat:
    """Blocks of ``block`` numbers share a scale. ``steps`` numbers fill 128 bytes of a row, and
    their scales ``tiles`` tiles of 512 bytes. Scales are drawn from ``low`` to ``high``, codes."""

    define: int
    block: int
    steps: int
    tiles: int
    low: int
    high: int


FORMATS = {
    "mxfp8": BlockFormat(0, 32, 128, 1, 125, 130),  # UE8M0: 1/4 to 8
    "nvfp4": BlockFormat(1, 16, 256, 4, 0x30, 0x47),  # UE4M3: 1/2 to 3.75
}


@lru_cache(1)
def reference_formats() -> SimpleNamespace:
    """The narrow formats in NumPy, as chapter 07 has them."""
    file = KERNELS / "07_pytorch_extensions" / "low_precision" / "formats.py"
    return SimpleNamespace(**run_path(str(file)))


@dataclass(frozen=True)
class ScaledFactor:
    """A random matrix (rows, k) of a format: ``codes`` (rows, bytes) and ``scales`` in tiles."""

    form: str
    rows: int
    k: int
    seed: int

    @cached_property
    def codes(self) -> np.ndarray:
        """uint8 (rows, bytes): a number each in mxfp8, two in nvfp4."""
        rng = np.random.default_rng(self.seed)
        if self.form == "nvfp4":
            return rng.integers(0, 256, (self.rows, self.k // 2), np.uint8)
        magnitudes = rng.integers(0, 0x48, (self.rows, self.k), np.uint8)  # up to 3.75
        signs = rng.integers(0, 2, magnitudes.shape, np.uint8) << 7
        codes: np.ndarray = magnitudes | signs
        return codes

    @cached_property
    def block_scales(self) -> np.ndarray:
        """Their codes, (rows, blocks)."""
        form = FORMATS[self.form]
        rng = np.random.default_rng(self.seed + 1)
        return rng.integers(form.low, form.high + 1, (self.rows, self.k // form.block), np.uint8)

    @cached_property
    def scales(self) -> np.ndarray:
        """uint8: the codes of ``block_scales`` in the tiles that the tensor cores read."""
        formats = reference_formats()
        shape = self.block_scales.shape
        tiles = np.zeros(formats.room_for_scales(*shape), np.uint8)
        tiles[formats.scale_places(*shape)] = self.block_scales
        return tiles

    def values(self) -> np.ndarray:
        """The numbers that it stands for, float64 (rows, k)."""
        if self.form == "nvfp4":
            halves = np.stack([self.codes & 15, self.codes >> 4], -1)
            numbers = halves.view(ml_dtypes.float4_e2m1fn).astype(float)
            scales = self.block_scales.view(ml_dtypes.float8_e4m3fn).astype(float)
        else:
            numbers = self.codes.view(ml_dtypes.float8_e4m3fn).astype(float)
            scales = 2.0 ** (self.block_scales - 127.0)
        each = scales.repeat(FORMATS[self.form].block, 1)
        values: np.ndarray = numbers.reshape(self.rows, self.k) * each
        return values


def _maps(a: Any, b: Any, columns: int) -> tuple[Any, ...]:
    return tuple(
        tensor_map(x, (rows, ROW_BYTES), swizzle=ROW_BYTES) for x, rows in ((a, ROWS), (b, columns))
    )


def scaled_call(
    form: str, a: Any, b: Any, d: Any, k: int, *, scale: Any, bn: int = 128, stages: int = 4
) -> KernelCall:
    """The call of ``scaled_gemm`` for D = scale A B^T; ``a`` and ``b`` are pairs of codes (rows,
    bytes) and tiles of scales on the device, d is (M, N) in fp32."""
    kind = FORMATS[form]
    kernel = blackwell_kernel("03_scaled_gemm.cu", FOLDER, NVFP4=kind.define, BN=bn, STAGES=stages)
    m, n = d.shape
    maps, shared = _maps(a[0], b[0], bn), stages * ((ROWS + bn) * ROW_BYTES + 1024 * kind.tiles)
    arguments = (*maps, a[1], b[1], scale, d, m, n, k)
    return KernelCall(kernel, (ceil_div(n, bn), ceil_div(m, ROWS)), 192, arguments, shared)


def pair_call(
    form: str, a: Any, b: Any, d: Any, k: int, *, scale: Any, bn: int = 256, stages: int = 4
) -> KernelCall:
    """The call of ``scaled_pair``, for the arguments of :func:`scaled_call`."""
    kind = FORMATS[form]
    kernel = blackwell_kernel("04_scaled_pair.cu", FOLDER, NVFP4=kind.define, BN=bn, STAGES=stages)
    m, n = d.shape
    scales = (
        tensor_map(x.reshape(-1, ROW_BYTES), (4 * kind.tiles, ROW_BYTES)) for x in (a[1], b[1])
    )
    stage = (ROWS + bn // 2) * ROW_BYTES + (1 + ceil_div(bn, ROWS)) * 512 * kind.tiles
    shared = stages * 1024 * ceil_div(stage, 1024)
    arguments = (*_maps(a[0], b[0], bn // 2), *scales, scale, d, m, n, k)
    return KernelCall(kernel, (2 * ceil_div(m, 2 * ROWS), ceil_div(n, bn)), 192, arguments, shared)


def _factors(
    form: str, m: int, n: int, k: int, seed: int
) -> tuple[tuple[ScaledFactor, ScaledFactor], tuple[Any, Any], np.float32]:
    """Both factors, their pairs on the device, and the scale of the result."""
    a, b = ScaledFactor(form, m, k, seed), ScaledFactor(form, n, k, seed + 2)
    of_a, of_b = ((cp.asarray(x.codes), cp.asarray(x.scales)) for x in (a, b))
    return (a, b), (of_a, of_b), TENSOR_SCALE if form == "nvfp4" else np.float32(1)


def _work(
    call: KernelCall, d: Any, both: tuple[ScaledFactor, ScaledFactor], scale: np.float32
) -> Workload:
    a, b = both
    most = {"mxfp8": (3.75 * 8) ** 2, "nvfp4": (6 * 3.75) ** 2}[a.form]  # of a product
    return Workload(
        (call,),
        output=d,
        expected=lambda: cp.asarray(float(scale) * (a.values() @ b.values().T)),
        rtol=2**-20,
        atol=a.k * SUM_ERROR * most / 16,
        same_bits=False,  # how tensor cores add up is not documented
    )


def scaled_work(
    form: str, shape: ProductSize, seed: int = 0, pair: bool = False, **launch: int
) -> Workload:
    """The product of ``scaled_gemm``, or with ``pair`` of ``scaled_pair``, for random factors of
    ``shape`` (M, N, K), beside float64."""
    m, n, k = shape
    both, (a, b), scale = _factors(form, m, n, k, seed)
    d = cp.empty((m, n), cp.float32)
    call = (pair_call if pair else scaled_call)(form, a, b, d, k, scale=scale, **launch)
    return _work(call, d, both, scale)


def scaled_tile_work(form: str, columns: int = 64, seed: int = 0) -> Workload:
    """The one tile of ``mxfp8_tile`` or ``nvfp4_tile``: 128 x ``columns`` results in fp32."""
    k = FORMATS[form].steps
    both, pairs, scale = _factors(form, ROWS, columns, k, seed)
    d = cp.empty((ROWS, columns), cp.float32)
    file = {"mxfp8": "01_mxfp8_tile.cu", "nvfp4": "02_nvfp4_tile.cu"}[form]
    kernel = blackwell_kernel(file, FOLDER, COLUMNS=columns)
    (a, scales_a), (b, scales_b) = pairs
    whole = (scale,) if form == "nvfp4" else ()
    arguments = (*_maps(a, b, columns), scales_a, scales_b, *whole, d)
    return _work(KernelCall(kernel, 1, ROWS, arguments), d, both, scale)
