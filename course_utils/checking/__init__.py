"""`check`: compare a result with the expected one, and name the mistake."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..devices.last_launches import Launched, launches_on
from . import error_kinds
from .evidence import Diagnosis, Evidence
from .heat_maps import map_of
from .host_copies import host_copy
from .hypotheses import classify
from .indices import at_index
from .never_written import raw_bytes, unset
from .on_device import difference
from .tolerance import BFLOAT16_ROUNDOFF, is_inexact, tolerance_for, unit_roundoff
from .verdict import CheckFailed, FirstWrong, Verdict

__all__ = ["CheckFailed", "Verdict", "check", "difference", "judge", "raw_bytes", "to_numpy"]


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
    ``initial`` is the content of ``actual`` before the launch, an array or one value. Elements that
    still hold it count as never written. Without it, that is the content of ``cp.empty`` on the
    emulator, or the NaN of NumPy.

    The verdict on a wrong result ends with the call of ``sanitize`` that examines the last kernel
    that may have written it. If a fault ended that launch, the fault is the next step. The line of
    a passing verdict is the same on every device and carries no measured number. On the emulator a
    warning names a kernel whose right result an earlier version left.

    Raises :class:`CheckFailed`, which shows the verdict and no traceback, unless ``raising`` is
    False. Raises ValueError when ``expected`` is empty or all zeros, since every kernel that writes
    nothing would pass.
    """
    launches = launches_on(actual)
    verdict = judge(
        actual,
        expected,
        rtol=rtol,
        atol=atol,
        reduction=reduction,
        name=name,
        initial=initial,
        launches=launches,
    )
    verdict = _with_launch(verdict, launches[-1] if launches else None)
    if verdict.passed and launches and launches[-1].changed_nothing:
        print(
            f"warning: the last launch of {launches[-1].kernel} changed nothing in {name}, which "
            "held this result before, from a launch of other code. Fill the array, or create it "
            "again, and launch again.",
            file=sys.stderr,
        )
    if raising and not verdict.passed:
        raise CheckFailed(verdict)
    return verdict


def _with_launch(verdict: Verdict, launched: Launched | None) -> Verdict:
    """``verdict`` with the call that examines the kernel of a wrong result. After a launch that a
    fault ended there is no other step."""
    if launched is None or verdict.kind in error_kinds.WITHOUT_NUMBERS:
        return verdict
    call = launched.as_sanitized
    if launched.faulted:
        ended = f"The launch of {launched.kernel} ended with a fault"
        hint = f"{ended}: fix that first. {call} shows it."
        return replace(verdict, hint=hint)
    if verdict.kind in error_kinds.OF_THE_FORMULA:
        return verdict
    if verdict.slip is not None and verdict.slip.is_of_the_formula:
        return verdict
    if error_kinds.SANITIZE in verdict.hint:
        return replace(verdict, hint=verdict.hint.replace(error_kinds.SANITIZE, call))
    examined = f"{call} looks for a race or a read out of bounds."
    return replace(verdict, hint=f"{verdict.hint} {examined}")


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
    axes: Sequence[str] = (),
    order: str = "C",
    inputs: Mapping[str, Any] | None = None,
    launches: Sequence[Launched] = (),
    stored: np.ndarray | None = None,
) -> Verdict:
    """As :func:`check`, but always returns the verdict. With ``zeros`` all zeros may be expected,
    where ``initial`` tells them from what was never written. ``poisoned``: ``initial`` is no value
    that is ever computed, so what still holds it is wrong, be NaN expected there or not. ``exact``:
    the numbers must be equal, zeros down to their sign. ``stored`` marks the elements that some
    thread stored to, even if they hold their old values: bool, the shape of ``actual``.

    ``axes`` names the axes, such as ``("query", "key")``. Without it the last two are rows and
    columns. ``order="F"`` is for a matrix stored by columns, whose array has the shape (columns,
    rows): the verdict then speaks of (row, column), and ``axes`` are in that order. ``inputs`` are
    the kernel's by name: the verdict shows those at the first wrong index, and looks for the terms
    that a sum left out. ``launches`` are those that may have written ``actual``, in order: their
    shapes and arrays are evidence. Raises ValueError where ``axes`` are as many as no array's.
    """
    got, got_roundoff = to_numpy(actual)
    want, want_roundoff = to_numpy(expected)
    if not zeros:
        _refuse_empty_checks(want, name)
    if got.shape != want.shape:
        return _wrong_shape(got, want, name)
    if (got.dtype.kind in "fc") != (want.dtype.kind in "fc") or "c" in _one_complex(got, want):
        message = f"{name} has dtype {got.dtype}, expected {want.dtype}."
        return _without_numbers(error_kinds.WRONG_DTYPE, message, name)
    got, want = np.atleast_1d(got), np.atleast_1d(want)
    if axes and len(axes) != got.ndim:
        raise ValueError(f"axes={tuple(axes)} for an array of {got.ndim} dimensions")
    if exact:
        rtol = atol = 0.0
    tolerance = tolerance_for(want, max(got_roundoff, want_roundoff), reduction, rtol, atol)
    wrong = tolerance.wrong(got, want)
    if exact and got.dtype.kind == "f":
        wrong |= (got == 0) & (np.signbit(got) != np.signbit(want))
    if not wrong.any() and not poisoned:
        return Verdict(error_kinds.PASS, f"{name} is right.", name=name, total=got.size)
    before = None if initial is None else host_copy(initial)
    masks = unset(actual, np.atleast_1d(host_copy(actual)), want, before)
    if poisoned and is_inexact(got):
        wrong |= masks.unwritten
    if not wrong.any():
        return Verdict(error_kinds.PASS, f"{name} is right.", name=name, total=got.size)

    def seen(array: np.ndarray) -> np.ndarray:
        """As the verdict names it: a matrix stored by columns is seen by rows."""
        return array.swapaxes(-1, -2) if order == "F" and array.ndim > 1 else array

    got, want, wrong = seen(got), seen(want), seen(wrong)
    first = int(np.argmax(wrong))
    unwritten = kept = seen(masks.unwritten) & wrong
    if stored is not None:
        by_a_store = seen(np.reshape(stored, masks.unwritten.shape))
        unwritten, kept = unwritten & ~by_a_store, kept & by_a_store
    given = {} if inputs is None or order == "F" else inputs
    evidence = Evidence(
        got,
        want,
        wrong,
        unwritten,
        seen(masks.strange),
        seen(masks.carried),
        tolerance,
        name,
        tuple(axes),
        given,
        poisoned or stored is not None or (before is not None and not np.isnan(before).any()),
        () if order == "F" else tuple(launches),
        max(got_roundoff, want_roundoff),
        None if stored is None else kept,
    )
    if tolerance.wrong(got, want).any() or unwritten.any():
        found = classify(evidence)
    else:
        found = Diagnosis(error_kinds.WRONG, f"a zero of {name} has the wrong sign: -0 isn't 0.")
    index = tuple(int(i) for i in np.unravel_index(first, wrong.shape))
    return Verdict(
        found.kind,
        found.message,
        error_kinds.next_step(found.kind, found.slip),
        name,
        FirstWrong(
            index,
            want[index],
            got[index],
            axes=tuple(axes),
            inputs=at_index(index, wrong.shape, given),
        ),
        int(wrong.sum()),
        wrong.size,
        map_of(wrong, unwritten, tuple(axes)),
        slip=found.slip,
        unwritten=int(unwritten.sum()),
    )


def to_numpy(array: Any) -> tuple[np.ndarray, float]:
    """Any array as a NumPy array, and the unit roundoff of its dtype (bfloat16 becomes float32).
    Raises TypeError for an array of anything but numbers."""
    if str(getattr(array, "dtype", "")) == "torch.bfloat16":
        return array.detach().cpu().float().numpy(), BFLOAT16_ROUNDOFF
    array = host_copy(array)
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
    *others, size = want.shape or (0,)
    if "c" in (got.dtype.kind, want.dtype.kind) and got.shape == (*others, size // 2 + 1):
        message += f" A real transform (rfft, R2C) gives n / 2 + 1 of n = {size} frequencies."
        slip = error_kinds.Slip.HALF_SPECTRUM
        return replace(
            _without_numbers(error_kinds.WRONG_SHAPE, message, name),
            slip=slip,
            hint=error_kinds.SLIP_STEP[slip],
        )
    return _without_numbers(error_kinds.WRONG_SHAPE, message, name)


def _without_numbers(kind: str, message: str, name: str) -> Verdict:
    return Verdict(kind, message, error_kinds.NEXT_STEP[kind], name)


def _one_complex(got: np.ndarray, want: np.ndarray) -> str:
    """The dtype kinds when exactly one of the two is complex, otherwise nothing."""
    pair = got.dtype.kind + want.dtype.kind
    return pair if pair.count("c") == 1 else ""
