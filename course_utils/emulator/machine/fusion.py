"""Several instructions of a block run as one, where they are alike and none needs another's result.

A thread that computes a tile of results does the same multiply-add dozens of times in a row, each
on registers of its own. With few threads the calls of NumPy cost far more than the arithmetic; so
the sources of all of them are laid one after the other, computed at once and cut apart again. The
results are the same bits: nothing but the length of the arrays differs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .instruction_set import Op
from .lanes import Group

FEWEST = 3  # instructions that are worth it
MOST_AT_ONCE = 16_384  # lanes: more leave the cache

Step = Callable[[Group], None]


@dataclass(frozen=True, slots=True)
class Computation:
    """An instruction of the table that does nothing but compute one value: what it reads and
    writes, and its step."""

    op: Op
    gets: tuple[Callable, ...]
    put: Callable
    reads: frozenset[int]
    writes: frozenset[int]
    act: Step


class _Bundle:
    """Instructions that change places with each other freely, and what all of them read and
    write."""

    def __init__(self, first: Computation):
        self.members = [first]
        self.reads, self.writes = set(first.reads), set(first.writes)

    def commutes(self, one: Computation) -> bool:
        """Whether an instruction may change places with all of these, or run at once with them."""
        return (
            self.writes.isdisjoint(one.reads)
            and self.reads.isdisjoint(one.writes)
            and self.writes.isdisjoint(one.writes)
        )

    def add(self, one: Computation) -> None:
        self.members.append(one)
        self.reads |= one.reads
        self.writes |= one.writes


def fused(steps: list[Step], plain: list[Computation | None]) -> list[Step]:
    """The steps of a block with those that go together run as one; ``plain``: what is known of
    each. Nothing moves across a step of which nothing is known."""
    if sum(p is not None and p.op.heavy for p in plain) < FEWEST:
        return steps
    found: list[Step] = []
    run: list[Computation] = []
    for step, known in zip([*steps, None], [*plain, None], strict=True):
        if known is not None:
            run.append(known)
            continue
        found += _bundled(run)
        run = []
        if step is not None:
            found.append(step)
    return found


def _bundled(run: list[Computation]) -> list[Step]:
    """Instructions that follow each other, each heavy one put to those before it that are alike and
    that it may join."""
    bundles: list[_Bundle] = []
    for one in run:
        home = None
        for bundle in reversed(bundles) if one.op.heavy else ():
            if not bundle.commutes(one):
                break
            if bundle.members[0].op is one.op:
                home = bundle
        if home is None:
            bundles.append(_Bundle(one))
        else:
            home.add(one)
    steps: list[Step] = []
    for bundle in bundles:
        alone = [one.act for one in bundle.members]
        steps += alone if len(alone) < FEWEST else [_at_once(bundle.members, alone)]
    return steps


def _at_once(bundle: list[Computation], alone: list[Step]) -> Step:
    compute = bundle[0].op.compute
    columns = [list(column) for column in zip(*(one.gets for one in bundle), strict=True)]
    puts = [one.put for one in bundle]

    def act(group: Group) -> None:
        n, R, full = group.n, group.R, group.full
        some = MOST_AT_ONCE // n
        if some < FEWEST:
            for step in alone:
                step(group)
            return
        for first in range(0, len(puts), some):
            last = first + some
            sources = ([full(get(R)) for get in gets[first:last]] for gets in columns)
            result = compute(*map(np.concatenate, sources))
            for at, put in enumerate(puts[first:last]):
                put(R, result[n * at : n * (at + 1)])

    act.first = alone[0]  # type: ignore[attr-defined]  # to say where it is, should it fail
    return act
