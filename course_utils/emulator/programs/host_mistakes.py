"""The mistakes of host code, and the log of a program's events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from typing import IO

from ..findings.next_steps import next_step
from ..findings.report import ERROR, WARNING, Finding
from .host_lines import HostLine


class HostMistake(Enum):
    """Why there is a finding about host code. The values say each in words."""

    OUTSIDE_ALLOCATION = "a copy past the end of an allocation"
    WRONG_DIRECTION = "a copy whose direction does not fit its pointers"
    NOT_ALLOCATED = "a pointer that no allocation gave"
    FREED_MEMORY = "memory that was freed before"
    FREED_TWICE = "memory that is freed twice"
    DEVICE_MEMORY_ON_HOST = "host code that reads or writes device memory"
    NO_VALUE = "a library that reads memory that nothing has set"
    LAUNCH_REFUSED = "a launch that a GPU refuses"
    INVALID_CALL = "a call with an argument that is not allowed"
    ERROR_NOT_READ = "an error that the program never asks for"
    NEVER_FREED = "memory that is never freed"


WARNINGS = {HostMistake.NEVER_FREED, HostMistake.ERROR_NOT_READ}


@dataclass(frozen=True)
class HostFinding:
    """A mistake of host code. ``call`` is the function of CUDA that was called, and ``bytes`` is
    the number of bytes that are wrong."""

    mistake: HostMistake
    call: str
    message: str
    line: HostLine = HostLine()
    bytes: int = 0

    @property
    def level(self) -> str:
        """ERROR or WARNING."""
        return WARNING if self.mistake in WARNINGS else ERROR


@dataclass
class ProgramLog:
    """A program's events, written to ``out`` as they happen, one line of JSON per event.

    The same finding of later launches, or of later calls on the same line, is only counted.
    """

    out: IO[str]
    counted: dict[tuple[object, ...], int] = field(default_factory=dict)

    def write(self, what: str, **facts: object) -> None:
        """Record an event with its facts."""
        self.out.write(json.dumps({"what": what, **facts}) + "\n")
        self.out.flush()

    def _seen(self, *key: object) -> bool:
        self.counted[key] = self.counted.get(key, 0) + 1
        return self.counted[key] > 1

    def host(self, finding: HostFinding) -> None:
        """Record a mistake of host code."""
        if not self._seen(finding.mistake, finding.call, finding.line):
            self.write(
                "finding",
                kind=finding.mistake.name,
                level=finding.level,
                message=finding.message,
                call=finding.call,
                line=str(finding.line) if finding.line.file else "",
            )

    def device(self, finding: Finding, kernel: str, launch: str) -> None:
        """Record a finding of the emulator. ``launch``: where it was, in words."""
        key = finding.cause, finding.location, finding.other_location, finding.array
        if not self._seen(kernel, *key):
            self.write(
                "finding",
                kind=finding.kind,
                level=finding.level,
                message=finding.message,
                call=kernel,
                line=launch,
                next=next_step(finding),
            )
