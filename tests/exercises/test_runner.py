"""Whatever a student types, the answer is a verdict that helps."""

import time
from dataclasses import replace

import numpy as np
import pytest

from course_utils.compiling.compiler_process import CompilerStopped
from course_utils.emulator import KIND_STEPS, OUT_OF_BOUNDS
from course_utils.exercises.authoring import emulated_runs, kinds
from course_utils.exercises.authoring.launches import Launch, empty
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.judging import runner
from course_utils.exercises.judging.runner import run_source
from tests.machine_speed import slowness

SAXPY = find("04.saxpy")
GOOD = SAXPY.solution


def answer(source, exercise=SAXPY):
    return run_source(exercise, source, first_line=2)


def inside(statement):
    """The solution with a statement before its guard."""
    return GOOD.replace("if (i < n) {", f"{statement} if (i < n) {{")


def test_the_pass_line_carries_no_number():
    first, following = str(answer(GOOD)).splitlines()
    assert first == "PASS: 04.saxpy is right at every size tried."
    assert following == '  next: solution("04.saxpy") shows ours, with an explanation.'


CELLS = {
    "blank": (" \n\t\n", kinds.EMPTY, 'reset("04.saxpy")'),
    "python": ("import numpy as np\nx = 1\n", kinds.COMPILE_ERROR, "begins like Python"),
    "prose": ("Dear computer, be fast.", kinds.COMPILE_ERROR, "no __global__ function"),
    "typo": (GOOD.replace("a * x", "a * z"), kinds.COMPILE_ERROR, '"z" is undefined'),
    "missing include": ('#include "no.h"\n' + GOOD, kinds.COMPILE_ERROR, "no.h"),
    "endless template": (
        "template<int N> struct F { static const int v = F<N + 1>::v; };\n"
        + GOOD.replace("a * x", "F<0>::v * x"),
        kinds.COMPILE_ERROR,
        "excessive recursion",
    ),
    "three thousand errors": (
        "\n".join(f"foo{i} = 1;" for i in range(3000)),
        kinds.COMPILE_ERROR,
        "The first error often causes the others",
    ),
    "Greek letter": (GOOD.replace("a * x", "α * x"), kinds.COMPILE_ERROR, "α * x[i]"),
    "zero byte": ("extern \0 void", kinds.COMPILE_ERROR, "compiler"),
    "no kernel": ("int x;", kinds.WRONG_NAME, "there is no kernel in this cell"),
    "other name": (GOOD.replace("void saxpy", "void sxpy"), kinds.WRONG_NAME, "this cell has sxpy"),
    "mangled name": (GOOD.replace('extern "C" ', ""), kinds.WRONG_NAME, 'Put extern "C"'),
    "other type": (
        GOOD.replace("int n", "long long n"),
        kinds.WRONG_SIGNATURE,
        "expected: saxpy(float a, const float *x, float *y, int n)",
    ),
    "too much shared": (
        inside("__shared__ float big[20000]; big[i % 20000] = 1; y[0] = big[3];"),
        kinds.LAUNCH_ERROR,
        "80,000 bytes",
    ),
    "launch bounds": (
        GOOD.replace("void saxpy", "void __launch_bounds__(64) saxpy"),
        kinds.LAUNCH_ERROR,
        "at most 64",
    ),
    "printf for ever": (
        inside('for (int k = 0; k >= 0; ++k) printf("%d", k);'),
        kinds.ENDLESS_LOOP,
        "04.saxpy.cu:10",
    ),
    "assert": (inside("assert(i < 700);"), kinds.ASSERTION, "i < 700"),
    "input written": (inside("if (i < n) ((float*)x)[i] = 1;"), kinds.INPUT_CHANGED, "its input x"),
    "misaligned": (
        inside("if (i == 0) y[0] = *(double*)(x + 1);"),
        kinds.MISALIGNED,
        "04.saxpy.cu:10",
    ),
    "null": (
        GOOD.replace("a * x[i]", "a * x[i] + ((float*)(a < 0))[0]"),
        kinds.NULL_POINTER,
        "04.saxpy.cu:11",
    ),
    "precision": (
        "#include <cuda_fp16.h>\n"
        + GOOD.replace("a * x[i]", "__half2float(__float2half(a * x[i]))"),
        kinds.PRECISION,
        "Look for a narrower type",
    ),
}


@pytest.mark.parametrize("case", CELLS)
def test_a_cell_gets_its_verdict_and_a_word_that_helps(case):
    source, kind, words = CELLS[case]
    outcome = answer(source)
    assert outcome.kind == kind, outcome
    assert words in str(outcome)
    assert outcome._repr_html_()


def test_a_comment_in_any_language_is_no_problem():
    assert answer("// 你好 ✓ é\n" + GOOD).passed


def test_two_megabytes_of_comment_are_no_problem():
    assert answer(GOOD + "// " + "x" * 2_000_000).passed


def test_a_flood_of_printf_is_cut_short_and_is_part_of_the_verdict_only(capsys):
    text = str(answer(inside('for (int k = 0; k < 20; ++k) printf("hello %d\\n", i);')))
    assert text.startswith("PASS") and "hello 0" in text and "more lines" in text
    assert len(text.splitlines()) < 20
    assert capsys.readouterr().out == ""


def test_a_fault_shows_the_line_of_the_cell_with_its_neighbours():
    text = str(answer(GOOD.replace("if (i < n) {", "{")))
    assert text.startswith("OUT OF BOUNDS: thread (232, 0, 0) of block (3, 0, 0) reads x[1000]")
    assert "->  11 |         y[i] = a * x[i] + y[i];" in text
    assert f"next: {KIND_STEPS[OUT_OF_BOUNDS]}" in text


def test_a_race_shows_both_lines_and_both_threads():
    tiled = find("06.tiled_matmul")
    mutant = next(m for m in tiled.mutants if m.name == "no second barrier")
    text = str(answer(mutant.apply(tiled.solution), tiled))
    assert text.startswith("DATA RACE") and text.count("->") == 2 and text.count("thread (") == 2


@pytest.mark.parametrize("name", ["does not wait for the start", "reads at once"])
def test_what_blocks_of_a_cluster_do_at_once_is_ordered_by_a_barrier_of_the_cluster(name):
    row = find("06.row_of_two")
    mutant = next(m for m in row.mutants if m.name == name)
    step = str(answer(mutant.apply(row.solution), row)).partition("next: ")[2]
    assert "cluster_arrive() and then cluster_wait()" in step


def test_the_first_wrong_number_of_a_float2_is_also_told_as_its_member():
    dft = find("06.dft_rows")
    text = str(answer(dft.solution.replace("-2.0f * turns", "2.0f * turns"), dft))
    assert "first wrong: y[2] (y[1].x), expected" in text


def test_a_missed_target_says_what_was_counted():
    slow = find("06.coalesced_matmul")
    outcome = runner.check_source(slow, slow.starter)
    assert outcome.kind == kinds.TARGET_MISSED
    assert outcome.target[1] == 16.5
    fast = answer(slow.solution, slow)
    assert fast.passed and fast.target[1] == 2.5


def test_a_mistake_of_the_course_is_not_blamed_on_the_student(monkeypatch):
    def broken(*args, **options):
        raise ZeroDivisionError("inside")

    monkeypatch.setattr(emulated_runs, "run", broken)
    outcome = answer(GOOD)
    assert outcome.kind == kinds.OUR_FAULT and "not yours" in str(outcome)


ASSEMBLY = {
    "frob.u32 %0, 3;": "Not a name of any known instruction: 'frob'",
    "add.u32 %0, ;": "syntax error",
    "}}}} garbage ((": "syntax error",
    "mov.u32 %0, %%nosuch;": "Unknown symbol '%nosuch'",
    "bra nowhere;": "Unknown symbol 'nowhere'",
    "add.u32 %0, %1, 2, 4;": "Arguments mismatch for instruction 'add'",
    "ld.global.u32 %0, [nosuch];": "nosuch",
    "call nofunc;": "nofunc",
    "mov.u32 %0, 0x;": "error",
}


@pytest.mark.parametrize("text", ASSEMBLY)
def test_what_the_assembler_refuses_is_told_with_its_words_and_the_line(text):
    outcome = answer(inside(f'asm("{text}" : "=r"(n) : "r"(3));'))
    assert outcome.kind == kinds.COMPILE_ERROR, outcome
    assert ASSEMBLY[text] in str(outcome) and "04.saxpy.cu:10: error: in asm:" in str(outcome)


def test_assembly_that_is_right_is_no_problem():
    assert answer(inside('asm("add.s32 %0, %0, 0;" : "+r"(n));')).passed


BOMBS = {
    "doubling macro": "\n".join(
        ["#define A0 1,"] + [f"#define A{n} A{n - 1} A{n - 1}" for n in range(1, 31)]
    )
    + "\n__device__ int t[] = {A30};\n",
    "doubling template": """
template <int N, unsigned K> struct F
{
    static const int v = F<N - 1, 2 * K>::v + F<N - 1, 2 * K + 1>::v;
};
template <unsigned K> struct F<0, K> { static const int v = 1; };
__device__ int t = F<26, 0>::v;
""",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_compiler_that_does_not_end_is_a_verdict_and_the_next_answer_is_as_quick(
    monkeypatch, bomb
):
    start = time.monotonic()
    with monkeypatch.context() as patch:
        patch.setattr(emulated_runs, "COMPILE_SECONDS", 1.0)
        outcome = answer(BOMBS[bomb] + GOOD)
    assert outcome.kind == kinds.COMPILE_ERROR and "still busy after 1 seconds" in str(outcome)
    assert "doubles" in str(outcome)
    assert answer(GOOD + "// a text that no cache holds").passed
    assert time.monotonic() - start < 10 * slowness()


def test_what_is_nested_too_deeply_is_a_verdict_whether_the_compiler_survives_it_or_not():
    deep = GOOD.replace("a * x[i]", "(" * 100_000 + "a * x[i]" + ")" * 100_000)
    assert answer(deep).kind in (kinds.PASS, kinds.COMPILE_ERROR)
    assert answer(GOOD + "// another text that no cache holds").passed


def test_a_source_that_ends_the_compiler_is_a_verdict(monkeypatch):
    def stopped(*args, **options):
        raise CompilerStopped("the compiler itself was ended.\nLook for something.")

    monkeypatch.setattr(emulated_runs, "load", stopped)
    outcome = answer(GOOD)
    assert outcome.kind == kinds.COMPILE_ERROR
    assert "compiler itself was ended.\n  next: Look for something." in str(outcome)


def test_integer_outputs_and_several_launches_work(monkeypatch):
    text = """
extern "C" __global__ void first(const int* x, int* t, int n)
{
    t[threadIdx.x] = x[threadIdx.x];
}
extern "C" __global__ void second(const int* t, int* y, int n)
{
    y[threadIdx.x] = 2 * t[threadIdx.x];
}
// TODO: nothing
// SOLUTION
// END
"""
    monkeypatch.setattr(KernelExercise, "text", property(lambda self: text))
    twice = KernelExercise(
        id="04.twice",
        title="two kernels",
        task="t",
        source="",
        hints=(),
        explanation="e",
        kernel="first",
        inputs=lambda rng, n: {
            "x": rng.integers(1, 100, n).astype(np.int32),
            "t": empty(n, np.int32),
            "y": empty(n, np.int32),
            "n": np.int32(n),
        },
        reference=lambda given: {"t": given["x"], "y": 2 * given["x"]},
        launch=lambda n: (
            Launch((1,), (n,), arguments=("x", "t", "n")),
            Launch((1,), (n,), kernel="second", arguments=("t", "y", "n")),
        ),
        small=(33,),
        full=33,
    )
    assert runner.check_source(twice, twice.solution).passed
    skipping = twice.solution.replace("y[threadIdx.x] =", "if (threadIdx.x % 2) y[threadIdx.x] =")
    assert runner.check_source(twice, skipping).kind == kinds.PARTLY_WRITTEN


def test_nan_that_comes_from_the_input_is_not_called_unwritten():
    exercise = find("04.reversed_copy")
    source = exercise.solution.replace(
        "x[n - 1 - i];", "x[n - 1 - i] + __int_as_float(0x7fc00000);"
    )
    assert run_source(exercise, source).kind == kinds.NOT_A_NUMBER


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32, np.uint8])
def test_outputs_hold_something_else_at_each_seed_before_a_launch(dtype):
    one, two = (emulated_runs.poison(empty(9, dtype), seed) for seed in (1, 2))
    assert one.tobytes() != two.tobytes()
    assert np.dtype(dtype).kind != "f" or (np.isnan(one).all() and np.isnan(two).all())


def test_an_index_below_zero_that_became_unsigned_is_named():
    source = GOOD.replace("a * x[i]", "a * x[(unsigned)(i - 1)]")
    text = str(answer(source))
    assert "reads x[4294967295]" in text
    assert "As an unsigned index, -1 is 4294967295." in text


def test_an_access_of_several_elements_is_told_with_their_size():
    text = str(answer(inside("if (i == 0) y[0] = ((float4*)x)[n / 4].x + ((float4*)x)[n / 4].y;")))
    assert "elements of 16 bytes: this is element 250, and x has room for 250" in text


def test_an_answer_that_is_slow_at_the_targets_size_is_counted_all_the_same():
    exercise = find("03.count_kinds")
    size = 16, 128  # a thread that does its whole block needs more than the usual budget
    exercise = replace(exercise, target=replace(exercise.target, size=size))
    one_thread = exercise.solution.replace(
        "    if (i >= threads) {\n        return;\n    }\n",
        "    if (threadIdx.x) return;\n    for (int end = min(i + 128, threads); i < end; ++i) {\n",
    )
    outcome = answer(one_thread + "}\n", exercise)
    assert outcome.kind == kinds.METHOD_MISSING, outcome
