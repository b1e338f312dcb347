"""How tests launch the kernels of chapter 08 that no benchmark measures."""

import numpy as np
from launchers import Chapter, draw, work

from course_utils import cp
from course_utils.layouts import Layout

CHAPTER = Chapter("08_cute_tma_blackwell")
kernel = CHAPTER.kernel


# --- layouts ---


@CHAPTER.launch("reorder_by_hand", "reorder_by_layout", sizes=[(1, 1), (8, 32), (37, 50)])
def reorder(name, rows, columns):
    x, y = draw((rows, columns)), cp.empty(rows * columns, cp.float32)
    launch = (-(-columns // 32), -(-rows // 8)), (32, 8), (cp.asarray(x), y, rows, columns)
    return work(kernel(name), *launch, y, x.T.ravel())


@CHAPTER.launch("layout_offsets", sizes=[32])
def offsets(name, n):
    out = cp.empty(n, cp.int32)
    return work(kernel(name), 1, 128, (out, n, 0, 0), out, Layout("(4,8):(8,1)").offsets())


# --- swizzle ---


@CHAPTER.launch("chunk_columns", "chunk_columns_by_layout", sizes=[0, 1])
def chunk_columns(name, seed):
    x, y = draw((32, 64), seed).astype(np.float16), cp.empty((8, 32, 8), np.float16)
    given = cp.asarray(x)
    return work(kernel(name), 1, 32, (given, y), y, x.reshape(32, 8, 8).transpose(1, 0, 2))
