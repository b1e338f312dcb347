"""``sanitize``: the mistakes of a kernel.

It runs the kernel on the emulator, on a machine with a GPU too: a faulty kernel can hurt nothing
there, and every access is seen.
"""

from __future__ import annotations

from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..compiling.own_warnings import HEADING, own_warnings
from ..compiling.source_text import shortened
from ..devices.emulated_arrays import plain
from ..devices.limits import dimensions
from ..emulator import (
    ALL_CHECKS,
    ERROR,
    GLOBAL,
    WARNING,
    Finding,
    KernelFault,
    Location,
    Options,
    next_step,
)
from ..errors import more
from ..launching.arguments import bring_back, carry_over
from ..launching.emulation import emulated_call
from ..symptoms import heading
from .nan_origins import origin, strange_numbers
from .unoptimised import FAULTS, MOST_BYTES, behind, is_short, removed

if TYPE_CHECKING:
    from ..emulator import LaunchResult


UNCHANGED = (
    "Some writes stored the value that was already there, while another thread may read it. Such "
    "races aren't reported: try arange or random numbers."
)
OTHER_SEEDS = (1, 2)  # other moments for asynchronous copies to land


@dataclass(frozen=True)
class Report:
    """The ``findings`` of :func:`sanitize` in the order met, and the text that the kernel printed.

    As text: the first error of each kind, a count of the rest, and the next step. Beside errors,
    a line for each warning, which mostly comes out right though nothing promises it.
    ``compiler_warnings`` are the compiler's own. They aren't findings, and come at the end.
    ``unchanged``: writes that would be races had they changed the value in memory. ``first_nan``
    says which operation made the first NaN, or the first infinity, of results that became that in
    a run without findings.
    """

    kernel: str
    findings: tuple[Finding, ...]
    source: str
    filename: str
    printed: str = ""
    compiler_warnings: tuple[str, ...] = ()
    unchanged: int = 0
    first_nan: str = ""

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
        told = [self._findings()]
        if self.compiler_warnings:
            told.append("\n".join([HEADING, *(f"  {w}" for w in self.compiler_warnings)]))
        return "\n\n".join(told)

    __repr__ = __str__

    def _findings(self) -> str:
        if self.clean:
            checks = "bounds, alignment, uninitialised reads, races, barriers"
            told = f"{self.kernel}: no fault found ({checks})."
            all_of_it = [told, self.first_nan, UNCHANGED if self.unchanged else ""]
            return "\n".join(filter(None, all_of_it))
        shown = self.errors or self.warnings
        parts = [
            self._first_and_rest([finding for finding in shown if finding.kind == kind])
            for kind in dict.fromkeys(finding.kind for finding in shown)
        ]
        if self.errors and self.warnings:
            lines = (f"  {f.kind}:{_in_a_line(f)[1:]}" for f in self.warnings)
            parts.append("\n".join(["Warnings:", *lines]))
        page = more(*(heading(finding.kind) for finding in shown))
        return "\n".join(["\n\n".join(parts), page])

    def _first_and_rest(self, findings: list[Finding]) -> str:
        """The first of some findings of a kind in full, the others in a line each, and the steps
        that their causes ask for."""
        first, *rest = findings
        lines = [self._with_source(first)]
        if rest:
            lines.append(f"And {len(rest)} more of this kind ({first.kind}):")
        return "\n".join([*lines, *map(_in_a_line, rest), *_steps(findings)])

    def _with_source(self, finding: Finding) -> str:
        lines = [finding.message + (f"\n  Seen{_times(finding)}." if finding.repeats else "")]
        places = [p for p in _places(finding) if p is not None]
        text = self.source.splitlines()
        for line in sorted({p.line for p in places if p.file == self.filename}):
            if 0 < line <= len(text):
                lines.append(f"{line:>6} | {shortened(text[line - 1])}")
        return "\n".join(lines)


def _steps(findings: list[Finding]) -> list[str]:
    """One line for each next step. Several name the lines that each is for."""
    by_step: dict[str, list[Finding]] = {}
    for finding in findings:
        by_step.setdefault(next_step(finding), []).append(finding)
    if len(by_step) == 1:
        return [f"next: {step}" for step in by_step]
    return [f"next, for {_in_words(alike[0])}: {step}" for step, alike in by_step.items()]


def _in_words(finding: Finding) -> str:
    return " and ".join(dict.fromkeys(map(str, filter(None, _places(finding)))))


def _places(finding: Finding) -> tuple[Location | None, Location | None]:
    return finding.other_location, finding.location


def _in_a_line(finding: Finding) -> str:
    array = f" on {finding.array}" if finding.array else ""
    return f"  {_in_words(finding)}{array}{_times(finding)}"


def _times(finding: Finding) -> str:
    return f" {finding.repeats + 1:,} times" if finding.repeats else ""


def sanitize(
    kernel: Any,
    grid: int | tuple[int, ...],
    block: int | tuple[int, ...] | None,
    args: tuple[Any, ...],
    *,
    shared_mem: int = 0,
    optimised_only: bool = False,
    **meta: Any,
) -> Report:
    """Run ``kernel`` on the emulator under every check and report its faults.

    Arguments are as for a launch. Arrays receive the kernel's results, even a GPU's: the run
    works on copies and brings them back. Raises
    :class:`~course_utils.devices.limits.LaunchError` for a launch that cannot be right. Faults of
    the kernel itself are in the report, never raised.

    A kernel that starts asynchronous copies runs several times, from the same contents of memory:
    first with copies that land as late as they can, then at random moments. The results of the
    first run stay.

    A kernel without a finding runs once more, compiled with ``-G``, if that takes a second or two:
    the optimiser removes some accesses out of bounds and uninitialised reads. So does one with an
    access out of bounds, whose index may be made of a variable that was never set. The report then
    has this in its place. ``optimised_only`` leaves this run out.

    ``kernel`` may be one of Triton, Numba or Warp, and the report then has its Python. A Triton
    kernel has no block (None), and ``meta`` are its constants and options: ``BLOCK=1024,
    num_warps=4``. Warp launches threads: ``grid`` is its ``dim``, and ``block`` its ``block_dim``.
    """
    values, copies = carry_over(args)
    call = emulated_call(kernel, grid, block, values, shared_mem, meta)
    kernel, grid, block, values = call.kernel, call.grid, call.block, call.args
    shared_mem, optimised_only = call.shared_mem, optimised_only or not call.compiled_again

    def run(seed: int) -> tuple[list[Finding], LaunchResult | None]:
        options = Options(checks=ALL_CHECKS, seed=seed)
        try:
            result = kernel.launch(grid, block, values, shared_mem=shared_mem, options=options)
        except KernelFault as fault:
            return [*fault.earlier, fault.finding], None
        return result.findings, result

    again = kernel.raw.entry.asynchronous
    before = None
    if isinstance(values, tuple) and (again or not optimised_only):
        shape = dimensions(grid, "grid"), dimensions(block, "block")
        checked = kernel.check(*shape, values, shared_mem)
        before = _contents(checked, unlimited=again)
        strange = strange_numbers(checked)
    start = perf_counter()
    findings, result = run(0)
    seconds = perf_counter() - start
    if before is None or result is None:
        pass
    elif again and _copied(result):
        after = GLOBAL.contents()
        for seed in OTHER_SEEDS:
            GLOBAL.put_back(before)
            with redirect_stdout(StringIO()):
                findings = _merge(findings, run(seed)[0])
        GLOBAL.put_back(after)
        kernel.raw.last_launch = result
    fault = findings[-1] if result is None else None
    unclear = not findings or (fault is not None and fault.kind in FAULTS)
    if before is not None and is_short(seconds) and unclear and not optimised_only:
        after = GLOBAL.contents()
        GLOBAL.put_back(before)
        found = removed(kernel, *shape, checked, shared_mem)
        if fault is None:
            findings = found
        elif causes := behind(fault, found):
            findings = [*causes, *findings[:-1]]
        GLOBAL.put_back(after)
    first_nan = ""
    if before is not None and result is not None and is_short(seconds) and not findings:
        first_nan = origin(kernel, *shape, checked, shared_mem, strange, before)
        kernel.raw.last_launch = result
    bring_back(copies)
    printed = result.printed if result else ""
    warned = tuple(own_warnings(getattr(kernel.module, "warnings", "")))
    unchanged = result.unchanged if result else 0
    return Report(
        kernel.name,
        tuple(findings),
        kernel.source,
        kernel.filename,
        printed,
        warned,
        unchanged,
        first_nan,
    )


def _contents(values: tuple[Any, ...], unlimited: bool) -> list[Any] | None:
    """The contents of all arrays, also among ``values``. None where they are very large."""
    arrays = [array for array in map(plain, values) if isinstance(array, np.ndarray)]
    size = sum(array.nbytes for array in arrays) + sum(r.storage.nbytes for r in GLOBAL.regions)
    return GLOBAL.contents(arrays) if unlimited or size <= MOST_BYTES else None


def _copied(result: LaunchResult) -> bool:
    """Whether anything asynchronous was done."""
    return any("async" in opcode.split(".") for opcode in result.counts.opcodes)


def _merge(known: list[Finding], more: list[Finding]) -> list[Finding]:
    """``known``, and the findings of ``more`` that are new: of another kind, or at other lines. An
    error replaces a warning."""

    def place(f: Finding) -> tuple[str, ...]:
        return (f.kind, *map(str, _places(f)))

    errors = {place(f) for f in more if f.level == ERROR}
    known = [f for f in known if f.level == ERROR or place(f) not in errors]
    seen = {place(f) for f in known}
    note = "\n  Seen when asynchronous copies land earlier than they have to."
    new = [f for f in more if place(f) not in seen]
    return known + [replace(f, message=f.message + note) for f in new]
