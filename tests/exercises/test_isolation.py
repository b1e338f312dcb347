"""What runs in its own process can neither hang nor take the notebook down.

The separate process runs on the emulator here, at a small size; on a GPU it is the same process.
"""

import time

import pytest

from course_utils.exercises import kinds
from course_utils.exercises.full_size import run_full
from course_utils.exercises.isolated import call
from course_utils.exercises.registry import find
from course_utils.exercises.runner import run_source

SAXPY = find("04.saxpy")


@pytest.fixture(autouse=True)
def on_the_emulator(monkeypatch):
    monkeypatch.setenv("COURSE_DEVICE", "emulator")


def full(source, **options):
    return run_full(SAXPY, source, run_source(SAXPY, SAXPY.solution), size=1000, **options)


def test_a_right_answer_passes_at_full_size():
    assert full(SAXPY.solution).passed


def test_a_wrong_result_at_full_size_is_a_verdict():
    outcome = full(SAXPY.solution.replace("i < n", "i < n && i != 900"))
    assert not outcome.passed and "at full size (1000)" in str(outcome)


def test_a_fault_at_full_size_is_a_verdict():
    outcome = full(SAXPY.solution.replace("if (i < n) {", "{"))
    assert outcome.kind == kinds.CRASHED and "x[1000]" in str(outcome)


def test_an_answer_that_takes_too_long_is_ended_with_its_whole_group():
    start = time.monotonic()
    outcome = full(SAXPY.solution, seconds=0.05)
    assert outcome.kind == kinds.TIME_LIMIT
    assert time.monotonic() - start < 5


def test_a_process_that_dies_without_an_answer_is_reported():
    answer = call("course_utils.no_such_module", {}, 20)
    assert answer.result is None and answer.status != 0 and "no_such_module" in answer.output
