"""The size of a picture on the website, so that its page keeps room for it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from PIL import Image

SIDES = "width", "height"


@cache
def picture_size(file: Path) -> tuple[int, int]:
    """The width and height of a picture, in pixels; an SVG says its own."""
    if file.suffix == ".svg":
        head = file.read_text(encoding="utf-8")[:2000]
        width, height = (re.search(rf'\b{side}="([\d.]+)(?:pt|px)?"', head) for side in SIDES)
        return (round(float(width[1])), round(float(height[1]))) if width and height else (0, 0)
    with Image.open(file) as picture:
        return picture.size
