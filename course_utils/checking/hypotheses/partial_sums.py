"""Terms that a sum left out, where the inputs are known."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence
from ..indices import element
from ..tolerance import Tolerance, wide

MOST_TERMS = 1 << 12  # of a sum: among more, one is left out by chance
NAMED = 4  # of the terms left out, so many by name


def terms_missing(e: Evidence) -> Diagnosis | None:
    """Each wrong element is a sum of the same few of its terms: the first of them, all but one,
    or those that a tree over a size that isn't a power of two keeps."""
    if e.expected.dtype.kind not in "iuf" or e.actual.dtype.kind not in "iuf":
        return None
    for name, values in e.inputs.items():
        terms = _terms(e, values)
        if terms is None:
            continue
        for kept in _selections(e, terms):
            sums = terms[:, kept].sum(axis=1).reshape(e.actual.shape)
            if _near(e, sums, e.actual)[e.wrong].all():
                return _of(e, name, np.ndim(values), kept)
    return None


def _terms(e: Evidence, values: object) -> np.ndarray | None:
    """The terms of each element, (elements, terms), where ``values`` are that, None otherwise."""
    array = np.asarray(values)
    count = e.expected.size
    if array.dtype.kind not in "iuf" or array.size % count or array.size // count < 3:
        return None
    terms: np.ndarray = wide(array.reshape(count, -1))
    if terms.shape[1] > MOST_TERMS or not np.isfinite(terms).all():
        return None
    whole = terms.sum(axis=1).reshape(e.expected.shape)
    return terms if _near(e, whole, e.expected).all() else None


def _near(e: Evidence, sums: np.ndarray, found: np.ndarray) -> np.ndarray:
    loose = Tolerance(max(e.tolerance.rtol, 1e-6), max(e.tolerance.atol, 1e-9))
    near: np.ndarray = loose.close(sums, wide(found))
    return near


def _selections(e: Evidence, terms: np.ndarray) -> Iterator[np.ndarray]:
    """Which terms may have been kept: masks, the likeliest first."""
    count = terms.shape[1]
    yield tree_keeps(count)
    row = int(np.argmax(e.wrong.reshape(-1)))
    found = wide(e.actual.reshape(-1)[row : row + 1])
    numbers = np.arange(count)
    first, all_but = np.cumsum(terms[row]), terms[row].sum() - terms[row]
    for at in _only(_near(e, first, np.broadcast_to(found, first.shape))):
        yield numbers <= at
    for at in _only(_near(e, all_but, np.broadcast_to(found, first.shape))):
        yield numbers != at


def _only(hits: np.ndarray) -> list[int]:
    """The number of the only hit, in a list. Several may be chance, and give an empty one."""
    found = [int(at) for at in np.flatnonzero(hits)]
    return found if len(found) == 1 else []


def tree_keeps(count: int) -> np.ndarray:
    """Which of ``count`` terms end up in element 0 of a tree whose distance starts at
    ``count // 2`` and is halved: all only where ``count`` is a power of two."""
    reach = [{i} for i in range(count)]
    distance = count // 2
    while distance:
        for i in range(distance):
            reach[i] |= reach[i + distance]
        distance //= 2
    kept = np.zeros(count, bool)
    kept[sorted(reach[0])] = True
    return kept


def _of(e: Evidence, name: str, ndim: int, kept: np.ndarray) -> Diagnosis:
    left = [int(i) for i in np.flatnonzero(~kept)]
    count = len(kept)
    row = element(name, [int(np.argmax(e.wrong)), 0]).rsplit(",", 1)[0] if ndim > 1 else f"{name}["
    names = [f"{row}{', ' if ndim > 1 else ''}{i}]" for i in left[:NAMED]]
    listed = ", ".join(names) + (f" and {len(left) - NAMED} more" if len(left) > NAMED else "")
    is_tree = count & (count - 1) and (kept == tree_keeps(count)).all()
    why = f": a tree that halves its distance leaves them out, because {count} isn't a power of two"
    if not is_tree:
        why = f": {count - len(left)} of {count} terms are in the sum"
    message = f"{e.wrong_ones} is the sum without {listed}{why}."
    return Diagnosis(kinds.WRONG, message, Slip.TERMS_MISSING)
