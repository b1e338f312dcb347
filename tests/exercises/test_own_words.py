"""A verdict speaks of what the cell defines, not of what the course's test has beside it."""

from __future__ import annotations

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.runner import check_source, run_source

HORNER, APPEND = find("02.horner"), find("02.append_first")
RECURSION = HORNER.solution[HORNER.solution.index("    if const") : HORNER.solution.index("extern")]
WRITTEN_OUT = (
    "    return c[0] + x * (c[1] + x * (c[2] + x * (c[3] + x * (c[4] + x * c[5]))));\n}\n\n"
)


def test_another_call_of_a_function_is_named_by_its_arguments():
    outcome = run_source(HORNER, HORNER.solution.replace(RECURSION, WRITTEN_OUT))
    assert outcome.kind == kinds.WRONG
    assert outcome.verdict.message.startswith("horner with kDegree = 2: expected ")
    assert "others" not in str(outcome)
    assert "in another way than the cell's own kernel" in outcome.verdict.hint


def test_a_kernel_that_counts_results_calls_nothing_of_the_cell():
    exercise = find("04.one_draw")
    inclusive = exercise.solution.replace("(1u <<", "(2u <<")
    verdict = check_source(exercise, inclusive).verdict
    assert verdict.message.startswith("how often vertex ")
    assert "counted this in the output of yours" in verdict.hint


def test_an_output_that_no_call_wrote_is_not_named_either():
    mutant = next(m for m in find("02.each_index").mutants if m.kind == kinds.NOTHING_WRITTEN)
    exercise = find("02.each_index")
    outcome = check_source(exercise, mutant.apply(exercise.solution))
    assert outcome.kind == kinds.NOTHING_WRITTEN
    assert outcome.verdict.message.startswith("each_index(400, body)")


def test_a_fault_is_that_of_the_program_s_own_numbers():
    verdict = check_source(APPEND, APPEND.starter).verdict
    assert verdict.kind == kinds.USE_AFTER_FREE
    assert "a block of 8 bytes" in verdict.message  # two ints
    assert verdict.case is not None and verdict.case.lines == ("2", "4 7")


def test_a_line_that_the_course_prints_is_no_line_of_the_program():
    by_value = APPEND.solution.replace("std::vector<int> &x", "std::vector<int> x")
    verdict = check_source(APPEND, by_value).verdict
    assert "'4 7', expected '4 7 4 4 4'" in verdict.message
    once = APPEND.solution.replace("int k = 0", "static int k = 0")
    verdict = check_source(APPEND, once).verdict
    assert verdict.message.startswith("the test program finds: append_first leaves 1 2 3 as")
    assert "test program" not in verdict.printed
