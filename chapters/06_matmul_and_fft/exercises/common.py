"""Shared by exercises of several notebooks of this chapter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from course_utils.exercises.authoring import domain
from course_utils.exercises.authoring.domain import Domain, Given, InputClass
from course_utils.exercises.authoring.exact_formulas import exact_product
from course_utils.exercises.authoring.launches import empty, floats
from course_utils.exercises.authoring.method import Requirement
from course_utils.exercises.authoring.worked import Worked


def matrices(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """A (M x K), B (K x N) and room for C (M x N)."""
    m, n, k = size
    return _arguments(floats(rng, (m, k)), floats(rng, (k, n)), size)


def _arguments(a: np.ndarray, b: np.ndarray, size: tuple[int, int, int]) -> dict[str, Any]:
    """The arguments of a product of ``a`` and ``b``, with an empty C (M x N) in fp32."""
    m, n, k = size
    sizes = {"M": np.int32(m), "N": np.int32(n), "K": np.int32(k)}
    return {"A": a, "B": b, "C": empty((m, n))} | sizes


def product(given: Given) -> dict[str, np.ndarray]:
    """The exact product, as far as float64 goes."""
    return {"C": exact_product(given["A"], given["B"])}


def halves(rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Normally distributed fp16 values."""
    return rng.standard_normal(shape, dtype=np.float32).astype(np.float16)


def half_matrices(rng: np.random.Generator, size: tuple[int, int, int]) -> Given:
    """A (M x K) and B (N x K) in fp16, and room for C (M x N) in fp32."""
    m, n, k = size
    return _arguments(halves(rng, (m, k)), halves(rng, (n, k)), size)


def two_by_two(m: int, n: int, k: int) -> Worked:
    """The case of a tile that is too large to be shown: all of :func:`half_matrices` is 0, but for
    rows 0 and 9 of A and rows 0 and 1 of B: C has 23 and 6 in row 0, 5 and 12 in row 9. In each
    quarter of a fragment of A there is one of its numbers."""
    a = {(0, 0): 2, (0, 9): 3, (9, 1): 2, (9, 9): 1}
    b = {(0, 0): 4, (0, 9): 5, (1, 0): 3, (1, 1): 6}
    return Worked(size=(m, n, k), values={"A": a, "B": b})


def product_of_rows(given: Given) -> dict[str, np.ndarray]:
    """C = A B^T in float64: the columns of B^T are the rows of B."""
    return {"C": exact_product(given["A"], given["B"].T)}


@dataclass(frozen=True)
class Chosen(domain.Sizes):
    """These sizes, all of them: the extents of a product are small where another is large."""

    sizes: tuple[tuple[int, ...], ...] = ()

    def drawn(self, rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
        order = rng.permutation(len(self.sizes)).tolist()
        return [self.sizes[order[n % len(order)]] for n in range(count)]

    def smaller(self, size: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        """Chosen ones alone: a wrong answer is not to wait for all combinations of extents."""
        return iter(sorted((s for s in self.sizes if prod(s) < prod(size)), key=prod))


def chosen(*sizes: tuple[int, ...], names: tuple[str, ...] = ("M", "N", "K")) -> Chosen:
    """Promised sizes (M, N, K) or what else ``names`` calls them, no more than are drawn."""
    if len(sizes) > domain.DRAWN:
        raise ValueError(f"{len(sizes)} sizes, and {domain.DRAWN} are drawn")
    extents = tuple(tuple(sorted(set(values))) for values in zip(*sizes, strict=True))
    return Chosen(names, extents, sizes=sizes)


@dataclass(frozen=True)
class Together(Chosen):
    """Sizes whose extents go together: none is made of parts of several. The largest is tried once,
    as the longest."""

    def drawn(self, rng: np.random.Generator, count: int) -> list[tuple[int, ...]]:
        smaller = Chosen(self.names, self.extents, sizes=self.smaller_ones())
        return smaller.drawn(rng, count)

    def smaller_ones(self) -> tuple[tuple[int, ...], ...]:
        return tuple(size for size in self.sizes if [size] != self.longest())

    def of(self, extents: tuple[int, ...]) -> tuple[int, ...]:
        """The largest of the sizes with no larger extents: a search for a smaller one mixes them,
        and a filter may then be larger than its image."""
        fit = [s for s in self.sizes if all(map(int.__le__, s, extents))]
        return max(fit, key=_volume) if fit else min(self.sizes, key=_volume)

    def with_outlier(self, **alone: int) -> Together:
        raise ValueError("extents that go together have no longest of their own: add a size")

    def endless(self) -> list[int]:
        return []

    def longest(self) -> list[tuple[int, ...]]:
        return [max(self.sizes, key=prod)]

    def whole(self) -> list[tuple[int, ...]]:
        return []


def _volume(size: tuple[int, ...]) -> int:
    """How large a size is, of which an extent may be 0."""
    return prod(n + 1 for n in size)


def together(names: str, *sizes: tuple[int, ...]) -> Together:
    """As :func:`chosen`, of extents that go together."""
    plain = chosen(*sizes, names=tuple(names.split()))
    return Together(plain.names, plain.extents, sizes=plain.sizes)


# Past 65,535 elements in each matrix, and as many rows and columns, where an unsigned short index
# overflows.
ANY_SHAPE = chosen(
    (1, 1, 1),
    (5, 6, 0),
    (17, 33, 16),
    (64, 65, 31),
    (5, 257, 12),
    (67, 70, 130),
    (3, 2, 513),
    (1025, 1, 67),
    (1, 1025, 67),
    (300, 257, 3),
    (65543, 2, 1),
    (2, 65543, 1),
).with_outlier(K=521)


# Every sum of their products is exact enough for the tolerance: no cancellation of large ones. None
# is blind to a wrong index, as a matrix of equal numbers would be.
ORDINARY = (domain.NEGATIVE, domain.POSITIVE, domain.TIES, domain.MIDDLING, domain.SMALL)


def strange(name: str, axis: int) -> tuple[InputClass, ...]:
    """One operand of A or B is no number: the last along k, ``axis``, where tiles end.

    One row or column of C is infinite or NaN then, and the others are as finite as before. All of a
    C, or half of a large one, shall not be NaN: that is what was never written, too.
    """

    def with_one(given: domain.Given, rng: np.random.Generator, value: float) -> Given:
        changed = np.moveaxis(given[name].copy(), axis, -1)
        if not changed.size:
            return {}
        few = 1 if prod(given["C"].shape) < 1000 else 3
        if len(changed) > few or np.isinf(value):
            changed[rng.integers(len(changed)), -1] = value
        return {name: np.moveaxis(changed, -1, axis)}

    return (
        InputClass(f"{name} with an inf", lambda given, rng: with_one(given, rng, np.inf)),
        InputClass(f"{name} with a NaN", lambda given, rng: with_one(given, rng, np.nan)),
    )


ANY_OPERANDS = (
    (
        *domain.data("A", *ORDINARY, domain.LARGE),
        *strange("A", 1),
        domain.zero_times_infinity_along("A", -1, "B", -2),
        domain.zero_times_infinity_along("B", -2, "A", -1),
    ),
    (
        *domain.data("B", *ORDINARY, domain.FAINT),
        *strange("B", 0),
        domain.infinite_at_the_ends("A", -1, "B", -2),
    ),
)
# For kernels that take the emulator long: one judgement tries each of these.
FEW_OPERANDS = (
    (*domain.data("A", domain.NEGATIVE, domain.LARGE), *strange("A", 1)),
    (
        *domain.data("B", domain.TIES),
        *strange("B", 0),
        domain.zero_times_infinity_along("A", -1, "B", -2),
        domain.infinite_at_the_ends("A", -1, "B", -2),
    ),
)
HALF_OPERANDS = (
    (*domain.data("A", *ORDINARY), *strange("A", 1)),
    (
        *domain.data("B", *ORDINARY),
        *strange("B", 1),
        InputClass(  # the sums are past the largest fp16 number
            "A and B about 300",
            lambda given, rng: {
                name: 300 * rng.standard_normal(given[name].shape) for name in "AB"
            },
        ),
    ),
)
ANY_PRODUCT = Domain(sizes=ANY_SHAPE, values=ANY_OPERANDS)


def no_more_arithmetic(size: tuple[int, int, int], of: str = "f32") -> Requirement:
    """Each product is made once: a ratio to the FLOPs is no better for useless ones."""
    return Requirement(
        "FLOPs, over those of the product",
        lambda stats: stats.counts.flops_by_type.get(of, 0) / (2 * prod(size)),
        at_most=1.5,
        advice="Each of the M N K multiply-adds is needed once: take the others out.",
        size=size,
    )


def tiles_read_once(size: tuple[int, int, int], at_most: float = 2.0) -> Requirement:
    """At a size of one block: global memory is read for the tiles, and for nothing else."""
    m, n, k = size
    return Requirement(
        "bytes read from global memory, over those of A and B",
        lambda stats: stats.counts.global_load_bytes / (4 * (m * k + k * n)),
        at_most=at_most,
        advice="A block needs each element of its rows of A and its columns of B once, for the "
        "tiles: multiply what lies in shared memory, not what lies in A and B.",
        size=size,
    )


def on_tensor_cores(size: tuple[int, int, int]) -> tuple[Requirement, ...]:
    """All products by mma, whichever of its forms, and none beside it."""
    of = "f16 (tensor cores)"
    advice = "Let the tensor cores make all products: one mma for each 16 columns of A and B."
    return (
        Requirement(
            "part of the products that the tensor cores make",
            lambda stats: stats.counts.flops_by_type.get(of, 0) / (2 * prod(size)),
            at_least=1.0,
            at_most=2.0,
            advice=advice,
            size=size,
        ),
        Requirement(
            "part of the products that other instructions make",
            lambda stats: (
                sum(n for kind, n in stats.counts.flops_by_type.items() if kind != of)
                / (2 * prod(size))
            ),
            at_most=0.25,
            advice=advice,
            size=size,
        ),
    )
