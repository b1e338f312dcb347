"""A verdict names the mistake, and not what came of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from course_utils.emulator import CAUSE_STEPS, Cause, Finding, Location, next_step
from course_utils.exercises.authoring import emulated_runs, kinds
from course_utils.exercises.authoring.registry import find
from course_utils.exercises.judging.first_cause import first_cause
from course_utils.exercises.judging.runner import check_source


def found(cause: Cause, line: int = 5, array: str | None = "room", index: int = 1) -> Finding:
    kind = {
        Cause.MEMORY_NOT_INITIALISED: kinds.UNINITIALISED,
        Cause.STEP_BUDGET_EXCEEDED: kinds.ENDLESS_LOOP,
        Cause.MBARRIER_ARRIVALS_MISSING: kinds.DEADLOCK,
        Cause.OUTSIDE_ARRAY: kinds.OUT_OF_BOUNDS,
    }.get(cause, kinds.DATA_RACE)
    location = Location("t.cu", line, 1)
    return Finding(kind, "", location=location, array=array, index=index, cause=cause)


RACE = found(Cause.NO_ORDER_IN_BLOCK)
SAME = found(Cause.SAME_ELEMENT_WRITTEN)
COPY = found(Cause.COPY_NOT_AWAITED)
UNINITIALISED = found(Cause.MEMORY_NOT_INITIALISED)
AT_THE_FAULT = found(Cause.MEMORY_NOT_INITIALISED, line=9)
ELSEWHERE = found(Cause.MEMORY_NOT_INITIALISED, array="list", index=0)
ENDLESS = found(Cause.STEP_BUDGET_EXCEEDED, line=9, array=None)
PHASE = found(Cause.MBARRIER_ARRIVALS_MISSING, line=9, array=None)
OUTSIDE = found(Cause.OUTSIDE_ARRAY, line=9, array="x")
OF_ROOM = replace(OUTSIDE, index_from=frozenset({"room"}))
OF_LIST = replace(OUTSIDE, index_from=frozenset({"list"}))


@pytest.mark.parametrize(
    ("findings", "fault", "cause"),
    [
        ((SAME,), ENDLESS, SAME),  # a ticket drawn by every thread
        ((RACE,), PHASE, PHASE),
        ((COPY,), ENDLESS, ENDLESS),  # of a hang the phase waited for is the cause
        ((UNINITIALISED,), OUTSIDE, OUTSIDE),  # of another line, and so maybe of another value
        ((AT_THE_FAULT,), OUTSIDE, AT_THE_FAULT),
        ((RACE,), OUTSIDE, OUTSIDE),
        ((SAME,), OF_ROOM, SAME),  # the index was read from an element that several wrote
        ((SAME,), OF_LIST, OF_LIST),
        ((AT_THE_FAULT, RACE), OUTSIDE, RACE),  # another thread writes the element too late
        ((ELSEWHERE, RACE), None, ELSEWHERE),
        ((UNINITIALISED, RACE), None, RACE),
        ((), OUTSIDE, OUTSIDE),
        ((), None, None),
    ],
)
def test_the_first_cause_of_a_run(findings, fault, cause):
    run = emulated_runs.Run({"x": np.zeros(1)}, {}, findings=list(findings), fault=fault)
    assert first_cause(run) is cause


def test_no_atomic_is_advised_where_the_task_forbids_it():
    exercise = find("04.keep_in_order")
    counted = """__shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    int to = first[blockIdx.x] + (kept ? count++ : 0);"""
    start, end = (
        exercise.solution.index("    if (lane == 0)"),
        exercise.solution.index("    if (kept)"),
    )
    source = f"{exercise.solution[:start]}    {counted}\n{exercise.solution[end:]}"
    verdict = check_source(exercise, source).verdict
    assert (verdict.kind, verdict.cause) == (kinds.DATA_RACE, Cause.UPDATE_NOT_ATOMIC)
    assert verdict.hint == next_step(found(Cause.UPDATE_NOT_ATOMIC), atomics=False)
    assert verdict.hint != CAUSE_STEPS[Cause.UPDATE_NOT_ATOMIC]
    assert find("04.dot").allows_atomics


def test_a_counter_that_was_never_set_is_the_cause_of_an_index_on_another_line():
    exercise = find("04.gather_the_few")
    start = exercise.solution.index("    if (threadIdx.x == 0) {")
    end = exercise.solution.index("    __syncthreads(); // the list is empty")
    source = exercise.solution[:start] + exercise.solution[end:]
    source = source.replace(
        "list[atomicAdd(&count, 1)] = i;", "const int at = atomicAdd(&count, 1);\nlist[at] = i;"
    )
    verdict = check_source(exercise, source).verdict
    assert verdict.cause == Cause.MEMORY_NOT_INITIALISED
    assert "count[0]" in verdict.message
