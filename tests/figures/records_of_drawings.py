"""What every small figure consists of, in short: a change that nobody meant is a test that fails.

Each drawing of ``test_figures.py`` and ``further_drawings.py`` has, in ``drawings.json``, a digest
of its words, its shapes, its lines, its pictures, its legends and its axes, in the coordinates of
its data: no pixels, and nothing that matplotlib chooses by itself, so that the digests survive its
releases (3.9, 3.10 and 3.11 give the same). After a change that is meant, look at the figure and
run

    python -m tests.figures.records_of_drawings
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

FILE = Path(__file__).with_name("drawings.json")


def parts(figure: Figure) -> dict[str, list]:
    """What ``figure`` consists of, by kind."""
    kinds = "words", "shapes", "lines", "pictures", "legends", "axes"
    found: dict[str, list] = {kind: [] for kind in kinds}
    for axes in figure.axes:
        found["words"] += map(_words, [*axes.texts, axes.title, axes._left_title])
        found["shapes"] += map(_shape, axes.patches)
        found["lines"] += [_line(x, x.get_xydata(), x.get_color()) for x in axes.lines]
        for lines in axes.collections:
            if isinstance(lines, LineCollection):
                colours = lines.get_colors().ravel().tolist()
                found["lines"] += [_line(lines, s, colours) for s in lines.get_segments()]
            else:
                found["shapes"].append(_points(lines))
        found["pictures"] += map(_picture, axes.images)
        found["legends"] += [_legend(axes.get_legend())] if axes.get_legend() else []
        found["axes"].append(_axes(axes))
    found["words"] += map(_words, figure.texts)
    found["legends"] += map(_legend, figure.legends)
    found["axes"].append(_numbers(figure.get_size_inches()))
    return found


def _words(text) -> list:
    place = text.xyann if hasattr(text, "xyann") else text.get_position()
    at = text.xy if hasattr(text, "xyann") else ()
    arrow = getattr(text, "arrow_patch", None)
    return [
        text.get_text(),
        *(text.get_ha(), text.get_va(), to_hex(text.get_color(), keep_alpha=True)),
        *_numbers(place, at, [text.get_fontsize(), text.get_rotation()]),
        "1.2" if text._linespacing == "normal" else str(text._linespacing),  # its name since 3.11
        to_hex(arrow.get_edgecolor()) if arrow is not None else "",
        repr(arrow.get_connectionstyle().__dict__) if arrow is not None else "",
    ]


def _shape(patch) -> list:
    corners = patch.get_patch_transform().transform(patch.get_path().vertices)
    colours = [*patch.get_facecolor(), *patch.get_edgecolor()]
    return [patch.get_hatch(), *_numbers(corners, colours, [patch.get_linewidth()])]


def _line(lines, points, colour) -> list:
    colour = colour if isinstance(colour, list) else to_hex(colour)
    look = [colour, str(lines.get_linestyle())]
    sizes = [np.ravel(lines.get_linewidth())]
    if isinstance(lines, Line2D):
        look += [str(lines.get_marker()), to_hex(lines.get_markerfacecolor())]
        sizes.append([lines.get_markersize(), lines.get_markeredgewidth()])
    return [*look, *_numbers(points, *sizes)]


def _picture(image) -> list:
    """Its values, where it lies, and the colours that its values get."""
    return _numbers(image.get_array(), image.get_extent(), image.to_rgba(image.get_array()))


def _legend(legend) -> list:
    return [[_words(text) for text in legend.texts], str(legend._ncols), str(legend._loc)]


def _points(collection) -> list:
    """Marks of a scatter, areas between lines, or a mesh of colours."""
    corners = [path.vertices for path in collection.get_paths()]
    values = [] if collection.get_array() is None else collection.get_array()
    return _numbers(*corners, collection.get_offsets(), collection.get_facecolors(), values)


def _axes(axes) -> list:
    both = axes.xaxis, axes.yaxis
    return [
        *(axes.get_xlabel(), axes.get_ylabel(), axes.get_xscale(), axes.get_yscale()),
        *_numbers(axes.get_xlim(), axes.get_ylim()),
        [_chosen_ticks(axis) for axis in both],
        _numbers([axis.label.get_fontsize() for axis in both], axes.get_facecolor()),
        [name for name, spine in axes.spines.items() if spine.get_visible()],
    ]


def _chosen_ticks(axis) -> list:
    """Where the ticks are and what they say; nothing where matplotlib chooses them, since every
    version chooses in its own way."""
    if not isinstance(axis.get_major_locator(), FixedLocator):
        return []
    return [_numbers(axis.get_ticklocs()), [label.get_text() for label in axis.get_ticklabels()]]


def _numbers(*groups) -> list[str]:
    """All numbers with five digits: what is computed in another order is still the same."""
    values = np.concatenate([np.ma.filled(np.asarray(x, float), np.nan).ravel() for x in groups])
    return [f"{value + 0.0:.5g}" for value in np.where(np.abs(values) < 1e-9, 0, values)]


def digests(figure: Figure) -> dict[str, str]:
    """A few digits for each kind of part that ``figure`` has."""
    return {
        kind: hashlib.sha256(json.dumps(found).encode()).hexdigest()[:12]
        for kind, found in parts(figure).items()
        if found
    }


def write() -> None:
    from .test_what_is_drawn import NAMES, drawn

    found = {name: digests(drawn(name)[0]) for name in NAMES}
    FILE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
