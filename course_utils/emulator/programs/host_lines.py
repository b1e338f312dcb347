"""The source line of a call, from the return addresses on its stack."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_SENTINEL = "0x0"
_ANSWER = re.compile(r"(.+):(\d+)(?: \(discriminator \d+\))?\n")  # of addr2line
_CALLED = re.compile(r"&\s*([A-Za-z_][\w.>\-\[\]]*)|\*\*\s*\)\s*([A-Za-z_]\w*)")


@dataclass(frozen=True)
class HostLine:
    """A line of host code. Where it isn't known ``file`` is empty."""

    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{Path(self.file).name}:{self.line}" if self.file else "an unknown line"

    @property
    def at(self) -> str:
        """ " at file.cu:3", or nothing."""
        return f" at {self}" if self.file else ""


class HostLines:
    """Looks up lines of the program ``library``. ``foreign``: folders whose headers are not the
    program's own."""

    def __init__(self, library: Path, foreign: tuple[str, ...] = ()) -> None:
        self.library, self.foreign = library, tuple(map(_real, foreign))
        self._process: subprocess.Popen[str] | None = None
        self._kept: dict[int, list[HostLine]] = {}
        self._ranges: list[tuple[int, int, int]] = []

    def find_mapping(self) -> None:
        """Note the library's addresses in this process, after it was loaded."""
        parts = []
        for line in Path("/proc/self/maps").read_text().splitlines():
            fields = line.split(maxsplit=5)
            if len(fields) == 6 and fields[5] == str(self.library):
                low, high = (int(word, 16) for word in fields[0].split("-"))
                parts.append((low, high, int(fields[2], 16)))
        base = min((low for low, _, _ in parts), default=0)
        self._ranges = [(low, high, base) for low, high, _ in parts]

    def line(self, frames: list[int]) -> HostLine:
        """The innermost line of the program's own among return addresses, innermost first.

        A launch goes through two functions that nvcc makes: one in its own file, and one that has
        the line of the kernel.
        """
        made = False
        if not self._ranges:
            self.find_mapping()
        for frame in frames:
            base = next((base for low, high, base in self._ranges if low <= frame < high), None)
            if base is None:
                continue
            for line in self._looked_up(frame - 1 - base):
                if ".cudafe1." in line.file:
                    made = True
                elif line.file and not _real(line.file).startswith(self.foreign):
                    if not made:
                        return line
                    made = False
        return HostLine()

    def _looked_up(self, offset: int) -> list[HostLine]:
        if offset not in self._kept:
            self._kept[offset] = self._asked(offset)
        return self._kept[offset]

    def _asked(self, offset: int) -> list[HostLine]:
        """The line of an address, and those it was inlined into."""
        if self._process is None:
            command = shutil.which("addr2line")
            if command is None:
                return []
            self._process = subprocess.Popen(
                [command, "-a", "-i", "-e", str(self.library)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        process, found = self._process, []
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{offset:#x}\n{_SENTINEL}\n")
        process.stdin.flush()
        process.stdout.readline()
        for answer in process.stdout:
            if answer.startswith("0x"):  # the sentinel's own address, and its one line
                process.stdout.readline()
                break
            told = _ANSWER.fullmatch(answer)
            if told and not told[1].startswith("?"):
                found.append(HostLine(told[1], int(told[2])))
        return found


@cache
def _real(path: str) -> str:
    """A path without links: nvcc reaches its headers through some."""
    return os.path.realpath(path)


def named_at(line: HostLine, call: str) -> str:
    """The variable that a call on a line fills, as ``d_x`` in ``cudaMalloc(&d_x, n)``. "" if the
    line doesn't show it, or has two such calls."""
    text = _source(line.file)
    if not 0 < line.line <= len(text):
        return ""
    calls = re.findall(rf"\b{call}\b([^;]*)", text[line.line - 1])
    found = _CALLED.search(calls[0]) if len(calls) == 1 else None
    return (found[1] or found[2]).rstrip("-") if found else ""


@cache
def _source(file: str) -> tuple[str, ...]:
    try:
        return tuple(Path(file).read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return ()
