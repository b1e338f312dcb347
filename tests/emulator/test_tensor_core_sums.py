"""Tensor cores cut terms off before they add, and the emulator does as an H200 does."""

from functools import cache

import numpy as np
import pytest

from course_utils.devices import selection
from tests.emulator.tensor_core_sums import FP8, KERNELS, RECORD, sums

MEASURED = dict(np.load(RECORD))
CASES = [name.rsplit(" ", 1) for name in MEASURED if name.split()[-1] in KERNELS]


@cache
def emulated(case, kernel):
    kind = case.split()[0]
    return sums(selection.cp, kernel, kind, *(MEASURED[f"{case} {name}"] for name in "abc"))


@pytest.mark.parametrize(("case", "kernel"), CASES, ids=[" ".join(c) for c in CASES])
def test_sums_have_the_bits_of_an_h200(case, kernel):
    assert np.array_equal(
        emulated(case, kernel).view(np.uint32), MEASURED[f"{case} {kernel}"].view(np.uint32)
    )


@pytest.mark.parametrize("kind", FP8)
def test_wgmma_keeps_fewer_bits_of_fp8_than_mma(kind):
    a, b, c = (MEASURED[f"{kind} uniform {name}"] for name in "abc")
    a, b = (x.view(FP8[kind]).astype(float) for x in (a, b))
    off = {k: np.abs(emulated(f"{kind} uniform", k) / (a @ b.T + c) - 1).max() for k in KERNELS[:2]}
    assert off["by_mma"] < 2**-23 < 2**-12 < off["by_wgmma"] < 2**-8
