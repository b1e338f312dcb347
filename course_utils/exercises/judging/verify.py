"""Proves the exercises: the starter compiles and does not pass, the solution passes, and every
mutant is rejected with its diagnosis."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from ...text_tables import Table
from ..authoring import kinds
from ..authoring.registry import find
from ..authoring.spec import (
    BaseExercise,
    HostExercise,
    KernelExercise,
    Mutant,
    NumberExercise,
)
from ..authoring.variants import drawn
from .runner import check_source, run_source

NOT_PASS = "not pass"
NOT_A_STARTER = (kinds.PASS, kinds.COMPILE_ERROR, kinds.SYNTAX_ERROR, kinds.OUR_FAULT)


@dataclass(frozen=True)
class Proof:
    """One text that was run: what it should have got and what it got."""

    exercise_id: str
    text: str  # "starter", "solution" or the mutant's name
    expected: str
    got: str
    detail: str
    seconds: float

    @property
    def skipped(self) -> bool:
        """True where the machine lacks what the exercise needs."""
        return self.got in kinds.NOT_HERE

    @property
    def holds(self) -> bool:
        """Whether the text got the verdict it should get, or was skipped."""
        if self.skipped:
            return True
        if self.text == "starter" and self.expected == NOT_PASS:
            return self.got not in NOT_A_STARTER
        return self.got == self.expected


FULL_SIZE = "solution, full size"


def proofs(
    exercise: BaseExercise,
    gpu: bool = False,
    *,
    starter: bool = True,
    solution: bool = True,
    mutants: slice = slice(None),
) -> Iterator[Proof]:
    """Run the starter, the solution and every mutant of one exercise on the emulator, or only those
    that are asked for: ``mutants`` picks some of the exercise's.

    With ``gpu`` the solution of a kernel exercise also runs at full size there, as for a student.
    """
    if isinstance(exercise, HostExercise):  # one that never ends is stopped sooner than a reader's
        exercise = exercise.with_fields(seconds=2.0)
    texts = []
    if starter:
        texts.append(("starter", exercise.starter, exercise.bug or NOT_PASS))
    if solution:
        texts.append(("solution", exercise.solution, kinds.PASS))
    if solution and gpu and _has_full_size(exercise):
        texts.append((FULL_SIZE, exercise.solution, kinds.PASS))
    texts += [
        (m.name, m.apply(exercise.solution), m.kind) for m in wrong_answers(exercise)[mutants]
    ]
    for name, text, expected in texts:
        start = time.perf_counter()
        if name == FULL_SIZE:
            outcome = run_source(exercise, text, gpu=True)
        else:
            outcome = check_source(exercise, text)
        seconds = time.perf_counter() - start
        yield Proof(exercise.id, name, expected, outcome.kind, str(outcome), seconds)


def wrong_answers(exercise: BaseExercise) -> tuple[Mutant, ...]:
    """The mutants of the exercise's page. A variant of a prediction has its own instead: each
    number that is foreseen as wrong."""
    if not exercise.seed or not isinstance(exercise, NumberExercise):
        return exercise.mutants
    found = []
    for name, right in exercise.counted(exercise).items():
        for wrong in exercise.asks[name].traps:
            if wrong != right:
                change = f"\n{name} = {right:.12g}\n", f"\n{name} = {wrong!r}\n"
                found.append(Mutant(f"{name} = {wrong:.6g}", kinds.WRONG_NUMBER, (change,)))
    return tuple(found)


def proofs_of_many(exercises: Sequence[BaseExercise], gpu: bool = False) -> Iterator[Proof]:
    """:func:`proofs` of one exercise after the other; without a GPU, on all cores at once."""
    if gpu or len(exercises) == 1:
        for exercise in exercises:
            yield from proofs(exercise, gpu)
        return
    with ProcessPoolExecutor() as pool:
        names, seeds = zip(*((exercise.id, exercise.seed) for exercise in exercises), strict=True)
        for found in pool.map(_proofs_by_name, names, seeds):
            yield from found


def _proofs_by_name(name: str, seed: str) -> list[Proof]:
    """For another process, which gets no functions of a spec."""
    return list(proofs(drawn(find(name), seed)))


def _has_full_size(exercise: BaseExercise) -> bool:
    return isinstance(exercise, KernelExercise)


def table(found: list[Proof]) -> str:
    """The proofs as aligned text with a line of totals."""
    headings = ("exercise", "text", "expected", "got", "s", "")
    rows = []
    for p in found:
        mark = "skipped" if p.skipped else "ok" if p.holds else "FAILS"
        rows.append((p.exercise_id, p.text, p.expected, p.got, p.seconds, mark))
    exercises = len({p.exercise_id for p in found})
    mutants = sum(p.text not in ("starter", "solution", FULL_SIZE) for p in found)
    good = sum(p.holds for p in found)
    totals = f"{exercises} exercises, {mutants} mutants: {good} of {len(found)} hold"
    return f"{Table(headings, rows, left=headings[:4] + headings[5:])}\n\n{totals}"
