"""Mistakes that show in all of a result at once: nothing written, NaN, a factor, precision."""

from __future__ import annotations

import numpy as np

from ...devices.emulated_arrays import CANARY
from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import OR_UNFILLED, Diagnosis, Evidence
from ..tolerance import is_inexact, rms, wide
from .formulas import factor_named

PRECISION_LIMIT = 0.02  # of the element or the rms: the cost of half precision or a fast function
SPREAD = 0.1  # share of elements that lost precision reaches at least
SLIGHT = 100  # tolerances: an error this small is one of rounding, wherever it is
LEAST_TERM = 5e-5  # of a sum: one of 20,000 equal terms. Less is lost by rounding
FEW = 6  # elements: too few to speak of precision
LEAST_COUNT = 8  # a factor below may well be another number's


def untouched(e: Evidence) -> Diagnosis | None:
    """Every element is as it was before the launch."""
    if e.unwritten.all() and not e.stored_is_known:
        message = f"{e.all_of} {e.never_written(False)}: {OR_UNFILLED}."
        return Diagnosis(kinds.NOTHING_WRITTEN, message, Slip.LOOKS_UNWRITTEN)
    if e.unwritten.all():
        what = "no element" if e.actual.size > 1 else "the one element"
        was = "was" if e.actual.size > 1 else "was not"
        return Diagnosis(kinds.NOTHING_WRITTEN, f"{what} of {e.name} {was} written.")
    return None


def from_unwritten(e: Evidence) -> Diagnosis | None:
    """Integers near the pattern of memory that was never written."""
    if is_inexact(e.actual) or not e.carried[e.wrong].any():
        return None
    if not (e.carried | e.unwritten)[e.wrong].all():
        return None
    made = "was made from memory that hasn't been written"
    message = f"{e.wrong_ones} {made}. On the emulator each byte there is 0x{CANARY:02X}."
    return Diagnosis(kinds.WRONG, message, Slip.UNWRITTEN_MEMORY)


def zero(e: Evidence) -> Diagnosis | None:
    """Every element is 0."""
    if not np.any(np.isfinite(wide(e.expected)) & (e.expected != 0)):
        return None  # zeros for NaN and infinities of the input: these were left out
    if not np.any(e.actual):
        return Diagnosis(kinds.ALL_ZEROS, f"{e.all_of} is 0.")
    return None


def not_a_number(e: Evidence) -> Diagnosis | None:
    """NaN where none is expected, made from numbers or from memory without any."""
    if not e.strange_nan.any():
        return None
    count, size = int(e.strange_nan.sum()), e.actual.size
    which = e.all_of if count == size else f"{count} of {size} elements of {e.name}"
    verb = "are" if 1 < count < size else "is"
    if e.carried[e.strange_nan].all():
        made = "made from memory that hasn't been written"
        message = f"{which} {verb} NaN (not a number), {made}."
        return Diagnosis(kinds.NOT_A_NUMBER, message, Slip.UNWRITTEN_MEMORY)
    return Diagnosis(kinds.NOT_A_NUMBER, f"{which} {verb} NaN (not a number).")


def scaled(e: Evidence) -> Diagnosis | None:
    """Every element is off by one factor."""
    use = (e.expected != 0) & (e.actual != 0)
    if is_inexact(e.expected):
        use &= np.isfinite(e.expected)
    if e.actual.dtype.kind == "b" or use.sum() < 3 or e.alike(e.expected[use]):
        return None  # of too few numbers, or of equal ones, each is some factor off
    slight = SLIGHT * e.tolerance.rtol if e.tolerance.rtol else PRECISION_LIMIT
    with np.errstate(all="ignore"):
        factor = float(np.median((e.actual[use] / e.expected[use]).real))
        if not np.isfinite(factor) or not factor:
            return None
        if abs(factor - 1) <= min(slight, PRECISION_LIMIT):
            return None
        if not e.close(e.actual / factor, e.expected).all():
            return None
    if abs(factor + 1) < 1e-6:
        message = f"every element of {e.name} has the wrong sign."
        return Diagnosis(kinds.SCALED, message, Slip.WRONG_SIGN)
    message = f"every element of {e.name} is {factor:.4g} times the expected one"
    if counted := _count_like(e, factor):
        count, of_what = counted
        shown = f"{count}" if factor > 1 else f"1 / {count}"
        message += f". {shown}: {e.name} has {count} {of_what}"
        return Diagnosis(kinds.SCALED, f"{message}.", Slip.COUNT_AS_FACTOR)
    if named := factor_named(e, factor):
        return Diagnosis(kinds.SCALED, f"{message}: {named[0]}.", named[1])
    return Diagnosis(kinds.SCALED, f"{message}.")


def _count_like(e: Evidence, factor: float) -> tuple[int, str] | None:
    """A number of elements, rows or columns that ``factor`` is, or is 1 over: and its words."""
    shape = e.actual.shape
    counts = [(e.actual.size, "elements")]
    if len(shape) > 1:
        counts += [(size, e.axis_name(axis, several=True)) for axis, size in enumerate(shape)]
    for count, words in counts:
        if count >= LEAST_COUNT and any(abs(factor / f - 1) < 1e-3 for f in (count, 1 / count)):
            return count, words
    return None


def imprecise(e: Evidence) -> Diagnosis | None:
    """Nearly right, in enough elements."""
    actual, expected = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
    if e.actual.dtype.kind == "b":
        return None
    if not is_inexact(e.actual) and not is_inexact(e.expected):
        spread = float(e.expected.max()) - float(e.expected.min())
        near = np.abs(actual - expected) <= 1
        # Wider integers are counts and indices, which nothing rounds.
        rounded = min(e.actual.dtype.itemsize, e.expected.dtype.itemsize) <= 2
        if rounded and spread >= 32 and near.all():
            return Diagnosis(
                kinds.PRECISION,
                f"{e.name} is wrong by 1 in places: rounded another way, or a factor is slightly "
                "off.",
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
    if (e.actual.size < FEW and not tiny.all()) or (e.alike(e.expected) and not slight.all()):
        return None
    # A few elements far outside the tolerance are another mistake that happens to be small.
    if not near.all() or (e.wrong.mean() < SPREAD and not slight.all()):
        return None
    return Diagnosis(
        kinds.PRECISION,
        f"{e.name} is close, but further from the expected values than rounding explains.",
    )
