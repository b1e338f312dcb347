"""The moving fault report of README.md and the website: a line is typed, the report names thread
and line, the line is fixed, PASS. ``exercises --write`` draws it from two runs of the checker."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from xml.sax.saxutils import escape

from ..paths import ROOT
from ..svg import MONO, SANS, document
from ..whole_files import write_changed
from .authoring.registry import all_exercises
from .judging.outcome import Outcome
from .judging.runner import check_source

FILE = ROOT / "assets" / "figures" / "fault_report.svg"
EXERCISE = "00.double_it"
TODO = "// TODO: store two times x[i] in y[i]"
WRONG, RIGHT = "y[i] = 2.0f * x[i + 1];", "y[i] = 2.0f * x[i];"

WIDTH, LEFT, LINE, COLUMN = 800, 34, 17, 7.23
COLUMNS = 100  # of a report's line
SOFT, RED, GREEN = "#777777", "#D55E00", "#009E73"
SECONDS = 14
# When each part is to be seen, as shares of the film in percent.
EMPTY, TYPED, REPORT, FIXED, PASSED = 6, 24, 26, 72, 78


def draw() -> bool:
    """Write :data:`FILE`, and return whether it changed. The checker runs twice, for a second."""
    return write_changed(FILE, film())


def film() -> str:
    """The film as SVG. It moves by CSS, shows the report where motion is reduced and in print, and
    has a text alternative.

    Raises ValueError if the wrong line passes, or the right one doesn't.
    """
    exercise = next(each for each in all_exercises() if each.id == EXERCISE)
    starter = exercise.starter.rstrip("\n")
    reports = []
    for line, passes in ((WRONG, False), (RIGHT, True)):
        outcome = check_source(exercise, starter.replace(TODO, line) + "\n")
        if outcome.passed is not passes:
            raise ValueError(f"{EXERCISE} with “{line}” gets the verdict {outcome.verdict}.")
        reports.append(_lines(outcome))
    return _svg(starter.splitlines(), *reports)


def _lines(outcome: Outcome) -> list[str]:
    """The report of a run, wrapped; continued lines are indented as their first."""
    lines = []
    for line in str(outcome).splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        lines += textwrap.wrap(line, COLUMNS, subsequent_indent=indent) or [""]
    return lines


def _svg(code: Sequence[str], wrong: Sequence[str], right: Sequence[str]) -> str:
    place = next(number for number, line in enumerate(code) if TODO in line)
    indent = len(code[place]) - len(code[place].lstrip())
    top = 62
    y = top + LINE * place
    below = top + LINE * len(code) + 24
    height = below + LINE * len(wrong) + 20
    typed = LEFT + COLUMN * indent
    rest = [(number, line) for number, line in enumerate(code) if number != place]
    parts = [
        f"<style>{_style(len(WRONG))}</style>",
        f'<clipPath id="typing"><rect class="typing" x="{typed}" y="{y - LINE}" '
        f'width="{COLUMN * len(WRONG) + 1:.1f}" height="{LINE * 2}"/></clipPath>',
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{height - 1}" rx="6" fill="none" '
        'stroke="#CCCCCC"/>',
        f'<text x="{LEFT}" y="30" fill="{SOFT}" font-family="{SANS}">'
        f"exercise {EXERCISE}: two times x[i], on a laptop without a GPU</text>",
        f'<rect class="report" x="10" y="{y - 13}" width="{WIDTH - 20}" height="{LINE}" '
        'fill="#FBE3D6"/>',
        *(_text(LEFT, top + LINE * number, line) for number, line in rest),
        _text(LEFT, y, code[place], f'class="todo" fill="{SOFT}"'),
        f'<g class="wrong" clip-path="url(#typing)">{_text(typed, y, WRONG)}</g>',
        _text(typed, y, RIGHT, 'class="right"'),
        *_panel("report", below, wrong, RED),
        *_panel("pass", below, right, GREEN),
    ]
    title = "A fault report, from a wrong line to PASS"
    told = _told(wrong, right)
    return document((WIDTH, height), title, told, parts, font=MONO, corners=6)


def _told(wrong: Sequence[str], right: Sequence[str]) -> str:
    said, passed = (" ".join(" ".join(lines).split()) for lines in (wrong, right))
    return f"The line {WRONG} gets the report: {said} After the change to {RIGHT} it is: {passed}"


def _text(x: float, y: float, text: str, more: str = "") -> str:
    return f'<text x="{x:g}" y="{y}" xml:space="preserve" {more}>{escape(text)}</text>'


def _panel(name: str, top: int, lines: Sequence[str], colour: str) -> list[str]:
    height = LINE * len(lines) + 6
    heads = next((n for n, line in enumerate(lines) if line.startswith(" ")), len(lines))
    return [
        f'<g class="{name}">',
        f'<rect x="16" y="{top - 16}" width="4" height="{height}" fill="{colour}"/>',
        *(
            _text(
                LEFT,
                top + LINE * number,
                line,
                f'fill="{colour}" font-weight="bold"' if number < heads else "",
            )
            for number, line in enumerate(lines)
        ),
        "</g>",
    ]


def _style(letters: int) -> str:
    """Still: the wrong line and its report. Moving: all parts in turn."""

    def seen(name: str, begin: float, end: float) -> str:
        before = f"0%,{begin - 0.01:g}%{{opacity:0}}" if begin else ""
        after = f"{end + 0.01:g}%,100%{{opacity:0}}" if end < 100 else ""
        return f"@keyframes {name}{{{before}{begin:g}%,{end:g}%{{opacity:1}}{after}}}"

    parts = {
        "todo": (0, EMPTY),
        "wrong": (EMPTY, FIXED),
        "report": (REPORT, FIXED),
        "right": (FIXED, 100),
        "pass": (PASSED, 100),
    }
    moving = "".join(
        seen(name, *when) + f".{name}{{animation:{name} {SECONDS}s infinite}}"
        for name, when in parts.items()
    )
    typing = (
        f"@keyframes typing{{0%,{EMPTY}%{{transform:scaleX(0);"
        f"animation-timing-function:steps({letters})}}{TYPED}%,100%{{transform:scaleX(1)}}}}"
        f".typing{{transform-box:fill-box;animation:typing {SECONDS}s infinite}}"
    )
    return (
        ".todo,.right,.pass{opacity:0}"
        f"@media screen and (prefers-reduced-motion:no-preference){{{moving}{typing}}}"
    )
