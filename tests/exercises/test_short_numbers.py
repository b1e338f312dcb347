"""The numbers of a case to work by hand are short: whole, or of at most four digits."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

from course_utils.checking.rows import number
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.exercises.authoring.spec import KernelExercise, PythonExercise
from course_utils.exercises.authoring.worked import any_numbers
from course_utils.exercises.judging.comparison import inputs_beside
from course_utils.exercises.judging.python_case import WORKABLE, case_rows
from course_utils.exercises.judging.shown_values import show
from course_utils.exercises.judging.worked_case import _without_dust, worked_trial
from course_utils.needs import missing

MOST_DIGITS = 4
EXPONENTIAL = "an exponential, or a logarithm"
SINES = "sines and cosines"
BITS = "fields of bits, which hexadecimal shows digit by digit"
GENERATED = "the words of a random number generator are scrambled bits"
OLD = "what an element holds before is the least integer, or a mark"
# The exercises whose case has longer numbers, and why it must.
LONG = {
    "03.branch_by_warp": "sixteen steps of a sum with a reciprocal",
    "04.doubling_max": OLD,
    "04.find_the_doubles": EXPONENTIAL,
    "04.keep_in_order": OLD,
    "04.silu_backward": EXPONENTIAL,
    "04.softmax_online": EXPONENTIAL,
    "05.box_muller": GENERATED,
    "05.go_on": GENERATED,
    "05.philox_rounds": GENERATED,
    "05.skip_ahead": GENERATED,
    "06.exchanged": SINES,
    "06.kept_row": EXPONENTIAL,
    "06.own_softmax": EXPONENTIAL,
    "06.row_of_two": EXPONENTIAL,
    "06.short_rows": EXPONENTIAL,
    "07.cross_entropy_rows": EXPONENTIAL,
    "07.fair_race": GENERATED,
    "07.nibble_product": BITS,
    "07.order_floats": BITS,
    "07.packed_sequences": EXPONENTIAL,
    "08.bias_and_gelu": EXPONENTIAL,
    "08.packed_fours": BITS,
    "09.cross_entropy_backward": EXPONENTIAL,
    "09.cross_entropy_forward": EXPONENTIAL,
}
KERNELS = [each for each in all_exercises() if isinstance(each, KernelExercise)]


def longest(values: Iterable[Any]) -> int:
    """The most digits of a number, as a verdict shows it."""
    return max((digits(value) for value in values), default=0)


def digits(value: Any) -> int:
    text = number(value)
    if text.startswith("0x"):
        return len(text.removeprefix("0x").rstrip("0"))
    return len(re.sub(r"e.*|[^0-9]", "", text).lstrip("0"))


def shown_numbers(array: Any) -> np.ndarray:
    values = np.atleast_1d(np.asarray(array))
    if values.dtype.kind not in "iub":  # bfloat16 is of no kind that NumPy knows
        values = _without_dust(values.astype(np.float64))
    return np.unique(values)


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda each: each.id)
def test_the_numbers_of_a_case_are_short_or_say_why_not(exercise):
    trial = worked_trial(exercise)
    if trial is None:
        assert exercise.id not in LONG
        return
    given = trial.given(exercise)
    results = {k: v for k, v in exercise.expected(given).items() if k not in exercise.probed}
    shown = dict(results)
    for name in results:
        shown |= inputs_beside(exercise, given, name)
    most = {name: longest(shown_numbers(array)) for name, array in shown.items()}
    long = {name: count for name, count in most.items() if count > MOST_DIGITS}
    assert bool(long) == (exercise.id in LONG), long


@pytest.mark.parametrize(("value", "count"), [(12.5, 3), (-0.25, 2), (1e-05, 1), (2.0**31, 6)])
def test_digits_are_those_of_a_verdict(value, count):
    assert digits(np.float64(value)) == count


# The same of the first case of a Python exercise.
LONG_IN_PYTHON = {
    "01.stable_softmax": EXPONENTIAL,
    "04.one_program": EXPONENTIAL,
    "04.rms_norm_rows": "roots",
    "06.merged_sums": EXPONENTIAL,
    "06.quantised_product": "sums past 16 bits",
    "06.suspect_product": "a quotient of times",
    "06.three_parts": SINES,
    "07.chunked_head": EXPONENTIAL,
    "07.loss_scaler": "a scale of 65536",
    "07.mean_of_chunks": EXPONENTIAL,
    "07.three_lies": "a kernel of the course has made them",
    "09.statistics_from_moments": "eps is 1e-5, and the moments are in units of 2**-32",
    "09.training_loop": EXPONENTIAL,
}
# The first case of these isn't shown whole in numbers.
NOT_SHOWN = {
    "01.read_hlo": "a program's text",
    "04.read_the_counters": "a report of twelve counts",
    "04.test_vec_add": "a kernel on trial",
    "05.test_stream": "a function on trial",
    "06.suspect_product": "a simulated GPU",
    "06.suspect_rivals": "a simulated GPU",
    "06.suspect_scan": "a simulated GPU",
    "06.suspect_sort": "a simulated GPU",
    "06.suspect_sum": "a simulated GPU",
    "06.test_convolution": "a function on trial",
    "06.test_softmax": "a function on trial",
    "07.activation_operator": "a tensor of PyTorch",
    "07.contiguous_or_refused": "a tensor of PyTorch",
    "07.fake_windows": "a tensor of PyTorch",
    "07.test_layer_norm": "a function on trial",
    "07.three_lies": "a tensor of PyTorch",
    "08.test_swizzle": "a function on trial",
    "09.test_gradient": "a function on trial",
    "09.test_max_pool": "a function on trial",
}
FUNCTIONS = [each for each in all_exercises() if isinstance(each, PythonExercise)]


def numbers_in(value: Any) -> Iterator[np.ndarray]:
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from numbers_in(each)
    elif isinstance(value, (float, complex, np.ndarray)) and np.asarray(value).dtype.kind in "ifcu":
        array = np.atleast_1d(np.asarray(value))
        yield from (array.real, array.imag) if array.dtype.kind == "c" else (array,)


@pytest.mark.parametrize("exercise", FUNCTIONS, ids=lambda each: each.id)
def test_the_first_case_of_a_function_is_shown_in_short_numbers_or_says_why_not(exercise):
    if missing(exercise.needs):
        pytest.skip(f"needs {exercise.needs}")
    arguments = exercise.cases[0]
    expected = exercise.reference(*arguments)
    rows = case_rows(exercise, arguments, expected, expected)
    call = ", ".join(map(show, arguments))
    cut = rows.title != WORKABLE if rows else any(x in call for x in ("...", "array of", "<"))
    assert (cut and "wire" not in call) == (exercise.id in NOT_SHOWN), call
    arrays = numbers_in([*arguments, expected])
    most = max((longest(shown_numbers(array)) for array in arrays), default=0)
    assert (most > MOST_DIGITS) == (exercise.id in LONG_IN_PYTHON), most


# Neither these exercises have a case, nor numbers of which a search may leave out most.
WITHOUT_NUMBERS = {
    "03.warp_and_lane": "its kernel has no input",
    "08.early_scales": "its inputs are codes of four bits, and of scales",
}


@pytest.mark.parametrize("exercise", KERNELS, ids=lambda each: each.id)
def test_where_there_is_no_case_a_search_may_leave_out_numbers(exercise):
    has_numbers = worked_trial(exercise) is not None or bool(any_numbers(exercise))
    assert has_numbers != (exercise.id in WITHOUT_NUMBERS)
