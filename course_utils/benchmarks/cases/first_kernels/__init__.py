"""The benchmarks of chapter 04: memory is what they have in common."""

from ...case import Case
from . import branches, chains, convolutions, copies, sums_and_histograms, transposes, vectors

CASES: tuple[Case, ...] = (
    *vectors.CASES,
    *copies.CASES,
    *transposes.CASES,
    *sums_and_histograms.CASES,
    *branches.CASES,
    *chains.CASES,
    *convolutions.CASES,
)
