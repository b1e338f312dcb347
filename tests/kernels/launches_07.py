"""How tests launch the kernels of chapter 07 that no benchmark measures, against float64."""

import math
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from runpy import run_path
from types import SimpleNamespace

import linear_loss_07
import numpy as np
from launchers import Chapter, InPlace, draw, work

from course_utils import ceil_div, cp, load
from course_utils.benchmarks.cases.pytorch_extensions import (
    attention,
    batched_qr,
    decoding,
    low_precision,
    top_k,
)
from course_utils.benchmarks.cases.pytorch_extensions import experts as moe
from course_utils.benchmarks.cases.pytorch_extensions.normalisation import moments_of
from course_utils.benchmarks.harness.float_bits import from_bf16, to_bf16
from course_utils.benchmarks.harness.workload import KernelCall, Workload
from course_utils.paths import KERNELS, kernel_file

CHAPTER = Chapter("07_pytorch_extensions")
kernel = CHAPTER.kernel


# --- 01: activation ---


@cache
def polynomial_kernel(name, c_type):
    instance = f"{name}<{c_type}>"
    return load(kernel_file(name, CHAPTER.folder), names=[instance])[instance]


PRECISION = {
    "float": (np.float32, {"rtol": 1e-4, "atol": 1e-4}),
    "double": (np.float64, {"rtol": 1e-12, "atol": 1e-11}),
}
POLYNOMIALS = [
    ("float", 1, 1),
    ("float", 257, 4),
    ("double", 255, 2),
    ("double", 513, 7),
]


@CHAPTER.launch("polynomial_value", sizes=POLYNOMIALS)
def polynomial_value(name, c_type, n, count):
    dtype, close = PRECISION[c_type]
    x, c = draw(n).astype(dtype), draw(count, seed=1).astype(dtype)
    y, expected = cp.empty(n, dtype), np.polynomial.polynomial.polyval(x.astype(float), c)
    arguments = cp.asarray(x), cp.asarray(c), y, count, n
    launched = polynomial_kernel(name, c_type), ceil_div(n, 256), 256, arguments
    return work(*launched, y, expected, **close)


@CHAPTER.launch("polynomial_gradient", sizes=POLYNOMIALS)
def polynomial_gradient(name, c_type, n, count):
    dtype, close = PRECISION[c_type]
    x, dy = draw(n).astype(dtype), draw(n, seed=2).astype(dtype)
    c = draw(count, seed=1).astype(dtype)
    grid = ceil_div(n, 256)
    found = cp.empty(n + grid * count, dtype)  # dx, then the sums of each block
    x64, dy64 = x.astype(float), dy.astype(float)
    slope = dy64 * sum(k * c[k].astype(float) * x64 ** (k - 1) for k in range(1, count))
    terms = np.zeros((grid * 256, count))
    terms[:n] = dy64[:, None] * x64[:, None] ** np.arange(count)
    sums = terms.reshape(grid, 256, count).sum(1)
    expected = np.concatenate([slope, sums.ravel()])
    arguments = *map(cp.asarray, (x, c, dy)), found[:n], found[n:], count, n
    return work(polynomial_kernel(name, c_type), grid, 256, arguments, found, expected, **close)


# --- 02: micrograd ---


def on_both(*shape, seed=0):
    """The same random numbers as fp32 on the device and as float64 on the host."""
    values = draw(shape, seed)
    return cp.asarray(values), values.astype(np.float64)


def strides(shape):
    """In elements, 0 along an axis of length 1."""
    rows, columns = shape
    return columns * (rows > 1), int(columns > 1)


PAIRS = [((1, 1), (1, 1)), ((3, 33), (1, 33)), ((5, 1), (1, 7)), ((1, 1), (9, 31)), ((8, 32),) * 2]


@CHAPTER.launch("tensor_add", "tensor_multiply", sizes=PAIRS)
def tensor_pairs(name, of_a, of_b):
    (a, a64), (b, b64) = on_both(*of_a), on_both(*of_b, seed=1)
    expected = a64 + b64 if name == "tensor_add" else a64 * b64
    c = cp.empty(expected.shape, cp.float32)
    arguments = a, b, c, *expected.shape, *strides(of_a), *strides(of_b)
    launch = ceil_div(c.size, 256), 256, arguments
    return work(kernel(name), *launch, c, expected, rtol=1e-6, atol=1e-6)


@CHAPTER.launch("tensor_expand", sizes=[((1, 1), (5, 60)), ((7, 1), (7, 3)), ((1, 9), (33, 9))])
def tensor_expand(name, own, shape):
    (x, x64), y = on_both(*own), cp.empty(shape, cp.float32)
    launch = ceil_div(y.size, 256), 256, (x, y, *shape, *strides(own))
    return work(kernel(name), *launch, y, np.broadcast_to(x64, shape))


@CHAPTER.launch("tensor_sum", sizes=[(1, 1, 1), (3, 70, 5), (1, 257, 1), (9, 31, 1), (2, 3, 33)])
def tensor_sum(name, outer, length, inner):
    (x, x64), y = on_both(outer, length, inner), cp.empty((outer, inner), cp.float32)
    launch = ceil_div(outer * inner, 8), 256, (x, y, outer, length, inner)
    return work(kernel(name), *launch, y, x64.sum(1), rtol=1e-5, atol=2e-5)


PRODUCTS = [  # M, N, K, which matrices are transposed, how long a slice of K is
    (1, 1, 1, "", 16),
    (17, 5, 33, "", 48),
    (5, 18, 16, "a", 16),
    (16, 7, 17, "b", 32),
    (3, 19, 21, "ab", 64),
    (2, 17, 70, "a", 32),
]


@CHAPTER.launch("tensor_matmul", sizes=PRODUCTS)
def tensor_matmul(name, m, n, k, transposed, length):
    """Matrices that are transposed lie in memory as k x m and n x k."""
    a, a64 = on_both(*((k, m) if "a" in transposed else (m, k)))
    b, b64 = on_both(*((n, k) if "b" in transposed else (k, n)), seed=1)
    of_a, of_b = strides(a.shape), strides(b.shape)
    if "a" in transposed:
        a64, of_a = a64.T, of_a[::-1]
    if "b" in transposed:
        b64, of_b = b64.T, of_b[::-1]
    cuts = range(0, k, length)
    expected = np.stack([a64[:, i : i + length] @ b64[i : i + length] for i in cuts])
    c = cp.empty(expected.shape, cp.float32)
    grid = ceil_div(n, 16), ceil_div(m, 16), len(cuts)
    arguments = a, b, c, m, n, k, length, *of_a, *of_b
    return work(kernel(name), grid, (16, 16), arguments, c, expected, rtol=1e-5, atol=2e-5)


@CHAPTER.launch("tensor_tanh", "tensor_relu", sizes=[1, 257])
def tensor_each(name, n):
    x, y = draw(n), cp.empty(n, cp.float32)
    x[::5] = np.resize(np.float32([0, -0.0, np.inf, -np.inf, np.nan, 1e-6]), len(x[::5]))
    x64 = x.astype(np.float64)
    expected = np.tanh(x64) if name == "tensor_tanh" else np.where(x64 <= 0, 0, x64)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), y, n)
    return work(kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-7)


@CHAPTER.launch("tensor_tanh_backward", "tensor_relu_backward", sizes=[1, 257])
def tensor_each_backward(name, n):
    (dy, dy64), dx = on_both(n, seed=1), cp.empty(n, cp.float32)
    y = np.tanh(draw(n)) if name == "tensor_tanh_backward" else np.maximum(draw(n), 0)
    slope = 1 - y.astype(np.float64) ** 2 if name == "tensor_tanh_backward" else y > 0
    launch = ceil_div(n, 256), 256, (cp.asarray(y), dy, dx, n)
    return work(kernel(name), *launch, dx, dy64 * slope, rtol=1e-5, atol=1e-6)


def rows_of_logits(n, k):
    """Logits that would overflow an exponential, labels, and the softmax in float64."""
    z = 3 * draw((n, k)) + np.float32(100) * (np.arange(n) % 3)[:, None].astype(np.float32)
    power = np.exp(z.astype(np.float64) - z.max(1, keepdims=True))
    label = np.random.default_rng(1).integers(0, k, n).astype(np.int32)
    return cp.asarray(z), cp.asarray(label), label, power / power.sum(1, keepdims=True)


@CHAPTER.launch("tensor_cross_entropy", sizes=[(1, 2), (3, 10), (257, 7)])
def tensor_cross_entropy(name, n, k):
    z, on_device, label, p = rows_of_logits(n, k)
    loss, expected = cp.empty(n, cp.float32), -np.log(p[np.arange(n), label])
    launch = ceil_div(n, 256), 256, (z, on_device, loss, n, k)
    return work(kernel(name), *launch, loss, expected, rtol=1e-5, atol=2e-5)


@CHAPTER.launch("tensor_cross_entropy_backward", sizes=[(1, 2), (9, 33), (17, 70)])
def tensor_cross_entropy_backward(name, n, k):
    z, on_device, label, p = rows_of_logits(n, k)
    (dloss, dloss64), dz = on_both(n, seed=2), cp.empty((n, k), cp.float32)
    expected = (p - np.eye(k)[label]) * dloss64[:, None]
    launch = ceil_div(n, 8), 256, (z, on_device, dloss, dz, n, k)
    return work(kernel(name), *launch, dz, expected, rtol=1e-4, atol=1e-6)


@CHAPTER.launch("tensor_momentum", sizes=[1, 257])
def tensor_momentum(name, n):
    """w and v lie one after the other, so that both are looked at."""
    start, (dw, dw64), found = draw((2, n)), on_both(n, seed=1), cp.empty((2, n), cp.float32)
    w, v = start.astype(np.float64)
    v = 0.9 * v + dw64 + 0.01 * w
    launch = ceil_div(n, 256), 256, (*found, dw, 0.05, 0.9, 0.01, n)
    expected = np.stack([w - 0.05 * v, v])
    return work(kernel(name), *launch, found, expected, InPlace, start=start, rtol=1e-5, atol=1e-6)


# --- 03: normalisation ---

kept = run_path(str(KERNELS / CHAPTER.folder / "philox.py"))["kept"]
SEED = 0x123456789ABC  # both halves of the key


@CHAPTER.launch("philox_dropout", sizes=[(1, 1), (31, 4), (4099, 7), (1024, 256)])
def philox_dropout(name, n, streams):
    x, y = draw(n), cp.empty(n, cp.float32)
    x[::7] = np.resize(np.float32([np.inf, np.nan, -np.inf]), len(x[::7]))
    factors = np.where(kept(n, 0.7, SEED, 12, streams), np.float32(1) / np.float32(0.7), 0)
    with np.errstate(invalid="ignore"):  # what is dropped of an infinity is no number
        expected = x.astype(np.float64) * factors
    arguments = cp.asarray(x), y, 0.7, SEED, 12, streams, n
    return work(kernel(name), ceil_div(n, 1024), 256, arguments, y, expected, rtol=1e-6)


@CHAPTER.launch("dropout_add_layer_norm", sizes=[(1, 4), (3, 36), (2, 1028)])
def dropout_add_layer_norm(name, rows, columns):
    x, residual, (gamma, beta) = draw((rows, columns)), draw((rows, columns), 1), draw((2, columns))
    both, kept_back = cp.empty((2, rows, columns), cp.float32), cp.empty((2, rows), cp.float32)
    mask = kept(x.size, 0.9, SEED, 8).reshape(x.shape)
    z = residual + np.where(mask, x.astype(np.float64) / 0.9, 0)
    mean, rstd = moments_of(z)
    expected = np.stack([z, (z - mean) * rstd * gamma + beta])
    arrays = map(cp.asarray, (x, residual, gamma, beta))
    arguments = *arrays, *both, *kept_back, 0.9, SEED, 8, columns, 1e-5
    return work(kernel(name), rows, 256, arguments, both, expected, rtol=1e-5, atol=1e-5)


# --- 04: attention ---


@CHAPTER.launch("attention_scores", sizes=[(1, 1), (19, 3)])
def causal_scores(name, n, heads):
    q, k = draw((n, heads, 64)), draw((n, heads, 64), seed=1)
    scores = cp.empty((heads, n, n), cp.float32)
    expected = np.einsum("ihc,jhc->hij", q.astype(np.float64), k.astype(np.float64)) / 8
    expected[:, np.triu(np.ones((n, n), bool), 1)] = -np.inf
    side, scale = ceil_div(n, 16), np.float32(1 / 8)
    launch = (side, side, heads), (16, 16), (cp.asarray(q), cp.asarray(k), scores, n, scale)
    return work(kernel(name, CAUSAL=1), *launch, scores, expected, rtol=1e-5, atol=1e-5)


def causal_heads(q, k, v):
    """Causal attention of each head in float64: arrays (n, heads, d)."""
    heads = (
        attention.attention(*(cp.asarray(x[:, head], float) for x in (q, k, v)), causal=True)[0]
        for head in range(q.shape[1])
    )
    return np.stack([cp.asnumpy(head) for head in heads], axis=1)


@CHAPTER.launch("flash_tiles", sizes=[(1, 1), (65, 2)])
def causal_tiles(name, n, heads):
    q, k, v = (draw((n, heads, 64), seed) for seed in range(3))
    o, scale = cp.empty((n, heads, 64), cp.float32), np.float32(1 / 8)
    arguments = *map(cp.asarray, (q, k, v)), o, n, scale
    launch = (ceil_div(n, 32), heads), 128, arguments
    return work(kernel(name, CAUSAL=1), *launch, o, causal_heads(q, k, v), rtol=1e-4, atol=1e-5)


@CHAPTER.launch("flash_pairs", sizes=[(1, 1, 32), (65, 2, 64)])
def causal_pairs(name, n, heads, d):
    q, k, v = (draw((n, heads, d), seed) for seed in range(3))
    o, exact = cp.empty((n, heads, d), cp.float32), causal_heads(q, k, v)
    call = attention.pairs_call(*map(cp.asarray, (q, k, v)), o, CAUSAL=1)
    return Workload((call,), o, lambda: exact, rtol=1e-4, atol=1e-5, same_bits=False)


# Sequences of different lengths, heads that share keys, both widths.
PACKED = [
    ((1, 17, 66), 2, 1, 64, True),
    ((70,), 3, 3, 64, False),
    ((64, 0, 65), 2, 1, 128, False),
]


class PackedWork(Workload):
    """Work that gives (O, lse) or (dQ, dK, dV), one after the other, of bf16 and fp32 numbers."""

    def numbers(self, result):
        return result if result.dtype != np.uint16 else from_bf16(result)


def packed(lengths, heads, kv_heads, d):
    """q, k, v and dO in bf16."""
    tokens = sum(lengths)
    arrays = (
        draw((tokens, h, d), seed) for seed, h in enumerate((heads, kv_heads, kv_heads, heads))
    )
    return [to_bf16(cp.asarray(x)) for x in arrays]


def each_head(found, lengths, arrays, outputs):
    """Add to each output (tokens, heads, d) what ``found`` gives for each sequence and head."""
    heads, starts = arrays[0].shape[1], attention.starts_of(lengths)
    exact = [cp.asnumpy(from_bf16(x)).astype(np.float64) for x in arrays]
    for first, end in zip(starts[:-1], starts[1:], strict=True):
        for head in range(heads if end > first else 0):
            of = [x[first:end, head * x.shape[1] // heads] for x in exact]
            for output, part in zip(outputs, found(*of), strict=True):
                output[first:end, head * output.shape[1] // heads] += cp.asnumpy(part).reshape(
                    end - first, -1
                )


@CHAPTER.launch("flash_mma", "flash_pipeline", sizes=PACKED)
def packed_attention(name, lengths, heads, kv_heads, d, causal):
    q, k, v, _ = packed(lengths, heads, kv_heads, d)
    o, lse = cp.empty_like(q), cp.empty((heads, sum(lengths)), cp.float32)
    o_exact, lse_exact = np.zeros(q.shape), np.zeros((*q.shape[:2], 1))

    def found(*of):
        return attention.attention(*map(cp.asarray, of), causal=causal)

    each_head(found, lengths, (q, k, v), (o_exact, lse_exact))
    call = attention.forward_call(name, q, k, v, o, lse, lengths, causal)

    class Both(PackedWork):
        def wrong(self, result=None):
            of_lse = Workload((call,), lse, lambda: lse_exact[:, :, 0].T, rtol=1e-5, atol=1e-5)
            return super().wrong(result) or of_lse.wrong()

        def poison(self):
            super().poison()
            lse.fill(np.nan)

    return Both((call,), o, lambda: cp.asarray(o_exact), rtol=2**-7, atol=2**-6)


@CHAPTER.launch("flash_backward", sizes=[PACKED[0], PACKED[2]])
def packed_gradients(name, lengths, heads, kv_heads, d, causal):
    q, k, v, do = packed(lengths, heads, kv_heads, d)
    o, lse = cp.empty_like(q), cp.empty((heads, sum(lengths)), cp.float32)
    attention.forward_call("flash_mma", q, k, v, o, lse, lengths, causal)()
    shapes = (q.shape, k.shape, v.shape)
    exact = [np.zeros(shape) for shape in shapes]

    def found(*of):
        return attention.gradients_of(*map(cp.asarray, of), causal=causal)

    each_head(found, lengths, (q, k, v, do), exact)
    ends = np.cumsum([np.prod(shape) for shape in shapes]).tolist()
    flat = cp.empty(ends[-1], np.uint16)
    parts = [
        part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)
    ]
    sums = attention.dq_sums(sum(lengths), heads, len(lengths), d)
    calls = attention.backward_calls((q, k, v, o, do, lse), sums, tuple(parts), lengths, causal)
    expected = np.concatenate([x.ravel() for x in exact])
    return PackedWork(
        calls, flat, lambda: cp.asarray(expected), rtol=2**-6, atol=2**-5, cleared=(sums,)
    )


# --- 05: top-k ---


def hostile(kind, shape):
    """Rows that a selection may stumble over."""
    rng, x = np.random.default_rng(3), draw(shape)
    if kind == "normal":
        return x
    if kind == "equal":
        return np.full_like(x, 3)
    if kind == "zeros":
        return np.float32([0.0, -0.0, 1e-45, -1e-45])[rng.integers(0, 4, shape)]
    if kind == "masked":
        return np.where(rng.random(shape) < 0.9, -np.inf, x).astype(np.float32)
    if kind == "nan":
        x[rng.random(shape) < 0.03] = np.nan
        x[rng.random(shape) < 0.05] = np.inf
        return x
    if kind == "bits":
        x = rng.integers(0, 1 << 32, shape, dtype=np.uint32).view(np.float32)
        return np.where(np.isnan(x), np.float32(np.nan), x)
    return np.sort(x, axis=1)  # "rising": each is above the bound


SELECTIONS = [
    ("equal", (2, 600), 40),
    ("zeros", (2, 777), 33),
    ("masked", (2, 600), 80),
    ("nan", (3, 641), 50),
    ("bits", (2, 1023), 96),
    ("rising", (1, 1024), 20),
]


def selected(name, kind, shape, k):
    x = hostile(kind, shape)
    found, on_device = top_k.Found.of(len(x), k), cp.asarray(x)
    calls = SELECTION_CALLS[name](on_device, k, found)
    indices = cp.asnumpy(top_k.largest(on_device, k))
    expected = np.stack([np.take_along_axis(x, indices, axis=1).astype(float), indices])
    return top_k.TopKWorkload(
        calls, found.room, lambda: cp.asarray(expected), x=on_device, rows=len(x)
    )


SELECTION_CALLS = {
    "top_k_rounds": top_k.rounds_calls,
    "top_k_radix": top_k.radix_calls,
    "top_k_stream": partial(top_k.stream_calls, THREADS=128, STAGES=2, SAMPLED=2),
    "top_k_merge": top_k.merge_calls,
    "top_k_cluster": partial(top_k.cluster_calls, THREADS=128, CLUSTER=4),
    "top_k_warp": top_k.warp_calls,
}
for each in SELECTION_CALLS:
    CHAPTER.launch(each, sizes=SELECTIONS if each != "top_k_rounds" else SELECTIONS[:2])(selected)


# --- 06: low precision ---

formats = SimpleNamespace(
    **run_path(str(KERNELS / CHAPTER.folder / "low_precision" / "formats.py"))
)
BLOCKS = [(1, 32), (3, 96), (129, 160), (33, 32)]


def in_blocks(rows, columns):
    """Rows whose blocks are of many sizes; one block of zeros, or one that ends at 448."""
    x = draw((rows, columns))
    x *= np.exp2(np.random.default_rng(4).integers(-20, 20, (rows, columns // 32))).repeat(32, 1)
    x[0, :32] = np.linspace(-448, 448, 32) if rows > 1 else 0
    return x.astype(np.float32)


def codes_and_scales(rows, columns, block, codes):
    """Room for both, and what it holds after ``poison``, with the ``codes`` put in."""
    places = formats.scale_places(rows, columns // block)
    room = cp.empty(codes.size + formats.room_for_scales(rows, columns // block), np.uint8)
    want = np.full(room.size, 255, np.uint8)
    want[: codes.size] = codes.ravel()
    return room, want, want[codes.size :], places


@CHAPTER.launch("quantise_mxfp8", sizes=BLOCKS)
def quantise_mxfp8(name, rows, columns):
    x = in_blocks(rows, columns)
    numbers, exponents = formats.mxfp8(x)
    codes = formats.codes_of(numbers, "E4M3") | (np.signbit(x) << 7).astype(np.uint8)
    room, want, scales, places = codes_and_scales(rows, columns, 32, codes)
    scales[places] = exponents + 127
    words = room[: codes.size].view(np.uint32)
    arguments = cp.asarray(x), words, room[codes.size :], rows, columns
    return work(kernel(name), ceil_div(x.size, 1024), 256, arguments, room, want)


@CHAPTER.launch("quantise_nvfp4", sizes=BLOCKS)
def quantise_nvfp4(name, rows, columns):
    x = in_blocks(rows, columns)
    numbers, scale, whole = formats.nvfp4(x)
    codes = formats.codes_of(numbers, "E2M1") | (np.signbit(x) << 3).astype(np.uint8)
    pairs = codes.reshape(-1, 2)
    room, want, scales, places = codes_and_scales(rows, columns, 16, pairs[:, 0] | pairs[:, 1] << 4)
    scales[places] = formats.codes_of(scale, "E4M3")
    halves = room[: x.size // 2].view(np.uint16)
    arguments = cp.asarray(x), halves, room[x.size // 2 :], whole, rows, columns
    return work(kernel(name), ceil_div(x.size, 1024), 256, arguments, room, want)


@CHAPTER.launch("mma_sparse", sizes=[(16, 8, 32), (48, 24, 64), (16, 40, 160)])
def mma_sparse(name, m, n, k):
    full, b = draw((m, k)).astype(np.float16), draw((n, k), seed=1).astype(np.float16)
    kept, places = formats.two_of_four(full)
    at = places[..., None] >> 2 * np.arange(8, dtype=np.uint16) & 3
    pruned = np.zeros((m, k // 4, 4))
    np.put_along_axis(pruned, at.reshape(m, -1, 2), kept.reshape(m, -1, 2), axis=-1)
    assert (np.count_nonzero(pruned, axis=-1) == 2).all()
    pruned = pruned.reshape(m, k)
    c = cp.empty((m, n), np.float32)
    arguments = *map(cp.asarray, (kept, places, b)), c, m, n, k
    grid = n // 8, m // 16
    return work(
        kernel(name), grid, 32, arguments, c, pruned @ b.astype(float).T, rtol=1e-4, atol=1e-4
    )


@CHAPTER.launch("ragged_mean", sizes=[((0,), 5), ((1, 0, 40), 33), ((9, 8, 7, 1), 64)])
def ragged_mean(name, lengths, d):
    offsets = np.cumsum((0, *lengths)).astype(np.int32)
    x, y = draw((max(offsets[-1], 1), d)), cp.empty((len(lengths), d), np.float32)
    parts = [x[first:end].astype(float) for first, end in pairwise(offsets)]
    expected = np.stack([part.mean(0) if len(part) else np.zeros(d) for part in parts])
    grid = ceil_div(d, 32), len(lengths)
    arguments = cp.asarray(x), cp.asarray(offsets), y, d
    return work(kernel(name), grid, (32, 8), arguments, y, expected, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("gemv_int4_bytes", sizes=[(16, 128, {"ROWS": 4, "STAGES": 3}), (40, 1408, {})])
@CHAPTER.launch(
    "gemv_int4_bulk",
    sizes=[
        (16, 128, {}),
        (40, 1408, {"STAGES": 3, "GROUPS": 3, "EARLY": 1}),
        (100, 256, {"STAGES": 2}),  # stages are filled again and again
    ],
)
def gemv_int4_bytes(name, rows, columns, tried):
    """Against the product with x rounded as the kernel rounds it."""
    (words,), (scales,) = low_precision.random_weights((1, rows, columns))
    x = draw(columns).astype(np.float16)
    x[32:64] = 0  # a block without a scale
    blocks_of_x = x.astype(np.float32).reshape(-1, 32)
    largest = np.abs(blocks_of_x).max(1, keepdims=True)
    steps = np.divide(np.float32(127), largest, out=np.zeros_like(largest), where=largest > 0)
    kept = (np.rint(blocks_of_x * steps) * (largest / np.float32(127)).astype(float)).ravel()
    w, y = cp.asnumpy(low_precision.weights_of(words, scales)), cp.empty(rows, np.float32)
    bulk = name == "gemv_int4_bulk"
    launch = low_precision.bulk_call if bulk else partial(low_precision.stream_call, name)
    call = launch(words, scales, cp.asarray(x), y, grid=3, **tried)
    return Workload((call,), y, lambda: cp.asarray(w @ kept), rtol=1e-5, atol=1e-5)


# --- 07: batched QR ---

TINY, HUGE = np.float32(3e-39), np.float32(1e37)


def hostile_matrix(kind, m, n):
    """m x n numbers that a factorisation may stumble over, and about how large they are."""
    a = draw((m, n))
    if kind == "zeros":
        return a * 0, 1
    if kind == "rank 2":
        return (a[:, :2] @ draw((2, n), seed=1)).astype(np.float32), 1
    if kind == "equal columns":
        return np.repeat(a[:, :1], n, axis=1), 1
    if kind == "nothing below":
        return np.triu(a), 1
    if kind == "tiny":
        return (a * TINY).astype(np.float32), TINY
    if kind == "huge":
        return a * HUGE, HUGE
    if kind == "small rows":  # with squares that fp32 does not have, below ordinary ones
        a[2:] *= np.float32(1e-25)
    return a, 1


@dataclass(frozen=True)
class ScaledQR(batched_qr.QRWork):
    """Numbers of a known size are compared as if they were near 1."""

    size: float = 1.0

    def numbers(self, result):
        found = super().numbers(result)
        found[: math.prod(self.shape)] /= self.size
        return found


HOSTILE = [
    ("zeros", 9, 7),
    ("rank 2", 32, 20),
    ("equal columns", 20, 32),
    ("nothing below", 17, 17),
    ("tiny", 32, 31),
    ("huge", 31, 9),
    ("small rows", 30, 30),
]
ORDINARY = ("ordinary", 70, 40)  # more than a tile for a warp


def factored(name, kind, m, n):
    a, size = hostile_matrix(kind, m, n)
    a = cp.asarray(a[None])
    found = batched_qr.Factors.of(a.shape)
    expected = batched_qr.expected_of(a)
    expected[: a.size] /= float(size)
    calls = QR_CALLS[name](a, found)
    return ScaledQR(
        calls,
        found.room,
        lambda: expected,
        atol=2e-6 * m**0.5,
        same_bits=False,
        shape=a.shape,
        size=float(size),
    )


QR_CALLS = {
    "qr_warp": batched_qr.warp_calls,
    "qr_block": batched_qr.block_calls,
    "qr_panels": batched_qr.panels_calls,
    "qr_tensor": batched_qr.tensor_calls,
}
MATRICES = {  # the code that copes with them is mostly the same
    "qr_warp": HOSTILE[2:5:2],
    "qr_block": HOSTILE,
    "qr_panels": HOSTILE[5:6],
    "qr_tensor": [*HOSTILE[:2], HOSTILE[4], HOSTILE[6], ORDINARY],
}
for each in QR_CALLS:
    CHAPTER.launch(each, sizes=MATRICES[each])(factored)


# --- 08: one new token ---

HOSTILE_LENGTHS = (0, 1, 15, 16, 17, 31, 300)


@CHAPTER.launch(
    "decode_one",
    "decode_split",
    "decode_grouped",
    "decode_mma",
    "decode_paged",
    "decode_persistent",
    sizes=[(4, 2), (8, 1)],
)
def decoded(name, heads, kv_heads):
    """No token, one, and lengths around a page and a part, beside each other."""
    n = len(HOSTILE_LENGTHS), heads, kv_heads, max(HOSTILE_LENGTHS)
    return decoding.work_on(name, n, HOSTILE_LENGTHS, parts=3)


@CHAPTER.launch("decode_merge", sizes=[1, 3])
def merged_parts(name, parts):
    """Parts without keys weigh nothing, whatever their output holds; scores differ by hundreds."""
    lse = (300 * draw((2, 3, parts), 1)).astype(np.float32)
    o = draw((2, 3, parts, 128))
    lse[0, 1], o[0, 1] = -np.inf, np.nan
    lse[1, 2, 0], o[1, 2, 0] = -np.inf, np.nan
    whole, expected = cp.empty((2, 3, 128), np.uint16), np.zeros((2, 3, 128))
    for place in np.ndindex(2, 3):
        there = np.flatnonzero(lse[place] > -np.inf)
        if len(there):
            weights = np.exp(lse[place][there] - lse[place].max(), dtype=float)
            expected[place] = weights @ o[place][there] / weights.sum()
    arguments = cp.asarray(o), cp.asarray(lse), whole, parts
    launch = kernel(name), (3, 2), 128, arguments
    more = {"kind": attention.AttentionWork, "rtol": 1e-2, "atol": 1e-6, "same_bits": False}
    return work(*launch, whole, expected, **more)


@CHAPTER.launch("rope_append", sizes=[(1, 1, (0,)), (4, 2, (15, 16, 100_000))])
def rotated(name, heads, kv_heads, positions):
    """The rotated queries, then the cache: the rows of the new tokens, and nothing else."""
    sequences, of_one = len(positions), max(positions) // decoding.PAGE + 1
    q, k, v = (
        to_bf16(draw((sequences, count, 128), seed))
        for seed, count in enumerate((heads, kv_heads, kv_heads))
    )
    table = np.zeros((sequences, of_one), np.int32)  # pages that no token is in don't exist
    pages = [position // decoding.PAGE for position in positions]
    table[np.arange(sequences), pages] = np.random.default_rng(1).permutation(sequences)
    rows = sequences * decoding.PAGE * kv_heads * 128
    found = cp.zeros(q.size + 2 * rows, np.uint16)
    parts = found[: q.size], found[q.size : q.size + rows], found[q.size + rows :]
    start = np.concatenate([q.ravel(), np.zeros(2 * rows, np.uint16)])
    angles = np.array(positions)[:, None, None] * 10_000.0 ** (-np.arange(64) / 64)
    cosine, sine = np.cos(angles), np.sin(angles)

    def turned(bits):
        x, y = np.split(from_bf16(bits).astype(float), 2, axis=-1)
        return np.concatenate([x * cosine - y * sine, x * sine + y * cosine], axis=-1)

    caches = np.zeros((2, sequences, kv_heads, decoding.PAGE, 128))
    for s, position in enumerate(positions):
        page, row = table[s, pages[s]], position % decoding.PAGE
        caches[0, page, :, row], caches[1, page, :, row] = turned(k)[s], from_bf16(v)[s]
    expected = np.concatenate([turned(q).ravel(), caches.ravel()])
    lengths = cp.asarray(positions, np.int32)
    given = parts[0], cp.asarray(k), cp.asarray(v), parts[1], parts[2], lengths
    arguments = *given, cp.asarray(table), of_one, heads, np.float32(np.log2(10_000))
    launch = kernel(name), (heads + kv_heads, sequences), 64, arguments
    return RopeWork(
        (KernelCall(*launch),),
        found,
        lambda: expected,
        rtol=1e-2,
        atol=3e-2,  # fp32's angle at 100,000 is off by some thousandths
        same_bits=False,
        start=start,
    )


class RopeWork(InPlace, attention.AttentionWork):
    """Work in place on bf16 numbers."""


# --- 09: mixture of experts ---


def ordered_choices(logits, top):
    """The columns of the largest ``top`` of each row, of equal ones the lower first, and the
    softmax over them."""
    order = np.argsort(-logits, axis=1, kind="stable")[:, :top]
    powers = np.exp(np.take_along_axis(logits, order, 1).astype(float) - logits.max(1)[:, None])
    return order, powers / powers.sum(1, keepdims=True)


@CHAPTER.launch("route_top_k", sizes=[(1, 1, 1), (9, 5, 5), (17, 64, 8), (3, 200, 2)])
def routed(name, tokens, experts, top):
    """Every third token has many equal logits, among them zeros of both signs."""
    logits = 30 * draw((tokens, experts))
    logits[::3] = np.float32([0.0, -0.0, -1.0])[np.arange(experts) % 3]
    found = cp.empty((2, tokens, top), np.float32)
    order, weights = ordered_choices(logits, top)
    arguments = cp.asarray(logits), found[0].view(np.int32), found[1], tokens
    launch = kernel(name, EXPERTS=experts, TOP=top), ceil_div(tokens, 8), 256, arguments
    expected = np.stack([order.astype(float), weights])
    return work(*launch, found, expected, RoutedWork, rtol=1e-5, atol=1e-7, same_bits=False)


class RoutedWork(Workload):
    """Work whose result is integers, and then as many floats."""

    def numbers(self, result):
        """All of them in float64."""
        return cp.stack([result[0].view(np.int32).astype(float), result[1].astype(float)])


ASSIGNED = [("one", 1), ("few", 70), ("first", 2100), ("last", 1025), ("skewed", 3000)]


def assigned(how, n, experts):
    """Experts of n assignments: all the first, all the last, or drawn so that some have none."""
    if how in ("first", "last"):
        return np.full(n, 0 if how == "first" else experts - 1, np.int32)
    return (experts * np.random.default_rng(n).random(n) ** 3 // 2 * 2).astype(np.int32)


def counted(chosen, experts):
    """How many of each chunk each expert has."""
    chunks = ceil_div(len(chosen), moe.CHUNK)
    rows = np.arange(len(chosen)) // moe.CHUNK
    return np.bincount(rows * experts + chosen, minlength=chunks * experts).reshape(chunks, experts)


def before_chunks(counts):
    return np.cumsum(counts, axis=0) - counts


@CHAPTER.launch("count_experts", sizes=ASSIGNED)
def expert_counts(name, how, n):
    chosen, experts = assigned(how, n, 40), 40
    expected = counted(chosen, experts)
    found = cp.empty(expected.shape, np.int32)
    arguments = cp.asarray(chosen), found, n
    return work(kernel(name, EXPERTS=experts), len(expected), moe.CHUNK, arguments, found, expected)


@CHAPTER.launch("scan_experts", sizes=[(*each, e) for each in ASSIGNED for e in (3, 256)][::2])
def expert_offsets(name, how, n, experts):
    """The counts of earlier chunks, offsets, the number of tiles and then the table, past whose
    end nothing is written."""
    counts = counted(assigned(how, n, experts), experts)
    groups = moe.groups_of(counts.sum(0))
    own, count, most = counts.size, int(groups.tiles[0]), n // moe.ROWS + experts
    at = ceil_div(own + experts + 2, 4) * 4  # an int4 is at a multiple of 16 bytes
    start = np.zeros(at + 4 * most, np.int32)
    expected = start.copy()
    expected[:own] = before_chunks(counts).ravel()
    expected[own : own + experts + 1] = cp.asnumpy(groups.offsets)
    expected[own + experts + 1] = count
    expected[at : at + 4 * count] = cp.asnumpy(groups.table)[:count].ravel()
    found = cp.empty(len(start), np.int32)
    parts = found[:own], found[own:], found[at:], found[own + experts + 1 :]
    arguments = cp.asarray(counts.astype(np.int32)), *parts, len(counts)
    return work(
        kernel(name, EXPERTS=experts), 1, 256, arguments, found, expected, InPlace, start=start
    )


@CHAPTER.launch("place_tokens", sizes=ASSIGNED)
def expert_places(name, how, n):
    """As a stable sort by expert."""
    chosen, experts = assigned(how, n, 40), 40
    counts, found = counted(chosen, experts), cp.empty(n, np.int32)
    expected = np.empty(n, np.int32)
    expected[np.argsort(chosen, kind="stable")] = np.arange(n)
    before = cp.asarray(before_chunks(counts).astype(np.int32))
    arguments = cp.asarray(chosen), moe.groups_of(counts.sum(0)).offsets, before, found, n
    return work(kernel(name, EXPERTS=experts), len(counts), moe.CHUNK, arguments, found, expected)


@CHAPTER.launch("gather_rows", "combine_rows", sizes=[(1, 1, 8), (5, 3, 1040), (9, 2, 2200)])
def rows_of_experts(name, tokens, top, width):
    places = np.random.default_rng(width).permutation(tokens * top).astype(np.int32)
    place = places.reshape(tokens, top)
    if name == "gather_rows":
        x, found = to_bf16(draw((tokens, width))), cp.empty((tokens * top, width), np.uint16)
        expected = np.empty(found.shape, np.uint16)
        expected[place] = x[:, None]
        arguments = cp.asarray(x), cp.asarray(places), found, width
        return work(kernel(name, TOP=top), tokens, 128, arguments, found, expected)
    rows, weights = to_bf16(draw((tokens * top, width))), np.abs(draw((tokens, top), 1))
    found = cp.empty((tokens, width), np.uint16)
    expected = np.einsum("tj,tjc->tc", weights, from_bf16(rows)[place].astype(float))
    arguments = cp.asarray(rows), cp.asarray(places), cp.asarray(weights), found, width
    more = {"kind": attention.AttentionWork, "rtol": 2**-8, "atol": 1e-6}
    return work(kernel(name, TOP=top), tokens, 128, arguments, found, expected, **more)


HOSTILE_GROUPS = [((0, 1, 0), 328), ((129, 0, 15), 72), ((16, 17, 64, 65), 136)]


@CHAPTER.launch("grouped_loop", "grouped_table", sizes=HOSTILE_GROUPS[:2])
@CHAPTER.launch("grouped_hopper", "grouped_swiglu", sizes=HOSTILE_GROUPS)
def grouped(name, sizes, k):
    """Experts without rows, with one, and with rows around a box, half a tile and a tile; K so long
    that the ring of four stages comes round."""
    return moe.work_on(name, sizes, n=72, k=k)


# --- 10: the loss without logits ---

linear_loss_07.describe(CHAPTER)
