"""Traits that all wrong elements share, wherever they are."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from .. import error_kinds as kinds
from ..error_kinds import Slip
from ..evidence import HARDLY, UNLIKELY, Diagnosis, Evidence
from ..tolerance import wide
from ..verdict import format_value
from .moved import elsewhere

ENOUGH = 3  # wrong elements: of fewer, much is in common by chance
WIDTHS = (8, 16, 32)  # bits in which an integer may have been kept
RARE = 0.2  # of a value that fewer of the expected elements have, a wrong one isn't an accident
MOST_OFFSET = 1 << 20  # of integers
SMALL_SHARES = 8  # the largest denominator of a share that isn't chance
MANY = 100  # an integer from here on is hardly such a share by chance
BLOCK_SIZES = (32, 64, 128, 256, 512, 1024)
MOST_PERIOD = 32  # of the indices that are tried one by one
AS_LARGE = 0.98  # of the largest number of a type
MOST_PERIODS = 256  # after which an expected result is tried to start again


def kept(e: Evidence) -> tuple[str, Slip] | None:
    """The old value, in elements that a thread stored to."""
    if e.kept is None or not e.kept[e.wrong].all():
        return None
    if e.actual.dtype.kind in "fc" and np.isnan(e.expected[e.wrong]).all():
        return None  # nothing was added, where NaN should have been: see left_out
    return (
        f"{e.wrong_ones} holds its old value, although a thread stored to it.",
        Slip.OLD_VALUE,
    )


def zeros(e: Evidence) -> tuple[str, Slip] | None:
    """0, as it was before or as a neutral element that isn't one."""
    found, wanted = e.actual[e.wrong], e.expected[e.wrong]
    if e.actual.dtype.kind == "b" or found.any() or (e.expected == 0).mean() > RARE:
        return None
    if e.is_whole() and (1 + float(np.ptp(wide(e.expected)))) ** -len(found) > HARDLY:
        return None  # of a few small numbers, some are 0 by chance
    if len(found) < 2:
        return None
    right = e.expected[~e.wrong]
    if e.actual.dtype.kind in "if" and len(found) >= ENOUGH <= len(right):
        for sign, which, rest, name in (
            (1, "positive", "negative", "minimum"),
            (-1, "negative", "positive", "maximum"),
        ):
            signs = bool((wanted * sign > 0).all()) and bool((right * sign <= 0).all())
            if signs and (right * sign < 0).sum() >= ENOUGH:
                return (
                    f"{e.wrong_ones} is 0 where a {which} number is expected, and every {rest} one "
                    f"is right: a {name} that starts at 0 gives that, or a value cut off at 0.",
                    Slip.NEUTRAL,
                )
    return f"{e.wrong_ones} is 0.", Slip.ZEROS


def restarted(e: Evidence) -> tuple[str, Slip] | None:
    """The values of the first block of elements, again and again."""
    if e.actual.ndim > 1 or e.wrong.sum() <= ENOUGH:
        return None
    flat, first = e.actual, int(np.argmax(e.wrong))
    for block in BLOCK_SIZES:
        if (
            block > first
            or e.alike(flat[:block])
            or (flat != np.resize(flat[:block], flat.size)).any()
        ):
            continue
        if period := _period(e.expected):
            return (
                f"{e.wrong_ones} holds the value of one in the first {block}: the numbers start "
                f"again after each {block}, and should after each {period}.",
                Slip.OTHER_PERIOD,
            )
        return (
            f"{e.wrong_ones} holds the value of one in the first {block}: the numbers start again "
            f"after each {block}, as threadIdx does in each block.",
            Slip.BLOCK_INDEX_MISSING,
        )
    return None


def _period(expected: np.ndarray) -> int:
    """After how many elements the expected numbers start again, 0 where they don't."""
    candidates = np.flatnonzero(expected[: expected.size // 2 + 1] == expected[0])[1:]
    for period in candidates[:MOST_PERIODS].tolist():
        if (expected[period:] == expected[:-period]).all():
            return int(period)
    return 0


def wrapped(e: Evidence) -> tuple[str, Slip] | None:
    """Too large for the type, or for one on the way."""
    if e.actual.dtype.kind not in "iu" or e.expected.dtype.kind not in "iu":
        return None
    found, wanted = e.actual[e.wrong].astype(object), e.expected[e.wrong].astype(object)
    for bits in reversed(WIDTHS):  # a remainder of the widest is one of the others, too
        if len(found) < 2 and bits == 8:
            continue
        size = 1 << bits
        outside = bool(((wanted < -size // 2) | (wanted >= size // 2)).all())
        beyond = bool(((wanted < 0) | (wanted >= size)).all())
        unsigned = beyond and bool(((found >= 0) & (found < size)).all())
        signed = outside and bool(((found >= -size // 2) & (found < size // 2)).all())
        if (unsigned or signed) and not ((wanted - found) % size).any() and found.any():
            return (
                f"{e.wrong_ones} keeps only the low {bits} bits of its value: the remainder "
                f"after a division by {size:,}.",
                Slip.WRAPPED,
            )
    limits = np.iinfo(e.actual.dtype)
    for limit in (limits.max, limits.min):
        share = float((e.expected == limit).mean())
        if limit and (wanted == limit).all() and share ** len(found) < UNLIKELY:
            return (
                f"{e.wrong_ones} should be {limit}, the limit of {e.actual.dtype}, and all others "
                "are right: a value beyond the limit isn't clipped, it wraps around.",
                Slip.WRAPPED,
            )
    return None


def left_out(e: Evidence) -> tuple[str, Slip] | None:
    """Finite, where a NaN or an infinity of the input should have come through."""
    if e.actual.dtype.kind != "f" or not np.isfinite(e.actual[e.wrong]).all():
        return None
    wanted = e.expected[e.wrong]
    for name, there in (("NaN", np.isnan(wanted)), ("infinite", np.isinf(wanted))):
        if there.all():
            return f"{e.wrong_ones} should be {name} and is a number like others.", Slip.LEFT_OUT
    return None


def start_value(e: Evidence) -> tuple[str, Slip] | None:
    """The limit of the type where the minimum or the maximum of some inputs is expected."""
    found, wanted = e.actual[e.wrong], e.expected[e.wrong]
    limit = found[0]
    if e.actual.dtype.kind not in "iuf" or not (found == limit).all() or not _is_limit(limit):
        return None
    for values in e.operands.values():
        known = values.size >= e.expected.size and np.isin(wanted, values).all()
        if not known or np.isin(limit, values) or not values.size:
            continue
        is_maximum = bool(np.median(wide(e.expected)) >= np.median(wide(values)))
        which = "maximum" if is_maximum else "minimum"
        shown = format_value(limit)
        if (limit > wanted).all() != is_maximum:
            sentence = (
                f"{e.wrong_ones} is {shown}: a {which} may start there, and nothing was compared"
            )
            return f"{sentence}.", Slip.START_ALONE
        wins = "larger" if is_maximum else "smaller"
        sentence = f"{e.wrong_ones} is {shown}, {wins} than every number: it wins in a {which}"
        return f"{sentence}, which can't start with it.", Slip.START_VALUE
    return None


def _is_limit(number: Any) -> bool:
    """Whether a number is infinite, or near the largest or the smallest of its type."""
    dtype = number.dtype
    if dtype.kind == "f":
        largest = np.finfo(np.float16 if dtype.itemsize == 2 else np.float32).max
        return not np.isnan(number) and abs(float(number)) >= AS_LARGE * float(largest)
    limits = np.iinfo(dtype)
    return int(number) in (limits.min, limits.max) and bool(number)


def infinite(e: Evidence) -> tuple[str, Slip] | None:
    """Infinite where a finite number is expected."""
    if e.actual.dtype.kind not in "fc" or not np.isinf(e.actual[e.wrong]).all():
        return None
    if not np.isfinite(e.expected[e.wrong]).all():
        return None
    return f"{e.wrong_ones} is infinite.", Slip.INFINITE


def same_factor(e: Evidence) -> tuple[str, Slip] | None:
    """One factor off."""
    found, wanted = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
    least = ENOUGH if e.wrong.size > 2 * ENOUGH else ENOUGH + 1
    if not wanted.all() or e.actual.dtype.kind == "b" or len(found) < least - 1:
        return None
    with np.errstate(all="ignore"):
        ratio = found / wanted
        factor = complex(np.median(ratio.real)).real
        if not np.isfinite(factor) or not factor or not e.close(found, wanted * factor).all():
            return None
    plain = {2.0: "twice", 0.5: "half"}.get(round(factor, 6))
    if len(found) < least and (not plain or e.is_whole()):
        return None
    if e.alike(e.expected[e.wrong]):
        return None
    if abs(factor + 1) < 1e-6:
        return f"{e.wrong_ones} has the wrong sign.", Slip.WRONG_SIGN
    much = plain if plain else f"{factor:.4g} times"
    return f"{e.wrong_ones} is {much} the expected one.", Slip.SAME_FACTOR


def offset(e: Evidence) -> tuple[str, Slip] | None:
    """One number too many, the same everywhere."""
    if e.actual.dtype.kind not in "iuf" or e.wrong.sum() <= ENOUGH or e.alike(e.expected[e.wrong]):
        return None
    found, wanted = wide(e.actual[e.wrong]), wide(e.expected[e.wrong])
    if len(np.unique(wanted)) <= ENOUGH or not np.isfinite(found - wanted).all():
        return None
    by = float(np.median(found - wanted))
    if not by or not e.close(found, wanted + by).all():
        return None
    if e.actual.dtype.kind != "f" and abs(by) > MOST_OFFSET:
        return None  # of packed bits and hashes a difference says nothing
    slip = Slip.OFFSET if e.actual.dtype.kind == "f" else Slip.OFFSET_OF_INTEGERS
    return f"{e.wrong_ones} is {abs(by):.4g} too {'large' if by > 0 else 'small'}.", slip


def same_value(e: Evidence) -> tuple[str, Slip] | None:
    """One value, which hardly any element should have."""
    found = e.actual[e.wrong]
    if len(found) < ENOUGH or e.actual.dtype.kind == "b" or not (found == found[0]).all():
        return None
    if e.alike(e.expected) or float((e.expected == found[0]).mean()) > RARE:
        return None
    if not e.wrong.all() and len(found) <= ENOUGH:
        return None
    near = e.is_whole() and e.expected.min() <= found[0] <= e.expected.max()
    if near and (1 + float(np.ptp(wide(e.expected)))) ** (1 - len(found)) > HARDLY:
        return None
    return f"{e.wrong_ones} holds the same value, {format_value(found[0])}.", Slip.SAME_VALUE


SHARED = (
    kept,
    left_out,
    zeros,
    restarted,
    wrapped,
    start_value,
    infinite,
    same_factor,
    offset,
    same_value,
    elsewhere,
)


def shared(e: Evidence) -> tuple[str, Slip] | None:
    """A trait that all wrong elements share, as a sentence, or None."""
    return next(filter(None, (test(e) for test in SHARED)), None)


def describe_wrong(e: Evidence) -> Diagnosis:
    """Wrong elements that have nothing in common."""
    if e.actual.size > 1:
        every = f"{e.all_of} is wrong" if e.wrong.all() else f"some elements of {e.name} are wrong"
        if count := int(e.unwritten.sum()):
            every += f", and {count} of {e.wrong.size} {e.never_written(count > 1)}"
        return Diagnosis(kinds.WRONG, f"{every}.")
    if share := _fraction(e):
        message = f"{e.all_of} is {share} of the expected one."
        return Diagnosis(kinds.WRONG, message, Slip.TERMS_MISSING)
    if factor := _multiple(e):
        message = f"{e.all_of} is {factor} times the expected one."
        return Diagnosis(kinds.WRONG, message, Slip.COUNTED_AGAIN)
    if off := _share(e):
        return Diagnosis(kinds.WRONG, f"{e.all_of} is {off}: more than its rounding explains.")
    return Diagnosis(kinds.WRONG, f"{e.all_of} is wrong.")


def _fraction(e: Evidence) -> str:
    """``2/3`` where a single number is that share of another, and hardly by chance."""
    got, wanted = e.actual.reshape(-1)[0], e.expected.reshape(-1)[0]
    if e.actual.dtype.kind not in "iuf" or not np.isfinite([got, wanted]).all():
        return ""
    if not got or not wanted:
        return ""
    if e.is_whole() and min(abs(float(got)), abs(float(wanted))) < MANY:
        return ""
    share = Fraction(float(got) / float(wanted)).limit_denominator(SMALL_SHARES)
    if not 0 < share < 1:
        return ""
    near = e.close(np.array([float(share) * float(wanted)]), wide(e.actual.reshape(-1)))
    return str(share) if near.all() else ""


def _multiple(e: Evidence) -> int:
    """2 where a single number is twice the expected one, or another number that counts launches,
    lanes or threads. 0 where it is none, or may be by chance."""
    got, wanted = wide(e.actual).item(), wide(e.expected).item()
    if e.actual.dtype.kind not in "iuf" or not np.isfinite([got, wanted]).all() or not wanted:
        return 0
    if e.is_whole() and abs(wanted) < MANY:
        return 0
    ratio = got / wanted
    factor = round(ratio) if 1 < ratio <= 1024 else 0
    if factor > SMALL_SHARES and factor & (factor - 1):
        return 0
    near = factor > 1 and e.close(np.array([got / factor]), np.array([wanted])).all()
    return factor if near else 0


def _share(e: Evidence) -> str:
    """By how much a single number is off, where that is little, nothing where it is much."""
    got, wanted = wide(e.actual).item(), wide(e.expected).item()
    if e.expected.dtype.kind not in "fc":
        return ""  # of a count or an index a little is as wrong as much
    if not np.isfinite(got) or not np.isfinite(wanted) or not wanted:
        return ""
    off = abs(got - wanted) / abs(wanted)
    if off > 0.1:
        return ""
    return f"{100 * off:.2g} % {'larger' if abs(got) > abs(wanted) else 'smaller'} than expected"


def is_located(kind: str) -> bool:
    """Whether ``kind`` says where the wrong elements are and nothing about their values."""
    return kind in (kinds.WRONG, kinds.EDGES, kinds.FIRST_BLOCK)
