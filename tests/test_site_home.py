"""The website's first page has the course's own numbers, paths, pictures and recordings."""

import re
import sys

from course_utils.exercises.authoring.registry import all_exercises
from course_utils.notebooks.front_page import binder_link
from course_utils.notebooks.lessons import lessons
from course_utils.notebooks.reading_paths import PATHS
from course_utils.paths import ROOT

sys.path.insert(0, str(ROOT / "site"))
import home_page  # noqa: E402

HOME = home_page.context()
TEMPLATE = (ROOT / "site" / "templates" / "home.html").read_text(encoding="utf-8")


def test_it_counts_the_notebooks_and_the_exercises():
    assert (HOME["notebooks"], HOME["exercises"]) == (len(lessons()), len(all_exercises()))


def test_its_score_is_a_sentence_of_the_records():
    assert re.fullmatch(
        r"On one NVIDIA H200, our fastest kernel beats .* slower in \d+\.", HOME["score"]
    )


def test_each_path_begins_at_a_lesson():
    assert [path["title"] for path in HOME["paths"]] == [path.title for path in PATHS]
    pages = [HOME["first"], HOME["wrong"], *(each["lesson"] for each in HOME["recordings"])]
    for page in [*pages, *(path["first"] for path in HOME["paths"])]:
        assert (ROOT / page).with_suffix(".ipynb").is_file()


def test_the_template_uses_every_value():
    assert {*re.findall(r"home\.(\w+)", TEMPLATE)} == HOME.keys()


def test_its_recordings_show_a_race_a_wait_and_two_paths(tmp_path, monkeypatch):
    monkeypatch.setattr(home_page, "EXTRA", tmp_path)
    home_page.draw()
    pages = {f.name: f.read_text(encoding="utf-8") for f in tmp_path.glob("steppers/*.html")}
    assert pages.keys() == {each.file for each in home_page.RECORDINGS}
    assert "Data race" in pages["race.html"] and "Data race" not in pages["barrier.html"]
    assert all('"begin":0}' in page for page in pages.values())  # where "press play" begins
    assert len([*tmp_path.glob("figures/*.svg")]) == 3


def test_without_an_address_it_offers_no_binder():
    assert binder_link("") == ""
    assert binder_link("https://github.com/a/b").startswith("https://mybinder.org/v2/gh/a/b/")
