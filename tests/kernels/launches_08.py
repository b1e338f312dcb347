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


# --- mma ---


@CHAPTER.launch("tile_by_hand", "tile_by_layout", sizes=[(16, 8, 16, 32)])
@CHAPTER.launch("block_by_hand", "block_by_layout", sizes=[(64, 64, 32, 128)])
def tile(name, m, n, k, threads):
    a, b = (draw(shape, seed).astype(np.float16) for seed, shape in enumerate(((m, k), (n, k))))
    c = cp.empty((m, n), cp.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    launch = 1, threads, (cp.asarray(a), cp.asarray(b), c)
    return work(kernel(name), *launch, c, exact, rtol=1e-5, atol=1e-5)


@CHAPTER.launch("mma_layouts", sizes=[0])
def mma_layouts(name, _):
    """C's layout of the whole tile; the notebook draws the other five."""
    tables = [cp.empty(n, cp.int32) for n in (256, 128, 128, 1024, 1024, 1024)]
    tiled = Layout("((4,8,2,2),(2,2,2)):((64,1,16,256),(32,8,512))")
    return work(kernel(name), 1, 32, tuple(tables), tables[5], tiled.offsets())
