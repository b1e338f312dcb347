"""Every exercise says what it promises and by what means it is solved, or why it does not."""

import pytest

from course_utils.exercises import Domain, DrawnCases, NumberExercise, Requirement
from course_utils.exercises.authoring.registry import all_exercises
from course_utils.exercises.authoring.spec import Exercise, PythonExercise

# A prediction is of one launch: there is nothing to draw, and no way to it is wrong.
EXERCISES = {e.id: e for e in all_exercises() if not isinstance(e, NumberExercise)}
LEAST_REASON = 20  # characters


def is_said(value, kind) -> bool:
    """Something of that kind, or a sentence that says why there is nothing."""
    if isinstance(value, str):
        return len(value) >= LEAST_REASON and value.endswith(".")
    return bool(value) and isinstance(value, kind)


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_an_exercise_says_its_promises_and_means_or_why_it_has_none(name):
    exercise = EXERCISES[name]
    if isinstance(exercise, Exercise):
        assert is_said(exercise.contract, Domain)
        assert is_said(exercise.method, tuple)
        assert isinstance(exercise.method, str) or all(
            isinstance(m, Requirement) for m in exercise.method
        )
        assert isinstance(exercise.contract, str) or exercise.contract != Domain()
        return
    assert is_said(exercise.contract, DrawnCases)
    if isinstance(exercise, PythonExercise):
        assert callable(exercise.method) or is_said(exercise.method, tuple)
