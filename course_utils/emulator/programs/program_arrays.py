"""CUDA arrays that a program allocates."""

from __future__ import annotations

from dataclasses import dataclass

from ..memory.address_space import Region
from ..memory.texels import Texels


@dataclass(eq=False)
class ProgramArray:
    """An array of texels in a region of memory. ``shape`` is its channels and ``extents`` its
    width, height and depth, as they were asked for. ``row`` is in bytes."""

    region: Region
    texels: Texels
    shape: int
    extents: tuple[int, int, int]
    flags: int
    row: int
