"""Below PASS: the sentence worth keeping, and where the course goes on."""

from __future__ import annotations

import pytest

from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.exercises.authoring.spec import BaseExercise
from course_utils.exercises.judging.after_pass import (
    MOST_KEPT,
    AfterPass,
    after_pass,
    worth_keeping,
)
from course_utils.exercises.student import magic
from course_utils.paths import CHAPTERS, notebook_files, notebook_name


def explained(text: str) -> str:
    return worth_keeping(BaseExercise(explanation=text))


def test_the_last_paragraph_is_kept_without_its_asides():
    text = "Once.\n\nA barrier orders\ntwo lines. (Here `i` is even.) It costs little."
    assert explained(text) == "A barrier orders two lines. It costs little."


def test_a_long_paragraph_is_kept_up_to_a_whole_sentence():
    sentence = "One thread, one element, and no thread waits. "
    kept = explained(sentence * 20)
    assert len(kept) <= MOST_KEPT
    assert kept.endswith("waits.")


def test_every_exercise_has_a_sentence_that_ends():
    for each in all_exercises():
        assert worth_keeping(each)[-1] in ".!?:)", each.id


def test_markdown_becomes_text_and_html():
    after = AfterPass("A **race** of `a * b * c`, *not* 2 < 3.", "notebook 04/02", "02.ipynb")
    assert "A race of `a * b * c`, not 2 < 3." in str(after)
    shown = after.to_html()
    assert "A <b>race</b> of <code>a * b * c</code>, <i>not</i> 2 &lt; 3." in shown
    assert "<a href='02.ipynb'>notebook 04/02</a>" in shown


@pytest.mark.parametrize("last", [False, True])
def test_the_next_exercise_or_the_next_notebook_follows(last, monkeypatch):
    files = notebook_files()
    own = [e for e in all_exercises() if e.notebook == "04_first_kernels/01_hello_threads"]
    monkeypatch.chdir(CHAPTERS / "04_first_kernels")
    after = after_pass(own[-1] if last else own[0])
    names = [notebook_name(file) for file in files]
    place = names.index("04_first_kernels/01_hello_threads")
    target = files[place + 1].name if last else f"#Exercise-{own[1].id}%3A-"
    assert after.target.startswith(target)


def test_a_pass_shows_it_and_nothing_else_does(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path))
    exercise = find("04.saxpy")
    passed = magic.exercise(exercise.id, exercise.solution)
    assert passed.after == after_pass(exercise)
    assert worth_keeping(exercise)[:30] in str(passed)
    assert "<b>Then:</b>" in passed._repr_html_()
    assert magic.exercise(exercise.id, "nothing").after is None
