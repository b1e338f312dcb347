"""A place in a source file, as the line tables of PTX give it."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Location:
    """A line of a source file; ``column`` is 1-based, 0 when unknown.

    ``function``: the helper that the line belongs to, where it was inlined into another.
    ``helpers``: where in helpers of headers the work is done that this line calls for, the
    outermost first; "load.cu:9, in load_tile (common/tile.cuh:12)".
    """

    file: str
    line: int
    column: int = 0
    function: str = field(default="", compare=False)
    helpers: tuple[Location, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + "".join(
            f", in {helper.function} ({'/'.join(helper.file.split('/')[-2:])}:{helper.line})"
            for helper in self.helpers
        )
