"""From a wrong array to the mistake that most likely made it.

Each ``_looks_*`` function tests one hypothesis and answers with a message, or None.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from . import error_kinds
from .tolerance import Tolerance, is_inexact, rms, wide

BLOCK_SIZES = (4, 8, 16, 32, 64, 128, 256, 512, 1024)
PRECISION_LIMIT = 0.02  # of the element or of the rms: what half precision or a fast function costs
SPREAD = 0.1  # share of elements that lost precision reaches at least
SLIGHT = 100  # tolerances: an error this small is one of rounding, wherever it is
LEAST_TERM = 5e-5  # of a sum: one of 20,000 equal terms. Less is lost by rounding
MOST_OF_A_TAIL = 0.25  # the share of it that is wrong at least; fewer are mistakes here and there
FEW = 6  # elements: of fewer than these, one may be called the edge, and of 2 or 3 none
SHORT_COUNTS = {2**15: "short", 2**16: "unsigned short"}  # numbers that 16 bits count from 0 on
ENOUGH = 0.9  # share of elements a hypothesis must explain


@dataclass(frozen=True)
class Evidence:
    """Two arrays of one shape and what is known about them.

    ``wrong`` marks wrong elements, ``unwritten`` those that still hold what they held before the
    launch, ``strange_nan`` those that became NaN in the kernel although no NaN is expected.
    """

    actual: np.ndarray
    expected: np.ndarray
    wrong: np.ndarray
    unwritten: np.ndarray
    strange_nan: np.ndarray
    tolerance: Tolerance
    name: str

    def close(self, actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Whether each number is within the tolerance: bool, the arrays' shape."""
        near: np.ndarray = self.tolerance.close(actual, expected)
        return near


def classify(evidence: Evidence) -> tuple[str, str]:
    """The kind of mistake and a sentence about it; something must be wrong."""
    for kind, test in HYPOTHESES:
        message = test(evidence)
        if message:
            return kind, message
    return error_kinds.WRONG, _describe_wrong(evidence)


def _looks_untouched(e: Evidence) -> str | None:
    if e.unwritten.all():
        return f"no element of {e.name} was written."
    return None


def _looks_zero(e: Evidence) -> str | None:
    if e.expected.size == 1 and not np.isfinite(wide(e.expected)).all():
        return None  # one 0 where the input has a NaN or an infinity: these were left out
    if not np.any(e.actual) and np.any(e.expected):
        return f"{_all_of(e)} is 0."
    return None


def _looks_like_nan(e: Evidence) -> str | None:
    if not e.strange_nan.any():
        return None
    count, size = int(e.strange_nan.sum()), e.actual.size
    which = _all_of(e) if count == size else f"{count} of {size} elements of {e.name}"
    return f"{which} came out as NaN (not a number): it was computed so."


def _looks_transposed(e: Evidence) -> str | None:
    if e.actual.ndim < 2 or min(e.actual.shape[-2:]) < 2:
        return None
    *batch, rows, columns = e.actual.shape
    swapped = e.actual.reshape(*batch, columns, rows).swapaxes(-1, -2)
    if _explains(e, swapped, e.expected):
        return f"{e.name} holds the transpose: rows and columns are swapped."
    return None


def _looks_reversed(e: Evidence) -> str | None:
    if e.actual.size < 3:
        return None
    if _explains(e, e.actual.reshape(-1)[::-1], e.expected.reshape(-1)):
        return f"{e.name} holds the right values in reverse order."
    for axis, size in enumerate(e.actual.shape):
        if size > 2 and _explains(e, np.flip(e.actual, axis), e.expected):
            return f"{e.name} is reversed along axis {axis} ({_axis_name(e, axis, several=True)})."
    return None


def _looks_shifted(e: Evidence) -> str | None:
    for axis in reversed(range(e.actual.ndim)):
        if e.actual.shape[axis] < 3:
            continue
        later, sooner = _but_first(axis, e.actual.ndim), _but_last(axis, e.actual.ndim)
        what = _axis_name(e, axis)
        if _explains(e, e.actual[later], e.expected[sooner]):
            return f"each {what} of {e.name} holds what belongs one {what} before it."
        if _explains(e, e.actual[sooner], e.expected[later]):
            return f"each {what} of {e.name} holds what belongs one {what} after it."
    return None


def _looks_scaled(e: Evidence) -> str | None:
    use = (e.expected != 0) & (e.actual != 0)
    if is_inexact(e.expected):
        use &= np.isfinite(e.expected)
    if e.actual.dtype.kind == "b" or use.sum() < 3 or _alike(e, e.expected[use]):
        return None  # of too few numbers, or of equal ones, each is some factor off
    slight = SLIGHT * e.tolerance.rtol if e.tolerance.rtol else PRECISION_LIMIT
    with np.errstate(all="ignore"):
        factor = np.median((e.actual[use] / e.expected[use]).real)
        if not np.isfinite(factor) or not factor:
            return None
        if abs(factor - 1) <= min(slight, PRECISION_LIMIT):
            return None
        if not e.close(e.actual / factor, e.expected).all():
            return None
    if factor == -1:
        return f"every element of {e.name} has the wrong sign."
    return f"every element of {e.name} is {factor:.4g} times what it should be."


def _looks_imprecise(e: Evidence) -> str | None:
    actual, expected = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
    if e.actual.dtype.kind == "b":
        return None
    if not is_inexact(e.actual) and not is_inexact(e.expected):
        spread = float(e.expected.max()) - float(e.expected.min())
        near = np.abs(actual - expected) <= 1
        # Wider integers are counts and indices, which nothing rounds.
        rounded = min(e.actual.dtype.itemsize, e.expected.dtype.itemsize) <= 2
        if rounded and spread >= 32 and near.all():
            return (
                f"{e.name} is wrong by 1 in places: rounded another way, or a factor is slightly "
                "off."
            )
        return None
    scale = rms(e.expected)
    if not (np.isfinite(actual) & np.isfinite(expected)).all():
        return None
    with np.errstate(invalid="ignore"):
        near = np.abs(actual - expected) <= PRECISION_LIMIT * (np.abs(expected) + scale)
    allowed = e.tolerance.rtol * np.abs(expected) + e.tolerance.atol
    slight = np.abs(actual - expected) <= SLIGHT * allowed
    # A few sums that lack a term are as near as that, and so are equal numbers with any mistake.
    tiny = np.abs(actual - expected) <= LEAST_TERM * np.abs(expected)
    if (e.actual.size < FEW and not tiny.all()) or (_alike(e, e.expected) and not slight.all()):
        return None
    # A few elements far outside the tolerance are another mistake that happens to be small.
    if not near.all() or (e.wrong.mean() < SPREAD and not slight.all()):
        return None
    return f"{e.name} is close, but further from the expected values than rounding explains."


def _looks_like_edges(e: Evidence) -> str | None:
    if e.actual.size < FEW and (e.actual.size < 4 or e.wrong.sum() > 1):
        return None
    tails = [_tails(size) for size in e.actual.shape]
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
        tail = e.wrong.size - _without_tails(e, cut).size
        return _describe_tails(e, cut) if e.wrong.sum() >= MOST_OF_A_TAIL * tail else None
    for width in (1, 2, 3):
        core = tuple(slice(width, size - width) for size in e.actual.shape)
        inner = e.wrong[core]
        if inner.size * 2 >= e.wrong.size and not inner.any():
            return f"the inside of {e.name} is right; only the border is wrong."
    return None


def _without_tails(e: Evidence, cut: Sequence[int]) -> np.ndarray:
    """What is wrong where the last ``cut`` of each axis are left out."""
    return e.wrong[tuple(slice(0, n - t) for n, t in zip(e.actual.shape, cut, strict=True))]


def _shrunk(e: Evidence, cut: list[int]) -> tuple[int, ...]:
    """``cut`` with every tail reduced to what is really wrong."""
    for axis in range(len(cut)):
        while cut[axis] > 0:
            less = [tail - (a == axis) for a, tail in enumerate(cut)]
            if _without_tails(e, less).any():
                break
            cut = less
    return tuple(cut)


def _looks_like_a_short_index(e: Evidence) -> str | None:
    first = _leading(~e.wrong.reshape(-1))
    if first not in SHORT_COUNTS or e.wrong.reshape(-1)[first:].mean() < ENOUGH:
        return None
    return (
        f"the first {first} elements of {e.name} are right, as many as an index of 16 bits "
        f"({SHORT_COUNTS[first]}) can count, and no others. Or does the grid end there?"
    )


def _looks_like_one_block(e: Evidence) -> str | None:
    right = ~e.wrong
    lengths = [_leading(right[_through_origin(axis, right.ndim)]) for axis in range(right.ndim)]
    inside = right[tuple(slice(0, length) for length in lengths)]
    if not 1 < inside.size <= right.size // 2 or not inside.all():
        return None
    if right.ndim == 1 and lengths[0] % 32:
        return None
    if lengths[-1] == 1 < right.shape[-1]:  # no block is one column wide
        return None
    if (right.sum() - inside.size) > (1 - ENOUGH) * (right.size - inside.size):
        return None
    region = " x ".join(map(str, lengths))
    text = f"only the first {region} elements of {e.name} are right"
    if e.unwritten[e.wrong].all():
        reasons = "too few blocks, no blockIdx, a wrong stride, or a limit"
        return f"{text}, and the others were never written: {reasons}."
    return f"{text}."


def _looks_partly_written(e: Evidence) -> str | None:
    count = int(e.unwritten.sum())
    by_chance = e.actual.itemsize == 1 and count * 2 < e.wrong.sum()  # a byte in 256 holds it
    if by_chance or not count:
        return None
    first = np.unravel_index(int(np.argmax(e.unwritten)), e.unwritten.shape)
    where = ", ".join(str(int(i)) for i in first)
    return (
        f"{count} of {e.actual.size} elements were never written, the first is {e.name}[{where}]."
    )


HYPOTHESES: tuple[tuple[str, Callable[[Evidence], str | None]], ...] = (
    (error_kinds.NOTHING_WRITTEN, _looks_untouched),
    (error_kinds.ALL_ZEROS, _looks_zero),
    (error_kinds.NOT_A_NUMBER, _looks_like_nan),
    (error_kinds.TRANSPOSED, _looks_transposed),
    (error_kinds.REVERSED, _looks_reversed),
    (error_kinds.OFF_BY_ONE, _looks_shifted),
    (error_kinds.SCALED, _looks_scaled),
    (error_kinds.PRECISION, _looks_imprecise),
    (error_kinds.EDGES, _looks_like_edges),
    (error_kinds.WRONG, _looks_like_a_short_index),
    (error_kinds.FIRST_BLOCK, _looks_like_one_block),
    (error_kinds.PARTLY_WRITTEN, _looks_partly_written),
)


def _explains(e: Evidence, actual: np.ndarray, expected: np.ndarray) -> bool:
    """A rearrangement explains the result when it makes nearly all right, and much was wrong."""
    much = e.wrong.sum() > 1 and e.wrong.mean() > 0.3
    return bool(much and e.close(actual, expected).mean() >= ENOUGH)


def _alike(e: Evidence, values: np.ndarray) -> bool:
    """Are all ``values`` the same, as far as the tolerance tells?"""
    return bool(e.close(values, np.full_like(values, values.reshape(-1)[0])).all())


def _all_of(e: Evidence) -> str:
    return f"every element of {e.name}" if e.actual.size > 1 else f"the one element of {e.name}"


def _describe_wrong(e: Evidence) -> str:
    same, wanted = ((x == x.reshape(-1)[0]).all() for x in (e.actual, e.expected))
    if e.actual.size > 1 and same and not wanted:
        return f"every element of {e.name} holds the same value."
    if e.actual.size == 1 and (off := _share(e)):
        return f"{_all_of(e)} is {off}: more than rounding explains."
    if e.wrong.all():
        return f"{_all_of(e)} is wrong."
    return f"some elements of {e.name} are wrong."


def _share(e: Evidence) -> str:
    """By how much a single number is off, where that is little; nothing where it is much."""
    got, wanted = wide(e.actual).item(), wide(e.expected).item()
    if not is_inexact(e.expected):
        return ""  # of a count or an index a little is as wrong as much
    if not np.isfinite(got) or not np.isfinite(wanted) or not wanted:
        return ""
    off = abs(got - wanted) / abs(wanted)
    if off > 0.1:
        return ""
    return f"{100 * off:.2g} % {'larger' if abs(got) > abs(wanted) else 'smaller'} than expected"


def _describe_tails(e: Evidence, cut: tuple[int, ...]) -> str:
    parts = []
    for axis, tail in enumerate(cut):
        if tail:
            what = _axis_name(e, axis, several=tail > 1)
            parts.append(f"the last {tail} {what}" if tail > 1 else f"the last {what}")
    unwritten = bool(e.unwritten[e.wrong].all())
    state = "were never written" if unwritten else "are wrong"
    if sum(cut) == 1:
        state = state.replace("are", "is").replace("were", "was")
    return f"{' and '.join(parts)} of {e.name} {state}; everything else is right."


def _tails(size: int) -> list[int]:
    """Numbers of trailing elements that a rounding mistake could miss, 0 included; one of two
    elements is no edge."""
    tails = {0, 1, 2} | {size % block for block in BLOCK_SIZES}
    return sorted(tail for tail in tails if tail < size) if size > 2 else [0]


def _axis_name(e: Evidence, axis: int, several: bool = False) -> str:
    """What lies along ``axis``, in the singular or for ``several`` of it."""
    if e.actual.ndim == 1:
        return "elements" if several else "element"
    if axis == e.actual.ndim - 1:
        return "columns" if several else "column"
    if axis == e.actual.ndim - 2:
        return "rows" if several else "row"
    return "matrices" if several else "matrix"


def _but_first(axis: int, ndim: int) -> tuple[slice, ...]:
    return tuple(slice(1, None) if i == axis else slice(None) for i in range(ndim))


def _but_last(axis: int, ndim: int) -> tuple[slice, ...]:
    return tuple(slice(None, -1) if i == axis else slice(None) for i in range(ndim))


def _through_origin(axis: int, ndim: int) -> tuple[slice | int, ...]:
    return tuple(slice(None) if i == axis else 0 for i in range(ndim))


def _leading(right: np.ndarray) -> int:
    """How many elements are right before the first wrong one."""
    return int(right.size if right.all() else np.argmin(right))
