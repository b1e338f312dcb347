"""A wrong Python answer shows a case with few numbers, and says which argument is meant."""

from __future__ import annotations

import numpy as np
import pytest

from course_utils.checking.rows import number
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.spec import HostExercise, PythonExercise
from course_utils.exercises.judging.python_case import WORKABLE, case_rows, named_inputs
from course_utils.exercises.judging.python_process import CHECKED
from course_utils.exercises.judging.runner import check_source

FEW = 16
# Their first case has more numbers, or none that a reader could follow.
WITHOUT = {
    "09.statistics_from_moments": "a filter has 9 taps, and their products 81 numbers",
}
GEMM, HEADS = find("05.row_major_gemm"), find("05.heads_as_batch")


def numbers_of(value: object) -> list[np.ndarray]:
    if isinstance(value, np.ndarray):
        return [value]
    items = value if isinstance(value, (list, tuple)) else []
    return [array for item in items for array in numbers_of(item)]


@pytest.mark.parametrize(
    "exercise",
    [e for e in all_exercises() if isinstance(e, PythonExercise)],
    ids=lambda exercise: exercise.id,
)
def test_the_first_case_is_small_enough_to_work_by_hand(exercise):
    inputs = named_inputs(exercise, exercise.cases[0]) or dict(enumerate(exercise.cases[0]))
    arrays = [array for value in inputs.values() for array in numbers_of(value)]
    texts = [number(each) for array in arrays for each in array.flat]
    few = all(array.size <= FEW for array in arrays) and all(len(text) <= 6 for text in texts)
    assert few != (exercise.id in WITHOUT)
    assert not WITHOUT.get(exercise.id) or exercise.start or exercise.needs


@pytest.mark.parametrize(
    "exercise",
    [e for e in all_exercises() if isinstance(e, HostExercise)],
    ids=lambda exercise: exercise.id,
)
def test_the_first_input_of_a_program_is_short(exercise):
    assert len(exercise.cases[0].split()) <= FEW + 4


def test_the_numbers_of_a_case_are_rows_and_the_message_has_names():
    exercise = find("07.unbroadcast")
    case = case_rows(exercise, exercise.cases[0], np.array([0.0, 1, 2]), np.array([3.0, 5, 7]))
    assert case is not None and case.title == WORKABLE
    assert [line.split() for line in case.lines] == [
        ["dy", "[0]", "[1]", "[2]"],
        ["[0]", "0", "1", "2"],
        ["[1]", "3", "4", "5"],
        ["[0]", "[1]", "[2]"],
        ["shape", "3"],
        ["expected", "3", "5", "7"],
        ["got", "0", "1", "2"],
    ]
    layers = find("01.mlp")
    verdict = check_source(layers, layers.solution.replace("maximum", "minimum")).verdict
    assert verdict.message.startswith("mlp(x, arrays): ")
    assert any(line.lstrip().startswith("arrays[3]") for line in verdict.case.lines)


def test_the_arrays_of_a_tuple_are_rows_each_by_its_number():
    exercise = find("07.mean_of_chunks")
    found = np.float64(1.5), np.array([[1.0, -1], [0, 2], [3, 4]])
    case = case_rows(exercise, exercise.cases[0], found, found)
    assert case is not None
    text = "\n".join(case.lines)
    assert "got[0] = 1.5" in text and "got[1]" in text and "np.float64" not in text


def test_a_library_s_complaint_names_the_matrix_and_asks_for_no_last_line():
    verdict = check_source(GEMM, GEMM.starter).verdict
    assert verdict.kind == kinds.EXCEPTION and verdict.hint == CHECKED
    assert "make A, the first operand," in verdict.message and "LessonError" not in verdict.message


def test_blas_s_own_letters_are_ops():
    assert check_source(HEADS, HEADS.solution.replace("1, 0, keys", '"T", "N", keys')).passed
    verdict = check_source(HEADS, HEADS.solution.replace("1, 0, keys", '"T", "X", keys')).verdict
    assert verdict.kind == kinds.EXCEPTION and "argument 2 is 'X'" in verdict.message


def test_an_element_of_the_scores_has_a_head_a_query_and_a_key():
    verdict = check_source(HEADS, HEADS.solution.replace("*of_q, room,", "*of_q, keys,")).verdict
    assert "(head 0, query 0, key 2)" in verdict.message
    assert [line.split()[0] for line in verdict.case.lines][0] == "Q[0]"


def test_what_a_stand_in_holds_is_named():
    exercise = find("04.reverse_with_room")
    verdict = check_source(exercise, exercise.solution.replace("(rows,), (256", "(1,), (256"))
    assert "'x[4]': 7" in verdict.verdict.message


@pytest.mark.parametrize("call", ["optimiser", "model"])
def test_pytorch_s_own_ways_to_zero_a_gradient_are_right(call):
    exercise = find("09.training_loop")
    zeroed = f"{call}.zero_grad(set_to_none=True)"
    assert check_source(exercise, exercise.solution.replace("optimiser.zero_grad()", zeroed)).passed


def test_a_result_that_is_far_too_long_is_no_endless_loop():
    exercise = find("05.ring_step")
    source = exercise.solution.replace("return sends", "return [0] * 300_000, sends")
    verdict = check_source(exercise, source).verdict
    assert verdict.kind == kinds.EXCEPTION and "300,000 items" in verdict.message


def test_a_case_whose_digits_are_all_alike_is_left_out():
    two_rows = find("06.two_rows")
    coarse = two_rows.solution.replace("/ 2j", ".astype(np.complex64) / 2j")
    verdict = check_source(two_rows, coarse).verdict
    assert verdict.kind == kinds.PRECISION and verdict.case is None
    first = verdict.message.partition("first wrong: ")[2].splitlines()[0]
    expected, got = first.partition("expected ")[2].split(", got ")
    assert expected.replace("-0j", "+0j") != got.replace("-0j", "+0j")
