"""A wrong result that is right for other inputs is called so."""

from __future__ import annotations

import pytest

from course_utils.checking.error_kinds import Slip
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging import other_inputs
from course_utils.exercises.judging.runner import check_source
from course_utils.exercises.judging.trials import Trial

CHANGES = {
    "a sign": (
        "07.momentum_step",
        [("dw[i] + decay * w[i]", "dw[i] - decay * w[i]")],
        Slip.INPUT_SIGN,
        "-decay",
    ),
    "the sign of an exponent, which a case shows": (
        "06.exchanged",
        [("k * (-2.0f / n)", "k * (2.0f / n)")],
        Slip.WRONG_SIGN,
        "some elements",
    ),
    "neighbours": (
        "08.weights_by_values",
        [("bf16_pair(s[2 * i], s[2 * i + 1])", "bf16_pair(s[2 * i + 1], s[2 * i])")],
        Slip.INPUT_ORDER,
        "exchanged in pairs",
    ),
    "a sign in one part of a complex number": (
        "06.dft_rows",
        [("row[j].x * c - row[j].y * s", "row[j].x * c + row[j].y * s")],
        Slip.INPUT_SIGN,
        "the .x of y",
    ),
    "a copied line": (
        "07.attention",
        [("exists ? V[at]", "exists ? K[at]")],
        Slip.INPUT_FOR_ANOTHER,
        "with K instead of V",
    ),
    "the halves of a row": (
        "07.swiglu_rows",
        [("g = both[gate]", "g = both[gate + width]"), ("* both[gate + width]", "* both[gate]")],
        Slip.INPUT_ORDER,
        "with the two halves of each row of both exchanged",
    ),
    "the square of an array": (
        "07.add_rms_norm",
        [("part[k] * rstd * gamma[i]", "part[k] * rstd * gamma[i] * gamma[i]")],
        Slip.FACTOR_OF_INPUT,
        "gamma squared",
    ),
    "half of a number": (
        "07.z_loss",
        [("1.0f + 2.0f * z * lse", "1.0f + z * lse")],
        Slip.FACTOR_OF_INPUT,
        "z / 2",
    ),
    "two roles": (
        "04.saxpy",
        [("a * x[i] + y[i];", "a * y[i] + x[i];")],
        Slip.INPUTS_SWAPPED,
        "x and old y",
    ),
    "a flipped filter": (
        "09.conv_forward",
        [("taps[tap]", "taps[8 - tap]")],
        Slip.INPUT_FLIPPED,
        "with w flipped",
    ),
    "the layout of a fragment": (
        "06.half_sums",
        [("wmma::col_major", "wmma::row_major")],
        Slip.TILE_LAYOUT,
        "16 x 16 elements of B",
    ),
    "packed numbers": (
        "07.nibble_product",
        [
            (
                "__half2float(of_x[i]) + two.y * __half2float(of_x[i + 4])",
                "__half2float(of_x[2 * i]) + two.y * __half2float(of_x[2 * i + 1])",
            )
        ],
        Slip.INPUT_ORDER,
        "of words",
    ),
    "an input that isn't used": (
        "09.linear_forward",
        [("sum + b[o];", "sum;")],
        Slip.INPUT_UNUSED,
        "without b",
    ),
    "the shift of the first image": (
        "09.shift_images",
        [("down[image]", "down[0]"), ("right[image]", "right[0]")],
        Slip.FIRST_FOR_ALL,
        "[0]",
    ),
}


@pytest.mark.parametrize("case", CHANGES)
def test_the_change_that_gives_the_numbers_is_named(case):
    id, changes, slip, words = CHANGES[case]
    source = find(id).solution
    for old, new in changes:
        assert source.count(old) == 1, old
        source = source.replace(old, new)
    verdict = check_source(find(id), source).verdict
    assert (verdict.kind, verdict.slip) == (kinds.WRONG, slip)
    assert words in verdict.message.splitlines()[0]


def test_squares_that_vanish_are_no_input_that_is_not_used():
    exercise = find("07.one_reflector")
    wrong = exercise.solution
    for scale in ("x[i] / largest", "largest * sqrtf"):
        assert scale in wrong
        wrong = wrong.replace(scale, scale.replace(" / largest", "").replace("largest * ", ""))
    verdict = check_source(exercise, wrong).verdict
    assert verdict.kind == kinds.WRONG
    assert "without x" not in verdict.message


def test_a_hunt_keeps_its_secret(monkeypatch):
    exercise = find("07.momentum_step")
    monkeypatch.setattr(
        type(exercise), "is_untouched", lambda self, cell: True
    )  # as if this were its starter
    wrong = exercise.solution.replace("dw[i] + decay * w[i]", "dw[i] - decay * w[i]")
    assert check_source(exercise, wrong).verdict.slip is None


def test_a_case_of_whole_numbers_that_is_far_off_is_no_loss_of_precision():
    exercise = find("09.cross_entropy_forward")
    wrong = exercise.solution.replace("float sum = 0.0f", "float sum = 1.0f")
    verdict = check_source(exercise, wrong).verdict
    assert verdict.kind == kinds.WRONG and verdict.case is not None
    assert abs(verdict.first.got - verdict.first.expected) > 0.05 * verdict.first.expected


def test_every_slip_of_another_input_is_one_of_the_formula():
    named = {slip for slip in Slip if slip.name.startswith(("INPUT", "FIRST_FOR", "TILE"))}
    assert named and all(slip.is_of_the_formula for slip in named)
    assert not named & set(other_inputs.UNNAMED)


def test_a_launch_of_an_unusual_block_is_named():
    exercise = find("02.each_index")
    assert Trial(exercise.small[0], 1).label(exercise) == "n = 1000, grid 4, block 96"
    usual = find("04.clamp")
    assert "block" not in Trial(usual.small[0], 1).label(usual)
