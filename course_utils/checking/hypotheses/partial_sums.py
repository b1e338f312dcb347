"""Terms that a sum left out, where the inputs are known."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from ...integers import ceil_div
from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import Diagnosis, Evidence
from ..indices import element
from ..tolerance import Tolerance, wide

MOST_TERMS = 1 << 12  # of a sum: among more, one is left out by chance
WARP = 32
NAMED = 4  # of the terms left out, so many by name


def terms_missing(e: Evidence) -> Diagnosis | None:
    """Each wrong element is a sum of the same few of its terms: the first of them, all but one,
    or those that a tree over a size that isn't a power of two keeps."""
    if e.expected.dtype.kind not in "iuf" or e.actual.dtype.kind not in "iuf":
        return None
    for name, values in e.operands.items():
        terms = _terms(e, values)
        if terms is None:
            continue
        for kept in _selections(e, terms):
            sums = terms[:, kept].sum(axis=1).reshape(e.actual.shape)
            if _near(e, sums, e.actual)[e.wrong].all():
                return _of(e, name, np.ndim(values), kept)
    return None


def tree_of_block(e: Evidence) -> Diagnosis | None:
    """The sum of all terms but those that a tree over the threads or the warps of a block loses."""
    threads = prod(e.launches[-1].block) if e.launches else 0
    if not threads & (threads - 1) or e.expected.dtype.kind not in "iuf":
        return None
    blocks = prod(e.launches[-1].grid)
    for values in e.operands.values():
        terms = _by_threads(e, values, blocks, threads)
        if terms is None:
            continue
        for what, kept in _trees(threads):
            if not _near(e, terms[:, kept].sum(axis=1), e.actual.reshape(-1)).all():
                continue
            return Diagnosis(
                kinds.WRONG,
                f"{e.wrong_ones} is a sum without {int((~kept).sum())} of every {threads} terms. "
                f"{what}, which isn't a power of two: a tree that halves its distance loses them.",
                Slip.TREE_OF_BLOCK,
            )
    return None


def _by_threads(e: Evidence, values: np.ndarray, blocks: int, threads: int) -> np.ndarray | None:
    """The terms of each element by the thread that adds them, (elements, threads), where
    ``values`` are that: one sum of all, or one of each block. None otherwise."""
    flat = wide(values.reshape(-1))
    sums = e.expected.size
    if values.dtype.kind not in "iuf" or sums not in (1, blocks) or flat.size < threads:
        return None
    if sums > 1 and ceil_div(flat.size, threads) != blocks:
        return None
    padded = np.zeros(ceil_div(flat.size, threads) * threads)
    padded[: flat.size] = flat
    terms: np.ndarray = padded.reshape(sums, -1, threads).sum(axis=1)
    return terms if _near(e, terms.sum(axis=1), e.expected.reshape(-1)).all() else None


def _trees(threads: int) -> Iterator[tuple[str, np.ndarray]]:
    """What a tree may be over, in words, and the threads whose terms it keeps."""
    yield f"The block has {threads} threads", tree_keeps(threads)
    warps, rest = divmod(threads, WARP)
    if not rest and warps & (warps - 1):
        for keeps in (tree_keeps, xor_keeps):
            yield f"The block has {warps} warps", np.repeat(keeps(warps), WARP)


def _terms(e: Evidence, array: np.ndarray) -> np.ndarray | None:
    """The terms of each element, (elements, terms), where ``array`` is that, None otherwise."""
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


def xor_keeps(count: int) -> np.ndarray:
    """The same for lanes that add by __shfl_xor_sync, where a lane past ``count`` holds 0."""
    reach = [{i} for i in range(WARP)]
    distance = count // 2
    while distance:
        reach = [reach[i] | reach[i ^ distance] for i in range(WARP)]
        distance //= 2
    kept = np.zeros(count, bool)
    kept[[i for i in reach[0] if i < count]] = True
    return kept


def _of(e: Evidence, name: str, ndim: int, kept: np.ndarray) -> Diagnosis:
    left = [int(i) for i in np.flatnonzero(~kept)]
    count = len(kept)
    row = element(name, [int(np.argmax(e.wrong)), 0]).rsplit(",", 1)[0] if ndim > 1 else f"{name}["
    names = [f"{row}{', ' if ndim > 1 else ''}{i}]" for i in left[:NAMED]]
    listed = ", ".join(names) + (f" and {len(left) - NAMED} more" if len(left) > NAMED else "")
    # A loop that ends one early leaves out the last alone, too.
    is_tree = len(left) > 1 and count & (count - 1) and (kept == tree_keeps(count)).all()
    why = f": a tree that halves its distance leaves them out, because {count} isn't a power of two"
    if not is_tree:
        why = f": {count - len(left)} of {count} terms are in the sum"
    message = f"{e.wrong_ones} is the sum without {listed}{why}."
    return Diagnosis(kinds.WRONG, message, Slip.TERMS_MISSING)
