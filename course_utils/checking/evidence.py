"""The evidence about a wrong array, and the words for its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..devices.last_launches import Launched
from .error_kinds import Slip
from .host_copies import host_copy
from .indices import axis_names, plural
from .tolerance import Tolerance

MUCH = 0.3  # share of the elements that another order leaves wrong at least
ENOUGH = 0.9  # share of elements that another order explains at least
HARDLY = 0.02  # a chance, small enough where little depends on it
UNLIKELY = 1e-3  # a chance that is smaller is evidence
OR_UNFILLED = "no thread stores there, or what a thread stores there (or adds to) was never filled"
MOST_OF_OPERANDS = 1 << 22  # elements of an array that is copied to the host as evidence
PAIRS = 4096  # of expected elements, compared to see how often two of them agree


@dataclass(frozen=True)
class Diagnosis:
    """A kind of mistake, a sentence about it, and where there is one its :class:`Slip`."""

    kind: str
    message: str
    slip: Slip | None = None


@dataclass(frozen=True)
class Evidence:
    """Two arrays of one shape and all that is known about them.

    ``wrong`` marks wrong elements, ``unwritten`` those that are as they were before the
    launch, ``strange_nan`` those that became NaN in the kernel although no NaN is expected, and
    ``carried`` the ones among them, and the integers, that come from memory never written. ``axes``
    are the names of the axes, none for an array's own. ``inputs`` are the kernel's by name, where
    known. ``stored_is_known``: a store would have changed each element that is ``unwritten``, so
    none was stored there. ``launches`` are those that may have written the result, in order, and
    ``roundoff`` is the unit roundoff of its dtype. ``kept`` marks wrong elements that hold their
    old value although a thread stored to them, None where that isn't known.
    """

    actual: np.ndarray
    expected: np.ndarray
    wrong: np.ndarray
    unwritten: np.ndarray
    strange_nan: np.ndarray
    carried: np.ndarray
    tolerance: Tolerance
    name: str
    axes: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    stored_is_known: bool = False
    launches: tuple[Launched, ...] = ()
    roundoff: float = 0.0
    kept: np.ndarray | None = None

    @cached_property
    def untouched(self) -> bool:
        """Whether each wrong element is 0, or as it was before the launch: no thread computed it,
        as far as the numbers show."""
        wrong = self.wrong
        return bool(self.unwritten[wrong].all()) or not self.actual[wrong].any()

    @cached_property
    def operands(self) -> dict[str, np.ndarray]:
        """The inputs, or the arrays of the last launch as they are now, on the host. They may have
        changed since: evidence is only what gives the expected result."""
        arrays = self.inputs
        if not arrays and self.launches:
            launched = self.launches[-1].arrays()
            arrays = {k: a for k, a in launched.items() if np.prod(a.shape) <= MOST_OF_OPERANDS}
        found = {name: host_copy(array) for name, array in arrays.items()}
        return {name: array for name, array in found.items() if array.dtype.kind in "biuf"}

    def close(self, actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Whether each number is within the tolerance: bool, the arrays' shape."""
        near: np.ndarray = self.tolerance.close(actual, expected)
        return near

    def alike(self, values: np.ndarray) -> bool:
        """Are all ``values`` the same, within the tolerance?"""
        return bool(self.close(values, np.full_like(values, values.reshape(-1)[0])).all())

    @cached_property
    def agreement(self) -> float:
        """How often two elements of the expected result are the same: 0 to 1."""
        flat = self.expected.reshape(-1)
        pairs = np.random.default_rng(0).integers(0, flat.size, (2, PAIRS))
        left, right = pairs[:, pairs[0] != pairs[1]]
        agree = float(self.close(flat[left], flat[right]).mean()) if len(left) else 1.0
        return max(agree, 1 / PAIRS)

    def is_luck(self, explained: int, tries: int = 1, unlikely: float = UNLIKELY) -> bool:
        """Could ``explained`` elements agree with another order by chance, in one of ``tries``?
        Equal numbers agree anywhere."""
        return tries * self.agreement**explained > unlikely

    def explains(self, actual: np.ndarray, expected: np.ndarray) -> bool:
        """A rearrangement explains the result when it makes nearly all right, and much was
        wrong."""
        wrong = int(self.wrong.sum())
        if wrong < 2 or self.wrong.mean() <= MUCH or self.is_luck(wrong, unlikely=HARDLY):
            return False
        return bool(self.close(actual, expected).mean() >= ENOUGH)

    def is_whole(self) -> bool:
        """Whether all expected numbers are integers, of whatever dtype."""
        if self.expected.dtype.kind in "iub":
            return True
        if self.expected.dtype.kind == "c" or not np.isfinite(self.expected).all():
            return False
        return bool((self.expected == np.round(self.expected)).all())

    @property
    def all_of(self) -> str:
        """``every element of c``, or ``the one element of c``."""
        one = self.actual.size == 1
        return f"the one element of {self.name}" if one else f"every element of {self.name}"

    @property
    def wrong_ones(self) -> str:
        """``all 12 wrong elements of c``, the subject of a sentence about them."""
        count = int(self.wrong.sum())
        if self.wrong.all():
            return self.all_of
        return (
            f"the wrong element of {self.name}"
            if count == 1
            else f"each of the {count} wrong elements of {self.name}"
        )

    def never_written(self, several: bool) -> str:
        """What to say of elements that are ``unwritten``, or of one."""
        if self.stored_is_known:
            return "were never written" if several else "was never written"
        return "look never written" if several else "looks never written"

    def axis_name(self, axis: int, several: bool = False) -> str:
        """The name of ``axis``, in the singular or for ``several`` of it."""
        name = (self.axes or axis_names(self.actual.ndim))[axis]
        return plural(name) if several else name
