"""The benchmarks of chapter 04: memory is what they have in common."""

from ...case import Case
from . import branches, chains, convolutions, copies, element_wise, sums_and_histograms, transposes

CASES: tuple[Case, ...] = (
    *element_wise.CASES,
    *copies.CASES,
    *transposes.CASES,
    *sums_and_histograms.CASES,
    *branches.CASES,
    *chains.CASES,
    *convolutions.CASES,
)
