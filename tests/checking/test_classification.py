"""Where one diagnosis ends and the next begins."""

import numpy as np
import pytest

from course_utils.checking import error_kinds as kinds
from course_utils.checking import judge
from course_utils.checking.error_kinds import Slip
from course_utils.checking.hypotheses.where_wrong import tails_of

RNG = np.random.default_rng(11)
VECTOR = RNG.standard_normal(1000).astype(np.float32)
MATRIX = RNG.standard_normal((37, 53)).astype(np.float32)
CUBE = RNG.standard_normal((4, 5, 6)).astype(np.float32)


def spoilt(array, *places, by=5.0):
    copy = array.copy()
    for place in places:
        copy[place] += by
    return copy


def test_the_tails_are_those_of_one_two_and_of_every_usual_block():
    assert tails_of(1000) == sorted({0, 1, 2, *(1000 % b for b in (16, 64, 128, 256, 512))})
    assert tails_of(3) == [0, 1, 2] and tails_of(2) == [0]  # one of two is no edge
    assert 999 % 64 in tails_of(999) and 999 % 32 in tails_of(999) and 1500 - 1024 in tails_of(1500)


@pytest.mark.parametrize("block", [4, 8, 16, 32, 64, 128, 256, 512, 1024])
def test_what_a_whole_number_of_blocks_leaves_is_a_tail(block):
    size = block + block // 2 + 1  # which no other block leaves
    assert block // 2 + 1 in tails_of(size) and block // 2 not in {*tails_of(size)} - {0, 1, 2}


@pytest.mark.parametrize(
    ("border", "kind"), [(1, kinds.EDGES), (2, kinds.EDGES), (3, kinds.EDGES), (4, kinds.WRONG)]
)
def test_a_border_of_up_to_three_is_an_edge(border, kind):
    inside = (slice(border, -border),) * 2
    wrong = MATRIX + 5
    wrong[inside] = MATRIX[inside]
    verdict = judge(wrong, MATRIX, name="c")
    assert verdict.kind == kind
    assert ("the inside of c is right" in verdict.message) == (kind == kinds.EDGES)


@pytest.mark.parametrize(("size", "border"), [(10, 1), (20, 2)])
def test_a_border_is_not_taken_for_a_wider_one_that_leaves_too_little(size, border):
    right = RNG.standard_normal((size, size)).astype(np.float32)
    wrong = right + 5
    inside = (slice(border, -border),) * 2
    wrong[inside] = right[inside]
    assert "only the border is wrong" in judge(wrong, right).message


def test_a_border_that_leaves_less_than_half_right_is_no_edge():
    small = MATRIX[:7, :7]
    wrong = small + 5
    wrong[2:-2, 2:-2] = small[2:-2, 2:-2]
    assert judge(wrong, small).kind != kinds.EDGES


def test_two_elements_are_too_few_to_be_called_reversed_shifted_or_scaled():
    two = np.array([1, 2], np.float32)
    assert judge(two[::-1].copy(), two).kind == kinds.WRONG
    assert judge(2 * two, two).kind == kinds.WRONG
    assert judge(3 * np.array([1, 2, 4], np.float32), np.array([1, 2, 4], np.float32)).kind == (
        kinds.SCALED
    )


def test_three_rows_are_enough_to_be_shifted():
    message = judge(np.roll(MATRIX, 1, axis=0), MATRIX, name="c").message
    assert "each row of c" in message and "the row before it" in message
    message = judge(np.roll(MATRIX, -1, axis=1), MATRIX, name="c").message
    assert "each column of c" in message and "the column after it" in message
    two = np.roll(MATRIX[:2], -1, axis=1)  # too few rows to be shifted, but not too few columns
    assert "the column after it" in judge(two, MATRIX[:2]).message
    three = np.roll(MATRIX[:3], 1, axis=0)
    assert "the row before it" in judge(three, MATRIX[:3]).message


def test_what_is_reversed_is_named_by_its_axis():
    assert "reversed along axis 1 (columns)" in judge(MATRIX[:, ::-1], MATRIX).message
    assert "reversed along axis 0 (rows)" in judge(MATRIX[::-1], MATRIX).message
    assert "reversed along axis 0 (matrices)" in judge(CUBE[::-1], CUBE).message
    assert "in reverse order" in judge(VECTOR[::-1], VECTOR, name="c").message
    three = MATRIX[:3]
    assert "reversed along axis 0 (rows)" in judge(three[::-1], three).message


def test_a_stack_of_matrices_can_be_transposed():
    swapped = CUBE.swapaxes(1, 2).reshape(CUBE.shape)
    assert judge(swapped, CUBE).kind == kinds.TRANSPOSED
    assert judge(MATRIX[:1].T.reshape(1, -1) + 5, MATRIX[:1]).kind != kinds.TRANSPOSED


def test_a_factor_is_named_and_a_wrong_sign_as_well():
    assert "2.5 times" in judge(2.5 * VECTOR, VECTOR, name="c").message
    assert judge(-VECTOR, VECTOR, name="c").message == "every element of c has the wrong sign."


def test_a_factor_shows_in_three_numbers_of_which_one_is_1():
    assert judge(np.float32([1, 2, 4]), np.float32([3, 6, 12])).kind == kinds.SCALED
    assert judge(np.float32([3, 6, 12]), np.float32([1, 2, 4])).kind == kinds.SCALED


def test_infinities_and_zeros_do_not_hide_a_factor():
    expected = VECTOR.copy()
    expected[:3] = np.inf, 0, -np.inf
    assert judge(3 * expected, expected).kind == kinds.SCALED
    whole = np.arange(1, 50)
    assert judge(3 * whole, whole).kind == kinds.SCALED


def test_an_infinite_result_is_no_factor():
    assert judge(np.full_like(VECTOR, np.inf), VECTOR).kind == kinds.WRONG


def test_truth_values_are_neither_scaled_nor_imprecise():
    expected = RNG.random(50) < 0.5
    assert judge(~expected, expected).kind == kinds.WRONG


def test_narrow_whole_numbers_off_by_one_are_rounding_where_they_spread_widely():
    wide, narrow = np.arange(0, 990, 33), np.arange(30) % 7
    odd = np.arange(30) % 2

    def kind(expected, by, dtype):
        return judge((expected + by * odd).astype(dtype), expected.astype(dtype)).kind

    assert kind(wide, 1, np.int16) == kinds.PRECISION
    assert kind(wide, 1, np.int32) != kinds.PRECISION  # counts and indices are not rounded
    assert kind(wide, 2, np.int16) != kinds.PRECISION
    assert kind(narrow, 1, np.int16) != kinds.PRECISION
    for largest, enough in ((31, False), (32, True)):
        spread = np.linspace(0, largest, 30).round().astype(int)
        assert (kind(spread, 1, np.uint8) == kinds.PRECISION) == enough


def test_two_wrong_ones_of_six_may_be_an_edge_and_of_five_not():
    for size, expected in ((6, kinds.EDGES), (5, kinds.WRONG)):
        right = RNG.standard_normal(size).astype(np.float32)
        assert judge(spoilt(right, slice(-2, None)), right).kind == expected
        assert judge(spoilt(right, slice(-1, None)), right).kind == kinds.EDGES


def test_a_few_elements_far_outside_the_tolerance_are_no_matter_of_precision():
    assert judge(spoilt(VECTOR, slice(500, 510), by=0.01), VECTOR).kind != kinds.PRECISION
    assert judge(spoilt(VECTOR, slice(100, 900), by=0.01), VECTOR).kind == kinds.PRECISION
    assert judge(spoilt(VECTOR, slice(500, 510), by=1e-5), VECTOR).kind == kinds.PRECISION


@pytest.mark.parametrize(
    ("right", "kind"),
    [
        (256, kinds.FIRST_BLOCK),
        (32, kinds.FIRST_BLOCK),
        (100, kinds.WRONG),  # no multiple of a warp
        (1, kinds.WRONG),
    ],
)
def test_the_first_block_of_a_vector_is_whole_warps(right, kind):
    wrong = VECTOR + RNG.standard_normal(1000).astype("f4") + 9
    wrong[:right] = VECTOR[:right]
    assert judge(wrong, VECTOR).kind == kind


@pytest.mark.parametrize(("right", "kind"), [(64, kinds.FIRST_BLOCK), (96, kinds.WRONG)])
def test_the_first_block_is_half_of_a_result_at_most(right, kind):
    wrong = VECTOR[:128] + RNG.standard_normal(128).astype("f4") + 9
    wrong[:right] = VECTOR[:right]
    assert judge(wrong, VECTOR[:128]).kind == kind


def test_a_stack_of_one_matrix_can_be_transposed():
    found = judge(MATRIX[None, :30, :30].swapaxes(-1, -2), MATRIX[None, :30, :30], name="c")
    assert found.kind == kinds.TRANSPOSED


def test_a_block_of_a_matrix_with_one_column_is_one_column_wide():
    column = MATRIX.reshape(-1, 1)[:128]
    wrong = column + 5
    wrong[:32] = column[:32]
    message = judge(wrong, column, name="c").message
    assert message.startswith("only the first 32 x 1 elements of c are right.")


def test_a_beginning_of_many_blocks_is_not_called_one_block():
    expected = RNG.standard_normal((2, 4096)).astype(np.float32)
    wrong = np.full_like(expected, np.nan)
    wrong[:, :2048] = expected[:, :2048]
    verdict = judge(wrong, expected, name="c")
    assert verdict.headline.startswith("ONLY THE BEGINNING IS RIGHT: only the first 2 x 2048 ")
    assert "or a limit" in verdict.message and "end at that number" in verdict.hint


def test_a_limit_in_the_number_of_matrices_is_no_edge():
    stack = RNG.standard_normal((67, 3, 5)).astype(np.float32)
    wrong = stack.copy()
    wrong[64:] = np.nan  # the rest of 67 by 64, and no block has a depth of 64
    verdict = judge(wrong, stack, name="c")
    assert verdict.kind == kinds.PARTLY_WRITTEN and "c[64, 0, 0]" in verdict.message


def test_a_few_wrong_elements_far_apart_are_no_edge():
    values = np.arange(1, 2001, dtype=np.float32)
    wrong = values.copy()
    wrong[[1594, 1999]] = -1
    verdict = judge(wrong, values, name="out")
    assert verdict.kind == kinds.WRONG and "everything else is right" not in verdict.message


def test_an_index_that_is_wrong_by_little_is_another_index():
    verdict = judge(np.array([32_000]), np.array([32_001]), name="token")
    assert verdict.message == "the one element of token is wrong."


def test_a_sum_that_lacks_a_term_is_not_told_to_be_one_of_precision():
    one = np.array([20], np.float32)
    verdict = judge(one - 0.5, one, name="c", reduction=300)
    assert verdict.kind == kinds.WRONG
    assert "one element of c is 2.5 % smaller" in verdict.message
    assert "0.02 % larger" in judge(one * 1.0002, one).message
    assert judge(one / 2, one, name="c").message == "the one element of c is wrong."
    assert judge(one * np.float32(1 - 6e-6), one).kind == kinds.PRECISION  # 1 / 20,000 is more
    few = np.array([20, 30, 50], np.float32)
    assert judge(few * [0.99, 1.01, 0.99], few).kind == kinds.WRONG
    alike = (20 + 2e-6 * np.arange(9)).astype(np.float32)
    assert judge(alike - np.float32(0.5), alike).kind == kinds.WRONG
    assert judge(alike - np.float32(1e-4), alike).kind == kinds.PRECISION
    many = np.arange(20, 26).astype(np.float32)
    assert judge(many * np.where(many % 2, 0.99, 1.01), many).kind == kinds.PRECISION


def test_equal_numbers_are_no_evidence_of_a_factor():
    counts = np.zeros(10, int)
    counts[5] = 65543
    assert judge(counts - 65536 * (counts > 0), counts).kind == kinds.WRONG  # an overflow
    same = np.full(7, 11.25, np.float32)
    assert judge(same * -0.8, same, name="c").message == "every element of c is wrong."
    different = np.array([1, 2, 2, 1], np.float32)
    assert judge(different * -0.8, different).kind == kinds.SCALED
    assert "the same value, 7" in judge(np.full(4, 7, np.float32), different, name="c").message


def test_more_than_half_or_a_lone_column_is_no_first_block():
    wrong = MATRIX + RNG.standard_normal(MATRIX.shape).astype("f4") + 9
    column = wrong.copy()
    column[:16, :1] = MATRIX[:16, :1]
    assert judge(column, MATRIX).kind == kinds.WRONG
    wrong[:16, :8] = MATRIX[:16, :8]
    verdict = judge(wrong, MATRIX, name="c")
    assert "first 16 x 8 elements of c" in verdict.message
    elsewhere = wrong.copy()
    elsewhere[20:36, 20:40] = MATRIX[20:36, 20:40]  # a sixth of the others is right, too
    assert judge(elsewhere, MATRIX).kind == kinds.WRONG


def test_a_first_block_whose_others_are_unwritten_says_so():
    wrong = np.full_like(VECTOR, np.nan)
    wrong[:64] = VECTOR[:64]
    assert "look never written: too few blocks" in judge(wrong, VECTOR).message
    before = np.arange(len(VECTOR), dtype=np.float32)  # a store would have changed it
    wrong[64:] = before[64:]
    assert "were never written: too few" in judge(wrong, VECTOR, initial=before).message


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ([slice(999, None)], "the last element of c is wrong,"),
        ([slice(998, None)], "the last 2 elements of c are wrong,"),
        ([slice(994, None)], "the last 6 elements of c are wrong,"),  # less than a block's rest
    ],
)
def test_a_tail_is_counted_as_it_is(places, words):
    message = judge(spoilt(VECTOR, *places), VECTOR, name="c").message
    assert message.startswith(words) and "everything else is right." in message


@pytest.mark.parametrize(
    ("array", "place", "words"),
    [
        (MATRIX, np.s_[-2:], "the last 2 rows"),
        (MATRIX, np.s_[:, -2:], "the last 2 columns"),
        (MATRIX, np.s_[:, -1:], "the last column"),
        (CUBE, np.s_[-2:], "the last 2 matrices"),
        (CUBE, np.s_[-1:], "the last matrix"),
    ],
)
def test_a_tail_of_an_array_is_named_by_what_lies_along_its_axis(array, place, words):
    assert judge(spoilt(array, place), array, name="c").message.startswith(f"{words} of c ")


def test_unwritten_elements_are_counted_and_the_first_one_is_named():
    wrong = MATRIX.copy()
    wrong[3, 7:50:3] = np.nan
    verdict = judge(wrong, MATRIX, name="c", initial=np.nan, poisoned=True)
    assert "15 of 1961 elements" in verdict.message and "c[3, 7]" in verdict.message
    assert verdict.slip is None and judge(wrong, MATRIX).slip is Slip.LOOKS_UNWRITTEN


def test_nans_are_counted():
    poison = np.full(10, 7, np.float32)
    got = np.arange(10, dtype=np.float32)
    got[4:6] = np.nan
    assert "2 of 10 elements of c are NaN" in (
        judge(got, np.arange(10, dtype=np.float32), initial=poison, name="c").message
    )


def test_a_beginning_of_three_axes_is_named_by_them():
    want = np.random.default_rng(3).standard_normal((4, 16, 32)).astype(np.float32)
    got = want + 1 + np.arange(32, dtype=np.float32) ** 2
    got[0, :13, :17] = want[0, :13, :17]
    verdict = judge(got, want, name="y", axes=("image", "row", "column"))
    assert verdict.kind == kinds.FIRST_BLOCK
    assert "only the first 1 image, 13 rows, 17 columns of y are right" in verdict.message
    got[:, :8] = want[:, :8]
    got[:, 8:] = 9
    verdict = judge(got, want, name="y", axes=("image", "row", "column"))
    assert verdict.message.startswith("only the first 8 rows of y are right")
