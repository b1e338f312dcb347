"""Where one warp's accesses fall: sectors of global memory, banks of shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..emulator import BANK_BYTES, BANKS, SECTOR
from .style import BLUE, GREY, PALE, RED, bare, blend, ink, legend_below, new, styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.patches import Patch

    from ..emulator import WarpAccess

# CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory
# Banks".
LINE = 128

CELLS_WITH_NUMBERS = 400
WIDTH = 9.0
MOST_WAVEFRONTS, FIRST_WAVEFRONTS = 16, 8  # a figure has all of them, or the first ones


@styled
def access_heatmap(
    counts: np.ndarray | Mapping[str, np.ndarray], *, title: str = "How often each element is read"
) -> Figure:
    """One matrix, or several side by side on one scale, coloured by the number of reads.

    ``counts`` is (rows, columns) of integers, or a mapping from a name to such an array. Raises
    ValueError for another shape.
    """
    matrices = counts if isinstance(counts, Mapping) else {"": counts}
    matrices = {name: np.asarray(values) for name, values in matrices.items()}
    for name, values in matrices.items():
        if values.ndim != 2:
            raise ValueError(
                f"the counts of {name or 'a matrix'} have shape {values.shape}; "
                "give (rows, columns)"
            )
    most = max(int(values.max(initial=0)) for values in matrices.values())
    shapes = [values.shape for values in matrices.values()]
    side = 7.4 / sum(columns for _, columns in shapes)
    height = min(max(side * max(rows for rows, _ in shapes), 1.2), 6) + 0.9
    figure, grid = new(
        WIDTH,
        height,
        ncols=len(matrices),
        squeeze=False,
        width_ratios=[columns for _, columns in shapes],
    )
    for ax, (name, values) in zip(grid[0], matrices.items(), strict=True):
        picture = ax.imshow(values, cmap="cividis", vmin=0, vmax=max(most, 1))
        ax.set_xlabel("column")
        bare(ax)
        if name:
            ax.set_title(name, loc="center")
        if values.size <= CELLS_WITH_NUMBERS:
            _write_numbers(ax, values, picture)
    grid[0][0].set_ylabel("row")
    figure.colorbar(picture, ax=list(grid[0]), label="times read", shrink=0.9, pad=0.02)
    figure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
    return figure


def _write_numbers(axes: Axes, values: np.ndarray, picture: AxesImage) -> None:
    size = 9 if values.shape[1] <= 16 else 7
    for (row, column), value in np.ndenumerate(values):
        colour = ink(picture.cmap(picture.norm(value))[:3])
        axes.text(column, row, f"{value}", ha="center", va="center", fontsize=size, color=colour)


@styled
def warp_sectors(
    addresses: Sequence[int] | np.ndarray | WarpAccess, bytes: int = 4, *, title: str | None = None
) -> Figure:
    """One warp's global accesses on the 32-byte sectors and 128-byte lines that they touch.

    ``addresses`` are the byte addresses of lanes 0, 1, …, at most 32, and −1 for a lane that does
    not take part. Each lane reads ``bytes``: 1, 2, 4, 8 or 16. Or ``addresses`` is an access of a
    kernel that ran, ``profile(...).access(line)``. Otherwise they are a load's. A row is one line.
    Boxes carry the lane that wants them. Hatched bytes are the rest of a touched sector: a load
    fetches them and no lane wants them, a store leaves them as they are.
    """
    store = getattr(addresses, "store", False)
    addresses, bytes, title = _of_access(addresses, bytes, title)
    lanes = _active(addresses, bytes)
    base = min(address for _, address in lanes) // LINE * LINE
    touched = sorted({address // SECTOR for _, address in lanes})
    lines = sorted({sector * SECTOR // LINE for sector in touched})
    wanted: dict[int, list[int]] = {}
    for lane, address in lanes:
        wanted.setdefault(address, []).append(lane)
    useful = len(wanted) * bytes
    row_of = {line: row for row, line in enumerate(lines)}

    figure, axes = new(WIDTH, 0.29 * len(lines) + 1.25)
    for line, row in row_of.items():
        for part in range(LINE // SECTOR):
            hit = line * LINE // SECTOR + part in touched
            _box(axes, part * SECTOR, row, SECTOR, face="white", hatch="////" if hit else None)
    for address, who in wanted.items():
        row = row_of[address // LINE]
        _box(axes, address % LINE, row, bytes, face=blend(BLUE, 0.45), edge="white", line=0.6)
        if bytes >= 4:
            axes.text(
                address % LINE + bytes / 2,
                row + 0.5,
                _lanes(who),
                ha="center",
                va="center",
                fontsize=_size(_lanes(who), bytes),
                color="black",
            )
    if bytes < 4:
        _sector_labels(axes, wanted, row_of)
    for line, row in row_of.items():  # sector borders above the boxes
        for part in range(LINE // SECTOR):
            hit = line * LINE // SECTOR + part in touched
            edge = "#333333" if hit else "#BBBBBB"
            _box(axes, part * SECTOR, row, SECTOR, face="none", edge=edge, line=1.5 if hit else 0.8)
    axes.set_xlim(-0.5, LINE + 0.5)
    axes.set_ylim(len(lines) + 0.06, -0.06)
    axes.set_yticks(
        np.arange(len(lines)) + 0.5,
        [f"line +{line * LINE - base} B" for line in lines],
    )
    axes.set_xticks(range(0, LINE + 1, SECTOR))
    axes.set_xlabel("byte within the 128-byte line (a row is a line, a box of 32 bytes a sector)")
    bare(axes)
    asked = len(touched) * SECTOR
    axes.set_title(
        (f"{title}: " if title else "")
        + f"{_count(len(touched), 'sector')}, {useful} of {asked} bytes "
        + f"{'written' if store else 'used'} ({100 * useful / asked:.0f} %)"
    )
    legend_below(figure, _sector_key(useful < asked, store))
    return figure


def _sector_key(rest: bool, store: bool) -> list[Patch]:
    from matplotlib.patches import Patch

    wanted, left = (
        ("written, by lane", "touched, not written")
        if store
        else ("wanted, by lane", "asked for, not wanted")
    )
    key = [Patch(facecolor=blend(BLUE, 0.45), edgecolor="#333333", label=wanted)]
    if rest:
        key.append(Patch(facecolor="white", edgecolor=GREY, hatch="////", label=left))
    return key


def _sector_labels(axes: Axes, wanted: dict[int, list[int]], row_of: dict[int, int]) -> None:
    """One label a sector, where an element's box is too narrow for its lane."""
    by_sector: dict[int, list[int]] = {}
    for address, who in wanted.items():
        by_sector.setdefault(address // SECTOR, []).extend(who)
    for sector, who in by_sector.items():
        line, part = divmod(sector, LINE // SECTOR)
        axes.text(
            part * SECTOR + SECTOR / 2,
            row_of[line] + 0.5,
            f"lanes {_lanes(sorted(who))}",
            ha="center",
            va="center",
            fontsize=8,
        )


@styled
def shared_banks(
    addresses: Sequence[int] | np.ndarray | WarpAccess, bytes: int = 4, *, title: str | None = None
) -> Figure:
    """One warp's shared-memory accesses on the 32 banks: how many wavefronts the request takes.

    ``addresses`` are byte addresses of lanes 0, 1, …, at most 32, counted from the start of shared
    memory, and −1 for a lane that does not take part. ``bytes`` is 4, 8 or 16 per lane. 1 and 2
    count as their word. A column is a bank. Different words of one bank need a wavefront each,
    and lanes that want the same word share one. A request of 8 bytes per lane is served by half
    warps, one of 16 by quarter warps, one after the other. A load whose lanes agree in pairs is
    served by twice as many lanes at once. Of more than 16 wavefronts the first 8 are drawn.
    ``addresses`` may be an access of a kernel that ran, ``profile(...).access(line)``. Otherwise
    they are a load's.
    """
    store = getattr(addresses, "store", False)
    addresses, bytes, title = _of_access(addresses, bytes, title)
    lanes = _active(addresses, bytes)
    phases = bank_phases(addresses, bytes, store)
    depths = [max(len(words) for words in phase.values()) for phase in phases if phase]
    wavefronts, degree = sum(depths), max(depths)
    shown = wavefronts if wavefronts <= MOST_WAVEFRONTS else FIRST_WAVEFRONTS
    height = shown if shown == wavefronts else shown + 1  # the last row counts those left out

    figure, axes = new(WIDTH, 0.27 * height + 1.15)
    axes.set_facecolor(PALE)
    axes.vlines(range(BANKS + 1), 0, shown, color="#CCCCCC", linewidth=0.8)
    axes.hlines(range(shown + 1), 0, BANKS, color="#CCCCCC", linewidth=0.8)
    top = 0
    for depth, phase in zip(depths, (p for p in phases if p), strict=True):
        for bank in range(BANKS):
            words = phase.get(bank, {})
            for row, who in enumerate(list(words.values())[: max(shown - top, 0)]):
                face = blend(RED if len(words) > 1 else BLUE, 0.5)
                _box(axes, bank, top + row, 1, face=face, edge="#333333")
                text = _lanes(who)
                size = _size(text)
                axes.text(
                    bank + 0.5, top + row + 0.5, text, ha="center", va="center", fontsize=size
                )
        top += depth
    axes.set_xlim(0, BANKS)
    if shown < wavefronts:
        text = f"… and {_count(wavefronts - shown, 'more wavefront')}"
        axes.text(BANKS / 2, shown + 0.5, text, ha="center", va="center", fontsize=9)
    axes.set_ylim(height, 0)
    axes.set_xticks(np.arange(BANKS) + 0.5, range(BANKS))
    axes.tick_params(axis="x", labelsize=8)
    axes.set_yticks(np.arange(shown) + 0.5, range(1, shown + 1))
    axes.set_xlabel("bank (a box holds the lanes that want one word of it)")
    axes.set_ylabel("wavefront")
    bare(axes)
    conflict = "no bank conflict" if degree == 1 else f"{degree}-way bank conflict"
    axes.set_title(
        (f"{title}: " if title else "")
        + f"{conflict}, {_count(wavefronts, 'wavefront')} for {_count(len(lanes), 'lane')}"
        + (f", {32 // len(phases)} lanes at a time" if len(phases) > 1 else "")
    )
    return figure


def bank_phases(
    addresses: Sequence[int] | np.ndarray, bytes: int = 4, store: bool = False
) -> list[dict[int, dict[int, list[int]]]]:
    """For each phase of the request: bank → word → the lanes that want it."""
    lanes = _active(addresses, bytes)
    group = 32 // max(bytes // BANK_BYTES, 1)
    if group < 32 and not store and any(_paired(dict(lanes), bit) for bit in (1, 2)):
        group *= 2
    phases: list[dict[int, dict[int, list[int]]]] = [{} for _ in range(0, 32, group)]
    for lane, address in lanes:
        for offset in range(0, bytes, BANK_BYTES):
            word = (address + offset) // BANK_BYTES
            words = phases[lane // group].setdefault(word % BANKS, {})
            words.setdefault(word, []).append(lane)
    return phases


def _paired(wanted: dict[int, int], bit: int) -> bool:
    """Whether every lane wants the address of its partner, the lane whose number differs in
    ``bit``. Its effect was measured: see ``wavefronts`` in emulator/recording/counters.py."""
    return all(wanted.get(lane ^ bit, address) == address for lane, address in wanted.items())


def _of_access(
    addresses: Sequence[int] | np.ndarray | WarpAccess, bytes: int, title: str | None
) -> tuple[Sequence[int] | np.ndarray, int, str | None]:
    """The addresses, the width and a title, of an access or as they were given."""
    if isinstance(addresses, (Sequence, np.ndarray)):
        return addresses, bytes, title
    verb = "stores to" if addresses.store else "loads from"
    return addresses.addresses, addresses.bytes, title or f"{verb} {addresses.array}"


def _active(addresses: Sequence[int] | np.ndarray, bytes: int) -> list[tuple[int, int]]:
    """(lane, address) of the lanes that take part, after checking both arguments."""
    if bytes not in (1, 2, 4, 8, 16):
        raise ValueError(f"a lane accesses 1, 2, 4, 8 or 16 bytes at once, not {bytes}")
    values = [int(address) for address in np.asarray(addresses).reshape(-1)]
    if len(values) > 32:
        raise ValueError(f"a warp has 32 lanes; {len(values)} addresses were given")
    lanes = [(lane, address) for lane, address in enumerate(values) if address >= 0]
    if not lanes:
        raise ValueError("no lane takes part: every address is −1")
    for lane, address in lanes:
        if address % bytes:
            raise ValueError(
                f"lane {lane} accesses {bytes} bytes at address {address}, which is not a multiple "
                f"of {bytes}; a GPU refuses misaligned accesses"
            )
    return lanes


def _lanes(who: list[int]) -> str:
    """`7`, `0–31` for neighbours, `×5` for several that are not."""
    if len(who) == 1:
        return str(who[0])
    if who == list(range(who[0], who[-1] + 1)):
        return f"{who[0]}–{who[-1]}"
    return f"×{len(who)}"


def _size(text: str, bytes: int = 4) -> float:
    """A font size at which ``text`` fits the box of ``bytes`` bytes."""
    return 8 if len(text) < 4 or bytes > 4 else 6.5 if len(text) == 4 else 5.5


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"


def _box(
    axes: Axes,
    x: float,
    row: float,
    width: float,
    *,
    face: str | tuple[float, ...],
    edge: str = "none",
    hatch: str | None = None,
    line: float = 0.8,
) -> None:
    from matplotlib.patches import Rectangle

    if hatch and edge == "none":
        edge, line = GREY, 0
    axes.add_patch(
        Rectangle((x, row), width, 1, facecolor=face, edgecolor=edge, hatch=hatch, linewidth=line)
    )
