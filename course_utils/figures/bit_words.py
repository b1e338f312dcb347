"""A word as its bits, cut into the fields that the hardware reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .style import HATCHES, PALE, PALETTE, bare, blend, ink, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LINE = 32  # bits side by side
WORD = 64


@styled
def word_fields(
    word: int, fields: Mapping[str, tuple[int, int]], *, size: int = WORD, title: str = ""
) -> Figure:
    """The ``size`` bits of ``word``, 64 or 32, the highest first, in lines of 32. Each field has
    its colour.

    ``fields`` maps a name to its (lowest bit, number of bits). The legend gives its value. Bits of
    no field are pale. Raises ValueError for a word or a field of more bits, and for fields that
    overlap.
    """
    from matplotlib.patches import Patch, Rectangle

    if not 0 <= word < 1 << size:
        raise ValueError(f"{word:#x} is not a word of {size} bits")
    owner: dict[int, int] = {}
    for number, (name, (low, count)) in enumerate(fields.items()):
        bits = range(low, low + count)
        if low < 0 or low + count > size or any(bit in owner for bit in bits):
            raise ValueError(f"{name}: bits {low} to {low + count - 1} are taken, or are none")
        owner.update(dict.fromkeys(bits, number))
    styles = [
        {"facecolor": blend(PALETTE[n % len(PALETTE)], 0.45), "hatch": HATCHES[n % len(HATCHES)]}
        for n in range(len(fields))
    ]
    figure, axes = new(9, 0.9 + 0.7 * size / LINE)
    for bit in range(size):
        x, y = LINE - 1 - bit % LINE, size // LINE - 1 - bit // LINE
        style = styles[owner[bit]] if bit in owner else {"facecolor": PALE}
        axes.add_patch(Rectangle((x, y + 0.15), 1, 0.7, edgecolor="white", linewidth=1, **style))
        axes.text(
            x + 0.5,
            y + 0.5,
            str(word >> bit & 1),
            ha="center",
            va="center",
            fontsize=9,
            color=ink(style["facecolor"]),
            bbox={"facecolor": style["facecolor"], "edgecolor": "none", "pad": 2.5},
        )
        if bit % 8 in (0, 7):
            axes.text(x + 0.5, y + 0.1, str(bit), ha="center", va="bottom", fontsize=7)
    axes.set_xlim(0, LINE)
    axes.set_ylim(size // LINE, -0.1)
    axes.set_xticks([])
    axes.set_yticks([])
    bare(axes)
    axes.set_title(title)
    legend_below(
        figure,
        [
            Patch(label=f"{name}: {word >> low & (1 << count) - 1}", edgecolor="white", **style)
            for (name, (low, count)), style in zip(fields.items(), styles, strict=True)
        ],
        columns=3,
    )
    return figure
