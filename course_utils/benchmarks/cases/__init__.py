"""The kernels that are measured beside libraries, a module or a folder a chapter."""

from ..case import Case
from . import convolution, few_rows, fft, first_kernels, gemv_and_softmax, gpu_introduction, matmul

CASES: tuple[Case, ...] = (
    *gpu_introduction.CASES,
    *first_kernels.CASES,
    *matmul.CASES,
    *few_rows.CASES,
    *fft.CASES,
    *convolution.CASES,
    *gemv_and_softmax.CASES,
)
