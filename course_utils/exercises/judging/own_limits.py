"""Sizes past a limit that an answer sets itself, such as an array for 1024 numbers.

A task's sizes are drawn beforehand, so an answer with a limit a little above the longest of them is
right at each. Its source shows the limit: a number, or the length of an array, that the course's
solution doesn't have. For each extent that the task doesn't limit, a size past the largest of these
is tried. If an answer has integers of 16 bits, a matrix of more than 65,536 elements is tried too,
and so many threads where any grid will do. An answer without such a number, like the solution
itself, gets no further trial and takes no longer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, combinations
from math import gcd, prod
from typing import Any

import numpy as np

from ...compiling.signature import strip_comments
from ...emulator import LaunchTooLong, Options
from ...errors import LessonError
from ...integers import ceil_div
from ..authoring import emulated_runs
from ..authoring.domain import Domain
from ..authoring.launches import Launch
from ..authoring.sizes import Sizes
from ..authoring.spec import KernelExercise
from .comparison import compared
from .outside_index import CONSTANT, integer_value
from .trials import Trial, fewest_threads, other_launches

SEED = 3  # of the inputs as they are given, at the longest sizes
FEW = 5000  # extents up to here are made four times as long, and longer ones twice
WARP = 32
PAST_SHORT, PAST_SIGNED = 1 << 16, 1 << 15
MOST_THREADS = 300_000  # of a launch that is tried for one long extent
SOON = 12_500  # instructions that a batch of the course's solution takes there as a rule,
LATER = 200_000  # may take, if an answer gets more, and
PATIENCE = 10.0  # seconds of the launch
NUMBER = re.compile(r"(?<![\w.])(?:0[xX][0-9a-fA-F]+|\d+)(?=[uUlL]*(?![\w.]))")
ARRAY = re.compile(r"\b\w+\s*((?:\[[^\]\[]+\]\s*)+)[;=,]")
PRODUCT = re.compile(r"(?<![\w.])\w+(?:\s*(?:\*|<<)\s*\w+)+(?![\w.])")
SHORT = re.compile(r"\b(?:short|u?int16_t|ushort)\b")
NARROW = "It has integers of 16 bits."
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


def trials_past_limits(exercise: KernelExercise, source: str) -> Iterator[Trial]:
    """The further sizes to try ``source`` at, few or none."""
    sizes = exercise.contract.sizes if isinstance(exercise.contract, Domain) else None
    if sizes is None or source.split() == exercise.solution.split():
        return
    endless = sizes.endless()
    for at in endless if own_constants(exercise, source) else ():
        if trial := _past(exercise, sizes, at, source):
            yield trial
            if launch := fewest_threads(exercise, trial.size):
                yield replace(trial, launch=launch)
    if _narrow(exercise, source):
        past = _past_shorts(exercise, sizes, endless), _many_threads(exercise)
        for trial in chain(*past):
            if _ends(exercise, trial, SOON):
                yield replace(trial, longer=1)
            elif _ends(exercise, trial, LATER):
                yield replace(trial, longer=max(trial.longer, 4))


def _narrow(exercise: KernelExercise, source: str) -> str:
    """The type of 16 bits that ``source`` has and the solution hasn't, "" without one."""
    found = SHORT.search(strip_comments(source))
    return "" if found is None or SHORT.search(exercise.solution) else found[0]


def narrow_types(exercise: KernelExercise, source: str, given: Mapping[str, Any]) -> str:
    """``Your code has integers of 16 bits (short), and V has 65,696 elements.``, "" for inputs that
    such an integer can count, and for an answer without one."""
    written = _narrow(exercise, source)
    sizes = {name: int(np.prod(np.shape(x))) for name, x in given.items() if np.ndim(x)}
    name = max(sizes, key=sizes.__getitem__, default="")
    if not written or not name or sizes[name] < PAST_SHORT // 2:
        return ""
    return (
        f"Your code has integers of 16 bits ({written}), and {name} has {sizes[name]:,} elements."
    )


def own_constants(exercise: KernelExercise, source: str) -> set[int]:
    """The integers of ``source`` that the course's solution doesn't have."""
    return constants(source) - constants(exercise.solution) - {0, 1}


def constants(source: str) -> set[int]:
    """The integers of ``source``, the products that it writes out, and how many elements its arrays
    have."""
    text = STRING.sub('""', strip_comments(source))
    known = {a or b: value or body for a, value, b, body in CONSTANT.findall(text)}
    found = {
        int(number, 0 if number[:2] in ("0x", "0X") else 10) for number in NUMBER.findall(text)
    }
    for written in PRODUCT.findall(text):
        found.add(_value(written, known))
    for extents in ARRAY.findall(text):
        found.add(prod(_value(n, known) for n in re.findall(r"\[([^\]]+)\]", extents)))
    return found


def _value(text: str, known: Mapping[str, str]) -> int:
    """An expression's value, 0 where that isn't known."""
    left, shift, right = text.partition("<<")
    if not shift:
        return integer_value(text, known) or 0
    number, by = integer_value(left, known), integer_value(right, known)
    return 0 if number is None or by is None or not 0 <= by < 31 else number << by


def note(exercise: KernelExercise, trial: Trial) -> str:
    """Why a trial is longer than the sizes of the task; "" for one that isn't."""
    contract = exercise.contract
    if not trial.past or not isinstance(contract, Domain) or contract.sizes is None:
        return ""
    extents = contract.sizes.extents_of(trial.size)
    for name, extent, most in zip(
        contract.sizes.names, extents, contract.sizes.most(), strict=True
    ):
        if extent > most:
            return (
                f"It's right up to {name} = {most:,}, and the task sets no limit. What in your "
                f"code sets one? {trial.past}"
            )
    return ""


def right_there(exercise: KernelExercise, trial: Trial) -> bool:
    """Whether the course's solution is right at a trial past the sizes of the task: not every
    reference is exact enough for longer sums."""
    module = emulated_runs.load_answer(exercise, exercise.solution, f"{exercise.id}.cu")
    given, launches = trial.given(exercise), trial.launches(exercise)
    run = emulated_runs.run(exercise, module, given, trial.size, trial.seed, launches=launches)
    if run.fault is not None or run.findings:
        return False
    return compared(exercise, run.arrays, run.before, given, trial.size).passed


def _ends(exercise: KernelExercise, trial: Trial, budget: int) -> bool:
    """Whether the course's solution ends there within ``budget``. With 65,543 keys, every query of
    an attention goes through all of them."""
    module = emulated_runs.load_answer(exercise, exercise.solution, f"{exercise.id}.cu")
    given, launches = trial.given(exercise), replace(trial, longer=1).launches(exercise)
    options = Options(budget=budget, patience=PATIENCE)
    try:
        run = emulated_runs.run(
            exercise, module, given, trial.size, trial.seed, launches=launches, options=options
        )
    except (LaunchTooLong, LessonError):
        return False
    return run.fault is None


def _past(exercise: KernelExercise, sizes: Sizes, at: int, source: str) -> Trial | None:
    """A trial whose extent ``at`` is longer than the largest limit that the numbers of ``source``
    may make, each alone or times another of them, a warp, a block or the grid."""
    most, short = sizes.most()[at], sizes.short()
    end = most * (4 if most < FEW else 2)
    launch = exercise.launches(sizes.of((*short[:at], most, *short[at + 1 :])))[-1]
    block, grid = prod(launch.block), prod(launch.grid)
    own, every = own_constants(exercise, source), constants(source)
    factors = every | {1, WARP, block, block * block, grid, block * grid}
    possible = [n * m for n in own for m in factors if most <= n * m < end]
    if not possible:
        return None
    limit, step = max(possible), gcd(*sizes.extents[at])
    extent = (limit + limit // 16) // step * step + step
    size = sizes.of((*short[:at], extent, *short[at + 1 :]))
    if not all(map(_fits, exercise.launches(size))):
        return None
    alone = max((n for n in own if most <= n <= limit), default=0)
    past = f"Is it {alone:,}?" if alone else "A number, an array or a type sets one."
    return Trial(size, SEED, past=past, longer=ceil_div(extent, most))


def _threads(exercise: KernelExercise, size: Any) -> int:
    return sum(prod(launch.grid) * prod(launch.block) for launch in exercise.launches(size))


def _fits(launch: Launch) -> bool:
    return max((0, *launch.grid[1:])) < PAST_SHORT and prod(launch.block) <= 1024


def _past_shorts(exercise: KernelExercise, sizes: Sizes, endless: list[int]) -> Iterator[Trial]:
    """Trials of one extent, and of two by their product, that are past what 16 bits count."""
    for at in endless:
        step = gcd(*sizes.extents[at])
        short, longest = sizes.short(), sizes.most()
        for past in (PAST_SHORT, PAST_SIGNED):
            extent = ceil_div(past + 7, step) * step
            size = sizes.of((*short[:at], extent, *short[at + 1 :]))
            if (threads := _threads(exercise, size)) <= MOST_THREADS:
                break
        else:  # several threads for each: as many as it takes for 65,536 threads
            extent = ceil_div(extent * (PAST_SHORT + 7), threads * step) * step
            size = sizes.of((*short[:at], extent, *short[at + 1 :]))
        if longest[at] < extent and all(map(_fits, exercise.launches(size))):
            times = ceil_div(extent, longest[at])
            yield Trial(size, SEED, past=NARROW, longer=min(times, 8))
        for other in sorted({*range(len(short))} - {*endless}):  # which has a limit: a row's length
            both = list(short)
            both[at], both[other] = (
                ceil_div(PAST_SHORT + 7, longest[other] * step) * step,
                longest[other],
            )
            size = sizes.of(tuple(both))
            fits = all(map(_fits, exercise.launches(size)))
            if longest[other] >= 256 and fits and _threads(exercise, size) <= MOST_THREADS:
                yield Trial(size, SEED, past=NARROW)
    for pair in combinations(endless, 2):
        square = list(sizes.short())
        for at in pair:
            step = gcd(*sizes.extents[at])
            square[at] = ceil_div(257, step) * step
        size = sizes.of(tuple(square))
        most = min(sizes.most()[at] for at in pair)
        if most >= 16:
            yield Trial(size, SEED, past=NARROW, longer=ceil_div(257, most))


def _many_threads(exercise: KernelExercise) -> Iterator[Trial]:
    """A launch of more threads than 16 bits count, where any grid will do."""
    size = exercise.small[0]
    blocks = {
        prod(launch.block): number
        for number, launch in enumerate(other_launches(exercise, size), 1)
        if isinstance(launch, Launch) and len(launch.grid) == 1
    }
    if len(blocks) > 1:  # the task sets no block, and so no grid
        yield Trial(size, SEED, blocks[max(blocks)], past=NARROW, threads=PAST_SHORT + 7)
