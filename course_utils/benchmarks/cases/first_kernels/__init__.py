"""The benchmarks of chapter 04: memory is what they have in common."""

from ...harness.case import Case
from . import (
    branches,
    chains,
    copies,
    element_wise,
    fused_convolutions,
    scans_and_sorts,
    sums_and_histograms,
    transposes,
)

CASES: tuple[Case, ...] = (
    *element_wise.CASES,
    *copies.CASES,
    *transposes.CASES,
    *sums_and_histograms.CASES,
    *scans_and_sorts.CASES,
    *branches.CASES,
    *chains.CASES,
    *fused_convolutions.CASES,
)
