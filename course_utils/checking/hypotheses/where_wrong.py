"""Where the wrong elements are: at the edges, after the first block, or here and there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import product

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import ENOUGH, OR_UNFILLED, Diagnosis, Evidence
from ..indices import element

BLOCK_SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
TILES = (8, 16, 32, 64, 128)
SMALL_TAIL = 0.125  # of a size: as many elements at its end are an edge, whatever their number
MOST_OF_A_TAIL = 0.25  # the share of it that is wrong at least. Fewer are mistakes here and there
FEW = 6  # elements: of fewer than these, one may be called the edge, and of 2 or 3 none
SHORT_COUNTS = {2**15: "short", 2**16: "unsigned short"}  # numbers that 16 bits count from 0 on


def edges(e: Evidence) -> Diagnosis | None:
    """The last few along one axis or several, or the border all around."""
    if e.actual.size < FEW and (e.actual.size < 4 or e.wrong.sum() > 1):
        return None
    tails = [tails_of(size) for size in e.actual.shape]
    tails[:-2] = [[t for t in found if t <= 2] for found in tails[:-2]]  # blocks are not cubes
    best: tuple[int, ...] | None = None
    for cut in product(*tails):
        inner = _without_tails(e, cut)
        if inner.size * 2 < e.wrong.size or inner.any():
            continue
        if best is None or inner.size > best[0]:
            best = (inner.size, *cut)
    if best is not None:
        cut = _shrunk(e, list(best[1:]))
        if e.wrong.ndim > 1 and not all(map(partial(_last_is_wrong, e), range(len(cut)), cut)):
            return None
        tail = e.wrong.size - _without_tails(e, cut).size
        is_edge = all(map(_is_edge, cut, e.actual.shape))
        return _of_tails(e, cut) if is_edge and e.wrong.sum() >= MOST_OF_A_TAIL * tail else None
    for width in (1, 2, 3):
        core = tuple(slice(width, size - width) for size in e.actual.shape)
        inner = e.wrong[core]
        if inner.size * 2 >= e.wrong.size and not inner.any():
            message = f"the inside of {e.name} is right, only the border is wrong."
            return Diagnosis(kinds.EDGES, message)
    return None


def off_diagonal(e: Evidence) -> Diagnosis | None:
    """Right in the square tiles where row and column are alike, and in no other."""
    if e.wrong.ndim < 2 or e.untouched:
        return None
    rows, columns = (np.indices(e.wrong.shape)[axis] for axis in (-2, -1))
    for side in TILES:
        if side >= min(e.wrong.shape[-2:]):
            return None
        alike = rows // side == columns // side
        if not e.wrong[alike].any() and e.wrong[~alike].mean() >= ENOUGH:
            message = f"only tiles on the diagonal of {e.name}, {side} x {side}, are right."
            return Diagnosis(kinds.WRONG, message, Slip.OFF_DIAGONAL)
    return None


def short_index(e: Evidence) -> Diagnosis | None:
    """Right as far as an index of 16 bits counts."""
    first = _leading(~e.wrong.reshape(-1))
    if first not in SHORT_COUNTS or e.wrong.reshape(-1)[first:].mean() < ENOUGH:
        return None
    return Diagnosis(
        kinds.WRONG,
        f"the first {first} elements of {e.name} are right, as many as an index of 16 bits "
        f"({SHORT_COUNTS[first]}) can count, and no others. Or does the grid end there?",
        Slip.SHORT_INDEX,
    )


def first_block(e: Evidence) -> Diagnosis | None:
    """Right in one block, or up to a limit."""
    right = ~e.wrong
    lengths = [_leading(right[_through_origin(axis, right.ndim)]) for axis in range(right.ndim)]
    inside = right[tuple(slice(0, length) for length in lengths)]
    # More than half is a beginning only if no thread computed the rest.
    most = right.size - 1 if e.untouched and right.ndim < 3 else right.size // 2
    if not 1 < inside.size <= most or not inside.all():
        return None
    if right.ndim == 1 and lengths[0] % 32:
        return None
    if lengths[-1] == 1 < right.shape[-1]:  # no block is one column wide
        return None
    if (right.sum() - inside.size) > (1 - ENOUGH) * (right.size - inside.size):
        return None
    region = " x ".join(map(str, lengths))
    if right.ndim > 2:
        cut = [axis for axis, n in enumerate(lengths) if n < right.shape[axis]]
        region = ", ".join(
            f"{lengths[axis]} {e.axis_name(axis, lengths[axis] > 1)}" for axis in cut
        )
    else:
        region += " elements"
    text = f"only the first {region} of {e.name} are right"
    slip = Slip.FIRST_LINES if right.ndim > 1 and lengths[-1] == right.shape[-1] else None
    if e.unwritten[e.wrong].all():
        slip = None
        reasons = "too few blocks, no blockIdx, a wrong stride, or a limit"
        if not e.stored_is_known:
            reasons += ". Or an input was filled no further"
        text += f", and the others {e.never_written(True)}: {reasons}"
    return Diagnosis(kinds.FIRST_BLOCK, f"{text}.", slip)


def partly_written(e: Evidence) -> Diagnosis | None:
    """Some elements are as they were before the launch, at least half of the wrong ones. Of fewer,
    other wrong values are the mistake."""
    count = int(e.unwritten.sum())
    if not count or 2 * count < e.wrong.sum():
        return None
    first = np.unravel_index(int(np.argmax(e.unwritten)), e.unwritten.shape)
    where = element(e.name, [int(i) for i in first])
    which = f"{count} of {e.actual.size} elements {e.never_written(count > 1)}"
    message = f"{which}, the first is {where}"
    if e.stored_is_known:
        return Diagnosis(kinds.PARTLY_WRITTEN, f"{message}.")
    return Diagnosis(kinds.PARTLY_WRITTEN, f"{message}: {OR_UNFILLED}.", Slip.LOOKS_UNWRITTEN)


def tails_of(size: int) -> list[int]:
    """Numbers of trailing elements that a rounding mistake could miss, 0 included. One of two
    elements isn't an edge."""
    tails = {0, 1, 2} | {size % block for block in BLOCK_SIZES}
    return sorted(tail for tail in tails if tail < size) if size > 2 else [0]


def _is_edge(tail: int, size: int) -> bool:
    """Whether so many elements at the end are what a rounding mistake misses, or are few."""
    return tail in tails_of(size) or tail <= max(3, SMALL_TAIL * size)


def _last_is_wrong(e: Evidence, axis: int, tail: int) -> bool:
    """Whether the last line along an axis has a wrong element, if there is a ``tail``."""
    return not tail or bool(np.take(e.wrong, -1, axis).any())


def _without_tails(e: Evidence, cut: Sequence[int]) -> np.ndarray:
    """The wrong elements without the last ``cut`` of each axis."""
    return e.wrong[tuple(slice(0, n - t) for n, t in zip(e.actual.shape, cut, strict=True))]


def _shrunk(e: Evidence, cut: list[int]) -> tuple[int, ...]:
    """``cut`` with every tail reduced to its wrong part."""
    for axis in range(len(cut)):
        while cut[axis] > 0:
            less = [tail - (a == axis) for a, tail in enumerate(cut)]
            if _without_tails(e, less).any():
                break
            cut = less
    return tuple(cut)


def _of_tails(e: Evidence, cut: tuple[int, ...]) -> Diagnosis:
    parts = []
    for axis, tail in enumerate(cut):
        if tail:
            what = e.axis_name(axis, several=tail > 1)
            parts.append(f"the last {tail} {what}" if tail > 1 else f"the last {what}")
    unwritten = bool(e.unwritten[e.wrong].all())
    several = sum(cut) > 1
    if e.actual.ndim == 1 and (count := int(e.wrong.sum())) < cut[0]:
        parts, several = [f"{count} of the last {cut[0]} elements"], count > 1
    state = "are wrong" if several else "is wrong"
    if unwritten:
        state = e.never_written(several)
    message = f"{' and '.join(parts)} of {e.name} {state}, everything else is right."
    return Diagnosis(kinds.EDGES, message, Slip.EDGES_UNWRITTEN if unwritten else None)


def _through_origin(axis: int, ndim: int) -> tuple[slice | int, ...]:
    return tuple(slice(None) if i == axis else 0 for i in range(ndim))


def _leading(right: np.ndarray) -> int:
    """How many elements are right before the first wrong one."""
    return int(right.size if right.all() else np.argmin(right))
