"""`check`: compare a result with what it should be, and say precisely what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import error_kinds
from .classification import Evidence, classify
from .on_device import difference
from .tolerance import BFLOAT16_ROUNDOFF, is_inexact, tolerance_for, unit_roundoff
from .verdict import CheckFailed, FirstWrong, Verdict, heat_map

__all__ = ["CheckFailed", "Verdict", "check", "difference", "judge", "to_numpy"]


def check(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    reduction: int = 1,
    name: str = "output",
    initial: Any = None,
    raising: bool = True,
) -> Verdict:
    """Compare ``actual`` with ``expected`` and return a :class:`Verdict`.

    Both may be NumPy, CuPy or torch arrays of any one shape, or plain numbers. ``reduction`` is how
    many terms each element sums (K for a matrix product); it widens the tolerance as
    :mod:`course_utils.checking.tolerance` explains, unless ``rtol`` or ``atol`` say otherwise.
    ``initial`` is what ``actual`` held before the launch (an array or one value): elements that
    still hold it count as never written. Without it, that is NaN as an empty array holds it.

    The line of a passing verdict is the same on every device and carries no measured number.
    Raises :class:`CheckFailed`, which shows the verdict and no traceback, unless ``raising`` is
    False; ValueError when ``expected`` is empty or all zeros, since every kernel that writes
    nothing would pass.
    """
    verdict = judge(
        actual, expected, rtol=rtol, atol=atol, reduction=reduction, name=name, initial=initial
    )
    if raising and not verdict.passed:
        raise CheckFailed(verdict)
    return verdict


def judge(
    actual: Any,
    expected: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    reduction: int = 1,
    name: str = "output",
    initial: Any = None,
    zeros: bool = False,
    poisoned: bool = False,
    exact: bool = False,
) -> Verdict:
    """As :func:`check`, but always returns the verdict. With ``zeros`` all zeros may be expected,
    where ``initial`` tells them from what was never written. ``poisoned``: ``initial`` is no value
    that is ever computed, so what still holds it is wrong, be NaN expected there or not. ``exact``:
    the numbers must be equal, zeros down to their sign."""
    got, got_roundoff = to_numpy(actual)
    want, want_roundoff = to_numpy(expected)
    if not zeros:
        _refuse_empty_checks(want, name)
    if got.shape != want.shape:
        return _wrong_shape(got, want, name)
    if (got.dtype.kind in "fc") != (want.dtype.kind in "fc") or "c" in _one_complex(got, want):
        message = f"{name} has dtype {got.dtype}, expected {want.dtype}."
        return Verdict(
            error_kinds.WRONG_DTYPE, message, error_kinds.NEXT_STEP[error_kinds.WRONG_DTYPE], name
        )
    if exact:
        rtol = atol = 0.0
    tolerance = tolerance_for(want, max(got_roundoff, want_roundoff), reduction, rtol, atol)
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    wrong = tolerance.wrong(got, want)
    if exact and got.dtype.kind == "f":
        wrong |= (got == 0) & (np.signbit(got) != np.signbit(want))
    unwritten, strange = _never_written(got, want, initial)
    if poisoned and is_inexact(got):
        wrong |= unwritten
    if not wrong.any():
        return Verdict(error_kinds.PASS, f"{name} is right.", name=name, total=got.size)
    unwritten &= wrong
    if tolerance.wrong(got, want).any() or unwritten.any():
        kind, message = classify(Evidence(got, want, wrong, unwritten, strange, tolerance, name))
    else:
        kind, message = error_kinds.WRONG, f"a zero of {name} has the wrong sign: -0 is no 0."
    first = tuple(int(i) for i in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
    return Verdict(
        kind,
        message,
        error_kinds.NEXT_STEP[kind],
        name,
        FirstWrong(first, want[first], got[first]),
        int(wrong.sum()),
        wrong.size,
        heat_map(wrong, unwritten) if wrong.size > 1 else None,
    )


def to_numpy(array: Any) -> tuple[np.ndarray, float]:
    """Any array as a NumPy array, and the unit roundoff of its dtype (bfloat16 becomes float32)."""
    if hasattr(array, "detach"):  # torch
        array = array.detach().cpu()
        if str(array.dtype) == "torch.bfloat16":
            return array.float().numpy(), BFLOAT16_ROUNDOFF
        array = array.numpy()
    elif hasattr(array, "get") and hasattr(array, "dtype"):  # CuPy's, or the emulator's
        array = array.get()
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32), BFLOAT16_ROUNDOFF
    if array.dtype.kind not in "biufc":
        raise TypeError(f"check compares arrays of numbers, not of dtype {array.dtype}")
    return array, unit_roundoff(array.dtype)


def _refuse_empty_checks(expected: np.ndarray, name: str) -> None:
    if expected.size == 0:
        raise ValueError(f"nothing to check: the expected {name} has no element")
    if not np.any(expected):
        raise ValueError(
            f"the expected {name} is all zeros, so a kernel that computes nothing would pass: "
            "choose inputs with another result"
        )


def _wrong_shape(got: np.ndarray, want: np.ndarray, name: str) -> Verdict:
    message = f"{name} has shape {got.shape}, expected {want.shape}."
    if got.ndim == 2 and got.shape == want.shape[::-1]:
        message += " It may be transposed."
    return Verdict(
        error_kinds.WRONG_SHAPE, message, error_kinds.NEXT_STEP[error_kinds.WRONG_SHAPE], name
    )


def _one_complex(got: np.ndarray, want: np.ndarray) -> str:
    """The dtype kinds when exactly one of the two is complex, otherwise nothing."""
    pair = got.dtype.kind + want.dtype.kind
    return pair if pair.count("c") == 1 else ""


def _never_written(
    got: np.ndarray, want: np.ndarray, initial: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Masks: still as before the launch; turned into NaN by the kernel."""
    if not is_inexact(got):
        nan = np.zeros(got.shape, bool)
    else:
        nan = np.isnan(got) & ~np.isnan(want)
    if initial is None:  # an array that was just made holds NumPy's own NaN, computed ones differ
        if not is_inexact(got) or got.dtype.kind == "c":
            return nan, np.zeros(got.shape, bool)
        initial = np.array(np.nan, got.dtype)
    before = np.broadcast_to(np.asarray(to_numpy(initial)[0], got.dtype), got.shape)
    same = (raw_bytes(got) == raw_bytes(before)).all(axis=-1)
    return same, nan & ~same


def raw_bytes(array: np.ndarray) -> np.ndarray:
    """The raw bytes along a new last axis, so that one NaN can be told from another."""
    return np.ascontiguousarray(array)[..., None].view(np.uint8)
