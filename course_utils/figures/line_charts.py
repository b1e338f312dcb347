"""Measured curves over a size or a time, and the roofs of several memories at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .labels import bytes_label, fraction_label, number_label
from .style import GREY, MARKERS, PALETTE, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Curve = Sequence[tuple[float, float]]
DASHES = ("-", "--", "-.", ":")
MANY_DECADES = 3.5  # from here on labels at 1, 2 and 5 would touch
MOST_MARKS = 40  # in a series. More are drawn as points alone


@styled
def curves(
    lines: Mapping[str, Curve],
    *,
    across: str,
    up: str,
    levels: Mapping[str, float] | None = None,
    marks: Mapping[str, float] | None = None,
    guides: Mapping[str, Curve] | None = None,
    in_bytes: bool = True,
    title: str = "",
) -> Figure:
    """Curves of (x, y) pairs on logarithmic axes, with named levels of y and marks of x.

    ``across`` and ``up`` label the axes. ``levels`` maps a name to a y, drawn as a thin horizontal
    line, and ``marks`` a name to an x, drawn as a vertical one. ``guides`` are predictions of a
    theory, thin grey lines of such pairs. With ``in_bytes`` x is written as KB, MB and GB (powers
    of two), otherwise as a number. All values must be positive. Raises ValueError for others.
    """
    from matplotlib.ticker import LogLocator, NullFormatter

    levels, marks = dict(levels or {}), dict(marks or {})
    data = {name: np.asarray(pairs, dtype=float) for name, pairs in lines.items()}
    for name, pairs in data.items():
        if pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs <= 0).any():
            raise ValueError(f"{name}: give pairs (x, y) of positive numbers")
    figure, axes = new(8, 4.4)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    left = min(pairs[:, 0].min() for pairs in data.values())
    right = max(pairs[:, 0].max() for pairs in data.values())
    for index, (name, guide) in enumerate((guides or {}).items()):
        style = {"color": GREY, "linewidth": 1.3, "linestyle": DASHES[(index + 1) % len(DASHES)]}
        axes.plot(*np.asarray(guide, dtype=float).T, label=name, zorder=4, **style)
    for index, (name, pairs) in enumerate(data.items()):
        axes.plot(
            *pairs.T,
            marker=MARKERS[index % len(MARKERS)],
            markersize=5,
            linestyle=DASHES[index % len(DASHES)],
            color=PALETTE[index % len(PALETTE)],
            label=name,
            zorder=3,
        )
    heights = np.array([*(y for pairs in data.values() for y in pairs[:, 1]), *levels.values()])
    axes.set_ylim(heights.min() / 1.6, heights.max() * 2.2)
    axes.set_xlim(left / 1.3, right * 1.3)
    for level in levels.values():
        axes.axhline(level, color=GREY, linestyle=":", linewidth=1)
    for name, place in marks.items():
        axes.axvline(place, color="#333333", linestyle="--", linewidth=1)
        axes.annotate(
            name,
            (place, axes.get_ylim()[1]),
            xytext=(-4, -4),
            textcoords="offset points",
            ha="right",
            va="top",
            rotation=90,
            fontsize=9,
            color="#333333",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
        )
    axes.xaxis.set_major_formatter(
        lambda value, _: bytes_label(value) if in_bytes else number_label(value)
    )
    decades = np.log10(heights.max() / heights.min())
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < MANY_DECADES else (1,)))
    axes.yaxis.set_major_formatter(lambda value, _: number_label(value))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(which="major")
    if len(data) > 1 or guides:
        figure.legend(loc="outside lower center", ncols=min(len(data), 3))
    axes.set_title(title)
    for name, level in levels.items():
        _name_level(axes, f"{name}: {number_label(level)}", level, (left, right), [*data.values()])
    return figure


def _name_level(
    axes: Axes, text: str, level: float, ends: tuple[float, float], lines: list[Any]
) -> None:
    """Write ``text`` at the line of ``level``, at the first of four places where it hides none of
    the ``lines``: above its right end, below it, above its left end, below that."""
    left, right = ends
    label = axes.annotate(
        text,
        (right, level),
        xytext=(0, 3),
        textcoords="offset points",
        fontsize=9,
        color="#333333",
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
    axes.figure.draw_without_rendering()
    drawn = [_dense(axes.transData.transform(pairs)) for pairs in lines]
    places = [(x, rise) for x in (right, left) for rise in (3, -4)]
    for x, rise in [*places, places[0]]:
        label.xy, label.xyann = (x, level), (0, rise)
        label.set(ha="right" if x == right else "left", va="baseline" if rise > 0 else "top")
        box = label.get_window_extent().padded(5)  # a mark has a width too
        if not any(box.count_contains(points) for points in drawn):
            return


def _dense(points: Any) -> Any:
    """So many points on the straight lines between ``points`` that a word covers some of them."""
    steps = np.linspace(0, len(points) - 1, 40 * len(points))
    return np.stack([np.interp(steps, range(len(points)), axis) for axis in points.T], axis=1)


@styled
def series(
    panels: Mapping[str, Mapping[str, Curve]],
    *,
    across: str,
    levels: Mapping[str, float] | None = None,
    title: str = "",
) -> Figure:
    """One panel below the other over a common axis, none of them logarithmic or begun at zero.

    ``panels`` maps the label of a y axis to its series, each a name and (x, y) pairs: up to 40 are
    drawn as a line with marks, more as points. ``levels`` maps a panel to a y that a line shows in
    it. Raises ValueError for a series with no pairs.
    """
    levels = levels or {}
    figure, grid = new(8, 0.9 + 1.9 * len(panels), nrows=len(panels), sharex=True, squeeze=False)
    for axes, (label, lines) in zip(grid[:, 0], panels.items(), strict=True):
        for index, (name, pairs) in enumerate(lines.items()):
            data = np.asarray(pairs, dtype=float).reshape(-1, 2)
            if not len(data):
                raise ValueError(f"{name}: there are no pairs (x, y) to draw")
            few = len(data) <= MOST_MARKS
            axes.plot(
                *data.T,
                linestyle=DASHES[index % len(DASHES)] if few else "",
                marker=MARKERS[index % len(MARKERS)] if few else ".",
                markersize=5 if few else 3,
                color=PALETTE[index % len(PALETTE)],
                label=name,
                zorder=3 if few else 2,
            )
        if label in levels:
            axes.axhline(levels[label], color=GREY, linestyle=":", linewidth=1.3)
        axes.set_ylabel(label)
        axes.grid(axis="y")
        if len(lines) > 1:
            axes.legend(loc="best")
    grid[-1, 0].set_xlabel(across)
    grid[0, 0].set_title(title)
    return figure


@styled
def memory_roofs(
    kernels: Mapping[str, tuple[float, Mapping[str, float]]],
    peak_flops: float,
    bandwidths: Mapping[str, float],
    *,
    marks: Mapping[str, int] | None = None,
    title: str = "One kernel, several intensities",
) -> Figure:
    """Each kernel once for every memory, under that memory's own roof.

    ``kernels`` maps a name to (measured FLOP/s, {memory: FLOP per byte that crosses it});
    ``bandwidths`` maps the same memories to bytes/s, ``peak_flops`` is in FLOP/s. A memory on whose
    roof a kernel nearly lies is what limits it. ``marks`` as for ``roofline``. Raises ValueError
    unless all rates are positive.
    """
    if peak_flops <= 0 or any(rate <= 0 for rate in bandwidths.values()):
        raise ValueError("the peak and every bandwidth must be positive (FLOP/s, B/s)")
    places = [x for _, by_memory in kernels.values() for x in by_memory.values()]
    ridges = [peak_flops / rate for rate in bandwidths.values()]
    left, right = min(places + ridges) / 4, max(places + ridges) * 6
    figure, axes = new(8, 5)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    for index, (memory, rate) in enumerate(bandwidths.items()):
        x = np.array([left, peak_flops / rate, right])
        axes.plot(
            x,
            np.minimum(peak_flops, x * rate),
            color=PALETTE[index],
            linestyle=DASHES[index % len(DASHES)],
            label=f"{memory}: {number_label(rate)}B/s",
        )
    for place, (name, (flops, by_memory)) in enumerate(kernels.items()):
        number = (marks or {}).get(name, place)
        for index, memory in enumerate(bandwidths):
            if memory in by_memory:
                axes.plot(
                    [by_memory[memory]],
                    [flops],
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=9,
                    color=PALETTE[index],
                    markeredgecolor="#333333",
                    linestyle="none",
                    zorder=4,
                )
        axes.plot(
            [],
            [],
            marker=MARKERS[number % len(MARKERS)],
            color="white",
            markeredgecolor="#333333",
            linestyle="none",
            label=name,
        )
        axes.plot(sorted(by_memory.values()), [flops] * len(by_memory), color=GREY, linewidth=0.8)
    rates = [flops for flops, _ in kernels.values()]
    axes.set_xlim(left, right)
    axes.set_ylim(min([*rates, left * min(bandwidths.values())]) / 2, peak_flops * 3)
    axes.annotate(
        f"peak {number_label(peak_flops)}FLOP/s",
        (right, peak_flops),
        xytext=(-6, 5),
        textcoords="offset points",
        ha="right",
        fontsize=9,
        color="#333333",
    )
    axes.xaxis.set_major_formatter(lambda value, _: fraction_label(value))
    axes.yaxis.set_major_formatter(lambda value, _: number_label(value))
    axes.set_xlabel("FLOP per byte that crosses this memory")
    axes.set_ylabel("FLOP/s")
    axes.grid(which="major")
    figure.legend(loc="outside lower center", ncols=3)
    axes.set_title(title)
    return figure
