"""The right answers of a prediction, counted on the emulator."""

from __future__ import annotations

import numpy as np

from . import emulated_runs
from .spec import NumberExercise

_counted: dict[tuple[str, str], dict[str, float]] = {}


def counted(exercise: NumberExercise) -> dict[str, float]:
    """The right answers by name, from one launch each on the emulator; counted once a session. A
    number of events is an int, a ratio of two a float."""
    key = exercise.id, exercise.seed
    if key not in _counted:
        _counted[key] = _count(exercise)
    return _counted[key]


def _count(exercise: NumberExercise) -> dict[str, float]:
    text = exercise.text
    module = emulated_runs.load_answer(exercise, text, exercise.source)
    answers = {}
    for name, ask in exercise.asks.items():
        given = exercise.inputs(np.random.default_rng(1), ask.size)
        run = emulated_runs.run(exercise, module, given, ask.size, counters=True)
        if run.fault:
            raise RuntimeError(f"{exercise.source} has a fault: {run.fault.message}")
        assert run.counts is not None, "a run with no fault has been counted"
        answer = ask.measure(run.counts)
        answers[name] = int(answer) if isinstance(answer, (int, np.integer)) else float(answer)
    return answers
