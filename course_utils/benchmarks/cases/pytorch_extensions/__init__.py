"""The benchmarks of chapter 07: operators that PyTorch has too, a module a topic."""

from ...case import Case
from . import activation

CASES: tuple[Case, ...] = (*activation.CASES,)
