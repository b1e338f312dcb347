"""Where the case to work by hand is right or too large, a smaller one is found and shown."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from course_utils.checking.rows import ArrayPart, labelled_rows
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.dependence import needed_elements
from course_utils.exercises.authoring.launches import Empty, empty
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.comparison import compared
from course_utils.exercises.judging.runner import check_source
from course_utils.exercises.judging.trials import Trial
from course_utils.exercises.judging.worked_case import with_inputs


def verdict_on(id: str, old: str, new: str):
    solution = find(id).solution
    assert solution.count(old) == 1
    return check_source(find(id), solution.replace(old, new)).verdict


def test_the_smallest_failing_size_is_named_beside_one_that_is_right():
    verdict = verdict_on("04.dot", "threadIdx.x % kWarpSize == 0", "threadIdx.x == 0")
    assert "with n = 5, wrong with n = 33" in verdict.case.title
    sparse = [line for line in verdict.case.lines if line.startswith(("x", "y"))]
    assert len(sparse) == 2  # only the product of the second warp is left
    assert all("all 0" in line and "[32] = " in line for line in sparse)


def test_sizes_that_go_together_have_a_smaller_case_too():
    barrier = "__syncthreads(); // the channel and its taps are there"
    verdict = verdict_on("06.own_convolution", barrier, f"{barrier}\n        sum = 0.0f;")
    assert "wrong with N = 1, C = 2" in verdict.case.title
    assert sum(line.startswith(("x  all 0", "w  all 0")) for line in verdict.case.lines) == 2


def test_where_the_numbers_are_too_many_the_two_sizes_are_compared():
    verdict = verdict_on("07.attention", "        o *= rescale;\n", "")
    assert "Right with" in verdict.case.title and verdict.hint == kinds.BESIDE_RIGHT
    assert any(line.startswith("Q") and kinds.TOO_MANY in line for line in verdict.case.lines)


def test_the_operation_that_makes_the_first_nan_is_named():
    verdict = verdict_on("06.short_rows", "x[at] : kLowest", "x[at] : 0.0f")
    assert verdict.kind == kinds.NOT_A_NUMBER
    assert "computes 0 / 0" in verdict.message and "power / sum" in verdict.excerpt


@pytest.mark.parametrize(
    ("id", "old", "new", "shown"),
    [
        ("02.horner", "x * horner", "x + horner", ("c", "x", "expected", "got")),
        ("06.gemv_by_warps", "* x[k]", "* x[lane]", ("A", "x", "expected", "got")),
        ("07.grouped_heads", "kv_head * group + i", "i * kv_heads + kv_head", ("Q", "K", "scale")),
        ("04.block_min", "distance > 0", "distance > 1", ("x", "expected", "got")),
    ],
)
def test_inputs_that_are_too_many_become_few(id, old, new, shown):
    verdict = verdict_on(id, old, new)
    assert verdict.case is not None
    for name in shown:
        assert any(line.startswith(name) for line in verdict.case.lines), verdict.case
    assert len(verdict.case.lines) < 12


def test_inputs_there_are_those_that_the_element_takes():
    verdict = verdict_on("09.norm_backward", "/ (N * P)", "/ P")
    inputs = verdict.first.inputs
    assert {"mean[0]", "rstd[0]", "dgamma[0]", "x[0, 0, 0]"} <= inputs.keys()


@pytest.mark.parametrize(
    ("output", "shown"), [("y", {"x[0, 0]", "bias[0]"}), ("partial", set()), ("dbias", set())]
)
def test_inputs_there_are_of_a_launch_that_the_output_is_in(output, shown):
    exercise = find("07.squared_relu")
    trial = Trial(exercise.small[0], 1)
    given = trial.given(exercise)
    before = {
        name: np.full(value.shape, value.fill) if isinstance(value, Empty) else value
        for name, value in given.items()
    }
    arrays = before | {name: x.astype(np.float32) for name, x in exercise.expected(given).items()}
    arrays[output] = arrays[output] + 1  # bias[0] is in each of them by way of y
    wrong = compared(exercise, arrays, before, given, trial.size)
    assert wrong.name == output
    assert wrong.first.inputs.keys() <= shown | {"dy[0, 0]"}  # the second launch has y and dy
    assert with_inputs(exercise, trial, wrong).first.inputs.keys() == shown


def product(given):
    return {"C": given["A"] @ given["B"]}


@pytest.mark.parametrize(
    ("name", "box"), [("A", ([1], [0, 1, 2])), ("B", ([0, 1, 2], [3])), ("D", ([], []))]
)
def test_a_product_s_element_takes_a_row_and_a_column(name, box):
    rng = np.random.default_rng(1)
    shapes = {"A": (2, 3), "B": (3, 4), "D": (2, 4)}
    given = {name: rng.standard_normal(shape) for name, shape in shapes.items()}
    given["C"] = empty((2, 4))
    assert needed_elements(product, given, name, "C", (1, 3)) == box


def test_the_maximum_takes_all_that_may_become_the_largest():
    given = {"x": np.arange(5.0), "y": empty(1)}
    found = needed_elements(lambda g: {"y": g["x"][1:4].max()}, given, "x", "y", (0,))
    assert found == ([1, 2, 3],)


@pytest.mark.filterwarnings("error")
def test_numbers_past_the_largest_half_and_nan_are_changed_without_a_warning():
    given = {"x": np.array([1, np.nan, 65504], np.float16), "y": empty(1)}
    assert needed_elements(lambda g: {"y": g["x"][:1]}, given, "x", "y", (0,)) == ([0],)


@pytest.mark.parametrize("step", [1, 32, 3000])
def test_whether_an_element_takes_more_than_one_needs_fewer(step):
    given = {"x": np.arange(3000.0), "y": empty(1)}
    evaluations = []

    def reference(now):
        evaluations.append(1)
        return {"y": now["x"][100::step].sum()}

    (found,) = needed_elements(reference, given, "x", "y", (0,), enough=2)
    assert found[:2] == ([100] if step == 3000 else [100, 100 + step])
    assert len(evaluations) < 60


def test_an_integer_is_changed_in_one_way():
    given = {"x": np.arange(6), "y": empty(1)}
    evaluations = []

    def reference(now):
        evaluations.append(1)
        return {"y": now["x"][:1]}

    assert needed_elements(reference, given, "x", "y", (0,)) == ([0],)
    assert len(evaluations) == 6  # as it is, all changed, and each part of x[:3] and x[3:]


@pytest.mark.parametrize("step", [1, 2, 3])
def test_a_long_row_needs_few_evaluations_of_the_reference(step):
    given = {"x": np.arange(3000.0), "y": empty(1)}
    evaluations = []

    def reference(now):
        evaluations.append(1)
        return {"y": now["x"][100:2000:step].sum()}

    (found,) = needed_elements(reference, given, "x", "y", (0,))
    assert set(range(100, 2000, step)) <= {*found}
    assert len(evaluations) < (250 if step == 1 else 2000)


def test_a_part_of_an_array_has_its_own_indices():
    part = ArrayPart(np.array([7, 8]), ((30, 31),))
    lines = labelled_rows("", {"x": part, "y": np.array([1, 2])}).lines
    assert lines[0].split() == ["[30]", "[31]"]
    assert lines[2].split() == ["[0]", "[1]"]  # another line of indices


def test_got_does_not_share_lines_with_several_grids_of_what_is_expected():
    lines = labelled_rows("", {"expected": np.ones((2, 2, 2)), "got": np.ones((2, 2, 2))}).lines
    assert not any("expected" in line and "got" in line for line in lines)


@pytest.mark.parametrize(
    ("id", "old", "new"),
    [
        ("04.doubling_max", "a[i - distance]", "a[i - 1]"),
        (
            "04.count_digits",
            "atomicAdd(&mine[digits[i]], 1)",
            "atomicAdd(&mine[digits[i]], digits[i])",
        ),
    ],
)
def test_an_element_that_keeps_its_value_was_not_left_out(id, old, new):
    verdict = verdict_on(id, old, new)
    assert (verdict.kind, verdict.unwritten) == (kinds.WRONG, 0)


def test_a_scalar_of_the_case_is_named_as_it_is():
    verdict = verdict_on(
        "05.syrk_lower",
        "alpha * sum + (beta == 0.0f ? 0.0f : beta * *c)",
        "alpha * (sum + (beta == 0.0f ? 0.0f : beta * *c))",
    )
    assert "beta = 2" in verdict.case.title


def test_a_size_at_which_the_index_leaves_its_array_does_not_end_the_search():
    verdict = verdict_on("09.conv_forward", "(filter * C + c) * 9", "(c * C + filter) * 9")
    assert "C = 2" in verdict.case.title and "F = 2" in verdict.case.title


def test_a_size_whose_inputs_the_reference_refuses_does_not_end_the_search():
    exercise = find("09.momentum")
    case = replace(exercise.worked, derived=None)  # whose last end is 5, whatever n is
    wrong = exercise.solution.replace("array_of(i,", "array_of(arrays > 64 ? i : i % stride,")
    assert check_source(replace(exercise, worked=case), wrong).kind == kinds.WRONG


def test_a_case_of_c_has_its_inputs_by_name():
    verdict = verdict_on("02.layer", "i * nn->hidden + j", "i * nn->inputs + j")
    for name in ("w1", "b1", "x", "expected"):
        assert any(line.startswith(name) for line in verdict.case.lines)


def test_none_that_refuses_is_told_with_what_is_expected():
    verdict = verdict_on("09.idx_array", "start = 4 + 4 * axes", "start = 4 + axes")
    assert "(2, 3, 4)" in verdict.message
