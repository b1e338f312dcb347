"""The sizes of a contract: lengths that show mistakes, and the extents of shapes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import gcd, prod
from typing import Any, Self

import numpy as np

WHOLE = 1024  # a multiple of every block's length, and of a warp's
ROUNDED = 1000  # a longest extent from here on is stated in round numbers
# Around a warp and a block, primes, past the largest number of a short (32,767) and of an
# unsigned short (65,535).
LENGTHS = (1, 2, 31, 32, 33, 127, 255, 257, 769, 1025, 2053, 4099, 32771, 65543)


@dataclass(frozen=True)
class Sizes:
    """The sizes to draw from, smallest first, with the names of their extents. ``alone`` are
    extents longer than all of these, which are tried beside small ones only. ``limited`` are those
    whose longest is a limit of the task, beside powers of two, which always are."""

    names: tuple[str, ...]
    extents: tuple[tuple[int, ...], ...]
    alone: Mapping[str, int] = field(default_factory=dict)
    limited: frozenset[str] = frozenset()

    def with_outlier(self, **alone: int) -> Self:
        """The same sizes, and each of these extents where the others are small: past any array
        that is just long enough for the sizes drawn, at little cost. Raises ValueError
        for an extent that is drawn, or given, already."""
        for name, n in alone.items():
            if n <= self.extents[self.names.index(name)][-1]:
                raise ValueError(f"{name} = {n} is among the sizes drawn, or below them")
            if name in self.alone:
                raise ValueError(f"{name} has its longest already, {self.alone[name]}")
        return replace(self, alone={**self.alone, **alone})

    def limited_in(self, *names: str) -> Self:
        """The same sizes, where the task promises nothing longer of these extents than their
        longest: a power of two is such a limit without a word. Raises ValueError for no extent."""
        for name in names:
            self.names.index(name)
        return replace(self, limited=self.limited.union(names))

    def endless(self) -> list[int]:
        """The numbers of the extents that the task doesn't limit."""
        return [
            at
            for at, (name, most) in enumerate(zip(self.names, self.most(), strict=True))
            if name not in self.limited and most & (most - 1) and len(self.extents[at]) > 1
        ]

    def label(self, size: Any) -> str:
        """``size`` in words: "rows = 3, columns = 65"."""
        sizes = size if isinstance(size, tuple) else (size,)
        return ", ".join(f"{name} = {n}" for name, n in zip(self.names, sizes, strict=True))

    def range(self, others: Iterable[Any] = ()) -> str:
        """``n 1 to 60,000 and more``, for the task: of these sizes and of ``others``."""
        sizes = [np.broadcast_to(size, len(self.names)).tolist() for size in others]
        columns = zip(*sizes, strict=True) if sizes else [()] * len(self.names)
        limits = zip(self.names, self.extents, self.most(), columns, strict=True)
        return ", ".join(
            _from_to(name, (*values, most, *more)) for name, values, most, more in limits
        )

    def longest(self) -> list[Any]:
        """Per extent a size with its largest value, and one of the smallest of the others."""
        short = self.short()
        return [
            self.of((*short[:at], most, *short[at + 1 :])) for at, most in enumerate(self.most())
        ]

    def whole(self) -> list[Any]:
        """For each extent that takes them the sizes with 64 and with the largest power of two up to
        WHOLE, and one of the smallest of the others: blocks and warps fit in exactly, and nothing
        is left over."""
        short = self.short()
        found = []
        for at, values in enumerate(self.extents):
            largest = 1 << min(values[-1], WHOLE).bit_length() >> 1
            for power in sorted({largest, min(largest, 64)}):
                if power >= 32 and power % gcd(*values) == 0:
                    found.append(self.of((*short[:at], power, *short[at + 1 :])))
        return found

    def drawn(self, rng: np.random.Generator, count: int) -> list[Any]:
        """``count`` sizes. Each extent takes each of its values as soon as it can."""
        columns = [shuffled_cycle(rng, values, count) for values in self.extents]
        return [self.of(extents) for extents in zip(*columns, strict=True)]

    def smaller(self, size: Any) -> Iterator[Any]:
        """Sizes to try instead of ``size``, the smallest first."""
        now = size if isinstance(size, tuple) else (size,)
        below = [
            [n for n in values if n <= most] for values, most in zip(self.extents, now, strict=True)
        ]
        few = [values[:6] + values[-1:] if len(now) > 1 else values for values in below]
        found = sorted(set(product(*few)) - {now}, key=lambda extents: (prod(extents), extents))
        return (self.of(extents) for extents in found)

    def short(self) -> tuple[int, ...]:
        """Small extents, not the smallest: the second of each, where there are two."""
        return tuple(values[min(1, len(values) - 1)] for values in self.extents)

    def most(self) -> list[int]:
        """The longest of each extent."""
        return [
            self.alone.get(name, values[-1])
            for name, values in zip(self.names, self.extents, strict=True)
        ]

    @staticmethod
    def extents_of(size: Any) -> tuple[int, ...]:
        """The extents of ``size``, one or several."""
        return size if isinstance(size, tuple) else (size,)

    def of(self, extents: tuple[int, ...]) -> Any:
        """The size with these extents: a single one is the size itself."""
        return extents[0] if len(self.names) == 1 else tuple(extents)


def _from_to(name: str, values: Sequence[int]) -> str:
    """``n 1 to 60,000 and more``: the longest is in round numbers, or an answer with a limit
    just above it would pass. A power of two is a limit of the task, and stated exactly."""
    least, most = min(values), max(values)
    if most == least:
        return f"{name} {most:,}"
    unit = 10 ** (len(str(most)) - 1)
    told = most // unit * unit
    if most < ROUNDED or told in (least, most) or most & (most - 1) == 0:
        return f"{name} {least:,} to {most:,}"
    return f"{name} {least:,} to {told:,} and more"


def lengths(name: str = "n", *, least: int = 1, most: int = 70_000, of: int = 1) -> Sizes:
    """Any number of elements from ``least`` to ``most``, multiples of ``of`` where it is given."""
    return Sizes((name,), (extents(most, least=least, of=of),))


def shapes(**values: Sequence[int]) -> Sizes:
    """Sizes of several extents: ``shapes(rows=extents(70), columns=extents(300))``. Their order is
    the order of the size's tuple."""
    return Sizes(tuple(values), tuple(tuple(sorted(found)) for found in values.values()))


def extents(most: int, *, least: int = 1, of: int = 1) -> tuple[int, ...]:
    """Telling lengths from ``least`` to ``most``, multiples of ``of``, if that is given."""
    if of > 1:
        candidates = [of * n for n in (1, 2, 3, 4, 5, 7, 11, 13, 17, 33, 65, 129)]
    else:
        candidates = [0, *LENGTHS, 3, 5, 7, 13, 17, 61, 67, 97, 131, 301, 521]
    return tuple(sorted({n for n in candidates if least <= n <= most}))


def shuffled_cycle(rng: np.random.Generator, values: Sequence[Any], count: int) -> list[Any]:
    """``count`` of ``values`` in random order, none of them again before all had their turn."""
    found: list[Any] = []
    while len(found) < count:
        found += [values[i] for i in rng.permutation(len(values))]
    return found[:count]
