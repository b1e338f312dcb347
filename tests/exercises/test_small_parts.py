"""The small parts of the exercise system, each by what it answers."""

import contextlib
import gc
import math
import os
import sys
from dataclasses import FrozenInstanceError, is_dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from course_utils.checking.verdict import FAIL_COLOUR, PASS_COLOUR
from course_utils.emulator import Location
from course_utils.exercises import exercises_command, fault_film
from course_utils.exercises.authoring import chapter_tables, domain, generate, kinds, method, spec
from course_utils.exercises.authoring.launches import Empty, Launch, empty
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.sizes import Sizes, extents, lengths
from course_utils.exercises.authoring.vectors import BLOCK, SMALL
from course_utils.exercises.isolation.closed_book import (
    BookClosed,
    closed_book,
    refused,
    run_in_clean_frame,
)
from course_utils.exercises.isolation.plain_values import Unserialisable, plain
from course_utils.exercises.judging import outcome, python_answer, python_process
from course_utils.exercises.judging.entry_points import wanted_kernels
from course_utils.exercises.judging.number_answer import NotANumber, assignments
from course_utils.exercises.judging.outcome import Outcome, Timing, clip, simple, source_excerpt
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.shown_values import show
from course_utils.exercises.judging.trials import Trial
from course_utils.exercises.student import magic, saved_answers
from course_utils.exercises.student.saved_answers import DONE, OPEN, Line, Progress
from course_utils.notebooks import front_page
from course_utils.paths import README, ROOT

SAXPY = find("04.saxpy")
SECTORS = find("04.predict_sectors")
RNG = np.random.default_rng(3)


# --- what a verdict quotes ---


def test_an_excerpt_shows_the_line_with_its_neighbours_and_leaves_empty_ones_out():
    text = "a\nb\n\nd\ne\nf\ng\nh"
    assert source_excerpt(text, [2]) == "     1 | a\n->   2 | b"
    assert source_excerpt(text, [5, 99, 0], around=0) == "->   5 | e"
    left_out = source_excerpt(text, [4, 6, 7], around=0).splitlines()
    assert left_out == ["->   4 | d", "     ...", "->   6 | f", "->   7 | g"]
    assert source_excerpt(text, [1, 7]).splitlines() == [
        "->   1 | a",
        "     2 | b",
        "     ...",
        "     6 | f",
        "->   7 | g",
        "     8 | h",
    ]


def test_what_is_too_long_is_cut_and_says_how_many_lines_are_left():
    assert clip("a\nb\nc", 3, 99) == "a\nb\nc"
    assert clip("a\nb\nc\nd", 2, 99) == "a\nb\n... and 2 more lines"
    assert clip("x" * 300, 3, 999) == "x" * 200
    assert clip("abc\ndef\nghi", 3, 5) == "abc\nd\n... and 1 more lines"


def test_only_lines_of_the_student_s_own_file_are_quoted():
    places = (Location("mine.cu", 3, 0), None, Location("cuda_fp16.h", 7, 0))
    assert outcome._own_lines(places, "mine.cu") == [3]


def test_an_outcome_lists_its_target_its_times_and_its_note():
    timing = Timing("GPU", "n = 8", {"yours": 2.0, "ours": 1.5}, ("cub", 1.25))
    found = Outcome(
        "04.a",
        "<a>",
        simple(kinds.PASS, "right"),
        target=("loads", 3.0, 2.5),
        timing=timing,
        note="n",
    )
    assert found.facts == [
        "loads: 3.00, target at most 2.5",
        "GPU, n = 8: yours 2 ms, ours 1.5 ms, cub 1.25 ms",
        "n",
    ]
    assert str(found).splitlines()[-1] == "  n"
    html = replace(found, timing=None, target=None)._repr_html_()
    assert PASS_COLOUR in html and "Exercise 04.a: &lt;a&gt;" in html and "<img" not in html
    assert FAIL_COLOUR in Outcome("04.a", "a", simple(kinds.WRONG, "no"))._repr_html_()
    assert "<img alt=" in found._repr_html_()
    bars = [bar.get_width() for bar in found.figure().axes[0].patches]
    assert bars == [2.0, 1.5], "the times where there are some, and no counts"


def test_the_figure_of_a_target_has_the_starter_where_it_was_counted():
    found = Outcome("04.a", "a", simple(kinds.PASS, "right"), target=("loads", 3.0, 2.5))
    labels = [text.get_text() for text in found.figure().axes[0].get_yticklabels()]
    assert "yours" in labels and "starter" not in labels
    labels = [t.get_text() for t in replace(found, before=9.0).figure().axes[0].get_yticklabels()]
    assert "starter" in labels and "yours" in labels
    assert Outcome("04.a", "a", simple(kinds.PASS, "right")).figure() is None


# --- predictions ---


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("32 * 4", 128),
        ("-3", -3),
        ("7 // 2", 3),
        ("7 % 4", 3),
        ("7 / 2", 3.5),
        ("2 ** 5", 32),
        ("2 ** -2", 0.25),
        ("max(3, 4) - min(1, 2)", 3),
        ("round(2.6) + abs(-1) + int(1.9)", 5),
        ("...", None),
    ],
)
def test_a_prediction_may_be_simple_arithmetic(text, value):
    assert assignments(f"x = {text}") == {"x": value}


def test_a_prediction_may_use_one_before_it():
    assert assignments("a = b = 3\nc = 2 * a") == {"a": 3, "b": 3, "c": 6}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x = 2 ** 100000", "line 1: that power is too large."),
        ("x = 2 ** -100000", "line 1: that power is too large."),
        ("x = 1 / 0", "line 1: division by zero."),
        ("\nx = open('a')", "line 2: `open('a')` is not a number."),
        ("x = ... + 1", "line 1 still has dots."),
        ("x = y", "line 1: `y` is not a number."),
        ("x = 'a'", "is not a number."),
        ("x = True", "`True` is not a number."),
        ("x += 1", "line 1 is not `name = number`."),
        ("x.y = 1", "line 1 is not `name = number`."),
        ("x = round()", "line 1: round() missing"),
        ("x = (-8) ** 0.5", "line 1: "),
    ],
)
def test_what_is_no_prediction_is_told_by_its_line(text, words):
    with pytest.raises(NotANumber) as caught:
        assignments(text)
    assert words in str(caught.value)


def test_a_wrong_prediction_is_too_many_or_too_few():
    right = SECTORS.solution
    name, value = next(line.split(" = ") for line in right.splitlines() if " = " in line[:20])
    for change, words in ((1000, "too many"), (-1, "too few")):
        wrong = right.replace(f"{name} = {value}", f"{name} = {int(value) + change}", 1)
        assert f"is {words}." in str(run_source(SECTORS, wrong))


def test_a_number_with_too_few_digits_is_told_so():
    polynomial = find("03.polynomial")
    right = polynomial.solution.replace("0.941176470588", "0.94")
    assert "0.94 has too few digits to tell." in str(run_source(polynomial, right))
    assert "too little." in str(run_source(polynomial, right.replace("0.94", "0.93")))


# --- what a function returned ---


class Sly(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class Device:
    dtype = np.float32

    def get(self):
        return np.arange(3)


def test_values_are_made_anew_by_python_s_own_types():
    assert type(plain(Sly(3))) is int and plain(Sly(3)) != 4
    assert plain([Sly(1), (Sly(2), "a")]) == [1, (2, "a")]
    assert type(plain([Sly(1)])[0]) is int and type(plain((1,))) is tuple
    assert plain(True) is True and plain(None) is None
    assert plain(Device()).tolist() == [0, 1, 2]
    given = np.arange(3)
    found = plain(given)
    found[0] = 9
    assert given[0] == 0
    half = np.float16(0.5)
    assert plain(half) == half and type(plain(half)) is np.float16


def test_what_is_no_number_or_lies_too_deep_is_named_and_not_taken_along():
    deep = Sly(1)
    for _ in range(30):
        deep = [deep]
    found = plain(deep)
    while isinstance(found, list):
        found = found[0]
    assert found == Unserialisable("list", "<a deeply nested list>")
    assert plain(Sly) == Unserialisable("type", repr(Sly)) and plain(2j).type_name == "complex"
    most = np.zeros(2**24, np.uint8)  # 16 MiB
    assert isinstance(plain(most), np.ndarray)
    assert isinstance(plain(np.zeros(most.size + 1, np.uint8)), Unserialisable)
    whole = 1 << (1 << 28)
    assert isinstance(plain(whole), Unserialisable) and plain(1 << 5000) == 1 << 5000
    assert plain("a" * 10**6)[:3] == "aaa" and len(plain("a" * 10**6)) < 10**5
    for same in ({"a": (1, None)}, {1, 2}, np.array([["a", "b"]]), np.zeros((2, 0)), math.inf):
        assert np.array_equal(plain(same), same)


@pytest.mark.parametrize(
    ("value", "name"),
    [(True, "bool"), (np.bool_(1), "bool"), (3, "int"), (np.uint8(3), "int"), (0.5, "float")]
    + [(np.float32(1), "float"), ([1], "tuple"), ((1,), "tuple"), ("a", "str"), (None, "NoneType")],
)
def test_types_are_told_by_what_they_mean(value, name):
    assert python_answer._type(value) == name


def test_a_value_is_shown_as_far_as_a_reader_will_follow():
    assert show([1, "a"]) == "[1, 'a']"
    assert show("x" * 198) == repr("x" * 198)
    assert show("x" * 199) == f"'{'x' * 199}..."
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert show(deep) == "<a deeply nested list>"
    assert show(10**5000) == "<an integer of about 5,000 digits>"


@pytest.mark.parametrize(
    ("got", "want", "right"),
    [
        ((1, 2.0), [1, 2.0], True),
        ((1, 2.0), (1, 2.1), False),
        ((1,), (1, 2), False),
        (1, (1,), False),
        (True, 1, False),
        (3, 3.0, True),
        ("3", 3.0, False),
        ("a", "a", True),
        ("a", "b", False),
    ],
)
def test_results_are_compared_by_value_and_type(got, want, right):
    assert python_answer._right(got, want) is right


def test_a_syntax_error_points_at_its_place():
    try:
        compile("x = 1\ny = = 2", "cell", "exec")
    except SyntaxError as error:
        verdict = python_answer._syntax_error(error, "x = 1\ny = = 2")
    assert verdict.message.startswith("line 2: ")
    line, caret = verdict.excerpt.splitlines()
    assert line == "->   2 | y = = 2" and line[caret.index("^")] == "="
    assert caret.index("^") == line.index("= = ") + 2
    assert "CUDA" not in verdict.hint


def test_a_syntax_error_without_a_place_in_its_line_has_no_caret():
    verdict = python_answer._syntax_error(SyntaxError("why"), "x = 1\ny = 2")
    assert verdict.message == "line 1: why." and verdict.excerpt == "->   1 | x = 1"


def test_an_exception_is_shown_at_the_last_line_of_the_cell():
    wrong = "def blocks_for(n, threads):\n    return inner(n)\n\ndef inner(n):\n    return n.x\n"
    found = str(run_source(find("04.blocks_for"), wrong))
    assert "->   5 |     return n.x" in found and "->   2" not in found


def test_an_exception_of_a_library_is_shown_at_the_line_of_the_cell_that_called_it():
    wrong = 'import json\n\ndef blocks_for(n, threads):\n    return json.loads("no json")\n'
    found = str(run_source(find("04.blocks_for"), wrong))
    assert '->   4 |     return json.loads("no json")' in found


def test_of_an_exception_s_words_a_thousand_characters_are_shown():
    found = python_process._raised(ValueError("x" * 2000), SAXPY, "", "")
    assert found.message == f"ValueError: {'x' * (1000 - len('ValueError: '))}"


@pytest.mark.parametrize(
    ("got", "want", "kind"),
    [
        ([2, 1], [1, 2], "list"),
        ((2, 1), (1, 2), "tuple"),
        ((0, [2, 1]), (0, [1, 2]), "list"),
        ([0, (2, 1)], [0, (1, 2)], "tuple"),
    ],
)
def test_items_out_of_order_are_told_with_the_kind_of_what_holds_them(got, want, kind):
    said = python_answer._about_the_items(got, want)
    assert said == f"The items of a {kind} are right, and their order is not. "


def test_a_tuple_with_a_number_twice_says_nothing_of_its_order():
    assert not python_answer._about_the_items((3, 3, 2), (2, 3, 3))


def test_an_answer_has_the_memory_that_it_is_given():
    wrong = "def blocks_for(n, threads):\n    import resource\n"
    wrong += "    return resource.getrlimit(resource.RLIMIT_AS)[0]\n"
    assert f"returned {python_process.MEMORY}, expected" in str(
        run_source(find("04.blocks_for"), wrong)
    )


# --- the closed book ---


def test_while_the_book_is_closed_the_course_s_answers_cannot_be_opened():
    solution = ROOT / "kernels" / SAXPY.source
    with closed_book():
        for place in (solution, str(solution), str(solution).encode()):
            with pytest.raises(BookClosed, match="own answers are closed"):
                open(place)  # noqa: SIM115 (nothing is opened)
        with open(ROOT / "kernels" / "common" / "reduce.cuh") as file:
            assert file.read()
    with open(solution) as file:
        assert file.read()


def test_a_look_at_all_objects_is_refused_while_the_book_is_closed():
    gc.get_objects()  # open, it is anybody's right
    looked = pytest.raises(BookClosed, match="the checker's own variables are closed")
    with closed_book(), looked:
        gc.get_objects()


def test_what_was_refused_first_is_told_though_the_code_went_on(tmp_path):
    (tmp_path / "a").write_text("")
    with closed_book():
        with contextlib.suppress(BookClosed):
            open(ROOT / "kernels" / SAXPY.source).close()
        with pytest.raises(BookClosed, match="make no links"):
            os.link(tmp_path / "a", tmp_path / "b")
    assert "own answers are closed" in refused()
    with closed_book():
        pass
    assert refused() == ""


def test_a_book_that_is_closed_again_is_watched_by_no_second_hook(monkeypatch):
    with closed_book():
        pass
    hooks = []
    monkeypatch.setattr(sys, "addaudithook", hooks.append)
    with closed_book():
        pass
    assert hooks == []


def test_what_an_answer_raises_comes_out_of_its_thread():
    assert run_in_clean_frame(lambda a, b: a - b, 5, 3) == 2
    with pytest.raises(ZeroDivisionError):
        run_in_clean_frame(lambda: 1 // 0)


# --- what is promised ---


def test_the_lengths_of_a_promise_lie_between_its_limits():
    assert extents(33) == (1, 2, 3, 5, 7, 13, 17, 31, 32, 33)
    assert extents(5, least=0) == (0, 1, 2, 3, 5)
    assert extents(100, of=16) == (16, 32, 48, 64, 80)
    assert extents(70_000)[-2:] == (32_771, 65_543) and len(extents(70_000)) == 25
    multiples = 1, 2, 3, 4, 5, 7, 11, 13, 17, 33, 65, 129
    assert extents(10**6, of=4) == tuple(4 * n for n in multiples)
    assert lengths(most=3).extents == ((1, 2, 3),)


def test_a_length_past_a_warp_is_odd_so_that_no_block_or_vector_divides_it():
    even = {n for n in extents(10**6) if n % 2 == 0}
    assert even == {2, 32} and extents(10**6, least=0)[0] == 0


def test_the_longest_sizes_are_long_in_one_direction():
    sizes = Sizes(("rows", "columns"), ((1, 2, 9), (3, 4, 8)))
    assert sizes.longest() == [(9, 4), (2, 8)]
    assert Sizes(("n",), ((5,),)).longest() == [5]
    assert sizes.label((2, 8)) == "rows = 2, columns = 8"


def test_a_longer_extent_is_tried_beside_small_ones_only_and_is_part_of_what_a_task_says():
    sizes = Sizes(("rows", "columns"), ((1, 2, 9), (3, 4, 8))).with_outlier(columns=100)
    assert sizes.longest() == [(9, 4), (2, 100)]
    assert sizes.range() == "rows 1 to 9, columns 3 to 100"
    assert sizes.range([(0, 7), (4, 101)]) == "rows 0 to 9, columns 3 to 101"
    assert max(columns for _, columns in sizes.drawn(np.random.default_rng(0), 9)) == 8
    with pytest.raises(ValueError, match="columns = 8 is among the sizes drawn"):
        sizes.with_outlier(columns=8)


@pytest.mark.parametrize("most, told", [(999, "999"), (4099, "4,000 and more"), (2048, "2,048")])
def test_the_longest_size_is_told_in_round_numbers_unless_it_is_a_limit(most, told):
    assert domain.lengths(most=most).range([most]).endswith(f" to {told}")


def test_smaller_sizes_come_smallest_first_without_the_one_that_failed():
    sizes = Sizes(("rows", "columns"), ((1, 2, 9), (3, 4, 8)))
    assert list(sizes.smaller((2, 4))) == [(1, 3), (1, 4), (2, 3)]
    assert list(Sizes(("n",), ((1, 5, 9),)).smaller(9)) == [1, 5]
    assert list(Sizes(("n",), ((1, 5, 9),)).smaller(7)) == [1, 5]  # a size that is not drawn


VALUES = {
    "negative": (domain.NEGATIVE, lambda x, y: (y < 0).all()),
    "positive": (domain.POSITIVE, lambda x, y: (y > 0).all()),
    "equal": (domain.EQUAL, lambda x, y: (y == -3).all()),
    "ties": (domain.TIES, lambda x, y: len(np.unique(y)) == 5),
    "rising": (domain.RISING, lambda x, y: (np.diff(y.reshape(-1)) > 0).all()),
    "falling": (domain.FALLING, lambda x, y: (np.diff(y.reshape(-1)) < 0).all()),
    "large": (domain.LARGE, lambda x, y: np.allclose(y, x * 1e30)),
    "middling": (domain.MIDDLING, lambda x, y: np.allclose(y, x * 1000)),
    "small": (domain.SMALL, lambda x, y: np.allclose(y, x * 1e-6, atol=0)),
    "zeros": (domain.ZEROS, lambda x, y: not y.any()),
    "far below": (domain.LARGE_NEGATIVE, lambda x, y: (y < -1e30).all() and len(set(y.flat)) > 9),
    "far above": (domain.LARGE_POSITIVE, lambda x, y: (y > 1e30).all() and len(set(y.flat)) > 9),
    "-inf": (domain.MINUS_INFINITY, lambda x, y: (y == -np.inf).all()),
    "+inf": (domain.PLUS_INFINITY, lambda x, y: (y == np.inf).all()),
    "some inf": (domain.SOME_INFINITE, lambda x, y: np.isinf(y).sum() == 20),
    "very small": (domain.VERY_SMALL, lambda x, y: np.allclose(y, x * 1e-15, atol=0)),
    "faint": (domain.FAINT, lambda x, y: np.allclose(y, x * 1e-25, atol=0)),
    "infinite at the end": (
        domain.LAST_INFINITE,
        lambda x, y: np.isposinf(y[-1, -1]) and np.isinf(y).sum() == 1,
    ),
    "near the largest": (
        domain.HUGE,
        lambda x, y: (
            (np.abs(y) > 0.59 * np.finfo(np.float32).max).all()
            and np.isfinite(y).all()
            and (np.sign(y) == np.sign(x)).all()
        ),
    ),
    "some NaN": (domain.SOME_NAN, lambda x, y: np.isnan(y).sum() == 20),
    "signed zeros": (
        domain.ZEROS_OF_BOTH_SIGNS,
        lambda x, y: not y.any() and np.signbit(y).sum() == 160,
    ),
}


@pytest.mark.parametrize("name", VALUES)
def test_a_class_of_values_is_what_its_name_says(name):
    (_, change), holds = VALUES[name]
    x = RNG.standard_normal((10, 20)).astype(np.float32)
    y = np.asarray(change(x, np.random.default_rng(1)))
    assert y.shape == x.shape and holds(x, y)


def test_numbers_without_a_sign_get_values_without_one():
    x = np.arange(6, dtype=np.uint8)
    assert (domain.EQUAL[1](x, RNG) == 3).all()
    assert set(domain.TIES[1](np.zeros(99, np.uint8), RNG)) == {0, 1, 2}
    assert (domain.POSITIVE[1](x, RNG) == x + 1).all()


def test_changed_inputs_keep_their_dtypes_and_the_others_stay():
    given = {"x": np.ones(3, np.float32), "n": np.int32(3), "y": empty(3)}
    values = domain.data("x", domain.MIDDLING)[1]
    found = values.applied(given, RNG)
    assert values.label == "x about 1000" and found["x"].dtype == np.float32
    assert found["x"].tolist() == [1000] * 3 and found["n"] is given["n"]
    n = domain.scalars("n", 5, 7)
    assert [value.label for value in n] == ["", "n = 5", "n = 7"]
    assert n[2].applied(given, RNG)["n"] == np.int32(7)
    both = domain.together({"n": 1, "m": 2})[1]
    assert both.label == "n = 1, m = 2" and both.change(given, RNG) == {"n": 1, "m": 2}


def test_a_trial_says_how_it_differs_from_the_exercise_s_own_launch():
    assert Trial(33, 1).label(SAXPY) == "n = 33"
    dot = find("04.dot")
    grid = dot.contract.launches(33)[1]
    assert Trial(33, 1, launch=2).label(dot) == f"n = 33, grid {grid.grid[0]}, block 256"
    assert Trial(33, 1, launch=2).launches(dot) == (grid,)
    count = len(dot.contract.launches(33))
    assert Trial(33, 1, launch=2 + count).launches(dot) == (grid,)


def test_an_output_is_filled_by_its_kind():
    assert np.isnan(Empty((2,), np.dtype(np.float32)).fill)
    assert empty((2, 3), np.int32).fill == 0x5A and empty(7).shape == (7,)


def test_the_usual_lengths_are_telling():
    assert SMALL[0] % 32 and BLOCK + 1 in SMALL
    assert any(1 < n < 32 and n % 2 for n in SMALL) and SMALL[-1] == 1


def test_what_describes_an_exercise_cannot_be_changed_in_passing():
    for module in (magic, method, outcome, domain, spec, saved_answers):
        for name, kind in vars(module).items():
            if is_dataclass(kind) and kind.__module__ == module.__name__:
                assert kind.__dataclass_params__.frozen, name
    with pytest.raises(FrozenInstanceError):
        SAXPY.title = "other"


# --- method ---


def counts(**values):
    names = (
        "shared_store_bytes shared_atomic_bytes shared_copy_bytes shared_load_requests "
        "shared_store_requests shared_atomic_requests global_load_bytes global_store_bytes barriers"
    )
    return SimpleNamespace(**dict.fromkeys(names.split(), 0) | values)


def test_shared_memory_is_counted_with_its_atomics_and_copies():
    found = counts(shared_store_bytes=1, shared_atomic_bytes=20, shared_copy_bytes=300)
    work = SimpleNamespace(counts=found)
    assert method.shared_memory(advice="").measure(work) == 321
    found = counts(shared_load_requests=1, shared_store_requests=20, shared_atomic_requests=300)
    assert method.no_shared_memory("").measure(SimpleNamespace(counts=found)) == 321
    one = SimpleNamespace(counts=counts(shared_load_requests=1))
    assert method.no_shared_memory("").missing(one)
    assert not method.no_shared_memory("").missing(SimpleNamespace(counts=counts()))
    reads = method.reads_each_once(8).measure(SimpleNamespace(counts=counts(global_load_bytes=24)))
    assert reads == 3


def test_atomics_are_counted_in_the_space_that_is_asked_for():
    done = SimpleNamespace(atomics=np.array([1, 2]), shared_atomics=np.array([10, 20]))
    work = SimpleNamespace(launches=[SimpleNamespace(threads=done)] * 2)
    assert method.atomics("global", advice="").measure(work) == 6
    assert method.atomics("shared", advice="").measure(work) == 60


def test_the_bytes_read_from_an_array_are_its_own_in_all_launches():
    def launch(**loaded_from):
        return SimpleNamespace(loaded_from=loaded_from)

    work = SimpleNamespace(threads=[launch(x=4, flags=100), launch(y=8), launch(x=16)])
    mean = method.reads("x", 20, 24, advice="")
    assert mean.measure(work) == 20 and mean.missing(work) == ""
    assert method.reads("x", 21, advice="").missing(work)
    assert method.reads("x", 0, 19, advice="").missing(work)
    assert method.reads("z", 0, advice="").measure(work) == 0


def test_the_overlap_is_a_part_of_all_arithmetic_and_half_of_it_is_enough():
    def work(flops, overlapped):
        return SimpleNamespace(threads=[SimpleNamespace(flops=flops, overlapped=overlapped)])

    mean = method.overlap(advice="")
    assert mean.measure(work(8, 6)) == 0.75 and mean.measure(work(0, 0)) == 0
    assert mean.missing(work(8, 4)) == "" and mean.missing(work(8, 3))


def test_the_part_that_tma_feeds_is_one_of_all_arithmetic():
    work = SimpleNamespace(threads=[SimpleNamespace(flops=8, fed=n) for n in (4, 8)])
    assert method.beside_tma(advice="").measure(work) == 0.75
    assert method.beside_tma(0.7, advice="").missing(work) == ""
    assert method.beside_tma(0.8, advice="").missing(work)


def test_a_thread_each_is_a_thread_for_every_result():
    def work(touched):
        return SimpleNamespace(threads=[SimpleNamespace(touched=np.array(touched))], results=3)

    mean = method.a_thread_each()
    assert mean.measure(work([4, 0, 9])) == pytest.approx(2 / 3)
    assert mean.missing(work([4, 0, 9])) and not mean.missing(work([4, 4, 9]))


def test_a_mean_is_missing_below_its_least_and_above_its_most():
    found = method.Requirement("loads", lambda stats: stats, at_least=2, at_most=4)
    assert [found.missing(x) == "" for x in (1.9, 2, 4, 4.1)] == [False, True, True, False]
    assert found.missing(5) == "loads: 5; the limit is 4"
    assert found.missing(1) == "loads: 1; at least 2 are required"
    assert found.missing(4 * (1 + 1e-10)) == ""
    assert "12,288" in found.missing(12_288)


# --- the kernels that an answer must have ---


def test_the_kernels_to_look_for_are_those_of_the_first_size_which_has_work_for_all():
    def launches(n):
        return (Launch((1,), (32,)), Launch((1,), (32,), kernel="rest"))[: 1 + (n > 32)]

    text = "".join(f'extern "C" __global__ void {k}(int n) {{}}\n' for k in ("rest", "sum", "more"))
    exercise = SimpleNamespace(kernel="sum", solution=text, launches=launches, small=(1000, 1))
    exercise.with_probe = str
    assert list(wanted_kernels(exercise)) == ["rest", "sum"]


# --- cells and progress ---


def test_writing_says_which_notebooks_changed_and_which_are_missing(monkeypatch, capsys):
    books = {"04.a": ROOT / "chapters/04_a/01_b.ipynb", "04.b": ROOT / "chapters/04_first_kernels"}
    monkeypatch.setattr(
        exercises_command, "all_exercises", lambda: [SimpleNamespace(notebook=n) for n in books]
    )
    monkeypatch.setattr(generate, "notebook_path", lambda exercise: books[exercise.notebook])
    monkeypatch.setattr(generate, "unplaced", list)
    monkeypatch.setattr(front_page, "draw", lambda: False)
    monkeypatch.setattr(fault_film, "draw", lambda: False)
    for changed, words in (([], "nothing to update"), ([books["04.a"]], "updated 04_a/01_b.ipynb")):
        monkeypatch.setattr(generate, "write_notebooks", lambda changed=changed: changed)
        assert exercises_command._write() == 0
        missing = "missing 04.a.ipynb: its exercises wait for it"
        assert sorted(capsys.readouterr().out.splitlines()) == sorted([missing, words])


def test_writing_names_an_exercise_that_has_no_place(monkeypatch, capsys):
    monkeypatch.setattr(exercises_command, "all_exercises", list)
    for module, name in ((generate, "write_notebooks"), (chapter_tables, "write_tables")):
        monkeypatch.setattr(module, name, list)
    monkeypatch.setattr(front_page, "draw", lambda: False)
    monkeypatch.setattr(fault_film, "draw", lambda: False)
    monkeypatch.setattr(generate, "unplaced", lambda: [SAXPY])
    assert exercises_command._write() == 1
    assert (
        "04.saxpy has no place in 04_first_kernels/01_hello_threads.ipynb: write {{exercise "
        in (capsys.readouterr().out)
    )


def test_writing_counts_the_exercises_in_the_readme(tmp_path, monkeypatch, capsys):
    text = README.read_text(encoding="utf-8")
    page = tmp_path / "README.md"
    page.write_text(front_page.COUNTS.sub("1 notebooks and 2 checked exercises", text))
    monkeypatch.setattr(front_page, "README", page)
    monkeypatch.setattr(generate, "write_notebooks", list)
    monkeypatch.setattr(generate, "unplaced", list)  # takes seconds to draw every exercise's cells
    monkeypatch.setattr(chapter_tables, "write_tables", list)
    monkeypatch.setattr(fault_film, "draw", lambda: False)
    for words in ("counted the exercises in README.md\n", "nothing to update\n"):
        assert exercises_command._write() == 0
        assert capsys.readouterr().out == words
    assert f" and {len(all_exercises())} checked exercises" in page.read_text(encoding="utf-8")


def test_missing_cells_are_placed_behind_those_that_come_before_them():
    cells = generate.cells(SAXPY)
    task, starter, hints, _ = cells
    other = {"cell_type": "markdown", "id": "x", "metadata": {}, "source": "other"}
    for kept in ([task], [task, starter], [task, hints], [task, starter, hints]):
        found = generate.write_into({"cells": [*kept, other]}, [SAXPY])["cells"]
        assert found == [*cells, other]


def line(name, status=OPEN, tries=0, chapter="04"):
    return Line(name, f"<{name}>", chapter, f"{chapter}/01_a", status, tries)


def test_an_exercise_is_shown_by_its_kind_and_its_id():
    assert repr(SAXPY) == "KernelExercise(04.saxpy)"
    assert repr(find("03.waves")).endswith("Exercise(03.waves)")


def test_progress_counts_what_is_done_and_the_tries():
    found = Progress((line("a", DONE, 1), line("b", tries=2), line("c", chapter="06")))
    text = str(found).splitlines()
    assert text[0] == "04: 1 of 2 done" and text[3] == "06: 0 of 1 done"
    assert text[1].endswith("a  <a> (1 try)") and text[2].endswith("b  <b> (2 tries)")
    assert text[4].endswith("c  <c>")
    assert text[-1] == "In all: 1 of 3 done. Next: b, in chapters/04/01_a.ipynb."
    html = found._repr_html_()
    assert (
        "04: 1 of 2 done" in html and "&lt;b&gt; (2 tries)" in html and "1 of 3 done. Next" in html
    )
    done = Progress((line("a", DONE),))
    assert done.next is None and str(done).endswith("Everything is done.")


def test_two_habits_in_a_cell_are_told_by_the_first():
    source = SAXPY.solution.replace("a * x[i]", "a * x[i, 0]").replace(
        "if (i < n) {", "if (0 < i < n) {"
    )
    found = run_source(SAXPY, source)
    lines = source.splitlines()
    first = next(n for n, text in enumerate(lines, 1) if "0 < i < n" in text)
    assert f"In line {first}, `a < b < c`" in found.verdict.hint
