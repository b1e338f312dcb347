"""One marked file gives the starter and the solution."""

import pytest

from course_utils.exercises.authoring.markers import MarkerError, solution_of, starter_of

TEXT = """\
int before;
    // TODO: declare i,
    //       and use it
    // STARTER
    //| int i = 0;
    //|
    // SOLUTION
    int i = threadIdx.x;
    // END
int after;
"""


def test_the_starter_keeps_the_todo_and_its_own_lines():
    assert starter_of(TEXT) == (
        "int before;\n    // TODO: declare i,\n    //       and use it\n"
        "    int i = 0;\n\nint after;\n"
    )


def test_the_solution_keeps_only_the_solution():
    assert solution_of(TEXT) == "int before;\n    int i = threadIdx.x;\nint after;\n"


def test_python_files_use_hashes():
    marked = ("# TODO: one", "# STARTER", "#| return 0", "# SOLUTION", "return 1", "# END")
    text = "\n    ".join(("def f():", *marked)) + "\n"
    assert starter_of(text) == "def f():\n    # TODO: one\n    return 0\n"
    assert solution_of(text) == "def f():\n    return 1\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("int a;\n", "no TODO and no BUG region"),
        ("// TODO: a\n// SOLUTION\n", "no END"),
        ("// SOLUTION\n// END\n", "SOLUTION without a TODO"),
        ("// TODO: a\nint b;\n// SOLUTION\n// END\n", "code between TODO and SOLUTION"),
        ("// TODO: a\n// STARTER\nint b;\n// SOLUTION\n// END\n", "begins with //|"),
        ("// TODO: a\n// SOLUTION\n// TODO: b\n", "TODO inside another region"),
    ],
)
def test_markers_that_do_not_pair_up_are_refused_with_their_line(text, problem):
    with pytest.raises(MarkerError, match=problem.replace("|", r"\|")):
        solution_of(text, "x.cu")
