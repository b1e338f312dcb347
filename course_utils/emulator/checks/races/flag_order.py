"""The order that a flag was meant to make between two racing accesses, and the piece it lacks.

A flag orders one thread's accesses before it sets the flag and another's after it has read it. With
a block on either side that takes stores, barrier, fence, flag, then wait, fence, barrier, reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...findings.causes import Cause
from ...findings.language_words import Language
from ...isa.instruction_set import traits_of
from ...isa.ptx import Instruction
from .checked_access import CheckedAccess
from .colliding_writes import place_of
from .flags import FlagRead, Release
from .ordering import Ordering
from .race_entries import CLOCK_SHIFT, THREAD
from .waiting_loops import LOOP_WAITS_APART, Poll, polls

ACT = {"write": "store", "read": "read"}
CUDA_ATOMIC = "relaxed"  # of cuda::atomic_ref, whose orders make a fence unnecessary
Told = tuple[Cause, str]


class FlagOrder:
    """Two racing accesses: of the thread of ``entry`` by ``there``, which is a ``kind`` ("read",
    "write"), and of ``lane`` by the access under way, a ``verb``. ``own``: of one block.
    ``left_out``: the fence before the flag is by other lanes of the warp of ``entry``."""

    def __init__(
        self,
        access: CheckedAccess,
        there: Instruction,
        entry: int,
        lane: int,
        kind: str,
        verb: str,
    ) -> None:
        self.access, self.lane, self.kind, self.verb = access, lane, kind, verb
        self.there, self.here = there, access.site.instruction
        self.batch, self.clocks = access.group.batch, access.clocks
        self.earlier, self.time = access.earlier(entry), entry >> CLOCK_SHIFT
        self.other = (entry & THREAD) >> 5
        size = self.batch.lanes_per_block
        self.own = self.earlier // size == lane // size
        apart = self.earlier >> 5 != lane >> 5
        self.left_out = apart and self.clocks.left_out(lane, entry) is not None
        self.words = self.batch.launch.options.words
        self.paths = access.races.paths(access.group.code)

    def told(self, order: Ordering, cause: Cause, missing: str) -> Told | None:
        """Why a flag doesn't order the two, None where there is no flag between them. ``cause`` and
        ``missing``: the report of two accesses without one."""
        found = order.find_flag(self.lane, self.other, self.time)
        if found is None:
            return None if self.own else self._not_waited()
        flag, seen = found
        apart = self.earlier >> 5 != self.lane >> 5
        handed = apart and (flag.warp, seen.lane >> 5) == (self.other, self.lane >> 5)
        if self.own and not (handed and order.flags.fences):
            return None  # a barrier is the rule, unless one warp hands the other a flag
        sets, reads = flag.site.instruction, seen.site.instruction
        polled = any(p.read is reads for p in polls(self.access.group.code))
        if not self.own and (polled or order.flags.fences):
            if not self.paths.comes_after(self.there, sets):
                return self._set_too_early(flag)
            if not self.paths.comes_after(reads, self.here):
                return self._waited_too_late(reads)
        if not order.flags.fences:
            return Cause.FLAG_NOT_FENCED if polled else cause, (
                f"{missing}\n  Is {self._setter(flag)} to order them? Then it needs a "
                f"{self.words.fence} before it, and one after it is read at {reads.location}."
            )
        return self._before_flag(order, flag) or self._after_flag(order, seen)

    def _fence(self, flag: Instruction) -> str:
        """The fence that goes with an access to the flag."""
        if self.own:
            return self.words.block_fence
        wide = "sys" in flag.modifiers and self.batch.launch.options.language is Language.CUDA
        return "__threadfence_system()" if wide else self.words.fence

    # --- the side that sets the flag ---

    def _setter(self, flag: Release) -> str:
        thread, block = self.batch.thread_and_block(flag.thread - self.clocks.first)
        at = flag.site.instruction.location
        return f"the flag that thread {thread} of block {block} sets at {at}"

    def _set_too_early(self, flag: Release) -> Told:
        sets, code = flag.site.instruction, self.access.group.code
        if {"cas", "exch"} & {*sets.modifiers} and any(p.read is sets for p in polls(code)):
            return self._of_lock(sets)
        act, there = ACT[self.kind], self.there.location
        return Cause.FLAG_SET_TOO_EARLY, (
            f"and {self._setter(flag)}\n  comes before the {act} at {there} in the program. Set it "
            f"after the {act}."
        )

    def _of_lock(self, takes: Instruction) -> Told:
        """What two accesses of threads lack that take a lock by an atomic: its fences, or an atomic
        that frees it."""
        if place_of(takes) in (place_of(self.there), place_of(self.here)):
            return Cause.LOOP_WAITS_FOR_WRITE, LOOP_WAITS_APART.format(loop=takes.location)
        fence = self._fence(takes)
        return Cause.LOCK_NOT_FENCED, (
            f"and the lock that both take at {takes.location} orders nothing without fences: one "
            f"{fence}\n  after it is taken, and one before it is freed."
        )

    def _before_flag(self, order: Ordering, flag: Release) -> Told | None:
        """The piece missing between the earlier access and the flag, None where none is."""
        place, act, words = self.other - flag.first, ACT[self.kind], self.words
        fence = self._fence(flag.site.instruction)
        before = f"nothing orders the {act} at {self.there.location} before\n  {self._setter(flag)}"
        barrier = f"put {words.block_barrier} after the {act}"
        known = self.other == flag.warp or bool(flag.known[place] > self.time)
        fenced = bool((flag.fenced_near if self.own else flag.fenced)[place] > self.time)
        if self.left_out:
            known, fenced = self._met(self.there, flag.site.instruction), False
        if known and fenced:
            return None
        if known and (self.own or self.earlier == flag.thread - self.clocks.first):
            met = True  # the thread's own access
        else:
            met = known and self._met(self.there, flag.site.instruction)
        if not met:
            put = f"{barrier},\n  where every thread of the block comes by"
            if not (fenced or self._fenced(order, flag)):
                put += f", and {fence} right before the flag"
            elif self.other != flag.warp and order.fenced_by(self.other, self.time, self.own):
                put = put.replace(barrier, f"{barrier} and its {fence}")
            return Cause.FLAG_BARRIER_MISSING, f"and {before}: {put}."
        why = "and "
        if not self.own and flag.fenced_near[place] > self.time:
            why = f"{words.block_fence} counts for its own block only, and "
        put = f"{_release(flag.site.instruction)}put {fence} right before it, in the same thread"
        cause = Cause.FLAG_IN_BLOCK_NOT_FENCED if self.own else Cause.FLAG_NOT_FENCED
        return cause, f"{why}{before}: {put}."

    def _met(self, first: Instruction, last: Instruction) -> bool:
        """Whether a barrier of the block comes between two instructions in the program."""
        return any(
            traits_of(i).barrier and self._between(first, i, last) for i in self._instructions()
        )

    def _acquires(self, wait: Instruction, read: Instruction) -> bool:
        """Whether a fence comes between a wait for a flag and a read in the program."""
        return bool({"acquire", "acq_rel"} & {*wait.modifiers}) or any(
            traits_of(i).fence and self._between(wait, i, read) for i in self._instructions()
        )

    def _instructions(self) -> Iterator[Instruction]:
        return (i for block in self.access.group.code.blocks for i in block.instructions)

    def _between(self, first: Instruction, i: Instruction, last: Instruction) -> bool:
        return self.paths.comes_after(first, i) and self.paths.comes_after(i, last)

    def _fenced(self, order: Ordering, flag: Release) -> bool:
        """Whether there is a fence already that a barrier would complete: one of the thread that
        sets the flag, or of the one that stored."""
        own, fenced = flag.warp - flag.first, flag.fenced_near if self.own else flag.fenced
        released = bool(fenced[own] >= flag.known[own])
        return released or order.fenced_by(self.other, self.time, self.own)

    # --- the side that waits for it ---

    def _after_flag(self, order: Ordering, seen: FlagRead) -> Told:
        """The piece missing between the flag and the later access."""
        thread, block = self.batch.thread_and_block(seen.lane)
        read, act, words = seen.site.instruction, ACT[self.verb], self.words
        fence = self._fence(read)
        after = f"nothing orders the {act} at {self.here.location} after\n  the flag that thread "
        after += f"{thread} of block {block} reads at {read.location}"
        cause = Cause.FLAG_IN_BLOCK_NOT_FENCED if self.own else Cause.FLAG_NOT_FENCED
        handed = order.handed_over(self.lane, self.other, self.time)
        if seen.lane >> 5 == self.lane >> 5 or handed:
            put = f"{_acquire(read)}put {fence} right after that"
            return cause, f"and {after}: {put}."
        put = f"put {words.block_barrier} after the wait, where every thread of the block comes by"
        if not order.handed_over(seen.lane, self.other, self.time):  # it knows of it already
            return Cause.FLAG_WAIT_NOT_SHARED, f"and {after}: {put}."
        return Cause.FLAG_WAIT_NOT_SHARED, (f"and {after}:\n  {put}, and {fence} between the two.")

    def _not_waited(self) -> Told | None:
        """That the reader doesn't wait for the flag that another thread of its block waits for, or
        does so only after it has read. None where there is no such loop."""
        if (self.kind, self.verb) == ("write", "write"):
            return None
        reader, read = self.lane, self.here
        if self.kind == "read":
            reader, read = self.earlier, self.there
        found = polls(self.access.group.code)
        late = [p for p in found if not self.paths.comes_after(p.read, read)]
        if late and len(late) == len(found):
            return self._waited_too_late(late[0].read, read)
        size = self.batch.lanes_per_block
        for lane, poll in self._waiting([p for p in found if p not in late]):
            if lane // size == reader // size and lane != reader:
                thread, block = self.batch.thread_and_block(lane)
                put = self.words.block_barrier
                if not self._acquires(poll.read, read):
                    put = f"{self._fence(poll.read)} and then {put}"
                return Cause.FLAG_WAIT_NOT_SHARED, (
                    f"and thread {thread} of block {block} waits for a flag at "
                    f"{poll.read.location}, but the thread\n  that reads at {read.location} "
                    f"doesn't: put {put} after the wait,\n  where every thread of the block "
                    "comes by."
                )
        return None

    def _waiting(self, found: Sequence[Poll]) -> Iterator[tuple[int, Poll]]:
        """The lanes that are in a loop that waits for a flag, each with the loop."""
        for group in (*self.batch.scheduler.groups, self.access.group):
            for poll in found:
                if group.code is self.access.group.code and group.block in poll.blocks:
                    yield from ((lane, poll) for lane in group.lanes.tolist())

    def _waited_too_late(self, wait: Instruction, read: Instruction | None = None) -> Told:
        read = read or self.here
        return Cause.FLAG_WAIT_TOO_LATE, (
            f"and the access at {read.location} comes before the wait for the flag at "
            f"{wait.location} in the program.\n  Wait first."
        )


def _release(flag: Instruction) -> str:
    return "set it with memory_order_release, or " if CUDA_ATOMIC in flag.modifiers else ""


def _acquire(flag: Instruction) -> str:
    return "read it with memory_order_acquire, or " if CUDA_ATOMIC in flag.modifiers else ""
