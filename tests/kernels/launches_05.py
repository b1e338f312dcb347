"""How tests launch the kernels of chapter 05 that no benchmark measures."""

from dataclasses import dataclass
from runpy import run_path
from typing import Any

import ml_dtypes
import numpy as np
from launchers import Addressed, Chapter, InPlace, draw, work

from course_utils import ceil_div, cp, pointers
from course_utils.benchmarks.cases.library_filters import window_bytes
from course_utils.benchmarks.harness.workload import KernelCall, Workload
from course_utils.benchmarks.libraries.cudnn_graph import strides_of
from course_utils.paths import KERNELS

CHAPTER = Chapter("05_cuda_libraries")
kernel = CHAPTER.kernel
SMALL_TILES = {"BM": 64, "BN": 64, "WM": 32, "WN": 32}  # of CUTLASS


# --- 01: cuBLAS ---

GEMMS = [  # transa, transb, m, n, k, products, what lies between two columns
    (0, 0, 5, 3, 7, 1, 0),
    (1, 0, 33, 9, 4, 2, 3),
    (0, 1, 2, 17, 33, 3, 1),
    (1, 1, 40, 11, 1, 2, 0),
]


@CHAPTER.launch("gemm_strided", "gemm_pointers", sizes=GEMMS)
def gemm(name, transa, transb, m, n, k, products, gap):
    """NumPy sees a matrix stored by columns as its transpose, with the gap at the end of a row."""
    a = draw((products, *((m, k + gap) if transa else (k, m + gap))))
    b = draw((products, *((k, n + gap) if transb else (n, k + gap))), seed=1)
    c = cp.empty((products, n, m), cp.float32)
    op_a = a[:, :, :k] if transa else a[:, :, :m].transpose(0, 2, 1)
    op_b = b[:, :, :n] if transb else b[:, :, :k].transpose(0, 2, 1)
    expected = (2.0 * op_a.astype(float) @ op_b.astype(float)).transpose(0, 2, 1)
    lda, ldb, ldc = a.shape[2], b.shape[2], m
    A, B = cp.asarray(a), cp.asarray(b)
    launch = (ceil_div(m, 32), ceil_div(n, 8), products), (32, 8)
    first, close = (transa, transb, m, n, k, 2.0), {"rtol": 1e-5, "atol": 1e-5}
    if name == "gemm_strided":
        args = *first, A, lda, a[0].size, B, ldb, b[0].size, 0.0, c, ldc, n * m
        return work(kernel(name), *launch, args, c, expected, **close)
    args = *first, addresses(A), lda, addresses(B), ldb, 0.0, addresses(c), ldc
    return work(kernel(name), *launch, args, c, expected, Addressed, kept=(A, B), **close)


def addresses(matrices):
    """An array of the device with the address of each of the ``matrices``."""
    return cp.asarray(np.array([matrix.data.ptr for matrix in matrices], np.uint64))


# --- 02: random numbers ---

SEED = 0x123456789ABC  # both halves of the key
OURS = run_path(str(KERNELS / "07_pytorch_extensions/philox.py"))


@CHAPTER.launch("philox_bits", sizes=[(1, 1), (30, 4), (4099, 100), (4096, 65536)])
def philox_bits(name, n, streams):
    out = cp.empty(n, cp.uint32)
    turn, stream = np.divmod(np.arange(ceil_div(n, 4)), streams)
    expected = OURS["philox"](SEED, stream, turn).ravel()[:n]
    return work(kernel(name), 3, 64, (out, SEED, streams, n), out, expected)


@CHAPTER.launch("philox_torch", sizes=[(1, 1), (255, 1), (3000, 2), (4099, 5)])
def philox_torch(name, n, blocks):
    out, threads = cp.empty(n, cp.float32), 256 * blocks
    before, stream = np.divmod(np.arange(n), threads)
    four = OURS["philox"](SEED, stream, 5 + before // 4)
    drawn = OURS["uniform"](four[np.arange(n), before % 4])
    return work(kernel(name), blocks, 256, (out, SEED, 20, n), out, np.where(drawn == 1, 0, drawn))


@CHAPTER.launch("own_seeds", sizes=[(1, 1), (3, 257)])
def own_seeds(name, drawn, threads):
    out = cp.empty((drawn, threads), cp.uint32)
    expected, state = [], np.arange(threads, dtype=np.uint32)
    for _ in range(drawn):
        state = np.uint32(1664525) * state + np.uint32(1013904223)
        expected.append(state)
    return work(
        kernel(name), ceil_div(threads, 256), 256, (out, drawn, threads), out, np.array(expected)
    )


# --- 03: filters ---

FILTERED = [  # rows, columns, R, S, top, left, out_rows, out_columns
    (1, 150, 1, 5, 0, 0, 1, 154),
    (7, 150, 3, 4, 1, 1, 7, 150),
    (3, 5, 7, 41, 2, 20, 4, 30),
]


@CHAPTER.launch("filter_direct", "filter_window", sizes=FILTERED)
def filtered(name, rows, columns, R, S, top, left, out_rows, out_columns):
    x, h = draw((rows, columns)), draw((R, S), seed=1)
    whole = np.zeros((rows + R - 1, columns + S - 1))
    for r, s in np.ndindex(R, S):
        whole[r : r + rows, s : s + columns] += float(h[r, s]) * x
    expected = whole[top : top + out_rows, left : left + out_columns]
    y = cp.empty(expected.shape, cp.float32)
    shape = rows, columns, R, S, top, left, *y.shape
    arguments, close = (cp.asarray(x), cp.asarray(h), y, *shape), {"rtol": 1e-5, "atol": 1e-4}
    if name == "filter_direct":
        grid = ceil_div(out_columns, 32), ceil_div(out_rows, 8)
        return work(kernel(name), grid, (32, 8), arguments, y, expected, **close)
    grid, shared = (ceil_div(out_columns, 64), ceil_div(out_rows, 4)), window_bytes(R, S, 4, 4)
    launched = kernel(name, BX=4, BY=4)
    return work(launched, grid, (4, 4), arguments, y, expected, shared_mem=shared, **close)


# --- 04: cuDNN ---

CONVOLUTIONS = [  # N, C, K, H, W, R, S, (padding, stride, dilation, groups), channels last
    (1, 1, 1, 1, 1, 1, 1, (0, 1, 1, 1), False),
    (2, 3, 5, 9, 7, 3, 3, (1, 1, 1, 1), False),
    (2, 4, 6, 8, 11, 3, 2, (2, 2, 2, 2), True),
]


@CHAPTER.launch("conv_described", sizes=CONVOLUTIONS)
def conv_described(name, N, C, K, H, W, R, S, how, channels_last):
    pad, stride, dilation, groups = how
    x, w, bias = draw((N, C, H, W)), draw((K, C // groups, R, S), seed=1), draw(K, seed=2)
    rows, columns = (
        (n + 2 * pad - dilation * (taps - 1) - 1) // stride + 1 for n, taps in ((H, R), (W, S))
    )
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    expected = np.zeros((N, K, rows, columns)) + bias[:, None, None]
    for r, s in np.ndindex(R, S):
        part = padded[:, :, r * dilation :: stride, s * dilation :: stride][:, :, :rows, :columns]
        of_groups = part.reshape(N, groups, C // groups, rows, columns)
        taps = w[:, :, r, s].reshape(groups, K // groups, -1)
        expected += np.einsum("ngchw,gkc->ngkhw", of_groups, taps).reshape(expected.shape)
    expected = np.maximum(expected, 0)
    order = (0, 2, 3, 1) if channels_last else (0, 1, 2, 3)
    X, F = (cp.asarray(np.ascontiguousarray(each.transpose(order))) for each in (x, w))
    y = cp.empty(tuple(expected.shape[axis] for axis in order), cp.float32)
    described = [
        cp.asarray(np.array([*shape, *strides_of(shape, order)], np.int32))
        for shape in (x.shape, w.shape, expected.shape)
    ]
    of_x, of_w, of_y = described
    arguments = X, of_x, F, of_w, cp.asarray(bias), y, of_y, cp.asarray(np.array(how, np.int32))
    grid = ceil_div(expected.size, 256)
    return work(
        kernel(name), grid, 256, arguments, y, expected.transpose(order), rtol=1e-5, atol=1e-5
    )


@CHAPTER.launch("bias_relu", sizes=[(1, 1, 1), (600, 4, 25), (600, 4, 1)])
def bias_relu(name, n, channels, inner):
    y, bias = draw(n), draw(channels, seed=1)
    of = np.arange(n) // inner % channels
    out, expected = cp.empty(n, cp.float32), np.maximum(y.astype(np.float64) + bias[of], 0)
    arguments = out, cp.asarray(bias), n, channels, inner
    return work(
        kernel(name), ceil_div(n, 256), 256, arguments, out, expected, InPlace, start=y, atol=1e-6
    )


# --- 05: CUB and CUTLASS ---


@CHAPTER.launch("block_sum_cub", sizes=[1, 1000, 4096])
def block_sum(name, n):
    x, sums = draw(n), cp.empty(ceil_div(n, 1024), cp.float32)
    padded = np.pad(x.astype(np.float64), (0, -n % 1024)).reshape(-1, 1024)
    arguments = cp.asarray(x), sums, n
    return work(kernel(name), len(sums), 256, arguments, sums, padded.sum(axis=1), atol=1e-4)


@CHAPTER.launch("arrangements", sizes=[32])
def arrangements(name, threads):
    held = cp.empty((2, 4 * threads), cp.int32)
    places = np.arange(4 * threads)
    expected = np.stack([places, places.reshape(4, threads).T.ravel()])
    arguments = cp.asarray(places, cp.int32), *held
    return work(kernel(name, THREADS=threads), 1, threads, arguments, held, expected)


@CHAPTER.launch("mean_and_largest", sizes=[256, 1024])
def mean_and_largest(name, n):
    x, out = draw(n), cp.empty((2, n // 256), cp.float32)
    tiles = x.astype(np.float64).reshape(-1, 256)
    expected = np.stack([tiles.mean(axis=1), tiles.max(axis=1)])
    return work(kernel(name), n // 256, 256, (cp.asarray(x), *out), out, expected, atol=1e-6)


@CHAPTER.launch("cutlass_simt", sizes=[(1, 1, 1), (70, 130, 19)])
def cutlass_simt(name, rows, columns, depth):
    a, b = draw((rows, depth)), draw((depth, columns), seed=1)
    c = cp.empty((rows, columns), cp.float32)
    grid = ceil_div(rows, 64), ceil_div(columns, 64)
    arguments = cp.asarray(a), cp.asarray(b), c, rows, columns, depth
    expected = a.astype(np.float64) @ b
    return work(kernel(name, **SMALL_TILES), grid, 128, arguments, c, expected, atol=1e-4)


@CHAPTER.launch("cutlass_tensor_op", sizes=[(1, 4, 8), (70, 132, 40)])
def cutlass_tensor_op(name, rows, columns, depth):
    a, b = draw((rows, depth)), draw((columns, depth), seed=1)
    a, b = a.astype(ml_dtypes.bfloat16), b.astype(ml_dtypes.bfloat16)
    c = cp.empty((rows, columns), cp.float32)
    grid, shared = (ceil_div(rows, 64), ceil_div(columns, 64)), 3 * (64 + 64) * 32 * 2
    arguments = *(cp.asarray(x.view(np.uint16)) for x in (a, b)), c, rows, columns, depth
    expected = np.maximum(a.astype(np.float64) @ b.astype(np.float64).T, 0)
    launched = kernel(name, **SMALL_TILES)
    return work(launched, grid, 128, arguments, c, expected, atol=1e-4, shared_mem=shared)


# --- 06: several ranks, whose memory lies on one GPU here ---


@dataclass(frozen=True)
class EachRank(Workload):
    """Work whose result every rank has, as a row of the output."""

    start: Any = None

    def poison(self) -> None:
        super().poison()
        if self.start is not None:  # in place
            self.output[...] = cp.asarray(self.start)


@CHAPTER.launch(
    "all_reduce_push", "all_reduce_slices", "all_reduce_flagged", sizes=[(1, 1, 4), (3, 2, 308)]
)
def all_reduce(name, ranks, blocks, n):
    x, words = draw((ranks, n)), cp.empty((ranks, 2 * ranks * n), cp.uint64)
    result, boxes = cp.empty((ranks, n), cp.float32), cp.empty((ranks, ranks * n), cp.float32)
    flags, turns = (cp.empty((ranks, blocks * k), cp.uint32) for k in (ranks, 1))
    given = {
        "all_reduce_push": (cp.asarray(x), result, boxes, flags, turns),
        "all_reduce_slices": (result, flags, turns),
        "all_reduce_flagged": (cp.asarray(x), result, words, turns),
    }[name]
    sizes = (n, n) if name == "all_reduce_flagged" else (n,)
    call = KernelCall(kernel(name), (blocks, ranks), 64, (*map(pointers, given), 0, ranks, *sizes))
    expected = np.broadcast_to(x.astype(np.float64).sum(axis=0), (ranks, n))
    start = x if name == "all_reduce_slices" else None
    error = {"rtol": 1e-5, "atol": 1e-5, "cleared": (flags, turns, words), "start": start}
    return EachRank((call,), result, lambda: expected, **error)
