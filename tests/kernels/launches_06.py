"""How tests launch the kernels of chapter 06 that no benchmark launches, and its products at shapes
that no benchmark has."""

import math
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from launchers import Chapter, InPlace, draw, work

from course_utils import ceil_div, cp
from course_utils.benchmarks.cases import few_rows, fft
from course_utils.benchmarks.cases.convolution import BF16_SHARED, PIPELINE_SHARED, convolved
from course_utils.benchmarks.cases.matmul import specialized_arguments
from course_utils.benchmarks.harness.stream_k_plan import (
    FEW_MEDIUM,
    LARGE,
    MEDIUM,
    SMALL,
    bytes_of_tiles,
)
from course_utils.benchmarks.harness.workload import KernelCall, Workload

CHAPTER = Chapter("06_matmul_and_fft")
kernel = CHAPTER.kernel
FORMATS = ("FP32", "TF32", "BF16", "FP16", "FP16_SUMS")


# --- what a product reads ---


@CHAPTER.launch("warp_reads", sizes=[(32, 8), (33, 7)])
def warp_reads(name, columns_b, columns_a):
    reads, x = cp.empty((4, 32), cp.int32), np.arange(32)
    expected = 4 * np.array([x * columns_a, 0 * x, 0 * x, x])
    return work(kernel(name), 1, (32, 32), (*reads, columns_b, columns_a), reads, expected)


@CHAPTER.launch("block_reads", sizes=[0, 1])
def block_reads(name, tiled):
    """Block (1, 0) reads 8 rows of A (16 x 19) and 8 columns of B (19 x 16)."""
    reads, times = cp.empty(2 * 16 * 19, cp.int32), 1 if tiled else 8
    reads_a, reads_b = reads[: 16 * 19].reshape(16, 19), reads[16 * 19 :].reshape(19, 16)
    of_a, of_b = np.zeros((16, 19)), np.zeros((19, 16))
    of_a[:8], of_b[:, 8:] = times, times
    launch = (2, 2), (8, 8), (reads_a, reads_b, 16, 16, 19)
    expected = np.append(of_a, of_b)
    return work(kernel(name, TILED=tiled), *launch, reads, expected, cleared=(reads,))


# --- products in fp32: C = A B ---


@CHAPTER.launch("sgemm_ring", sizes=[0, 1, 2, 7, 40])
def sgemm_ring(name, k):
    a, b, c = draw((2, k)), draw((k, 2), seed=1), cp.empty((2, 2), cp.float32)
    exact = a.astype(np.float64) @ b
    arguments = cp.asarray(a), cp.asarray(b), c, k
    return work(kernel(name), 1, 4, arguments, c, exact, rtol=1e-5, atol=1e-5)


@CHAPTER.launch(
    "sgemm_naive",
    "sgemm_coalesced",
    "sgemm_shared",
    sizes=[(1, 1, 1), (33, 5, 7), (37, 45, 19), (16, 64, 32)],
)
def small_product(name, m, n, k):
    tile = 8 if name == "sgemm_shared" else 32
    a, b, c = draw((m, k)), draw((k, n), seed=1), cp.empty((m, n), cp.float32)
    grid = ceil_div(n, tile), ceil_div(m, tile)
    if name == "sgemm_naive":  # x is the row
        grid = grid[::-1]
    tiles = {"TILE": tile} if name == "sgemm_shared" else {}
    arguments = cp.asarray(a), cp.asarray(b), c, m, n, k
    expected = a.astype(np.float64) @ b.astype(np.float64)
    error = {"rtol": 1e-5, "atol": 1e-5 * k**0.5}
    return work(kernel(name, **tiles), grid, (tile, tile), arguments, c, expected, **error)


@CHAPTER.launch("sgemm_autotuned", "sgemm_ordered", sizes=[(128, 256, 48), (128, 512, 16)])
def wide_product(name, m, n, k):
    """Whole tiles of 128 x 256; K long enough to use each stage more than once."""
    shared = bytes_of_tiles(BM=128, BN=256, BK=8, STAGES=3 if name == "sgemm_autotuned" else 4)
    a, b, c = draw((m, k)), draw((k, n), seed=1), cp.empty((m, n), cp.float32)
    launch = (n // 256, m // 128), 256, (cp.asarray(a), cp.asarray(b), c, m, n, k)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return work(kernel(name), *launch, c, expected, shared_mem=shared, rtol=1e-5, atol=1e-4)


@CHAPTER.launch(
    "sgemm_stream_k",
    sizes=[
        *((128 * i, 256 * j, k, LARGE, 3) for i, j, k in ((1, 1, 48), (2, 1, 24), (1, 2, 40))),
        *((128, 256, 64, tile, 5) for tile in (MEDIUM, FEW_MEDIUM, SMALL)),
    ],
)
def shared_out_product(name, m, n, k, tile, grid):
    """Tiles of C whose steps the blocks of the grid share."""
    a, b, c = draw((m, k)), draw((k, n), seed=1), cp.empty((m, n), cp.float32)
    partial = cp.empty((2 * grid, tile.BM, tile.BN), cp.float32)
    arrived = cp.empty((m // tile.BM) * (n // tile.BN), cp.int32)
    arguments = cp.asarray(a), cp.asarray(b), c, partial, arrived, m, n, k
    return work(
        kernel(name, **tile.defines),
        grid,
        tile.threads,
        arguments,
        c,
        a.astype(np.float64) @ b.astype(np.float64),
        shared_mem=tile.shared_bytes,
        cleared=(arrived,),
        rtol=1e-5,
        atol=1e-4,
    )


# --- products with few tiles, or few rows ---


@CHAPTER.launch("sgemm_split_k", sizes=[(1, 1, 1, 1), (66, 70, 37, 2), (3, 68, 20, 3)])
def partial_products(name, m, n, k, slices):
    """The slices themselves: a step of 16 along K belongs to one of them; some have none."""
    a, b = draw((m, k)), draw((k, n), seed=1)
    steps = ceil_div(k, 16)
    ends = [min(16 * (steps * z // slices), k) for z in range(slices + 1)]
    parts = (slice(*ends[z : z + 2]) for z in range(slices))
    expected = [a[:, part].astype(np.float64) @ b[part].astype(np.float64) for part in parts]
    sums = cp.empty((slices, m, n), cp.float32)
    grid, arguments = (
        (ceil_div(n, 64), ceil_div(m, 64), slices),
        (cp.asarray(a), cp.asarray(b), sums),
    )
    launch = grid, 256, (*arguments, m, n, k), sums, np.array(expected)
    return work(kernel(name), *launch, rtol=1e-5, atol=1e-5)


@CHAPTER.launch(
    "split_k_finish",
    sizes=[(1, 1, 1, 0, 0.0), (3, 7, 41, 0, 0.5), (2, 13, 20, 1, 0.0), (2, 5, 70, 2, -1.5)],
)
def finish(name, slices, m, n, activation, beta):
    """With everything at once where there is an activation; C is NaN where beta is 0."""
    sums, bias, residual = draw((slices, m, n)), draw(n, seed=1), draw((m, n), seed=2)
    start = np.full((m, n), np.nan, np.float32) if beta == 0 else draw((m, n), seed=3)
    value = 0.25 * sums.astype(np.float64).sum(axis=0) + (beta * start if beta else 0.0)
    defines = {"ACTIVATION": activation} if activation else {}
    if activation:
        value += bias
        value = np.maximum(value, 0) if activation == 1 else value * normal_distribution(value)
        value += residual
        defines |= {"BIAS": 1, "RESIDUAL": 1}
    c = cp.asarray(start)
    arrays = cp.asarray(sums), c, cp.asarray(bias), cp.asarray(residual)
    arguments = *arrays, np.float32(0.25), np.float32(beta), slices, m, n
    launch = ceil_div(m * n, 256), 256, arguments, c, value
    return work(kernel(name, **defines), *launch, InPlace, start=start, rtol=1e-5, atol=1e-5)


def normal_distribution(values):
    """How likely a normal number is below each of ``values``."""
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in values.flat]).reshape(values.shape)


@CHAPTER.launch(
    "sgemm_few_rows",
    # slices, and rows of a block: those of the last slice have none of K, or less than the others
    sizes=[(1, 1, 1, 2, 1), (7, 132, 100, 3, 4), (3, 130, 37, 2, 2), (10, 5, 9, 1, 10)],
)
def few_rows_product(name, m, n, k, slices, rows):
    a, b, c = draw((m, k)), draw((k, n), seed=1), cp.empty((m, n), cp.float32)
    there = cp.asarray(a), cp.asarray(b), c
    call, arrived = few_rows.few_rows_call(*there, slices, ROWS=rows)
    expected = a.astype(np.float64) @ b.astype(np.float64)
    return Workload((call,), c, lambda: expected, 1e-5, 1e-4, cleared=(arrived,))


@CHAPTER.launch(
    "gemm_bf16_few_rows", sizes=[(1, 1, 8, 2, 64), (33, 130, 136, 3, 64), (17, 129, 264, 1, 128)]
)
def bf16_few_rows_product(name, m, n, k, slices, width):
    a, b, c = to_bf16(draw((m, k))), to_bf16(draw((n, k), seed=1)), cp.empty((m, n), cp.uint16)
    there = cp.asarray(a), cp.asarray(b), c
    call, arrived = few_rows.bf16_few_rows_call(*there, slices, BN=width, ROWS=16, STAGES=3)
    expected = from_bf16(a) @ from_bf16(b).T
    return Bfloat16((call,), c, lambda: expected, **BF16_ERROR, cleared=(arrived,))


@CHAPTER.launch(
    "gemm_bf16_few_rows_tma",
    # slices, columns of a block, stages: a slice may have none of K
    sizes=[(1, 1, 8, 2, 64, 2), (33, 130, 136, 4, 64, 3), (17, 129, 264, 1, 128, 2)],
)
def few_rows_product_by_tma(name, m, n, k, slices, width, stages):
    a, b, c = to_bf16(draw((m, k))), to_bf16(draw((n, k), seed=1)), cp.empty((m, n), cp.uint16)
    there = cp.asarray(a), cp.asarray(b)
    call = few_rows.tma_call(*there, c, CLUSTER=slices, BN=width, STAGES=stages, ROWS=16)
    expected = from_bf16(a) @ from_bf16(b).T
    return MappedBfloat16((call,), c, lambda: expected, **BF16_ERROR, arrays=there)


@CHAPTER.launch(
    "gemm_bf16_few_rows_wgmma",
    # slices, columns of a block, stages, rows of a block: a slice may have none of K
    sizes=[(1, 1, 8, 2, 64, 2, 16), (33, 130, 136, 4, 64, 3, 16), (65, 129, 264, 1, 128, 2, 64)],
)
def few_rows_product_by_wgmma(name, m, n, k, slices, width, stages, rows):
    a, b, c = to_bf16(draw((m, k))), to_bf16(draw((n, k), seed=1)), cp.empty((m, n), cp.uint16)
    there = cp.asarray(a), cp.asarray(b)
    call = few_rows.wgmma_call(*there, c, CLUSTER=slices, BN=width, STAGES=stages, ROWS=rows)
    expected = from_bf16(a) @ from_bf16(b).T
    return MappedBfloat16((call,), c, lambda: expected, **BF16_ERROR, arrays=there)


# --- products on tensor cores and on dp4a: C = A B^T ---


def as_tf32(values):
    """float32 numbers with 10 bits of fraction, rounded to the nearest, ties away from zero."""
    return ((values.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)


def exact_product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64).T


@CHAPTER.launch(
    "hgemm_wmma",
    "hgemm_mma",
    "hgemm_ldmatrix",
    "hgemm_swizzle",
    "gemm_tf32",
    "igemm_dp4a",
    sizes=[(1, 1, 1), (129, 65, 77), (5, 257, 64)],
)
def product_of_any_shape(name, m, n, k):
    rng, result, tolerance = np.random.default_rng(k), np.float32, 16 * 2**-18
    if name == "igemm_dp4a":
        a, b = (rng.integers(-128, 128, (rows, k), np.int8) for rows in (m, n))
        result, tolerance, expected = np.int32, 0.0, exact_product(a, b)
    elif name == "gemm_tf32":
        a, b = (draw((rows, k), seed=rows) for rows in (m, n))
        expected = exact_product(as_tf32(a), as_tf32(b))
    else:
        a, b = (draw((rows, k), seed=rows).astype(np.float16) for rows in (m, n))
        expected = exact_product(a, b)
    # Products of such factors are exact. An fp32 sum that has come to 32 errs by 2**-18 at most for
    # each of the additions that follow, one a factor of 8 or 16 places.
    c, grid = cp.empty((m, n), result), (ceil_div(n, 128), ceil_div(m, 128))
    arguments = cp.asarray(a), cp.asarray(b), c, m, n, k
    return work(kernel(name), grid, 256, arguments, c, expected, atol=tolerance)


@dataclass(frozen=True)
class Bfloat16(Workload):
    """Work whose results are the bits of bf16 numbers."""

    def numbers(self, result):
        return cp.asarray(from_bf16(cp.asnumpy(result)))


def to_bf16(values):
    """Numbers as the bits of bf16 (uint16), which arrays have on every device."""
    return values.astype(ml_dtypes.bfloat16).view(np.uint16)


def from_bf16(bits):
    return bits.view(ml_dtypes.bfloat16).astype(np.float64)


BF16_ERROR = {"rtol": 2**-8, "atol": 1e-3}  # 8 bits: the result is rounded by 1 in 512 at most


@CHAPTER.launch("gemm_bf16_pipeline", sizes=[(128, 256, 256), (256, 512, 64)])
def gemm_bf16_pipeline(name, m, n, k):
    stages, bm, bn, bk = 3, 128, 256, 64
    a, b = (to_bf16(draw((rows, k), seed=rows)) for rows in (m, n))
    c, expected = cp.empty((m, n), cp.uint16), from_bf16(a) @ from_bf16(b).T
    launch = m // bm * (n // bn), 256, (cp.asarray(a), cp.asarray(b), c, m, n, k)
    shared = stages * (bm + bn) * bk * 2
    pipeline = kernel(name, STAGES=stages)
    return work(pipeline, *launch, c, expected, Bfloat16, shared, **BF16_ERROR)


@dataclass(frozen=True)
class Mapped(Workload):
    """Work that keeps the arrays which its tensor maps describe."""

    arrays: tuple = ()


@dataclass(frozen=True)
class MappedBfloat16(Mapped, Bfloat16):
    pass


SPECIALIZED_SHARED = 3 * (128 + 256) * 128  # bytes of a block


def specialized(kind, m, n, steps, grid):
    """One product of a specialised kernel, K as many ``steps`` long."""
    given, result = {
        "bf16": (np.uint16, np.uint16),
        "tf32": (np.float32, np.float32),
        "int8": (np.int8, np.int32),
    }[kind]
    k = steps * 128 // np.dtype(given).itemsize
    factors = [draw((rows, k), seed=seed) for seed, rows in enumerate((m, n))]
    exact, error = np.float64, {"rtol": 2**-9, "atol": 2**-8 * k**0.5}
    if kind == "int8":
        factors = [np.clip(np.rint(40 * x), -127, 127).astype(given) for x in factors]
        error = {}
    elif kind == "bf16":
        factors = [to_bf16(x) for x in factors]
        exact, error = from_bf16, BF16_ERROR
    a, b = factors
    there, c = (cp.asarray(a), cp.asarray(b)), cp.empty((m, n), result)
    product = kernel(f"gemm_{kind}_specialized", arch="sm_90a")
    launch = grid, 384, specialized_arguments(*there, c, grid)
    return work(
        product,
        *launch,
        c,
        exact(a) @ exact(b).T,
        MappedBfloat16 if kind == "bf16" else Mapped,
        SPECIALIZED_SHARED,
        arrays=there,
        **error,
    )


@CHAPTER.launch(
    *(f"gemm_{kind}_specialized" for kind in ("bf16", "tf32", "int8")), sizes=[(256, 256, 2, 3)]
)
def specialized_product(name, m, n, steps, grid):
    return specialized(name.split("_")[1], m, n, steps, grid)


# --- what tensor cores do ---


@CHAPTER.launch("fragment_holders", sizes=[32])
def fragment_holders(name, lanes):
    """PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type"."""
    lane, i, j = np.arange(lanes)[:, None], np.arange(8), np.arange(4)
    group, member = lane // 4, lane % 4
    of_a = (group + 8 * (i // 2 % 2)) * 16 + 2 * member + i % 2 + 8 * (i // 4)
    of_b = (2 * member + j % 2 + 8 * (j // 2)) * 8 + group
    of_c = (group + 8 * (j // 2)) * 8 + 2 * member + j % 2
    expected = np.concatenate([part.ravel() for part in (of_a, of_b, of_c)])
    held, ends = cp.empty(expected.size, cp.int32), (lanes * 8, lanes * 12)
    arguments = held[: ends[0]], held[ends[0] : ends[1]], held[ends[1] :]
    parts = tuple(part.reshape(lanes, -1) for part in arguments)
    return work(kernel(name), 1, lanes, parts, held, expected)


@CHAPTER.launch("ldmatrix_tiles", sizes=[0, 1])
def ldmatrix_tiles(name, swizzled):
    """PTX ISA, "ldmatrix": tile j is chunk j of the eight rows, a lane holds a pair of each."""
    pairs, lane, tile = np.arange(256).reshape(8, 32), np.arange(32)[:, None], np.arange(4)
    held, expected = cp.empty((32, 4), cp.int32), pairs[lane // 4, 4 * tile + lane % 4]
    arguments = cp.asarray(pairs.astype(np.int32)), held
    return work(kernel(name, SWIZZLED=swizzled), 1, 32, arguments, held, expected)


STORED_BITS = {"FP32": 23, "TF32": 10, "BF16": 7, "FP16": 10, "FP16_SUMS": 10}  # of the fraction


def rounded(values, form):
    """float32 values with only as many bits as ``form`` stores: to nearest, ties to even (TF32:
    away from zero). Their exponents are in the range of every format."""
    if form == "FP32":
        return values
    drop = np.uint32(23 - STORED_BITS[form])
    bits = values.view(np.uint32)
    half = np.uint32(1) << (drop - np.uint32(1))
    up = half if form == "TF32" else half - np.uint32(1) + (bits >> drop & np.uint32(1))
    return ((bits + up) >> drop << drop).view(np.float32)


@dataclass(frozen=True)
class InUnits(Workload):
    """Work whose results are compared in units of the error that each may have."""

    unit: float | np.ndarray = 1.0

    def numbers(self, result):
        return result.astype(np.float64) / cp.asarray(self.unit)


@CHAPTER.launch(
    "accuracy_mma",
    sizes=[(form, *shape) for form in FORMATS for shape in ((16, 8, 16), (48, 24, 256))],
)
def accuracy_mma(name, form, m, n, k):
    rng = np.random.default_rng(0)
    # 0.25 is added so that no number is too small for fp16.
    a, b = (rng.standard_normal((rows, k), dtype=np.float32) + np.float32(0.25) for rows in (m, n))
    x, y = (np.float64(rounded(values, form)) for values in (a, b))
    exact, units = [], []
    for terms in 16 << np.arange(int(np.log2(k // 16)) + 1):
        exact.append(x[:, :terms] @ y[:, :terms].T)
        # Each addition errs by one part of the largest partial sum at most: those of a tensor core
        # cut what does not fit, and there is one for each step.
        largest = np.abs(np.cumsum(x[:, None, :terms] * y[None, :, :terms], axis=2)).max()
        units.append((2.0**-10 if form == "FP16_SUMS" else 2.0**-22) * largest * (terms / 16))
    unit = np.array(units)[:, None, None]
    sums = cp.empty((len(exact), m, n), cp.float32)
    launch = (n // 8, m // 16), 32, (cp.asarray(a), cp.asarray(b), sums, m, n, k)
    expected = np.array(exact) / unit
    return work(kernel(name, FORMAT=form), *launch, sums, expected, InUnits, unit=unit, atol=1.0)


# --- convolutions with strides and padding that no benchmark has ---


@CHAPTER.launch(
    "conv_direct",
    "conv_implicit_gemm",
    "conv_pipeline",
    # images, channels, filters, height, width, rows and columns of a filter, stride, padding
    sizes=[
        (2, 9, 65, 11, 13, 3, 2, 2, 1),
        (1, 3, 2, 8, 5, 1, 3, 3, 2),
        (1, 2, 3, 4, 4, 4, 4, 1, 0),
    ],
)
def convolution(name, images, channels, filters, height, width, rows, columns, stride, pad):
    x = cp.asarray(draw((images, channels, height, width)))
    w = cp.asarray(draw((filters, channels, rows, columns), seed=1))
    expected = convolved(x, w, pad, stride)
    y = cp.empty(expected.shape, cp.float32)
    pixels = y.size // filters
    grid, shared = {
        "conv_direct": ((ceil_div(pixels, 256), filters), 0),
        "conv_implicit_gemm": ((ceil_div(pixels, 64), ceil_div(filters, 64)), 0),
        "conv_pipeline": ((ceil_div(pixels, 256), ceil_div(filters, 64)), PIPELINE_SHARED),
    }[name]
    shape = images, channels, height, width, filters, rows, columns, stride, pad
    launch = grid, 256, (x, w, y, *shape), y, expected
    return work(kernel(name), *launch, shared_mem=shared, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("conv_bf16", sizes=[(2, 72, 72, 9, 7, 3, 2, 2, 1), (1, 8, 8, 5, 6, 1, 4, 3, 2)])
def convolution_of_bf16(name, images, channels, filters, height, width, rows, columns, stride, pad):
    x = to_bf16(draw((images, height, width, channels)))
    w = to_bf16(draw((filters, rows, columns, channels), seed=1))
    first = (cp.asarray(from_bf16(each).transpose(0, 3, 1, 2)) for each in (x, w))
    expected = convolved(*first, pad, stride).transpose(0, 2, 3, 1)
    y = cp.empty(expected.shape, cp.uint16)
    shape = images, channels, height, width, filters, rows, columns, stride, pad
    return work(
        kernel(name),
        (ceil_div(y.size // filters, 128), ceil_div(filters, 64)),
        128,
        (cp.asarray(x), cp.asarray(w), y, *shape),
        y,
        expected,
        kind=Bfloat16,
        shared_mem=BF16_SHARED,
        rtol=2**-8,
        atol=channels * rows * columns * 2**-18,
    )


# --- transforms: beside the sizes that are measured ---


@CHAPTER.launch("fft_radix", sizes=[(3, 64, 2), (2, 32, 32), (1, 1024, 4)])
def one_stage_after_another(name, rows, n, radix):
    made = kernel(name, RADIX=radix)
    return fft.transform_work((rows, n), lambda x, y: fft.stage_launches(made, radix, 128, x, y))


@CHAPTER.launch(
    "fft_batched",
    sizes=[
        *((rows, fft.Split((8, 4, 8), held=8, rows=4)) for rows in (1, 5)),
        (3, fft.Split((16, 16, 1), rows=2)),
        (7, fft.Split((8, 8, 4), held=16, rows=4)),
        (2, fft.Split((16, 16, 2))),
    ],
)
def inverse(name, rows, split):
    """Of the results of a transform: its input, times the number of points."""
    n = split.points
    start = draw((rows, n, 2))
    x = cp.asarray(fft.in_pairs(np.fft.fft(fft.from_pairs(start))).astype(np.float32))
    out = cp.empty_like(x)
    call = fft.batched_call(x, out, split, INVERSE=1)
    return Workload((call,), out, lambda: n * start.astype(np.float64), atol=1e-5 * n)


@CHAPTER.launch("fft_prefetch", sizes=[(3, 8192, 1), (2, 8192, 5)])
def prefetch(name, rows, n, ahead):
    return fft.transform_work((rows, n), lambda x, out: (fft.prefetch_call(x, out, ahead),))


@CHAPTER.launch("fft_cluster", sizes=[(2, 128, 128, 2), (1, 256, 128, 8), (1, 128, 256, 4)])
def cluster(name, rows, n1, n2, size):
    shape = rows, n1 * n2
    return fft.transform_work(shape, lambda x, out: (fft.cluster_call(x, out, (n1, n2), size),))


@CHAPTER.launch("fft_ring", sizes=[(3, 1, 2, 2), (1, 3, 4, 5)])
def ring(name, rows, lag, ring, grid):
    counters, middle = cp.zeros(2 * rows, cp.int32), cp.empty((ring, 65536, 2), cp.float32)

    def launch(x, out):
        arguments = x, out, middle, counters, rows, lag, ring
        return (KernelCall(kernel(name), grid, 256, arguments, 8 * 16 * 273),)

    return fft.transform_work((rows, 65536), launch, cleared=(counters,))
