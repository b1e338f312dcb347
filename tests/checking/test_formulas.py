"""A factor, a root or a range is named where the result shows it, and never by chance."""

import numpy as np
import pytest

from course_utils.checking import error_kinds as kinds
from course_utils.checking import judge
from course_utils.checking.error_kinds import Slip

RNG = np.random.default_rng(7)
X = RNG.uniform(1, 9, (37, 45)).astype(np.float32)
ROWS = X.mean(axis=1)
HIGH = np.maximum.accumulate(X[0])
CASES = {
    "divided by the other size": (
        (X.sum(axis=1) / 37).astype("f4"),
        ROWS,
        {"x": X},
        Slip.FACTOR_OF_SIZES,
        "45 / 37",
    ),
    "never divided": (X.sum(axis=1), ROWS, {"x": X}, Slip.FACTOR_OF_SIZES, "is 45"),
    "root of a count": (
        (X / np.sqrt(6)).astype("f4"),
        X,
        {"y": np.zeros((2, 3))},
        Slip.FACTOR_OF_SIZES,
        "1 / the square root of 6",
    ),
    "an input on the wrong side": (
        X / np.float32(0.03) ** 2,
        X / np.float32(0.03),
        {"scale": 0.03},
        Slip.FACTOR_OF_INPUT,
        "1 / scale",
    ),
    "rows": (X * ROWS[:, None], X, {}, Slip.FACTOR_PER_LINE, "in row 0"),
    "root": (np.sqrt(ROWS), ROWS, {}, Slip.FUNCTION_OF_IT, "the square root"),
    "upside down": (1 / ROWS, ROWS, {}, Slip.FUNCTION_OF_IT, "1 over"),
    "exclusive, its own taken too": (
        HIGH,
        np.concatenate([[-np.inf], HIGH[:-1]]).astype("f4"),
        {"x": X[0]},
        Slip.TOO_MANY,
        "out[0]",
    ),
}


@pytest.mark.parametrize("sign", [1, -1])
def test_a_maximum_for_a_minimum_is_named(sign):
    x = sign * np.random.default_rng(2).standard_normal(200)
    high = np.array([x[max(i - 1, 0) : i + 2].max() for i in range(200)])
    low, wrong = (
        np.array([pick(high[max(i - 1, 0) : i + 2]) for i in range(200)]) for pick in (min, max)
    )
    verdict = judge(sign * wrong, sign * low, name="out", inputs={"x": sign * x})
    assert verdict.slip is Slip.MIN_FOR_MAX
    assert "out[" in verdict.message


@pytest.mark.parametrize("name", CASES)
def test_what_a_formula_has_too_many_is_named(name):
    got, expected, inputs, slip, told = CASES[name]
    verdict = judge(got, expected, name="out", inputs=inputs)
    assert (verdict.slip, told in verdict.message) == (slip, True), verdict.message


def test_a_factor_of_no_size_has_no_name():
    verdict = judge(X * np.float32(1.37), X, inputs={"x": X, "scale": 0.03})
    assert (verdict.kind, verdict.slip) == (kinds.SCALED, None)
