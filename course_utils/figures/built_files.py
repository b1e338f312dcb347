"""The files that a build leaves: the size of each, and the tool that made it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .style import HATCHES, PALETTE, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class BuiltFile:
    """A file of a build: its track, such as "host", the tool that made it, its name and bytes."""

    track: str
    tool: str
    name: str
    size: int


@styled
def build_files(files: Iterable[tuple[str, str, str, int]], *, title: str) -> Figure:
    """A bar for each file, the first on top, its length the size on a logarithmic axis.

    ``files`` are (track, tool, name, bytes) in the order in which they are made. Each track has a
    colour and a hatch. Raises ValueError where there is none, or one is empty.
    """
    from matplotlib.patches import Patch

    built = [BuiltFile(*file) for file in files]
    if not built or any(file.size < 1 for file in built):
        raise ValueError("every file of a build has at least one byte, and there is at least one")
    tracks = list(dict.fromkeys(file.track for file in built))
    styles = {
        track: {"facecolor": blend(PALETTE[i], 0.45), "edgecolor": PALETTE[i], "hatch": HATCHES[i]}
        for i, track in enumerate(tracks)
    }
    figure, axes = new(8, 0.36 * len(built) + 1.5)
    for row, file in enumerate(built):
        axes.barh(row, file.size, height=0.62, left=0, **styles[file.track])
        axes.text(file.size * 1.15, row, f"{file.size:,}", va="center", fontsize=8)
    axes.set_xscale("log")
    axes.set_xlim(min(file.size for file in built) / 3, max(file.size for file in built) * 8)
    axes.set_ylim(len(built) - 0.4, -0.6)
    axes.set_yticks(range(len(built)), [f"{file.name}  ({file.tool})" for file in built])
    axes.set_xlabel("bytes")
    axes.set_title(title)
    legend_below(figure, [Patch(label=track, **styles[track]) for track in tracks])
    return figure
