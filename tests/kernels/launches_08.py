"""How tests launch the kernels of chapter 08 that no benchmark measures."""

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
