"""A picture as an SVG file: its size, its title and its words for readers who don't see it."""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape

INK = "#222222"
SANS = "DejaVu Sans, Verdana, sans-serif"
MONO = "DejaVu Sans Mono, Menlo, Consolas, monospace"


def document(
    size: tuple[int, int],
    title: str,
    told: str,
    parts: Iterable[str],
    *,
    font: str = SANS,
    corners: int = 0,
) -> str:
    """The text of the file: ``parts``, which are SVG elements, on white. ``size`` is the width and
    height in pixels, ``corners`` their radius, and ``told`` the picture in words."""
    width, height = size
    rounded = f' rx="{corners}"' if corners else ""
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title text" '
            f'font-family="{font}" font-size="12" fill="{INK}">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="text">{escape(told)}</desc>',
            f'<rect width="{width}" height="{height}"{rounded} fill="white"/>',
            *parts,
            "</svg>",
            "",
        ]
    )
