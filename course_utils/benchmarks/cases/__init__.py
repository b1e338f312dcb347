"""The kernels that are measured beside libraries, a module or a folder a chapter."""

from ..case import Case
from . import convolution, fft, first_kernels, gemv_and_softmax, gpu_introduction, matmul

CASES: tuple[Case, ...] = (
    *gpu_introduction.CASES,
    *first_kernels.CASES,
    *matmul.CASES,
    *fft.CASES,
    *convolution.CASES,
    *gemv_and_softmax.CASES,
)
