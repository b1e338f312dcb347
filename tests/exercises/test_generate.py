"""The notebooks hold exactly the cells that are generated from the specs."""

import nbformat
import pytest

from course_utils.exercises.authoring import generate
from course_utils.exercises.authoring.generate import (
    PARTS,
    cells,
    stale_notebooks,
    starter_cell,
    write_into,
)
from course_utils.exercises.authoring.registry import all_exercises, find
from course_utils.notebooks.canonical import canonical, dumps

SAXPY, CLAMP = find("04.saxpy"), find("04.clamp")


def notebook(*sources):
    return {"cells": [nbformat.v4.new_markdown_cell(text) for text in sources], "metadata": {}}


def sources(nb):
    return [cell["source"] for cell in nb["cells"]]


def test_the_committed_notebooks_are_up_to_date(students_notebooks):
    stale = [path.name for path in stale_notebooks() if path not in students_notebooks]
    assert not stale, f"run `python -m course_utils exercises --write` for {', '.join(stale)}"


def test_an_exercise_takes_the_place_its_author_marked():
    made = sources(write_into(notebook("# A", "{{exercise 04.saxpy}}", "# Z"), [SAXPY]))
    assert made[0] == "# A" and made[-1] == "# Z" and len(made) == 6
    assert made[1].startswith("### Exercise 04.saxpy: a times x plus y")
    assert made[2] == starter_cell(SAXPY) and made[2].startswith("%%exercise 04.saxpy\n//")
    assert made[3].count("<details>") == len(SAXPY.hints)
    assert "```cpp\n// y[i] = a * x[i] + y[i]" in made[4] and "<summary>Solution" in made[4]


@pytest.mark.parametrize("text", ["# A", "# A\n\n{{exercise 04.saxpy}}"])
def test_without_a_mark_of_its_own_cell_an_exercise_has_no_place(text, monkeypatch, capsys):
    """It isn't put anywhere without a word."""
    given = notebook(text, "{{exercise 04.clamp}}")
    assert write_into(given, [SAXPY]) == given
    path = generate.notebook_path(SAXPY)
    monkeypatch.setattr(generate, "_versions", lambda: [(path, given, given)])
    monkeypatch.setattr(generate, "all_exercises", lambda: [SAXPY, CLAMP])
    assert generate.unplaced() == [SAXPY] and stale_notebooks() == [path]


def test_writing_twice_changes_nothing():
    once = write_into(notebook("# A", "{{exercise 04.saxpy}}"), [SAXPY, CLAMP])
    assert write_into(once, [SAXPY, CLAMP]) == once


def test_what_an_author_moved_or_an_editor_changed_is_put_right_in_its_place():
    once = write_into(notebook("# A", "{{exercise 04.saxpy}}"), [SAXPY])
    once["cells"].insert(2, nbformat.v4.new_markdown_cell("a word between"))
    once["cells"][3]["source"] = "%%exercise 04.saxpy\nsomebody's answer"
    again = write_into(once, [SAXPY])
    assert sources(again)[2] == "a word between"
    assert sources(again)[3] == starter_cell(SAXPY)


def test_only_a_notebook_that_differs_is_written_and_in_canonical_form(tmp_path, monkeypatch):
    def place(old, new):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.ipynb"
        path.write_text("as it was")
        return path, old, new

    empty = notebook("{{exercise 04.saxpy}}")
    new = write_into(empty, [SAXPY])
    versions = [place(empty, new), place(new, new)]
    monkeypatch.setattr(generate, "_versions", lambda: versions)
    assert generate.write_notebooks() == stale_notebooks() == [versions[0][0]]
    assert versions[0][0].read_text(encoding="utf-8") == dumps(canonical(nbformat.from_dict(new)))
    assert versions[1][0].read_text(encoding="utf-8") == "as it was"


def test_the_marks_survive_the_canonical_form():
    nb = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cell) for cell in cells(SAXPY)])
    kept = canonical(nb)
    assert sources(write_into(kept, [SAXPY])) == sources(kept)
    assert len(kept.cells) == len(PARTS)


@pytest.mark.parametrize("exercise", all_exercises(), ids=lambda e: e.id)
def test_generated_cells_are_a_valid_notebook(exercise):
    nb = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cell) for cell in cells(exercise)])
    nbformat.validate(nb)
