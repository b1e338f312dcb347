"""check() accepts what is right and names what is wrong."""

import ml_dtypes
import numpy as np
import pytest

from course_utils.checking import CheckFailed, Verdict, check, judge
from course_utils.checking import error_kinds as kinds
from course_utils.checking.tolerance import rms, tolerance_for
from course_utils.checking.verdict import code_block
from course_utils.devices.selection import cp

RNG = np.random.default_rng(7)
VECTOR = RNG.standard_normal(1000).astype(np.float32)
MATRIX = RNG.standard_normal((37, 53)).astype(np.float32)
NAN = np.float32(np.nan)


def kind_of(actual, expected, **options) -> str:
    return judge(actual, expected, **options).kind


def changed(array, where, value):
    copy = array.copy()
    copy[where] = value
    return copy


def test_a_right_result_passes_with_a_line_that_carries_no_number():
    verdict = check(VECTOR, VECTOR.astype(np.float64), name="c")
    assert verdict.passed
    assert str(verdict) == repr(verdict) == "PASS: c is right."


def test_rounding_of_a_long_sum_passes_only_when_its_length_is_given():
    a = RNG.standard_normal((64, 4096)).astype(np.float32)
    b = RNG.standard_normal((4096, 64)).astype(np.float32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    sequential = np.zeros((64, 64), np.float32)
    for k in range(4096):
        sequential += a[:, k : k + 1] * b[k]
    assert kind_of(sequential, exact, reduction=4096) == kinds.PASS
    assert kind_of(sequential, exact) == kinds.PRECISION


def test_a_sum_of_which_no_length_is_given_is_one_term():
    """The limits for one and for two terms: 32 and 38.6 units of roundoff, at 1."""
    ones = np.ones(8, np.float32)
    off = ones + np.float32(36 * 2.0**-24)
    assert judge(off, ones, reduction=2).passed and check(off, ones, reduction=2).passed
    assert not judge(off, ones).passed and not check(off, ones, raising=False).passed


def test_one_number_has_no_map_and_two_have_one():
    assert judge(np.float32([2]), np.float32([3])).heat is None
    assert judge(np.float32([2, 3]), np.float32([3, 3])).heat.rows == ("#.",)


def test_half_precision_gets_the_tolerance_of_half_precision():
    assert kind_of(VECTOR.astype(np.float16), VECTOR) == kinds.PASS
    assert kind_of(VECTOR.astype(np.float16).astype(np.float32), VECTOR) == kinds.PRECISION


def test_arrays_of_the_device_are_compared_too():
    x = cp.arange(1, 5, dtype=cp.float32)
    check(x, np.arange(1, 5, dtype=np.float32))
    check(x.get(), x + 0)
    assert judge(cp.zeros(4, cp.float32), x).kind == kinds.ALL_ZEROS


def test_the_root_mean_square_is_computed_where_an_array_is():
    for space in (np, cp):
        assert rms(space.array([3.0, -4.0, np.nan, np.inf])) == pytest.approx(12.5**0.5)
        assert rms(space.array([np.nan])) == rms(space.zeros(0)) == rms(space.zeros(2)) == 0


def test_torch_tensors_are_compared_bfloat16_too():
    torch = pytest.importorskip("torch")
    assert kind_of(torch.tensor(VECTOR), VECTOR) == kinds.PASS
    assert kind_of(torch.tensor(VECTOR).bfloat16(), VECTOR) == kinds.PASS


def test_bfloat16_of_numpy_is_compared_with_its_own_tolerance():
    narrow = VECTOR.astype(ml_dtypes.bfloat16)
    assert kind_of(narrow, VECTOR) == kinds.PASS
    assert kind_of(narrow.astype(np.float32), VECTOR) == kinds.PRECISION
    rough = VECTOR * np.float32(1 + 2.0**-4)  # twice the tolerance of a single bfloat16
    assert kind_of(rough.astype(ml_dtypes.bfloat16), VECTOR) == kinds.PASS
    assert kind_of((VECTOR * np.float32(1.2)).astype(ml_dtypes.bfloat16), VECTOR) == kinds.SCALED


def test_the_shape_of_the_transpose_is_called_that():
    assert judge(MATRIX.T, MATRIX).message.endswith("It may be transposed.")
    assert "transposed" not in judge(MATRIX[:-1], MATRIX).message
    assert "transposed" not in judge(VECTOR[:-1], VECTOR).message


def test_zeros_never_pass_even_under_a_huge_tolerance():
    assert kind_of(np.zeros(1000, np.float32), VECTOR, atol=1e9) == kinds.ALL_ZEROS
    with pytest.raises(ValueError, match="all zeros"):
        check(VECTOR, np.zeros(1000))


@pytest.mark.parametrize("lost", [np.nan, -np.inf])
def test_zeros_in_place_of_nan_and_infinities_are_wrong_values(lost):
    verdict = judge(np.zeros(4, np.float32), np.array([lost, 0, lost, lost], np.float32))
    assert verdict.kind == kinds.WRONG and "is a number like others" in verdict.message


def test_one_zero_in_place_of_a_nan_is_a_wrong_value():
    one = np.zeros(1, np.float32)  # of which a NaN was left out, or an infinity: it was read
    assert kind_of(one, one + np.nan) == kind_of(one, one + np.inf) == kinds.WRONG
    assert kind_of(one, one + 5) == kinds.ALL_ZEROS


def test_what_is_no_array_of_numbers_is_refused():
    with pytest.raises(TypeError, match="arrays of numbers, not of dtype <U1"):
        check(np.array(["a"]), np.array(["a"]))


def test_complex_numbers_are_compared_in_both_their_parts():
    expected = (VECTOR[:50] + 1j * VECTOR[50:100]).astype(np.complex64)
    assert check(expected * np.complex64(1 + 1e-7), expected).passed
    assert kind_of(expected.conj(), expected) != kinds.PASS
    assert kind_of(expected.real.copy(), expected) == kinds.WRONG_DTYPE


def test_a_check_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no element"):
        check(np.zeros(0), np.zeros(0))


def test_a_wrong_result_raises_and_shows_the_verdict_without_a_traceback():
    with pytest.raises(CheckFailed) as caught:
        check(VECTOR + 100, VECTOR, name="c")
    assert caught.value.verdict.first.index == (0,)
    lines = caught.value._render_traceback_()
    assert lines[0].startswith("WRONG VALUES: every element of c is 100 too large.")
    assert not any("Traceback" in line for line in lines)
    assert isinstance(check(VECTOR + 100, VECTOR, raising=False), Verdict)


def test_infinities_and_expected_nans_count_as_right_where_they_belong():
    expected = np.array([1.0, np.inf, np.nan, -np.inf], np.float32)
    assert kind_of(expected.copy(), expected) == kinds.PASS
    assert kind_of(np.array([1.0, -np.inf, np.nan, -np.inf], np.float32), expected) != kinds.PASS


CASES = {
    "another shape": (VECTOR[:-1], VECTOR, kinds.WRONG_SHAPE),
    "integers for floats": (VECTOR.astype(np.int32), VECTOR, kinds.WRONG_DTYPE),
    "NaN everywhere": (np.full_like(VECTOR, NAN), VECTOR, kinds.NOTHING_WRITTEN),
    "zeros": (np.zeros_like(MATRIX), MATRIX, kinds.ALL_ZEROS),
    "every third unwritten": (
        changed(VECTOR, slice(1, None, 3), NAN),
        VECTOR,
        kinds.PARTLY_WRITTEN,
    ),
    "the tail unwritten": (changed(VECTOR, slice(992, None), NAN), VECTOR, kinds.EDGES),
    "the tail wrong": (changed(VECTOR, slice(768, None), 5), VECTOR, kinds.EDGES),
    "last rows wrong": (changed(MATRIX, slice(32, None), 5), MATRIX, kinds.EDGES),
    "last columns wrong": (
        changed(MATRIX, (slice(None), slice(48, None)), 5),
        MATRIX,
        kinds.EDGES,
    ),
    "the border wrong": (
        np.pad(MATRIX[1:-1, 1:-1], 1, constant_values=5),
        MATRIX,
        kinds.EDGES,
    ),
    "first block only": (changed(VECTOR, slice(256, None), NAN), VECTOR, kinds.FIRST_BLOCK),
    "first tile only": (
        np.pad(MATRIX[:16, :16], ((0, 21), (0, 37)), constant_values=9),
        MATRIX,
        kinds.FIRST_BLOCK,
    ),
    "transposed": (MATRIX.T.reshape(MATRIX.shape), MATRIX, kinds.TRANSPOSED),
    "transposed square": (MATRIX[:30, :30].T, MATRIX[:30, :30], kinds.TRANSPOSED),
    "one element late": (np.roll(VECTOR, 1), VECTOR, kinds.OFF_BY_ONE),
    "one row early": (np.roll(MATRIX, -1, axis=0), MATRIX, kinds.OFF_BY_ONE),
    "reversed": (VECTOR[::-1], VECTOR, kinds.REVERSED),
    "rows reversed": (MATRIX[:, ::-1], MATRIX, kinds.REVERSED),
    "doubled": (2 * VECTOR, VECTOR, kinds.SCALED),
    "negated": (-MATRIX, MATRIX, kinds.SCALED),
    "half precision inside": (
        VECTOR.astype(np.float16).astype("f4"),
        VECTOR,
        kinds.PRECISION,
    ),
    "all the same": (np.full_like(VECTOR, 3), VECTOR, kinds.WRONG),
    "noise": (VECTOR + RNG.standard_normal(1000).astype("f4"), VECTOR, kinds.WRONG),
}


@pytest.mark.parametrize("case", CASES)
def test_each_mistake_gets_its_name(case):
    actual, expected, kind = CASES[case]
    assert kind_of(actual, expected) == kind


def test_integers_off_by_rounding_are_a_matter_of_precision():
    gray = RNG.integers(0, 256, (20, 30)).astype(np.uint8)
    assert kind_of(np.where(gray % 2, gray - 1, gray).astype(np.uint8), gray) == kinds.PRECISION


def test_an_output_that_still_holds_its_initial_pattern_was_not_written():
    initial = RNG.standard_normal(1000).astype(np.float32)
    assert kind_of(initial, VECTOR, initial=initial) == kinds.NOTHING_WRITTEN
    assert kind_of(np.full(8, 77), np.arange(8), initial=77) == kinds.NOTHING_WRITTEN


def test_nan_that_the_kernel_computed_is_told_from_what_was_never_written():
    poison = np.full(1000, 0x7FC0DEAD, np.uint32).view(np.float32)
    made_by_arithmetic = np.full(1000, NAN)
    assert kind_of(poison, VECTOR, initial=poison) == kinds.NOTHING_WRITTEN
    assert kind_of(made_by_arithmetic, VECTOR, initial=poison) == kinds.NOT_A_NUMBER


def test_nan_that_was_computed_is_not_called_unwritten_without_the_initial_values_either():
    computed = np.full(1000, 0x7FFFFFFF, np.uint32).view(np.float32)  # as a GPU writes it
    assert kind_of(computed, VECTOR) == kinds.NOT_A_NUMBER
    assert kind_of(np.full(1000, np.nan, np.float32), VECTOR) == kinds.NOTHING_WRITTEN


def test_whole_numbers_too_large_for_a_double_are_compared_as_they_are():
    large = np.array([2**60, 5])
    assert kind_of(large.copy(), large) == kinds.PASS
    assert kind_of(large + [1, 0], large) != kinds.PASS


def test_nan_is_right_only_where_it_is_expected_however_exact_the_check_is():
    expected = np.array([1, 2, np.nan, 4], np.float32)
    for exact in (True, False):
        assert kind_of(expected.copy(), expected, exact=exact) == kinds.PASS
        assert kind_of(changed(expected, 1, NAN), expected, exact=exact) != kinds.PASS
        assert kind_of(changed(expected, 2, 3), expected, exact=exact) != kinds.PASS


def test_an_infinite_element_is_no_matter_of_precision():
    near = VECTOR * np.float32(1.001) + np.float32(1e-3)
    assert kind_of(near, VECTOR) == kinds.PRECISION
    assert kind_of(changed(near, 500, np.inf), VECTOR) != kinds.PRECISION
    assert kind_of(near, changed(VECTOR, 500, np.inf)) != kinds.PRECISION


def test_a_wrong_factor_near_one_is_no_matter_of_precision():
    assert kind_of(VECTOR * np.float32(1.01), VECTOR) == kinds.SCALED


def test_one_element_is_not_spoken_of_as_many():
    message = judge(np.ones(1, np.float32), np.full(1, 2, np.float32)).message
    assert "every" not in message and "the one element" in message


def test_the_message_counts_the_rows_and_columns_at_the_edge():
    wrong = changed(changed(MATRIX, slice(32, None), 5), (slice(None), slice(48, None)), 5)
    message = judge(wrong, MATRIX, name="c").message
    assert message.startswith("the last 5 rows and the last 5 columns of c are wrong")


def test_the_report_names_the_first_wrong_element_and_draws_where_the_errors_lie():
    text = str(judge(changed(MATRIX, (slice(32, None), slice(2, None)), 5), MATRIX, name="c"))
    assert f"first wrong: c[32, 2] (row 32, column 2), expected {MATRIX[32, 2]:.7g}, got 5" in text
    assert "wrong: 255 of 1961 elements" in text
    assert ". right" in text and "next:" in text
    drawing = [line.strip() for line in text.splitlines() if set(line.strip()) <= set(".x#?")]
    assert len(drawing) == 13 and "#" in drawing[-1] and set(drawing[0]) == {"."}


def test_the_panel_escapes_what_it_shows():
    html = judge(VECTOR + 100, VECTOR, name="<c>")._repr_html_()
    assert "&lt;c&gt;" in html and "<c>" not in html


def test_a_long_line_of_code_in_the_panel_is_not_broken():
    assert "white-space:pre;overflow-x:auto'>&lt;" in code_block("<" * 200)


def test_the_map_can_be_drawn_as_a_figure():
    figure = judge(changed(MATRIX, slice(32, None), 5), MATRIX).figure()
    assert figure.axes[0].get_title() == "output: wrong at the edges only"


def test_a_tolerance_follows_dtype_and_length_and_can_be_given():
    ones = np.ones(4, np.float32)
    u = 2.0**-24
    assert tolerance_for(ones, u).rtol == pytest.approx(16 * u)
    assert tolerance_for(ones, u, reduction=100).rtol == pytest.approx(88 * u)
    assert tolerance_for(ones, u, rtol=0.5).atol == 0.5
    with pytest.raises(ValueError, match="reduction"):
        tolerance_for(ones, u, reduction=0)


def test_what_is_off_by_just_the_tolerance_is_right():
    found, expected = np.float32([3, 1, 2]), np.float32([4, 2, 1])
    assert judge(found, expected, rtol=0.0, atol=1.0).passed
    assert not judge(found, expected, rtol=0.0, atol=0.999).passed


def test_one_large_element_does_not_loosen_the_tolerance_of_the_small_ones():
    values = np.ones(10_000, np.float32)
    values[0] = 1e6
    allowed = tolerance_for(values, 2.0**-24)
    assert allowed.atol == pytest.approx(allowed.rtol * np.sqrt(np.mean(values**2.0)))
    assert not judge(changed(values, 7, 1.5), values).passed


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_a_tolerance_follows_numbers_whose_squares_are_no_floats(scale):
    values = np.linspace(1, 2, 50) * scale
    allowed = tolerance_for(values, 2.0**-53)
    assert allowed.atol == pytest.approx(
        allowed.rtol * np.sqrt(np.mean((values / scale) ** 2)) * scale
    )
    assert not judge(changed(values, 7, 0.5 * scale), values).passed


@pytest.mark.parametrize("count, name", [(32_768, "(short)"), (65_536, "(unsigned short)")])
def test_what_16_bits_count_is_not_a_block(count, name):
    expected = np.arange(1, 70_001, dtype=np.float32)
    actual = np.where(np.arange(70_000) < count, expected, -7).astype(np.float32)
    verdict = judge(actual, expected)
    assert verdict.kind == kinds.WRONG and name in verdict.message
    assert verdict.hint == kinds.SLIP_STEP[kinds.Slip.SHORT_INDEX]


@pytest.mark.parametrize("size, wrong", [(2, 1), (3, 1), (4, 2), (5, 2)])
def test_a_result_of_a_few_elements_has_no_edge(size, wrong):
    expected = np.array([3.0, 8.0, 4.0, 9.0, 27.0], np.float32)[:size]
    actual = expected.copy()
    actual[-wrong:] = np.array([1000, -77], np.float32)[:wrong]
    assert kind_of(actual, expected) == kinds.WRONG
    more = np.append(np.arange(1, 9, dtype=np.float32), expected)
    assert kind_of(np.append(more[:-1], np.float32(1000)), more) == kinds.EDGES


def test_an_index_that_is_one_off_is_no_rounding_error():
    index = np.random.default_rng(3).permutation(500).astype(np.int32)
    off = index + (np.arange(500) % 3 == 0)
    assert kind_of(off.astype(np.int32), index) == kinds.WRONG
    grey = (index % 256).astype(np.uint8)
    rounded = np.where(grey % 3, grey, np.maximum(grey, 1) - 1).astype(np.uint8)
    verdict = judge(rounded, grey)
    assert verdict.kind == kinds.PRECISION and "rounded another way" in verdict.message
