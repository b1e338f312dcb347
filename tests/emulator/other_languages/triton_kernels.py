"""Triton kernels for the tests, some with a planted mistake in the line that ends in `# here`."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(o + i, tl.load(x + i, inside) + tl.load(y + i, inside), inside)


@triton.jit
def softmax(x, o, columns, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + i, i < columns, other=-float("inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(o + row * columns + i, power / tl.sum(power, 0), i < columns)


@triton.jit
def product(a, b, c, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for s in range(0, K, BK):
        left = tl.load(a + i[:, None] * K + (s + k)[None, :])
        right = tl.load(b + (s + k)[:, None] * N + j[None, :])
        total = tl.dot(left, right, total)
    tl.store(c + i[:, None] * N + j[None, :], total)


@triton.jit
def histogram(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o + tl.load(x + i, i < n, other=0), 1, i < n)


@triton.jit
def running_total(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.cumsum(tl.load(x + i), 0))


@triton.jit
def squares(x, o, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK))
    tl.store(o + tl.arange(0, BLOCK), value / tl.sum(value * value, 0))


@triton.jit
def no_mask(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i)  # here
    tl.store(o + i, value * 2, i < 1000)


@triton.jit
def two_to_one(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + i)
    tl.store(o + i // 2, value)  # here


@triton.jit
def options(o, bias, step, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.zeros((BLOCK,), tl.float32) + step * scale
    if bias is not None:
        value += tl.load(bias + i)
    tl.store(o + i, value)


configs = [triton.Config({"BLOCK": size}, num_warps=1) for size in (64, 128)]
tuned_add = triton.autotune(configs, key=["n"])(add)
chosen_add = triton.heuristics({"BLOCK": lambda given: 256})(add)
