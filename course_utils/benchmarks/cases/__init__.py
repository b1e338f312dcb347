"""The kernels that are measured beside libraries, a module or a folder a chapter."""

from ..case import Case
from . import fft, first_kernels, gpu_introduction, matmul

CASES: tuple[Case, ...] = (
    *gpu_introduction.CASES,
    *first_kernels.CASES,
    *matmul.CASES,
    *fft.CASES,
)
