"""Ranks of the exercises: what passes between them is written down."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

import numpy as np


class Wire:
    """Messages between ranks that run in turn. ``sent`` and ``received``: floats of each rank.
    Every number of a message arrives larger by ``more``: a wire with noise shows who listens.
    ``deaf`` are ranks whose sums were found to be made of something else."""

    def __init__(self, ranks: int, more: float = 0):
        self.ranks, self.more = ranks, more
        self.deaf: list[int] = []
        self.sent, self.received = [0] * ranks, [0] * ranks
        self._under_way: defaultdict[tuple[int, int], deque[Any]] = defaultdict(deque)

    def __repr__(self) -> str:
        return f"<wire between {self.ranks} ranks>"

    def send(self, source: int, target: int, floats: np.ndarray) -> None:
        self._check(source, target)
        if source == target:
            raise ValueError(f"rank {source} sends to itself")
        message = np.array(floats, copy=True)
        self._under_way[source, target].append(message + self.more if self.more else message)
        self.sent[source] += np.size(floats)

    def receive(self, target: int, source: int) -> np.ndarray:
        self._check(source, target)
        waiting = self._under_way[source, target]
        if not waiting:
            raise ValueError(
                f"rank {target} waits for ever: rank {source} has sent it nothing (more)"
            )
        self.received[target] += waiting[0].size
        return waiting.popleft()

    def left(self) -> int:
        """How many messages were not received."""
        return sum(map(len, self._under_way.values()))

    def _check(self, *ranks: int) -> None:
        for rank in ranks:
            if not 0 <= rank < self.ranks:
                raise ValueError(f"there is no rank {rank}: they go from 0 to {self.ranks - 1}")


class FarMatrix:
    """A matrix in another memory. ``fetched``: how many numbers of it were fetched. ``shares``: how
    many by each rank, if that is known."""

    def __init__(self, values: np.ndarray):
        self._values, self.shape, self.fetched = values, values.shape, 0
        self.shares: list[int] = []

    def __repr__(self) -> str:
        return f"<matrix of {self.shape[0]} x {self.shape[1]}>"

    def columns(self, begin: int, end: int) -> np.ndarray:
        return self._taken(self._values[:, begin:end])

    def rows(self, begin: int, end: int) -> np.ndarray:
        return self._taken(self._values[begin:end])

    def _taken(self, part: np.ndarray) -> np.ndarray:
        self.fetched += part.size
        return part.copy()


def all_of(matrix: FarMatrix) -> np.ndarray:
    """For the reference: it counts nothing."""
    return matrix._values


def rounds_of(programs: list[list[tuple[str, int]]]) -> tuple[int, str]:
    """In how many rounds all messages of blocking ``programs`` arrive, and why they do not.

    programs[r] is a list of ("send", to) and ("receive", from). In a round each pair that waits for
    each other exchanges its message.
    """
    at, rounds = [0] * len(programs), 0
    while any(place < len(program) for place, program in zip(at, programs, strict=True)):
        heads = [
            program[place] if place < len(program) else ("end", -1)
            for place, program in zip(at, programs, strict=True)
        ]
        pairs = [
            (rank, other)
            for rank, (what, other) in enumerate(heads)
            if what == "send" and heads[other] == ("receive", rank)
        ]
        if not pairs:
            stuck = [
                f"rank {rank} waits to {what} {'to' if what == 'send' else 'from'} rank {other}"
                for rank, (what, other) in enumerate(heads)
                if what != "end"
            ]
            return rounds, "; ".join(stuck[:4])
        for rank in (rank for pair in pairs for rank in pair):
            at[rank] += 1
        rounds += 1
    return rounds, ""
