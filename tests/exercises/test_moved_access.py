"""A report on an access has the line that makes it, and the index beside its guard."""

import pytest

from course_utils.emulator import DATA_RACE, OUT_OF_BOUNDS, Cause, Finding, Location
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.moved_access import where_used
from course_utils.exercises.judging.outside_index import guard_and_index, in_dimensions
from course_utils.exercises.judging.runner import run_source

SOURCE = """
constexpr int kBands = 8;
extern "C" __global__ void f(const float *x, float *y, int K)
{
    __shared__ float sums[32][kBands];
    int k = threadIdx.x;
    if (k < K) {
        float a = x[3 * k]; // y[k]
        y[k] = a;
    }
}
__device__ float g(const float *p) { return p[1]; }"""
X_LINE, GUARD = 8, Location("a.cu", 7)


def found(line, array="x", other=None, cause=Cause.OUTSIDE_ARRAY_GUARDED):
    at = Location("a.cu", line)
    there = other and Location("a.cu", other)
    text = f"reads {array}[4] at {at}, past its end"
    return Finding(
        OUT_OF_BOUNDS,
        text,
        at,
        array=array,
        index=4,
        past=2,
        other_location=there,
        condition=GUARD,
        cause=cause,
    )


@pytest.mark.parametrize(
    "line, array, now",
    [(6, "x", X_LINE), (7, "x", X_LINE), (6, "y", 9), (8, "x", 8), (9, "x", 9), (12, "x", 12)]
    + [(6, "z", 6), (6, "sums", 6), (40, "x", 40)],
)
def test_a_line_that_accesses_nothing_is_left_for_one_that_uses_the_array(line, array, now):
    placed = where_used(found(line, array), SOURCE, "a.cu")
    assert placed.location.line == now
    assert f"at a.cu:{now}," in placed.message
    assert (f"moved this access to line {line}" in placed.message) == (line != now)
    assert where_used(found(line, array), SOURCE, "b.cu") == found(line, array)


def test_both_accesses_of_a_race_are_placed():
    placed = where_used(found(6, other=7), SOURCE, "a.cu")
    assert (placed.location.line, placed.other_location.line) == (X_LINE, X_LINE)


TURNS = """__device__ inline void wait_for(int group)
{
    asm volatile("barrier.sync %0, 256;" ::"r"(group + 1) : "memory");
}
extern "C" __global__ void f(float *x)
{
    __shared__ float value[128];
    const int group = threadIdx.x / 128, at = threadIdx.x % 128;
    value[at] = at;
    wait_for(group);
    if (group == 0) {
        value[at] *= 0.5f;
    } else {
        value[at] += 1.0f;
    }
}"""


@pytest.mark.parametrize("thread, line", [(0, 12), (128, 14), (None, 12)])
def test_a_line_of_a_helper_is_left_for_one_after_its_call_that_the_thread_comes_by(thread, line):
    at = Location("a.cu", 3, function="wait_for")
    who = None if thread is None else (thread, 0, 0)
    race = Finding(
        DATA_RACE, f"reads it at {at}", at, who, array="value", cause=Cause.TURN_NOT_PASSED
    )
    assert where_used(race, TURNS, "a.cu").location.line == line
    assert where_used(race, TURNS.replace("value[at] *", "at *"), "a.cu").location.line in (14, 3)


def test_a_guard_is_told_beside_the_index_that_it_lets_through():
    told = guard_and_index(found(X_LINE), SOURCE, {"K": 100})
    assert told == "Line 7 tests k < K, and K is 100. x has 3 elements, and the index is 3 * k."
    other = SOURCE.replace("x[3 * k]", "x[row + 1]")
    told = guard_and_index(found(X_LINE), other, {"K": 100})
    assert told == "Line 7 tests k. The index of x is row + 1."
    assert not guard_and_index(found(X_LINE, cause=Cause.OUTSIDE_ARRAY), SOURCE, {"K": 100})
    assert not guard_and_index(found(9), SOURCE, {})


def test_a_race_at_one_index_of_rows_is_told_by_row_and_declaration():
    race = Finding(DATA_RACE, "text", array="sums", index=8, cause=Cause.SAME_ELEMENT_WRITTEN)
    told = in_dimensions(race, SOURCE, {})
    assert "sums[8] is sums[1][0]" in told and "sums[32][8]" in told
    assert not in_dimensions(race, SOURCE, {"sums": 1})


def test_a_load_that_the_compiler_moves_out_of_a_loop_is_shown_in_the_loop():
    exercise = find("06.gemv_of_columns")
    outcome = run_source(exercise, exercise.solution.replace("* x[row]", "* x[k]"), first_line=2)
    assert outcome.cause == Cause.OUTSIDE_ARRAY_GUARDED
    assert "->  18 |" in outcome.verdict.excerpt and "->  12 |" not in outcome.verdict.excerpt
    assert "Line 16 tests k < K, and K is 100." in outcome.verdict.message
