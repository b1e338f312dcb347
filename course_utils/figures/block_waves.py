"""Which multiprocessor runs which block, and when: the waves of a grid and their tail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .style import HATCHES, PALETTE, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

THIN = 0.12  # inches. Lower rows are drawn without gaps between them


@styled
def waves(
    places: Sequence[int] | np.ndarray,
    starts: Sequence[float] | np.ndarray,
    ends: Sequence[float] | np.ndarray,
    wave: Sequence[int] | np.ndarray,
    *,
    row: str = "SM",
    unit: str = "µs",
    names: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """One bar a block: block i ran at ``places[i]`` from ``starts[i]`` to ``ends[i]``.

    All four are (n,). Places count from 0, the first at the top. ``row`` is the word for one, and
    times are in ``unit``. ``wave[i]``, from 0, picks colour and hatch, and
    its word in the key is ``names[wave[i]]``, or "wave" and its number. A dashed line marks the end
    of the last block. Raises ValueError for lengths that differ and for a block that ends before
    it starts.
    """
    place, start, end = (np.asarray(values, float) for values in (places, starts, ends))
    number = np.asarray(wave, int)
    if not 0 < len(place) == len(start) == len(end) == len(number):
        raise ValueError(
            f"{len(place)} places, {len(start)} starts, {len(end)} ends and {len(number)} waves: "
            "give one of each for every block"
        )
    if (end < start).any():
        block = int(np.flatnonzero(end < start)[0])
        raise ValueError(f"block {block} ends at {end[block]:g}, before it starts")
    count = int(place.max()) + 1
    height = float(np.clip(0.3 * count, 0.9, 4.6))
    thin = height / count < THIN
    figure, axes = new(8, height + 1.4)
    for index in np.unique(number):
        members = number == index
        axes.barh(
            place[members],
            (end - start)[members],
            left=start[members],
            height=1.0 if thin else 0.8,
            facecolor=_face(index),
            edgecolor="#333333",
            linewidth=0.15 if thin else 0.8,
            hatch=HATCHES[index % len(HATCHES)],
        )
    finish = float(end.max())
    axes.axvline(finish, color="#333333", linestyle="--", linewidth=1.2)
    axes.set_xlim(0, finish * 1.02)
    axes.set_ylim(count - 0.5, -0.5)
    step = max(1, 2 ** int(np.ceil(np.log2(count / 16))))
    axes.set_yticks(range(0, count, step))
    axes.tick_params(axis="y", length=0)
    axes.set_ylabel(row)
    axes.set_xlabel(f"time ({unit}); the last block ends at {finish:.4g}")
    legend_below(figure, [_patch(index, names) for index in np.unique(number)])
    if title:
        axes.set_title(title)
    return figure


def block_timeline(
    sms: Sequence[int],
    starts: Sequence[float],
    ends: Sequence[float],
    *,
    blocks_each: int,
    unit: str = "µs",
    title: str = "",
) -> Figure:
    """The waves of a launch that was recorded: block i ran on ``sms[i]`` from ``starts[i]`` to
    ``ends[i]``, (n,) each, with ``blocks_each`` blocks at a time on an SM.

    One row per slot, one bar per block. A GPU records no slots, so an SM's blocks take its slots in
    turn, in the order in which they began.
    """
    sm, start, end = np.asarray(sms, int), np.asarray(starts, float), np.asarray(ends, float)
    slot, wave = np.zeros(len(sm), int), np.zeros(len(sm), int)
    for number in np.unique(sm):
        mine = np.flatnonzero(sm == number)
        mine = mine[np.argsort(start[mine], kind="stable")]
        wave[mine], place = np.divmod(np.arange(len(mine)), blocks_each)
        slot[mine] = number * blocks_each + place
    row = f"slot ({blocks_each} on each SM)"
    return waves(slot, start, end, wave, row=row, unit=unit, title=title)


def _face(wave: int) -> tuple[float, float, float]:
    return blend(PALETTE[wave % len(PALETTE)], 0.6)


def _patch(wave: int, names: Sequence[str]) -> Patch:
    from matplotlib.patches import Patch

    hatch = HATCHES[wave % len(HATCHES)]
    label = names[wave] if names else f"wave {wave}"
    return Patch(facecolor=_face(wave), edgecolor="#333333", hatch=hatch, label=label)
