"""Wrong numbers whose cause the optimiser removed: a launch without it names the cause."""

from __future__ import annotations

from course_utils.emulator import Cause
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import all_exercises, find
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


def test_an_index_of_a_variable_that_was_never_set_is_the_cause_of_its_fault():
    exercise = find("06.coalesced_matmul")
    unset = "int base; if (M > 99999) base = M;\n    const int row ="
    source = exercise.solution.replace("const int row =", unset)
    source = source.replace("A[row * K + k]", "A[base + row * K + k]")
    verdict = check_source(exercise, source).verdict
    assert (verdict.kind, verdict.cause) == (kinds.UNINITIALISED, Cause.VARIABLE_NOT_INITIALISED)
    line = next(n for n, text in enumerate(source.splitlines(), 1) if "A[base" in text)
    assert f"->  {line} |" in verdict.excerpt and "M = " in verdict.message
    plain = check_source(exercise, source.replace("int base;", "int base = M;"))
    assert plain.kind == kinds.OUT_OF_BOUNDS


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


def test_sums_of_cute_that_nothing_sets_are_seen_in_the_source():
    solution = find("08.gemm_by_layouts").solution
    assert solution.count("clear(sum);") == 1
    verdict = as_written.unset_fragment(solution.replace("clear(sum);", ""))
    assert verdict.kind == kinds.UNINITIALISED and "clear(sum);" in verdict.hint
    for other in ("fill(sum, 0.0f);", "for (int i = 0; i < size(sum); ++i) sum(i) = 0.0f;"):
        assert as_written.unset_fragment(solution.replace("clear(sum);", other)) is None


def test_no_solution_has_sums_that_nothing_sets():
    users = [e for e in all_exercises() if "gemm(" in e.solution]
    assert users and not [e.id for e in users if as_written.unset_fragment(e.solution)]
