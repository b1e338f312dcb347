"""Tensor cores cut terms off before they add, and the emulator does as an H200 does."""

from functools import cache

import numpy as np
import pytest

from course_utils.devices import selection
from course_utils.emulator.numerics.tensor_core_sums import sums_on_hopper
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


@pytest.mark.parametrize("kind", ["f16", "bf16", "tf32", "e4m3"])
def test_an_infinity_leaves_the_sums_without_it_alone(kind):
    rng = np.random.default_rng(0)
    k = 32 if kind == "e4m3" else 16
    left, right = rng.integers(-8, 9, (2, 16, k)) / 4.0, rng.integers(-8, 9, (2, k, 8)) / 4.0
    added = np.zeros((2, 16, 8), np.float32)
    of_kind = sums_on_hopper(kind, kind, k)
    alone = of_kind(left, right, added)
    right[1, 3, 5] = np.inf
    with np.errstate(invalid="ignore"):  # as the emulator does
        beside = of_kind(left, right, added)
    without = np.arange(8) != 5
    assert np.array_equal(beside[0], alone[0])
    assert np.array_equal(beside[1][:, without], alone[1][:, without])
    assert not np.isfinite(beside[1][:, 5]).any()
