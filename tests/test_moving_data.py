"""The kernels and stored measurements of the notebooks on moving data and on barriers."""

from __future__ import annotations

import numpy as np
import pytest

from course_utils import cp, load, sanitize
from course_utils.benchmarks.microbenchmarks import overlap
from course_utils.records.measured_files import measurements


@pytest.mark.parametrize("n", [1, 255, 257, 1009])
@pytest.mark.parametrize("rounds", [0, 1, 37])
def test_fade_moves_every_element_towards_one(n, rounds):
    start = np.random.default_rng(n).standard_normal(n, dtype=np.float32)
    x = cp.asarray(start)
    load("04_first_kernels/threads/fade.cu")(((n + 255) // 256,), (256,), (x, n, rounds))
    expected = 1 - (1 - start.astype(np.float64)) * 0.999**rounds
    np.testing.assert_allclose(x.get(), expected, rtol=1e-5, atol=1e-5)


def test_fade_has_no_findings():
    x = cp.zeros(257, cp.float32)
    assert sanitize(load("04_first_kernels/threads/fade.cu"), (2,), (256,), (x, 257, 3)).clean


@pytest.mark.parametrize(("blocks", "threads"), [(1, 1), (7, 33), (16, 64)])
def test_blocks_that_are_resident_together_meet(blocks, threads):
    arrived, met = cp.zeros(1, cp.int32), cp.zeros(blocks, cp.int32)
    load("04_first_kernels/barriers_and_atomics/meet.cu")(
        (blocks,), (threads,), (arrived, met, 10_000)
    )
    assert met.get().tolist() == [1] * blocks


def test_a_block_that_waits_for_one_too_many_gives_up():
    kernel = load("04_first_kernels/barriers_and_atomics/meet.cu")
    arrived, met = cp.full(1, -1, dtype=cp.int32), cp.ones(3, cp.int32)
    kernel((3,), (32,), (arrived, met, 50))
    assert met.get().tolist() == [0, 0, 0]


def test_the_stored_overlap_has_every_step_of_every_chunk_and_no_engine_works_twice_at_once():
    panels = measurements("overlap")["panels"]
    assert list(panels) == list(overlap.PLANS)
    for name, (chunks, _) in overlap.PLANS.items():
        for row in overlap.ROWS:
            spans = [span for span in panels[name] if span[0] == row]
            assert [span[1] for span in spans] == [str(chunk) for chunk in range(chunks)]
            assert all(a[3] <= b[2] for a, b in zip(spans, spans[1:], strict=False))
