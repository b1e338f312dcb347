"""How tests launch the kernels of chapter 07 that no benchmark measures, against float64."""

from functools import cache

import numpy as np
from launchers import Chapter, draw, work

from course_utils import cp, load
from course_utils.benchmarks.case import blocks
from course_utils.paths import kernel_file

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
    launched = polynomial_kernel(name, c_type), blocks(n, 256), 256, arguments
    return work(*launched, y, expected, **close)


@CHAPTER.launch("polynomial_gradient", sizes=POLYNOMIALS)
def polynomial_gradient(name, c_type, n, count):
    dtype, close = PRECISION[c_type]
    x, dy = draw(n).astype(dtype), draw(n, seed=2).astype(dtype)
    c = draw(count, seed=1).astype(dtype)
    grid = blocks(n, 256)
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


# --- 03: normalisation ---


# --- 04: attention ---
