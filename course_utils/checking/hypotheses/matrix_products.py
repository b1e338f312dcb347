"""The product of two matrices, one of them read in the wrong way, or in the other order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence
from ..tolerance import Tolerance, rms, wide

MOST_WORK = 1 << 27  # multiplications of one product
LEAST = 9  # elements: among fewer, another product is right by chance
LOOSE = 1e-4  # of an element or the rms: operands may be narrower than the sum
TILES = (8, 16, 32)  # rows and columns of a tile
USUAL_WIDTHS = (8, 16, 32)  # that a row length may have been copied from
POWERS = 3  # of a matrix, whose traces are compared
MOST_ROWS = 1 << 9  # of a matrix that is raised to these powers


@dataclass(frozen=True)
class Operand:
    """A matrix under the name of its array, as a kernel with a mistake reads it."""

    name: str
    matrix: np.ndarray
    slip: Slip | None = None
    words: str = ""


def product(e: Evidence) -> Diagnosis | None:
    """The expected result is the product of two operands, and this is another product of them."""
    if e.expected.ndim != 2 or not _is_numeric(e) or e.wrong.sum() < LEAST:
        return None
    for names in permutations(e.operands, 2):
        pair = _factors(e, names)
        if pair is None:
            continue
        for left, right, words, slip in _others(*pair):
            if _agrees(e, left, right, e.actual):
                message = f"{e.name} is the product of {names[0]} and {names[1]} {words}."
                return Diagnosis(kinds.WRONG, message, slip)
    return None


def same_eigenvalues(e: Evidence) -> Diagnosis | None:
    """A square result with the eigenvalues of the expected one, as B A has those of A B."""
    rows = e.expected.shape[0]
    if e.expected.ndim != 2 or e.expected.shape != (rows, rows) or not 3 <= rows <= MOST_ROWS:
        return None
    if not _is_numeric(e) or not e.wrong.all():
        return None
    found, wanted = wide(e.actual), wide(e.expected)
    if not (np.isfinite(found).all() and np.isfinite(wanted).all()):
        return None
    scale = max(float(np.abs(wanted).max()), float(np.abs(found).max())) * rows
    found, wanted = found / scale, wanted / scale
    powers = np.eye(rows), np.eye(rows), np.eye(rows)
    for _ in range(POWERS):
        powers = powers[0] @ found, powers[1] @ wanted, powers[2] @ np.abs(wanted)
        sizes = float(np.trace(powers[2]))
        if abs(float(np.trace(powers[0]) - np.trace(powers[1]))) > LOOSE / 10 * sizes:
            return None
    message = (
        f"{e.name} isn't the expected matrix, but has its eigenvalues. If it's a product A * B, "
        "then B * A has them too, and so has the product of both transposed."
    )
    return Diagnosis(kinds.WRONG, message, Slip.OPERANDS_SWAPPED)


def _is_numeric(e: Evidence) -> bool:
    return e.actual.dtype.kind in "iuf" and e.expected.dtype.kind in "iuf"


def _factors(e: Evidence, names: tuple[str, str]) -> tuple[Operand, Operand] | None:
    """The operands, by rows, whose product is expected; None where it isn't."""
    left, right = (e.operands[name] for name in names)
    rows, columns = e.expected.shape
    terms, rest = divmod(left.size, rows)
    if rest or terms < 2 or right.size != terms * columns or rows * columns * terms > MOST_WORK:
        return None
    if left.ndim > 2 or right.ndim > 2:
        return None
    if left.ndim == 2 and left.shape != (rows, terms):
        return None
    if right.ndim == 2 and right.shape != (terms, columns):
        return None
    a = Operand(names[0], wide(left.reshape(rows, terms)))
    b = Operand(names[1], wide(right.reshape(terms, columns)))
    return (a, b) if _agrees(e, a.matrix, b.matrix, e.expected) else None


def _agrees(e: Evidence, left: np.ndarray, right: np.ndarray, values: np.ndarray) -> bool:
    """Whether ``values`` are the product of the two. One row is compared first."""
    if left.shape[0] != values.shape[0] or right.shape[1] != values.shape[1]:
        return False
    loose = LOOSE * rms(e.expected)
    tolerance = Tolerance(max(e.tolerance.rtol, LOOSE), max(e.tolerance.atol, loose))
    row = int(np.argmax(e.wrong.any(axis=1)))
    if not tolerance.close(left[row] @ right, wide(values[row])).all():
        return False
    return bool(tolerance.close(left @ right, wide(values)).all())


def _others(a: Operand, b: Operand) -> Iterator[tuple[np.ndarray, np.ndarray, str, Slip]]:
    """Other products of the two, the likeliest first: with words that follow "the product of a
    and b"."""
    widths = {*a.matrix.shape, *b.matrix.shape, *USUAL_WIDTHS}
    ways = [[each, *_misread(each, widths)] for each in (a, b)]
    for left in ways[0]:
        for right in ways[1]:
            slip = left.slip or right.slip
            both = left.slip is right.slip and left.words == right.words
            if slip is None or (left.slip and right.slip and not both):
                continue
            if both:
                words = f"when both are read {left.words}"
            else:
                one = left if left.slip else right
                words = f"when {one.name} is read {one.words}"
            yield left.matrix, right.matrix, words, slip
    swapped = "in the other order"
    yield b.matrix, a.matrix, swapped, Slip.OPERANDS_SWAPPED
    for first, second, other in ((b.matrix.T, a.matrix, b), (b.matrix, a.matrix.T, a)):
        if first.shape[1] == second.shape[0]:
            yield first, second, f"{swapped}, with {other.name} transposed", Slip.OPERANDS_SWAPPED


def _misread(operand: Operand, widths: set[int]) -> Iterator[Operand]:
    """A matrix as other indices read it, where each stays inside its array."""
    name, matrix = operand.name, operand.matrix
    rows, columns = matrix.shape
    flat = matrix.reshape(-1)
    by_columns = "by columns (column-major), not by rows"
    if rows > 1 < columns:
        yield Operand(name, flat.reshape(columns, rows).T, Slip.OPERAND_LAYOUT, by_columns)
    for tile in TILES:
        if rows % tile or columns % tile or rows == columns == tile:
            continue
        tiles = matrix.reshape(rows // tile, tile, columns // tile, tile)
        flipped = tiles.transpose(0, 3, 2, 1).reshape(rows, columns)
        words = f"in tiles of {tile} x {tile} that are each taken by columns (col_major)"
        yield Operand(name, flipped, Slip.OPERAND_LAYOUT, words)
    for width in sorted(widths - {columns}):
        at = np.arange(rows)[:, None] * width + np.arange(columns)
        if at[-1, -1] < flat.size:
            words = f"with {width} elements from one row to the next, where a row has {columns}"
            yield Operand(name, flat[at], Slip.LEADING_DIMENSION, words)
