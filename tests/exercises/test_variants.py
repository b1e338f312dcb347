"""Variants of exercises: a class's seed draws the numbers, and the solution follows from them."""

import json
import shutil

import pytest

from course_utils.__main__ import main
from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.authoring.spec import KernelExercise, NumberExercise
from course_utils.exercises.authoring.variants import Varied, drawn, replaced
from course_utils.exercises.judging.runner import run_source
from course_utils.exercises.judging.verify import proofs
from course_utils.exercises.student import class_variants, magic
from course_utils.exercises.student.class_variants import varied_exercises, write_variants
from course_utils.notebooks import quizzes
from course_utils.paths import CHAPTERS

IDS = [exercise.id for exercise in varied_exercises()]
SEEDS = ("2027", "2027/ana")
BOOK = "04_first_kernels/05_coalescing_and_transpose"
ID, OTHER = "04.predict_sectors", "04.predict_wavefronts"


def test_there_are_ten_and_more_of_several_chapters():
    assert len(IDS) >= 10 and len({name[:2] for name in IDS}) >= 3


@pytest.mark.parametrize("name", IDS)
def test_each_text_that_changes_is_in_the_page_or_the_solution(name):
    exercise = find(name)
    texts = [exercise.title, exercise.task, *exercise.hints, exercise.explanation, exercise.text]
    for text in exercise.varied.written(exercise.varied.own):
        assert any(text in each for each in texts), text


@pytest.mark.parametrize("name", IDS)
def test_the_spec_is_written_with_the_values_that_it_names_first(name):
    exercise = find(name)
    assert drawn(exercise, "") is exercise
    own = exercise.varied.fields(**exercise.varied.own)
    if isinstance(exercise, NumberExercise):
        sizes = {ask: each.size for ask, each in own["asks"].items()}
        assert sizes.items() <= {n: a.size for n, a in exercise.asks.items()}.items()
    assert all(len(set(values)) == len(values) > 1 for values in exercise.varied.values.values())


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_variant_is_proved_like_any_exercise(name, seed):
    variant = drawn(find(name), seed)
    kernel = isinstance(variant, KernelExercise)
    found = list(proofs(variant, mutants=slice(2 if kernel else None)))
    assert len(found) > 3 and all(proof.holds for proof in found), found


@pytest.mark.parametrize("name", IDS)
def test_the_courses_own_answer_is_wrong_for_a_variant(name):
    variant = drawn(find(name), "2027")
    outcome = run_source(variant, find(name).solution)
    assert not outcome.passed
    if outcome.kind == "wrong name":
        assert f'your class has others: reset("{name}")' in str(outcome)
    assert run_source(variant, find(name).starter).kind == "not started"


def test_neighbours_differ_in_most_answers():
    pairs = [(drawn(find(n), "2027/ana"), drawn(find(n), "2027/ben")) for n in IDS]
    assert sum(a.solution != b.solution for a, b in pairs) >= len(IDS) - 2
    again = [drawn(find(n), "2027/ana").solution for n in IDS]
    assert again == [ana.solution for ana, _ in pairs]


def test_longer_texts_are_replaced_first_and_none_twice():
    changes = (("1", "2"), ("2", "1"), ("12 blocks", "7 blocks"))
    assert replaced("1, 2 and 12 blocks", changes) == "2, 1 and 7 blocks"
    varied = Varied(
        {"n": (2, 5)}, fields=lambda n: {}, texts=("{n} of {m}",), words=lambda n: {"m": -n}
    )
    assert varied.changes({"n": 5}) == (("2 of -2", "5 of -5"),)


@pytest.mark.parametrize("seed", ["a b", "a/b/c", "x" * 70, "a\nb"])
def test_a_text_that_isnt_a_seed_is_refused(seed):
    with pytest.raises(LessonError, match="isn't a seed"):
        drawn(find(ID), seed)


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """The notebooks of a student's copy, and where its seed is kept."""
    book = tmp_path / f"{BOOK}.ipynb"
    book.parent.mkdir(parents=True)
    shutil.copy(CHAPTERS / f"{BOOK}.ipynb", book)
    monkeypatch.setattr(
        class_variants, "notebook_path", lambda exercise: tmp_path / f"{exercise.notebook}.ipynb"
    )
    monkeypatch.delenv("COURSE_SEED", raising=False)
    return book, tmp_path / ".course/seed"


def cells_of(book):
    return json.loads(book.read_text(encoding="utf-8"))["cells"]


def test_only_tasks_hints_and_starters_change_and_off_brings_every_byte_back(copy):
    book, seed = copy
    before, old = book.read_bytes(), cells_of(book)
    (line,) = write_variants("2027/ana", seed)
    assert line.endswith(f"{BOOK}.ipynb: {ID}, {OTHER}")
    new = cells_of(book)
    changed = [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    parts = [new[i]["metadata"]["tags"] for i in changed]
    assert parts and all(ID in tags[0] or OTHER in tags[0] for tags in parts)
    for i in changed:
        assert {**old[i], "source": 0} == {**new[i], "source": 0}  # outputs, ids and stamps too
    assert class_variants.class_seed(seed) == "2027/ana"
    assert not list(write_variants("2027/ana", seed))
    assert list(write_variants("2028", seed)) and list(write_variants("", seed))
    assert book.read_bytes() == before and not seed.exists()


def test_an_answer_stays_and_is_named(copy):
    book, seed = copy
    notebook = json.loads(book.read_text(encoding="utf-8"))
    mine = f"%%exercise {ID}\nneighbours = 4\n"
    for cell in notebook["cells"]:
        if f"exercise.{ID}.starter" in cell["metadata"].get("tags", []):
            cell["source"] = mine
    book.write_text(json.dumps(notebook))
    lines = list(write_variants("2027", seed))
    assert f"kept your answers to {ID}, whose tasks have changed" in lines[-1]
    assert mine in [cell["source"] for cell in cells_of(book)]


def test_a_solution_says_that_its_numbers_are_the_courses(copy, monkeypatch):
    book, seed = copy
    monkeypatch.setenv("COURSE_SEED", "2027")
    assert magic.find_named(ID).seed == "2027"
    text = magic.solution(ID).text
    assert "Your class has other numbers" in text and find(ID).solution.strip() in text
    monkeypatch.delenv("COURSE_SEED")
    monkeypatch.setattr(class_variants, "SEED", seed)
    assert magic.find_named(ID).seed == ""
    seed.parent.mkdir()
    seed.write_text("2028\n")
    assert magic.find_named(ID).seed == "2028"


def test_a_class_is_graded_by_each_ones_numbers(tmp_path, capsys):
    for student, whose in (("ana", "ana"), ("ben", "ana"), ("cleo", "")):
        answer = drawn(find(ID), whose and f"2027/{whose}").solution
        place = tmp_path / student / "a.ipynb"
        place.parent.mkdir()
        cell = {"cell_type": "code", "source": f"%%exercise {ID}\n{answer}"}
        place.write_text(json.dumps({"cells": [cell]}))
    places = [str(tmp_path / name) for name in ("ana", "ben", "cleo")]
    words = ["grade", *places, "--only", ID, "--no-sandbox"]
    assert main([*words, "--seed-each", "2027"]) == 0
    table = capsys.readouterr().out.split("\n\n")[0]
    assert [line.split()[1] for line in table.splitlines()[1:]] == ["1", "0", "0"]
    alone = ["grade", places[0], "--only", ID, "--no-sandbox"]
    assert main([*alone, "--seed", "2027/ana"]) == 0
    assert "1 of 1 points" in capsys.readouterr().out
    assert main([*alone, "--seed-each", "2027"]) == 2
    assert "For one, write --seed 2027/NAME." in capsys.readouterr().err
    assert main(words) == 0
    table = capsys.readouterr().out.split("\n\n")[0]
    assert [line.split()[1] for line in table.splitlines()[1:]] == ["0", "0", "1"]


def test_an_exam_asks_for_the_numbers_of_its_seed(capsys):
    assert main(["exam", BOOK]) == 0
    quizzes_alone = capsys.readouterr().out
    assert main(["exam", BOOK, "--seed", "2027"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(quizzes_alone)
    variant = drawn(find(ID), "2027")
    for name, right in variant.counted(variant).items():
        (line,) = (each for each in text.split("\n\n") if each.startswith(f"::{ID} {name}::"))
        assert line.endswith(f"{{#{right}}}") and "\n" not in line
        assert quizzes.escaped(variant.asks[name].question) in line
