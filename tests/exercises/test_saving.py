"""A verdict is shown whatever becomes of its record, and no record is lost to another's."""

import json
import os
import subprocess
import sys
from threading import Thread

import pytest

from course_utils.exercises import hint, progress, reset, restore
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.judging.outcome import Outcome, simple
from course_utils.exercises.student import magic as student
from course_utils.exercises.student import saved_answers
from course_utils.paths import ROOT

SAXPY = find("04.saxpy")
WRONG = SAXPY.solution.replace("a * x", "x")
PASSED = Outcome(SAXPY.id, SAXPY.title, simple(kinds.PASS, "right"))


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """On the emulator, and without running the answer again and again: these are not about it."""
    monkeypatch.setattr(student, "on_gpu", lambda: False)
    monkeypatch.setattr(saved_answers, "_hints", {})

    def run(exercise, cell, **options):
        kind = kinds.PASS if cell == exercise.solution else kinds.WRONG
        return Outcome(exercise.id, exercise.title, simple(kind, "as it is"))

    monkeypatch.setattr(student, "run_source", run)


def spoilt(folder, how: str) -> None:
    """Make a folder in which nothing can be written."""
    if how == "a file in its place":
        folder.write_text("not a folder")
    elif how == "read-only":
        folder.mkdir()
        folder.chmod(0o500)


def full_disk(monkeypatch) -> None:
    def write(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saved_answers.os, "replace", write)


PLACES = ("a file in its place", "read-only", "full disk")


@pytest.mark.parametrize("how", PLACES)
def test_a_verdict_is_shown_where_nothing_can_be_saved(own_progress, monkeypatch, how):
    if how == "read-only" and os.geteuid() == 0:
        pytest.skip("nothing is read-only for root")
    full_disk(monkeypatch) if how == "full disk" else spoilt(own_progress, how)
    outcome = student.exercise("04.saxpy", SAXPY.solution)
    assert str(outcome).startswith("PASS") and "This try is not kept" in str(outcome)
    assert "This try is not kept" in outcome._repr_html_()
    shown = [str(hint("04.saxpy")) for _ in range(3)]
    assert [text[:10] for text in shown] == ["**Hint 1 o", "**Hint 2 o", "**Hint 3 o"]
    assert "not kept" in str(progress()) or "In all: 0 of" in str(progress())
    reset("04.saxpy"), restore("04.saxpy")
    assert not list(own_progress.parent.rglob("*.cu.*")), "half a file is left"


def test_a_full_disk_leaves_what_was_saved_before(monkeypatch):
    student.exercise("04.saxpy", SAXPY.solution)
    with monkeypatch.context() as patch:
        full_disk(patch)
        student.exercise("04.saxpy", WRONG)
    assert str(restore("04.saxpy")).endswith(SAXPY.solution)
    assert "[x] 04.saxpy" in str(progress())


def test_half_a_character_is_kept_as_it_is():
    half = SAXPY.solution + "// \ud83d"
    outcome = student.exercise("04.saxpy", half)
    assert outcome.note == "" and saved_answers.saved_answer(SAXPY) == half


@pytest.mark.parametrize("name", ["04.saxpy", "04.blocks_for", "04.predict_sectors"])
def test_half_a_character_is_a_verdict_about_the_cell(name):
    from course_utils.exercises.judging.runner import run_source

    outcome = run_source(find(name), find(name).solution + "// \ud83d" * 2)
    python = find(name).language == "python"
    assert outcome.kind == (kinds.SYNTAX_ERROR if python else kinds.COMPILE_ERROR)
    assert "half a character" in str(outcome)
    assert str(outcome).encode()


DAMAGED = {
    "cut short": '{"04.clamp": {"status": "do',
    "not an object": "[1, 2]",
    "an entry that is a number": '{"04.saxpy": 7, "04.clamp": {"status": "done", "tries": 2}}',
    "a count that is a word": '{"04.saxpy": {"tries": "many"}}',
    "another status": '{"04.saxpy": {"status": ["done"]}}',
    "nested without end": "[" * 100_000,
    "bytes": "\0\1",
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_file_stops_no_lesson_and_is_kept(own_progress, how):
    own_progress.mkdir()
    file = own_progress / "progress.json"
    file.write_text(DAMAGED[how])
    assert "In all" in str(progress())
    if how == "cut short":  # a hint is the first to write
        hint("04.dot")
    said = str(student.exercise("04.saxpy", SAXPY.solution))
    assert "[x] 04.saxpy" in str(progress())
    kept = list(own_progress.glob("progress.damaged-*.json"))
    assert [path.read_text() for path in kept] == [DAMAGED[how]]
    assert how == "cut short" or kept[0].name in said
    if "04.clamp" in DAMAGED[how] and how != "cut short":
        assert "[x] 04.clamp" in str(progress())
    assert student.exercise("04.saxpy", WRONG).note == "", "it is whole again"


def lost(file, how: str) -> None:
    """Spoil progress.json; nothing in it can be read any more."""
    whole = file.read_text()
    file.unlink()
    if how == "cut":
        file.write_text(whole[: len(whole) * 2 // 3])
    elif how == "emptied":
        file.touch()
    elif how == "a folder":
        file.mkdir()


def marks() -> dict[str, str]:
    """The status of each exercise that was tried."""
    return {line.id: line.status for line in progress().lines if line.status != "open"}


@pytest.mark.parametrize("how", ["cut", "emptied", "deleted", "a folder"])
def test_marks_are_rebuilt_from_the_answers(own_progress, how):
    for name, cell in (("saxpy", SAXPY.solution), ("saxpy", WRONG), ("clamp", "wrong")):
        student.exercise(f"04.{name}", cell)
    file = own_progress / "progress.json"
    lost(file, how)
    assert marks() == {"04.saxpy": "done", "04.clamp": "attempted"}
    note = student.exercise("04.dot", "wrong").note
    assert ("What you have solved still counts" in note) == (how != "deleted")
    saved = {name: entry["status"] for name, entry in json.loads(file.read_text()).items()}
    assert saved == marks() == {"04.saxpy": "done", "04.clamp": "attempted", "04.dot": "attempted"}


def test_an_exercise_that_was_reset_is_open_though_its_answer_is_there(own_progress):
    student.exercise("04.saxpy", SAXPY.solution)
    reset("04.saxpy")
    assert marks() == {}
    student.exercise("04.saxpy", WRONG)
    assert marks() == {"04.saxpy": "attempted"}
    (own_progress / "progress.json").unlink()
    assert marks() == {"04.saxpy": "done"}


def test_a_second_damaged_file_does_not_take_the_place_of_the_first(own_progress):
    own_progress.mkdir()
    for text in ("{one", "{two"):
        (own_progress / "progress.json").write_text(text)
        student.exercise("04.saxpy", SAXPY.solution)
    kept = sorted(own_progress.glob("progress.damaged-*.json"))
    assert [path.read_text() for path in kept] == ["{one", "{two"]


def test_notebooks_that_save_at_once_lose_nothing(own_progress, monkeypatch):
    monkeypatch.setattr(saved_answers, "LOCK_SECONDS", 60.0)  # each has its turn, if late
    chosen = all_exercises()
    said = []

    def save(some):
        for exercise in some:
            said.append(saved_answers.record(exercise, PASSED, exercise.solution))

    threads = [Thread(target=save, args=(chosen[n::4],)) for n in range(4)]
    other = f"""
from course_utils.exercises.authoring import kinds
from course_utils.exercises.student import saved_answers
from course_utils.exercises.judging.outcome import Outcome, simple
from course_utils.exercises.authoring.registry import find
saved_answers.LOCK_SECONDS = 60.0
for _ in range(40):
    outcome = Outcome("04.saxpy", "t", simple(kinds.WRONG, "wrong"))
    assert not saved_answers.record(find("04.saxpy"), outcome, {WRONG!r})
"""
    processes = [subprocess.Popen([sys.executable, "-c", other], cwd=ROOT) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0]
    assert set(said) == {""}
    data = json.loads((own_progress / "progress.json").read_text())
    assert len(data) == len(chosen)
    assert data["04.saxpy"]["tries"] == 81 and data["04.saxpy"]["status"] == "done"


def test_a_notebook_that_holds_the_lock_for_ever_is_not_waited_for(own_progress, monkeypatch):
    fcntl = pytest.importorskip("fcntl")
    monkeypatch.setattr(saved_answers, "LOCK_SECONDS", 0.05)
    own_progress.mkdir()
    with (own_progress / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert student.exercise("04.saxpy", SAXPY.solution).note == ""
    assert "[x] 04.saxpy" in str(progress())
