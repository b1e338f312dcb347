"""Right values at the wrong places: an index moved them there, or a comparison of numbers did."""

from __future__ import annotations

import numpy as np

from ..error_kinds import Slip
from ..evidence import UNLIKELY, Evidence
from ..indices import element
from ..tolerance import wide

NEARLY_ALL = 0.9  # share of elements that an index moves elsewhere at least
FEW_RUNS = 64  # elements per change from right to wrong, at least, where an index decides
FEW_KINDS = 4  # lines per different one, at least, there too
REGULAR = 0.98  # share of elements that are right or wrong as their index has it
MOST_PERIOD = 32  # of the indices that are tried one by one
PERIODS = (*range(2, MOST_PERIOD + 1), 64, 96, 128, 256, 512, 1024)
SEARCHED = 1 << 18  # elements at most among which the values of the wrong ones are looked for
KNOWN = 8  # elements per line, on average, with a unique value
ONE_SIDED = 8  # wrong elements that are all too large, or all too small, and not by chance
REPEATED = 0.5  # share of different values: as few have a minimum's or a maximum's windows
LARGEST = 1e300  # distance of two expected elements that numbers are drawn from
ENOUGH = 3  # wrong elements: of fewer, much is in common by chance


def elsewhere(e: Evidence) -> tuple[str, Slip] | None:
    """Values that belong to other elements."""
    if e.actual.size > SEARCHED or e.wrong.sum() < ENOUGH or e.actual.dtype.kind not in "iuf":
        return None
    flat = e.expected.reshape(-1)
    order = np.argsort(flat, kind="stable")
    order = order[np.isfinite(flat[order])]
    values = flat[order]
    found = e.actual[e.wrong]
    if len(values) < 2 or not np.isfinite(found).all() or np.ptp(wide(values)) > LARGEST:
        return None
    if _of_another_window(e, values):
        return None

    def among(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Whether each is an expected value, and where that belongs."""
        at = np.clip(np.searchsorted(values, numbers), 1, len(values) - 1)
        left, right = (np.abs(wide(numbers) - wide(values[near])) for near in (at - 1, at))
        at -= left <= right
        return e.close(numbers, values[at]), order[at]

    inside, where = among(found)
    if not inside.all():
        return None
    rng = np.random.default_rng(0)
    span = rng.uniform(float(values[0]), float(values[-1]), 1000)
    span = np.round(span) if e.is_whole() else span
    chance = float(among(span.astype(e.expected.dtype))[0].mean())
    if len(np.unique(found)) <= ENOUGH or chance ** len(np.unique(found)) > UNLIKELY:
        return None
    known = _known(e)
    lone = known[e.wrong]
    which = int(np.argmax(lone))  # the first with a unique value, or else the first
    first = np.unravel_index(int(np.flatnonzero(e.wrong)[which]), e.wrong.shape)
    origin = np.unravel_index(int(where[which]), e.wrong.shape)
    here, there = (element(e.name, [int(i) for i in index]) for index in (first, origin))
    if not _as_the_index_has_it(e.wrong) and not _as_the_line_has_it(e.wrong, known):
        return (
            f"{e.wrong_ones} holds the value of another, and which ones are wrong follows no "
            f"index: {here} holds the value of {there}.",
            Slip.OUT_OF_ORDER,
        )
    return (
        f"{e.wrong_ones} holds a value from another index: {here} holds the value of {there}.",
        Slip.ELSEWHERE,
    )


def _as_the_index_has_it(wrong: np.ndarray) -> bool:
    """Whether the index decides which elements are wrong: nearly all are, or some in a row, or
    the same ones of every few."""
    flat = wrong.reshape(-1)
    if flat.size < FEW_RUNS:
        return True  # a few elements don't show it
    changes = int((flat[1:] != flat[:-1]).sum())
    if flat.mean() >= NEARLY_ALL or changes <= max(2, flat.size // FEW_RUNS):
        return True
    if wrong.ndim > 1:
        lines = wrong.reshape(-1, wrong.shape[-1])
        if len(np.unique(lines, axis=0)) <= max(2, len(lines) // FEW_KINDS):
            return True
    for period in {*PERIODS, *wrong.shape}:
        if not 1 < period <= flat.size // 3:
            continue
        rows = flat[: flat.size // period * period].reshape(-1, period)
        share = rows.mean(axis=0)
        if float(np.maximum(share, 1 - share).mean()) >= REGULAR:
            return True
    return False


def _known(e: Evidence) -> np.ndarray:
    """The elements, bool, with a value that no two of the expected ones have. An
    element that is 0 as expected may hold the 0 of any other."""
    values, counts = np.unique(e.expected, return_counts=True)
    repeated = values[counts > 1]
    known: np.ndarray = ~np.isin(e.actual, repeated)
    return known


def _as_the_line_has_it(wrong: np.ndarray, known: np.ndarray) -> bool:
    """Whether nearly all elements of a line, or nearly none, are wrong, of all lines along an axis,
    as far as the ``known`` elements tell: rows or columns that changed their places."""
    for axis, size in enumerate(wrong.shape):
        told = np.moveaxis(known, axis, 0).reshape(size, -1).sum(axis=1)
        if wrong.ndim < 2 or told.sum() < KNOWN * size:
            continue
        bad = np.moveaxis(wrong & known, axis, 0).reshape(size, -1).sum(axis=1)
        if np.maximum(bad, told - bad).sum() >= REGULAR * told.sum():
            return True
    return False


def _of_another_window(e: Evidence, values: np.ndarray) -> bool:
    """Whether minima or maxima of more or fewer elements may have given this: each is the value of
    another window, too."""
    found, wanted = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
    one_side = bool((found > wanted).all() or (found < wanted).all())
    repeated = len(np.unique(values)) < REPEATED * len(values)
    return one_side and repeated and len(found) >= ONE_SIDED
