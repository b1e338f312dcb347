"""PNGs in 256 colours, for figures and for committed notebooks."""

from __future__ import annotations

import io


def with_palette(picture: bytes) -> bytes:
    """An opaque PNG in 256 colours, where that is smaller, and any other as it is. It takes about a
    third of the bytes, and a colour is off by less than one step of 255 on average."""
    from PIL import Image

    whole = Image.open(io.BytesIO(picture))
    if whole.has_transparency_data:
        alpha = whole.convert("RGBA").getchannel("A")
        if alpha.getextrema() != (255, 255):
            return picture
    colours = whole.convert("RGB")
    reduced = colours.quantize(256, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    buffer = io.BytesIO()
    reduced.save(buffer, "PNG", optimize=True, dpi=whole.info.get("dpi"))
    return min(picture, buffer.getvalue(), key=len)
