"""Each trait that all wrong elements share is found where it is, and none by chance."""

import re
import warnings

import ml_dtypes
import numpy as np
import pytest

from course_utils.checking import error_kinds as kinds
from course_utils.checking import judge
from course_utils.checking.error_kinds import SLIP_STEP, Slip
from course_utils.checking.hypotheses.partial_sums import tree_keeps
from course_utils.devices import emulated_cupy
from course_utils.devices.last_launches import Launched

RNG = np.random.default_rng(5)
VECTOR = RNG.standard_normal(60).astype(np.float32)
MATRIX = RNG.standard_normal((12, 10)).astype(np.float32)
SIGNAL = (RNG.standard_normal(64) + 1j * RNG.standard_normal(64)).astype(np.complex64)
SPECTRUM = np.fft.fft(SIGNAL).astype(np.complex64)
REAL = np.fft.fft(VECTOR).astype(np.complex64)
GREY = np.minimum(RNG.integers(0, 400, 300), 255).astype(np.uint8)
NUMBERS = np.arange(1000)
SUMS = np.where(GREY == 255, RNG.integers(256, 400, 300), GREY)


def edited(array, where, value):
    copy = array.copy()
    copy[where] = value
    return copy


NAN = np.float32(np.nan)
A, B = RNG.standard_normal((16, 32)), RNG.standard_normal((32, 24))
SQUARE = RNG.standard_normal((2, 7, 7))
TILES = RNG.standard_normal((64, 64))
EDGE = np.zeros(60, bool)
EDGE[[0, -1]] = True
CASES = {
    "conjugated": (REAL.conj(), REAL, kinds.WRONG, Slip.EXPONENT_SIGN, "conjugate"),
    "the other exponent": (
        np.fft.ifft(SIGNAL, norm="forward").astype("c8"),
        SPECTRUM,
        kinds.REVERSED,
        Slip.EXPONENT_SIGN,
        "64 - k",
    ),
    "rolled by half": (np.roll(VECTOR, 30), VECTOR, kinds.WRONG, Slip.ROLLED, "half of all 60"),
    "rolled by half, odd": (np.fft.fftshift(VECTOR[:7]), VECTOR[:7], kinds.WRONG, Slip.ROLLED, "3"),
    "rolled in both axes": (
        np.fft.fftshift(MATRIX),
        MATRIX,
        kinds.WRONG,
        Slip.ROLLED,
        "every axis",
    ),
    "rolled by 7 rows": (np.roll(MATRIX, 7, 0), MATRIX, kinds.WRONG, Slip.ROLLED, "5 rows"),
    "n times": (60 * VECTOR, VECTOR, kinds.SCALED, Slip.COUNT_AS_FACTOR, "60 elements"),
    "one of n": (MATRIX / 12, MATRIX, kinds.SCALED, Slip.COUNT_AS_FACTOR, "1 / 12"),
    "wrapped at 256": (SUMS.astype(np.uint8), GREY, kinds.WRONG, Slip.WRAPPED, "255"),
    "kept in 16 bits": (
        np.array([1, 70_000 % 65536, 3, 65543 % 65536]),
        np.array([1, 70_000, 3, 65543]),
        kinds.WRONG,
        Slip.WRAPPED,
        "16 bits",
    ),
    "kept in 16 bits, and 8 would do": (
        np.array([6, 7]),
        np.array([65542, 65543]),
        kinds.WRONG,
        Slip.WRAPPED,
        "16 bits",
    ),
    "a maximum from 0": (np.maximum(VECTOR, 0), VECTOR, kinds.WRONG, Slip.NEUTRAL, "maximum"),
    "a minimum from 0": (np.minimum(VECTOR, 0), VECTOR, kinds.WRONG, Slip.NEUTRAL, "minimum"),
    "zeros": (edited(VECTOR, slice(3, 30, 4), 0), VECTOR, kinds.WRONG, Slip.ZEROS, "7 wrong"),
    "overflow": (edited(VECTOR, slice(3, 30, 4), np.inf), VECTOR, kinds.WRONG, Slip.INFINITE, ""),
    "a NaN left out": (VECTOR, edited(VECTOR, [3, 9], NAN), kinds.WRONG, Slip.LEFT_OUT, "NaN"),
    "edges doubled": (
        np.where(EDGE, 2 * VECTOR, VECTOR),
        VECTOR,
        kinds.EDGES,
        Slip.EDGES_COUNTED_TWICE,
        "twice",
    ),
    "the inside halved": (
        np.where(EDGE, VECTOR, VECTOR / 2),
        VECTOR,
        kinds.WRONG,
        Slip.SAME_FACTOR,
        "half",
    ),
    "the other sign": (
        np.where(EDGE, VECTOR, -VECTOR),
        VECTOR,
        kinds.WRONG,
        Slip.WRONG_SIGN,
        "each of the 58 wrong",
    ),
    "one too many": (VECTOR + 1, VECTOR, kinds.WRONG, Slip.OFFSET, "1 too large"),
    "a whole block too small": (
        NUMBERS - 256 * (NUMBERS >= 256),
        NUMBERS,
        kinds.FIRST_BLOCK,
        Slip.OFFSET_OF_INTEGERS,
        "256 too small",
    ),
    "no blockIdx in a value": (
        NUMBERS % 256,
        NUMBERS,
        kinds.FIRST_BLOCK,
        Slip.BLOCK_INDEX_MISSING,
        "start again after each 256",
    ),
    "from the third row on": (
        np.vstack([MATRIX[:2], MATRIX[2:] ** 3 + 1]),
        MATRIX,
        kinds.FIRST_BLOCK,
        Slip.FIRST_LINES,
        "2 x 10",
    ),
    "tiles that changed places": (
        TILES.reshape(2, 32, 2, 32).swapaxes(0, 2).reshape(64, 64)[:37, :36],
        TILES[:37, :36],
        kinds.WRONG,
        Slip.OFF_DIAGONAL,
        "32 x 32",
    ),
    "one value": (
        edited(VECTOR, slice(3, 30, 4), 8.5),
        VECTOR,
        kinds.WRONG,
        Slip.SAME_VALUE,
        "8.5",
    ),
    "permuted": (
        VECTOR.reshape(3, 4, 5).swapaxes(0, 1).reshape(60),
        VECTOR,
        kinds.WRONG,
        Slip.ELSEWHERE,
        "output[5] holds the value of output[20]",
    ),
    "a float counter": (
        np.float32([5, 2**24]),
        np.float32([5, 2e7]),
        kinds.WRONG,
        Slip.STUCK,
        "16,777,216 (2^24)",
    ),
    "a half counter": (np.float16([2048]), np.float16([3000]), kinds.WRONG, Slip.STUCK, "half"),
    "counted twice": (VECTOR[:1] * 2, VECTOR[:1], kinds.WRONG, Slip.COUNTED_AGAIN, "2 times"),
    "by each lane": (np.array([16000]), np.array([500]), kinds.WRONG, Slip.COUNTED_AGAIN, "32 t"),
    "half of the frequencies": (
        np.where(np.arange(60) <= 30, REAL, 0),
        REAL,
        kinds.WRONG,
        Slip.HALF_SPECTRUM,
        "first 31 of 60",
    ),
    "rfft": (np.fft.rfft(VECTOR), np.fft.fft(VECTOR), kinds.WRONG_SHAPE, Slip.HALF_SPECTRUM, "60"),
    "B A": (
        SQUARE[1] @ SQUARE[0],
        SQUARE[0] @ SQUARE[1],
        kinds.WRONG,
        Slip.OPERANDS_SWAPPED,
        "eigenvalues",
    ),
    "two thirds": (np.array([128]), np.array([192]), kinds.WRONG, Slip.TERMS_MISSING, "2/3"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_slip_is_named_with_its_data_and_its_own_step(case):
    actual, expected, kind, slip, data = CASES[case]
    verdict = judge(actual, expected)
    assert (verdict.kind, verdict.slip) == (kind, slip) and data in verdict.message
    assert verdict.hint == SLIP_STEP[slip]


FLT_MAX = np.finfo(np.float32).max
TRIPLES = np.random.default_rng(9).standard_normal((700, 3)).astype(np.float32)


def half_sorted(x):
    """Sorted by two exchanges of three."""
    y = x.copy()
    for left, right in ((0, 1), (1, 2)):
        y[:, left], y[:, right] = np.minimum(y[:, left], y[:, right]), y[:, [left, right]].max(1)
    return y


@pytest.mark.parametrize("number", [np.inf, FLT_MAX, -np.inf, -FLT_MAX, 0])
@pytest.mark.parametrize("sign", [1, -1])
def test_a_start_value_that_wins_is_told_from_one_that_stays_alone(number, sign):
    x = VECTOR.reshape(6, 10)
    right = sign * (sign * x).max(axis=1)
    wrong = edited(right, -1, number)
    verdict = judge(wrong, right, name="y", inputs={"x": x})
    slip = None if number == 0 else Slip.START_VALUE if sign * number > 0 else Slip.START_ALONE
    assert verdict.slip is slip and verdict.kind == kinds.EDGES
    which = "maximum" if sign > 0 else "minimum"
    assert slip is None or which in verdict.message


def test_a_limit_of_an_integer_is_a_start_value_too():
    x = np.random.default_rng(2).integers(-99, 99, (8, 40), np.int32)
    right = x.min(axis=1)
    wrong = edited(right, [2, 5], np.iinfo(np.int32).min)
    assert judge(wrong, right, inputs={"x": x}).slip is Slip.START_VALUE
    sums = x.sum(axis=1) + 10_000  # no element of x
    assert judge(edited(sums, [2, 5], np.iinfo(np.int32).min), sums, inputs={"x": x}).slip is None


def test_values_that_the_numbers_put_elsewhere_are_no_mistake_of_an_index():
    right = np.sort(TRIPLES)
    verdict = judge(half_sorted(TRIPLES).reshape(-1), right.reshape(-1), inputs={"x": TRIPLES})
    assert verdict.slip is Slip.OUT_OF_ORDER
    assert judge(right[:, ::-1].reshape(-1), right.reshape(-1)).slip is Slip.ELSEWHERE


@pytest.mark.parametrize("axis", [0, 1])
def test_lines_that_changed_places_are_told_though_many_elements_are_0(axis):
    right = np.maximum(np.random.default_rng(5).standard_normal((48, 64)), 0)
    order = np.arange(right.shape[axis]).reshape(-1, 4)[:, [0, 2, 1, 3]].ravel()
    verdict = judge(np.take(right, order, axis), right)
    assert verdict.slip is Slip.ELSEWHERE
    told, at = re.search(r"C?(\[.*?\]) holds the value of \w+(\[.*?\])", verdict.message).groups()
    told, at = (tuple(map(int, index[1:-1].split(","))) for index in (told, at))
    assert right[at] and np.take(right, order, axis)[told] == right[at]


def test_numbers_that_start_again_after_another_count_are_no_missing_block():
    places = np.arange(400)
    verdict = judge(places % 32, places % 80 % 32)
    assert verdict.slip is Slip.OTHER_PERIOD and "80" in verdict.message


def test_another_window_s_maximum_is_no_other_index_s_value():
    x = np.random.default_rng(3).standard_normal(300)

    def maxima(width):
        return np.array([x[i : i + width].max() for i in range(len(x))])

    for width in (8, 12, 15, 17):
        assert judge(maxima(width), maxima(16)).slip is None, width


def test_wrong_elements_among_the_last_are_counted_where_others_are_right():
    right = np.arange(1, 41.0) ** 2
    wrong = edited(right, slice(37, None, 2), -3)
    verdict = judge(wrong, right)
    assert verdict.kind == kinds.EDGES and "2 of the last 3 elements" in verdict.message


def test_a_row_before_the_last_is_no_edge():
    verdict = judge(edited(MATRIX, (10, slice(3, 9)), 7), MATRIX)
    assert verdict.kind == kinds.WRONG
    assert judge(edited(MATRIX, (11, slice(3, 9)), 7), MATRIX).kind == kinds.EDGES


def test_every_slip_has_a_step():
    assert {*SLIP_STEP} == {*Slip}


def test_random_mistakes_have_nothing_in_common():
    found = []
    for draw in (
        lambda n: RNG.standard_normal(n).astype(np.float32),
        lambda n: RNG.integers(0, 10, n),
        lambda n: RNG.integers(0, 256, n).astype(np.uint8),
        lambda n: RNG.integers(-4, 5, n).astype(np.float32),
        lambda n: (RNG.standard_normal(n) + 1j * RNG.standard_normal(n)).astype(np.complex64),
    ):
        for size in (5, 8, 33, 100) * 5:
            right, other = draw(size) + 1, draw(size) + 1
            wrong = np.where(RNG.random(size) < RNG.choice([0.1, 0.5, 1]), other, right)
            launches = [Launched("k", (-(-size // 8),), (int(RNG.choice([4, 6, 8])),))] * 2
            verdict = judge(wrong, right, inputs={"x": draw(4 * size)}, launches=launches)
            found += [verdict.message] if verdict.slip and verdict.slip is not Slip.ZEROS else []
    assert not found


def test_random_products_have_nothing_in_common():
    for m, n, k in ((4, 4, 4), (16, 16, 16), (5, 9, 3), (8, 3, 12)) * 3:
        a, b = RNG.integers(-3, 4, (m, k)), RNG.integers(-3, 4, (k, n))
        for wrong in (a @ b + RNG.integers(-3, 4, (m, n)), RNG.permutation((a @ b).reshape(-1))):
            verdict = judge(wrong.reshape(m, n), a @ b, inputs={"a": a, "b": b})
            slips = (Slip.OPERAND_LAYOUT, Slip.LEADING_DIMENSION, Slip.OPERANDS_SWAPPED)
            assert verdict.slip not in slips


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.complex64, np.int64, np.uint8])
def test_no_number_is_too_strange_for_a_verdict(dtype):
    strange = [np.nan, np.inf, -np.inf, 0, -0.0, 1, 2.5, 3e38, -3e38, 1e-45, 1.79e308, -1.79e308]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = np.array(strange).astype(dtype)
    for _ in range(60):
        right, other = RNG.choice(numbers, (2, 3, 4))
        wrong = np.where(RNG.random((3, 4)) < 0.4, other, right)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            inputs = {"x": RNG.choice(numbers, (12, 4)), "y": RNG.choice(numbers, (3, 3))}
            launches = [Launched("k", (3,), (6,))] * 2
            assert str(judge(wrong, right, zeros=True, inputs=inputs, launches=launches))


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        ([2, 2, 2, 2, 2], [2, 3, 2, 1, 0]),  # two of five are right: they hold it by chance
        ([0, 4, 8], [3, 4, 8]),
        ([0, 1, 0, 0, 1], [1, 1, 1, 1, 1]),
        ([1, 2, 6, 2], [1, 2, 3, 1]),
        ([50], [75]),
    ],
)
def test_a_few_small_numbers_have_nothing_in_common_that_counts(actual, expected):
    assert judge(np.array(actual), np.array(expected)).slip is None


def test_zeros_at_the_edges_keep_the_step_of_the_edges():
    verdict = judge(edited(VECTOR, slice(-3, None), 0), VECTOR)
    assert (verdict.kind, verdict.slip) == (kinds.EDGES, Slip.ZEROS)
    assert verdict.hint == kinds.NEXT_STEP[kinds.EDGES]


@pytest.mark.parametrize(("size", "lost"), [(6, [2, 5]), (7, [2, 5, 6]), (8, [])])
def test_a_tree_over_a_size_that_is_no_power_of_two_loses_elements(size, lost):
    assert [*np.flatnonzero(~tree_keeps(size))] == lost


@pytest.mark.parametrize(
    ("kept", "data"),
    [
        (tree_keeps(48), ("isn't a power of two", "x[2]")),
        (np.arange(48) < 32, ("32 of 48 terms", "x[32]")),
        (np.arange(48) != 7, ("without x[7]", "47 of 48")),
        (np.arange(33) < 32, ("32 of 33 terms", "x[32]")),  # a loop, as a tree would
    ],
)
def test_the_terms_that_a_sum_left_out_are_named(kept, data):
    x = RNG.standard_normal(len(kept)).astype(np.float32)
    rows = RNG.standard_normal((5, len(kept))).astype(np.float32)
    for inputs, got, expected in (
        (x, x[kept].sum(keepdims=True), x.sum(keepdims=True)),
        (rows, rows[:, kept].sum(axis=1), rows.sum(axis=1)),
    ):
        verdict = judge(got, expected, inputs={"n": np.int32(48), "x": inputs}, reduction=48)
        assert verdict.slip is Slip.TERMS_MISSING
        for words in data if inputs.ndim == 1 else data[:1] * (len(got) == 1):
            assert words in verdict.message


def flipped(matrix):
    """Stored by rows, read by columns."""
    return matrix.reshape(matrix.shape[::-1]).T


def apart(matrix, width):
    rows, columns = matrix.shape
    return matrix.reshape(-1)[np.arange(rows)[:, None] * width + np.arange(columns)]


TILED = A.reshape(1, 16, 2, 16).transpose(0, 3, 2, 1).reshape(16, 32)
PRODUCTS = {
    "a by columns": (flipped(A) @ B, Slip.OPERAND_LAYOUT, "a is read by columns"),
    "both by columns": (flipped(A) @ flipped(B), Slip.OPERAND_LAYOUT, "both are read by columns"),
    "tiles by columns": (TILED @ B, Slip.OPERAND_LAYOUT, "tiles of 16 x 16"),
    "another width": (A @ apart(B, 16), Slip.LEADING_DIMENSION, "16 elements from one row"),
}


@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize("case", PRODUCTS)
def test_the_operand_that_is_misread_is_named(case, flat):
    got, slip, data = PRODUCTS[case]
    inputs = {"k": np.int32(32), "a": A.reshape(-1) if flat else A, "b": B}
    verdict = judge(got, A @ B, inputs=inputs)
    assert verdict.slip is slip and data in verdict.message
    partly = np.where(np.arange(16)[:, None] < 5, got, A @ B + 1)
    assert judge(partly, A @ B, inputs=inputs).slip is None
    assert judge(got, A @ B + A @ flipped(B), inputs=inputs).slip is None  # of other operands


def test_operands_in_the_other_order_are_named():
    a, b = SQUARE
    verdict = judge(b @ a.T, a @ b, inputs={"a": a, "b": b})
    assert verdict.slip is Slip.OPERANDS_SWAPPED and "with a transposed" in verdict.message


# --- launches ---


def test_what_is_added_by_each_launch_is_named():
    launches = [Launched("total", (4,), (32,))] * 3
    for actual, expected in (([30], [10]), (VECTOR * 3, VECTOR), (VECTOR[:1] * 2, VECTOR[:1])):
        verdict = judge(np.array(actual), np.array(expected), launches=launches)
        assert (verdict.kind, verdict.slip) == (kinds.SCALED, Slip.ADDED_AGAIN)
        assert "total was launched 3 times" in verdict.message
    for wrong in (VECTOR * 4, VECTOR + 1, VECTOR * 2.5):
        assert judge(wrong, VECTOR, launches=launches).slip is not Slip.ADDED_AGAIN
    assert judge(VECTOR * 2, VECTOR, launches=launches[:1]).slip is not Slip.ADDED_AGAIN


@pytest.mark.parametrize("per_block", [False, True])
@pytest.mark.parametrize(
    ("threads", "kept", "data"),
    [
        (24, tree_keeps(24), "24 threads"),
        (192, np.arange(192) < 128, "6 warps"),  # by __shfl_xor_sync over 6 lanes
        (192, np.repeat(tree_keeps(6), 32), "6 warps"),
        (192, tree_keeps(192), "192 threads"),
    ],
)
def test_a_tree_over_the_threads_of_a_block_is_named(threads, kept, data, per_block):
    x = RNG.standard_normal(5 * threads - 7)
    terms = np.append(x, np.zeros(7)).reshape(5, threads)
    got, want = (terms * kept).sum(axis=1), terms.sum(axis=1)
    if not per_block:
        got, want = got.sum(keepdims=True), want.sum(keepdims=True)
    launches = [Launched("total", (5,), (threads,))]
    verdict = judge(got, want, inputs={"x": x}, launches=launches, rtol=1e-9)
    assert verdict.slip is Slip.TREE_OF_BLOCK and data in verdict.message


# --- elements never written ---

DTYPES = [np.float16, np.float32, np.float64, np.complex64, np.int8, np.int32, np.uint64]


@pytest.mark.parametrize("dtype", [*DTYPES, ml_dtypes.bfloat16], ids=lambda d: np.dtype(d).name)
def test_what_cp_empty_made_counts_as_never_written_whatever_its_dtype(dtype):
    right = np.arange(1, 41).astype(dtype)
    bare = emulated_cupy.empty(40, dtype)
    assert judge(bare, right).kind == kinds.NOTHING_WRITTEN
    bare[:20] = emulated_cupy.asarray(right[:20])
    assert judge(bare, right).kind in (kinds.EDGES, kinds.PARTLY_WRITTEN, kinds.FIRST_BLOCK)
    assert "never written" in judge(bare, right).message
    assert "never written" in judge(bare.get(), right).message


def test_a_nan_that_carries_the_bits_of_unwritten_memory_was_made_from_it():
    right = np.arange(1, 9, dtype=np.float32)
    bare, out = emulated_cupy.empty(8, np.float32), emulated_cupy.zeros(8, np.float32)
    out[...] = bare * 2 + 1
    verdict = judge(out, right)
    assert (verdict.kind, verdict.slip) == (kinds.NOT_A_NUMBER, Slip.UNWRITTEN_MEMORY)
    assert judge(out, right, initial=0).slip is Slip.UNWRITTEN_MEMORY
    shared = emulated_cupy.zeros(8, np.float32)  # filled with ones, as unwritten shared memory is
    shared[...] = emulated_cupy.asarray(np.full(8, -1, np.int32).view(np.float32))
    assert judge(shared, right).slip is Slip.UNWRITTEN_MEMORY


UNFILLED = {  # what a kernel stores in y, beside x, neither of them filled
    "2 * x": lambda x, y: 2 * x,
    "y + 1": lambda x, y: y + 1,
    "y + right": lambda x, y: y + emulated_cupy.arange(1, 9, dtype=y.dtype),
    "x": lambda x, y: x,
}


@pytest.mark.parametrize("stored", UNFILLED.values(), ids=UNFILLED)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, np.uint64])
def test_elements_that_were_stored_from_memory_never_filled_are_not_called_unwritten(stored, dtype):
    x, y = emulated_cupy.empty(8, dtype), emulated_cupy.empty(8, dtype)
    right = np.arange(1, 9).astype(dtype)
    with np.errstate(over="ignore"):
        y[...] = stored(x, y)
    verdict = judge(y, right)
    assert verdict.slip in (Slip.LOOKS_UNWRITTEN, Slip.UNWRITTEN_MEMORY)
    assert "NOTHING WRITTEN" not in verdict.headline
    assert verdict.kind == (
        kinds.NOTHING_WRITTEN if verdict.slip is Slip.LOOKS_UNWRITTEN else kinds.WRONG
    )


def test_what_held_a_value_of_its_own_before_the_launch_was_not_written():
    before, right = np.arange(8, dtype=np.int32), np.arange(1, 9, dtype=np.int32)
    verdict = judge(before.copy(), right, initial=before)
    assert (verdict.kind, verdict.slip) == (kinds.NOTHING_WRITTEN, None)
    assert "NOTHING WRITTEN" in verdict.headline


BEFORE = np.full(20, 100, np.int32)
RIGHT = np.arange(1, 21, dtype=np.int32)


@pytest.mark.parametrize(
    ("found", "stored", "kind", "slip", "unwritten"),
    [
        (edited(RIGHT, [3, 8, 9], 100), edited(RIGHT > 0, [3, 8, 9], False), "PARTLY", None, 3),
        (edited(RIGHT, [3, 8, 9], 100), RIGHT > 0, "WRONG", Slip.OLD_VALUE, 0),
        (edited(edited(RIGHT, [3, 8, 9], -7), 12, 100), RIGHT != 13, "WRONG", None, 1),
        (BEFORE, RIGHT > 0, "WRONG", Slip.OLD_VALUE, 0),
    ],
)
def test_an_old_value_that_was_stored_again_is_not_called_unwritten(
    found, stored, kind, slip, unwritten
):
    verdict = judge(found, RIGHT, initial=BEFORE, stored=stored)
    expected = {"PARTLY": kinds.PARTLY_WRITTEN, "WRONG": kinds.WRONG}[kind]
    assert (verdict.kind, verdict.slip, verdict.unwritten) == (expected, slip, unwritten)


def test_a_computed_nan_in_an_array_of_cp_empty_is_no_gap():
    right = np.arange(1, 9, dtype=np.float32)
    out = emulated_cupy.empty(8, np.float32)
    with np.errstate(invalid="ignore"):
        out[...] = emulated_cupy.zeros(8, np.float32) / 0
    verdict = judge(out, right)
    assert (verdict.kind, verdict.slip) == (kinds.NOT_A_NUMBER, None)
    assert "0 * inf" in verdict.hint


# --- names of axes ---


def test_a_matrix_that_is_stored_by_columns_is_spoken_of_by_row_and_column():
    right = RNG.standard_normal((9, 7)).astype(np.float32)
    wrong = edited(right, (4, slice(2, None)), 5)  # in row 4
    verdict = judge(wrong.T.copy(), right.T.copy(), order="F", name="C")
    assert verdict.first.index == (4, 2) and "(row 4, column 2)" in str(verdict)
    assert verdict.heat.rows[4] == "..#####" and "rows down, columns across" in str(verdict)


def test_axes_have_the_names_that_the_caller_gives_them():
    right = RNG.standard_normal((2, 9, 7)).astype(np.float32)
    wrong = edited(right, (slice(None), slice(None), -1), 5)
    verdict = judge(wrong, right, axes=("head", "query", "key"), name="S")
    assert verdict.message.startswith("the last key of S is wrong")
    assert "(head 0, query 0, key 6)" in str(verdict)
    assert "one head below another, queries down, keys across" in verdict.heat.caption
    with pytest.raises(ValueError, match="3 dimensions"):
        judge(wrong, right, axes=("query", "key"))


def test_the_inputs_at_the_first_wrong_index_are_shown():
    wrong = edited(MATRIX, (3, 4), 5)
    verdict = judge(wrong, MATRIX, inputs={"a": MATRIX * 2, "n": 10, "row": MATRIX[0]})
    assert f"inputs there: a[3, 4] = {MATRIX[3, 4] * 2:.7g}, n = 10\n" in str(verdict)


# --- maps ---


def test_there_is_no_map_where_nothing_is_right():
    assert judge(VECTOR + RNG.standard_normal(60).astype("f4") + 9, VECTOR).heat is None


def test_a_map_explains_the_marks_that_it_has():
    verdict = judge(edited(VECTOR, slice(3, 30, 4), 8.5), VECTOR)
    assert verdict.heat.legend == ". right   # wrong"
    verdict = judge(edited(VECTOR, slice(30, None), np.nan), VECTOR)
    assert verdict.heat.legend == ". right   ? unwritten memory"
    assert "the first element is at the left" in str(verdict)


def test_errors_that_are_even_are_drawn_from_the_first_element_on():
    many = RNG.standard_normal(5000).astype(np.float32)
    verdict = judge(edited(many, slice(1, None, 3), 9), many)
    assert verdict.heat.rows == (".#." * 21 + ".",) and verdict.heat.corner


# --- where the threads of a launch get ---

LONG = np.arange(1, 1001, dtype=np.float32)
IMAGE = RNG.standard_normal((40, 64)).astype(np.float32)
AT = np.arange(1000)
ROW, COLUMN = np.indices(IMAGE.shape)
REACHED = {  # what is right, of which array, with which launch
    "a grid rounded down": (AT < 768, (3,), (256,), kinds.EDGES, Slip.GRID_TOO_SMALL, "3 blocks"),
    "half a grid": (AT < 512, (2,), (256,), kinds.FIRST_BLOCK, Slip.GRID_TOO_SMALL, "2 blocks"),
    "no blockIdx": (AT < 256, (4,), (256,), kinds.FIRST_BLOCK, Slip.BLOCK_INDEX_MISSING, "4"),
    "a stride of 128": (AT < 640, (4,), (256,), kinds.FIRST_BLOCK, Slip.BLOCK_STRIDE, "128"),
    "gridDim for blockDim": (AT < 268, (4,), (256,), kinds.FIRST_BLOCK, Slip.BLOCK_STRIDE, "gridD"),
    "roles": (AT % 256 < 4, (4,), (256,), kinds.WRONG, Slip.ROLES_SWAPPED, "16 of 1000"),
    "no threadIdx": (AT % 256 == 0, (4,), (256,), kinds.WRONG, Slip.THREAD_INDEX_MISSING, "4 of"),
    "x and y": (COLUMN < 48, (4, 3), (16, 16), kinds.FIRST_BLOCK, Slip.XY_SWAPPED, "40 x 48"),
    "too few rows": (ROW < 32, (4, 2), (16, 16), kinds.FIRST_BLOCK, Slip.GRID_TOO_SMALL, "32 x 64"),
    "one tile": (
        (ROW < 16) & (COLUMN < 16),
        (4, 3),
        (16, 16),
        kinds.FIRST_BLOCK,
        Slip.BLOCK_INDEX_MISSING,
        "16 x 16",
    ),
}


@pytest.mark.parametrize("other", [0, NAN], ids=["zeros", "unwritten"])
@pytest.mark.parametrize("case", REACHED)
def test_the_index_that_leads_to_the_right_elements_only_is_named(case, other):
    right, grid, block, kind, slip, data = REACHED[case]
    expected = LONG if right.ndim == 1 else IMAGE
    launch = Launched("k", grid, block)
    verdict = judge(np.where(right, expected, other), expected, launches=[launch])
    assert (verdict.kind, verdict.slip) == (kind, slip) and data in verdict.message
    computed = np.where(right, expected, expected + 1)  # by another mistake
    assert judge(computed, expected, launches=[launch]).slip is not slip
    assert judge(np.where(right, expected, other), expected).slip is not slip


def test_no_edge_is_as_wide_as_a_third():
    assert judge(edited(LONG, slice(640, None), 5), LONG).kind == kinds.WRONG
    verdict = judge(edited(LONG, slice(640, None), 0), LONG)
    assert verdict.kind == kinds.FIRST_BLOCK and "first 640" in verdict.message
    assert judge(edited(LONG, slice(768, None), 5), LONG).kind == kinds.EDGES  # 1000 % 256
    assert judge(edited(LONG, slice(950, None), 5), LONG).kind == kinds.EDGES
