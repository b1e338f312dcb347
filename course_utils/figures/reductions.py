"""Many numbers become one: which thread adds which, and which threads still work."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .style import BLUE, GREY, ORANGE, bare, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, ROW = 0.3, 0.62  # inches of a box, of a step
BOX = 0.56  # of a row: the rest is left to the lines
LABELS = 0.9  # inches beside the boxes

Steps = tuple[np.ndarray, np.ndarray]


@styled
def reduction_tree(
    panels: Mapping[str, Steps], *, results: Collection[int] = (0,), title: str = ""
) -> Figure:
    """Which thread adds which value: a row per step, a column per thread, a panel per entry.

    A panel is (values, sources). ``values``, (steps + 1, threads), are integers: the value of each
    thread at first and after each step. ``sources``, (steps, threads), are the threads whose
    value of the row above a thread added to its own, −1 if it took no part. Coloured boxes
    are on the way to the last row's ``results``. Pale ones added a value that is not used.
    """
    data = {name: _checked(name, *panel) for name, panel in panels.items()}
    wide = [values.shape[1] for values, _ in data.values()]
    steps = max(len(sources) for _, sources in data.values())
    inches = sum(wide) * WIDTH + LABELS * len(data)
    figure, axes = new(
        inches, ROW * (steps + 1) + 1.1, ncols=len(data), width_ratios=wide, squeeze=False
    )
    for axis, (name, (values, sources)) in zip(axes[0], data.items(), strict=True):
        _tree(axis, values, sources, _needed(sources, results))
        axis.set_title(name)
    if title:
        figure.suptitle(title)
    rows = [_states(sources, _needed(sources, results)) for _, sources in data.values()]
    legend_below(figure, _key(set().union(*rows)))
    return figure


def _states(sources: np.ndarray, needed: np.ndarray) -> set[tuple[bool, bool]]:
    """Which looks occur: (took part, needed)."""
    part = (sources >= 0).ravel().tolist()
    return set(zip(part, (needed[1:].ravel() & part).tolist(), strict=True))


def _checked(name: str, values: np.ndarray, sources: np.ndarray) -> Steps:
    values, sources = np.asarray(values), np.asarray(sources)
    if values.ndim != 2 or sources.shape != (values.shape[0] - 1, values.shape[1]):
        raise ValueError(
            f"{name}: values {values.shape} need sources of one row less, not {sources.shape}"
        )
    if (sources >= values.shape[1]).any():
        raise ValueError(f"{name}: a source is above {values.shape[1] - 1}, the last thread")
    return values, sources


def _needed(sources: np.ndarray, results: Collection[int]) -> np.ndarray:
    """(steps + 1, threads) bool: whose value of each row goes into one of the ``results``."""
    rows = np.zeros((len(sources) + 1, sources.shape[1]), bool)
    rows[-1, list(results)] = True
    for step in reversed(range(len(sources))):
        wanted = rows[step + 1]
        rows[step] = wanted
        used = sources[step][wanted]
        rows[step, used[used >= 0]] = True
    return rows


def _tree(axes: Axes, values: np.ndarray, sources: np.ndarray, needed: np.ndarray) -> None:
    from matplotlib.patches import Rectangle

    threads = values.shape[1]
    for step, row in enumerate(values):
        took_part = sources[step - 1] >= 0 if step else np.ones(threads, bool)
        for place, value in enumerate(row):
            look = _look(took_part[place], needed[step, place])
            axes.add_patch(Rectangle((place + 0.06, step), 0.88, BOX, **look))
            if took_part[place]:
                axes.text(
                    place + 0.5, step + BOX / 2, f"{value}", ha="center", va="center", fontsize=7
                )
        for place in map(int, np.flatnonzero(took_part)) if step else ():
            for origin in (sources[step - 1, place], place):
                wanted = needed[step, place]
                axes.plot(
                    [origin + 0.5, place + 0.5],
                    [step - 1 + BOX, step],
                    color="#333333" if wanted else "#CCCCCC",
                    linewidth=1.0 if wanted else 0.6,
                    linestyle="-" if origin != place else ":",
                    zorder=2 if wanted else 1,
                )
    axes.set_xlim(0, threads)
    axes.set_ylim(len(values) - 1 + BOX + 0.05, -0.05)
    every = 4 if threads > 16 else 1
    axes.set_xticks(np.arange(0, threads, every) + 0.5, range(0, threads, every))
    axes.set_xlabel("thread")
    adding = [f"step {step + 1}: {int((row >= 0).sum())} add" for step, row in enumerate(sources)]
    axes.set_yticks(np.arange(len(values)) + BOX / 2, ["at first", *adding], fontsize=8)
    bare(axes)


def _look(took_part: bool, needed: bool) -> dict[str, object]:
    if not took_part:
        return {"facecolor": "white", "edgecolor": "#BBBBBB", "hatch": "///", "linewidth": 0.5}
    if needed:
        return {"facecolor": blend(BLUE, 0.35), "edgecolor": BLUE, "linewidth": 0.9}
    return {"facecolor": "#F4F4F4", "edgecolor": "#BBBBBB", "linewidth": 0.6}


def _key(states: set[tuple[bool, bool]]) -> list[Artist]:
    """The legend of the looks that occur."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    labels = {
        (True, True): "on the way to the result",
        (True, False): "adds an unused value",
        (False, False): "inactive",
    }
    boxes = [Patch(**_look(*s), label=text) for s, text in labels.items() if s in states]
    return [*boxes, Line2D([], [], color="#333333", label="another thread's value")]


@styled
def active_lanes(panels: Mapping[str, np.ndarray], *, title: str = "") -> Figure:
    """How many lanes of each warp take part in each step, a panel per entry.

    A panel is (steps, warps), numbers from 0 to 32. A filled box is a warp with all 32 lanes at
    work, a hatched one has idle lanes, an empty one skips the step as a whole. Raises ValueError
    for another shape or number.
    """
    from matplotlib.patches import Patch, Rectangle

    data = {name: np.asarray(counts) for name, counts in panels.items()}
    for name, counts in data.items():
        if counts.ndim != 2 or (counts < 0).any() or (counts > 32).any():
            raise ValueError(f"{name}: give (steps, warps) numbers of lanes, from 0 to 32")
    steps = max(len(counts) for counts in data.values())
    figure, axes = new(4.4 * len(data), 0.3 * steps + 1.5, ncols=len(data), squeeze=False)
    full = {"facecolor": blend(BLUE, 0.75), "edgecolor": BLUE}
    some = {"facecolor": blend(ORANGE, 0.35), "edgecolor": ORANGE, "hatch": "///"}
    none = {"facecolor": "white", "edgecolor": "#CCCCCC"}
    for axis, (name, counts) in zip(axes[0], data.items(), strict=True):
        for (step, warp), lanes in np.ndenumerate(counts):
            look = full if lanes == 32 else some if lanes else none
            axis.add_patch(Rectangle((warp + 0.05, step + 0.08), 0.9, 0.84, linewidth=0.6, **look))
            if lanes:
                axis.text(
                    warp + 0.5,
                    step + 0.5,
                    f"{lanes}",
                    ha="center",
                    va="center",
                    fontsize=8,
                    bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
                )
        axis.set_xlim(0, counts.shape[1])
        axis.set_ylim(len(counts), 0)
        axis.set_xticks(np.arange(counts.shape[1]) + 0.5, range(counts.shape[1]))
        axis.set_xlabel("warp")
        at_work = [int((row > 0).sum()) for row in counts]
        labels = [f"step {i + 1}: {n} warp{'s' if n != 1 else ''}" for i, n in enumerate(at_work)]
        axis.set_yticks(np.arange(len(counts)) + 0.5, labels, fontsize=8)
        axis.set_title(name)
        bare(axis)
    if title:
        figure.suptitle(title)
    key = [
        Patch(**full, label="all 32 lanes"),
        Patch(**some, label="some lanes: the rest idle"),
        Patch(**(none | {"edgecolor": GREY}), label="the warp skips the step"),
    ]
    legend_below(figure, key)
    return figure
