"""The counts of a profiled launch: in all, by line, by kind of instruction, in ncu's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ..emulator import SECTOR, CounterRecorder, Counts, InstructionCounts, WarpAccess, add_up
from ..errors import LessonError
from ..text_tables import Table, pairs
from .advice import advice_on
from .counter_measures import MEASURES, NCU, ratio

SOURCE_WIDTH = 48  # characters of a source line in a table
NAME_WIDTH = 29  # of a total's name, so that most profiles look alike


@dataclass(frozen=True)
class SourceLine:
    """One line of the source: its ``counts``, and their fields by name.

    ``number`` is 0, and ``text`` names the place, for code that comes from another file.
    """

    number: int
    text: str
    counts: Counts

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.counts, name)

    @property
    def active_threads(self) -> float:
        """Threads per warp instruction, at most 32."""
        return active_threads(self.counts)


class SourceLines:
    """The lines that ran, in the file's order: iterate, or ask for one by its number."""

    def __init__(self, lines: list[SourceLine]):
        self._lines = lines

    def __iter__(self) -> Iterator[SourceLine]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, number: int) -> SourceLine:
        for line in self._lines:
            if line.number == number:
                return line
        ran = ", ".join(str(line.number) for line in self._lines)
        raise LessonError(f"No instruction comes from line {number}; lines {ran} have some.")

    def __str__(self) -> str:
        columns: list[tuple[str, Callable[[SourceLine], Any]]] = [
            ("warp instr.", lambda line: line.warp_instructions),
            ("active", lambda line: f"{line.active_threads:.1f}"),
        ]
        measures = (
            ("FLOPs", "flops"),
            ("requests", "requests"),
            ("sectors", "sectors"),
            ("shared", "shared_requests"),
            ("wavefronts", "wavefronts"),
            ("conflicts", "conflicts"),
            ("local sectors", "local_sectors"),
            ("divergent", "divergent_branches"),
            ("barriers", "barriers"),
        )
        for heading, name in measures:
            measure = MEASURES[name][1]
            if any(measure(line.counts) for line in self._lines):
                columns.append((heading, _shown(measure)))
        headings = ("line", *(heading for heading, _ in columns), "source")
        rows = [
            (str(line.number or ""), *(get(line) for _, get in columns), line.text[:SOURCE_WIDTH])
            for line in self._lines
        ]
        return str(Table(headings, rows, left=("source",)))

    __repr__ = __str__


@dataclass(frozen=True)
class Profile:
    """One launch, as the emulator counted it. Its text is a table of the totals.

    ``counts`` has them all, ``lines`` has the same for each line of the source, ``mix`` the
    instructions by kind, and ``ncu`` the totals under Nsight Compute's names. Instructions are
    PTX's, which a GPU's own (SASS) are made of.
    """

    kernel: str
    counts: Counts
    source: str = ""
    filename: str = ""
    instructions: tuple[InstructionCounts, ...] = field(default=(), repr=False)
    warps: int = 0  # in the whole grid
    tally: CounterRecorder | None = field(default=None, repr=False)

    @property
    def rows(self) -> list[tuple[str, str]]:
        """(name, value) pairs, as text."""
        c = self.counts

        def each(total: int, requests: int) -> str:
            return f"{total / requests:.2f}" if requests else "none"

        rows = [
            ("thread instructions (PTX)", f"{c.thread_instructions:,}"),
            ("warp instructions (PTX)", f"{c.warp_instructions:,}"),
            ("FLOPs", f"{c.flops:,}"),
            ("global load requests", f"{c.global_load_requests:,}"),
            ("sectors per load request", each(c.global_load_sectors, c.global_load_requests)),
            ("global store requests", f"{c.global_store_requests:,}"),
            ("sectors per store request", each(c.global_store_sectors, c.global_store_requests)),
            ("shared load requests", f"{c.shared_load_requests:,}"),
            ("wavefronts per shared load", each(c.shared_load_wavefronts, c.shared_load_requests)),
            ("shared store requests", f"{c.shared_store_requests:,}"),
            (
                "wavefronts per shared store",
                each(c.shared_store_wavefronts, c.shared_store_requests),
            ),
        ]
        some = [
            ("global atomic requests", c.global_atomic_requests),
            ("shared atomic requests", c.shared_atomic_requests),
            ("local memory sectors", c.local_load_sectors + c.local_store_sectors),
            ("bytes of bulk copies", c.bulk_global_load_bytes + c.bulk_global_store_bytes),
        ]
        rows += [(name, f"{value:,}") for name, value in some if value]
        if self.traffic_bytes:
            rows.append(("FLOPs per byte of global traffic", f"{self.intensity:.2f}"))
        rows.append(("threads per warp instruction", f"{self.active_threads:.1f}"))
        if c.branches:
            rows.append(("uniform branches", f"{100 * self.uniform_branches:.1f} %"))
        if c.barriers:
            rows.append(("barriers, for each warp", f"{self.barriers_per_warp:g}"))
        return rows

    def __str__(self) -> str:
        totals = pairs(self.rows, name_width=NAME_WIDTH, right=True)
        return f"{self.kernel}, counted by the emulator\n{totals}"

    __repr__ = __str__

    @cached_property
    def advice(self) -> list[str]:
        """A sentence for each number that is bad, with the lesson about it: empty
        where all are good. The thresholds are in :mod:`~course_utils.observing.advice`."""
        return advice_on(self)

    # --- ratios ---

    @property
    def traffic_bytes(self) -> int:
        """Bytes that move between global memory and the SMs: 32 for each sector of a request,
        and the bytes of bulk copies. A cache may hold some of them."""
        c = self.counts
        moved = c.bulk_global_load_bytes + c.bulk_global_store_bytes
        return SECTOR * MEASURES["sectors"][1](c) + moved

    @property
    def intensity(self) -> float:
        """Arithmetic intensity: FLOPs per byte of :attr:`traffic_bytes`."""
        return ratio(self.counts.flops, self.traffic_bytes)

    @property
    def requested_intensity(self) -> float:
        """FLOPs per byte that threads asked for: the intensity if no sector held anything else."""
        return ratio(self.counts.flops, MEASURES["bytes"][1](self.counts))

    @property
    def active_threads(self) -> float:
        """Threads per warp instruction, at most 32."""
        return active_threads(self.counts)

    @property
    def uniform_branches(self) -> float:
        """The share of branches, counted for each warp, that all its lanes took the same way."""
        return 1 - ratio(self.counts.divergent_branches, self.counts.branches)

    @property
    def barriers_per_warp(self) -> float:
        """How often a warp of the grid came to a barrier, on average."""
        return ratio(self.counts.barriers, self.warps)

    # --- tables ---

    @cached_property
    def lines(self) -> SourceLines:
        """Each line of the kernel's file. Code of an included helper that was inlined
        counts for the line that calls it."""
        found: dict[tuple[str, int], list[InstructionCounts]] = {}
        for item in self.instructions:
            place = item.instruction.place_in(self.filename)
            key = (place.file, place.line) if place else ("", 0)
            found.setdefault(key, []).append(item)
        own = sorted(key for key in found if key[0] == self.filename)
        others = sorted(key for key in found if key[0] != self.filename)
        text = self.source.splitlines()
        lines = []
        for file, number in own + others:
            inside = file == self.filename and 0 < number <= len(text)
            shown = text[number - 1].strip() if inside else f"({file or 'unknown'}:{number})"
            counts = _sum(found[file, number])
            lines.append(SourceLine(number if inside else 0, shown, counts))
        return SourceLines(lines)

    @cached_property
    def mix(self) -> Table:
        """PTX instructions by kind, the most frequent first: warp instructions, their share in
        percent, thread instructions."""
        kinds: dict[str, list[int]] = {}
        for item in self.instructions:
            entry = kinds.setdefault(kind_of(item.instruction), [0, 0])
            entry[0] += item.warps
            entry[1] += item.threads
        total = sum(warps for warps, _ in kinds.values())
        rows = [
            (kind, warps, 100 * ratio(warps, total), threads)
            for kind, (warps, threads) in sorted(kinds.items(), key=lambda k: (-k[1][0], k[0]))
        ]
        return Table(("instruction", "of warps", "%", "of threads"), rows)

    @property
    def ncu(self) -> Table:
        """The totals beside the names that Nsight Compute has for them, without zeros."""
        rows = [
            (name, value, metric)
            for name, (metric, get) in NCU.items()
            if (value := get(self.counts))
        ]
        metric = "Nsight Compute's metric"
        return Table(("counter", "value", metric), rows, left=(metric,))

    @property
    def bytes_by_type(self) -> dict[str, int]:
        """Bytes asked for, by memory, direction and PTX type: {"global load f32": 4096}."""
        found: dict[str, int] = {}
        for item in self.instructions:
            for traffic in item.traffic:
                name = f"{traffic.space} {traffic.kind} {traffic.type}"
                found[name] = found.get(name, 0) + traffic.bytes
        return dict(sorted(found.items()))

    @property
    def numbers_by_memory(self) -> Table:
        """Numbers that all threads together load and store, by memory. A vector of four is four.

        Registers and a kernel's parameters are left out: no load or store of a program names them.
        """
        found: dict[str, list[int]] = {}
        for name, threads in self.counts.opcodes.items():
            words = name.split(".")
            if words[0] in ("ld", "st") and words[1] != "param":
                width = {"v2": 2, "v4": 4}.get(words[2], 1)
                found.setdefault(words[1], [0, 0])[words[0] == "st"] += threads * width
        rows = [(memory, loaded, stored) for memory, (loaded, stored) in sorted(found.items())]
        return Table(("memory", "loaded", "stored"), rows)

    def by_line(self, measure: str) -> dict[int, int]:
        """Line number -> a measure of it: one of :data:`MEASURES`, such as "sectors". Raises
        LessonError for another word."""
        if measure not in MEASURES:
            raise LessonError(f"There is no measure {measure!r}; there are {', '.join(MEASURES)}.")
        get = MEASURES[measure][1]
        return {line.number: get(line.counts) for line in self.lines if line.number}

    # --- one access ---

    def access(
        self,
        line: int | str,
        warp: int = 0,
        *,
        array: str | None = None,
        store: bool | None = None,
    ) -> WarpAccess:
        """The memory access of a warp of block (0, 0, 0) when it first comes to ``line``.

        ``line`` is a number, or a text: the first line of code that contains it. ``array`` and
        ``store`` choose where the line reaches several arrays, or loads and stores. For other
        blocks, and for later iterations of a loop, see :func:`course_utils.trace`. Draw it with
        ``figures.warp_sectors`` or, in shared memory, ``figures.shared_banks``. Raises LessonError
        where the line makes no such access, or several.
        """
        if isinstance(line, str):
            line = self._line_of(line)
        found: dict[tuple[str, bool], WarpAccess] = {}
        first = self.tally.first_accesses if self.tally else {}
        for item in self.instructions:
            place = item.instruction.place_in(self.filename)
            if place is None or (place.file, place.line) != (self.filename, line):
                continue
            seen = first.get((id(item.instruction), warp))
            if seen is not None:
                found.setdefault((seen.array, seen.store), seen)
        chosen = {
            key: seen
            for key, seen in found.items()
            if array in (None, key[0]) and store in (None, key[1])
        }
        if len(chosen) == 1:
            return next(iter(chosen.values()))
        reached = ", ".join(f"{'store to' if s else 'load from'} {a}" for a, s in found)
        if chosen:
            raise LessonError(
                f"Line {line} makes several accesses ({reached}): choose with array= and store=."
            )
        raise LessonError(
            f"Warp {warp} of block (0, 0, 0) makes no such access in line {line} "
            f"of {self.filename}" + (f", only: {reached}." if reached else ".")
        )

    def _line_of(self, text: str) -> int:
        """The number of the first line of the source, its comments left out, that has ``text``."""
        for number, line in enumerate(self.source.splitlines(), 1):
            if text in line.partition("//")[0]:
                return number
        raise LessonError(f"No line of {self.filename} contains {text!r}.")


def active_threads(counts: Counts) -> float:
    """Threads per warp instruction, at most 32."""
    return ratio(counts.thread_instructions, counts.warp_instructions)


def _shown(measure: Callable[[Counts], int]) -> Callable[[SourceLine], Any]:
    """The measure of a line, with an empty cell for 0."""
    return lambda line: measure(line.counts) or ""


def kind_of(instruction: Any) -> str:
    """An instruction without its finer points: "ld.global", "fma.f32", "bra"."""
    opcode: str = instruction.opcode
    modifiers: tuple[str, ...] = instruction.modifiers
    spaces = ("global", "shared", "local", "param", "const")
    for modifier in modifiers:
        base = modifier.partition("::")[0]
        if base in spaces and opcode not in ("cvta", "mov"):
            return f"{opcode}.{base}"
    if opcode in ("bra", "bar", "barrier", "call", "ret", "exit", "cvta") or not modifiers:
        return opcode
    return f"{opcode}.{modifiers[-1]}"


def _sum(instructions: list[InstructionCounts]) -> Counts:
    counts = Counts()
    add_up(instructions, counts)
    for item in instructions:
        counts.warp_instructions += item.warps
        counts.thread_instructions += item.threads
        name = item.instruction.full_opcode
        counts.opcodes[name] = counts.opcodes.get(name, 0) + item.threads
    return counts
