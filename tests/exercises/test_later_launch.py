"""A finding of a kernel's second launch says so, and what the first one has left."""

import numpy as np
import pytest

from course_utils.emulator import Cause, Finding
from course_utils.exercises.authoring import kinds
from course_utils.exercises.authoring.emulated_runs import Begun, Run
from course_utils.exercises.judging.later_launch import in_later_launch

FIRST, SECOND, FAULT = (Finding(kinds.DATA_RACE, "", cause=Cause.NO_ORDER_IN_GRID) for _ in "123")


@pytest.mark.parametrize(
    ("kernels", "finding", "told"),
    [
        ("ff", FIRST, ()),
        ("ff", SECOND, ("second", "left[0] is 0 and was 20")),
        ("fff", FAULT, ("third", "left[0] is 7 and was 20")),
        ("fg", SECOND, ()),
    ],
)
def test_a_finding_names_its_launch_and_the_counters_left(kernels, finding, told):
    left = [np.array([value], np.uint32) for value in (20, 0, 7)]
    begun = [Begun(kernel, at, {"left": left[at]}) for at, kernel in enumerate(kernels)]
    run = Run({}, {}, [FIRST, SECOND], fault=FAULT, begun=begun)
    text = in_later_launch(run, finding)
    assert bool(text) == bool(told)
    assert all(part in text for part in told)
