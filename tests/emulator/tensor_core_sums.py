"""Sums of products on Hopper's tensor cores: operands, kernels, and a GPU's results.

On a machine with a GPU ``python3 -m tests.emulator.tensor_core_sums`` writes the record.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from course_utils import load

RECORD = Path(__file__).with_name("tensor_core_sums_h200.npz")
FP8 = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
WIDER = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "tf32": np.float32}
FORMATS = FP8 | WIDER
VALUES = "bits", "uniform", "powers", "zero", "small"
KERNELS = "by_mma", "by_wgmma", "by_short_mma"

SOURCE = r"""
// A warpgroup: D (64 x 8) = A (64 x K) B (8 x K)^T + C. A row of A or B has 32 bytes. Each warp has
// 16 rows, and each thread parts of two of them and of two columns.
using u8 = unsigned char;
__device__ unsigned word(const u8* a, int row, int k)
{
    return *(const unsigned*)(a + row * 32 + k);
}

#define FRAGMENTS                                                                          \
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, k = threadIdx.x % 4 * 4;       \
    unsigned a0 = word(a, row, k), a1 = word(a, row + 8, k);                               \
    unsigned a2 = word(a, row, k + 16), a3 = word(a, row + 8, k + 16);                     \
    int upper = row * 8 + k / 2, lower = upper + 64;                                       \
    float c0 = c[upper], c1 = c[upper + 1], c2 = c[lower], c3 = c[lower + 1];
#define SUMS "+f"(c0), "+f"(c1), "+f"(c2), "+f"(c3)
#define STORE d[upper] = c0, d[upper + 1] = c1, d[lower] = c2, d[lower + 1] = c3;

extern "C" __global__ void by_mma(const u8* a, const u8* b, const float* c, float* d) {
    FRAGMENTS
    unsigned b0 = word(b, row % 8, k), b1 = word(b, row % 8, k + 16);
    asm volatile("mma.sync.aligned.m16n8k" K ".row.col.f32." KIND "." KIND ".f32 "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                 : SUMS : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    STORE
}

#ifdef HALF_OF_K
extern "C" __global__ void by_short_mma(const u8* a, const u8* b, const float* c, float* d) {
    FRAGMENTS
    unsigned b0 = word(b, row % 8, k), b1 = word(b, row % 8, k + 16);
#define SHORT_MMA(A0, A1, B)                                                               \
    asm volatile("mma.sync.aligned.m16n8k" HALF_OF_K ".row.col.f32." KIND "." KIND ".f32 " \
                 "{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};"                               \
                 : SUMS : "r"(A0), "r"(A1), "r"(B))
    SHORT_MMA(a0, a1, b0);
    SHORT_MMA(a2, a3, b1);
    STORE
}
#endif

extern "C" __global__ void by_wgmma(const u8* a, const u8* b, const float* c, float* d) {
    __shared__ alignas(128) u8 s[256];
    for (int i = threadIdx.x; i < 256; i += 128) s[i % 32 / 16 * 128 + i / 32 * 16 + i % 16] = b[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    FRAGMENTS
    unsigned place = (unsigned)__cvta_generic_to_shared(s) >> 4;
    unsigned long long of_b = place | 8ull << 16 | 16ull << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k" K ".f32." KIND "." KIND " "
                 "{%0,%1,%2,%3},{%4,%5,%6,%7},%8,1,1,1" TRANS ";"
                 : SUMS : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(of_b));
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    asm volatile("" : SUMS);
    STORE
}
"""


def operands(values: str, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A (64, 32) and B (8, 32) in bytes, and C (64, 8) in floats."""
    rng, dtype, narrow = np.random.default_rng(VALUES.index(values)), FORMATS[kind], kind in FP8
    shapes, sums = [(rows, 32 // np.dtype(dtype).itemsize) for rows in (64, 8)], (64, 8)
    signs = rng.choice([-1.0, 1.0], sums)
    if values == "bits" and narrow:  # every pattern that is a number
        a, b = (rng.integers(0, 256, shape, np.uint8).view(dtype) for shape in shapes)
        a, b = (np.where(np.isfinite(x.astype(np.float32)), x, dtype(1)) for x in (a, b))
        c = np.ldexp(rng.uniform(1, 2, sums), rng.integers(-12, 12, sums)) * signs
    elif values == "bits":  # exponents that are far apart
        a, b = (
            np.ldexp(rng.uniform(1, 2, shape), rng.integers(-10, 10, shape))
            * rng.choice([-1.0, 1.0], shape)
            for shape in shapes
        )
        c = np.ldexp(rng.uniform(1, 2, sums), rng.integers(-20, 20, sums)) * signs
    elif values == "uniform":
        a, b = (rng.uniform(1, 2, shape) for shape in shapes)
        c = np.ldexp(rng.uniform(1, 2, sums), rng.integers(0, 14 if narrow else 26, sums))
    elif values == "powers":  # most of them 0, so that one sum has few terms
        a, b = (
            np.ldexp(1.0, rng.integers(-6, 8, shape)) * (rng.random(shape) < 0.25)
            for shape in shapes
        )
        c = np.ldexp(1.0, rng.integers(-20, 16, sums)) * signs * (rng.random(sums) < 0.5)
    elif values == "zero":
        a, b = (rng.standard_normal(shape) for shape in shapes)
        c = np.zeros(sums)
    else:  # subnormal numbers, and the smallest of the others
        least = {"tf32": 2.0**-136}.get(kind, float(ml_dtypes.finfo(dtype).smallest_subnormal))
        other = least if least > 2.0**-50 else 2.0**30  # whose products floats can hold
        a, b = (
            rng.integers(-12, 13, shape) * x
            for shape, x in zip(shapes, (least, other), strict=True)
        )
        c = 16 * least * other * signs * rng.uniform(0, 1, sums)
    a, b = a.astype(dtype).view(np.uint8), b.astype(dtype).view(np.uint8)
    if kind == "tf32":
        a, b = ((x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.uint8) for x in (a, b))
    return a, b, c.astype(np.float32)


def sums(
    cp: Any, kernel: str, kind: str, a: np.ndarray, b: np.ndarray, c: np.ndarray
) -> np.ndarray:
    """D (64, 8), f32, from operands as ``operands`` gives them."""
    depth = 32 // np.dtype(FORMATS[kind]).itemsize
    macros = {"KIND": kind, "K": str(depth), "TRANS": ",0" if kind in ("f16", "bf16") else ""}
    if kind in WIDER:
        macros["HALF_OF_K"] = str(depth // 2)
    head = "".join(f'#define {name} "{value}"\n' for name, value in macros.items())
    module = load(source=head + SOURCE, arch="sm_90a")
    d = cp.zeros((64, 8), dtype=np.float32)
    given = cp.asarray(a), cp.asarray(b), cp.asarray(c), d
    module[kernel](1, 128, given)
    result: np.ndarray = d.get()
    return result


def all_sums(cp: Any) -> dict[str, np.ndarray]:
    """Operands and sums of every case, by names such as ``e4m3 bits a``."""
    found: dict[str, np.ndarray] = {}
    for kind in FORMATS:
        for values in VALUES:
            given = operands(values, kind)
            found |= {f"{kind} {values} {name}": x for name, x in zip("abc", given, strict=True)}
            for kernel in KERNELS[: 3 if kind in WIDER else 2]:
                found[f"{kind} {values} {kernel}"] = sums(cp, kernel, kind, *given)
    return found


if __name__ == "__main__":
    from course_utils.devices import selection

    if not selection.ON_GPU:
        raise SystemExit("The record is a GPU's. Run this where one is.")
    np.savez_compressed(RECORD, **all_sums(selection.cp))
