"""How fast, and how fast it could be: the ladder of a chapter and the roofline of a machine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .labels import fraction_label, number_label
from .style import BLUE, GREY, MARKERS, PALETTE, RED, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

LABEL_GAP = 4  # pixels between a label and the line


@styled
def ladder(
    rungs: Sequence[str],
    values: Sequence[float],
    baseline: float | tuple[str, float] | None = None,
    *,
    unit: str = "GFLOP/s",
    title: str = "",
    smaller_is_better: bool = False,
    factors: bool = False,
) -> Figure:
    """One bar per rung, the first at the top. The best is drawn in full colour.

    ``values`` are in ``unit``: GFLOP/s, GB/s, or a count such as sectors or instructions (then
    ``smaller_is_better=True``). ``baseline`` is a value, or ("cuBLAS", value), drawn as a line.
    With ``factors`` each rung says its factor to the one before, and the baseline is a grey bar at
    the end. Raises ValueError unless there is one value for each rung.
    """
    numbers = np.asarray(values, dtype=float)
    if len(rungs) != len(numbers) or not len(rungs):
        raise ValueError(f"{len(rungs)} rungs and {len(numbers)} values; give one value a rung")
    best = int(numbers.argmin() if smaller_is_better else numbers.argmax())
    names, last = list(rungs), None
    if factors and baseline is not None:
        last = baseline if isinstance(baseline, tuple) else ("baseline", baseline)
        names, baseline = [*names, last[0]], None
    figure, axes = new(8, 0.42 * len(names) + 1.1)
    labels = []
    for row, value in enumerate(numbers):
        face = BLUE if row == best else blend(BLUE, 0.35)
        axes.barh(
            row,
            value,
            height=0.68,
            facecolor=face,
            edgecolor=BLUE,
            hatch="" if row == best else "///",
            linewidth=0.8,
        )
        label = axes.annotate(
            number_label(value) + (_factor(numbers[row - 1], value) if factors and row else ""),
            (value, row),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
            fontweight="bold" if row == best else "normal",
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
            zorder=3,
        )
        labels.append(label)
    limit = max(numbers.max(), 0.0)
    if last is not None:
        limit = max(limit, last[1])
        axes.barh(len(rungs), last[1], height=0.68, facecolor=blend(GREY, 0.5), edgecolor=GREY)
        axes.annotate(
            number_label(last[1]),
            (last[1], len(rungs)),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    if baseline is not None:
        name, level = baseline if isinstance(baseline, tuple) else ("baseline", baseline)
        limit = max(limit, level)
        axes.axvline(level, color=RED, linestyle="--", linewidth=1.6, zorder=2)
        words = axes.annotate(
            f"{name}  {number_label(level)}",
            (level, -0.5),
            xytext=(-4, 3),
            textcoords="offset points",
            ha="right",
            color=RED,
            fontsize=9,
            fontweight="bold",
        )
    axes.set_xlim(0, limit * (1.2 if factors else 1.12) if limit else 1)
    axes.set_ylim(len(names) - 0.5, -0.5 - (0.45 if baseline is not None else 0))
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_formatter(lambda value, _: number_label(value))
    axes.set_xlabel(unit + (" (less is better)" if smaller_is_better else ""))
    axes.grid(axis="x")
    if title:
        axes.set_title(title)
    if baseline is not None:
        figure.draw_without_rendering()  # only now does a label know how long it is
        _off_the_line(axes, labels, level)
        if words.get_window_extent().x0 < axes.bbox.x0 + LABEL_GAP:  # no room left of the line
            words.set_ha("left")
            words.xyann = (4, 3)
    return figure


def _factor(before: float, value: float) -> str:
    """``value`` as a multiple of the rung before it: "   × 1.24"."""
    return f"   × {value / before:.3g}" if before else ""


def _off_the_line(axes: Axes, labels: Sequence[Annotation], level: float) -> None:
    """Move labels that the line at ``level`` would cross: into their bar, or past the line."""
    (start, _), (line, _) = axes.transData.transform([(0, 0), (level, 0)])
    for label in labels:
        box = label.get_window_extent()
        if not box.x0 - LABEL_GAP < line < box.x1 + LABEL_GAP:
            continue
        bar = axes.transData.transform(label.xy)[0] - start
        if bar > box.width + 2 * LABEL_GAP:
            label.set_ha("right")
            label.xyann = (-5, 0)
        else:
            label.xy = (level, label.xy[1])


@styled
def roofline(
    points: Mapping[str, tuple[float, float | None]],
    peak_flops: float,
    bandwidth: float,
    *,
    marks: Mapping[str, int] | None = None,
    title: str = "Roofline",
) -> Figure:
    """Kernels under the roof of a machine: min(peak, intensity × bandwidth).

    ``points`` maps a name to (intensity in FLOP a byte, measured FLOP/s), the latter None where
    nothing was timed: then a hollow mark sits on the roof, at the most that the machine could
    reach. ``marks`` gives names their place among the marks, so that a kernel keeps its shape and
    colour from one figure to the next. Without it they take them in order. ``peak_flops`` is in
    FLOP/s, ``bandwidth`` in bytes/s. Williams, Waterman and Patterson, "Roofline" (CACM 52(4),
    2009). Raises ValueError for a rate or an intensity that is not positive.
    """
    if peak_flops <= 0 or bandwidth <= 0:
        raise ValueError(
            f"peak_flops={peak_flops} and bandwidth={bandwidth} must both be positive (FLOP/s, B/s)"
        )
    for name, (intensity, _) in points.items():
        if intensity <= 0:
            raise ValueError(f"{name} has intensity {intensity}; FLOP a byte is above zero")
    ridge = peak_flops / bandwidth
    intensities = [intensity for intensity, _ in points.values()]
    left = min([ridge, *intensities]) / 4
    right = max([ridge, *intensities]) * 8

    figure, axes = new(8, 5)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    x = np.array([left, ridge, right])
    axes.plot(x, np.minimum(peak_flops, x * bandwidth), color="#333333", zorder=2)
    axes.axvline(ridge, color=GREY, linewidth=0.8, linestyle=":")
    timed = [flops for _, flops in points.values() if flops is not None]
    bottom = min([left * bandwidth, *timed]) / 2
    axes.set_xlim(left, right)
    axes.set_ylim(bottom, peak_flops * 3)
    _roof_labels(axes, left, ridge, right, peak_flops, bandwidth)
    for place, (name, (intensity, flops)) in enumerate(points.items()):
        index = (marks or {}).get(name, place)
        roof = min(peak_flops, intensity * bandwidth)
        colour = PALETTE[index % len(PALETTE)]
        label = (
            f"{name}: not timed"
            if flops is None
            else f"{name}: {100 * flops / roof:.0f} % of the roof"
        )
        axes.plot(
            [intensity],
            [roof if flops is None else flops],
            marker=MARKERS[index % len(MARKERS)],
            markersize=9,
            color=colour,
            markerfacecolor="white" if flops is None else colour,
            markeredgecolor=colour if flops is None else "#333333",
            markeredgewidth=1.8 if flops is None else 0.8,
            linestyle="none",
            label=label,
            zorder=4,
        )
        axes.plot([intensity] * 2, [bottom, roof], color=colour, linewidth=1, linestyle=":")
    axes.xaxis.set_major_formatter(lambda value, _: fraction_label(value))
    axes.yaxis.set_major_formatter(lambda value, _: number_label(value))
    axes.set_xlabel("arithmetic intensity (FLOP per byte of memory traffic)")
    axes.set_ylabel("FLOP/s")
    axes.grid(which="major")
    if points:
        figure.legend(loc="outside lower center", ncols=min(len(points), 3))
    axes.set_title(title)
    return figure


def _roof_labels(
    axes: Axes, left: float, ridge: float, right: float, peak: float, bandwidth: float
) -> None:
    text = {"fontsize": 9, "color": "#333333"}
    axes.annotate(
        f"peak {number_label(peak)}FLOP/s",
        (right, peak),
        xytext=(-6, 8),  # clear of a mark that sits on the roof
        textcoords="offset points",
        ha="right",
        **text,
    )
    middle = (left * ridge) ** 0.5
    axes.annotate(
        f"memory {number_label(bandwidth)}B/s",
        (middle, middle * bandwidth),
        xytext=(-8, 8),
        textcoords="offset points",
        ha="right",
        **text,
    )
    axes.annotate(
        f"{ridge:.3g} FLOP/B",
        (ridge, axes.get_ylim()[0]),
        xytext=(4, 5),
        textcoords="offset points",
        **text,
    )
