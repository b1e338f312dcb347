"""``beside_ours``: a learner's kernels beside the course's, counted."""

import re

import pytest

from course_utils import beside_ours
from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.outcome import Timing
from course_utils.exercises.student import side_by_side
from course_utils.exercises.student.saved_answers import passing_file

KERNEL = "00.double_it"


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    monkeypatch.setattr(side_by_side, "on_gpu", lambda: False)


def passed(source):
    passing_file(find(KERNEL)).write_text(source)


def numbers(label):
    return re.search(rf"{label} +(\S+) +(\S+)", str(beside_ours(KERNEL))).groups()


def test_before_a_pass_ours_is_the_bar():
    table = beside_ours(KERNEL)
    assert table[f"{KERNEL}, size 1000"] == "not passed yet"
    assert [row[1:] for row in table if "sectors" in row[0]] == [("", 250)]


def test_what_the_answer_does_more_is_counted():
    passed(find(KERNEL).solution.replace("y[i] = 2", "y[i] = x[i]; __syncwarp(); y[i] = 2"))
    assert numbers("sectors of global memory") == ("500", "250")


def test_an_answer_that_no_longer_compiles_says_what_to_do():
    passed("int x")
    assert "your answer no longer passes: run its cell again" in str(beside_ours(KERNEL))


def test_on_a_gpu_the_time_follows_and_the_library_s(monkeypatch):
    passed(find(KERNEL).solution)
    timing = Timing("a card", "9", {"yours": 0.5, "ours": 0.25}, ("a library", 0.125))
    monkeypatch.setattr(side_by_side, "on_gpu", lambda: True)
    monkeypatch.setattr(
        side_by_side,
        "run_source",
        lambda exercise, source, gpu: type("Outcome", (), {"timing": timing if gpu else None}),
    )
    assert list(beside_ours(KERNEL))[-2:] == [
        ("  µs at size 9, a card", 500.0, 250.0),
        ("  µs of a library", "", 125.0),
    ]


@pytest.mark.parametrize(
    "names, said", [((), "Name one exercise"), (("03.count_warps",), "no kernel")]
)
def test_what_has_no_kernel_is_refused(names, said):
    with pytest.raises(LessonError, match=said):
        beside_ours(*names)
