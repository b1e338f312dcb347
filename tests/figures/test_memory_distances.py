"""The drawing of the memories' distances has the latencies of the record that 03/03 shows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from course_utils.paths import ROOT
from tests.notebooks.drawn import record

L2 = 60 * 2**20  # bytes, of an H200


def test_the_drawn_distances_are_the_recorded_latencies():
    drawing = (ROOT / "assets/figures/memory_distances.svg").read_text()
    drawn = {
        name.partition(" (")[0]: (int(cycles), int(centimetres))
        for name, cycles, centimetres in re.findall(
            r">([^<>]+): (\d+) cycles \((\d+) cm\)<", drawing
        )
    }
    hardware = record("hardware")
    near, chains = hardware["small_latency"], hardware["latency"]

    def step(low, high):
        return float(np.median([cycles for size, cycles, _ in chains if low <= size <= high]))

    measured = {
        "registers": near["fma"][0],
        "shared memory": near["shared"][0],
        "L1 cache": step(2**12, 2**17),
        "L2 cache": step(2**19, L2 / 4),
        "device memory": step(2 * L2, 2**31),
    }
    cycles_drawn = {name: cycles for name, (cycles, _) in drawn.items()}
    assert cycles_drawn == pytest.approx(measured, rel=0.03, abs=0.6)
    one = drawn["registers"][0]
    assert all(centimetres == round(cycles / one) for cycles, centimetres in drawn.values())
