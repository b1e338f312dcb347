"""``sanitize``: what a kernel does wrong.

It runs the kernel on the emulator, on a machine with a GPU too: a faulty kernel can hurt nothing
there, and every access is seen.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING, Any

from ..compiling.source_text import shortened
from ..devices.emulated_arrays import plain
from ..emulator import (
    ALL_CHECKS,
    ERROR,
    GLOBAL,
    WARNING,
    Finding,
    KernelFault,
    Location,
    Options,
)
from ..launching.arguments import bring_back, carry_over
from ..launching.emulation import on_emulator

if TYPE_CHECKING:
    from ..emulator import LaunchResult


OTHER_SEEDS = (1, 2)  # other moments for asynchronous copies to land


@dataclass(frozen=True)
class Report:
    """What :func:`sanitize` found: ``findings`` in the order met, and what the kernel printed.

    As text: the first error of each kind, and a count of the rest; beside errors, a line for each
    warning, which mostly comes out right though nothing promises it.
    """

    kernel: str
    findings: tuple[Finding, ...]
    source: str
    filename: str
    printed: str = ""

    @property
    def clean(self) -> bool:
        """Whether there are neither errors nor warnings."""
        return not self.findings

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Findings that make the kernel wrong."""
        return tuple(finding for finding in self.findings if finding.level == ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """Findings that mostly come out right, with no promise."""
        return tuple(finding for finding in self.findings if finding.level == WARNING)

    def __str__(self) -> str:
        if self.clean:
            checks = "bounds, alignment, uninitialised reads, races, barriers"
            return f"{self.kernel}: no fault found ({checks})."
        shown = self.errors or self.warnings
        parts = [
            self._first_and_rest([finding for finding in shown if finding.kind == kind])
            for kind in dict.fromkeys(finding.kind for finding in shown)
        ]
        if self.errors and self.warnings:
            lines = (f"  {f.kind}:{_in_a_line(f)[1:]}" for f in self.warnings)
            parts.append("\n".join(["Warnings:", *lines]))
        return "\n\n".join(parts)

    __repr__ = __str__

    def _first_and_rest(self, findings: list[Finding]) -> str:
        """The first of some findings of a kind in full, and the others in a line each."""
        first, *rest = findings
        lines = [self._with_source(first)]
        if rest:
            lines.append(f"And {len(rest)} more of this kind ({first.kind}):")
        return "\n".join([*lines, *map(_in_a_line, rest)])

    def _with_source(self, finding: Finding) -> str:
        lines = [finding.message + (f"\n  Seen{_times(finding)}." if finding.repeats else "")]
        places = [p for p in _places(finding) if p is not None]
        text = self.source.splitlines()
        for line in sorted({p.line for p in places if p.file == self.filename}):
            if 0 < line <= len(text):
                lines.append(f"{line:>6} | {shortened(text[line - 1])}")
        return "\n".join(lines)


def _places(finding: Finding) -> tuple[Location | None, Location | None]:
    return finding.other_location, finding.location


def _in_a_line(finding: Finding) -> str:
    places = dict.fromkeys(map(str, filter(None, _places(finding))))
    array = f" on {finding.array}" if finding.array else ""
    return f"  {' and '.join(places)}{array}{_times(finding)}"


def _times(finding: Finding) -> str:
    return f" {finding.repeats + 1:,} times" if finding.repeats else ""


def sanitize(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...],
    args: tuple[Any, ...],
    *,
    shared_mem: int = 0,
) -> Report:
    """Run ``kernel`` on the emulator under every check and report what is wrong.

    The arguments are those of a launch. Arrays receive what the kernel wrote, a GPU's too: the run
    works on copies of those and brings them back. Raises
    :class:`~course_utils.devices.limits.LaunchError` for a launch that cannot be right; faults of
    the kernel itself are in the report, never raised.

    A kernel that starts asynchronous copies runs several times, from the same contents of memory:
    first with copies that land as late as they can, then at random moments. What the first run
    wrote is what stays.
    """
    kernel = on_emulator(kernel)
    values, copies = carry_over(args)

    def run(seed: int) -> tuple[list[Finding], LaunchResult | None]:
        options = Options(checks=ALL_CHECKS, seed=seed)
        try:
            result = kernel.launch(grid, block, values, shared_mem=shared_mem, options=options)
        except KernelFault as fault:
            return [*fault.earlier, fault.finding], None
        return result.findings, result

    again = kernel.raw.entry.asynchronous and isinstance(values, tuple)
    before = GLOBAL.contents(map(plain, values)) if again else []
    findings, result = run(0)
    if again and result is not None and _copied(result):
        after = GLOBAL.contents()
        for seed in OTHER_SEEDS:
            GLOBAL.put_back(before)
            with redirect_stdout(StringIO()):
                findings = _merge(findings, run(seed)[0])
        GLOBAL.put_back(after)
        kernel.raw.last_launch = result
    bring_back(copies)
    printed = result.printed if result else ""
    return Report(kernel.name, tuple(findings), kernel.source, kernel.filename, printed)


def _copied(result: LaunchResult) -> bool:
    """Whether anything asynchronous was done."""
    return any("async" in opcode.split(".") for opcode in result.counts.opcodes)


def _merge(known: list[Finding], more: list[Finding]) -> list[Finding]:
    """``known``, and those of ``more`` that are new: of another kind, or at other lines. An error
    takes the place of what was a warning."""

    def place(f: Finding) -> tuple[str, ...]:
        return (f.kind, *map(str, _places(f)))

    errors = {place(f) for f in more if f.level == ERROR}
    known = [f for f in known if f.level == ERROR or place(f) not in errors]
    seen = {place(f) for f in known}
    note = "\n  Seen when asynchronous copies land earlier than they have to."
    new = [f for f in more if place(f) not in seen]
    return known + [replace(f, message=f.message + note) for f in new]
