"""What a judgement rests on: two draws of the data, every launch, every case, the exact target."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from course_utils.checking import judge
from course_utils.exercises.authoring import domain, emulated_runs, kinds, launches
from course_utils.exercises.authoring.launches import Launch, empty, floats
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.judging import behaviour_checks, kernel_answer
from course_utils.exercises.judging.python_answer import _right, judged
from course_utils.exercises.judging.python_process import answers
from course_utils.exercises.judging.runner import check_source

SAXPY = find("04.saxpy")
COALESCED = find("06.coalesced_matmul")
ONE_KERNEL = """
extern "C" __global__ void first(const int* x, int* y, int n)
{
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x];
}
// TODO: nothing
// SOLUTION
// END
"""
RACING = """
extern "C" __global__ void %s(int* y, int n)
{
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    %s
    y[threadIdx.x] = s[63 - threadIdx.x];
}
"""


def made(monkeypatch, text: str, **fields) -> KernelExercise:
    """An exercise whose solution is ``text``."""
    monkeypatch.setattr(KernelExercise, "text", property(lambda self: text))
    given = {"id": "04.made", "title": "made", "task": "t", "source": "", "hints": ()}
    return KernelExercise(**given, explanation="e", full=1, **fields)


def test_arrays_in_a_tuple_are_as_near_as_the_exercise_allows():
    want = np.float32([1, 2, 3]), 4
    near = np.float32([1, 2, 3.0001]), 4
    assert _right(near, want, 1e-3) and not _right(near, want)
    assert not _right((near[0].astype(np.float64), 4), want, 1e-3)
    assert not _right((np.float32([1, np.nan, 3]), 4), want, 1e-3)


def test_an_answer_that_knows_the_data_of_one_seed_does_not_pass(monkeypatch):
    exercise = made(
        monkeypatch,
        ONE_KERNEL,
        kernel="first",
        inputs=lambda rng, n: {
            "x": rng.integers(1, 1000, n).astype(np.int32),
            "y": empty(n, np.int32),
            "n": np.int32(n),
        },
        reference=lambda given: {"y": given["x"]},
        launch=lambda n: Launch((1,), (n,)),
        small=(32,),
    )
    assert check_source(exercise, exercise.solution).passed
    for seed in (1, 2):
        known = ", ".join(map(str, exercise.inputs(np.random.default_rng(seed), 32)["x"]))
        table = f"const int known[] = {{{known}}};\n    if (threadIdx"
        knowing = ONE_KERNEL.replace("if (threadIdx", table).replace("= x[", "= known[")
        assert check_source(exercise, knowing).kind == kinds.WRONG


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, bool])
def test_what_an_output_of_integers_starts_with_differs_between_the_seeds(dtype):
    output = launches.Empty((5,), np.dtype(dtype))
    one, two = (emulated_runs.poison(output, seed) for seed in kernel_answer.SEEDS)
    assert (one.view(np.uint8) != two.view(np.uint8)).all()


@pytest.mark.parametrize("at", ["n", "100000"])
def test_a_fault_is_told_before_an_uninitialised_value_of_another_line(at):
    source = SAXPY.solution.replace(
        "if (i < n) {",
        f"""__shared__ volatile float s[2];
        if (s[i & 1] > 0) y[0] = 2;
        y[i + {at}] = 1;
        if (i < n) {{""",
    )
    assert check_source(SAXPY, source).kind == kinds.OUT_OF_BOUNDS
    assert check_source(SAXPY, source.replace("y[i +", "if (!n) y[i +")).kind == kinds.UNINITIALISED


@pytest.mark.parametrize("racing", [0, 1, 2])
def test_a_race_in_any_of_three_launches_is_found(monkeypatch, racing):
    text = "".join(
        RACING % (name, "" if n == racing else "__syncthreads();") for n, name in enumerate("abc")
    )
    exercise = made(
        monkeypatch,
        text + "// TODO: nothing\n// SOLUTION\n// END\n",
        kernel="a",
        inputs=lambda rng, n: {"y": empty(n, np.int32), "n": np.int32(n)},
        reference=lambda given: {"y": np.ones(64, np.int32)},
        launch=lambda n: tuple(Launch((1,), (n,), kernel=name) for name in "abc"),
        small=(64,),
    )
    assert check_source(exercise, exercise.solution).kind == kinds.DATA_RACE


def test_a_target_is_met_to_the_last_unit_and_missed_by_four_per_cent():
    measured = 2.5
    met = replace(COALESCED, target=replace(COALESCED.target, at_most=measured))
    assert check_source(met, met.solution).passed
    missed = replace(COALESCED, target=replace(COALESCED.target, at_most=measured / 1.04))
    assert check_source(missed, missed.solution).kind == kinds.TARGET_MISSED


def test_a_size_of_the_target_and_of_the_means_is_counted_once(monkeypatch):
    counted, count = [], behaviour_checks.counted
    monkeypatch.setattr(
        behaviour_checks, "counted", lambda *given: counted.append(given[2]) or count(*given)
    )
    module = emulated_runs.load_answer(COALESCED, COALESCED.solution, "a.cu")
    works = behaviour_checks.StatsCache(COALESCED, module)
    assert works.at((1, 1, 1)) is works.at((1, 1, 1))
    works.at((2, 1, 1))
    assert counted == [(1, 1, 1), (2, 1, 1)]


def test_each_order_of_the_threads_is_drawn_by_a_seed_of_its_own(monkeypatch):
    tried = []

    def watched(*given, options):
        tried.append((options.schedule, options.seed))
        return SimpleNamespace(fault=None, arrays={}, before={})

    monkeypatch.setattr(emulated_runs, "run", watched)
    right = SimpleNamespace(passed=True)
    monkeypatch.setattr(behaviour_checks, "compared", lambda *given: right)
    assert behaviour_checks.order_verdict(SAXPY, None) is None
    assert tried == [("warps", 1), ("lanes", 2)]


def test_a_probe_reaches_what_the_cell_s_own_kernel_need_not_call(monkeypatch):
    probe = """
extern "C" __global__ void test_square(float* z) { z[0] = square(3.0f); }
"""
    head = "__device__ float square(float v) { return %s; }\n"
    kernel = (
        'extern "C" __global__ void squares(const float* x, float* y) { y[0] = x[0] * x[0]; }\n'
    )
    exercise = made(
        monkeypatch,
        head % "v * v" + kernel + "// TODO: nothing\n// SOLUTION\n// END\n",
        kernel="squares",
        inputs=lambda rng, n: {"x": floats(rng, 1), "y": empty(1), "z": empty(1)},
        reference=lambda given: {"y": given["x"] ** 2, "z": np.float32([9])},
        launch=lambda n: (
            Launch((1,), (1,), arguments=("x", "y")),
            Launch((1,), (1,), kernel="test_square", arguments=("z",)),
        ),
        small=(1,),
        probe=probe,
    )
    assert check_source(exercise, head % "v * v" + kernel).passed
    assert check_source(exercise, head % "v + v" + kernel).kind == kinds.WRONG
    outcome = check_source(exercise, kernel)
    assert outcome.kind == kinds.WRONG_NAME and "kernel of the course" in str(outcome)
    typo = check_source(exercise, head % "w * v" + kernel)
    assert typo.kind == kinds.COMPILE_ERROR and '"w" is undefined' in str(typo)


def test_a_python_answer_that_changes_its_arguments_changes_its_own_alone():
    exercise = PythonExercise(
        id="04.total",
        title="total",
        task="t",
        source="03_gpu_introduction/exercises/finish_time.py",
        hints=(),
        explanation="e",
        function="total",
        cases=(([3, 1, 2],),),
        reference=sum,
    )
    total = "def total(x):\n    return sum(x)"
    assert judged(exercise, answers(exercise, total)).passed
    emptied = "def total(x):\n    x.clear()\n    return 0"
    assert judged(exercise, answers(exercise, emptied)).kind == kinds.WRONG
    sorted_ = "def total(x):\n    x.sort()\n    return sum(x)"
    assert judged(exercise, answers(exercise, sorted_)).kind == kinds.INPUT_CHANGED


def test_a_verdict_says_what_is_compared_if_it_is_not_what_was_returned():
    exercise = PythonExercise(
        id="04.first",
        title="first",
        task="t",
        source="03_gpu_introduction/exercises/finish_time.py",
        hints=(),
        explanation="e",
        function="first",
        cases=((3,),),
        reference=lambda n: (0, n),
        call=lambda answer, n: (0, answer(n)),
        compared="names the ends",
    )
    found = judged(exercise, answers(exercise, "def first(n):\n    return n + 1"))
    assert found.message == "first(3) names the ends (0, 4), expected (0, 3)."


def test_a_nan_that_was_there_before_is_no_nan_that_was_computed():
    nan, poison = np.array([np.nan, 1], np.float32), np.full(2, np.nan, np.float32)
    poison.view(np.uint32)[:] = 0x7FC05AA5
    left = np.array([0, 1], np.float32)
    left.view(np.uint32)[0] = 0x7FC05AA5
    assert judge(left, nan, initial=poison).passed
    assert judge(left, nan, initial=poison, poisoned=True).kind == kinds.PARTLY_WRITTEN
    assert judge(nan, nan, initial=poison, poisoned=True).passed


def test_an_exact_result_is_equal_down_to_the_sign_of_its_zeros():
    want = np.array([-0.0, 1, 2, 3, np.nan, np.inf], np.float32)
    assert judge(want.copy(), want, exact=True).passed
    verdict = judge(np.abs(want), want, exact=True)
    assert verdict.kind == kinds.WRONG and "wrong sign" in verdict.message and verdict.wrong == 1
    near = want * np.float32(1 + 2e-7)
    assert judge(near, want).passed and judge(near, want, exact=True).kind == kinds.PRECISION


def test_zeros_meet_infinities_where_a_product_sums_over_them():
    rng = np.random.default_rng(1)
    given = {"A": np.ones((3, 5), np.float32), "B": np.ones((5, 4), np.float32)}
    found = domain.zero_times_infinity_along("A", -1, "B", -2).applied(given, rng)
    with np.errstate(invalid="ignore"):
        product = found["A"] @ found["B"]
    assert np.isnan(product[:, 1]).all() and (np.delete(product, 1, axis=1) == 4).all()
    given = {"a": np.float32(3), "x": np.ones(20, np.float32)}
    found = domain.zero_times_infinity("a", "x").applied(given, rng)
    assert found["a"] == 0 and np.isinf(found["x"]).any()


def test_who_takes_an_end_of_a_sum_again_times_0_meets_an_infinity():
    rng = np.random.default_rng(1)
    given = {"A": -np.ones((3, 5), np.float32), "x": -np.ones(5, np.float32)}
    found = domain.infinite_at_the_ends("A", -1, "x").applied(given, rng)
    assert (found["A"] @ found["x"]).tolist() == [1, np.inf, 1]  # a right sum is a number
    with np.errstate(invalid="ignore"):
        for end in (0, -1):
            assert np.isnan(found["A"][:, end] * np.float32(0)).tolist() == [False, True, False]
    found = domain.infinite_at_the_ends("A", -2).applied(given, rng)
    assert np.isinf(found["A"]).nonzero()[0].tolist() == [0, 2]
    nothing = {"A": np.empty((3, 0), np.float32), "x": np.empty(0, np.float32)}
    assert domain.infinite_at_the_ends("A", -1, "x").applied(nothing, rng) == nothing


def test_a_task_ends_with_the_sizes_that_are_tried():
    assert SAXPY.task_text.endswith("Sizes that are tried: n 1 to 60,000 and more.")
    assert "M 1 to 60,000 and more" in COALESCED.task_text and "K 0 to 521" in COALESCED.task_text


def test_of_what_a_kernel_prints_an_attempt_keeps_twenty_thousand_characters(monkeypatch):
    kernel = """
extern "C" __global__ void chatty(float* x) { x[threadIdx.x] = 0; printf("%1000d", 1); }
"""
    exercise = made(
        monkeypatch,
        kernel,
        kernel="chatty",
        inputs=lambda rng, n: {"x": empty(n)},
        launch=lambda n: Launch((1,), (n,)),
        reference=lambda x: {"x": np.zeros_like(x)},
        small=(64,),
    )
    module = emulated_runs.load_answer(exercise, kernel, "a.cu")
    given = exercise.inputs(np.random.default_rng(0), 64)
    printed = emulated_runs.run(exercise, module, given, 64, 1).printed
    assert 20_000 <= len(printed) <= 21_000 and set(printed) == {" ", "1"}
