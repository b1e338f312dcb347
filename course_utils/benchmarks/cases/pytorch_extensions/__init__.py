"""The benchmarks of chapter 07: operators that PyTorch has too, a module a topic."""

from ...harness.case import Case
from . import (
    activation,
    attention,
    batched_qr,
    cross_entropy,
    decoding,
    experts,
    linear_cross_entropy,
    low_precision,
    normalisation,
    sampling,
    top_k,
)

CASES: tuple[Case, ...] = (
    *activation.CASES,
    *normalisation.CASES,
    *cross_entropy.CASES,
    *attention.CASES,
    *decoding.CASES,
    *experts.CASES,
    *linear_cross_entropy.CASES,
    *top_k.CASES,
    *sampling.CASES,
    *low_precision.CASES,
    *batched_qr.CASES,
)
