"""The reading paths lead through notebooks that exist, and none needs what wasn't shown yet."""

import re

import pytest

from course_utils.errors import LessonError
from course_utils.exercises.authoring.registry import find
from course_utils.notebooks.canonical import read_file
from course_utils.notebooks.lessons import lessons
from course_utils.notebooks.reading_paths import PATHS, minutes_of, named_path

LISTED = {each.name: each for each in lessons()}
STATIONS = [(path, at) for path in PATHS for at in range(len(path.stations))]
QUOTED = re.compile(r'"([^"]+)"')
HOURS = {"weekend": (7, 10), "four-weeks": (33, 38), "expert": (14, 17)}


@pytest.mark.parametrize(
    ("path", "at"), STATIONS, ids=lambda value: getattr(value, "name", str(value))
)
def test_a_station_needs_only_notebooks_that_the_path_has_shown(path, at):
    station = path.stations[at]
    shown = {each.name for each in path.stations[:at]}
    needs = LISTED[station.name].needs.keys()
    assert needs <= shown | set(path.known) | set(station.without)
    assert set(station.without) <= needs - shown, "the path shows it, or nothing needs it"
    assert bool(station.part) == bool(station.minutes)
    assert station.minutes <= LISTED[station.name].minutes


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_path_is_as_long_as_it_says_and_shows_nothing_twice(path):
    names = [station.name for station in path.stations]
    assert len(set(names)) == len(names) and not set(names) & set(path.known)
    assert set(path.known) <= LISTED.keys()
    fewest, most = HOURS[path.name]
    assert fewest <= path.hours <= most
    assert path.minutes == sum(minutes_of(station, LISTED) for station in path.stations)


def test_a_part_names_headings_of_its_notebook():
    for path, at in STATIONS:
        station = path.stations[at]
        cells = read_file(LISTED[station.name].path).cells
        markdown = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        headings = set(re.findall(r"^#+ (.+)$", markdown, re.M))
        assert set(QUOTED.findall(station.part)) <= headings, station.name


def test_a_part_has_exercises_of_its_notebook():
    for path, at in STATIONS:
        station = path.stations[at]
        assert station.part or not station.exercises, "a whole notebook has all of its own"
        assert {find(name).notebook for name in station.exercises} <= {station.name}


def test_a_part_to_the_end_of_a_heading_has_all_exercises_up_to_there():
    for path, at in STATIONS:
        station = path.stations[at]
        if not station.part.startswith("to the end of") or " then " in station.part:
            continue
        headings, before, inside = set(QUOTED.findall(station.part)), [], False
        for cell in read_file(LISTED[station.name].path).cells:
            of_cell = re.findall(r"^## (.+)$", cell.source, re.M)
            if of_cell and inside:
                break
            inside = inside or bool(set(of_cell) & headings)
            before += re.findall(r"^%%exercise (\S+)", cell.source)
        assert tuple(before) == station.exercises, station.name


def test_an_unknown_path_is_refused_with_those_there_are():
    with pytest.raises(LessonError, match="No path is called week. There are: weekend, four-weeks"):
        named_path("week")
