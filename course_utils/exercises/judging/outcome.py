"""Turns what went wrong with a student's cell into a verdict with its source line."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from ... import figures
from ...checking.excerpts import clip, source_excerpt
from ...checking.verdict import FAIL_COLOUR, NEUTRAL_COLOUR, PASS_COLOUR, Verdict, panel, paragraph
from ...compiling.diagnostics import CompileError
from ...emulator import KINDS, Cause, Counts, Finding, Location, next_step
from ...errors import more
from ...symptoms import heading, link
from ..authoring import kinds
from ..authoring.spec import BaseExercise
from .after_pass import AfterPass

MOST_LINES = 12  # of what a kernel printed
MOST_CHARACTERS = 1200
MOST_MESSAGE = 1500
HUNT = "Why can this happen? Answer that before you change a line. The hints below go on from here."


@dataclass(frozen=True)
class Timing:
    """Milliseconds at full size on a GPU, by rung: "yours", "ours" and others to compare with.

    ``library`` is the name and the time of a library's routine.
    """

    device: str
    size: str
    rungs: dict[str, float]
    library: tuple[str, float] | None = None


@dataclass(frozen=True)
class Outcome:
    """The answer to one run of an exercise cell. It shows itself in a notebook and prints.

    ``counts`` are those of the launch that was measured against the target; ``before`` is what the
    starter, if it is right, measures there. ``note`` says what could not be kept of it. ``after``
    comes below a pass.
    """

    exercise_id: str
    title: str
    verdict: Verdict
    counts: Counts | None = None
    target: tuple[str, float, float] | None = None  # label, measured, at most
    before: float | None = None
    timing: Timing | None = None
    note: str = ""
    after: AfterPass | None = None

    @classmethod
    def of(cls, exercise: BaseExercise, verdict: Verdict) -> Outcome:
        """The outcome of a run of ``exercise`` that got this verdict."""
        if verdict.case is not None and verdict.hint == kinds.NEXT_STEP[kinds.WRONG]:
            right = verdict.case.title.startswith("Right with")
            long = right and any(kinds.TOO_MANY in line for line in verdict.case.lines)
            verdict = replace(verdict, hint=kinds.BESIDE_RIGHT if long else kinds.WITH_CASE)
        return cls(exercise.id, exercise.title, verdict)

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.verdict.passed

    @property
    def kind(self) -> str:
        """The kind of the verdict, one of ``kinds.KINDS``."""
        return self.verdict.kind

    @property
    def cause(self) -> Cause | None:
        """The cause of the finding that the verdict is about; None without a finding."""
        return self.verdict.cause

    @property
    def facts(self) -> list[str]:
        """What was counted or measured, and the note, one line each."""
        lines = []
        if self.target is not None:
            label, measured, at_most = self.target
            lines.append(f"{label}: {measured:.2f}, target at most {at_most:g}")
        if self.timing is not None:
            times = [*self.timing.rungs.items()]
            times += [self.timing.library] if self.timing.library else []
            shown = ", ".join(f"{name} {value:.3g} ms" for name, value in times)
            lines.append(f"{self.timing.device}, {self.timing.size}: {shown}")
        return [*lines, *filter(None, [self.note])]

    def __str__(self) -> str:
        parts = [str(self.verdict), *(f"  {fact}" for fact in self.facts)]
        if page := more(heading(self.kind)):
            parts.append(f"  {page}")
        return "\n".join([*parts, str(self.after)] if self.after else parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = FAIL_COLOUR
        if self.passed:
            colour = PASS_COLOUR
        elif self.kind in (kinds.NOT_STARTED, *kinds.NOT_HERE):
            colour = NEUTRAL_COLOUR
        title = (
            f"<div style='opacity:.8'>Exercise {self.exercise_id}: {html.escape(self.title)}</div>"
        )
        facts = "".join(paragraph(fact) for fact in self.facts)
        after = self.after.to_html() if self.after else ""
        page = link(heading(self.kind))
        body = title + self.verdict.body_html() + facts + _picture(self.figure()) + page + after
        return panel(self.verdict.headline, body, colour)

    def figure(self) -> Any:
        """Your rung on the ladder: times on a GPU, or counts beside the target; None without."""
        if self.timing is not None:
            return figures.ladder(
                list(self.timing.rungs),
                list(self.timing.rungs.values()),
                self.timing.library,
                unit="ms",
                title=f"{self.exercise_id} on {self.timing.device}, {self.timing.size}",
                smaller_is_better=True,
            )
        if self.target is not None:
            label, measured, at_most = self.target
            rungs = {"yours": measured}
            if self.before is not None:
                rungs = {"starter": self.before, "yours": measured}
            return figures.ladder(
                list(rungs),
                list(rungs.values()),
                ("target", at_most),
                unit=label,
                title=self.exercise_id,
                smaller_is_better=True,
            )
        return None


class ExerciseFailed(AssertionError):
    """Raised for any verdict but PASS when COURSE_STRICT=1; shows the verdict, no traceback."""

    def __init__(self, outcome: Outcome):
        super().__init__(f"{outcome.exercise_id}: {outcome}")
        self.outcome = outcome

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


def simple(
    kind: str, message: str, *, hint: str = "", excerpt: str = "", cause: Cause | None = None
) -> Verdict:
    """A verdict without arrays."""
    hint = hint or kinds.NEXT_STEP.get(kind, "")
    return Verdict(kind, message, hint, excerpt=excerpt, cause=cause)


def right(name: str, tried: str) -> Verdict:
    """The verdict on an answer to the exercise ``name`` that is right at, or in, all ``tried``."""
    hint = f'solution("{name}") shows ours, with an explanation.'
    return simple(kinds.PASS, f"{name} is right {tried} tried.", hint=hint)


def method_missing(what: str, hint: str = "", *, by_luck: bool = False) -> Verdict:
    """The verdict on a result that is right, but by another method than the exercise's.

    ``by_luck``: nothing orders the threads, so that it may be wrong the next time.
    """
    message = "the result is right, but not by the method of this exercise."
    if by_luck:
        message = "nothing orders the threads: the numbers came out right by luck."
    return simple(kinds.METHOD_MISSING, f"{message}\n  {what}", hint=hint)


def copied(file: str) -> Verdict:
    """The verdict on a cell that includes the course's own ``file``."""
    return simple(kinds.COPIED, f"this cell includes the course's own {file}.")


def from_compile_error(error: CompileError) -> Verdict:
    """The compiler's first errors with line, caret and remedy."""
    where = f"line {error.line}" if error.line else "the whole cell"
    return simple(
        kinds.COMPILE_ERROR,
        f"the compiler does not understand {where}.",
        excerpt=clip(str(error), 24, 2400),
    )


def is_hunted(exercise: BaseExercise, source: str, kind: str) -> bool:
    """Whether ``source`` is the starter of a hunt for a fault of this kind: then the remedy is the
    answer, and the verdict shows the symptom alone."""
    known = (*KINDS, kinds.UNDEFINED)
    return kind == exercise.bug and kind in known and exercise.is_untouched(source)


def from_finding(
    finding: Finding, source: str, filename: str, *, atomics: bool = True, hunted: bool = False
) -> Verdict:
    """A fault the emulator saw, with the student's source lines. ``atomics``: whether the exercise
    allows them. ``hunted``: as :func:`is_hunted` has it."""
    places = finding.location, finding.other_location, finding.condition
    lines = _own_lines(places, filename)
    told = finding.symptom if hunted and finding.symptom else finding.message
    message = clip(told, 7, MOST_MESSAGE, MOST_MESSAGE)
    if message.lower().startswith(finding.kind):  # the headline says it already
        message = message[len(finding.kind) :].lstrip(": ")
    hint = next_step(finding, atomics=atomics)
    excerpt = source_excerpt(source, lines)
    return simple(finding.kind, message, hint=hint, excerpt=excerpt, cause=finding.cause)


def with_context(verdict: Verdict, trial: str, printed: str) -> Verdict:
    """The same verdict, saying which trial it was and what the kernel printed."""
    message = f"{verdict.message.rstrip()}\n  ({trial})"
    return replace(verdict, message=message, printed=clip_printed(printed))


def clip_printed(text: str) -> str:
    """What a kernel printed, cut to what a panel can show."""
    return clip(text, MOST_LINES, MOST_CHARACTERS)


def _own_lines(places: Iterable[Location | None], filename: str) -> list[int]:
    return [place.line for place in places if place is not None and place.file == filename]


def _picture(figure: Any) -> str:
    """The figure as an image inside the panel, with its words for those who cannot see it."""
    if figure is None:
        return ""
    data = base64.b64encode(figures.png(figure)).decode("ascii")
    source = f"data:image/png;base64,{data}"
    return f"<img alt='your rung on the ladder' style='max-width:100%' src='{source}'>"
