"""A ladder as SVG: a bar a rung, the libraries in grey, and a mark for the reader's notebook."""

from __future__ import annotations

from collections.abc import Sequence
from math import log10
from typing import NamedTuple
from xml.sax.saxutils import escape

from ..svg import INK, document

WIDTH, ROW, TOP, LEFT, RIGHT = 800, 22, 62, 268, 570
OURS, PALE, LIBRARY = "#0072B2", "#9CC6E0", "#BBBBBB"
SOFT, LINE = "#555555", "#DDDDDD"
HERE = "you are here"


class LadderBar(NamedTuple):
    """A rung: its name, the text at its end, the notebook that climbs to it, or None for a
    library's bar."""

    name: str
    value: float
    text: str
    notebook: str | None


class Axis(NamedTuple):
    """From the least to the most value, with marks at ``ticks``."""

    least: float
    most: float
    ticks: tuple[float, ...]
    is_logarithmic: bool = False

    def x(self, value: float) -> float:
        """The place of ``value`` on the page, in pixels from the left."""
        least, most = self.least, self.most
        if self.is_logarithmic:
            least, most, value = log10(least), log10(most), log10(value)
        return LEFT + (value - least) / (most - least) * (RIGHT - LEFT)


def ladder_svg(
    title: str, below: str, bars: Sequence[LadderBar], axis: Axis, here: str | None = None
) -> str:
    """The text of an SVG file, with a text alternative that has every bar.

    ``below`` is the line under the title. The bars of the notebook ``here`` are strong and marked,
    and without one all are strong.
    """
    bottom = TOP + ROW * len(bars)
    told = ", ".join(f"{bar.name}: {bar.text}" for bar in bars)
    marked = next((place for place, bar in enumerate(bars) if here and bar.notebook == here), None)
    lines = [
        f'<text x="20" y="24" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="20" y="43" fill="{SOFT}">{escape(below)}</text>',
        *_ticks(axis, bottom),
    ]
    for place, bar in enumerate(bars):
        is_strong = here is None or bar.notebook == here
        lines += _bar(TOP + ROW * place, bar, axis, is_strong, place == marked)
    return document((WIDTH, bottom + 30), title, f"{below} {told}.", lines)


def _ticks(axis: Axis, bottom: int) -> list[str]:
    lines = []
    for tick in axis.ticks:
        x = axis.x(tick)
        label = f"{tick:,.0f}" if tick >= 1 else f"{tick:g}"
        lines += [
            f'<line x1="{x:.1f}" y1="{TOP - 4}" x2="{x:.1f}" y2="{bottom}" stroke="{LINE}"/>',
            f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle" fill="{SOFT}" '
            f'font-size="11">{label}</text>',
        ]
    return lines


def _bar(y: int, bar: LadderBar, axis: Axis, is_strong: bool, is_marked: bool) -> list[str]:
    """The notebook's number, the rung's name, the bar, and the text at its end."""
    is_library = bar.notebook is None
    colour = LIBRARY if is_library else OURS if is_strong else PALE
    ink = SOFT if is_library else INK
    end, middle = axis.x(bar.value), y + ROW / 2 + 4
    mark = f'  <tspan fill="{OURS}" font-weight="bold">◀ {HERE}</tspan>' if is_marked else ""
    return [
        f'<text x="20" y="{middle}" fill="{SOFT}" font-size="11">{bar.notebook or ""}</text>',
        f'<text x="{LEFT - 8}" y="{middle}" text-anchor="end" fill="{ink}">{escape(bar.name)}'
        "</text>",
        f'<rect x="{LEFT}" y="{y + 3}" width="{end - LEFT:.1f}" height="{ROW - 6}" '
        f'fill="{colour}"/>',
        f'<text x="{end + 6:.1f}" y="{middle}" fill="{ink}" xml:space="preserve">'
        f"{escape(bar.text)}{mark}</text>",
    ]
