"""What a cell gave on the GPU machine is stored for those who have none, and shown to them."""

from __future__ import annotations

import json

import pytest
from nbformat.v4 import new_code_cell, new_output

from course_utils import stored_outputs
from course_utils.needs import may_be_skipped
from course_utils.notebooks import output_store, run, stamp
from course_utils.notebooks.canonical import canonical, dumps, read
from course_utils.notebooks.cells import find, numbered
from course_utils.notebooks.run import write_back
from course_utils.paths import shown
from tests.pictures import PNG

BOOKS = find([])
SOURCE = "%%needs gpu\nmeasure()"
KEY = stored_outputs.key(SOURCE)


def text(words: str):
    return new_output("stream", text=words)


def picture(base64: str = PNG):
    return new_output("display_data", {"image/png": base64, "text/plain": "<Figure>"})


def content(good, *outputs, source=SOURCE, old=None):
    """The file for the notebook ``good`` with one cell more, made on an H200."""
    good.cells.append(new_code_cell(source, outputs=list(outputs)))
    stamp.stamp(good, "NVIDIA H200", "12.9")
    return output_store.content_of(good, old)


@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_the_store_holds_what_the_notebook_shows(path):
    nb = read(path.read_text(encoding="utf-8"))
    if not output_store.can_be_stored(nb):
        pytest.skip("its outputs are stale or the emulator's: test_committed says so")
    file = stored_outputs.file_of(path)
    stored = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
    assert output_store.content_of(nb, stored) == stored, f"run `{output_store.COMMAND}`"


def test_every_stored_file_belongs_to_a_notebook_and_every_key_to_one_of_them():
    files = sorted(stored_outputs.FOLDER.glob("*/*.json"))
    assert set(files) <= set(map(stored_outputs.file_of, BOOKS))
    keys = [key for file in files for key in json.loads(file.read_text("utf-8"))["cells"]]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("path", BOOKS, ids=shown)
def test_no_two_cells_of_a_notebook_share_a_key(path):
    nb = read(path.read_text(encoding="utf-8"))
    sources = [c.source.strip() for _, c in numbered(nb, "code") if may_be_skipped(c.source)]
    assert len(sources) == len(set(sources))


def test_texts_and_pictures_are_stored_in_their_order(good):
    assert content(good, text("2 ms\n3 ms\n"), picture()) == {
        "device": "NVIDIA H200",
        "cells": {
            KEY: [
                {"text/plain": ["2 ms\n", "3 ms\n"]},
                {"image/png": PNG, "text/plain": ["<Figure>"]},
            ]
        },
    }


def test_only_cells_that_need_something_are_stored(good):
    assert content(good, text("x\n"), source="measure()") is None


def test_a_cell_that_only_needs_a_language_is_stored_from_the_emulator(good):
    good.cells.append(new_code_cell("%%needs triton\nrun()", outputs=[text("4\n")]))
    good.cells.append(new_code_cell("%%needs nvcc\nrun()", outputs=[text("5\n")]))
    stamp.stamp(good, stamp.EMULATOR, "12.9")
    stored = output_store.content_of(good)
    key = stored_outputs.key("%%needs triton\nrun()")
    assert stored == {"device": "emulator", "cells": {key: [{"text/plain": ["4\n"]}]}}


def test_a_cell_that_gives_the_same_anywhere_is_stored_with_those_of_the_gpu(good):
    good.cells.append(new_code_cell("%%needs torch\nshapes()", outputs=[text("4\n")]))
    stamp.stamp(good, stamp.EMULATOR, "12.9")
    good.cells.append(new_code_cell("%%needs gpu\nbench()", outputs=[text("2 ms\n")]))
    mark = good.cells[-2].metadata["course"]
    good.cells[-1].metadata["course"] = mark | {"device": "NVIDIA H200", "anywhere": False}
    stored = output_store.content_of(good)
    assert stored["device"] == "NVIDIA H200"
    assert list(stored["cells"].values()) == [
        [{"text/plain": ["4\n"]}],
        [{"text/plain": ["2 ms\n"]}],
    ]


def test_a_cell_without_output_is_not_stored(good):
    assert content(good) is None


def test_a_cell_that_was_skipped_on_the_gpu_machine_keeps_what_was_stored(good):
    old = {"device": "NVIDIA H200", "cells": {KEY: [{"text/plain": ["2 ms\n"]}]}}
    assert content(good, text("Skipped here: needs nvcc.\n"), old=old) == old


def test_a_skip_is_never_stored(good):
    assert content(good, text("Skipped here: needs nvcc.\n")) is None


def test_a_long_text_is_cut_at_a_line(good):
    stored = content(good, text("0123456789\n" * 2000))["cells"][KEY][0]["text/plain"]
    assert sum(map(len, stored)) <= output_store.MOST_CHARACTERS + 30
    assert stored[-1] == f"… and {2000 - len(stored) + 1} more lines\n"
    assert set(stored[:-1]) == {"0123456789\n"}


def test_a_huge_picture_is_left_out(good):
    assert "image/png" not in content(good, picture("A" * 600_000))["cells"][KEY][0]


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course in a temporary folder, with one notebook."""
    monkeypatch.setattr(run, "CHAPTERS", tmp_path / "chapters")
    monkeypatch.setattr(stored_outputs, "FOLDER", tmp_path / "outputs")
    path = tmp_path / "chapters/01_first/01_add.ipynb"
    path.parent.mkdir(parents=True)
    return path


def update(path, good, kind: str):
    good.cells.append(new_code_cell(SOURCE, outputs=[text("2 ms\n")]))
    path.write_text(dumps(canonical(good)), encoding="utf-8")
    write_back(path, good, {"kind": kind, "name": "NVIDIA H200", "cuda": "12.9"})
    return stored_outputs.find(KEY)


def test_an_update_on_a_gpu_stores_and_an_update_on_the_emulator_does_not(course, good):
    assert update(course, good, "emulator") is None
    stored = update(course, good, "cuda")
    assert stored == stored_outputs.StoredOutputs("NVIDIA H200", [{"text/plain": "2 ms\n"}])


def test_storing_says_whether_it_changed_the_file_and_nothing_to_store_takes_it_away(course, good):
    update(course, good, "emulator")
    assert output_store.write(course) and not output_store.write(course)
    file = stored_outputs.file_of(course)
    assert file.is_file()
    good.cells.pop()
    course.write_text(dumps(canonical(good)), encoding="utf-8")
    assert output_store.write(course) and not file.exists()


def test_a_file_of_outputs_has_a_line_for_each_thing_and_its_own_letters():
    assert output_store.as_text({"a": ["µ"]}) == '{\n "a": [\n  "µ"\n ]\n}\n'


def test_the_key_changes_with_the_code_alone():
    assert stored_outputs.key(f"\n{SOURCE}\n") == KEY
    assert stored_outputs.key(f"{SOURCE} ") == KEY
    assert stored_outputs.key(SOURCE.replace("()", "(2)")) != KEY
