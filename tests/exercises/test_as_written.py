"""Wrong numbers whose cause the optimiser removed: a launch without it names the cause."""

from __future__ import annotations

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging import as_written
from course_utils.exercises.judging.runner import check_source


def test_an_array_of_a_thread_that_is_too_short_is_the_cause_of_wrong_numbers():
    exercise = find("06.four_vectors")
    source = exercise.solution.replace("float sum[kVectors] = {};", "float sum[2] = {};")
    verdict = check_source(exercise, source).verdict
    assert verdict.kind == kinds.OUT_OF_BOUNDS
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "sum[v] += a" in text)
    assert f"->  {line} |" in verdict.excerpt
    assert "M = 2, K = 3" in verdict.message  # the case with the fewest numbers


def test_wrong_numbers_without_a_hidden_cause_stay_wrong_numbers(monkeypatch):
    tried = []
    run = as_written._run
    monkeypatch.setattr(as_written, "_run", lambda *a: tried.append(a[1]) or run(*a))
    exercise = find("06.coalesced_matmul")
    source = exercise.solution.replace("A[row * K + k] *", "2.5f +")
    outcome = check_source(exercise, source)
    assert outcome.kind == kinds.WRONG
    assert tried == [source]
    assert outcome.verdict.case is not None
