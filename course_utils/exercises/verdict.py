"""Turns what went wrong with a student's cell into a verdict with its source line."""

from __future__ import annotations

import html
from collections.abc import Iterable
from dataclasses import dataclass, replace

from ..checking.verdict import (
    FAIL_COLOUR,
    NEUTRAL_COLOUR,
    PASS_COLOUR,
    Verdict,
    panel,
    paragraph,
)
from ..emulator.report import Counts, Finding, Location
from ..nvrtc import CompileError
from . import kinds

MOST_LINES = 12  # of what a kernel printed
MOST_CHARACTERS = 1200
MOST_MESSAGE = 1500


@dataclass(frozen=True)
class Timing:
    """Milliseconds at full size on a GPU: the student's kernel and the course's solution."""

    device: str
    size: str
    yours: float
    ours: float


@dataclass(frozen=True)
class Outcome:
    """The answer to one run of an exercise cell. It shows itself in a notebook and prints.

    ``counts`` are those of the launch that was measured against the target.
    """

    exercise_id: str
    title: str
    verdict: Verdict
    counts: Counts | None = None
    target: tuple[str, float, float] | None = None  # label, measured, at most
    timing: Timing | None = None

    @property
    def passed(self) -> bool:
        return self.verdict.passed

    @property
    def kind(self) -> str:
        return self.verdict.kind

    @property
    def facts(self) -> list[str]:
        """What was counted or measured, one line each."""
        lines = []
        if self.target is not None:
            label, measured, at_most = self.target
            lines.append(f"{label}: {measured:.2f}, target at most {at_most:g}")
        if self.timing is not None:
            t = self.timing
            lines.append(
                f"{t.device}, {t.size}: {t.yours:.3f} ms; the course's solution {t.ours:.3f} ms"
            )
        return lines

    def __str__(self) -> str:
        return "\n".join([str(self.verdict), *(f"  {fact}" for fact in self.facts)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = FAIL_COLOUR
        if self.passed:
            colour = PASS_COLOUR
        elif self.kind == kinds.NOT_STARTED:
            colour = NEUTRAL_COLOUR
        title = (
            f"<div style='color:#555'>Exercise {self.exercise_id}: {html.escape(self.title)}</div>"
        )
        facts = "".join(paragraph(fact) for fact in self.facts)
        bars = _bars(self.timing) if self.timing else ""
        body = title + self.verdict.body_html() + facts + bars
        return panel(self.verdict.headline, body, colour)


class ExerciseFailed(AssertionError):
    """Raised for any verdict but PASS when COURSE_STRICT=1; shows the verdict, no traceback."""

    def __init__(self, outcome: Outcome):
        super().__init__(f"{outcome.exercise_id}: {outcome}")
        self.outcome = outcome

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def simple(kind: str, message: str, *, hint: str = "", excerpt: str = "") -> Verdict:
    """A verdict without arrays."""
    return Verdict(kind, message, hint or kinds.NEXT_STEP.get(kind, ""), excerpt=excerpt)


def from_compile_error(error: CompileError) -> Verdict:
    """The compiler's first errors with line, caret and remedy."""
    where = f"line {error.line}" if error.line else "the whole cell"
    return simple(
        kinds.COMPILE_ERROR,
        f"the compiler does not understand {where}.",
        excerpt=clip(str(error), 24, 2400),
    )


def from_finding(finding: Finding, source: str, filename: str) -> Verdict:
    """A fault the emulator saw, with the student's source lines."""
    lines = _own_lines((finding.location, finding.other_location), filename)
    message = clip(finding.message, 7, MOST_MESSAGE)
    if message.lower().startswith(finding.kind):  # the headline says it already
        message = message[len(finding.kind) :].lstrip(": ")
    return simple(finding.kind, message, excerpt=source_excerpt(source, lines))


def with_context(verdict: Verdict, size: str, printed: str) -> Verdict:
    """The same verdict, saying which size it was and what the kernel printed."""
    message = f"{verdict.message.rstrip()}\n  (size {size})"
    return replace(verdict, message=message, printed=clip_printed(printed))


def clip_printed(text: str) -> str:
    """What a kernel printed, cut to what a panel can show."""
    return clip(text, MOST_LINES, MOST_CHARACTERS)


def source_excerpt(source: str, lines: Iterable[int], around: int = 1) -> str:
    """The named lines (1-based) and their neighbours, each named line marked by an arrow."""
    text = source.splitlines()
    marked = {line for line in lines if 1 <= line <= len(text)}
    shown = {
        near
        for line in marked
        for near in range(line - around, line + around + 1)
        if 1 <= near <= len(text) and (near == line or text[near - 1].strip())
    }
    rows, last = [], 0
    for line in sorted(shown):
        if last and line > last + 1:
            rows.append("     ...")
        rows.append(f"{'->' if line in marked else '  '} {line:3} | {text[line - 1]}".rstrip())
        last = line
    return "\n".join(rows)


def clip(text: str, lines: int, characters: int) -> str:
    """At most so many lines and characters, and a word about what was left out."""
    rows = text.splitlines()
    kept = "\n".join(row[:200] for row in rows[:lines])[:characters]
    left = len(rows) - len(kept.splitlines())
    return f"{kept}\n... and {left} more lines" if left > 0 else kept


def _own_lines(places: Iterable[Location | None], filename: str) -> list[int]:
    return [place.line for place in places if place is not None and place.file == filename]


def _bars(timing: Timing) -> str:
    """Two bars on one scale; shorter is better."""
    longest = max(timing.yours, timing.ours)
    rows = []
    for label, value in (("yours", timing.yours), ("ours", timing.ours)):
        width = max(1, round(240 * value / longest))
        rows.append(
            f"<div><span style='display:inline-block;width:4em'>{label}</span>"
            f"<span style='display:inline-block;height:0.8em;width:{width}px;"
            f"background:{NEUTRAL_COLOUR}'></span> {value:.3f} ms</div>"
        )
    return "".join(rows)
