"""What stands out in the numbers of a profile: rules of number, threshold, sentence and lesson."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ..compiling.signature import strip_comments
from ..emulator import SECTOR, WARP, Counts, InstructionCounts
from .counter_measures import ratio

if TYPE_CHECKING:
    from .profile_report import Profile, SourceLine

MOST = 6  # lines of advice
SHARE = 0.1  # of a kernel's cost, below which a line isn't worth a word

Pair = tuple[float, float]  # a number, and the least that it could be


@dataclass(frozen=True)
class LineRule:
    """One number of a line of source.

    ``measure``: the number and the least it could be, (0, 0) where there is none. ``cost``: what
    is compared with the kernel's whole, so that only lines that matter are named. There is advice
    where the number is ``times`` the least or more.
    """

    text: str  # with {number}, {least}
    lesson: str
    measure: Callable[[Counts], Pair]
    cost: Callable[[Counts], float]
    times: float = 2.5


def _sectors(kind: str) -> Callable[[Counts], Pair]:
    def measure(c: Counts) -> Pair:
        requests = getattr(c, f"global_{kind}_requests")
        if not requests:
            return 0, 0
        wanted = getattr(c, f"global_{kind}_bytes") / requests
        return getattr(c, f"global_{kind}_sectors") / requests, max(1, ceil(wanted / SECTOR))

    return measure


def _wavefronts(kind: str) -> Callable[[Counts], Pair]:
    def measure(c: Counts) -> Pair:
        requests = getattr(c, f"shared_{kind}_requests")
        if not requests:
            return 0, 0
        found, more = (getattr(c, f"shared_{kind}_{what}") for what in ("wavefronts", "conflicts"))
        return found / requests, (found - more) / requests

    return measure


def _all_sectors(c: Counts) -> float:
    return c.global_load_sectors + c.global_store_sectors + c.global_atomic_sectors


def _all_wavefronts(c: Counts) -> float:
    return c.shared_load_wavefronts + c.shared_store_wavefronts + c.shared_atomic_wavefronts


def _local_sectors(c: Counts) -> float:
    return c.local_load_sectors + c.local_store_sectors


LINE_RULES = (
    LineRule(
        "{number} sectors per load request, and {least} would do: neighbouring lanes read far "
        "apart",
        "04/05",
        _sectors("load"),
        _all_sectors,
    ),
    LineRule(
        "{number} sectors per store request, and {least} would do: neighbouring lanes write far "
        "apart",
        "04/05",
        _sectors("store"),
        _all_sectors,
    ),
    LineRule(
        "{number} wavefronts per shared load, and {least} would do: lanes of a warp meet in one "
        "bank",
        "04/05",
        _wavefronts("load"),
        _all_wavefronts,
        times=2,
    ),
    LineRule(
        "{number} wavefronts per shared store, and {least} would do: lanes of a warp meet in one "
        "bank",
        "04/05",
        _wavefronts("store"),
        _all_wavefronts,
        times=2,
    ),
    LineRule(
        "{number} sectors of local memory: a thread's own array isn't in registers, because a "
        "variable indexes it or because it is too large",
        "03/03",
        lambda c: (_local_sectors(c), 0),
        lambda c: _local_sectors(c) + _all_sectors(c),
    ),
)
AT_ONE_ADDRESS = (
    "{number} lanes of a warp update one element at a time: combine their values first, then let "
    "one lane update it",
    "04/06",
)
IN_FLOAT64 = (
    "{number} operations in float64, and no array holds float64: does a literal lack its f?",
    "04/09",
)
ONE_THREAD = "one thread does all the work: a launch needs thousands", "03/02"
NARROW_BLOCK = (
    "a warp has {number} of 32 threads: give the block a multiple of 32",
    "03/02",
)
DIVERGED = (
    "only {number} of {least} lanes are active in an average warp instruction: branches split the "
    "warps, most of all {where}",
    "04/07",
)
BYTE_LOADS = (
    "each lane loads 1 byte, 32 bytes per request: a uchar4 brings 4 at once",
    "04/05",
)
LANES_AT_ONE = 8  # lanes of a warp at one address, from which on an atomic is contended
FEW_LANES = 16
DIVERGING = 0.7  # of the threads that could be active


def advice_on(profile: Profile) -> list[str]:
    """A line for each number of ``profile`` that is bad, the costliest first, at most MOST."""
    found = [*_of_launch(profile), *_of_lines(profile)]
    return [text for _, text in sorted(found, key=lambda f: -f[0])][:MOST]


Advice = tuple[float, str]  # a share of the kernel's cost, and a sentence


def _of_lines(profile: Profile) -> Iterator[Advice]:
    for rule in LINE_RULES:
        whole = rule.cost(profile.counts)
        for line in profile.lines:
            number, least = rule.measure(line.counts)
            share = ratio(rule.cost(line.counts), whole)
            if number and number >= rule.times * least and share >= SHARE:
                text = rule.text.format(number=_shown(number), least=_shown(least))
                yield share, _with(f"{_place(line)}: {text}", rule.lesson)
    yield from _at_one_address(profile)
    yield from _in_float64(profile)


def _at_one_address(profile: Profile) -> Iterator[Advice]:
    first = profile.tally.first_accesses if profile.tally else {}
    for line, items in _by_line(profile):
        most = 0
        for item in items:
            if any(t.kind == "atomic" and t.space in ("global", "shared") for t in item.traffic):
                seen = first.get((id(item.instruction), 0))
                addresses = [] if seen is None else seen.addresses[seen.addresses >= 0].tolist()
                most = max([most, *map(addresses.count, set(addresses))])
        if most >= LANES_AT_ONE:
            text, lesson = AT_ONE_ADDRESS
            yield 1.0, _with(f"{_place(line)}: {text.format(number=most)}", lesson)


def _in_float64(profile: Profile) -> Iterator[Advice]:
    if re.search(r"\bdouble", strip_comments(profile.source)) or any(
        traffic.type in ("f64", "b64") for item in profile.instructions for traffic in item.traffic
    ):
        return
    whole = profile.counts.flops
    for line in profile.lines:
        number = line.counts.flops_by_type.get("f64", 0)
        if number and ratio(number, whole) >= SHARE:
            text, lesson = IN_FLOAT64
            yield (
                ratio(number, whole),
                _with(f"{_place(line)}: {text.format(number=_shown(number))}", lesson),
            )


def _of_launch(profile: Profile) -> Iterator[Advice]:
    """What is true of a whole launch: how many threads a warp has, and how many are active."""
    begin = next((i for i in profile.instructions if i.warps), None)
    if begin is None:
        return
    threads = begin.threads / begin.warps
    if begin.threads == 1:
        yield 1.0, _with(*ONE_THREAD)
    elif threads <= FEW_LANES:
        yield 1.0, _with(NARROW_BLOCK[0].format(number=_shown(threads)), NARROW_BLOCK[1])
    active = profile.active_threads
    branches = [line for line in profile.lines if line.counts.divergent_branches]
    if branches and active < DIVERGING * threads:
        worst = max(branches, key=lambda line: line.counts.divergent_branches)
        where = f"at {_place(worst)}"
        text = DIVERGED[0].format(number=_shown(active), least=_shown(threads), where=where)
        yield 1 - active / threads, _with(text, DIVERGED[1])
    loads = [t for i in profile.instructions for t in i.traffic if (t.space, t.kind) == GLOBAL_LOAD]
    bytewise = sum(t.requests for t in loads if t.bytes <= WARP * t.requests and t.type[1:] == "8")
    if bytewise > sum(t.requests for t in loads) / 2:
        yield SHARE, _with(*BYTE_LOADS)


GLOBAL_LOAD = "global", "load"


def _by_line(profile: Profile) -> Iterable[tuple[SourceLine, list[InstructionCounts]]]:
    for line in profile.lines:
        yield (
            line,
            [
                item
                for item in profile.instructions
                if (place := item.instruction.place_in(profile.filename))
                and place.line == line.number
            ],
        )


def _place(line: SourceLine) -> str:
    return f"line {line.number}" if line.number else line.text.strip("()")


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"


def _with(text: str, lesson: str) -> str:
    return f"{text} ({lesson})"
