"""What is known about a wrong array, and the words for its parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .error_kinds import Slip
from .indices import axis_names, plural
from .tolerance import Tolerance

MUCH = 0.3  # share of the elements that another order leaves wrong at least
UNLIKELY = 1e-3  # what happens by chance less often than this is evidence
PAIRS = 4096  # of expected elements, compared to see how often two of them agree


@dataclass(frozen=True)
class Diagnosis:
    """A kind of mistake, a sentence about it, and where there is one its :class:`Slip`."""

    kind: str
    message: str
    slip: Slip | None = None


@dataclass(frozen=True)
class Evidence:
    """Two arrays of one shape and what is known about them.

    ``wrong`` marks wrong elements, ``unwritten`` those that still hold what they held before the
    launch, ``strange_nan`` those that became NaN in the kernel although no NaN is expected, and
    ``carried`` those of them that carry the NaN of memory that was never written. ``axes`` are the
    names of the axes, none for an array's own. ``inputs`` are the kernel's by name, where known.
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

    def close(self, actual: np.ndarray, expected: np.ndarray) -> np.ndarray:
        """Whether each number is within the tolerance: bool, the arrays' shape."""
        near: np.ndarray = self.tolerance.close(actual, expected)
        return near

    def alike(self, values: np.ndarray) -> bool:
        """Are all ``values`` the same, as far as the tolerance tells?"""
        return bool(self.close(values, np.full_like(values, values.reshape(-1)[0])).all())

    def is_luck(self, explained: int, tries: int = 1) -> bool:
        """Could ``explained`` elements agree with another arrangement by chance, in one of
        ``tries``? Equal numbers agree anywhere."""
        flat = self.expected.reshape(-1)
        if flat.size < 2:
            return True
        pairs = np.random.default_rng(0).integers(0, flat.size, (2, PAIRS))
        left, right = pairs[:, pairs[0] != pairs[1]]
        agree = max(float(self.close(flat[left], flat[right]).mean()), 1 / flat.size)
        return bool(tries * agree**explained > UNLIKELY)

    def explains(self, actual: np.ndarray, expected: np.ndarray, enough: float = 0.9) -> bool:
        """A rearrangement explains the result when it makes nearly all right, and much was
        wrong."""
        much = self.wrong.sum() > 1 and self.wrong.mean() > MUCH
        return bool(much and self.close(actual, expected).mean() >= enough)

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

    def axis_name(self, axis: int, several: bool = False) -> str:
        """What is along ``axis``, in the singular or for ``several`` of it."""
        name = (self.axes or axis_names(self.actual.ndim))[axis]
        return plural(name) if several else name
