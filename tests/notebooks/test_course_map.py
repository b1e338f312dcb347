"""The map of the book shows every notebook, and each reading path's stops in its own line."""

import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
from PIL import ImageFont

from course_utils.notebooks.course_map import COLOURS, FILE, draw, picture
from course_utils.notebooks.lessons import chapters, lessons
from course_utils.notebooks.reading_paths import PATHS
from course_utils.paths import README, ROOT

SVG = "{http://www.w3.org/2000/svg}"


def test_it_is_as_it_would_be_drawn():
    assert picture(chapters(), PATHS) == FILE.read_text(encoding="utf-8"), "`run --format` draws it"
    assert not draw()


def test_every_notebook_has_its_title_there():
    titles = {each.text for each in ET.parse(FILE).iter(f"{SVG}title")}
    assert titles >= {lesson.title for lesson in lessons()}


def test_no_path_strikes_out_the_number_of_a_notebook():
    drawn = list(ET.parse(FILE).getroot())
    last_line = max(n for n, each in enumerate(drawn) if each.tag == f"{SVG}path")
    numbers = [n for n, each in enumerate(drawn) if each.find(f"{SVG}title") is not None]
    assert len(numbers) == len(lessons()) and min(numbers) > last_line


def test_a_chapter_s_name_ends_on_its_field():
    font = Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")
    letters = ImageFont.truetype(font, 90)
    root = ET.parse(FILE).getroot()
    words = [each for each in root.iter(f"{SVG}text") if each.get("font-size") == "9"]
    fields = [each for each in root.iter(f"{SVG}rect") if each.get("rx") == "4"]
    assert len(words) >= len(fields) == len(chapters())
    for each in words:
        left = float(each.get("x"))
        (field,) = (f for f in fields if 0 < left - float(f.get("x")) < 10)
        end = left + letters.getlength(each.text) / 10
        assert end <= float(field.get("x")) + float(field.get("width")), each.text


def test_each_path_has_as_many_stops_as_stations_and_one_in_the_legend():
    rings = [each.get("stroke") for each in ET.parse(FILE).iter(f"{SVG}circle")]
    for path, colour in zip(PATHS, COLOURS, strict=True):
        assert rings.count(colour) == len(path.stations) + 1


def test_its_words_list_the_stops():
    told = ET.parse(FILE).find(f"{SVG}desc").text
    assert all(f"{path.title}, {path.hours} hours: 00/01, " in told for path in PATHS)


def test_the_readme_shows_it():
    assert f"]({FILE.relative_to(ROOT).as_posix()})" in README.read_text(encoding="utf-8")
