"""Memory by a program's own addresses: its objects, and the pointers between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .style import BLUE, GREEN, ORANGE, PALETTE, RED, bare, blend, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (BLUE, ORANGE, GREEN)
WIDE, HIGH = 3.0, 0.62  # a box, in units of the drawing
BETWEEN = 1.3  # columns


@dataclass(frozen=True)
class MemoryObject:
    """Something in memory: the part of memory it is in, its name, address and size in bytes.

    ``target`` is the address that it holds where it is a pointer, otherwise 0.
    """

    region: str
    name: str
    address: int
    size: int
    target: int = 0


@styled
def memory_map(text: str, *, title: str = "Where everything lies") -> Figure:
    """A column for each part of memory, its objects by address, and an arrow from each pointer.

    ``text`` is a program's output: a line "region name address size target" for each object,
    addresses in hexadecimal, target 0 unless it is a pointer. A pointer may point into an
    object. Raises ValueError for other lines, and for a target that is in none of the objects.
    """
    objects = [_parsed(line) for line in text.splitlines() if line.strip()]
    regions = list(dict.fromkeys(item.region for item in objects))
    columns = {name: [item for item in objects if item.region == name] for name in regions}
    places: dict[int, tuple[float, float]] = {}
    tallest = max(len(column) for column in columns.values())
    figure, axes = new(2.6 * len(regions) + 0.6, 0.52 * tallest + 1.3)
    for number, name in enumerate(regions):
        left = number * (WIDE + BETWEEN)
        colour = COLOURS[number % len(COLOURS)]
        axes.text(left + WIDE / 2, tallest + 0.15, name, ha="center", va="bottom", weight="bold")
        for row, item in enumerate(sorted(columns[name], key=lambda item: item.address)):
            _box(axes, item, left, row, colour)
            places[item.address] = (left, row)
    for item in objects:
        if item.target:
            _arrow(axes, places[item.address], places[_holder(objects, item).address])
    axes.set_xlim(-0.2, len(regions) * (WIDE + BETWEEN) - BETWEEN + 0.9)
    axes.set_ylim(-0.3, tallest + 0.7)
    axes.set_title(title)
    axes.set_xticks([])
    axes.set_yticks([])
    bare(axes)
    return figure


def _parsed(line: str) -> MemoryObject:
    words = line.split()
    if len(words) != 5:
        raise ValueError(f"{line!r}: a line is 'region name address size target'")
    region, name, address, size, target = words
    target = "0" if target == "(nil)" else target  # NULL, as printf's %p prints it
    return MemoryObject(region, name, int(address, 16), int(size), int(target, 16))


def _holder(objects: Sequence[MemoryObject], pointer: MemoryObject) -> MemoryObject:
    for item in objects:
        if item.address <= pointer.target < item.address + item.size:
            return item
    raise ValueError(f"{pointer.name} points to {pointer.target:#x}, where nothing was listed")


def _box(axes: Axes, item: MemoryObject, left: float, row: int, colour: str) -> None:
    from matplotlib.patches import Rectangle

    hatch = "///" if item.target else ""
    style = {"facecolor": blend(colour, 0.18), "edgecolor": colour, "linewidth": 1.2}
    axes.add_patch(Rectangle((left, row), WIDE, HIGH, **style))
    if hatch:
        axes.add_patch(
            Rectangle((left + WIDE - 0.25, row), 0.25, HIGH, hatch=hatch, facecolor="none",
                      edgecolor=colour, linewidth=0)
        )  # fmt: skip
    axes.text(left + 0.12, row + HIGH / 2, item.name, va="center", fontsize=9, weight="bold")
    unit = "byte" if item.size == 1 else "bytes"
    where = f"{item.address:#x}\n{item.size} {unit}"
    axes.text(left + WIDE - 0.32, row + HIGH / 2, where, va="center", ha="right", fontsize=7.5)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    (x, y), (to_x, to_y) = start, end
    same = x == to_x
    goes_right = to_x > x or same
    tail = (x + (WIDE if goes_right else 0), y + HIGH / 2)
    head = (to_x + (WIDE if same or not goes_right else 0), to_y + HIGH / 2)
    curve = "arc3,rad=-0.55" if same and to_y < y else "arc3,rad=0.55" if same else "arc3,rad=0.08"
    axes.annotate(
        "", xy=head, xytext=tail,
        arrowprops={"arrowstyle": "->", "color": RED, "linewidth": 1.3, "connectionstyle": curve},
    )  # fmt: skip


@styled
def struct_bytes(text: str, *, title: str = "Every byte of a struct") -> Figure:
    """A row of bytes for each struct: its members by name, and the padding hatched.

    ``text`` is a program's output: a line "struct size member offset bytes" for each member.
    Raises ValueError for other lines, and for members that overlap or leave the struct.
    """
    structs = _structs(text)
    from matplotlib.patches import Rectangle

    widest = max(size for size, _ in structs.values())
    figure, axes = new(0.30 * widest + 1.9, 0.62 * len(structs) + 1.1)
    for row, (name, (size, owners)) in enumerate(structs.items()):
        names = list(dict.fromkeys(filter(None, owners)))
        colours = {member: PALETTE[i % len(PALETTE)] for i, member in enumerate(names)}
        for byte, member in enumerate(owners):
            style = {"facecolor": blend(colours[member], 0.35)} if member else PADDING
            axes.add_patch(
                Rectangle((byte, row + 0.15), 1, 0.7, edgecolor="#333333", linewidth=0.7, **style)
            )
        for member in names:
            middle = owners.index(member) + owners.count(member) / 2
            under = {"facecolor": blend(colours[member], 0.35), "edgecolor": "none", "pad": 1.0}
            axes.text(middle, row + 0.5, member, ha="center", va="center", fontsize=8, bbox=under)
        axes.text(-0.4, row + 0.5, f"{name}\n{size} bytes", ha="right", va="center", fontsize=9)
    axes.set_xlim(-0.2, widest + 0.2)
    axes.set_ylim(len(structs), 0)
    axes.set_xticks(range(0, widest + 1, 4))
    axes.set_yticks([])
    axes.set_xlabel("offset in bytes")
    axes.set_title(title)
    bare(axes)
    return figure


PADDING = {"facecolor": "#FFFFFF", "hatch": "xxxx"}


def _structs(text: str) -> Mapping[str, tuple[int, list[str]]]:
    """For each struct its size, and the member that each byte belongs to: "" for padding."""
    structs: dict[str, tuple[int, list[str]]] = {}
    for line in filter(str.strip, text.splitlines()):
        words = line.split()
        if len(words) != 5:
            raise ValueError(f"{line!r}: a line is 'struct size member offset bytes'")
        name, member = words[0], words[2]
        size, offset, count = int(words[1]), int(words[3]), int(words[4])
        _, owners = structs.setdefault(name, (size, [""] * size))
        if offset + count > size or any(owners[offset : offset + count]):
            raise ValueError(f"{line!r}: {member} overlaps another member, or ends past the struct")
        owners[offset : offset + count] = [member] * count
    return structs
