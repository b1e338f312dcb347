"""Advice on a profile: rules of a number, its threshold, a sentence and the lesson about it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from ..compiling.signature import strip_comments
from ..emulator import SECTOR, WARP, Counts
from .counter_measures import ratio

if TYPE_CHECKING:
    from .profile_report import Profile, SourceLine

MOST = 6  # lines of advice
SHARE = 0.1  # of a kernel's cost, below which a line isn't worth a word

Pair = tuple[float, float]  # a number, and the least that it could be


@dataclass(frozen=True)
class LineRule:
    """One number of a line of source.

    ``measure``: the number and the least it could be, (0, 0) where there is none. ``cost``: its
    share of the kernel's whole decides whether the line matters. There is advice
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
        "{number} sectors read from local memory: a thread's own array isn't in registers, because "
        "a variable indexes it or because it is too large",
        "03/03",
        lambda c: (c.local_load_sectors, 0),  # printf only stores there
        lambda c: c.local_load_sectors + _all_sectors(c),
    ),
)
AT_ONE_ADDRESS = (
    "{number} lanes of a warp update one element at a time: combine their values first, then let "
    "one lane update it"
)
IN_FLOAT64 = (
    "{number} operations in float64, and no array holds float64: does a literal lack its f?"
)
ONE_THREAD = "one thread does all the work: a launch needs thousands"
NARROW_BLOCK = "a warp has {number} of 32 threads: give the block a multiple of 32"
DIVERGED = (
    "only {number} of {least} lanes are active in an average warp instruction: branches split the "
    "warps, most of all at {where}"
)
BYTE_LOADS = "each lane loads 1 byte, 32 bytes per request: a uchar4 brings 4 at once"
LANES_AT_ONE = 8  # lanes of a warp at one address, from which on an atomic is contended
FEW_LANES = 16  # of a block's warps, up to which it's too narrow
DIVERGING = 0.7  # of the lanes that could be active


@dataclass(frozen=True)
class BadNumber:
    """A number with the sentence about it, and its ``share`` of the kernel's cost."""

    share: float
    text: str
    lesson: str
    line: SourceLine | None = None

    @property
    def place(self) -> str:
        """``line 3``, or the file and line of a helper. Empty for a whole launch."""
        if self.line is None:
            return ""
        return f"line {self.line.number}" if self.line.number else self.line.text.strip("()")


def advice_on(profile: Profile) -> list[str]:
    """A sentence for each number of ``profile`` that is bad, the costliest first, at most MOST."""
    alike: dict[tuple[str, str], list[BadNumber]] = {}
    for found in (*_of_launch(profile), *_of_lines(profile)):
        alike.setdefault((found.text, found.lesson), []).append(found)
    by_cost = sorted(alike.items(), key=lambda item: -sum(found.share for found in item[1]))
    return [_sentence(*said, places) for said, places in by_cost[:MOST]]


def _sentence(text: str, lesson: str, found: list[BadNumber]) -> str:
    places = [each.place for each in found if each.place]
    if len(places) > 1:
        places = [
            places[0].replace("line", "lines", 1),
            *(p.removeprefix("line ") for p in places[1:]),
        ]
    where = f"{', '.join(places)}: " if places else ""
    return f"{where}{text} ({lesson})"


def _of_lines(profile: Profile) -> Iterator[BadNumber]:
    for rule in LINE_RULES:
        whole = rule.cost(profile.counts)
        for line in profile.lines:
            number, least = rule.measure(line.counts)
            share = ratio(rule.cost(line.counts), whole)
            if number and number >= rule.times * least and share >= SHARE:
                text = rule.text.format(number=_shown(number), least=_shown(least))
                yield BadNumber(share, text, rule.lesson, line)
    yield from _at_one_address(profile)
    yield from _in_float64(profile)


def _at_one_address(profile: Profile) -> Iterator[BadNumber]:
    """Atomics by which many lanes of the first warp update one element."""
    first = profile.tally.first_accesses if profile.tally else {}
    most: dict[int, int] = {}
    for item in profile.instructions:
        place = item.instruction.place_in(profile.filename)
        seen = first.get((id(item.instruction), 0))
        if place is None or place.file != profile.filename or seen is None:
            continue
        if any(traffic.kind == "atomic" for traffic in item.traffic):
            addresses = seen.addresses[seen.addresses >= 0].tolist()
            number = max(map(addresses.count, set(addresses)), default=0)
            most[place.line] = max(number, most.get(place.line, 0))
    for line, number in most.items():
        if number >= LANES_AT_ONE:
            text = AT_ONE_ADDRESS.format(number=number)
            yield BadNumber(1.0, text, "04/06", profile.lines[line])


def _in_float64(profile: Profile) -> Iterator[BadNumber]:
    """Arithmetic in float64 that no array and no variable asks for."""
    if re.search(r"\bdouble", strip_comments(profile.source)) or any(
        traffic.type in ("f64", "b64") for item in profile.instructions for traffic in item.traffic
    ):
        return
    for line in profile.lines:
        number = line.counts.flops_by_type.get("f64", 0)
        share = ratio(number, profile.counts.flops)
        if share >= SHARE:
            yield BadNumber(share, IN_FLOAT64.format(number=_shown(number)), "04/09", line)


def _of_launch(profile: Profile) -> Iterator[BadNumber]:
    """Numbers of a whole launch: how many threads a warp has, and how many are active."""
    begin = next((item for item in profile.instructions if item.warps), None)
    if begin is None:
        return
    threads = begin.threads / begin.warps
    if begin.threads == 1:
        yield BadNumber(1.0, ONE_THREAD, "03/02")
    elif threads <= FEW_LANES:
        yield BadNumber(1.0, NARROW_BLOCK.format(number=_shown(threads)), "03/02")
    active = profile.active_threads
    branches = [line for line in profile.lines if line.counts.divergent_branches]
    if branches and active < DIVERGING * threads:
        worst = max(branches, key=lambda line: line.counts.divergent_branches)
        where = BadNumber(0, "", "", worst).place
        text = DIVERGED.format(number=_shown(active), least=_shown(threads), where=where)
        yield BadNumber(1 - active / threads, text, "04/07")
    loads = [
        traffic
        for item in profile.instructions
        for traffic in item.traffic
        if (traffic.space, traffic.kind) == ("global", "load")
    ]
    single = [t for t in loads if t.type[1:] == "8" and t.bytes <= WARP * t.requests]
    if sum(t.requests for t in single) > sum(t.requests for t in loads) / 2:
        yield BadNumber(SHARE, BYTE_LOADS, "04/05")


def _shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 or number == int(number) else f"{number:.1f}"
