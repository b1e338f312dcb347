"""CuTe's algebra of layouts: coalesce, composition, complement, divide, product, inverses.

Each function has the result of CuTe 4.2's function of the same name (``filtered``: ``filter``) for
a layout whose numbers the compiler knows. A composition is refused even if CuTe has one, where that
is not one function after the other: ``(3,8):(8,1)`` after ``4:2``. ``tests/layouts`` compares
results on random layouts, but not refusals.

A tiler is a :class:`Layout`, a number, or a tuple of tilers, one a mode.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TypeAlias

from ..integers import ceil_div
from . import int_tuples
from .int_tuples import IntTuple, flatten, product
from .layout import Layout, together

Tiler: TypeAlias = "Layout | int | None | tuple[Tiler, ...]"
ONE = Layout(1, 0)
MOST_COMPARED = 1 << 14  # coordinates


class LayoutError(ValueError):
    """A layout operation without a layout as its result. Its text names the numbers that don't
    divide."""


def coalesce(layout: Layout, *, by_mode: bool = False) -> Layout:
    """The same function from 0 … size - 1 with as few modes as can be, none nested.

    Modes of one element go, and a mode that continues where the one before ends is merged with it.
    ``by_mode`` does so within each mode and keeps the rank.
    """
    if by_mode:
        return together(*map(coalesce, layout))
    return unnested(merged(flat_pairs(layout)))


def filtered(layout: Layout) -> Layout:
    """``layout`` without repeated offsets: modes of stride 0 become 1, then all coalesce."""
    return unnested(merged([(1 if step == 0 else n, step) for n, step in flat_pairs(layout)]))


def composition(a: Layout, b: Tiler) -> Layout:
    """The layout of ``a`` after ``b``: coordinate → ``a(b(coordinate))``.

    It has the shape of ``b``, or a finer one where a mode of ``b`` crosses modes of ``a``:
    ``(6,2):(8,2)`` after ``(4,3):(3,1)`` is ``((2,2),3):((24,2),8)``. Offsets of ``b`` beyond the
    size of ``a`` go on along its last mode. A tuple of tilers is composed mode by mode, and a
    number n means ``Layout(n)``. Raises LayoutError where the result isn't a layout, because
    ``b``'s shape or stride and ``a``'s shape do not divide.
    """
    if b is None:
        return a
    if isinstance(b, tuple):
        check_rank(a, b, "composition")
        return together(*map(composition, a, b))
    b = b if isinstance(b, Layout) else Layout(b, 1)
    steps = flat_pairs(a)
    if steps[-1][0] == 1:  # the last mode goes on beyond its extent: it is never dropped
        steps[-1] = (2, steps[-1][1])
    both = composed(merged(steps), b.shape, b.stride)
    if b.cosize <= a.size <= MOST_COMPARED and (both.offsets() != a.offsets()[b.offsets()]).any():
        raise LayoutError(f"{a} after {b} is no layout: {both}, mode by mode, is another function")
    return both


def complement(layout: Layout, cotarget: IntTuple | None = None) -> Layout:
    """The layout of the offsets that ``layout`` leaves out of 0 … ``cotarget`` - 1 (None: its
    cosize).

    Where each stride of ``layout`` is a multiple of all that the smaller ones walk over, both
    together reach each offset below ``cotarget`` once. Elsewhere some stay out, as in CuTe:
    ``(2,2):(1,3)`` has the complement ``2:6`` in 12. Raises LayoutError where a stride is smaller
    than the extent before it, so that offsets may repeat. Modes of stride 0 do not count.
    """
    kept = filtered(layout)
    target = kept.cosize if cotarget is None else cotarget
    if flatten(kept.stride) == (0,):
        return coalesce(Layout(target))
    found, last = [], 1
    for step, extent in sorted((step, extent) for extent, step in flat_pairs(kept)):
        if step // last == 0:
            raise LayoutError(f"{layout} has no complement: it sends two coordinates to one offset")
        found.append((step // last, last))
        last = step * extent
    rest = coalesce(Layout(tuple_ceil_div(target, last)))
    found += zip(flatten(rest.shape), flatten(int_tuples.compact(rest.shape, last)), strict=True)
    return unnested(merged(found))


def logical_divide(layout: Layout, tiler: Tiler) -> Layout:
    """``layout`` cut by ``tiler``: mode 0 walks within a tile, mode 1 from tile to tile.

    A tuple of tilers cuts mode by mode, and each mode becomes such a pair.
    """
    if tiler is None:
        return layout
    if isinstance(tiler, tuple):
        return mode_by_mode(logical_divide, layout, tiler, "logical_divide")
    if not isinstance(tiler, Layout):
        tiler = Layout(tiler)
    return composition(layout, together(tiler, complement(tiler, coalesce(layout).shape)))


def zipped_divide(layout: Layout, tiler: Tiler) -> Layout:
    """:func:`logical_divide` with the steps within a tile gathered in mode 0, and from tile to
    tile in mode 1."""
    return unzipped(logical_divide(layout, tiler), tiler)


def tiled_divide(layout: Layout, tiler: Tiler) -> Layout:
    """:func:`zipped_divide` with mode 1 spread out: ``(tile, rest 0, rest 1, ...)``."""
    tile, rest = zipped_divide(layout, tiler)
    return together(tile, *rest) if rest.rank > 1 else together(tile, rest)


def logical_product(block: Layout, tiler: Tiler) -> Layout:
    """``block`` repeated as ``tiler`` says: mode 0 is the block, mode 1 walks from copy to copy."""
    if tiler is None:
        return block
    if isinstance(tiler, tuple):
        return mode_by_mode(logical_product, block, tiler, "logical_product")
    if not isinstance(tiler, Layout):
        tiler = Layout(tiler)
    return together(block, composition(complement(block, block.size * tiler.cosize), tiler))


def zipped_product(block: Layout, tiler: Tiler) -> Layout:
    """:func:`logical_product` with the block in mode 0 and the copies in mode 1."""
    return unzipped(logical_product(block, tiler), tiler)


def blocked_product(block: Layout, tiler: Layout) -> Layout:
    """A matrix of blocks: each mode walks within the block first, then from block to block."""
    inner, outer = ranked_product(block, tiler)
    return together(*map(together, inner, outer))


def raked_product(block: Layout, tiler: Layout) -> Layout:
    """Blocks interleaved: each mode walks from block to block first, then within the block."""
    inner, outer = ranked_product(block, tiler)
    return together(*map(together, outer, inner))


def right_inverse(layout: Layout) -> Layout:
    """The layout that finds an offset's coordinate: ``layout(result(k)) == k`` for each k below
    the result's size, which is as far as ``layout`` is without gaps."""
    found, reach = [(1, 0)], 1
    for step, before, extent in sorted(with_prefix(coalesce(layout))):
        if step == reach:
            found.append((extent, before))
            reach = extent * step
    return unnested(merged(found))


def left_inverse(layout: Layout) -> Layout:
    """The layout that finds a coordinate's number again: ``result(layout(i)) == i`` for each i,
    if ``layout`` repeats no offset. Otherwise there is no such layout, and this is CuTe's result.

    Raises LayoutError where ``layout``'s strides do not divide.
    """
    rows = [row for row in sorted(with_prefix(coalesce(layout))) if row[0]]
    if not rows:
        return ONE
    extents, strides, reach = [], [0], 1
    for step, before, _ in rows:
        if step % reach:
            raise LayoutError(
                f"{layout} has no left inverse: stride {step} is no multiple of {reach}"
            )
        extents.append(step // reach)
        strides.append(before)
        reach *= step // reach
    return unnested(merged(list(zip([*extents, rows[-1][2]], strides, strict=True))))


# -------------------------------------------------------------------------------- what they share


def flat_pairs(layout: Layout) -> list[tuple[int, int]]:
    """(extent, stride) of each number of the shape."""
    return list(zip(flatten(layout.shape), flatten(layout.stride), strict=True))


def merged(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """``pairs`` without extents of 1, each that continues the one before joined to it."""
    found: list[tuple[int, int]] = []
    for extent, step in pairs:
        if extent == 1:
            continue
        if found and found[-1][0] * found[-1][1] == step:
            found[-1] = (found[-1][0] * extent, found[-1][1])
        else:
            found.append((extent, step))
    return found


def unnested(pairs: list[tuple[int, int]]) -> Layout:
    """A layout of the modes ``pairs``, one without parentheses. Without modes it's ``1:0``."""
    if not pairs:
        return ONE
    if len(pairs) == 1:
        return Layout(*pairs[0])
    return Layout(tuple(n for n, _ in pairs), tuple(step for _, step in pairs))


def composed(a: list[tuple[int, int]], shape: IntTuple, stride: IntTuple) -> Layout:
    """The modes ``a`` after a layout of ``shape`` and ``stride``."""
    if isinstance(shape, tuple) and isinstance(stride, tuple):
        return together(*(composed(a, n, step) for n, step in zip(shape, stride, strict=True)))
    assert isinstance(shape, int) and isinstance(stride, int)
    if stride == 0:
        return Layout(shape, 0)
    if len(a) == 1:
        return Layout(shape, stride * a[0][1])
    found, rest, skip = [], shape, stride
    for extent, step in a[:-1]:  # skip: how many of this mode's elements b steps over
        if skip >= extent and skip % extent:
            raise not_divided(a, shape, stride, f"{skip} is no multiple of {extent}")
        here = ceil_div(extent, skip)
        if here > 1 and rest > here and extent % skip:
            raise not_divided(a, shape, stride, f"{extent} is no multiple of {skip}")
        if here > 1 and rest > 1:
            taken = min(here, rest)
            if rest % taken:
                raise not_divided(a, shape, stride, f"{rest} is no multiple of {taken}")
            found.append((taken, skip * step))
            rest //= taken
        skip = ceil_div(skip, extent)
    if rest > 1 or not found:
        found.append((rest, skip * a[-1][1]))
    return unnested(found)


def not_divided(a: list[tuple[int, int]], shape: int, stride: int, why: str) -> LayoutError:
    """The error for a composition of ``a`` with shape:stride that isn't a layout, and ``why``."""
    return LayoutError(
        f"{unnested(a)} after {shape}:{stride} is no layout: {why}, so its steps are not all alike"
    )


def tuple_ceil_div(value: IntTuple, by: int) -> IntTuple:
    """``value`` divided by ``by``, rounded up. The numbers of a tuple use up the divisor from left
    to right."""
    if isinstance(value, int):
        return ceil_div(value, by)
    found = []
    for part in value:
        found.append(tuple_ceil_div(part, by))
        by = ceil_div(by, product(part))
    return tuple(found)


def with_prefix(layout: Layout) -> list[tuple[int, int, int]]:
    """Stride, number of coordinates before it and extent of each mode of a flat layout."""
    pairs = flat_pairs(layout)
    return [(step, prod(n for n, _ in pairs[:i]), extent) for i, (extent, step) in enumerate(pairs)]


def check_rank(layout: Layout, tiler: tuple[Tiler, ...], what: str) -> None:
    """Raise LayoutError, which names the operation ``what``, if ``tiler`` has too many modes."""
    if len(tiler) > layout.rank:
        raise LayoutError(f"{what}: {len(tiler)} tilers for the {layout.rank} modes of {layout}")


def mode_by_mode(
    operation: Callable[[Layout, Tiler], Layout],
    layout: Layout,
    tiler: tuple[Tiler, ...],
    what: str,
) -> Layout:
    """``operation`` of each mode with its tiler. Modes beyond the tilers stay."""
    check_rank(layout, tiler, what)
    cut = [operation(mode, part) for mode, part in zip(layout, tiler, strict=False)]
    return together(*cut, *list(layout)[len(tiler) :])


def unzipped(layout: Layout, tiler: Tiler) -> Layout:
    """Pairs gathered: the parts that ``tiler`` cut from each mode in mode 0, the rest in mode 1."""
    if not isinstance(tiler, tuple):
        return layout
    pairs = [unzipped(mode, part) for mode, part in zip(layout, tiler, strict=False)]
    inner = together(*(pair[0] for pair in pairs))
    outer = together(*(pair[1] for pair in pairs), *list(layout)[len(tiler) :])
    return together(inner, outer)


def ranked_product(block: Layout, tiler: Layout) -> Layout:
    """The logical product of both after the one of lower rank got modes of one element."""
    rank = max(block.rank, tiler.rank)
    return logical_product(*(with_rank(layout, rank) for layout in (block, tiler)))


def with_rank(layout: Layout, rank: int) -> Layout:
    """``layout`` with modes of one element appended, up to ``rank`` modes."""
    return together(*layout, *[ONE] * (rank - layout.rank))
