"""A verdict names a habit from Python, and what the compiler warned of."""

from types import SimpleNamespace

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.kernel_answer import with_warnings
from course_utils.exercises.judging.runner import run_source

SAXPY = find("04.saxpy")


def test_the_compiler_s_hint_is_the_habit_and_is_given_once():
    wrong = SAXPY.solution.replace("a * x[i] + y[i]", "a * x[i] if x[i] > 0 else y[i]")
    assert wrong != SAXPY.solution
    outcome = run_source(SAXPY, wrong)
    assert outcome.kind == kinds.COMPILE_ERROR
    assert str(outcome).count("`c ? a : b`") == 1 and "semicolon" not in str(outcome)


def test_the_verdict_names_the_habit_and_what_the_compiler_warned_of():
    outcome = run_source(SAXPY, SAXPY.solution.replace("x[i] + y", "x[i, 0] + y"))
    assert outcome.kind == kinds.WRONG
    assert "In line 10, `a[i, j]` is `a[j]`" in str(outcome)
    assert "warning #174-D: expression has no effect" in str(outcome)


def test_a_fraction_of_two_integers_is_named():
    outcome = run_source(SAXPY, SAXPY.solution.replace("x[i] + y", "x[i] + (1 / 8) * y"))
    assert "In line 10, `1 / 8` of two integers is 0" in str(outcome)
    outcome = run_source(SAXPY, SAXPY.solution.replace("x[i] + y", "x[i] * 1 / 8 + y"))
    assert "two integers" not in str(outcome)


def test_what_the_compiler_says_of_a_header_is_no_business_of_the_student():
    mine = "saxpy.cu(10): warning #174-D: expression has no effect"
    theirs = '/usr/include/cub/warp/warp_reduce.cuh(132): warning #1444-D: declared "deprecated"'
    wrong = run_source(SAXPY, SAXPY.solution.replace("x[i] + y", "x[i] - y"))
    told = str(with_warnings(wrong, SimpleNamespace(warnings=f"{theirs}\n{mine}\n")))
    assert mine in told and "cub" not in told
    assert with_warnings(wrong, SimpleNamespace(warnings=theirs)) == wrong


def test_a_right_answer_is_not_looked_through():
    extra = SAXPY.solution.replace("if (i < n) {", "int unused;\n    if (-1 < i < 2 || i < n) {")
    assert "warns" not in str(run_source(SAXPY, SAXPY.solution + "\n// a ** b"))
    assert "unused" not in str(run_source(SAXPY, extra)).split("next:")[0].split("the compiler")[-1]


def test_a_right_answer_is_told_what_nvcc_refuses():
    helper = "float same(float v) { return v; }\n\n"
    source = SAXPY.solution.replace("= a * x[i]", "= same(a) * x[i]").replace(
        "extern", f"{helper}extern"
    )
    outcome = run_source(SAXPY, source)
    assert outcome.passed and "same has no __device__" in outcome.verdict.excerpt
