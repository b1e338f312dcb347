"""What an exercise is about, counted: a right result by another method is no answer.

The emulator counts one launch of a right answer, thread by thread. Each :class:`Requirement`
compares one of its numbers with the bounds of the task, and names the number that is outside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...emulator import Counts

if TYPE_CHECKING:
    from ...emulator import LaunchResult, ThreadStats


ROUNDING = 1e-9


@dataclass(frozen=True)
class LaunchStats:
    """What the launches of one run did.

    ``counts`` are of all launches together. ``launches`` has each one's result, with the counts of
    each thread in ``.threads``. ``results`` and ``result_bytes`` are the elements and bytes of all
    outputs. ``block_shared`` is the shared memory of a block in bytes, in the launch that takes
    most. ``of_ours()`` gives the counts of the course's own solution.
    """

    counts: Counts
    launches: tuple[LaunchResult, ...]
    results: int
    result_bytes: int
    block_shared: int = 0
    of_ours: Callable[[], LaunchStats] | None = None

    @property
    def threads(self) -> list[ThreadStats]:
        """The work of every thread, launch by launch."""
        return [launch.threads for launch in self.launches if launch.threads is not None]

    @property
    def ours(self) -> LaunchStats:
        """The counts of the course's own solution, or these where there is none to run."""
        return self.of_ours() if self.of_ours else self

    def opcodes(self, *starts: str) -> int:
        """How often threads ran instructions whose PTX name begins with one of ``starts``."""
        return sum(n for name, n in self.counts.opcodes.items() if name.startswith(starts))

    def loaded_from(self, array: str) -> int:
        """Bytes that all threads loaded from the array called ``array``."""
        return sum(int(each.loaded_from.get(array, 0)) for each in self.threads)

    def busiest_over_mean(self, of: str = "touched") -> float:
        """What the busiest thread did, over what a thread did on average; the worst launch."""
        found = [getattr(each, of) for each in self.threads]
        return max((float(x.max() / x.mean()) for x in found if x.any()), default=0.0)


@dataclass(frozen=True)
class Requirement:
    """``measure(stats)`` must be from ``at_least`` to ``at_most`` at ``size`` (None: the first of
    the small ones). ``label`` names the number; ``advice`` says what the task asks for.
    ``no_atomics``: it forbids them. ``orders``: it asks for an order of the threads, without which
    a result comes out right by luck."""

    label: str
    measure: Callable[[LaunchStats], float]
    at_least: float = -np.inf
    at_most: float = np.inf
    advice: str = ""
    size: Any = None
    no_atomics: bool = False
    orders: bool = False

    def missing(self, stats: LaunchStats) -> str:
        """What is wrong with the number; nothing where it is as it should be."""
        found = self.measure(stats)
        if found > self.at_most * (1 + ROUNDING):
            return f"{self.label}: {_figure(found)}; the limit is {_figure(self.at_most)}"
        if found < self.at_least * (1 - ROUNDING):
            least = _figure(self.at_least)
            return f"{self.label}: {_figure(found)}; at least {least} are required"
        return ""


def _figure(number: float) -> str:
    """Four digits, and all of a number that is larger."""
    return f"{number:,.0f}" if number >= 10_000 else f"{number:.4g}"


def stats_of(launches: list[LaunchResult], outputs: list[np.ndarray]) -> LaunchStats:
    """The sum of what several launches did."""
    total = Counts.total(launch.counts for launch in launches)
    return LaunchStats(
        total, tuple(launches), sum(x.size for x in outputs), sum(x.nbytes for x in outputs)
    )


# --- those that many exercises have ---


def one_store_per_result(at_most: float = 1.0, size: Any = None) -> Requirement:
    """Each element of the outputs is stored once. An atomic counts as a store, whatever it does."""

    def stored(stats: LaunchStats) -> int:
        counts = stats.counts
        parts = (
            counts.global_store_bytes,
            counts.global_atomic_bytes,
            counts.bulk_global_store_bytes,
        )
        return sum(parts)

    return Requirement(
        "stores and atomics to global memory for each result",
        lambda stats: stored(stats) / max(stats.result_bytes, 1),
        at_most=at_most,
        advice="Each result needs one store, by the one thread it belongs to: are several threads "
        "doing the same work? (An atomic counts as a store, also where it only reads.)",
        size=size,
    )


def _threads_for_a_result(stats: LaunchStats) -> float:
    return sum(int(np.count_nonzero(each.touched)) for each in stats.threads) / stats.results


def a_thread_each(at_least: float = 1.0, size: Any = None) -> Requirement:
    """As many threads as there are results have something to do."""
    return Requirement(
        "threads that touch memory, for each result",
        _threads_for_a_result,
        at_least,
        advice="Some threads do nothing, and others do their part: one element, one thread.",
        size=size,
    )


def no_surplus_threads(at_most: float = 1.0, size: Any = None) -> Requirement:
    """No more threads than there are results, or that part of them, have something to do; ``size``
    is one of which some are left over."""
    return Requirement(
        "threads that touch memory, for each result",
        _threads_for_a_result,
        at_most=at_most,
        advice="Threads beyond the last element have nothing to do: a guard sends them past it.",
        size=size,
    )


def balanced_work(at_most: float = 3.0, size: Any = None) -> Requirement:
    """No thread does many times the work of the others. What counts is memory: a line that prints
    something costs one thread many instructions, and is no mistake."""
    return Requirement(
        "bytes of memory that the busiest thread touches, over those of an average one",
        lambda stats: stats.busiest_over_mean("touched"),
        at_most=at_most,
        advice="One thread does most of the work while the others wait: give each thread its part.",
        size=size,
    )


def no_redundant_work(times: float = 4.0, size: Any = None) -> Requirement:
    """All threads together touch no more than some times the memory that the course's solution
    does."""

    def touched(stats: LaunchStats) -> int:
        return sum(int(each.touched.sum()) for each in stats.threads)

    return Requirement(
        "bytes of memory that all threads touch, over those of the course's solution",
        lambda stats: touched(stats) / touched(stats.ours),
        at_most=times,
        advice="Threads do again what others have done already: let each do its own part only.",
        size=size,
    )


def balanced_loads(at_most: float = 4.0, size: Any = None) -> Requirement:
    """No thread reads many times what the others read from global memory."""
    return Requirement(
        "bytes that the busiest thread reads from global memory, over those of an average one",
        lambda stats: stats.busiest_over_mean("loaded"),
        at_most=at_most,
        advice="One thread reads the data for all: let each thread read its own part.",
        size=size,
    )


def atomics(
    space: str, *, at_least: float = 0, at_most: float = np.inf, advice: str, size: Any = None
) -> Requirement:
    """Atomics of all threads on "global" or "shared" memory."""
    of = "atomics" if space == "global" else "shared_atomics"
    return Requirement(
        f"atomics on {space} memory",
        lambda stats: sum(int(getattr(launch.threads, of).sum()) for launch in stats.launches),
        at_least,
        at_most,
        advice,
        size,
        no_atomics=at_most == 0,
    )


def instructions(
    what: str,
    *starts: str,
    at_least: float = 0,
    at_most: float = np.inf,
    advice: str,
    size: Any = None,
) -> Requirement:
    """``what`` names instructions by the beginnings of their PTX names (``"mma.sync"``), counted
    once for each thread that runs them."""
    return Requirement(what, lambda stats: stats.opcodes(*starts), at_least, at_most, advice, size)


def from_header(
    what: str,
    header: str,
    *starts: str,
    at_least: float = 1,
    advice: str,
    size: Any = None,
) -> Requirement:
    """Instructions that come from a header whose path holds ``/header``, counted once for each
    warp: those whose PTX names begin with one of ``starts``, or all. ``what`` names its library."""

    def measure(stats: LaunchStats) -> int:
        return sum(
            item.warps
            for launch in stats.launches
            for item in launch.instructions
            if item.instruction.full_opcode.startswith(starts or "")
            and any(f"/{header}" in place.file for place in item.instruction.locations)
        )

    return Requirement(
        f"{'/'.join(starts) or 'instructions'} from {what} ({header})",
        measure,
        at_least,
        advice=advice,
        size=size,
    )


def shuffles(
    at_least: float = 1, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Shuffles, once for each thread."""
    return instructions(
        "shuffles", "shfl.", at_least=at_least, at_most=at_most, advice=advice, size=size
    )


def shared_memory(
    at_least: float = 1, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Bytes that threads write to shared memory: stores, atomics and copies."""

    def measure(stats: LaunchStats) -> float:
        counts = stats.counts
        return counts.shared_store_bytes + counts.shared_atomic_bytes + counts.shared_copy_bytes

    return Requirement("bytes written to shared memory", measure, at_least, at_most, advice, size)


def no_shared_memory(advice: str, size: Any = None) -> Requirement:
    """Shared memory is not used."""
    return Requirement(
        "requests to shared memory",
        lambda stats: (
            stats.counts.shared_load_requests
            + stats.counts.shared_store_requests
            + stats.counts.shared_atomic_requests
        ),
        at_most=0,
        advice=advice,
        size=size,
    )


def shared_memory_limit(at_most: int, *, advice: str, size: Any = None) -> Requirement:
    """Bytes of shared memory that a block takes, used or not."""
    return Requirement(
        "bytes of shared memory that a block takes",
        lambda stats: stats.block_shared,
        at_most=at_most,
        advice=advice,
        size=size,
    )


def no_local_memory(advice: str, size: Any = None) -> Requirement:
    """Arrays of a thread lie in registers: no instruction reads or writes local memory."""
    return instructions(
        "reads and writes of local memory",
        "ld.local",
        "st.local",
        at_most=0,
        advice=advice,
        size=size,
    )


def barriers(
    at_least: float = 0, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Times that a warp comes to a barrier of its block."""
    return Requirement(
        "warps at barriers", lambda stats: stats.counts.barriers, at_least, at_most, advice, size
    )


def threads_that_start(
    at_least: float = 0, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Threads that start an asynchronous copy or a tcgen05 instruction."""
    return Requirement(
        "threads that start copies or products",
        lambda stats: sum(int(np.count_nonzero(each.started)) for each in stats.threads),
        at_least,
        at_most,
        advice,
        size,
    )


def overlap(at_least: float = 0.5, *, advice: str, size: Any = None) -> Requirement:
    """The part of the arithmetic that is done with a ``cp.async`` still in flight."""
    what = "part of the arithmetic done while a copy is in flight"
    return _part_of_flops(what, lambda each: each.overlapped, at_least, advice, size)


def beside_tma(at_least: float = 0.5, *, advice: str, size: Any = None) -> Requirement:
    """The part of the arithmetic that is done while bytes are on their way to the block."""
    what = "part of the arithmetic done while TMA brings more"
    return _part_of_flops(what, lambda each: each.fed, at_least, advice, size)


def _part_of_flops(
    what: str, part: Callable[[ThreadStats], int], at_least: float, advice: str, size: Any
) -> Requirement:
    def measure(stats: LaunchStats) -> float:
        flops = sum(each.flops for each in stats.threads)
        return sum(part(each) for each in stats.threads) / max(flops, 1)

    return Requirement(what, measure, at_least, advice=advice, size=size)


def reads(
    array: str, at_least: float, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Bytes that all threads read from one array of global memory, by the parameter's name. Looks
    at a flag that a thread waits for do not count, where the flag is another array."""
    return Requirement(
        f"bytes read from {array}",
        lambda stats: sum(each.loaded_from.get(array, 0) for each in stats.threads),
        at_least,
        at_most,
        advice=advice,
        size=size,
    )


def reads_each_once(input_bytes: float, at_most: float = 1.0, size: Any = None) -> Requirement:
    """Bytes read from global memory, over those of the inputs (``input_bytes`` at that size)."""
    return Requirement(
        "bytes read from global memory, over those of the input",
        lambda stats: stats.counts.global_load_bytes / input_bytes,
        at_most=at_most,
        advice="The same data is read several times: keep what you have read.",
        size=size,
    )


def coalesced(access: str, at_most: float, *, advice: str, size: Any = None) -> Requirement:
    """Sectors of global memory that a "load" or a "store" of a warp touches: 4 for 32 floats."""

    def measure(stats: LaunchStats) -> float:
        sectors: int = getattr(stats.counts, f"global_{access}_sectors")
        requests: int = getattr(stats.counts, f"global_{access}_requests")
        return sectors / max(requests, 1)

    what = f"sectors that a warp's {access} touches"
    return Requirement(what, measure, at_most=at_most, advice=advice, size=size)


def tma_loads(
    at_least: float, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Bytes that TMA fetches from global memory."""
    return Requirement(
        "bytes that TMA fetches from global memory",
        lambda stats: stats.counts.bulk_global_load_bytes,
        at_least,
        at_most,
        advice=advice,
        size=size,
    )


def tma_stores(
    at_least: float, at_most: float = np.inf, *, advice: str, size: Any = None
) -> Requirement:
    """Bytes that TMA stores to global memory."""
    return Requirement(
        "bytes that TMA stores",
        lambda stats: stats.counts.bulk_global_store_bytes,
        at_least,
        at_most,
        advice=advice,
        size=size,
    )
