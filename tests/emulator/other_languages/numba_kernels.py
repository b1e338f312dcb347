"""Numba kernels for the tests, some with a planted mistake in the line that ends in `# here`."""

import math

from numba import cuda, float32


@cuda.jit
def saxpy(x, y, a):
    i = cuda.grid(1)
    if i < x.size:
        y[i] = a * x[i] + y[i]


@cuda.jit
def total(x, o):
    part = cuda.shared.array(128, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    part[t] = x[i] if i < x.size else 0.0
    cuda.syncthreads()
    half = 64
    while half:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        cuda.atomic.add(o, 0, part[0])


@cuda.jit
def row_sums(a, o):
    i = cuda.grid(1)
    if i < a.shape[0]:
        for j in range(a.shape[1]):
            o[i] += a[i, j]


@cuda.jit(device=True)
def wave(v):
    return math.exp(v) * math.sin(v)


@cuda.jit
def waves(x, o):
    i = cuda.grid(1)
    if i < x.size:
        o[i] = wave(x[i])


@cuda.jit
def no_guard(x, o):
    i = cuda.grid(1)
    o[i] = x[i] * 2  # here


@cuda.jit
def no_barrier(x, o):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    value = part[127 - t]  # here
    o[t] = value
