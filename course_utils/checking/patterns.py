"""Do the wrong elements of an array have a pattern, or are they scattered as the data have it?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

FEW = 8  # wrong elements, or right ones: so few are shown wherever they are
SURE = 4.0  # standard deviations from chance
PERIODS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)  # of lanes, tiles and blocks
LEAST_MARKS = 40
ALIKE = 0.6  # of the share of neighbours that differ by chance: fewer are a pattern
KINDS_OF_RUNS = 4  # lengths of runs: a regular map has fewer
PARTS = 16  # of an array, from its first element to its last


def is_noise(wrong: np.ndarray) -> bool:
    """Whether the marks of a map, bool (rows, columns), are here and there: neighbours along a row,
    a column and both diagonals differ about as often as by chance, and the runs of a row have
    several lengths. Few marks don't show that."""
    if wrong.size < LEAST_MARKS:
        return False
    share = float(wrong.mean())
    by_chance = ALIKE * 2 * share * (1 - share)
    pairs = [
        (wrong[:, 1:], wrong[:, :-1]),
        (wrong[1:], wrong[:-1]),
        (wrong[1:, 1:], wrong[:-1, :-1]),
        (wrong[1:, :-1], wrong[:-1, 1:]),
    ]
    if any(some.size and (some != others).mean() < by_chance for some, others in pairs):
        return False
    return len({length for row in wrong for length in _inner_runs(row)}) >= KINDS_OF_RUNS


def _inner_runs(row: np.ndarray) -> list[int]:
    """The lengths of the runs of equal marks in a row, but for the first and the last."""
    changes = np.flatnonzero(row[1:] != row[:-1])
    return [int(length) for length in np.diff(changes)]


def has_pattern(wrong: np.ndarray) -> bool:
    """Whether wrong elements keep together or apart, or prefer some rows, columns, lanes or parts.
    ``wrong``: bool, of any shape."""
    count = int(wrong.sum())
    if min(count, wrong.size - count) <= FEW:
        return True
    share = count / wrong.size
    return any(abs(far) > SURE for far in _distances(wrong, share))


def _distances(wrong: np.ndarray, share: float) -> Iterator[float]:
    """How many standard deviations the array is away from one whose elements are wrong by chance,
    each with the probability ``share``, in several respects."""
    differ = 2 * share * (1 - share)  # of two elements
    if wrong.ndim > 1 and min(wrong.shape[-2:]) > 1:
        yield _alike(wrong[..., 1:, 1:], wrong[..., :-1, :-1], differ)
        yield _alike(wrong[..., 1:, :-1], wrong[..., :-1, 1:], differ)
    for axis, size in enumerate(wrong.shape):
        if size == 1:
            continue
        along = np.moveaxis(wrong, axis, 0)
        yield _alike(along[1:], along[:-1], differ)
        yield _unevenness(along.reshape(size, -1), share)
    flat = wrong.reshape(-1)
    for period in (p for p in PERIODS if 4 * p <= flat.size):
        yield _unevenness(flat[: flat.size // period * period].reshape(-1, period).T, share)
    part = flat.size // PARTS
    if part:
        yield _unevenness(flat[: part * PARTS].reshape(PARTS, part), share)


def _alike(some: np.ndarray, others: np.ndarray, differ: float) -> float:
    """How often neighbours differ, in standard deviations from chance."""
    deviation = np.sqrt(some.size * differ * (1 - differ))
    changes = float((some != others).sum())
    return (changes - some.size * differ) / float(deviation)


def _unevenness(parts: np.ndarray, share: float) -> float:
    """How uneven the wrong elements are spread over equal ``parts`` (parts, elements): the
    chi-square of their counts, in standard deviations from its mean."""
    each = int(parts.shape[1])
    far = parts.sum(axis=1) - each * share
    chi_square: float = float((far**2).sum()) / (each * share * (1 - share))
    freedom = len(parts) - 1
    return (chi_square - freedom) / float(np.sqrt(2 * freedom))
