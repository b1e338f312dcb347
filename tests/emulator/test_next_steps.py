"""What to do next is known for every kind of finding, and depends on its cause."""

import pytest

from course_utils.emulator import (
    CAUSE_STEPS,
    DATA_RACE,
    KIND_STEPS,
    KINDS,
    Cause,
    Finding,
    next_step,
)

# Found only where a kernel has one.
FOR_ATOMICS_ALONE = {
    Cause.EXPECTED_NOT_RENEWED,
    Cause.LOCK_NOT_FENCED,
    Cause.READ_BESIDE_ATOMIC,
    Cause.SCOPE_TOO_NARROW,
}


def finding(cause):
    return Finding(DATA_RACE, "a race", cause=cause)


def test_every_kind_has_a_step():
    assert set(KIND_STEPS) == set(KINDS)


@pytest.mark.parametrize("cause", CAUSE_STEPS, ids=lambda cause: cause.name)
def test_the_step_of_a_cause_is_preferred_to_its_kind_s(cause):
    assert next_step(finding(cause)) == CAUSE_STEPS[cause] != KIND_STEPS[DATA_RACE]


def test_a_cause_without_a_step_has_its_kind_s():
    assert next_step(finding(Cause.TENSOR_OPERAND_INVALID)) == KIND_STEPS[DATA_RACE]


@pytest.mark.parametrize("cause", [c for c in Cause if c.name.startswith("TENSOR_MEMORY")])
def test_every_race_in_tensor_memory_has_a_step_of_its_own(cause):
    assert cause in CAUSE_STEPS


@pytest.mark.parametrize("cause", [*Cause], ids=lambda cause: cause.name)
def test_no_step_suggests_an_atomic_to_a_task_that_forbids_them(cause):
    suggested = "atomic" in next_step(finding(cause), atomics=False)
    assert suggested == (cause in FOR_ATOMICS_ALONE)
