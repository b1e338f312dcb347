"""Every kernel exercise has a case that can be worked by hand, or says why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from course_utils.checking.rows import FEW, MOST_NUMBERS
from course_utils.exercises.authoring.launches import Empty
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.spec import KernelExercise
from course_utils.exercises.authoring.worked import FEWEST, shown
from course_utils.exercises.judging import worked_case
from course_utils.exercises.judging.runner import check_source
from course_utils.exercises.judging.trials import Trial
from course_utils.exercises.judging.worked_case import _size_label, worked_trial

KERNELS = [each for each in all_exercises() if isinstance(each, KernelExercise)]
LEAST_WITH_A_CASE = 144  # of 180; the others' tiles, warps and fragments have more numbers


def test_most_exercises_have_a_case(capsys):
    have = sum(worked_trial(each) is not None for each in KERNELS)
    with capsys.disabled():
        print(f"\n{have} of {len(KERNELS)} kernel exercises have a case to work by hand")
    assert have >= LEAST_WITH_A_CASE


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda each: each.id)
def test_a_case_has_four_to_sixteen_numbers_an_array_or_a_reason_why_not(exercise):
    trial = worked_trial(exercise)
    if trial is None:
        assert exercise.worked and exercise.worked.why_not, "say what makes its inputs too many"
        assert exercise.worked.size is None
        return
    given = trial.given(exercise)
    shapes = shown(exercise, given)
    sizes = {name: int(np.prod(shape)) for name, shape in shapes.items()}
    own = exercise.worked
    if own and any(isinstance(value, Mapping) for value in own.values.values()):
        large = [name for name in shapes if sizes[name] > MOST_NUMBERS]
        few = [np.count_nonzero(given[x]) for x in large if not isinstance(given[x], Empty)]
        assert all(1 <= count <= FEW for count in few), "these numbers are all that is shown"
    else:
        assert FEWEST <= max(sizes.values()) <= MOST_NUMBERS, sizes
    expected = exercise.expected(given)
    assert any(np.any(np.nan_to_num(np.asarray(one, float))) for one in expected.values())
    assert own is None or {*own.values, *own.whole, *own.hidden} <= given.keys()


def wrong(id: str, name: str) -> str:
    exercise = find(id)
    return next(m for m in exercise.mutants if m.name == name).apply(exercise.solution)


@pytest.mark.parametrize(
    ("id", "name", "lines"),
    [
        ("00.double_it", "not doubled", ("x           3   1  -2   4   2", "expected    6   2  -4")),
        ("09.linear_backward_weight", "transposed", ("dy   [0] [1] [2]    x    [0] [1]",)),
        ("07.kth_largest", "the prefix forgotten", ("[0]    37  18  35  52  33",)),
        ("06.mma_product", "right before down in A", ("A  all 0, but A[0, 0] = 2",)),
        ("05.partial_output", "rounded down", ("ranks = 2", "[0]    1   0    [0]     20 -20")),
        ("09.statistics_from_moments", "unit left in", ("M = 2", "rows  [0] mean, [1] variance")),
    ],
)
def test_a_wrong_result_shows_its_case(id, name, lines):
    verdict = check_source(find(id), wrong(id, name)).verdict
    assert verdict.case is not None
    for line in lines:
        assert any(each.startswith(line) for each in verdict.case.lines), verdict.case


def test_a_few_numbers_by_index_leave_the_rest_of_the_case_zero():
    exercise = find("06.half_sums")
    trial = worked_trial(exercise)
    a = trial.given(exercise)["A"]
    assert a.shape == (16, 16) and np.count_nonzero(a) == len(exercise.worked.values["A"])
    larger = replace(trial, size=(16, 16, 32)).given(exercise)["A"]
    assert np.count_nonzero(larger) > FEW, "a larger size has numbers that the search can leave out"


def test_a_size_that_the_contract_does_not_draw_is_named_as_it_is():
    exercise = find("06.dft_rows")
    trial = worked_trial(exercise)
    assert _size_label(exercise.contract.sizes, trial, exercise) == "rows = 2, n = 4"


def test_what_is_wrong_in_the_case_alone_does_not_pass():
    exercise = find("00.double_it")
    source = exercise.solution.replace("2.0f * x[i]", "(n == 5 ? 3.0f : 2.0f) * x[i]")
    assert source != exercise.solution
    outcome = check_source(exercise, source)
    assert not outcome.passed
    assert outcome.verdict.case is not None
    assert outcome.verdict.first.index == (0,)


def test_a_matrix_stored_by_columns_is_spoken_of_by_rows():
    exercise = find("05.syrk_lower")
    upper = exercise.solution.replace("i >= n || j > i", "j >= n || i > j")
    assert upper != exercise.solution
    verdict = check_source(exercise, upper).verdict
    assert verdict.first.index == (0, 1)
    assert verdict.heat.rows[1].startswith("?.")  # below the diagonal nothing is written
    assert verdict.case.lines[-2].split()[:4] == ["[1]", "37", "21", "4"]


def test_a_case_of_two_launches_says_so_and_shows_the_counter_that_is_wrong():
    exercise = find("04.last_block")
    verdict = check_source(exercise, exercise.solution.replace("*left = gridDim.x;", "")).verdict
    assert "twice" in verdict.message and "both launches" in verdict.case.title
    counters = [line.split() for line in verdict.case.lines if line.startswith("left ")]
    assert counters[-2:] == [["left", "expected", "1"], ["left", "got", "0xffffffff"]]
    assert worked_trial(exercise).repeats(exercise) == 2
    horner = find("02.horner")
    assert Trial(horner.small[0], 1).repeats(horner) == 1


def test_a_large_case_has_the_inputs_at_its_first_wrong_element():
    source = find("04.saxpy").solution.replace("y[i] = a * x[i] + y[i];\n", "y[i] = a * x[i];\n")
    first = check_source(find("04.saxpy"), source).verdict.first
    assert {"x[0]", "old y[0]"} <= first.inputs.keys()


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda each: each.id)
def test_axes_and_columns_are_those_of_arrays(exercise):
    given = exercise.inputs(np.random.default_rng(1), exercise.small[0])
    shapes = {name: value.shape for name, value in given.items()}
    assert {*exercise.by_columns} <= shapes.keys()
    for name, axes in exercise.axes.items():
        assert len(axes) == len(shapes[name])


def test_a_case_is_kept_for_one_contract(monkeypatch):
    monkeypatch.setattr(worked_case, "_trials", {})
    exercise = find("04.saxpy")
    assert worked_trial(exercise.with_fields(contract=None)) is None
    assert worked_trial(exercise) is not None
