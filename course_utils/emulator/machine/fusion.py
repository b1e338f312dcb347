"""Several instructions of a block run as one, where they are alike and none needs another's result.

A thread that computes a tile of results does the same multiply-add dozens of times in a row, each
on registers of its own. With few threads the calls of NumPy cost far more than the arithmetic; so
the sources of all of them are laid one after the other, computed at once and cut apart again. Where
every one of some numbers meets every one of others, as in a tile, each is laid down but once. The
results are the same bits: nothing but the shape of the arrays differs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..isa import ptx
from ..isa.instruction_set import Op
from .lanes import Group
from .operands import Get, Put

FEWEST = 3  # instructions that are worth it
LOOK_BACK = 250  # steps that one may move across
MOST_AT_ONCE = 65_536  # lanes: more leave the cache
FEW_LANES = 6_000  # of groups for which it is done: with more the calls do not count

Step = Callable[[Group], object]


@dataclass(frozen=True, slots=True)
class Computation:
    """What an instruction of the table computes: one value, from ``operands`` by ``gets``."""

    op: Op
    operands: tuple[ptx.Operand, ...]
    gets: tuple[Get, ...]
    put: Put
    act: Step


@dataclass(frozen=True, slots=True)
class Movable:
    """A step that may change places with others: those that read nothing it writes, write nothing
    it reads or writes, and of two that are no computations, neither. ``computation``: set where it
    may be joined with others."""

    act: Step
    reads: frozenset[int]
    writes: frozenset[int]
    computation: Computation | None


class _Bundle:
    """Steps that run at once, and what all of them read and write. A step that is not to be joined
    with any is a bundle alone."""

    def __init__(self, first: Movable) -> None:
        self.op = first.computation.op if first.computation else None
        self.members = [first]
        self.reads, self.writes = set(first.reads), set(first.writes)

    def commutes(self, one: Movable) -> bool:
        """Whether a step may change places with all of these, or run at once with them."""
        return (
            self.writes.isdisjoint(one.reads)
            and self.reads.isdisjoint(one.writes)
            and self.writes.isdisjoint(one.writes)
        )

    def add(self, one: Movable) -> None:
        self.members.append(one)
        self.reads |= one.reads
        self.writes |= one.writes


def fused(steps: list[Step], movable: list[Movable | None]) -> list[Step]:
    """The steps of a block with those that go together run as one; ``movable``: what is known of
    each. Nothing moves across a step that is not known."""
    if sum(m is not None and m.computation is not None for m in movable) < FEWEST:
        return steps
    found: list[Step] = []
    run: list[Movable] = []
    for step, known in zip([*steps, None], [*movable, None], strict=True):
        if known is not None:
            run.append(known)
            continue
        found += _bundled(run)
        run = []
        if step is not None:
            found.append(step)
    return found


def _bundled(run: list[Movable]) -> list[Step]:
    """Steps that follow each other: each that can be joined put to those before it that are alike,
    and every other, such as the load of what the next ones multiply, before those that can wait."""
    bundles: list[_Bundle] = []
    for one in run:
        joins, place = one.computation is not None, len(bundles)
        home = None
        for at in range(place - 1, max(-1, place - 1 - LOOK_BACK), -1):
            bundle = bundles[at]
            if not bundle.commutes(one) or not (joins or bundle.op):
                break
            if one.computation is not None and bundle.op is one.computation.op:
                home = bundle
            place = at
        if home is not None:
            home.add(one)
        else:
            bundles.insert(len(bundles) if joins else place, _Bundle(one))
    steps: list[Step] = []
    for bundle in bundles:
        computations = [one.computation for one in bundle.members if one.computation is not None]
        if len(bundle.members) < FEWEST:
            steps += [one.act for one in bundle.members]
        else:
            steps.append(_at_once(computations))
    return steps


def members(step: Step) -> list[Step]:
    """The steps that one of :func:`fused` stands for."""
    return getattr(step, "members", None) or [step]


def _tile(bundle: list[Computation]) -> tuple[int, list[Computation]]:
    """(columns, the instructions row by row), where each row has a first source of its own and each
    column a second one; a column of instructions where they make no tile."""
    rows = dict.fromkeys(one.operands[0] for one in bundle)
    columns = dict.fromkeys(one.operands[1] for one in bundle)
    at = {one.operands[:2]: one for one in bundle}
    if len(rows) * len(columns) == len(bundle) == len(at):
        return len(columns), [at[row, column] for row in rows for column in columns]
    return 0, bundle


def _at_once(bundle: list[Computation]) -> Step:
    compute = bundle[0].op.compute
    width, ordered = _tile(bundle)
    puts = [one.put for one in ordered]
    first, second, *others = zip(*(one.gets for one in ordered), strict=True)
    if width:
        first, second = first[::width], second[:width]

    def act(group: Group) -> None:
        n, R, full = group.n, group.R, group.full

        def stacked(gets: Sequence[Get]) -> np.ndarray:
            values = [get(R) for get in gets]
            return np.concatenate([v if len(v) == n else full(v) for v in values])

        if not width:
            some = MOST_AT_ONCE // n
            for at in range(0, len(puts), some):
                parts = slice(at, at + some)
                result = compute(*(stacked(gets[parts]) for gets in (first, second, *others)))
                for put, row in zip(puts[parts], result.reshape(-1, n), strict=True):
                    put(R, row)
            return
        columns = stacked(second).reshape(1, width, n)
        some = max(1, MOST_AT_ONCE // (n * width))
        for at in range(0, len(first), some):
            rows = stacked(first[at : at + some]).reshape(-1, 1, n)
            parts = slice(at * width, (at + some) * width)
            rest = (stacked(gets[parts]).reshape(-1, width, n) for gets in others)
            result = compute(rows, columns, *rest)
            for put, row in zip(puts[parts], result.reshape(-1, n), strict=True):
                put(R, row)

    act.members = [one.act for one in bundle]  # type: ignore[attr-defined]
    return act
