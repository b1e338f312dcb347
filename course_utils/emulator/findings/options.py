"""How to run a launch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from .language_words import WORDS, Language, Words

# Stands here so that a launch is described without importing a check; held to the table of
# watchers.py by a test.
ALL_CHECKS = frozenset({"early use", "race", "uninitialised", "sync", "proxy"})

LOCKSTEP, WARPS, LANES = SCHEDULES = ("lockstep", "warps", "lanes")


@dataclass(frozen=True)
class TraceOptions:
    """Which warp to follow: ``warp`` counts within the block ``block`` (x, y, z). At most ``limit``
    steps are kept. ``file`` is the source whose lines are wanted where helpers are inlined."""

    file: str = ""
    block: tuple[int, int, int] = (0, 0, 0)
    warp: int = 0
    limit: int = 2000


@dataclass(frozen=True)
class Options:
    """How to run a launch.

    ``checks`` are those that are on, some of :data:`ALL_CHECKS`: "race" finds data races,
    "uninitialised" uses of values that were never set, "sync" misused barriers, "proxy" missing
    proxy fences, "early use" registers that an asynchronous instruction still fills. Bounds,
    alignment and use after free are checked in every launch.
    ``counters`` also counts sectors and wavefronts. ``budget`` bounds the instructions issued for
    every 8,192 lanes of blocks that run together: a launch that exceeds it is reported as an
    endless loop. ``seed``: 0 completes asynchronous copies as late as possible, any other at random
    moments. ``cluster``: blocks (x, y, z) in a cluster, for a kernel that does not say so itself.
    ``cooperative``: False stops a kernel that waits for its whole grid, which an ordinary launch
    may not do; True and None do not.
    ``most_printed``: characters of printf that are kept, before the rest is dropped.
    ``schedule``, one of :data:`SCHEDULES`: with "warps", half of each block's warps get ahead of
    the others, with "lanes" half of each warp's lanes; ``seed`` draws which. Both begin with the
    last blocks. ``threads`` counts what each single thread does.
    ``first_nan``: "nan" finds the operation that first makes a NaN of numbers, "inf" an infinity.
    ``trace``: the warp whose steps are recorded. ``recorder``: one more observer of the launch.
    ``patience``: seconds after which :class:`~.report.LaunchTooLong` ends the launch; also before,
    where the blocks that have begun tell that they will not be enough.
    ``quiet``: a launch that will take long does not say so on the standard error output.
    ``language``: of the kernel, whose words reports use.
    """

    checks: Collection[str] = ()
    counters: bool = False
    budget: int | None = None
    seed: int = 0
    cluster: tuple[int, int, int] | None = None
    cooperative: bool | None = None
    most_printed: int | None = None
    schedule: str = LOCKSTEP
    threads: bool = False
    first_nan: str = ""
    trace: TraceOptions | None = None
    recorder: Any = None
    patience: float | None = None
    quiet: bool = False
    language: Language = Language.CUDA

    def __post_init__(self) -> None:
        if self.schedule not in SCHEDULES:
            raise ValueError(
                f"there is no schedule {self.schedule!r}; there are {', '.join(SCHEDULES)}"
            )
        if self.first_nan not in ("", "nan", "inf"):
            raise ValueError(f'first_nan is "nan" or "inf", not {self.first_nan!r}')

    @property
    def words(self) -> Words:
        """The names of barriers and fences in the kernel's language."""
        return WORDS[self.language]
