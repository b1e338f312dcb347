"""The fault report that moves on the front page is what the checker says today."""

import re
import xml.etree.ElementTree as ET

import pytest

from course_utils.exercises import fault_film
from course_utils.exercises.fault_film import FILE, RIGHT, WRONG, film
from course_utils.paths import README, ROOT

SVG = "{http://www.w3.org/2000/svg}"
MOST_BYTES = 1_000_000


def test_it_is_as_it_would_be_drawn():
    assert film() == FILE.read_text(encoding="utf-8"), "`exercises --write` draws it"
    assert FILE.stat().st_size < MOST_BYTES


def test_its_words_are_a_text_alternative():
    told = ET.parse(FILE).find(f"{SVG}desc").text
    assert WRONG in told and RIGHT in told
    assert "OUT OF BOUNDS: thread (231, 0, 0)" in told and "PASS" in told


def test_without_motion_the_wrong_line_and_its_report_are_seen():
    style = ET.parse(FILE).find(f"{SVG}style").text
    hidden = re.match(r"([.\w,]+)\{opacity:0\}@media screen and \(prefers-reduced-motion", style)
    assert hidden[1].split(",") == [".todo", ".right", ".pass"]


def test_it_is_at_the_top_of_the_readme():
    first = README.read_text(encoding="utf-8").partition("\n## ")[0]
    assert f"]({FILE.relative_to(ROOT).as_posix()})" in first


def test_a_line_with_another_verdict_than_the_film_tells_is_refused(monkeypatch):
    monkeypatch.setattr(fault_film, "WRONG", RIGHT)
    with pytest.raises(ValueError, match="gets the verdict"):
        film()
