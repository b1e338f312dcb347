"""A verdict: the mistake, its place and one next step, as plain text and as HTML."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..emulator import Cause
from ..errors import more
from ..symptoms import heading, link
from .error_kinds import HEADLINES, PASS, Slip
from .heat_maps import COLOURS, WORDS, HeatMap
from .indices import element, named_index
from .rows import Rows

PACKED = 1 << 12  # from here on an unsigned number is also shown in hexadecimal
PASS_COLOUR, FAIL_COLOUR, NEUTRAL_COLOUR = "#009e73", "#d55e00", "#0072b2"
SHARE = 60  # per cent of a headline's colour, and the rest is the text's, which gives it contrast


@dataclass(frozen=True)
class FirstWrong:
    """The first wrong element. ``member`` is how a kernel writes it where its array is one of
    vectors, ``y[41].x``, ``axes`` name its axes, and ``inputs`` are the kernel's inputs at the same
    index (:func:`~course_utils.checking.indices.at_index`)."""

    index: tuple[int, ...]
    expected: Any
    got: Any
    member: str = ""
    axes: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)

    def named(self, name: str) -> str:
        """The element of the array ``name``: ``c[3, 7] (row 3, column 7)``."""
        apart = self.member or named_index(self.index, self.axes)
        return element(name, self.index) + (f" ({apart})" if apart else "")


@dataclass(frozen=True)
class Verdict:
    """The answer of a check. Show it by making it the last expression of a cell.

    ``kind`` is one of :mod:`course_utils.checking.error_kinds` (exercises add theirs);
    ``message`` says what is wrong in one or two sentences, ``hint`` one next step, ``excerpt`` the
    source lines it is about. ``cause`` is that of a finding of the emulator, ``slip`` what all
    wrong elements have in common, None without one. ``wrong`` counts wrong elements out of
    ``total``, ``unwritten`` those among them that hold their old value. ``case`` is a case worked
    by hand: its inputs, what is expected and what the answer makes of them.
    """

    kind: str
    message: str
    hint: str = ""
    name: str = "output"
    first: FirstWrong | None = None
    wrong: int = 0
    total: int = 0
    heat: HeatMap | None = None
    excerpt: str = ""
    printed: str = ""
    cause: Cause | None = None
    slip: Slip | None = None
    case: Rows | None = None
    unwritten: int = 0

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.kind == PASS

    @property
    def headline(self) -> str:
        """The kind in capitals, or its slip's own words, and the message."""
        kind = self.kind if self.slip is None else HEADLINES.get(self.slip, self.kind)
        return f"{kind.upper()}: {self.message}"

    @property
    def facts(self) -> list[str]:
        """The lines of numbers below the headline."""
        lines = []
        if self.first is not None:
            where = self.first.named(self.name)
            expected, got = format_both(self.first.expected, self.first.got)
            lines.append(f"first wrong: {where}, expected {expected}, got {got}")
            if self.first.inputs:
                values = (f"{key} = {format_value(v)}" for key, v in self.first.inputs.items())
                lines.append(f"inputs there: {', '.join(values)}")
        if self.wrong:
            lines.append(f"wrong: {self.wrong} of {self.total} elements")
        return lines

    def __str__(self) -> str:
        parts = [self.headline, *(f"  {fact}" for fact in self.facts)]
        if self.case is not None:
            parts += [f"  {line}" for line in str(self.case).splitlines()]
        if self.excerpt:
            parts += ["", *(f"  {line}" for line in self.excerpt.splitlines()), ""]
        if self.heat is not None:
            parts.append(f"  where ({self.heat.caption})")
            parts += [f"    {row}" for row in self.heat.rows]
        if self.printed:
            parts += ["  it printed:", *(f"    {x}" for x in self.printed.splitlines())]
        if self.hint:
            parts.append(f"  next: {self.hint}")
        return "\n".join(parts)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        colour = PASS_COLOUR if self.passed else FAIL_COLOUR
        return panel(self.headline, self.body_html() + link(heading(self.kind)), colour)

    def body_html(self) -> str:
        """Everything below the headline."""
        parts = [paragraph(fact) for fact in self.facts]
        if self.case is not None:
            parts += [paragraph(self.case.title), code_block("\n".join(self.case.lines))]
        if self.excerpt:
            parts.append(code_block(self.excerpt))
        if self.heat is not None:
            parts.append(self.heat.to_html())
        if self.printed:
            parts += [paragraph("It printed:"), code_block(self.printed)]
        if self.hint:
            parts.append(f"<div><b>Next:</b> {html.escape(self.hint)}</div>")
        return "".join(parts)

    def figure(self) -> Any:
        """The map of errors as a matplotlib figure, or None when there is no map to draw."""
        if self.heat is None:
            return None
        import matplotlib.pyplot as plt
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        marks = list(COLOURS)
        grid = np.array([[marks.index(mark) for mark in row] for row in self.heat.rows])
        high, wide = grid.shape
        figure, axes = plt.subplots(figsize=(6, max(1.4, min(5.0, 6 * high / wide + 0.8))))
        colours = ListedColormap([COLOURS[mark] for mark in marks])
        axes.imshow(grid, cmap=colours, vmin=0, vmax=len(marks) - 1, aspect="auto")
        names = self.heat.axes
        down = names[-2] if len(names) > 1 else ""
        axes.set(title=f"{self.name}: {self.kind}", xlabel=names[-1], ylabel=down)
        handles = [Patch(color=COLOURS[mark], label=WORDS[mark]) for mark in marks]
        axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
        figure.tight_layout()
        plt.close(figure)
        return figure


class CheckFailed(AssertionError):
    """Raised by :func:`check` for a wrong result. Prints the verdict and no traceback."""

    def __init__(self, verdict: Verdict):
        super().__init__(str(verdict))
        self.verdict = verdict

    def _render_traceback_(self) -> list[str]:
        return [*str(self.verdict).splitlines(), f"  {more(heading(self.verdict.kind))}"]


DIGITS = (7, 10, 13, 17)  # of floats: as many as show that two differ


def format_both(*values: Any) -> tuple[str, ...]:
    """Two numbers that differ, with so many digits that it shows, be it more than a sign of 0."""
    for digits in DIGITS:
        texts = tuple(format_value(value, digits) for value in values)
        if len({text.replace("-0j", "+0j") for text in texts}) > 1:
            return texts
    return tuple(map(format_value, values))


def format_value(value: Any, digits: int = DIGITS[0]) -> str:
    """A number as a reader wants it: seven digits for floats, whole for integers, and a large
    unsigned one in hexadecimal too, for it may be several numbers packed into a word."""
    kind = np.asarray(value).dtype.kind
    if kind == "f":
        return f"{float(value):.{digits}g}"
    if kind == "c":
        return f"{complex(value):.{digits}g}"
    if kind == "u" and value >= PACKED:
        return f"{value} ({value:#x})"
    return str(value)


def panel(headline: str, body: str, colour: str) -> str:
    """A box with a coloured bar: the frame of every verdict. The first line stands out.

    Its text has the page's own colour, and the other colours are mixed with that: it follows the
    theme of JupyterLab, VS Code and Colab, light or dark. Screen readers announce it when it
    appears, and its words do without the colour.
    """
    first, _, rest = headline.partition("\n")
    others = f"<div style='white-space:pre-wrap'>{html.escape(rest)}</div>" if rest else ""
    return (
        f"<div role='status' style='border-left:6px solid {colour};background:{tint(5)};"
        "padding:8px 12px;margin:4px 0'>"
        f"<div style='font-weight:bold;color:color-mix(in srgb, {colour} {SHARE}%, currentColor)'>"
        f"{html.escape(first)}</div>{others}{body}</div>"
    )


def tint(percent: int) -> str:
    """A background: so much of the text's colour over the page's."""
    return f"color-mix(in srgb, currentColor {percent}%, transparent)"


def paragraph(text: str) -> str:
    """``text`` as a paragraph of HTML, escaped."""
    return f"<div>{html.escape(text)}</div>"


def code_block(text: str) -> str:
    """``text`` as a block of code in HTML, escaped. A line that's too long scrolls: JupyterLab
    would break it inside a word."""
    style = f"background:{tint(7)};padding:6px;margin:4px 0;white-space:pre;overflow-x:auto"
    return f"<pre style='{style}'>{html.escape(text)}</pre>"
