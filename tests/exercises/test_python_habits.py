"""What a Python programmer writes by habit is named, and good C++ is left alone."""

from types import SimpleNamespace

import pytest

from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.kernel_answer import with_warnings
from course_utils.exercises.judging.python_habits import python_habits
from course_utils.exercises.judging.runner import run_source
from course_utils.paths import KERNELS

SAXPY = find("04.saxpy")
HABITS = {
    "float y = x ** 2;": "no power",
    "y[i, j] = 1.0f;": "`a[j]` in C++",
    "if (0 <= i < n) {": "write `a < b && b < c`",
    "    __syncthreads;": "is not called",
    "int half = n // 2;": "begins a comment",
    "for (int k = 0; k < n // 2; ++k) {": "begins a comment",
    "elif (i > n) {": "else if",
    "bool done = False;": "`true`",
    "print(i);": "no `print`",
    "y[i] = x^2;": "exclusive or",
}


@pytest.mark.parametrize("line", HABITS)
def test_a_habit_is_named_with_its_line(line):
    ((number, remark),) = python_habits(f"// a comment\n{line}\n")
    assert number == 2 and HABITS[line] in remark


@pytest.mark.parametrize(
    "line",
    [
        "float** rows, *row = *rows;",
        "__syncthreads();  // what the step before wrote; is there",
        "auto swap = [&a, &b] { f(a, b); };",
        "const auto [row, column] = where(v);",
        "auto const [row, column] = where(v);",
        "return [f, g](auto x) { return g(f(x)); };",
        "const bool inside = 0 <= i && i < n;",
        "int partner = lane ^ 16;",
        "// a ** b, a[i, j], True",
        'printf("%d, %d", True_i, lenient(1));',
    ],
)
def test_good_code_is_left_alone(line):
    assert not python_habits(line)


def test_a_line_of_four_hundred_characters_is_looked_at_and_a_longer_one_is_not():
    habit = "x = a[i, j];"
    assert python_habits(habit.rjust(400)) and not python_habits(habit.rjust(401))


def test_no_kernel_of_the_course_has_such_a_habit():
    assert not [
        (file.name, found)
        for file in KERNELS.rglob("*.cu*")
        if (found := python_habits(file.read_text(encoding="utf-8")))
    ]


def test_the_verdict_names_the_habit_and_what_the_compiler_warned_of():
    outcome = run_source(SAXPY, SAXPY.solution.replace("x[i] + y", "x[i, 0] + y"))
    assert outcome.kind == kinds.WRONG
    assert "In line 10, `a[i, j]` is `a[j]`" in str(outcome)
    assert "warning #174-D: expression has no effect" in str(outcome)


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
