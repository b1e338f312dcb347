"""How tests launch the kernels of chapter 01."""

import numpy as np
from launchers import Chapter, draw, work

from course_utils import ceil_div, cp

CHAPTER = Chapter("01_ecosystem")


def softmax(rows, columns):
    """Inputs, a place for the outputs, and the softmax of each row in float64."""
    x = 8 * draw((rows, columns)) - 20
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    y = cp.empty((rows, columns), cp.float32)
    return cp.asarray(x), y, power / power.sum(axis=1, keepdims=True)


@CHAPTER.launch("softmax_warps", sizes=[(1, 1), (3, 31), (9, 32), (8, 100), (17, 257)])
def softmax_warps(name, rows, columns):
    x, y, expected = softmax(rows, columns)
    launch = ceil_div(rows, 8), 256, (x, y, rows, columns)
    return work(CHAPTER.kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-7)


@CHAPTER.launch("softmax_block", sizes=[(1, 1), (3, 31), (4, 257), (2, 1000), (1, 4096)])
def softmax_block(name, rows, columns):
    x, y, expected = softmax(rows, columns)
    launch = rows, 256, (x, y, columns)
    return work(CHAPTER.kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-7)


@CHAPTER.launch("scale_and_shift", sizes=[1, 31, 257, 1000])
def scale_and_shift(name, n):
    x, y = draw(n), cp.empty(n, cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), y, n)
    expected = 2 * x.astype(np.float64) + 1
    return work(CHAPTER.kernel(name), *launch, y, expected, rtol=1e-5, atol=1e-6)
