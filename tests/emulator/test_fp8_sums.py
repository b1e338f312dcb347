"""Tensor cores add fp8 products with few bits, and the emulator as an H200 does."""

from functools import cache

import numpy as np
import pytest

from course_utils.devices import selection
from tests.emulator.fp8_sums import FORMATS, KERNELS, RECORD, sums

MEASURED = dict(np.load(RECORD))
CASES = sorted(name[:-2] for name in MEASURED if name.endswith(" a"))


@cache
def emulated(case, kernel):
    kind = case.split()[0]
    return sums(selection.cp, kernel, kind, *(MEASURED[f"{case} {name}"] for name in "abc"))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("case", CASES)
def test_sums_have_the_bits_of_an_h200(case, kernel):
    assert np.array_equal(
        emulated(case, kernel).view(np.uint32), MEASURED[f"{case} {kernel}"].view(np.uint32)
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_wgmma_keeps_fewer_bits_than_mma(kind):
    a, b, c = (MEASURED[f"{kind} uniform {name}"] for name in "abc")
    a, b = (x.view(FORMATS[kind]).astype(float) for x in (a, b))
    off = {k: np.abs(emulated(f"{kind} uniform", k) / (a @ b.T + c) - 1).max() for k in KERNELS}
    assert off["by_mma"] < 2**-23 < 2**-12 < off["by_wgmma"] < 2**-8
