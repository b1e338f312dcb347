"""An exercise that has moved still answers to the ids that it had, and no work on it is lost."""

import json

import pytest

from course_utils.__main__ import main
from course_utils.exercises import answer, exercises_command, hint, progress, reset, restore
from course_utils.exercises.authoring import kinds, registry
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.judging import verification_cache
from course_utils.exercises.judging.outcome import Outcome, simple
from course_utils.exercises.judging.verify import Proof
from course_utils.exercises.student import grading, saved_answers
from course_utils.exercises.student import magic as student

NEW, OLD = "04.saxpy", "03.saxpy"
MOVED = find(NEW).with_fields(formerly=(OLD, "02.saxpy"))
RIGHT, WRONG = "right", "wrong"


@pytest.fixture(autouse=True)
def moved(monkeypatch):
    """The course with an exercise that had two other ids; an answer is judged by its text."""
    course = tuple(MOVED if e.id == NEW else e for e in all_exercises())
    for module in (exercises_command, registry, saved_answers, verification_cache):
        monkeypatch.setattr(module, "all_exercises", lambda: course)

    def run(exercise, cell, **options):
        kind = kinds.PASS if cell == RIGHT else kinds.WRONG
        return Outcome(exercise.id, exercise.title, simple(kind, "as it is"))

    monkeypatch.setattr(student, "run_source", run)
    monkeypatch.setattr(student, "on_gpu", lambda: False)
    monkeypatch.setattr(saved_answers, "_hints", {})


@pytest.fixture
def kept(own_progress):
    """What a student's folder holds from the time before the move: an answer that passed, another
    that did not, and their record."""
    own_progress.mkdir()
    (own_progress / f"{OLD}.cu").write_text("tried last")
    (own_progress / f"{OLD}.passed.cu").write_text("it passed")
    entry = {"status": "done", "tries": 3, "hints": 2, "last": kinds.WRONG}
    (own_progress / "progress.json").write_text(json.dumps({OLD: entry}))
    return own_progress


def line():
    (found,) = (line for line in progress().lines if line.id in (NEW, *MOVED.formerly))
    return found.id, found.status, found.tries


@pytest.mark.parametrize("name", [NEW, OLD, "02.saxpy", OLD.upper()])
def test_every_id_finds_it(name):
    assert find(name).id == NEW
    assert student.exercise(name, WRONG).exercise_id == NEW
    assert str(hint(name)).startswith("**Hint 1 of 4.**")


def test_no_former_id_is_proposed():
    with pytest.raises(KeyError, match="did you mean") as caught:
        find("03.saxpi")
    assert OLD not in caught.value.args[0].partition("did you mean")[2]


def test_old_answers_and_marks_count(kept):
    assert line() == (NEW, "done", 3)
    assert answer(OLD) == answer(NEW) == "it passed"
    assert str(restore(NEW)) == f"%%exercise {NEW}\ntried last"
    assert str(hint(NEW)).startswith("**Hint 3 of 4.**")


def test_a_new_try_adds_to_what_was_and_leaves_the_old_files(kept):
    student.exercise(OLD, WRONG)
    assert line() == (NEW, "done", 4)
    assert str(restore(NEW)).endswith(WRONG) and answer(NEW) == "it passed"
    student.exercise(NEW, RIGHT)
    assert line() == (NEW, "done", 5) and answer(OLD) == RIGHT
    assert (kept / f"{OLD}.cu").read_text() == "tried last"
    assert (kept / f"{OLD}.passed.cu").read_text() == "it passed"
    assert json.loads((kept / "progress.json").read_text())[OLD]["status"] == "done"


def test_the_better_of_two_records_counts(kept):
    """As after work in two copies of the course, one of them from before the move."""
    file = kept / "progress.json"
    both = {**json.loads(file.read_text()), NEW: {"status": "attempted", "tries": 7}}
    file.write_text(json.dumps(both))
    assert line() == (NEW, "done", 7)


@pytest.mark.parametrize("text", [None, "{"])
def test_marks_are_rebuilt_from_old_answers(kept, text):
    (kept / "progress.json").unlink()
    if text:
        (kept / "progress.json").write_text(text)
    assert line() == (NEW, "done", 0)
    student.exercise(NEW, WRONG)
    assert line() == (NEW, "done", 1)


def test_an_attempt_under_an_old_id_is_an_attempt(kept):
    (kept / f"{OLD}.passed.cu").unlink()
    (kept / "progress.json").unlink()
    assert line()[1] == "attempted" and answer(NEW) is None


@pytest.mark.parametrize("name", [OLD, NEW])
def test_reset_opens_it_again_whatever_its_old_record_says(kept, name):
    reset(name)
    assert line() == (NEW, "open", 0)
    student.exercise(NEW, WRONG)
    assert line() == (NEW, "attempted", 1)


def test_answers_and_hints_of_an_old_notebook_are_graded(tmp_path, monkeypatch):
    monkeypatch.setattr(grading, "run_source", student.run_source)
    cell = {"cell_type": "code", "source": f"%%exercise {OLD}\n{RIGHT}"}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}))
    (tmp_path / ".progress").mkdir()
    (tmp_path / ".progress/progress.json").write_text(json.dumps({OLD: {"hints": 2}}))
    report = grading.grade(tmp_path, [find(NEW)], {NEW: 2.0})
    (found,) = report.grades
    assert (found.exercise, found.points, found.hints) == (NEW, 2, 2)
    assert not report.remarks


def test_the_commands_take_an_old_id(tmp_path, monkeypatch, capsys):
    assert main(["exercises", OLD]) == 0
    assert NEW in capsys.readouterr().out
    cell = {"cell_type": "code", "source": f"%%exercise {NEW}\n{WRONG}"}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}))
    (tmp_path / "points.json").write_text(json.dumps({OLD: 2}))
    monkeypatch.setattr(grading, "run_source", student.run_source)
    points = ["--only", OLD, "--points", str(tmp_path / "points.json")]
    assert main(["grade", str(tmp_path), *points]) == 0
    assert "0 of 2 points" in capsys.readouterr().out


def test_a_proof_is_noted_for_the_notebook_that_has_it_now(tmp_path):
    file = tmp_path / "proven.json"
    exercises = [e for e in registry.all_exercises() if e.notebook == MOVED.notebook]
    names = [OLD if e.id == NEW else e.id for e in exercises]
    proofs = [Proof(find(name).id, "solution", "pass", "pass", "", 0.1) for name in names]
    verification_cache.store(proofs, file)
    assert verification_cache.is_verified(find(OLD), file)
    assert list(verification_cache.stored(file)) == [MOVED.notebook]
