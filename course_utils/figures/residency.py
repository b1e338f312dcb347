"""How many warps of a kernel an SM holds, as the size of its blocks varies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..emulator import WARP
from .style import BLUE, GREEN, GREY, ORANGE, PURPLE, RED, blend, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    from ..observing.occupancy_calculator import Occupancy

# Colour and hatch of each limit.
LOOKS = {
    "warps": (BLUE, ""),
    "registers": (ORANGE, "//"),
    "shared memory": (GREEN, "\\\\"),
    "blocks": (PURPLE, ".."),
    "barriers": (RED, "xx"),
}
WORDS = {
    "warps": "warp slots run out",
    "registers": "registers run out",
    "shared memory": "shared memory runs out",
    "blocks": "block slots run out",
    "barriers": "barriers run out",
}
LARGEST = 1024


@styled
def occupancy_steps(found: Occupancy, *, title: str | None = None) -> Figure:
    """A bar for each block size from 32 to 1024: the warps that an SM then holds.

    ``found`` is a result of :func:`course_utils.occupancy`: its registers and its shared memory
    are the same for every bar, and its own block size is marked. Colour and hatch say which
    resource sets the limit. Without a bar the kernel cannot be launched so.
    """
    from matplotlib.patches import Patch

    figure, axes = new(8.5, 3.6)
    seen: dict[str, Patch] = {}
    for threads in range(WARP, LARGEST + 1, WARP):
        at = found.at(threads)
        limiter = at.limiter.partition(" and ")[0]
        if not at.blocks_per_sm:
            continue
        colour, hatch = LOOKS[limiter]
        look = {"facecolor": blend(colour, 0.55), "edgecolor": colour, "hatch": hatch}
        axes.bar(threads, at.warps_per_sm, width=0.8 * WARP, linewidth=0.8, **look)
        seen.setdefault(limiter, Patch(label=WORDS[limiter], **look))
    axes.axhline(found.max_warps, color=GREY, linestyle="--", linewidth=1.2)
    own = found.warps_per_sm
    axes.annotate(
        f"{found.threads} threads:\n{own} warps",
        (found.threads, own),
        xytext=(found.threads, found.max_warps * 1.08),
        ha="center",
        fontsize=9,
        fontweight="bold",
        arrowprops={"arrowstyle": "-|>", "color": "black"},
    )
    axes.set_xlim(0, LARGEST + WARP)
    axes.set_ylim(0, found.max_warps * 1.3)
    axes.set_yticks(range(0, found.max_warps + 1, 8))
    axes.set_xticks(range(0, LARGEST + 1, 128))
    axes.set_xlabel("threads per block")
    axes.set_ylabel(f"warps per SM (of {found.max_warps})")
    needs = found.resources
    shared = needs.static_shared + found.shared_mem
    axes.set_title(
        title
        or f"{found.kernel} on {found.arch}: {needs.registers} registers per thread, "
        f"{shared:,} B of shared memory"
    )
    legend_below(figure, list(seen.values()))
    return figure
