"""Verdicts of exercises read as in the golden file, and each kind that numbers show is there."""

from answers import FILE, GROUPS, render

from course_utils.checking.error_kinds import NEXT_STEP, WRONG_DTYPE


def test_answers_read_as_in_the_golden_file():
    assert render() == FILE.read_text(encoding="utf-8"), "see the first lines of answers.txt"


def test_each_kind_that_numbers_show_is_among_the_answers():
    kinds = {line.partition(":")[0].lower() for line in FILE.read_text("utf-8").splitlines()}
    assert set(NEXT_STEP) - {WRONG_DTYPE} <= kinds | {"uninitialised read"}


def test_no_answer_is_there_twice():
    answers = [answer for group in GROUPS.values() for answer in group]
    assert len(set(answers)) == len(answers)
