"""How tests launch the kernels of chapter 05 that no benchmark measures."""

import numpy as np
from launchers import Addressed, Chapter, draw, work

from course_utils import cp

CHAPTER = Chapter("05_cuda_libraries")
kernel = CHAPTER.kernel


# --- cublas ---

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
    launch = (-(-m // 32), -(-n // 8), products), (32, 8)
    first, close = (transa, transb, m, n, k, 2.0), {"rtol": 1e-5, "atol": 1e-5}
    if name == "gemm_strided":
        args = *first, A, lda, a[0].size, B, ldb, b[0].size, 0.0, c, ldc, n * m
        return work(kernel(name), *launch, args, c, expected, **close)
    args = *first, pointers(A), lda, pointers(B), ldb, 0.0, pointers(c), ldc
    return work(kernel(name), *launch, args, c, expected, Addressed, kept=(A, B), **close)


def pointers(matrices):
    """An array of the device with the address of each of the ``matrices``."""
    return cp.asarray(np.array([matrix.data.ptr for matrix in matrices], np.uint64))
