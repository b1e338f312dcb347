"""The kernel of 07.review_pairs has the faults that its spec names: one repaired line each."""

from __future__ import annotations

import numpy as np
import pytest
from repairs import Reviewed

from course_utils import cp, load, sanitize

INCLUDES = '#include <cuda_bf16.h>\n#include "softmax.cuh"\n'
KERNEL = Reviewed(
    "07.review_pairs",
    {
        4: (("largest = 0.0f", "largest = -3.4e38f"),),
        6: (("there = 256", "there = min(256, words - 256 * tile)"),),
        11: (("expf(mine[i]) * expf(-of_lane)", "expf(mine[i] - of_lane)"),),
        16: (("__nv_bfloat16 rounded = __float2bfloat16", "float rounded = "),),
    },
)
LOGITS = {4: (-200, -199), 6: (-1, 1), 11: (99, 101), 16: (3, 4)}  # that show the fault of a line


def is_right(source: str, low: float, high: float) -> bool:
    """Whether it finds the loss of two tokens with 300 words, the logits from low to high."""
    rng, words = np.random.default_rng(6), 300
    x = rng.uniform(low, high, (2, words)).astype(np.float32)
    tiles = np.zeros((2, 2, 256), np.float32)  # zeros for words that don't exist
    tiles[0], tiles[1, :, : words - 256] = x[:, :256], x[:, 256:]
    target = np.array([7, 299])
    pairs, wanted = cp.zeros((2, 2, 2), np.float32), cp.zeros(2, np.float32)
    arguments = cp.asarray(tiles), cp.asarray(target), pairs, wanted, 2, words
    kernel = load(source=INCLUDES + source)
    assert not sanitize(kernel, (2, 2), (32,), arguments).findings
    kernel((2, 2), (32,), arguments)
    largest, sums = np.moveaxis(pairs.get().astype(float), 2, 0)
    with np.errstate(all="ignore"):
        lse = np.log((sums * np.exp(largest - largest.max(axis=0))).sum(axis=0))
        loss = lse + largest.max(axis=0) - wanted.get()
    moved = x.astype(float) - x.max()
    expected = np.log(np.exp(moved).sum(axis=1)) - moved[np.arange(2), target]
    return np.allclose(loss, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("line", KERNEL.repairs)
def test_each_fault_is_one(line: int) -> None:
    """With all others repaired the loss is wrong for some logits."""
    assert not is_right(KERNEL.all_but(line), *LOGITS[line])


def test_without_faults_it_is_right() -> None:
    assert all(is_right(KERNEL.all_repaired(), *ends) for ends in LOGITS.values())


def test_the_lines_are_those_of_the_answer() -> None:
    assert KERNEL.names_its_lines()
