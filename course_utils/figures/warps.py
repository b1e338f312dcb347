"""A warp stepping through a kernel: which lanes take part in which line."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..emulator import WARP
from .style import BLUE, GREY, bare, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from ..observing.warp_traces import Trace

CELL = 0.15  # inches
SOURCE_WIDTH = 4.6  # inches
LONGEST = 58  # characters of a source line that fit there


@dataclass
class _Row:
    """Consecutive steps of one line by the same lanes."""

    line: int
    text: str
    active: np.ndarray
    steps: int = 1


@styled
def warp_steps(
    trace: Trace,
    *,
    source_lines: Collection[int] | None = None,
    rows: int = 40,
    title: str | None = None,
) -> Figure:
    """A row per step, from top to bottom in the order of time, and a column per lane.

    ``trace`` is a result of :func:`course_utils.trace`. Consecutive steps that come from one line
    and are made by the same lanes share a row, which says at its right how many PTX instructions
    they are. Only steps of the lines in ``source_lines`` are drawn, by default all of the file, and
    of those the first ``rows`` rows. Hatched cells are idle lanes. Raises ValueError where that
    leaves no step.
    """
    found = _rows(trace, source_lines)
    if not found:
        raise ValueError(
            "the trace has no step to draw"
            + (f" in the lines {sorted(source_lines)}" if source_lines is not None else "")
        )
    shown = found[:rows]
    figure, axes = new(WARP * CELL + SOURCE_WIDTH + 0.6, 0.2 * len(shown) + 1.0)
    for number, row in enumerate(shown):
        _draw(axes, number, row)
    axes.vlines(range(1, WARP), 0, len(shown), color="white", linewidth=1.0)
    axes.hlines(range(1, len(shown)), 0, WARP, color="white", linewidth=1.6)
    axes.set_xlim(0, WARP)
    axes.set_ylim(len(shown), 0)
    axes.set_xticks(np.arange(0, WARP, 4) + 0.5, range(0, WARP, 4))
    axes.set_xlabel("lane")
    labels = [f"{_short(row.text)}  {row.line or '?':>3}" for row in shown]
    axes.set_yticks(np.arange(len(shown)) + 0.5, labels, family="monospace", fontsize=8)
    bare(axes)
    default = f"Warp {trace.warp} of block {_index(trace.block_index)}, step by step"
    more = len(found) - len(shown)
    if more:
        unfinished = "" if trace.complete else "at least "
        default += f" (the first {len(shown)} rows, {unfinished}{more} follow)"
    axes.set_title(title or default)
    legend_below(figure, _key())
    return figure


def _rows(trace: Trace, wanted: Collection[int] | None) -> list[_Row]:
    rows: list[_Row] = []
    for step in trace.steps:
        own = step.file == trace.filename
        line = step.line if own else 0
        if wanted is not None and line not in wanted:
            continue
        last = rows[-1] if rows else None
        if last is not None and last.line == line and (last.active == step.active).all():
            last.steps += 1
            continue
        text = trace.text(line) if own else f"({step.file.rpartition('/')[2]}:{step.line})"
        rows.append(_Row(line, text, step.active))
    return rows


def _draw(axes: Axes, number: int, row: _Row) -> None:
    from matplotlib.patches import Rectangle

    edges = np.flatnonzero(np.diff(row.active)) + 1
    for low, high in zip([0, *edges], [*edges, WARP], strict=True):
        on = bool(row.active[low])
        look = (
            {"facecolor": blend(BLUE, 0.75), "edgecolor": "none"}
            if on
            else {"facecolor": "white", "edgecolor": "#CCCCCC", "hatch": "//"}
        )
        axes.add_patch(Rectangle((low, number), high - low, 1, linewidth=0, **look))
    axes.text(WARP + 0.4, number + 0.5, f"{row.steps}", va="center", fontsize=8, color=GREY)


def _key() -> list[Patch]:
    from matplotlib.patches import Patch

    return [
        Patch(facecolor=blend(BLUE, 0.75), edgecolor="none", label="active"),
        Patch(facecolor="white", edgecolor=GREY, hatch="//", label="idle"),
        Patch(facecolor="none", edgecolor="none", label="at the right: PTX instructions"),
    ]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _index(block: tuple[int, ...]) -> str:
    """(2, 0, 0) as "2", (1, 2, 0) as "(1, 2)"."""
    while len(block) > 1 and block[-1] == 0:
        block = block[:-1]
    return str(block[0]) if len(block) == 1 else f"({', '.join(map(str, block))})"
