"""The trials of an exercise: drawn from its contract, and made smaller where they fail.

An exercise's ``small`` sizes are tried first. Then some more trials are *drawn* from its contract:
each takes another size, another launch and other values, so that every alternative of each is met.
The draw depends on the exercise alone: one cell always gets one verdict. A failing trial is made
smaller before it is shown.

We draw by hand instead of with `hypothesis`. Sixteen launches must meet every alternative, a
failing trial must shrink in about twenty, and a student shouldn't have to install the library.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import prod
from typing import Any

import numpy as np

from ...integers import ceil_div
from ...text_tables import size_in_words
from ..authoring.domain import DRAWN, Domain, DrawnCases, Given, InputClass
from ..authoring.launches import Launch
from ..authoring.sizes import shuffled_cycle
from ..authoring.spec import HostExercise, KernelExercise, PythonExercise

MOST_STEPS = 24  # launches to make a failing trial smaller


def all_cases(exercise: PythonExercise | HostExercise) -> tuple[Any, ...]:
    """The fixed cases of an exercise, in their order, and then those drawn."""
    if not isinstance(exercise.contract, DrawnCases):
        return exercise.cases
    rng = np.random.default_rng(zlib.crc32(exercise.id.encode()))
    drawn = [exercise.contract.draw(rng) for _ in range(exercise.contract.count)]
    by_length = sorted(drawn, key=lambda case: len(repr(case)))
    return *exercise.cases, *by_length, *exercise.contract.large()


@dataclass(frozen=True)
class Trial:
    """One launch of an exercise: its size, the seed of its inputs, and how it differs from them."""

    size: Any
    seed: int
    launch: int = 0  # a number of ``launches(size)``; 0 is the exercise's own
    changes: tuple[InputClass, ...] = ()
    past: str = ""  # the words of :mod:`.own_limits` about the limit that it is past
    longer: int = 1  # a factor over the longest of the contract, and its square of the budget
    threads: int = 0  # a launch of so many at least, by a longer grid

    def given(self, exercise: KernelExercise) -> Given:
        """The inputs by name, drawn and changed anew."""
        given = exercise.inputs(np.random.default_rng(self.seed), self.size)
        for change in self.changes:
            given = change.applied(given, np.random.default_rng((self.seed, 7)))
        return given

    def launches(self, exercise: KernelExercise) -> tuple[Launch, ...]:
        """The launches of this trial, in order."""
        return tuple(self._with_budget(one, exercise) for one in self._launches(exercise))

    def _with_budget(self, launch: Launch, exercise: KernelExercise) -> Launch:
        if self.longer == 1:
            return launch
        return replace(launch, budget=max(launch.budget, self.longer**2 * exercise.budget))

    def _launches(self, exercise: KernelExercise) -> tuple[Launch, ...]:
        own = exercise.launches(self.size)
        if not self.launch:
            return own
        others = other_launches(exercise, self.size)
        found = others[(self.launch - 1) % len(others)]
        if self.threads and isinstance(found, Launch):
            found = replace(found, grid=(ceil_div(self.threads, prod(found.block)),))
        return (found,) if isinstance(found, Launch) else tuple(found)

    def repeats(self, exercise: KernelExercise) -> int:
        """How often the last launch is made, of one kernel with the same arguments."""
        launches = self.launches(exercise)
        return launches.count(launches[-1])

    def label(self, exercise: KernelExercise) -> str:
        """``n = 33, grid 2, block 96, x all negative``."""
        sizes = exercise.contract.sizes if isinstance(exercise.contract, Domain) else None
        parts = [sizes.label(self.size) if sizes else f"size {size_in_words(self.size)}"]
        launches = self.launches(exercise)
        if self.launch or (
            other_launches(exercise, self.size) and not all(map(_is_usual, launches))
        ):
            parts += dict.fromkeys(_describe_launch(launch) for launch in launches)
        if (times := self.repeats(exercise)) > 1:
            parts.append("launched twice" if times == 2 else f"launched {times} times")
        return ", ".join(parts + [change.label for change in self.changes])


def drawn_trials(exercise: KernelExercise) -> list[Trial]:
    """The trials drawn from the exercise's contract; none where it has none."""
    contract = exercise.contract
    if not isinstance(contract, Domain):
        return []
    rng = np.random.default_rng(zlib.crc32(exercise.id.encode()))
    longest = max((len(values) for values in contract.values), default=0)
    if contract.sizes:
        longest = max(longest, *map(len, contract.sizes.extents))
    count = max(DRAWN, longest)
    if contract.sizes:
        sizes = contract.sizes.drawn(rng, count)
    else:
        sizes = shuffled_cycle(rng, exercise.small, count)
    changes = [shuffled_cycle(rng, values, count) for values in contract.values]
    trials = []
    for number in range(count):
        launch = number + 1 if contract.launches else 0
        chosen = (column[number] for column in changes)
        differing = tuple(values for values in chosen if values.label)
        trials.append(Trial(sizes[number], 10 + number, launch, differing))
    more = _other_values(exercise, contract), _whole(contract), _longest(exercise, contract)
    return [*_launches_tried(exercise), *trials, *chain(*more)]


def other_launches(exercise: KernelExercise, size: Any) -> Sequence[Launch | tuple[Launch, ...]]:
    """The launches at ``size`` that the contract gives beside the exercise's own."""
    contract = exercise.contract
    return contract.launches(size) if isinstance(contract, Domain) and contract.launches else ()


def _launches_tried(exercise: KernelExercise) -> list[Trial]:
    """Each of the other launches at the most telling fixed size, which has work for all of it."""
    size = exercise.small[0]
    return [Trial(size, 1, n + 1) for n in range(len(other_launches(exercise, size)))]


def _other_values(exercise: KernelExercise, contract: Domain) -> list[Trial]:
    """Each of the other values there too: a draw may give them to a single element, where much is
    right that is wrong elsewhere."""
    size = exercise.small[0]
    alternatives = (values for one in contract.values for values in one if values.label)
    return [Trial(size, 2, changes=(values,)) for values in alternatives]


def _whole(contract: Domain) -> list[Trial]:
    """Sizes that blocks and warps divide evenly, with the exercise's own values and launch."""
    sizes = contract.sizes
    return [Trial(size, 4) for size in sizes.whole()] if sizes else []


def _longest(exercise: KernelExercise, contract: Domain) -> list[Trial]:
    """The longest sizes with the exercise's own values: in a long row of equal numbers a wrong
    index is not seen. Also with the fewest threads, which go through their loops most often."""
    sizes = contract.sizes
    if not sizes:
        return []
    trials = []
    for size in sizes.longest():
        trials.append(Trial(size, 3))
        if launch := fewest_threads(exercise, size):
            trials.append(Trial(size, 3, launch))
    return trials


def fewest_threads(exercise: KernelExercise, size: Any) -> int:
    """The number of the contract's launch with the fewest threads, 0 if it's the exercise's own."""
    threads = [_threads(launch) for launch in other_launches(exercise, size)]
    if not threads or min(threads) >= _threads(exercise.launches(size)):
        return 0
    return threads.index(min(threads)) + 1


def _threads(launches: Launch | tuple[Launch, ...]) -> int:
    found = (launches,) if isinstance(launches, Launch) else launches
    return sum(prod(launch.grid) * prod(launch.block) for launch in found)


def smallest(
    exercise: KernelExercise, trial: Trial, fails: Callable[[Trial], bool], steps: int = MOST_STEPS
) -> Trial:
    """The failing ``trial`` with all taken away that it does not take to fail; a few steps."""
    tried = 0

    def still(candidate: Trial) -> bool:
        nonlocal tried
        tried += 1
        return tried <= steps and fails(candidate)

    sizes = exercise.contract.sizes if isinstance(exercise.contract, Domain) else None
    if sizes:
        room = steps - len(trial.changes) - 1
        for size in sizes.smaller(trial.size):
            if tried >= room:
                break
            if still(replace(trial, size=size)):
                trial = replace(trial, size=size)
                break
    if trial.launch and still(replace(trial, launch=0)):
        trial = replace(trial, launch=0)
    for change in trial.changes:
        without = replace(trial, changes=tuple(c for c in trial.changes if c is not change))
        if still(without):
            trial = without
    return trial


def _is_usual(launch: Launch) -> bool:
    """Whether a block has a power of two of threads."""
    threads = prod(launch.block)
    return not threads & (threads - 1)


def _describe_launch(launch: Launch) -> str:
    return f"grid {size_in_words(launch.grid)}, block {size_in_words(launch.block)}"
