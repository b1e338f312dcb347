"""Observers: the events that a launch announces, and who listens."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    DATA_RACE,
    UNINITIALISED,
    EmulatedModule,
    Options,
)
from course_utils.emulator.checks.barriers import early_use, sync_check
from course_utils.emulator.checks.proxies import proxy_check
from course_utils.emulator.checks.races import race_check, tensor_memory_check
from course_utils.emulator.checks.uninitialised import init_check
from course_utils.emulator.launching.observer_set import CHECKS
from course_utils.emulator.machine.observer import EVENTS, Observer, Observers, ignore_event
from course_utils.emulator.recording import (
    async_recorder,
    counters,
    line_steps,
    thread_stats,
    trace_recorder,
)

MODULES = (
    early_use,
    init_check,
    proxy_check,
    race_check,
    sync_check,
    tensor_memory_check,
    counters,
    thread_stats,
    async_recorder,
    line_steps,
    trace_recorder,
)
FAULTY = """extern "C" __global__ void f(float* y)
{
    __shared__ float s[64], never[64];
    s[threadIdx.x] = threadIdx.x;
    y[threadIdx.x] = s[63 - threadIdx.x] + never[threadIdx.x];
}"""


def kinds(checks) -> set[str]:
    entry = EmulatedModule(compile_ptx(FAULTY, filename="f.cu")).entry("f")
    result = entry.launch(1, 64, (np.zeros(64, np.float32),), options=Options(checks=checks))
    return {finding.kind for finding in result.findings}


@pytest.mark.parametrize(
    "checks, found",
    [
        ((), set()),
        (("race",), {DATA_RACE}),
        (("uninitialised",), {UNINITIALISED}),
        (ALL_CHECKS, {DATA_RACE, UNINITIALISED}),
    ],
)
def test_a_launch_is_checked_for_what_its_options_name(checks, found):
    assert kinds(checks) == found


def test_a_check_that_there_is_none_of_is_refused():
    with pytest.raises(ValueError, match="no check named races"):
        kinds(("races",))


def test_the_options_know_every_check():
    assert CHECKS.keys() == ALL_CHECKS


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_is_wanted_by_some_observer(event):
    classes = [c for m in MODULES for c in vars(m).values() if isinstance(c, type)]
    assert any(issubclass(c, Observer) and event in vars(c) for c in classes if c is not Observer)


def test_an_event_reaches_all_who_want_it_and_nobody_else():
    told = []

    class Listener(Observer):
        def batch_starts(self, batch):
            told.append((self, batch))

    first, second = Listener(), Listener()
    observers = Observers([first, Observer(), second])
    observers.batch_starts("a batch")
    assert told == [(first, "a batch"), (second, "a batch")]
    assert observers.batch_ends is ignore_event
