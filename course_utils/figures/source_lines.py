"""A kernel's source with a column for the cost of each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .style import bare, ink, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..observing.profile_report import Profile

ROW = 0.2  # inches
LONGEST = 96  # characters of a line that are shown
CHARACTER = 0.0695  # inches, at the font size of the source
COLUMN = 12  # characters wide


@styled
def source_heat(
    profile: Profile,
    by: str = "sectors",
    *,
    lines: tuple[int, int] | None = None,
    title: str | None = None,
) -> Figure:
    """The kernel's source, and beside each line how much of ``by`` it cost: darker is more.

    ``profile`` is a result of :func:`course_utils.profile`. ``by`` is a measure such as
    "sectors", "warp_instructions", "wavefronts", "flops" or "divergent_branches"
    (:data:`course_utils.observing.counter_measures.MEASURES`). ``lines`` is (first, last), both
    drawn, by default the part of the file that ran. Raises ValueError for lines that the file does
    not have.
    """
    from ..observing.counter_measures import MEASURES

    values = profile.by_line(by)
    text = profile.source.splitlines()
    first, last = lines or _extent(values, text)
    if not 1 <= first <= last <= len(text):
        raise ValueError(f"the file has lines 1 to {len(text)}, not {first} to {last}")
    most = max(values.values(), default=0)
    total = sum(values.values())
    longest = max(len(line) for line in text[first - 1 : last])
    width = COLUMN + 6 + min(longest, LONGEST)
    figure, axes = new(max(width * CHARACTER + 0.3, 6), ROW * (last - first + 1) + 0.6)
    from matplotlib import colormaps
    from matplotlib.patches import Rectangle

    shades = colormaps["cividis_r"]
    style = {"va": "center", "family": "monospace", "fontsize": 8.3}
    for row, number in enumerate(range(first, last + 1)):
        value = values.get(number, 0)
        middle = row + 0.5
        if value:
            shade = shades(0.9 * value / most)
            axes.add_patch(Rectangle((0, row), COLUMN, 1, facecolor=shade, edgecolor="none"))
            axes.text(COLUMN - 0.5, middle, f"{value:,}", ha="right", color=ink(shade[:3]), **style)
        line = text[number - 1].expandtabs(4)
        line = line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
        axes.text(COLUMN + 4, middle, f"{number}", ha="right", color="#888888", **style)
        colour = "black" if number in values else "#777777"
        axes.text(COLUMN + 5, middle, line, ha="left", color=colour, **style)
    axes.set_xlim(0, max(width, (figure.get_figwidth() - 0.3) / CHARACTER))
    axes.set_ylim(last - first + 1, 0)
    axes.set_xticks([])
    axes.set_yticks([])
    bare(axes)
    axes.set_title(title or f"{profile.kernel}: {MEASURES[by][0]} by line, {total:,} in all")
    return figure


def _extent(values: dict[int, int], text: list[str]) -> tuple[int, int]:
    """From the first line that ran (or the head it belongs to) to the brace that closes the last
    function that did."""
    if not values:
        return 1, len(text)
    first, last = min(values), max(values)
    while last < len(text) and not text[last - 1].startswith("}"):
        last += 1
    return first, last
