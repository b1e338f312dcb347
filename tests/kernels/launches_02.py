"""How tests launch the kernels of chapter 02."""

from functools import cache

import numpy as np
from launchers import Chapter, InPlace, draw, work

from course_utils import ceil_div, cp, load
from course_utils.paths import kernel_file

CHAPTER = Chapter("02_c_and_cpp")
SIZES = [1, 31, 257, 1000]


@cache
def instance(name, arguments):
    """A kernel that is a template, with its template arguments."""
    expression = f"{name}<{arguments}>"
    return load(kernel_file(name, CHAPTER.folder), names=[expression])[expression]


@CHAPTER.launch("order_pairs", sizes=SIZES)
def order_pairs(name, n):
    pairs = draw((2, n), seed=2)
    array = cp.asarray(pairs)
    launch = ceil_div(n, 256), 256, (array[0], array[1], n)
    expected = np.sort(pairs, axis=0)
    return work(CHAPTER.kernel(name), *launch, array, expected, InPlace, start=pairs)


@CHAPTER.launch(
    "scale_any",
    sizes=[(kind, n) for kind in ("float", "double", "int", "unsigned char") for n in (1, 257)],
)
def scale_any(name, kind, n):
    dtype = {"float": np.float32, "double": np.float64, "int": np.int32, "unsigned char": np.uint8}
    x = (10 * np.abs(draw(n, seed=3))).astype(dtype[kind])
    y = cp.empty(n, x.dtype)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), y, x.dtype.type(3), n)
    return work(instance(name, kind), *launch, y, 3 * x, rtol=1e-6)


@CHAPTER.launch("reverse_tiles", sizes=[(32, 1), (64, 3), (256, 2), (1024, 2)])
def reverse_tiles(name, tile, count):
    x, y = draw((count, tile), seed=4), cp.empty((count, tile), cp.float32)
    launch = count, tile, (cp.asarray(x), y)
    return work(instance(name, tile), *launch, y, x[:, ::-1])


@CHAPTER.launch(
    "map_functor",
    sizes=[(f, n) for f in ("Relu", "Square", "Chain<Relu, Square>") for n in (1, 257)],
)
def map_functor(name, functor, n):
    x, y = draw(n, seed=5), cp.empty(n, cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), y, n)
    expected = x.astype(np.float64)
    if "Relu" in functor:
        expected = np.maximum(expected, 0)
    if "Square" in functor:
        expected = expected**2
    return work(instance(name, functor), *launch, y, expected, rtol=1e-6)


@CHAPTER.launch("newton_steps", sizes=SIZES)
def newton_steps(name, n):
    x, y = np.abs(draw(n, seed=6)) + np.float32(0.1), cp.empty(n, cp.float32)
    launch = ceil_div(n, 256), 256, (cp.asarray(x), y, 12, n)
    return work(CHAPTER.kernel(name), *launch, y, np.sqrt(x.astype(np.float64)), rtol=1e-6)


@CHAPTER.launch("count_exits", sizes=SIZES)
def count_exits(name, n):
    exits = cp.zeros(1, cp.int32)
    launch = ceil_div(n, 256), 256, (cp.asarray(draw(n, seed=7)), cp.empty(n, cp.float32), exits, n)
    expected = np.array([256 * ceil_div(n, 256)])
    return work(
        CHAPTER.kernel(name), *launch, exits, expected, InPlace, start=np.zeros(1, np.int32)
    )


@CHAPTER.launch("axpy", sizes=SIZES)
def axpy(name, n):
    x, start = draw((2, n), seed=8)
    y = cp.asarray(start)
    launch = ceil_div(n, 256), 256, (np.float32(1.5), cp.asarray(x), y, n)
    expected = 1.5 * x.astype(np.float64) + start
    return work(
        CHAPTER.kernel(name), *launch, y, expected, InPlace, start=start, rtol=1e-5, atol=1e-6
    )


@CHAPTER.launch("open_answers", sizes=[()])
def open_answers(name):
    numbers = cp.asarray(np.array([3e9, -1, np.nan], np.float32))
    answers = cp.empty(5, cp.int32)
    launch = 1, 1, (numbers, cp.asarray(np.array([33, 0], np.int32)), answers)
    expected = np.array([2**31 - 1, 0, 0, 0, -1])
    return work(CHAPTER.kernel(name), *launch, answers, expected)
