"""The emulator counts what Nsight Compute counts on an H200."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from access_patterns import patterns

from course_utils.benchmarks.tools import comparison_page
from course_utils.benchmarks.tools.comparison_page import CASES, OTHER_TRAFFIC, REASONS, UNSTEADY
from course_utils.compiling.bindings import nvrtc_version
from course_utils.emulator.recording.counters import (
    atomic_sectors,
    atomic_wavefronts,
    local_sectors,
    sectors,
    wavefronts,
)
from course_utils.figures.memory_accesses import bank_phases
from tests.turns import in_turn

HERE = Path(__file__).parent
MEASURED = json.loads((HERE / "access_patterns_h200.json").read_text(encoding="utf-8"))
PATTERNS = patterns()
LANES = np.arange(32)


# Patterns of atomics in global memory that took the GPU one sector more than the rule says.
ONE_MORE = {
    ("red", 4, "random in 256, 1"),
    ("red", 4, "random in 256, 2"),
    ("atom", 4, "random in 256, 1"),
    ("atom", 4, "random in 256, 2"),
    ("red", 8, "random in 256, 2"),
}


def differing(operations: tuple[str, ...], count) -> dict[tuple, tuple[list, list]]:
    """Pattern -> (what ``count`` finds, what was measured), where they differ."""
    wrong = {}
    for operation, width, name, offsets in PATTERNS:
        if operation not in operations:
            continue
        active = np.flatnonzero(offsets >= 0)
        found = count(operation, active, offsets[active].astype(np.int64), width)
        expected = MEASURED["measured"][f"{operation}_{width}"][name]
        if found != expected[: len(found)]:
            wrong[operation, width, name] = (found, expected)
    return wrong


def test_every_pattern_was_measured():
    assert sum(map(len, MEASURED["measured"].values())) == len(PATTERNS)


def test_wavefronts_and_conflicts_of_every_pattern_are_the_gpu_s():
    def count(operation, lanes, addresses, width):
        needed, ideal = wavefronts(0 * lanes, lanes, addresses, width, operation == "load")
        return [needed, needed - ideal]

    assert not differing(("load", "store"), count)


def test_the_drawing_of_banks_has_as_many_passes():
    def count(operation, lanes, addresses, width):
        offsets = np.full(32, -1)
        offsets[lanes] = addresses
        phases = bank_phases(offsets, width, store=operation == "store")
        return [sum(max(len(words) for words in phase.values()) for phase in phases if phase)]

    assert not differing(("load", "store"), count)


def test_wavefronts_of_atomics_in_shared_memory_are_the_gpu_s():
    def count(operation, lanes, addresses, width):
        return [atomic_wavefronts(0 * lanes, addresses)]

    assert not differing(("shared_atom",), count)


def test_sectors_of_atomics_in_global_memory_are_the_gpu_s_but_for_one_here_and_there():
    def count(operation, lanes, addresses, width):
        return [atomic_sectors(0 * lanes, addresses, width)]

    wrong = differing(("red", "atom"), count)
    assert wrong.keys() == ONE_MORE
    assert all(expected[0] == found[0] + 1 for found, expected in wrong.values())


def test_warps_are_counted_apart():
    warps = np.repeat([0, 7, 9], 32)
    lanes = np.tile(LANES, 3)
    apart = np.concatenate([0 * LANES, 8 * LANES, 8 * (LANES // 2)])
    assert wavefronts(warps, lanes, apart, 8, paired=True) == (1 + 2 + 1, 1 + 2 + 1)
    assert wavefronts(warps, lanes, apart, 8) == (2 + 2 + 2, 2 + 2 + 2)


@pytest.mark.parametrize(
    ("addresses", "size", "expected"),
    [
        (4 * LANES, 4, 4),
        (4 * LANES + 4, 4, 5),
        (16 * LANES, 16, 16),
        (0 * LANES, 4, 1),
        (32 * LANES, 1, 32),
        (4 * LANES % 16, 4, 1),
    ],
)
def test_sectors_are_the_distinct_pieces_of_32_bytes(addresses, size, expected):
    assert sectors(0 * LANES, addresses, size) == expected


@pytest.mark.parametrize(
    ("offsets", "size", "expected"),
    [
        (0 * LANES, 4, 4),
        (4 * LANES, 4, 32),
        (0 * LANES + 8, 8, 8),
        (4 * (LANES % 2), 4, 8),
        (LANES % 4, 1, 4),
    ],
)
def test_a_word_of_local_memory_lies_beside_that_of_the_next_lane(offsets, size, expected):
    assert local_sectors(0 * LANES, LANES, offsets, size) == expected


@pytest.mark.parametrize(
    "case", [pytest.param(x, id=x.name, marks=in_turn(n)) for n, x in enumerate(CASES)]
)
def test_a_kernel_s_counters_are_ncu_s_but_for_the_differences_that_are_explained(case):
    found = comparison_page.differences(case)
    explained = {counter: why for (kernel, counter), why in REASONS.items() if kernel == case.name}
    may_differ = {counter for counter, why in explained.items() if why == OTHER_TRAFFIC}
    if case.name in UNSTEADY:
        may_differ |= {"shared load requests", "shared load wavefronts"}
    assert found.keys() - may_differ == explained.keys() - may_differ, found


@in_turn(0)
def test_the_page_of_both_columns_is_up_to_date():
    """The counters of all kernels, for which the compiler takes half a minute."""
    text = comparison_page.PAGE.read_text(encoding="utf-8")
    if f"NVRTC {'.'.join(map(str, nvrtc_version()))}. Written" not in text:
        pytest.skip("written with another version of NVRTC, whose PTX may differ")
    assert steady(text) == steady(comparison_page.page())


def steady(page: str) -> list[str]:
    """The lines that do not depend on which PTX NVRTC has written this time, without the numbers of
    the notes, of which there may be one more."""
    counts, _ = page.split("## The shape of the program")
    lines = [re.sub(r"^\d+\. | \[\d+\]", "", line) for line in counts.splitlines()]
    unsteady = (
        "counters that are not zero",
        "does not write the same PTX",
        *(f"`{k}`" for k in UNSTEADY),
    )
    return [line for line in lines if line and not any(word in line for word in unsteady)]
