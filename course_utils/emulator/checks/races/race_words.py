"""The reports of races: of two accesses, and of an access with a copy in flight."""

from __future__ import annotations

import numpy as np

from ...findings.causes import Cause
from ...findings.report import DATA_RACE, ERROR, WARNING, Finding
from .checked_access import CheckedAccess
from .copy_groups import left_in_flight, overwrites
from .copy_reports import (
    NOT_READ,
    TWO_BLOCKS,
    completed_copy,
    completion_target,
    copied_by,
    copy_at,
    copy_name,
    remedy,
)
from .copy_sides import CopySide
from .race_causes import cause_of, note_of
from .race_entries import THREAD, number_of
from .severity import bypassed_barrier
from .tile_reads import until

OVERWRITES = "\n  and is for the data of an earlier copy: this one overwrites it."
NOT_AWAITED = "\n  before the copy was waited for."


def report_race(
    access: CheckedAccess,
    kind: str,
    number: int,
    entries: np.ndarray,
    cells: np.ndarray,
    bad: np.ndarray,
    together: bool = False,
) -> None:
    """Report that lanes, at the positions ``bad``, meet the earlier accesses ``entries``, all
    of one instruction; ``together``: of this one, executed at the same time."""
    region, batch, findings = access.region, access.group.batch, access.races.findings
    there_site = access.races.numbers.site(number)
    there = there_site.instruction.location
    landed_copy = isinstance(there_site, CopySide)
    waited = there_site.waited if isinstance(there_site, CopySide) else None
    here = access.site.instruction.location
    key = ("race", region.space, str(there), str(here), kind, access.writes)
    if findings.warns(key) and not note_of(access, there_site, entries, cells, bad):
        findings.is_error(key)
    if findings.again(key, len(bad)):
        return
    at = _widest(access, entries, bad)
    entry, cell = int(entries[at]), int(cells[at])
    lane, earlier = int(access.group.lanes[at]), access.earlier(entry)
    thread, block = batch.thread_and_block(lane)
    other, other_block = batch.thread_and_block(earlier)
    index, verb = access.index(cell), "write" if access.writes else "read"
    home = access.home(cell) if region.space == "shared" else None
    where = f" in shared memory, block {home}" if home else ""
    did, rule = f"{kind}s it at {there}", ""
    if waited:
        did, rule = copied_by(there_site.instruction, waited)
    elif landed_copy:  # a copy that has landed, as this thread cannot know
        did, rule = completed_copy(there_site.instruction, kind)
    cause, missing = cause_of(access, there_site, entries, cells, at, kind, verb, together)
    if cause not in (Cause.TILE_STILL_READ, Cause.COPIES_OVERLAP):
        missing += rule
    of, of_other = f" of block {block}", f" of block {other_block}"
    if where and block == other_block == home:
        of = of_other = ""
    before = f"  thread {other}{of_other} {did}"
    after = f"  thread {thread}{of} {verb}s it at {here}"
    order = f"{verb} after {kind}"
    if late := until(access.site):
        order, before, after = f"{kind} after {verb}", f"{after}{late}", before
        here, there, thread, block, other = there, here, other, other_block, thread
    text = f"Data race ({order}) on {region.name}[{index}]{where}:\n{before}\n{after}"
    instruction = access.site.instruction
    bypassed = bypassed_barrier(access.races.paths, access.group, instruction, earlier, lane)
    why = f"{missing}{bypassed}"
    note = note_of(access, there_site, entries, cells, bad)
    level = WARNING if note else ERROR
    times = len(bad) - 1
    finding = Finding(
        DATA_RACE,
        text + why,
        here,
        thread,
        block,
        region.name,
        index,
        other_location=there,
        other_thread=other,
        repeats=times,
        level=level,
        cause=cause,
        symptom=f"{text}\n  and nothing orders the two.",
    )
    findings.add(key, finding, note)


def report_copy(access: CheckedAccess, entry: int, cell: int, at: int, times: int) -> None:
    """Report that the lane at position ``at`` meets the copy in flight ``entry``."""
    batch = access.group.batch
    number = int(number_of(entry))
    started = access.races.numbers.site(number).instruction
    there, here = started.location, access.site.instruction.location
    key = ("flight", str(there), str(here), access.writes)
    if access.races.findings.again(key, times):
        return
    earlier = access.earlier(entry)
    thread, block = batch.thread_and_block(access.group.lanes[at])
    other, other_block = batch.thread_and_block(earlier)
    index, name = access.index(cell), access.region.name
    where = access.region, cell, access.shadow.granule
    copy = copy_at(batch, started, earlier, *where)
    what = f"\n    ({copy_name(copy)}{completion_target(batch, copy)})" if copy else ""
    shared = access.region.space == "shared"
    place = f" in shared memory, block {access.home(cell)}" if shared else ""
    does, rule = ("writes it" if access.writes else "reads it"), ""
    if isinstance(access.site, CopySide):
        does = f"starts another {'into' if access.writes else 'out of'} it"
    if not shared:
        rule = NOT_READ if block == other_block else TWO_BLOCKS
    elif copy:
        rule = remedy(batch, copy)
    of = "" if shared else f" of block {block}"
    cause, missing = Cause.COPY_NOT_AWAITED, NOT_AWAITED + rule
    if late := until(access.site):
        cause, missing = Cause.TILE_STILL_READ, f"{late}: before that the tile is not free."
    elif rule == TWO_BLOCKS and access.writes and number & 1:
        cause, missing = Cause.COPIES_OVERLAP, TWO_BLOCKS
    elif shared and (why := left_in_flight(batch, started, earlier, *where)):
        cause, missing = why[0], NOT_AWAITED + why[1]
    elif shared and copy is None and overwrites(access, started, cell):
        cause, missing = Cause.COPY_OVERWRITES, OVERWRITES
    text = (
        f"Data race on {name}[{index}]{place}:\n"
        f"  thread {other} of block {other_block} started an asynchronous copy "
        f"{'into' if number & 1 else 'out of'} it at {there}{what}\n"
        f"  thread {thread}{of} {does} at {here}{missing}"
    )
    finding = Finding(
        DATA_RACE,
        text,
        here,
        thread,
        block,
        name,
        index,
        other_location=there,
        other_thread=other,
        repeats=times - 1,
        cause=cause,
    )
    access.races.findings.add(key, finding)


def _widest(access: CheckedAccess, entries: np.ndarray, bad: np.ndarray) -> int:
    """The first of the positions ``bad`` where two blocks meet, which no barrier of a block
    orders; without one, the first of all."""
    if access.region.space == "global":
        size = access.group.batch.lanes_per_block
        earlier = (entries[bad] & THREAD) - access.clocks.first
        apart = access.group.lanes[bad] // size != earlier // size
        return int(bad[int(apart.argmax())])
    return int(bad[0])
