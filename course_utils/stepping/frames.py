"""A few steps of a recorded launch: the line, the threads, and the arrays beside it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..figures.style import BLUE, GREY, ORANGE, PALE, blend, new, styled
from ..integers import ceil_div
from .states import StepState, key_frames, state_after
from .text_form import phase_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .stepped_launch import SteppedLaunch

LINES = 9  # of the source
ACROSS = 32  # threads, and as wide as
VALUES = 16  # elements of an array
ARRAYS = 4
WIDTH, CELL = 9.2, 0.19  # inches


@styled
def key_figure(launch: SteppedLaunch, frames: Sequence[int] = ()) -> Figure:
    """The steps ``frames`` (the first is 0) one below the other. Without them those that
    ``key_frames`` chooses.

    ``launch`` is what :func:`~course_utils.step` returns. Raises ValueError for a number that is
    no step.
    """
    numbers = list(frames) or key_frames(launch)
    wrong = [n for n in numbers if not 0 <= n < len(launch.steps)]
    if wrong:
        raise ValueError(f"step {wrong[0]}: the launch has steps 0 to {len(launch.steps) - 1}")
    states = [state_after(launch, n) for n in numbers]
    rows = [max(LINES * 0.8, _rows(launch, state)) for state in states]
    figure, grid = new(
        WIDTH,
        sum(rows) * CELL + 0.35 * len(numbers),
        nrows=len(numbers),
        ncols=2,
        squeeze=False,
        height_ratios=rows,
    )
    for n, state, high, (left, right) in zip(numbers, states, rows, grid, strict=True):
        for axes in (left, right):
            axes.axis("off")
            axes.set(xlim=(0, ACROSS), ylim=(high, 0))
        step = launch.steps[n]
        title = f"step {n + 1} of {len(launch.steps)}, line {step.line}: "
        threads = f"{len(step.lanes)} of {len(state.threads)} threads"
        title += threads if step.lanes else "a copy arrives"
        title += _moment(launch, n)
        left.set_title(title, fontsize=9, loc="left")
        _source(left, launch, n)
        _cells(right, launch, state)
    return figure


def _moment(launch: SteppedLaunch, number: int) -> str:
    moments = launch.main_fault.moments if launch.main_fault else ()
    labels = [label for label, n in moments if n == number]
    if not labels:
        return ""
    return f", {labels[0] if len(labels) == 1 else 'both accesses'} of a fault"


def _source(axes: Axes, launch: SteppedLaunch, number: int) -> None:
    step = launch.steps[number]
    lines = launch.source.splitlines()
    if step.file != launch.kernel.filename:
        axes.text(0, 1, f"line {step.line} of {Path(step.file).name}", fontsize=7.5)
        return
    first = min(max(step.line - LINES // 2 - 1, 0), max(len(lines) - LINES, 0))
    for row, text in enumerate(lines[first : first + LINES]):
        here = first + row + 1 == step.line
        axes.text(
            0.2,
            row * 0.8 + 0.5,
            f"{'→' if here else ' '}{first + row + 1:>3} {text[:52]}",
            family="monospace",
            fontsize=7.5,
            va="center",
            weight="bold" if here else "normal",
            color="black" if here else "#444444",
        )


def _shown(launch: SteppedLaunch, state: StepState) -> list[tuple[int, range]]:
    """(array, elements) that are drawn: those that the step touches first, 16 elements of each,
    around the element of a fault if there is one."""
    fault = launch.main_fault
    finding = fault.finding if fault else None
    order = sorted(range(len(launch.arrays)), key=lambda a: not state.touched[a])[:ARRAYS]
    found = []
    for array in sorted(order):
        size = len(state.values[array])
        first = min(state.touched[array], default=0) // VALUES * VALUES
        if finding and finding.index is not None and launch.arrays[array].name == finding.array:
            first = max(finding.index - VALUES // 2, 0)
        first = min(first, max(size - VALUES, 0))
        found.append((array, range(first, min(first + VALUES, size))))
    return found


def _warps(launch: SteppedLaunch) -> list[tuple[int, int]]:
    warps = ceil_div(math.prod(launch.block), ACROSS)
    return [(b, w) for b in range(math.prod(launch.grid)) for w in range(warps)]


def _rows(launch: SteppedLaunch, state: StepState) -> float:
    made = sum(barrier is not None for barrier in state.barriers)
    return 1.9 * (len(_warps(launch)) + len(_shown(launch, state))) + 0.9 * made


def _cells(axes: Axes, launch: SteppedLaunch, state: StepState) -> None:
    block, row = math.prod(launch.block), 0.0
    for b, w in _warps(launch):
        axes.text(0, row + 0.4, f"block {b}, warp {w}", fontsize=7, va="center")
        for lane, kind in enumerate(
            state.threads[b * block + w * ACROSS : b * block + min((w + 1) * ACROSS, block)]
        ):
            _cell(axes, lane, row + 0.8, 1, **_THREADS[kind])
        row += 1.9
    for array, elements in _shown(launch, state):
        of, size = launch.arrays[array], len(state.values[array])
        owner = f" of block {of.block}" if of.block >= 0 else ""
        part = "" if len(elements) == size else f"[{elements.start}] to [{elements.stop - 1}]"
        axes.text(0, row + 0.4, f"{of.name}{part}, {of.space}{owner}", fontsize=7, va="center")
        for place, element in enumerate(elements):
            writes = state.touched[array].get(element)
            look: dict[str, Any] = {"facecolor": "white", "edgecolor": GREY}
            if element in state.in_flight[array]:
                look |= {"hatch": "////", "facecolor": PALE}
            if writes is not None:
                look |= {"edgecolor": ORANGE if writes else BLUE, "linewidth": 1.6}
            _cell(axes, 2 * place, row + 0.8, 2, **look)
            axes.text(
                2 * place + 1,
                row + 1.27,
                _value(state.values[array][element]),
                fontsize=6.5,
                ha="center",
                va="center",
                weight="bold" if writes else "normal",
            )
        row += 1.9
    for barrier, known in zip(launch.barriers, state.barriers, strict=True):
        if known is not None:
            text = f"mbarrier {barrier.name} of block {barrier.block}: {phase_text(*known)}"
            axes.text(0, row + 0.4, text, fontsize=7, va="center")
            row += 0.9


_THREADS: dict[str, dict[str, Any]] = {
    "runs": {"facecolor": BLUE, "edgecolor": BLUE},
    "off": {"facecolor": "white", "edgecolor": GREY, "linestyle": ":"},
    "waits": {"facecolor": blend(ORANGE, 0.35), "edgecolor": ORANGE, "hatch": "////"},
    "ended": {"facecolor": PALE, "edgecolor": PALE},
    "ready": {"facecolor": "white", "edgecolor": GREY},
}


def _cell(axes: Axes, x: float, y: float, width: float, **look: Any) -> None:
    from matplotlib.patches import Rectangle

    linewidth = look.pop("linewidth", 0.7)
    axes.add_patch(Rectangle((x + 0.06, y), width - 0.12, 0.9, linewidth=linewidth, **look))


def _value(value: Any) -> str:
    if value is None:
        return "·"
    text = f"{value:.3g}" if isinstance(value, float) else str(value)
    return text if len(text) <= 6 else text[:5] + "…"
