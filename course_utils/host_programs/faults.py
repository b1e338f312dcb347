"""Why a program stopped: the sanitizers' reports, or else its status, in words and lines."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..checking.excerpts import source_excerpt
from ..checking.verdict import Verdict
from ..process_groups import DISK, MEMORY, MOST_OUTPUT, PROCESSES, Ended
from . import host_kinds as kinds
from .running import LIMITS

TAKEN_TOO_MUCH = {
    MEMORY: f"the program holds more than {LIMITS.memory // 2**20} MB of memory.",
    PROCESSES: f"the program runs as more than {LIMITS.processes} processes.",
    DISK: f"the program's files take more than {LIMITS.disk // 2**20} MB.",
}
ADDRESS_KINDS = {  # AddressSanitizer's names
    "heap-use-after-free": kinds.USE_AFTER_FREE,
    "stack-use-after-return": kinds.USE_AFTER_FREE,
    "stack-use-after-scope": kinds.USE_AFTER_FREE,
    "attempting double-free": kinds.USE_AFTER_FREE,
    "stack-overflow": kinds.STACK_OVERFLOW,
    "FPE": kinds.UNDEFINED,
    "SEGV": kinds.CRASHED,
    "calloc-overflow": kinds.UNDEFINED,
}
MIXED = "allocated in one way and freed in another"
IN_PLAIN_WORDS = {  # of those whose name does not say it
    "bad-free": (kinds.UNDEFINED, "free() gets an address that malloc did not return"),
    "alloc-dealloc-mismatch": (kinds.UNDEFINED, MIXED),
    "memcpy-param-overlap": (kinds.UNDEFINED, "memcpy copies between parts that overlap"),
    "negative-size-param": (kinds.UNDEFINED, "a size below zero is asked for"),
    "ABRT": (kinds.CRASHED, "the program called abort()"),
    "FPE": (kinds.UNDEFINED, "an integer is divided by zero"),
}
IN_WORDS = {
    "attempting double-free": "double free: what is freed here was freed before",
    "stack-overflow": "stack overflow: calls within calls, or large variables, have filled the "
    "stack",
    "SEGV": "SEGV: the program uses an address that is not its own",
}
BESIDE = {"overflows": "after", "underflows": "before", "partially": "partly outside"}
WORD = 16  # bytes: the most that one instruction reads or writes
PAST_THE_END = ", past the end of"
WRAPPED = re.compile(r"(?:unsigned offset|pointer index expression|pointer arithmetic).*overflowed")
LIES = r"is located (\d+) bytes (inside|before|after|to the right|to the left)(?: of)?"
SIGNALS = {
    signal.SIGSEGV: "it used an address that is not its own, or its stack was full",
    signal.SIGBUS: "it used an address that does not exist",
    signal.SIGFPE: "an integer was divided by zero",
    signal.SIGILL: "it met an instruction that must not run: compilers put one where C gives the "
    "program no meaning",
    signal.SIGTRAP: "it met a trap: compilers put one where C gives the program no meaning",
    signal.SIGABRT: "it called abort(), as a failed assert does",
    signal.SIGKILL: "something from outside ended it",
    signal.SIGPIPE: "it wrote to a pipe that was closed",
}
# The beginning of each part of a report, and the action of its line.
PARTS = (
    (re.compile(r"freed by thread"), "freed in"),
    (re.compile(r"(?:previously )?allocated by thread"), "allocated in"),
    (re.compile(r"leak of \d+ byte"), "allocated in"),
)
UBSAN = re.compile(r"^(\S+?):(\d+):\d+: runtime error: (.+)", re.M)
REPORT = re.compile(r"^thread \d+ panic: |^==\d+==(?!WARNING)|^\S+:\d+:\d+: runtime error", re.M)
PANIC = re.compile(r"^thread \d+ panic: (.+)\n\S*?([^/\s:]+):(\d+):\d+:", re.M)  # UBSan in Zig
ASSERT = re.compile(r"(\S+?):(\d+): .*Assertion [`'](.+)' failed")
THROWN = re.compile(
    r"terminate called after throwing an instance of '([^']+)'(?:\s+what\(\): *(.*))?"
)


@dataclass(frozen=True)
class Place:
    """A line of a fault, and its action there: "" is the line of the fault itself."""

    did: str
    file: str
    line: int


@dataclass(frozen=True)
class Fault:
    """Why a program stopped, in words, and its own lines that have to do with it."""

    kind: str
    message: str
    places: tuple[Place, ...] = ()

    def verdict(self, sources: Mapping[str, str]) -> Verdict:
        """The fault with its lines of ``sources``, the program's files by name."""
        parts = []
        for place in self.places:
            where = f"{place.file}, line" if len(sources) > 1 else "line"
            if place.did:
                parts.append(f"{place.did} {where} {place.line}:")
            elif len(sources) > 1:
                parts.append(f"{where} {place.line}:")
            around = 0 if place.did else 1
            parts.append(source_excerpt(sources[place.file], [place.line], around=around))
        excerpt = "\n".join(filter(None, parts))
        return Verdict(self.kind, self.message, self._next_step(sources), excerpt=excerpt)

    def _next_step(self, sources: Mapping[str, str]) -> str:
        """The next step. If memory was used too late, it depends on the call that freed it, and on
        the language."""
        in_cpp = any(name.endswith(".cpp") for name in sources)
        if self.message.startswith(MIXED):
            return kinds.PAIRS_OF_CALLS
        if self.kind == kinds.MEMORY_LEAK and in_cpp:
            return kinds.LEAK_IN_CPP
        if self.kind == kinds.UNDEFINED:
            steps = (s for words, s in kinds.UNDEFINED_STEPS.items() if words in self.message)
            return next(steps, kinds.NEXT_STEP[self.kind])
        if self.kind == kinds.OUT_OF_BOUNDS and " before " in self.message:
            return kinds.BEFORE_THE_BEGINNING
        if self.kind != kinds.USE_AFTER_FREE:
            return kinds.NEXT_STEP[self.kind]
        freed = next((place for place in self.places if place.did == "freed in"), None)
        if freed is None:
            on_stack = "the variable" in self.message
            return kinds.VARIABLE_GONE if on_stack else kinds.NEXT_STEP[self.kind]
        line = sources[freed.file].splitlines()[freed.line - 1]
        if re.search(r"~\s*\w+\s*\(", line):
            return kinds.FREED_BY_DESTRUCTOR
        if in_cpp and not re.search(r"\b(?:free|realloc)\b", line):
            return kinds.AFTER_DELETE if "delete" in line else kinds.FREED_BY_OBJECT
        return kinds.NEXT_STEP[self.kind]


def fault_of(ended: Ended, names: Iterable[str], seconds: float) -> Fault | None:
    """The fault that stopped the program made of the files ``names``, None if it ended well."""
    if ended.timed_out:
        return Fault(kinds.TIME_LIMIT, f"the program was still running after {seconds:g} seconds.")
    if ended.exceeded:
        return Fault(kinds.RESOURCE_LIMIT, TAKEN_TOO_MUCH[ended.exceeded])
    files = tuple(names)
    return _reported(ended.errors, files) or _by_status(ended.status)


def without_reports(errors: str) -> str:
    """The program's own text in its standard error."""
    own = REPORT.split(errors, maxsplit=1)[0]
    own = re.sub(r"^(?:==\d+==WARNING|AddressSanitizer:DEADLYSIGNAL|=+$).*\n?", "", own, flags=re.M)
    return own if own.strip() else ""


def _reported(errors: str, files: tuple[str, ...]) -> Fault | None:
    """From AddressSanitizer, LeakSanitizer, UBSan, a failed assert or an exception."""
    if found := UBSAN.search(errors):
        places = _places(errors, files)
        if found[1] in files:
            places = (Place("", found[1], int(found[2])),)
        return _undefined(found[3], places)
    if found := PANIC.search(errors):
        places = (Place("", found[2], int(found[3])),) if found[2] in files else ()
        return _undefined(found[1], places)
    if found := ASSERT.search(errors):
        places = (Place("", found[1], int(found[2])),) if found[1] in files else ()
        return Fault(kinds.ASSERTION, f"{found[3]} is not true here.", places)
    if found := THROWN.search(errors):
        what = f": {found[2]}" if found[2] else ""
        message = f"an exception of type {found[1]} is caught nowhere{what}."
        return Fault(kinds.CRASHED, message, _places(errors, files))
    if "detected memory leaks" in errors:
        lost = re.search(r"SUMMARY: \w+Sanitizer: (\d+) byte", errors)
        message = f"{lost[1] if lost else 'some'} bytes are never freed."
        return Fault(kinds.MEMORY_LEAK, message, _places(errors, files))
    if "hard rss limit exhausted" in errors:
        return Fault(kinds.RESOURCE_LIMIT, TAKEN_TOO_MUCH[MEMORY])
    return _address(errors, files)


def _undefined(text: str, places: tuple[Place, ...]) -> Fault:
    if "null pointer" in text:
        return Fault(kinds.NULL_POINTER, f"{text}.", places)
    if WRAPPED.search(text):
        return Fault(
            kinds.OUT_OF_BOUNDS, "the index leads out of all memory: is it below 0?", places
        )
    kind = kinds.OUT_OF_BOUNDS if "out of bounds" in text else kinds.UNDEFINED
    return Fault(kind, f"{text}.", places)


def _address(errors: str, files: tuple[str, ...]) -> Fault | None:
    """From a report of AddressSanitizer."""
    found = re.search(r"ERROR: AddressSanitizer: (attempting (?:double-)?free|[\w-]+)", errors)
    if found is None:
        return None
    what = "bad-free" if found[1] == "attempting free" else found[1]
    places = _places(errors, files)
    if what == "SEGV" and "zero page" in errors:
        return Fault(kinds.NULL_POINTER, "the program follows a NULL pointer.", places)
    if what in IN_PLAIN_WORDS:
        kind, words = IN_PLAIN_WORDS[what]
        return Fault(kind, f"{words}.", places)
    outside = what.endswith(("overflow", "underflow"))
    kind = ADDRESS_KINDS.get(what, kinds.OUT_OF_BOUNDS if outside else kinds.CRASHED)
    if access := re.search(r"^(READ|WRITE) of size (\d+)", errors, re.M):
        size = int(access[2])
        message = f"the program {access[1].lower()}s {_bytes(access[2])}{_where(errors, size)}"
    else:
        message = IN_WORDS.get(what, what.removeprefix("attempting ").replace("-", " "))
    return Fault(kind, f"{message}.", places)


def _where(errors: str, size: int) -> str:
    """The position of the wrong address, in words, "" if the report has none. Of ``size`` bytes
    that a function of the library reads or writes, some may be inside the block."""
    block = re.search(rf"{LIES} (\d+)-byte region", errors)
    if block:
        return f"{_beside(block[1], block[2], size)} a block of {_bytes(block[3])}"
    shared = re.search(rf"{LIES} global variable '([^']+)'.* of size (\d+)", errors)
    if shared:
        return f"{_beside(shared[1], shared[2], size)} {shared[3]}, which has {_bytes(shared[4])}"
    local = re.search(r"'(\w+)'(?: \(line \d+\))? <== Memory access at offset \d+ (\w+)", errors)
    if local:
        past = local[2] == "overflows" and size > WORD
        side = PAST_THE_END if past else f" {BESIDE.get(local[2], 'of')}"
        return f"{side} the variable {local[1]}"
    return ""


def _beside(distance: str, side: str, size: int) -> str:
    """The position of ``size`` bytes beside a block, from the words of old and new compilers."""
    if side == "inside":
        return " at the start of" if distance == "0" else f", {_bytes(distance)} into"
    words = "after" if side in ("to the right", "after") else "before"
    if words == "after" and size > WORD:
        return PAST_THE_END
    return f" right {words}" if distance == "0" else f", {_bytes(distance)} {words}"


def _bytes(number: str) -> str:
    return f"{number} byte" if number == "1" else f"{number} bytes"


def _places(errors: str, files: tuple[str, ...]) -> tuple[Place, ...]:
    """The first line of the program's own files in each part of a report."""
    own = re.compile(rf"(?<![\w.-])({'|'.join(map(re.escape, files))}):(\d+)")
    found: list[Place] = []
    for part in re.split(r"\n(?=\s*\n|freed by|previously allocated|allocated by)", errors):
        head = next((did for begins, did in PARTS if begins.search(part)), "")
        if "frame has" in part or "runtime error" in part or "SUMMARY" in part:
            continue
        if (line := own.search(part)) and not (not head and found):
            place = Place(head, line[1], int(line[2]))
            if place not in found:
                found.append(place)
    return tuple(found)[:3]


def _by_status(status: int) -> Fault | None:
    if status in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
        message = (
            f"the program wrote more than {MOST_OUTPUT // 2**20} MB into one file or printed it."
        )
        return Fault(kinds.RESOURCE_LIMIT, message)
    if status < 0:
        number = signal.Signals(-status)
        why = f": {SIGNALS[number]}" if number in SIGNALS else ""
        return Fault(kinds.CRASHED, f"the program was stopped by the signal {number.name}{why}.")
    if status:
        return Fault(kinds.CRASHED, f"the program ended with status {status}, not 0.")
    return None
