"""The emulator's reports: findings, faults and counts.

A *finding* is one fault of a kernel. Some findings end the launch, since an access out of
bounds has no value to continue with, and are raised as a :class:`KernelFault`. Others, such as data
races, are collected and the launch goes on. Some are *warnings*: they mostly come out right, though
nothing promises it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from ..isa.location import Location
from .causes import Cause
from .language_words import Language

ERROR, WARNING = "error", "warning"


@dataclass(frozen=True)
class Finding:
    """One fault in a kernel.

    ``kind`` is one of the constants in :data:`KINDS`, ``cause`` a more precise reason, ``level``
    ERROR or WARNING. ``message`` is the whole report, ready to print. A warning's says how
    likely it is and how to fix it.
    ``thread`` and ``block`` are (x, y, z). ``index`` counts elements of the access's type
    from the start of ``array``; ``past`` counts from the array's last element to the accessed one:
    1 for the first past the end, 0 when inside. ``repeats`` says how often more the same was met at
    the same lines. ``meant``: the index before it lost its upper bits. ``condition``: the line of
    the condition that let an access out of bounds through, or that differs between threads when
    only some of them reach a barrier. ``index_from``: the arrays that a part of an index out of
    bounds was read from. ``symptom`` is ``message`` without reason and fix, "" if it has neither.
    ``language``: of the kernel.
    """

    kind: str
    message: str
    location: Location | None = None
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    array: str | None = None
    index: int | None = None
    past: int = 0
    other_location: Location | None = None
    other_thread: tuple[int, int, int] | None = None
    repeats: int = 0
    level: str = ERROR
    cause: Cause = field(kw_only=True)
    meant: int | None = field(kw_only=True, default=None)
    condition: Location | None = field(kw_only=True, default=None)
    symptom: str = field(kw_only=True, default="")
    index_from: frozenset[str] = field(kw_only=True, default=frozenset())
    language: Language = field(kw_only=True, default=Language.CUDA)


OUT_OF_BOUNDS = "out of bounds"
MISALIGNED = "misaligned access"
NULL_POINTER = "null pointer"
USE_AFTER_FREE = "use after free"
UNINITIALISED = "uninitialised read"
DATA_RACE = "data race"
IN_FLIGHT = "copy in flight"
ENDLESS_LOOP = "endless loop"
DEADLOCK = "deadlock"
BARRIER = "barrier misuse"
ASSERTION = "assertion failed"
TRAP = "trap"
BAD_TENSOR_MAP = "bad tensor map"
BAD_TEXTURE = "bad texture or surface"
LAUNCH_REFUSED = "launch refused"
TENSOR_MEMORY = "tensor memory misuse"
LAUNCH_CONTROL = "launch control misuse"
UNKNOWN_INSTRUCTION = "unknown instruction"
EMULATOR_ERROR = "emulator error"
KINDS = (
    OUT_OF_BOUNDS,
    MISALIGNED,
    NULL_POINTER,
    USE_AFTER_FREE,
    UNINITIALISED,
    DATA_RACE,
    IN_FLIGHT,
    ENDLESS_LOOP,
    DEADLOCK,
    BARRIER,
    ASSERTION,
    TRAP,
    BAD_TENSOR_MAP,
    BAD_TEXTURE,
    LAUNCH_REFUSED,
    TENSOR_MEMORY,
    LAUNCH_CONTROL,
    UNKNOWN_INSTRUCTION,
    EMULATOR_ERROR,
)
PLEASE_REPORT = "please report it, with this message and the kernel's source"


class KernelFault(RuntimeError):
    """A fault that ends the launch of a kernel: ``finding`` has its line, thread and block.

    ``earlier``: the findings before it, of launches that look for more than faults.
    """

    def __init__(self, finding: Finding, earlier: list[Finding] | None = None):
        super().__init__(finding.message)
        self.finding = finding
        self.earlier = earlier or []


class LaunchTooLong(RuntimeError):
    """A launch would take longer than its ``Options.patience``. ``seconds``: how long at least, by
    the blocks that have begun."""

    def __init__(self, patience: float, seconds: float):
        super().__init__(f"the launch would take longer than {patience:g} s")
        self.seconds = seconds


def spoken_time(seconds: float) -> str:
    """``seconds`` in the unit in which one speaks of so many."""
    for unit, size in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {unit}"
    return f"{seconds:.0f} seconds"


@dataclass
class Counts:
    """What one launch did. Instructions are PTX's, not the GPU's own (SASS).

    ``sectors`` are distinct 32-byte pieces of memory touched by one warp instruction;
    ``wavefronts`` are passes of shared memory needed by one warp instruction, ``conflicts`` those
    of them that would not be needed if no bank were asked for two words; ``bytes`` those that lanes
    asked for. ``shared_copy`` is the shared end of ``cp.async``; ``bulk`` bytes are moved by the
    copy engine. Branches and barriers are counted once for each warp that comes to one.
    ``opcodes`` and ``operations`` (additions and so on, under ncu's names) count threads;
    ``flops_by_type`` is keyed by the type of the factors.

    Without ``Options.counters`` only instructions, ``opcodes`` and ``flops`` are filled in.
    """

    thread_instructions: int = 0
    warp_instructions: int = 0
    global_load_requests: int = 0
    global_store_requests: int = 0
    global_atomic_requests: int = 0
    global_load_sectors: int = 0
    global_store_sectors: int = 0
    global_atomic_sectors: int = 0
    global_load_bytes: int = 0
    global_store_bytes: int = 0
    global_atomic_bytes: int = 0
    shared_load_requests: int = 0
    shared_store_requests: int = 0
    shared_atomic_requests: int = 0
    shared_load_wavefronts: int = 0
    shared_store_wavefronts: int = 0
    shared_atomic_wavefronts: int = 0
    shared_copy_wavefronts: int = 0
    shared_load_conflicts: int = 0
    shared_store_conflicts: int = 0
    shared_load_bytes: int = 0
    shared_store_bytes: int = 0
    shared_atomic_bytes: int = 0
    shared_copy_bytes: int = 0
    local_load_requests: int = 0
    local_store_requests: int = 0
    local_load_sectors: int = 0
    local_store_sectors: int = 0
    local_load_bytes: int = 0
    local_store_bytes: int = 0
    bulk_global_load_bytes: int = 0
    bulk_global_store_bytes: int = 0
    branches: int = 0
    divergent_branches: int = 0
    barriers: int = 0
    flops: int = 0
    flops_by_type: dict[str, int] = field(default_factory=dict)
    operations: dict[str, int] = field(default_factory=dict)
    opcodes: dict[str, int] = field(default_factory=dict)

    @classmethod
    def total(cls, of_launches: Iterable[Counts]) -> Counts:
        """The counts of several launches together."""
        total = cls()
        for counts in of_launches:
            for item in fields(cls):
                before, more = getattr(total, item.name), getattr(counts, item.name)
                if isinstance(before, dict):
                    for name, number in more.items():
                        before[name] = before.get(name, 0) + number
                else:
                    setattr(total, item.name, before + more)
        return total
