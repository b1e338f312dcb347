"""The map of the book as a picture: a column a chapter, a stop a notebook, a line a reading path.
``python -m course_utils run --format`` draws it with README.md."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from xml.sax.saxutils import escape

from ..paths import ROOT
from ..svg import document
from ..whole_files import write_changed
from .lessons import Chapter, chapters
from .reading_paths import PATHS, ReadingPath

FILE = ROOT / "assets" / "figures" / "course_map.svg"
WIDTH, MARGIN, ROW, LANE = 800, 14, 22, 14
COLOURS = ("#E69F00", "#0072B2", "#009E73")  # of the paths, in order
SOFT, PALE = "#555555", "#F3F3F3"
LEGEND = 24  # from one path's line of the legend to the next
NAME = 12  # letters of a chapter's name on a line


def draw() -> bool:
    """Write :data:`FILE`, and return whether it changed."""
    return write_changed(FILE, picture(chapters(), PATHS))


def picture(found: list[Chapter], paths: tuple[ReadingPath, ...]) -> str:
    """The map as SVG, with a text alternative that lists every path's stops."""
    lessons = sum(len(chapter.lessons) for chapter in found)
    title = f"{len(found)} chapters, {lessons} notebooks, {len(paths)} paths"
    top = 40 + LEGEND * len(paths) + 20
    column = (WIDTH - 2 * MARGIN) / len(found)
    places = {
        lesson.name: (MARGIN + column * number + 26, top + 58 + ROW * row)
        for number, chapter in enumerate(found)
        for row, lesson in enumerate(chapter.lessons)
    }
    height = max(y for _, y in places.values()) + 24
    told = ". ".join(f"{path.title}, {path.hours} hours: {_stops(path)}" for path in paths)
    parts = [
        f'<text x="20" y="24" font-size="15" font-weight="bold">{title}</text>',
        *_legend(paths),
        *(_column(c, MARGIN + column * n, top, column) for n, c in enumerate(found)),
        *(_line(path, place, places) for place, path in enumerate(paths)),
        *(_numbers(c, MARGIN + column * n, top) for n, c in enumerate(found)),
    ]
    return document((WIDTH, height), title, f"{told}.", parts)


def _stops(path: ReadingPath) -> str:
    return ", ".join(_number(station.name) for station in path.stations)


def _number(name: str) -> str:
    chapter, _, notebook = name.partition("/")
    return f"{chapter[:2]}/{notebook[:2]}"


def _legend(paths: tuple[ReadingPath, ...]) -> list[str]:
    lines = []
    for place, path in enumerate(paths):
        y = 48 + LEGEND * place
        lines += [
            f'<path d="M20 {y}H56" stroke="{COLOURS[place]}" stroke-width="4"/>',
            f'<circle cx="38" cy="{y}" r="5" fill="white" stroke="{COLOURS[place]}" '
            'stroke-width="2.5"/>',
            f'<text x="66" y="{y + 4}"><tspan font-weight="bold">{path.title}, {path.hours} hours'
            f"</tspan>: {escape(path.goal)}</text>",
        ]
    return lines


def _column(chapter: Chapter, left: float, top: float, width: float) -> str:
    """A chapter: its number and name, on a field with a row for each notebook."""
    number, _, name = chapter.title.partition(" ")
    height = 56 + ROW * len(chapter.lessons)
    words = [
        f'<text x="{left + 6:.1f}" y="{top + 30 + 11 * line}" font-size="9">{escape(part)}</text>'
        for line, part in enumerate(wrap(name, NAME)[:2])
    ]
    return "\n".join(
        [
            f'<rect x="{left:.1f}" y="{top}" width="{width - 6:.1f}" height="{height}" rx="4" '
            f'fill="{PALE}"/>',
            f'<text x="{left + 6:.1f}" y="{top + 16}" font-weight="bold">{number}</text>',
            *words,
        ]
    )


def _numbers(chapter: Chapter, left: float, top: float) -> str:
    """The numbers of a chapter's notebooks, each on a rim, so that no path strikes it out."""
    return "\n".join(
        f'<text x="{left + 6:.1f}" y="{top + 58 + ROW * row + 4:.1f}" font-size="11" fill="{SOFT}" '
        f'stroke="{PALE}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">'
        f"{lesson.path.name[:2]}<title>{escape(lesson.title)}</title></text>"
        for row, lesson in enumerate(chapter.lessons)
    )


def _line(path: ReadingPath, place: int, places: Mapping[str, tuple[float, float]]) -> str:
    """A path in its lane of each column, with a dot at each stop."""
    at = [places[station.name] for station in path.stations]
    stops = [(x + LANE * place, y + 3 * (place - 1)) for x, y in at]
    drawn = f"M{stops[0][0]:.1f} {stops[0][1]:.1f}"
    for (x, y), (then_x, then_y) in zip(stops, stops[1:], strict=False):
        if x == then_x:
            drawn += f"V{then_y:.1f}"
        else:
            bend = (then_x - x) / 2
            drawn += f"C{x + bend:.1f} {y:.1f} {then_x - bend:.1f} {then_y:.1f}"
            drawn += f" {then_x:.1f} {then_y:.1f}"
    colour = COLOURS[place]
    dots = [
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="white" stroke="{colour}" '
        'stroke-width="2.5"/>'
        for x, y in stops
    ]
    line = f'<path d="{drawn}" fill="none" stroke="{colour}" stroke-width="3" opacity="0.8"/>'
    return "\n".join([line, *dots])
