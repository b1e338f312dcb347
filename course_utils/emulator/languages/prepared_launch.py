"""A launch that another language asked for, in the emulator's terms, and its result."""

from __future__ import annotations

import linecache
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral
from pathlib import Path
from typing import Any

from ..findings.causes import Cause
from ..findings.language_words import Language
from ..findings.options import Options
from ..findings.report import Finding, KernelFault
from ..isa.gpu_constants import SHARED_PER_SM, WARP, Triple
from ..isa.ptx_parser import source_files
from ..launching.emulated_module import EmulatedModule, KernelEntry
from ..launching.launch_result import LaunchResult
from .host_arrays import LanguageError

MOST_BLOCK = (1024, 1024, 64)
MOST_GRID = (2**31 - 1, 65535, 65535)
MOST_SHARED = SHARED_PER_SM - 1024  # one block's, in bytes

CELL = "<cell>"  # the name of a notebook's cell in reports
OTHER_CELL = "<another cell>"  # of a helper's cell, beside the kernel's
_FILE = re.compile(r'^(\s*\.file\s+(\d+)\s+)"(?:[^"\\]|\\.)*"', re.M)
_ASSEMBLY = re.compile(r"// begin inline asm.*?// end inline asm", re.S)
_LOC = re.compile(r"^\s*\.loc\b[^\n]*$", re.M)


class FindingWarning(UserWarning):
    """A kernel ran to its end, but the checks found something."""


@dataclass(frozen=True)
class PythonSource:
    """The Python that a kernel was written in: the ``text`` of its file or cell, and the
    ``filename`` that reports call it."""

    filename: str
    text: str

    @classmethod
    def of(cls, path: str) -> PythonSource:
        """The source of functions whose code object names ``path``."""
        return cls(shown_name(path), "".join(linecache.getlines(path)))


def shown_name(path: str) -> str:
    """The name of a file in reports: :data:`CELL` for a notebook's cell. Any other file gets a name
    that is the same on every machine: its path from the working folder or from a folder of
    ``sys.path``, or its last part."""
    if not os.path.exists(path):
        return CELL if linecache.getlines(path) else path
    file = Path(path).resolve()
    inside = [Path(each or ".").resolve() for each in (os.getcwd(), *sys.path)]
    for folder in sorted(inside, key=lambda each: -len(each.parts)):
        if len(folder.parts) > 1 and file.is_relative_to(folder):
            return file.relative_to(folder).as_posix()
    return file.name


def with_lines_of_source(ptx: str, own: str = "") -> str:
    """``ptx`` whose lines are the source's, in files with the names that reports show. ``own`` is
    the file of the kernel.

    Inside inline assembly LLVM counts the lines of the assembly on from the source's. All of it
    belongs to the line that it begins with.
    """
    files = source_files(ptx)

    def renamed(match: re.Match[str]) -> str:
        path = files[int(match[2])]
        if own and os.path.basename(path) == os.path.basename(own):
            name = shown_name(own)  # compiled before, perhaps where this file was elsewhere
        elif own and (shown_name(path) == CELL or "ipykernel" in path):
            name = OTHER_CELL
        elif own and os.path.isabs(path) and not Path(path).is_relative_to(os.getcwd()):
            name = path  # a library's: a report puts the kernel's line first, as for headers
        else:
            name = shown_name(path)
        return f'{match[1]}"{name}"'

    ptx = _ASSEMBLY.sub(lambda match: _LOC.sub("", match[0]), ptx)
    return _FILE.sub(renamed, ptx)


def entry_of(ptx: str, name: str = "", own: str = "") -> KernelEntry:
    """The kernel ``name`` of a module, or its first one, with lines in files as reports show.
    ``own`` is its Python file."""
    module = EmulatedModule(with_lines_of_source(ptx, own))
    return module.entry(name or module.entries[0])


def dimensions(shape: Any, what: str, name: str) -> Triple:
    """One to three positive integers as three. Raises LanguageError for anything else. ``what`` and
    the kernel's ``name`` are for its message."""
    sizes = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    whole = all(isinstance(size, Integral) for size in sizes)
    if not whole or not 1 <= len(sizes) <= 3 or min(sizes) < 1:
        raise LanguageError(
            f"{name}: the {what} is {shape!r}, and it has one to three positive integers."
        )
    x, y, z, *_ = (*map(int, sizes), 1, 1)
    return x, y, z


@dataclass
class PreparedLaunch:
    """A launch as the emulator takes it. ``grid`` counts blocks, ``block`` threads, ``shared``
    bytes of dynamic shared memory. The PTX parameters have ``names``. ``changes``: options that the
    kernel asks for. ``keep`` holds the owners of the arguments' memory. ``compilers_memory``: the
    array in shared memory that the compiler manages, and the program never names. ``language``: of
    the kernel, whose words reports use."""

    name: str
    entry: KernelEntry
    grid: Triple
    block: Triple
    args: tuple[Any, ...]
    names: tuple[str, ...]
    source: PythonSource
    shared: int = 0
    changes: dict[str, Any] = field(default_factory=dict)
    keep: Any = None
    compilers_memory: str = "none"
    language: Language = Language.CUDA

    @property
    def ptx(self) -> str:
        """The whole module, as the language's compiler wrote it."""
        return self.entry.module.ptx

    def run(self, options: Options | None = None) -> LaunchResult:
        """Run it to its end. Raises :class:`~course_utils.emulator.KernelFault` for a fault, and
        LanguageError for a launch that a GPU refuses."""
        self._check()
        options = replace(options or Options(), language=self.language, **self.changes)
        try:
            result = self.entry.launch(
                self.grid, self.block, self.args, self.shared, self.names, options
            )
        except KernelFault as fault:
            fault.earlier = self._of_the_program(fault.earlier)
            fault.finding = replace(fault.finding, language=self.language)
            raise
        result.findings = self._of_the_program(result.findings)
        return result

    def _of_the_program(self, findings: list[Finding]) -> list[Finding]:
        """With their language, and without the writes of one result by all lanes of a warp to
        ``compilers_memory``: their sums differ by no more than the rounding, and whichever stays
        was meant."""
        return [
            replace(finding, language=self.language)
            for finding in findings
            if finding.array != self.compilers_memory
            or finding.cause != Cause.SAME_ELEMENT_WRITTEN
            or not finding.thread
            or not finding.other_thread
            or finding.thread[0] // WARP != finding.other_thread[0] // WARP
        ]

    def _check(self) -> None:
        threads, most = math.prod(self.block), self.entry.max_threads
        wrong = ""
        if threads > most or any(n > m for n, m in zip(self.block, MOST_BLOCK, strict=True)):
            wrong = f"a block of {self.block} is {threads:,} threads, and {most:,} are allowed."
        elif any(n > m for n, m in zip(self.grid, MOST_GRID, strict=True)):
            wrong = f"a grid of {self.grid} has more than {MOST_GRID} blocks."
        elif (shared := self.shared + self.entry.static_shared) > MOST_SHARED:
            wrong = f"{shared:,} bytes of shared memory, and a block may use {MOST_SHARED:,}."
        if wrong:
            raise LanguageError(f"{self.name} is not launched: {wrong}")


@dataclass
class Emulation:
    """The launches of a language while its runtime is the emulator's.

    ``launches``: each launch so far. ``results``: one for each launch that ran. ``arch``: the
    compute capability that kernels are compiled for, 90 for sm_90. With ``every_config`` an
    autotuned kernel is launched with each of its configurations, else with the first that fits.
    """

    options: Options
    arch: int = 90
    every_config: bool = False
    launches: list[PreparedLaunch] = field(default_factory=list)
    results: list[LaunchResult] = field(default_factory=list)
    take: Callable[[PreparedLaunch], None] | None = None
    warn: bool = True
    trying: bool = False  # a configuration is tried: compiled, and not launched

    def launch(self, prepared: PreparedLaunch) -> None:
        """Run a launch, print its output, and warn of each finding."""
        self.launches.append(prepared)
        if self.take is not None:
            self.take(prepared)
            return
        result = prepared.run(self.options)
        self.results.append(result)
        if result.printed:
            print(result.printed, end="")
        for finding in result.findings:
            if self.warn:
                _warn(prepared, finding)

    @property
    def findings(self) -> list[Any]:
        """All that the checks found, in the order of the launches."""
        return [finding for result in self.results for finding in result.findings]


def _warn(prepared: PreparedLaunch, finding: Finding) -> None:
    """A warning that Python shows with the line of the kernel."""
    place = finding.location
    file, line = (place.file, place.line) if place else (prepared.source.filename, 0)
    text = f"{prepared.name}: {finding.message}"
    warnings.warn_explicit(text, FindingWarning, file, line)


def _captured(prepared: PreparedLaunch) -> None:
    """A launch that is only wanted as it is."""


@contextmanager
def instead(owner: Any, **replacements: Any) -> Iterator[None]:
    """Attributes of a class or module that have other values inside the ``with``."""
    before = {name: owner.__dict__.get(name, _captured) for name in replacements}
    for name, value in replacements.items():
        setattr(owner, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is _captured:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
