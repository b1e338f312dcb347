"""An index outside an array is told by its dimensions, and a case shown is the next step."""

from dataclasses import replace

import numpy as np
import pytest

from course_utils.checking.rows import Rows
from course_utils.emulator import OUT_OF_BOUNDS, Cause, Finding
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.outcome import Outcome, simple
from course_utils.exercises.judging.outside_index import declared_extents, in_dimensions

SOURCE = """
constexpr int kStages = 3, kTile = 4;
#define BK 8
constexpr int BN = 16 * kWide;
const int kWide = 4;
template <int N> __global__ void f() {
    __shared__ float tile_a[N][4], tile_b[kStages][BK][BN];
    __shared__ alignas(16) float rows[2 * BK][BN + 1];
    __shared__ int one[256];
}"""


@pytest.mark.parametrize(
    "name, count, extents",
    [
        ("tile_b", 1536, (3, 8, 64)),
        ("tile_a", 24, (6, 4)),
        ("rows", 1040, (16, 65)),
        ("one", 256, (256,)),
        ("none", 4, ()),
    ],
)
def test_the_extents_of_a_shared_array_are_read_from_its_declaration(name, count, extents):
    assert declared_extents(SOURCE, name, count) == extents


def outside(name, index, past, cause=Cause.OUTSIDE_SHARED_ARRAY):
    return Finding(OUT_OF_BOUNDS, "text", array=name, index=index, past=past, cause=cause)


def test_an_index_past_the_end_is_told_by_dimensions():
    assert "tile_b[3][0][0]" in in_dimensions(outside("tile_b", 1536, 1), SOURCE, {})
    assert "ends at 2" in in_dimensions(outside("tile_b", 1600, 65), SOURCE, {})
    assert not in_dimensions(outside("one", 256, 1), SOURCE, {})
    images = {"x": np.zeros((2, 3, 5, 7))}
    found = outside("x", 210, 1, Cause.OUTSIDE_ARRAY_COMPUTED)
    assert "x[2][0][0][0], and the first index ends at 1" in in_dimensions(found, SOURCE, images)


def test_the_case_that_is_shown_is_the_next_step_of_wrong_values():
    exercise, verdict = find("04.saxpy"), simple(kinds.WRONG, "some elements are wrong.")
    assert Outcome.of(exercise, verdict).verdict.hint == kinds.NEXT_STEP[kinds.WRONG]
    shown = replace(verdict, case=Rows("Work it by hand", ()))
    assert Outcome.of(exercise, shown).verdict.hint == kinds.WITH_CASE
