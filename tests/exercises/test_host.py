"""C and C++ exercises: compiled with what is at hand, stopped before they do harm."""

import time
from dataclasses import replace

import pytest

from course_utils.compiling.host_compilers import host_compiler
from course_utils.exercises.authoring import kinds, spec
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.authoring.spec import HostExercise
from course_utils.exercises.judging import host_answer, verify
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.verify import proofs
from course_utils.host_programs.building import finds_addresses
from tests.machine_speed import slowness

SUM = """\
#include <stdio.h>
#include <stdlib.h>

// The sum of n integers that are read from the input.
int main(void)
{
    int n;
    if (scanf("%d", &n) != 1) return 1;
    int* x = malloc(n * sizeof *x);
    for (int i = 0; i < n; ++i) {
        if (scanf("%d", &x[i]) != 1) return 1;
    }
    int sum = 0;
    // TODO: add up all n numbers
    // SOLUTION
    for (int i = 0; i < n; ++i) sum += x[i];
    // END
    printf("%d\\n", sum);
    free(x);
    return 0;
}
"""
DRIVER = """\
#include <cstdio>
#include <iostream>
int twice(int x);
int main() { int x; std::cin >> x; const int y = twice(x); printf("%d", y); printf("\\n"); }
"""
LOOP = "for (int i = 0; i < n; ++i) sum"

needs_compiler = pytest.mark.skipif(host_compiler("c") is None, reason="needs a C compiler")
needs_sanitizers = pytest.mark.skipif(
    host_compiler("c") is None or not finds_addresses(host_compiler("c")),
    reason="needs a C compiler with sanitizers",
)


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("1\n3", "line 2 that the program prints is '3', expected '2'."),
        ("0\n2", "line 1 that the program prints is '0', expected '1'."),
        ("1", "line 2 that the program prints is nothing, expected '2'."),
        ("1\n2\n4", "line 3 that the program prints is '4', expected no such line."),
        ("", "the program printed nothing."),
        ("f(1) is 3, expected 2", "the program prints is 'f(1) is 3, expected 2', expected '1'."),
    ],
)
def test_the_first_line_that_is_wrong_is_told_by_its_number(output, message):
    assert message in host_answer._compare(output, "1\n2\n", by_driver=False).message
    assert host_answer._compare("1  \n2\n\n", "1\n2", by_driver=False) is None


def test_a_test_program_that_has_compared_by_itself_says_what_it_found():
    found = host_answer._compare("f(1) is 3, expected 2\n", "right\n", by_driver=True)
    assert found.message == "the test program finds: f(1) is 3, expected 2."
    assert "line 1 that" in host_answer._compare("3\n", "2\n", by_driver=True).message
    further = host_answer._compare("2\na second call gives 3\n", "2\n", by_driver=True)
    assert further.message.endswith("and then the test program finds: a second call gives 3.")
    assert further.hint == host_answer.AFTER_RIGHT_LINES


@pytest.fixture
def exercise(tmp_path, monkeypatch):
    """An exercise as chapter 02 will have them, in a folder of its own."""
    monkeypatch.setattr(spec, "KERNELS", tmp_path)
    monkeypatch.setattr(host_answer, "KERNELS", tmp_path)
    (tmp_path / "sum.c").write_text(SUM)
    return HostExercise(
        id="02.sum",
        title="add up",
        task="t",
        source="sum.c",
        hints=(),
        explanation="e",
        cases=("3\n10 20 30\n", "1\n-7\n"),
        reference=lambda text: f"{sum(map(int, text.split()[1:]))}\n",
        seconds=1.0,
        mutants=(
            spec.Mutant("never adds", kinds.WRONG_OUTPUT, (("sum += x[i]", "sum += 1"),)),
            spec.Mutant("no semicolon", kinds.COMPILE_ERROR, (("sum += x[i];", "sum += x[i]"),)),
        ),
    )


@needs_compiler
def test_a_c_exercise_is_proved_like_any_other(exercise):
    assert all(proof.holds for proof in proofs(exercise))


def test_a_proof_stops_an_endless_loop_sooner_and_keeps_the_notebook(exercise, monkeypatch):
    tried = []

    def check_source(given, text):
        tried.append(given)
        return run_source(given, "")

    monkeypatch.setattr(verify, "check_source", check_source)
    list(
        proofs(exercise.with_fields(notebook="02_c_and_cpp/01_sums", seconds=5.0), mutants=slice(0))
    )
    assert {(e.notebook, e.seconds) for e in tried} == {("02_c_and_cpp/01_sums", 2.0)}


@needs_compiler
def test_an_answer_that_is_right_in_the_first_case_alone_does_not_pass(exercise):
    first = run_source(exercise, exercise.solution.replace("sum += x[i]", "sum = 60"))
    assert first.kind == kinds.WRONG_OUTPUT and "expected '-7'" in str(first)


WRONG = {  # what is replaced by what, the verdict, and a word of it
    "one too many": (LOOP, LOOP.replace("<", "<="), kinds.OUT_OF_BOUNDS, "reads 4 bytes"),
    "leak": ("free(x);", "", kinds.MEMORY_LEAK, "12 bytes are never freed"),
    "used after free": ("printf(", "free(x); x[0] = 1; printf(", kinds.USE_AFTER_FREE, "writes"),
    "freed twice": ("free(x);", "free(x); free(x);", kinds.USE_AFTER_FREE, "double free"),
    "null": ("int sum = 0;", "int* z = 0; int sum = *z;", kinds.NULL_POINTER, "null pointer"),
    "overflow": ("int sum = 0;", "int sum = 2147483647;", kinds.UNDEFINED, "integer overflow"),
    "segfault": (
        "int sum = 0;",
        "int sum = *(volatile int*)(n * 1048576L + 4096);",
        kinds.CRASHED,
        "SEGV",
    ),
    "deep recursion": (
        "int main(void)",
        "int f(int n) { volatile int a[99]; a[n % 99] = n; return f(n + 1) + a[3]; }\n"
        "int (*go)(int) = f;\nint main(void)",
        kinds.STACK_OVERFLOW,
        "stack overflow",
    ),
}


@needs_sanitizers
def test_a_stack_overflow_is_seen_where_the_shell_sets_no_limit(exercise):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_STACK)
    if before[1] != resource.RLIM_INFINITY:
        pytest.skip("this system limits every stack")
    resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY, before[1]))
    try:
        test_a_fault_is_a_verdict_with_its_line(exercise, "deep recursion")
    finally:
        resource.setrlimit(resource.RLIMIT_STACK, before)


@needs_sanitizers
@pytest.mark.parametrize("case", WRONG)
def test_a_fault_is_a_verdict_with_its_line(exercise, case):
    old, new, kind, word = WRONG[case]
    source = exercise.solution.replace(old, new)
    if case == "deep recursion":
        source = source.replace("sum = 0", "sum = 0 * go(n)")
    patient = replace(exercise, seconds=30.0)  # none of these is about time
    outcome = run_source(patient, source, first_line=2)
    assert outcome.kind == kind, outcome
    assert word in str(outcome) and "->" in outcome.verdict.excerpt


@needs_compiler
def test_a_typo_shows_line_and_caret(exercise):
    source = exercise.solution.replace("sum += x[i]", "sum += z[i]")
    outcome = run_source(exercise, source, first_line=2)
    assert outcome.kind == kinds.COMPILE_ERROR
    assert "line 15: 'z' undeclared" in str(outcome).replace("‘", "'").replace("’", "'")
    assert "^" in outcome.verdict.excerpt and "02.sum.c:15" in outcome.verdict.excerpt


@needs_compiler
def test_a_missing_main_and_a_missing_header_are_named(exercise):
    other = run_source(exercise, exercise.solution.replace("int main", "int mein"))
    assert other.kind == kinds.WRONG_NAME and "no definition of main" in str(other)
    other = run_source(exercise, "#include <no.h>\n" + exercise.solution)
    assert other.kind == kinds.COMPILE_ERROR and "no.h" in str(other)


@needs_compiler
def test_an_endless_program_and_a_flood_end_in_seconds(exercise):
    start = time.monotonic()
    endless = exercise.solution.replace(LOOP, f"for (volatile int k = 0; k < 1;) {{}} {LOOP}")
    assert run_source(exercise, endless).kind == kinds.TIME_LIMIT
    flood = exercise.solution.replace(LOOP, f'for (;;) printf("a long, long line\\n"); {LOOP}')
    outcome = run_source(exercise, flood)
    assert outcome.kind in (kinds.RESOURCE_LIMIT, kinds.TIME_LIMIT) and len(str(outcome)) < 4000
    assert time.monotonic() - start < 10 * slowness()


@needs_compiler
def test_a_right_answer_shows_the_compiler_s_warnings(exercise):
    outcome = run_source(exercise, exercise.solution.replace("int sum", "int idle; int sum"))
    assert outcome.passed and "the compiler warns" in str(outcome) and "idle" in str(outcome)


@pytest.fixture
def twice(exercise, tmp_path):
    """A function in C++ that a main function of the course calls."""
    (tmp_path / "main.cpp").write_text(DRIVER)
    fields = {name: getattr(exercise, name) for name in ("title", "task", "hints")}
    return HostExercise(
        id="02.twice",
        source="sum.c",
        explanation="e",
        cases=("4\n",),
        reference=lambda text: "8",
        standard="c++17",
        driver="main.cpp",
        **fields,
    )


@needs_compiler
def test_a_cpp_function_is_called_by_the_course_s_main(twice):
    assert run_source(twice, "int twice(int x) { return 2 * x; }").passed
    wrong = run_source(twice, "int twice(int x) { return x; }")
    assert wrong.kind == kinds.WRONG_OUTPUT and "'4', expected '8'" in str(wrong)
    assert run_source(twice, "int thrice(int x) { return 3 * x; }").kind == kinds.WRONG_NAME


WITH_MAIN = """\
#include <stdio.h>
#include <stdlib.h>
%sint twice(int x) { return 2 * x; }
int main(void) { printf("%%d\\n", twice(4)); return 0; }
"""
HELD = """\
#include <stdio.h>
#include <stdlib.h>
static int blocks;
void *watched_malloc(size_t bytes) { ++blocks; return malloc(bytes); }
int try_twice(int x);
int main(void)
{
    int x;
    if (scanf("%d", &x) != 1) return 1;
    const int y = try_twice(x);
    printf("%d, %d blocks\\n", y, blocks);
    return 0;
}
"""


@pytest.fixture
def held(twice, tmp_path):
    """The same in C, for a cell with a main function of its own."""
    (tmp_path / "held.c").write_text(HELD)
    return replace(
        twice,
        cases=("4", "5"),
        reference=lambda text: f"{2 * int(text)}, 0 blocks",
        standard="c11",
        driver="held.c",
        before="#include <stdlib.h>\nvoid *watched_malloc(size_t);\n"
        "#define malloc watched_malloc\n",
        probe="int try_twice(int x) { return twice(x); }",
    )


@needs_compiler
@pytest.mark.parametrize("kind", ["", "static ", "// int\n"])
def test_a_cell_s_own_main_is_not_run(held, kind):
    assert run_source(held, WITH_MAIN % kind).passed
    without = (WITH_MAIN % kind).partition("int main")[0]
    assert run_source(held, without).passed
    forged = (WITH_MAIN % kind).replace("2 * x", "8").replace("twice(4)", "10")
    assert run_source(held, forged).kind == kinds.WRONG_OUTPUT


@needs_compiler
def test_a_driver_sees_the_calls_that_are_named_ahead_of_the_cell(held):
    asks = (WITH_MAIN % "").replace("return 2 * x", "free(malloc(4)); return 2 * x")
    outcome = run_source(held, asks)
    assert outcome.kind == kinds.WRONG_OUTPUT and "'8, 1 blocks'" in str(outcome)


@needs_compiler
def test_a_function_of_another_name_is_missed_by_its_name(held):
    outcome = run_source(held, (WITH_MAIN % "").replace("twice", "thrice"))
    assert outcome.kind == kinds.WRONG_NAME and "twice" in outcome.verdict.message, outcome
    typo = run_source(held, (WITH_MAIN % "").replace("2 * x", "2 * z"))
    assert typo.kind == kinds.COMPILE_ERROR and "'z'" in str(typo).replace("‘", "'").replace(
        "’", "'"
    )


@needs_compiler
def test_of_a_long_line_only_the_beginning_is_shown(held):
    long = replace(held, reference=lambda text: "7" * 100_000)
    assert len(str(run_source(long, WITH_MAIN % ""))) < 2000


FORGED = {
    "prints the answer and ends": 'printf("8\\n"); exit(0);',
    "without the library's end": 'printf("8\\n"); fflush(stdout); _exit(0);',
    "leaves nothing of what comes after": 'printf("8\\n"); fclose(stdout);',
    "knows how it is marked": 'printf("<8\\n>"); exit(0);',
}


@needs_compiler
@pytest.mark.parametrize("how", FORGED)
def test_what_a_function_prints_is_not_the_answer_of_the_test_program(twice, how):
    headers = "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n"
    outcome = run_source(twice, f"{headers}int twice(int x) {{ {FORGED[how]} return x; }}")
    assert outcome.kind == kinds.NOTHING_PRINTED, outcome
    assert (
        "ended without an answer: does your function call exit()?" in str(outcome)
        and "8" in outcome.verdict.printed
    )


@needs_compiler
def test_debugging_lines_do_not_make_a_right_function_wrong(twice):
    answer = '#include <cstdio>\nint twice(int x) { printf("x = %d", x); return 2 * x; }'
    assert run_source(twice, answer).passed
    wrong = run_source(twice, answer.replace("2 * x", "x"))
    assert wrong.kind == kinds.WRONG_OUTPUT and wrong.verdict.printed == "x = 44"


@needs_compiler
def test_a_function_that_prints_more_than_is_read_is_told_so(twice):
    loop = 'for (int i = 0; i < 99999; ++i) puts("q");'
    outcome = run_source(twice, f"#include <cstdio>\nint twice(int x) {{ {loop} return 2 * x; }}")
    assert outcome.kind == kinds.RESOURCE_LIMIT and "100 kB" in str(outcome)


def test_the_words_around_the_answer_are_others_each_time_and_in_no_file(twice, monkeypatch):
    seen = []

    def unsealed(output, seal):
        seen.append(seal)
        return output, output

    monkeypatch.setattr(host_answer, "_unsealed", unsealed)
    stolen = '#include "sealed.h"\nint twice(int x) { return 2 * x; }'
    assert run_source(twice, stolen).kind == kinds.COMPILE_ERROR
    stolen = stolen.replace("sealed.h", "main.cpp")
    assert run_source(twice, stolen).kind == kinds.COMPILE_ERROR
    for _ in range(2):
        run_source(twice, "int twice(int x) { return 2 * x; }")
    assert len(set(seen)) == 2 and all(len(seal) == 32 for seal in seen)


def test_without_a_compiler_the_verdict_says_how_to_get_one(exercise, monkeypatch):
    monkeypatch.setattr(host_answer, "host_compiler", lambda language: None)
    outcome = run_source(exercise, "int main(void) { return 0; }")
    assert outcome.kind == kinds.NO_COMPILER
    assert "needs a C compiler" in str(outcome) and "build-essential" in str(outcome)
    assert all(proof.skipped and proof.holds for proof in proofs(exercise))


@needs_compiler
def test_an_input_without_anything_is_told(exercise):
    silent = replace(exercise, cases=("", *exercise.cases), reference=lambda case: "0")
    wrong = "int main(void) { return 0; }\n"
    assert "(input: none at all)" in str(run_source(silent, wrong))


@needs_compiler
def test_a_line_that_differs_is_below_the_one_expected_and_the_input():
    exercise = find("02.swap_any")
    wrong = exercise.solution.replace("i < size;", "i + 1 < size;")
    verdict = run_source(exercise, wrong).verdict
    rows = [line.split() for line in verdict.case.lines]
    assert rows[0] == ["input", "1", "2"]
    assert rows[1] == ["expected", "2", "1", "d", "c", "0.25", "0.125"]
    assert rows[2] == ["got", "2", "1", "c", "d", "0.25", "0.125"]
    assert verdict.printed.count("bytes are wrong") == 2  # of twelve that are alike
    assert "two blocks of 1: 2 bytes" in verdict.printed


def test_lines_that_differ_in_their_numbers_alone_are_shown_once():
    text = "a\n" + "".join(f"x[{i}] is 0\n" for i in range(9)) + "b 1\nb 2\n"
    assert host_answer._once(text).splitlines() == [
        "a",
        "x[0] is 0",
        "x[1] is 0",
        "... and 7 more lines like these",
        "b 1",
        "b 2",
    ]
