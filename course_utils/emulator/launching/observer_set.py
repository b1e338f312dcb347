"""Which observers a launch gets, by its options."""

from __future__ import annotations

from collections.abc import Callable

from ..checks.barriers.early_use import EarlyUseCheck
from ..checks.barriers.sync_check import SyncCheck
from ..checks.proxies.proxy_check import ProxyCheck, reads_asynchronously
from ..checks.races.race_check import RaceCheck
from ..checks.races.tensor_memory_check import TensorMemoryCheck
from ..checks.uninitialised.init_check import InitCheck
from ..machine.launch_state import LaunchState
from ..machine.observer import Observer
from ..recording.async_recorder import AsyncRecorder
from ..recording.counters import CounterRecorder
from ..recording.first_nan import FirstNan
from ..recording.thread_stats import ThreadStats
from ..recording.trace_recorder import TraceRecorder


def _races(launch: LaunchState) -> list[Observer]:
    check = RaceCheck(launch)
    return [check, TensorMemoryCheck(check)] if launch.entry.tensor_memory else [check]


def _proxies(launch: LaunchState) -> list[Observer]:
    crosses = reads_asynchronously(launch.entry.forms)
    return [ProxyCheck(launch)] if crosses else []


CHECKS: dict[str, Callable[[LaunchState], list[Observer]]] = {
    "early use": lambda launch: [EarlyUseCheck(launch)],
    "race": _races,
    "uninitialised": lambda launch: [InitCheck(launch)],
    "sync": lambda launch: [SyncCheck(launch)],
    "proxy": _proxies,
}


def observers_of(launch: LaunchState) -> list[Observer]:
    """The checks that ``launch.options`` name, and what records. Raises ValueError for a check
    that there is none of."""
    options = launch.options
    unknown = {*options.checks} - CHECKS.keys()
    if unknown:
        raise ValueError(f"no check named {', '.join(unknown)}; there are {', '.join(CHECKS)}")
    observers = [o for name, make in CHECKS.items() if name in options.checks for o in make(launch)]
    if options.counters:
        observers.append(CounterRecorder(launch))
    if options.threads:
        observers.append(ThreadStats(launch))
    if options.first_nan:
        observers.append(FirstNan(infinite=options.first_nan == "inf"))
    if options.recorder is not None:
        observers.append(options.recorder)
    if options.trace is not None:
        observers += TraceRecorder(options.trace), AsyncRecorder(options.trace)
    return observers
