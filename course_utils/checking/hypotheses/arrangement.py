"""The right values in the wrong order: transposed, reversed, shifted, rolled, or conjugated."""

from __future__ import annotations

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import MUCH, Diagnosis, Evidence

LEAST_SPECTRUM = 8  # frequencies
CANDIDATES = 8  # distances that the first element allows: of more, each is one by chance


def transposed(e: Evidence) -> Diagnosis | None:
    """Rows for columns, in the last two axes."""
    if e.actual.ndim < 2 or min(e.actual.shape[-2:]) < 2:
        return None
    *batch, rows, columns = e.actual.shape
    swapped = e.actual.reshape(*batch, columns, rows).swapaxes(-1, -2)
    if e.explains(swapped, e.expected):
        what = [e.axis_name(axis, several=True) for axis in (e.actual.ndim - 2, e.actual.ndim - 1)]
        swap = " and ".join(what)
        return Diagnosis(kinds.TRANSPOSED, f"{e.name} holds the transpose: {swap} are swapped.")
    return None


def reversed_(e: Evidence) -> Diagnosis | None:
    """From the end to the start, as a whole or along an axis."""
    if e.actual.size < 3:
        return None
    if e.explains(e.actual.reshape(-1)[::-1], e.expected.reshape(-1)):
        return Diagnosis(kinds.REVERSED, f"{e.name} holds the right values in reverse order.")
    for axis, size in enumerate(e.actual.shape):
        along = f"along axis {axis} ({e.axis_name(axis, several=True)})"
        if size > 2 and e.explains(np.flip(e.actual, axis), e.expected):
            return Diagnosis(kinds.REVERSED, f"{e.name} is reversed {along}.")
        if size > 3 and _all_explained(e, np.roll(np.flip(e.actual, axis), 1, axis)):
            message = f"{e.name} is reversed {along}, all but the first: k and {size} - k are "
            slip = Slip.EXPONENT_SIGN if e.actual.dtype.kind == "c" else None
            return Diagnosis(kinds.REVERSED, f"{message}swapped.", slip)
    return None


def conjugated(e: Evidence) -> Diagnosis | None:
    """The imaginary parts have the other sign."""
    if e.actual.dtype.kind != "c" or e.wrong.sum() < 3 or not _all_explained(e, e.actual.conj()):
        return None
    message = (
        f"every element of {e.name} is the complex conjugate of the expected one: the sign of "
        "each imaginary part is wrong."
    )
    return Diagnosis(kinds.WRONG, message, Slip.EXPONENT_SIGN)


def half_spectrum(e: Evidence) -> Diagnosis | None:
    """Only the frequencies that a transform of real numbers gives, of all n along the last axis."""
    size = e.actual.shape[-1]
    if e.actual.dtype.kind != "c" or size < LEAST_SPECTRUM or not e.untouched:
        return None
    computed = size // 2 + 1
    numbers = np.broadcast_to(np.arange(size), e.wrong.shape)
    mirrored = np.roll(np.flip(e.expected, -1), 1, -1).conj()
    if (e.wrong != (numbers >= computed)).any() or not e.close(mirrored, e.expected).all():
        return None
    return Diagnosis(
        kinds.WRONG,
        f"the first {computed} of {size} frequencies of {e.name} are right, n / 2 + 1 as a "
        "transform of real numbers gives them, and no thread computed the others.",
        Slip.HALF_SPECTRUM,
    )


def shifted(e: Evidence) -> Diagnosis | None:
    """By one, along an axis."""
    for axis in reversed(range(e.actual.ndim)):
        if e.actual.shape[axis] < 3:
            continue
        later = _all_but(slice(1, None), axis, e.actual.ndim)
        sooner = _all_but(slice(None, -1), axis, e.actual.ndim)
        what = e.axis_name(axis)
        for to, of, where in ((later, sooner, "before"), (sooner, later, "after")):
            if e.explains(e.actual[to], e.expected[of]):
                held = f"the value{'s' * (e.actual.ndim > 1)} of the {what} {where} it"
                return Diagnosis(kinds.OFF_BY_ONE, f"each {what} of {e.name} holds {held}.")
    return None


def rolled(e: Evidence) -> Diagnosis | None:
    """By any distance along an axis, where the end continues at the start, or by half of every
    axis, as a transform has its frequencies."""
    if e.wrong.mean() < MUCH:
        return None
    if e.actual.ndim > 1 and min(e.actual.shape) > 1:
        for halves in ([n // 2 for n in e.actual.shape], [-(n // 2) for n in e.actual.shape]):
            moved = np.roll(e.actual, halves, tuple(range(e.actual.ndim)))
            if _all_explained(e, moved):
                message = f"{e.name} is rolled by half its size along every axis."
                return Diagnosis(kinds.WRONG, message, Slip.ROLLED)
    for axis, size in enumerate(e.actual.shape):
        lines = np.moveaxis(e.actual, axis, 0), np.moveaxis(e.expected, axis, 0)
        same = e.close(lines[0][:1], lines[1]).reshape(size, -1).all(axis=1)
        found = [int(k) for k in np.flatnonzero(same) if 1 < k < size - 1]
        if len(found) > CANDIDATES:
            continue
        for k in found:  # element 0 holds the value of element k
            if _all_explained(e, np.roll(e.actual, k, axis), len(found)):
                by, where = (k, "after") if k <= size // 2 else (size - k, "before")
                what = e.axis_name(axis, several=True)
                half = f", half of all {size}" if by in (size // 2, size - size // 2) else ""
                return Diagnosis(
                    kinds.WRONG,
                    f"{e.name} is rolled by {by} {what}{half}: each comes from {by} "
                    f"{what} {where} it, and the end continues at the start.",
                    Slip.ROLLED,
                )
    return None


def _all_explained(e: Evidence, moved: np.ndarray, tries: int = 1) -> bool:
    """Whether ``moved`` is right everywhere, and hardly by chance."""
    wrong = int(e.wrong.sum())
    return bool(e.close(moved, e.expected).all()) and not e.is_luck(wrong, max(tries, 1))


def _all_but(part: slice, axis: int, ndim: int) -> tuple[slice, ...]:
    return tuple(part if i == axis else slice(None) for i in range(ndim))
