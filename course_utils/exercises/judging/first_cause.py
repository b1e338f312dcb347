"""Which of a launch's findings is the mistake, and which only comes of it."""

from __future__ import annotations

from ...emulator import ERROR, GLOBAL, Cause, Finding
from ..authoring import emulated_runs, kinds

HANGS = (kinds.ENDLESS_LOOP, kinds.DEADLOCK)  # threads wait for a value that another spoiled
UNORDERED = (
    Cause.NO_ORDER_IN_WARP,
    Cause.NO_ORDER_IN_BLOCK,
    Cause.NO_ORDER_IN_CLUSTER,
    Cause.NO_ORDER_IN_GRID,
    Cause.NO_ORDER_BEFORE_WGMMA,
    Cause.COPY_COMPLETION_NOT_SEEN,
    Cause.FLAG_NOT_FENCED,
    Cause.FLAG_IN_BLOCK_NOT_FENCED,
    Cause.FLAG_BARRIER_MISSING,
    Cause.FLAG_WAIT_NOT_SHARED,
    Cause.FLAG_SET_TOO_EARLY,
    Cause.FLAG_WAIT_TOO_LATE,
    Cause.FLAG_WAIT_TOO_SHORT,
    Cause.LOCK_NOT_FENCED,
    Cause.MBARRIER_NOT_BETWEEN,
    Cause.TURN_NOT_PASSED,
    Cause.LOOP_WAITS_FOR_WRITE,
)
MBARRIERS = (  # a phase counts arrivals and bytes, whatever the data are
    Cause.MBARRIER_ARRIVALS_MISSING,
    Cause.MBARRIER_BYTES_MISSING,
    Cause.MBARRIER_BYTES_UNEXPECTED,
)
SPOILED = (
    *UNORDERED,
    Cause.UPDATE_NOT_ATOMIC,
    Cause.TEST_NOT_ATOMIC,
    Cause.LOCK_NOT_ATOMIC,
    Cause.READ_BESIDE_ATOMIC,
    Cause.UPDATE_OF_ONE_INDEX,
    Cause.WRITTEN_BY_ALL,
    Cause.OWN_VALUES_WRITTEN_BY_ALL,
    Cause.SAME_INDEX_COUNTED,
    Cause.SAME_ELEMENT_WRITTEN,
    Cause.SAME_ELEMENT_IN_TURN,
)


def first_cause(run: emulated_runs.Run) -> Finding | None:
    """The fault, unless an earlier finding explains it. Without a fault, the first error, or else
    the first warning: a result may be right by luck.

    An access out of bounds follows from an earlier race on an element that its index was read from.
    An endless loop or a deadlock follows from an earlier data race or uninitialised value, and any
    fault from an uninitialised value that its own line computed with. An element that a thread
    reads before another writes it is a race, and no uninitialised one. An output that a later
    kernel reads and none has written is left out: `compared` reports it, more precisely.
    """
    found = [f for f in run.findings if f.kind != kinds.UNINITIALISED or _touched(run, f.array)]
    if run.fault is None:
        cause = next((f for f in found if f.level == ERROR), found[0] if found else None)
    else:
        cause = next((f for f in found if _explains(f, run.fault)), run.fault)
    if cause is None or cause.kind != kinds.UNINITIALISED or cause.array is None:
        return cause
    element = cause.array, cause.index
    races = (f for f in found if f.cause in UNORDERED and (f.array, f.index) == element)
    return next(races, cause)


def _explains(one: Finding, fault: Finding) -> bool:
    if one.kind == kinds.UNINITIALISED and one.location == fault.location:
        return True
    if one.level == ERROR and one.cause in SPOILED and one.array in fault.index_from:
        return True
    if one.level != ERROR or fault.kind not in HANGS or fault.cause in MBARRIERS:
        return False
    return one.kind == kinds.UNINITIALISED or one.cause in SPOILED


def _touched(run: emulated_runs.Run, name: str | None) -> bool:
    return name not in run.arrays or not GLOBAL.untouched(run.arrays[name])
