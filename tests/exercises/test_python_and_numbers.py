"""Exercises that are answered in Python: a function, or a number to predict."""

import time
from copy import deepcopy

import numpy as np
import pytest

from course_utils.exercises.authoring import counted_numbers, kinds
from course_utils.exercises.authoring.counted_numbers import counted
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.isolation.plain_values import written
from course_utils.exercises.judging.python_answer import (
    _compare,
    _right,
    judged,
    verdict_of,
)
from course_utils.exercises.judging.python_case import SMALLER
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.shown_values import show
from tests.machine_speed import slowness

BLOCKS = find("04.blocks_for")
SECTORS = find("04.predict_sectors")
HEAD = "def blocks_for(n, threads):\n    "
CELLS = {
    "cuda": (find("04.saxpy").solution, kinds.SYNTAX_ERROR, "looks like CUDA C++"),
    "other name": ("def blocks(n, threads): return 1", kinds.WRONG_NAME, "no function blocks_for"),
    "one parameter": ("def blocks_for(n): return 1", kinds.WRONG_SIGNATURE, "2 arguments"),
    "raises": (HEAD + "return n // 0", kinds.EXCEPTION, "->   3 |     return n // 0"),
    "recursion": (HEAD + "return blocks_for(n, threads)", kinds.EXCEPTION, "RecursionError"),
    "exit": (HEAD + "import sys; sys.exit(0)", kinds.EXCEPTION, "SystemExit"),
    "dies": (HEAD + "import os; os._exit(3)", kinds.CRASHED, "status 3"),
    "segfault": (
        HEAD + "import ctypes; return ctypes.string_at(0)",
        kinds.CRASHED,
        "ended its process",
    ),
    "memory": (HEAD + "return len(bytearray(8 * 2**30))", kinds.EXCEPTION, "MemoryError"),
    "a number of 250,000 digits": (HEAD + "return 9**64**3", kinds.WRONG, "250,"),
    "a list that holds itself": (
        HEAD + "x = []; x.append(x); return x",
        kinds.WRONG_TYPE,
        "returned the",
    ),
    "a deep list": (
        HEAD + "x = 1\n    for _ in range(99999): x = [x]\n    return x",
        kinds.WRONG_TYPE,
        "returned the",
    ),
    "a huge string": (HEAD + "return 'x' * 10**8", kinds.WRONG_TYPE, "..."),
    "a deep expression": (HEAD + "return " + "-" * 50_000 + "n", kinds.SYNTAX_ERROR, "deep"),
    "string": (HEAD + "return '4'", kinds.WRONG_TYPE, "the str '4'"),
    "missing module": ("import no_such\n" + HEAD + "return 1", kinds.EXCEPTION, "no_such"),
    "unicode": (HEAD + "return '你好 ✓'", kinds.WRONG_TYPE, "你好"),
}


@pytest.mark.parametrize("case", CELLS)
def test_a_python_cell_gets_its_verdict_and_a_word_that_helps(case):
    source, kind, words = CELLS[case]
    outcome = run_source(BLOCKS, source, first_line=2)
    assert outcome.kind == kind, outcome
    assert words in str(outcome) and outcome._repr_html_()


def test_a_cell_may_define_dataclasses_as_in_a_notebook():
    source = (
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    n: int\n    threads: int\n"
        "assert Pair.__annotations__['n'] is int\n"
        + HEAD
        + "pair = Pair(n, threads)\n    return -(-pair.n // pair.threads)"
    )
    assert run_source(BLOCKS, source).passed


def test_wrong_arrays_of_a_python_function_are_not_blamed_on_a_kernel():
    source = "import numpy as np\ndef tame(x): return np.clip(x, -1, 1)"
    outcome = run_source(find("01.find_the_export_bug"), source)
    assert outcome.kind == kinds.WRONG
    assert "by hand, line by line" in str(outcome) and "kernel" not in str(outcome)


def test_the_wrong_end_of_an_array_is_not_blamed_on_a_thread():
    verdict = _compare(np.r_[1.0:9.0, 0.0], np.r_[1.0:10.0], "count()")
    assert verdict.kind == kinds.EDGES
    assert "thread" not in str(verdict) and "grid" not in str(verdict)


def test_equal_numbers_of_another_type_are_called_so():
    verdict = _compare((4.0, 2), (4, 2), "work()")
    assert verdict.kind == kinds.WRONG_TYPE
    assert "returned (4.0, 2): equal to (4, 2), but of another type" in str(verdict)
    assert _compare((5.0, 2), (4, 2), "work()").kind == kinds.WRONG


@pytest.mark.parametrize(
    ("got", "want", "right"),
    [
        (1 + 1e-8, 1.0, True),
        (1 + 1e-5, 1.0, False),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        ([1, 2 + 1e-8], (1, 2.0), True),
        ([1, 2.1], (1, 2.0), False),
        ((1,), (1, 2), False),
        (((1, 2), "a"), ((1, 2), "a"), True),
        ((1, 2), ((1, 2), "a"), False),
        ([[0, 3], (3, 1)], [(0, 3), (3, 1)], True),
        ([(0.0, 3.0)], [(0, 3)], False),
        ([(np.int64(0), 3)], [(0, 3)], True),
    ],
)
def test_a_returned_number_is_judged_as_check_does(got, want, right):
    assert _right(got, want) is right


def test_numbers_that_are_only_moved_are_compared_to_the_last_bit():
    layout = find("01.conv_layout")
    for change, kind in (
        (" * np.float32(1.0000001)", kinds.PRECISION),
        (" + 0", kinds.WRONG),
        ("", kinds.PASS),
    ):
        source = f"import numpy as np\n{layout.solution}".replace("1, 0)", f"1, 0){change}")
        assert run_source(layout, source).kind == kind, change


def test_an_array_of_floats_may_be_as_far_off_as_its_exercise_allows_and_one_of_integers_not():
    want = np.float32([1, 2, 3, 5])
    assert _compare(want * np.float32(1.0009), want, "f()", limit=1e-3) is None
    assert _compare(want * np.float32(1.0009), want, "f()", limit=1e-6)
    whole = np.int32([1000, 3000])
    assert _compare(whole + 1, whole, "f()", limit=0.01)
    assert _compare(np.float32([-0.0, 1]), np.float32([0, 1]), "f()") is None
    assert _compare(np.float32([-0.0, 1]), np.float32([0, 1]), "f()", exact=True)


def test_in_a_tuple_an_array_of_small_numbers_is_as_near_as_they_are_small():
    want = (np.float32([0.001, 0.002]), [0.25, 0.5] * 30)  # too long to be shown whole
    near, off = (want[0] * np.float32(x) for x in (1.0009, 1.05))
    assert _compare((near, want[1]), want, "f()", limit=1e-3) is None
    assert "first wrong: result[0][0]," in _compare((off, want[1]), want, "f()", limit=1e-3).message


def test_a_python_function_has_no_first_block():
    tame = find("01.find_the_export_bug")
    source = tame.solution.replace(".max()", ".max(axis=-1, keepdims=True)")
    outcome = run_source(tame, source)
    assert outcome.kind == kinds.WRONG


def test_an_endless_python_loop_ends_at_its_time_limit():
    start = time.monotonic()
    verdict = verdict_of(BLOCKS, HEAD + "while True: pass", seconds=2)
    assert verdict.kind == kinds.TIME_LIMIT and time.monotonic() - start < 8 * slowness()


def test_a_flood_of_print_is_cut_short():
    flood = HEAD + "print('line\\n' * 9999); return -(-n // threads)"
    text = str(run_source(BLOCKS, flood))
    assert text.startswith("PASS") and "more lines" in text and len(text) < 2000


@pytest.mark.parametrize(
    ("change", "got", "wrong"),
    [
        (("n // 8 << 17", "n // 8 << 18"), "0x08200490", "wrong bits: 20 to 21\n"),
        (("m // 16 << 24", "m // 16 << 32"), "0x800100490", "it does not fit 32 bits\n"),
        (
            ("return word | n // 8 << 17 | m // 16 << 24", "return -135267472"),
            "-0x8100490",
            "it does not fit 32 bits\n",
        ),
    ],
    ids=["fields", "too large", "below zero"],
)
def test_a_word_of_fields_is_told_bit_by_bit(change, got, wrong):
    word = find("08.instruction_word")
    assert change[0] in word.solution
    text = str(run_source(word, word.solution.replace(*change)))
    assert f"returned {got}, expected 0x08100490.\n  {wrong}" in text
    assert "Which field" in text


def test_a_list_of_many_equal_items_is_shown_by_their_number():
    assert show([1] * 64) == "[1] * 64" and show(("a",) * 12) == "('a',) * 12"
    assert show([1] * 5) == "[1, 1, 1, 1, 1]"
    assert show([1] * 12 + [2]).startswith("[1, 1, 1") and show([True] + [1] * 12)[:6] == "[True,"


def test_an_array_in_a_message_is_told_on_one_line_and_a_large_one_by_its_shape():
    layout = find("01.conv_layout")
    large_alone = layout.with_fields(cases=layout.cases[1:])
    call = {"value": written(np.ones((3, 3, 3, 2), np.float32)), "left": [], "advice": ""}
    verdict = judged(large_alone, {"calls": [call], "problem": None})
    headline = verdict.message.split("\n")[0]
    assert verdict.hint == SMALLER  # this one can't be worked by hand
    assert headline.startswith("to_channels_last(<float32 array of shape (2, 3, 3, 3)>): ")
    small, large = np.eye(2, dtype=np.float32), np.zeros((5, 8))
    assert show(small) == "array([[1., 0.], [0., 1.]], dtype=float32)"
    assert show([small[0], large]) == (
        "[array([1., 0.], dtype=float32), <float64 array of shape (5, 8)>]"
    )


@pytest.mark.parametrize(
    ("got", "want", "told"),
    [
        ([1 / 3], [2 / 3], "returned [0.333333], expected [0.666667]"),
        (1.0 + 1e-9, 1.0, "returned 1.000000001, expected 1.0"),  # six digits would be equal
    ],
)
def test_floats_have_the_digits_that_show_the_difference(got, want, told):
    assert told in _compare(got, want, "f()", limit=1e-12).message


def test_the_end_of_what_was_printed_before_a_process_died_is_shown():
    died = HEAD + "import os, sys; print('a' * 300 + 'b' * 400); sys.stdout.flush(); os._exit(3)"
    verdict = verdict_of(BLOCKS, died)
    assert verdict.kind == kinds.CRASHED and verdict.excerpt == "a" * 199 + "b" * 400


@pytest.mark.parametrize(("bytes", "kind"), [(2**26, kinds.PASS), (2**26 + 1, kinds.EXCEPTION)])
def test_an_answer_writes_at_most_64_mib_into_a_file(bytes, kind, tmp_path):
    write = f"f = open('{tmp_path}/long', 'wb'); f.seek({bytes - 1}); f.write(b'x'); f.close()"
    verdict = verdict_of(BLOCKS, HEAD + f"{write}; return -(-n // threads)")
    assert verdict.kind == kind
    assert "File too large" in verdict.message or kind == kinds.PASS


def predict(old, new):
    return run_source(SECTORS, SECTORS.solution.replace(old, new), first_line=2)


def test_an_untouched_prediction_speaks_of_its_dots_and_not_of_comments_it_lacks():
    said = str(run_source(SECTORS, SECTORS.starter))
    assert "the dots" in said and "TODO" not in said


def test_a_prediction_may_be_arithmetic_and_names_given_before():
    text = SECTORS.solution.replace("= 4", "= 32 * 4 // 32").replace("= 8", "= 2 * neighbours")
    assert run_source(SECTORS, text).passed


def test_a_wrong_prediction_says_what_was_overlooked_and_not_the_answer():
    outcome = predict("neighbours = 4", "neighbours = 128")
    assert outcome.kind == kinds.WRONG_NUMBER
    assert "neighbours = 128 is too many" in str(outcome)
    assert "That is the number of bytes" in str(outcome)
    assert "too few" in str(predict("every_eighth = 32", "every_eighth = 31"))


@pytest.mark.parametrize(
    ("new", "kind"),
    [
        ("neighbours = 10 ** 10 ** 10", kinds.WRONG_TYPE),
        ("neighbours = 9**64**4", kinds.WRONG_TYPE),
        ("neighbours = max(3, min(32, 4))", kinds.PASS),
        ("neighbours = min(4)", kinds.WRONG_TYPE),
        ("neighbours = open(4)", kinds.EXCEPTION),
        ("neighbours = len({4 * i // 32 for i in range(32)})", kinds.PASS),
        ("from math import gcd\nneighbours = gcd(4, 32)", kinds.PASS),
        ("import numpy as np\nneighbours = np.int64(4)", kinds.PASS),
        ("sectors = lambda stride: 4 * stride\nneighbours = sectors(1)", kinds.PASS),
        ("n, neighbours = 32, 4", kinds.PASS),
        ("neighbours = float('nan')", kinds.WRONG_TYPE),
        ("n = {}\nneighbours = n", kinds.WRONG_TYPE),
        ("def f(): pass\nneighbours = ...", kinds.WRONG_TYPE),
        ("import os\nos._exit(3)\nneighbours = 4", kinds.CRASHED),
        (
            "from course_utils.exercises.authoring.counted_numbers import counted\nneighbours = 4",
            kinds.COPIED,
        ),
        ("neighbours = 0x" + "f" * 5000, kinds.WRONG_TYPE),
        ("neighbours = " + "-" * 5000 + "4", kinds.WRONG_TYPE),
        ("neighbours = " + "1 + " * 20_000 + "1", kinds.WRONG_TYPE),
        ("neighbours = " + "(" * 5000 + "4" + ")" * 5000, kinds.SYNTAX_ERROR),
        ("neighbours = 1 / 0", kinds.WRONG_TYPE),
        ("neighbours = (-1) ** 0.5", kinds.WRONG_TYPE),
        ("neighbours = 1e999 - 1e999", kinds.WRONG_TYPE),
        ("neighbours = 'four'", kinds.WRONG_TYPE),
        ("neighbours = __import__('os')", kinds.WRONG_TYPE),
        ("import os", kinds.WRONG_NAME),
        ("neighbours = four", kinds.WRONG_TYPE),
        ("neighbours = ", kinds.SYNTAX_ERROR),
        ("neighbor = 4", kinds.WRONG_NAME),
    ],
)
def test_only_numbers_and_arithmetic_count_as_predictions(new, kind):
    assert predict("neighbours = 4", new).kind == kind


def test_the_right_numbers_come_from_the_emulator_s_counters(monkeypatch):

    monkeypatch.setattr(counted_numbers, "_counted", {})
    monkeypatch.setattr(type(SECTORS), "text", SECTORS.text.replace("stride * i", "i"))
    assert set(counted(SECTORS).values()) == {4.0}


def test_the_kernel_to_count_is_part_of_the_task():
    assert "```cpp\n// y[i] = x[stride * i]" in SECTORS.task_text


@pytest.mark.parametrize(
    ("value", "right", "near"),
    [
        (0.941, 16 / 17, True),
        (0.9412, 16 / 17, True),
        (1.031, 33 / 32, True),
        (0.94, 16 / 17, False),
        (0.942, 16 / 17, False),
        (1030, 1031, False),
    ],
)
def test_a_fraction_may_be_rounded_to_three_digits_and_a_count_may_not(value, right, near):
    from course_utils.exercises.judging.number_answer import _rounds_to

    assert _rounds_to(value, right) == near


@pytest.mark.parametrize(
    ("value", "right", "hint"),
    [(3.90625, 4, "ROUND_UP"), (4.2, 4, "WHICH_WAY"), (3.0, 4, None), (1.31, 2.0, None)],
)
def test_a_count_that_is_no_integer_is_told_so(value, right, hint):
    from course_utils.exercises.judging import number_answer

    name = next(iter(SECTORS.asks))
    told = number_answer._wrong(SECTORS, name, value, right)
    assert told.kind == kinds.WRONG_NUMBER
    assert ("not an integer" in told.message) == (hint is not None)
    assert hint is None or told.hint == getattr(number_answer, hint)


def test_a_quotient_that_was_rounded_down_is_told_to_round_up():
    atomics = find("04.predict_atomics")
    assert {type(number) for number in counted(atomics).values()} == {int}
    for right, wrong in (("= 4", "= 1000 // 256"), ("= 391", "= 100_000 // 256")):
        assert right in atomics.solution
        told = run_source(atomics, atomics.solution.replace(right, wrong))
        assert told.kind == kinds.WRONG_NUMBER and "Round up" in told.verdict.hint


def test_a_whole_number_is_not_told_to_have_too_few_digits():
    from course_utils.exercises.judging.number_answer import _wrong

    name = next(iter(SECTORS.asks))
    texts = [str(_wrong(SECTORS, name, value, 1.125).message) for value in (1.0, 1.1)]
    assert [" has too few digits" in text for text in texts] == [False, True]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("return sorted(taken), sorted", "by hand"),
        ("return sorted(taken)[::-1], sorted", "their order is not"),
        ("return sorted(taken), [], sorted", "The result's length is 3, and 2 was expected"),
    ],
)
def test_a_wrong_list_is_told_by_its_length_and_order(answer, words):
    source = find("02.linked").solution.replace("return sorted(taken), sorted", answer)
    if words == "by hand":
        source = source.replace(" and library[m][0] & (used - defined)", "")
    assert words in str(run_source(find("02.linked"), source))


def test_where_a_long_result_is_cut_the_first_wrong_place_is_named():
    want = ([0.25, 0.5] * 30, [[1, 2], [3, 4]])
    verdict = _compare((want[0], [[1, 2], [5, 4]]), want, "f(7)")
    assert "first wrong: result[1][1][0], expected 3, got 5" in verdict.message
    assert "first wrong" not in _compare([1, 2], [1, 3], "f(7)").message


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ((2,), "f(7): result[2] is 'none waits', expected 'y alone waits'."),
        (
            (1, 0),
            "result[1] is [0, [2, 3]], expected [1, [2, 3]].\n  first wrong: result[1][0],",
        ),
        ((0, 1, 30), "f(7): result[0][1][27:34] is [27, 28, 29, 0, 31, 32, 33], expected [27, 28"),
    ],
)
def test_of_a_long_result_only_the_part_that_differs_is_written_out(place, words):
    want = (["float32", [*range(99)]], [1, [2, 3]], "y alone waits")
    got = deepcopy(want[:2]) + (want[2] if len(place) > 1 else "none waits",)
    part = got
    for index in place[:-1]:
        part = part[index]
    if part is not got:
        part[place[-1]] = 0
    assert words in _compare(got, want, "f(7)").message


@pytest.mark.parametrize("place, wrap", [("result", list), ("result[0]", lambda x: (x, 1))])
def test_of_a_long_result_of_another_length_the_item_that_only_one_has_is_shown(place, wrap):
    some, more = [*range(98)], [*range(99)]
    short = _compare(wrap(some), wrap(more), "f(7)").message
    assert f"{place}[95:99] is [95, 96, 97], expected [95, 96, 97, 98]." in short
    assert f"first wrong: {place}[98], expected 98, got nothing" in short
    assert "expected nothing, got 98" in _compare(wrap(more), wrap(some), "f(7)").message


LONG = {f"layer {n}": n for n in range(40)}


@pytest.mark.parametrize(
    ("got", "want", "told"),
    [
        (LONG | {"layer 30": 7}, LONG, "result['layer 30'] is 7, expected 30."),
        (LONG, LONG | {"bias": [1]}, "result['bias'] is nothing, expected [1]."),
        (LONG | {"bias": 1}, LONG, "result['bias'] is 1, expected nothing."),
        (["", LONG | {"layer 39": 0}], ["", LONG], "result[1]['layer 39'] is 0, expected 39."),
        (LONG | {"layer 0": "x"}, LONG, "result['layer 0'] is 'x', expected 0."),
        ("a" * 250 + "bc", "a" * 250 + "dc", "result[220:252] is 'aaaaa"),
        ("a" * 250 + "bc", "a" * 250 + "dc", "first wrong: result[250], expected 'd', got 'b'"),
        ("a" * 250, "a" * 251, "first wrong: result[250], expected 'a', got nothing"),
        ({1: 2}, {1: 3}, "f() returned {1: 2}, expected {1: 3}."),
    ],
)
def test_of_long_dicts_and_strings_the_part_that_differs_is_shown(got, want, told):
    message = _compare(got, want, "f()").message
    assert told in message
    assert message.count("result['") < 2  # and it's said once


def test_a_warning_names_the_line_of_the_cell_and_no_file_of_this_machine():
    warn = "import numpy as np; np.float64(1) / 0; np.mean([])"
    verdict = verdict_of(BLOCKS, HEAD + f"{warn}; return -(-n // threads)")
    assert verdict.passed
    assert "line 2: RuntimeWarning: divide by zero" in verdict.printed
    assert "\nRuntimeWarning: Mean of empty slice" in verdict.printed
    assert ".py" not in verdict.printed and "/" not in verdict.printed


def test_the_first_wrong_place_is_found_in_an_array_of_a_tuple_too():
    want = np.float32([[np.nan, np.inf], [1, 2]]), [0.25, 0.5] * 30
    got = np.float32([[np.nan, np.inf], [1, 2.00001]]), want[1]
    message = _compare((got[0] + np.float32([0, 1]), want[1]), want, "f(7)", limit=1e-3).message
    assert "first wrong: result[0][1, 1], expected 2, got 3" in message
    assert _compare(got, want, "f(7)", limit=1e-3) is None
