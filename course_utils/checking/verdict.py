"""A verdict: what is wrong, where, and one next step; as plain text and as HTML."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..emulator import Cause
from ..integers import ceil_div
from .error_kinds import PASS
from .rows import Rows

RIGHT, PARTLY, ALL_WRONG, UNWRITTEN = ".", "x", "#", "?"
PACKED = 1 << 12  # from here on an unsigned number is shown in hexadecimal, too
LEGEND = ". right   x some wrong   # all wrong   ? never written"
COLOURS = {RIGHT: "#e8eef4", PARTLY: "#f0c36d", ALL_WRONG: "#d55e00", UNWRITTEN: "#b9b9b9"}
PASS_COLOUR, FAIL_COLOUR, NEUTRAL_COLOUR = "#009e73", "#d55e00", "#0072b2"
WORDS = {PASS_COLOUR: "#006b4e", FAIL_COLOUR: "#a84a00"}  # of those that are too light for words


@dataclass(frozen=True)
class HeatMap:
    """Where the errors lie: one mark for ``step`` = (rows, columns) elements."""

    rows: tuple[str, ...]
    step: tuple[int, int]

    def __str__(self) -> str:
        return "\n".join(self.rows)

    @property
    def caption(self) -> str:
        """The number of elements per mark, and the legend."""
        down, across = self.step
        if len(self.rows) == 1:
            each = "1 element" if across == 1 else f"{across} elements"
        else:
            each = "1 element" if down == across == 1 else f"{down} x {across} elements"
        return f"each mark is {each}: {LEGEND}"

    def to_html(self) -> str:
        """The map as HTML, with the number of right marks as its text alternative."""
        lines = ["".join(_span(mark, count) for mark, count in _runs(row)) for row in self.rows]
        marks = "".join(self.rows)
        words = f"map of the elements: {marks.count(RIGHT)} of {len(marks)} marks are right"
        return (
            f"<pre role='img' aria-label='{words}' "
            "style='line-height:1.05;margin:4px 0;color:#333;background:none'>"
            + "\n".join(lines)
            + "</pre>"
        )


@dataclass(frozen=True)
class FirstWrong:
    """The first wrong element in memory order; ``member`` is how a kernel writes it where its
    array is one of vectors, ``y[41].x``."""

    index: tuple[int, ...]
    expected: Any
    got: Any
    member: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer of a check. Show it by making it the last expression of a cell.

    ``kind`` is one of :mod:`course_utils.checking.error_kinds` (exercises add theirs);
    ``message`` says what is wrong in one or two sentences, ``hint`` one next step, ``excerpt`` the
    source lines it is about. ``cause`` is that of a finding of the emulator, None without one.
    ``wrong`` counts wrong elements out of ``total``. ``case`` is a case worked by hand: its inputs,
    what is expected and what the answer makes of them.
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
    case: Rows | None = None

    @property
    def passed(self) -> bool:
        """Whether the answer is right."""
        return self.kind == PASS

    @property
    def headline(self) -> str:
        """The kind in capitals, and the message."""
        return f"{self.kind.upper()}: {self.message}"

    @property
    def facts(self) -> list[str]:
        """The lines of numbers below the headline."""
        lines = []
        if self.first is not None:
            where = f"{self.name}[{', '.join(map(str, self.first.index))}]"
            where += f" ({self.first.member})" if self.first.member else ""
            expected, got = format_value(self.first.expected), format_value(self.first.got)
            lines.append(f"first wrong: {where}, expected {expected}, got {got}")
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
        return panel(self.headline, self.body_html(), colour)

    def body_html(self) -> str:
        """Everything below the headline."""
        parts = [paragraph(fact) for fact in self.facts]
        if self.case is not None:
            parts += [paragraph(self.case.title), code_block("\n".join(self.case.lines))]
        if self.excerpt:
            parts.append(code_block(self.excerpt))
        if self.heat is not None:
            parts.append(f"<div style='color:#555'>{html.escape(self.heat.caption)}</div>")
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
        axes.set(title=f"{self.name}: {self.kind}", xlabel="column", ylabel="row")
        names = ("right", "some wrong", "all wrong", "never written")
        handles = [Patch(color=COLOURS[m], label=n) for m, n in zip(marks, names, strict=True)]
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
        return str(self.verdict).splitlines()


def format_value(value: Any) -> str:
    """A number as a reader wants it: seven digits for floats, whole for integers, and a large
    unsigned one in hexadecimal too, for it may be several numbers packed into a word."""
    kind = np.asarray(value).dtype.kind
    if kind == "f":
        return f"{float(value):.7g}"
    if kind == "c":
        return f"{complex(value):.7g}"
    if kind == "u" and value >= PACKED:
        return f"{value} ({value:#x})"
    return str(value)


def heat_map(
    wrong: np.ndarray, unwritten: np.ndarray, rows: int = 16, columns: int = 64
) -> HeatMap:
    """Summarise two boolean arrays of any shape in at most ``rows`` x ``columns`` marks."""
    flat = wrong.reshape(-1, wrong.shape[-1]) if wrong.ndim > 1 else wrong.reshape(1, -1)
    bare = unwritten.reshape(flat.shape)
    high, wide = flat.shape
    step = ceil_div(high, rows), ceil_div(wide, columns)
    number = _pool(np.ones(flat.shape, int), step)
    bad, empty = _pool(flat.astype(int), step), _pool(bare.astype(int), step)
    marks = np.where(bad == 0, RIGHT, np.where(bad < number, PARTLY, ALL_WRONG))
    marks = np.where((empty == number), UNWRITTEN, marks)
    return HeatMap(tuple("".join(line) for line in marks), step)


def panel(headline: str, body: str, colour: str) -> str:
    """A box with a coloured bar: the frame of every verdict. The first line stands out.

    Screen readers announce it when it appears, and its words do without the colour.
    """
    first, _, rest = headline.partition("\n")
    more = f"<div style='white-space:pre-wrap'>{html.escape(rest)}</div>" if rest else ""
    return (
        f"<div role='status' style='border-left:6px solid {colour};background:#fafafa;color:#222;"
        "padding:8px 12px;margin:4px 0'>"
        f"<div style='font-weight:bold;color:{WORDS.get(colour, colour)}'>{html.escape(first)}"
        f"</div>{more}{body}</div>"
    )


def paragraph(text: str) -> str:
    """``text`` as a paragraph of HTML, escaped."""
    return f"<div>{html.escape(text)}</div>"


def code_block(text: str) -> str:
    """``text`` as a block of code in HTML, escaped."""
    return (
        "<pre style='background:#f0f0f0;color:#222;padding:6px;margin:4px 0'>"
        f"{html.escape(text)}</pre>"
    )


def _pool(array: np.ndarray, step: tuple[int, int]) -> np.ndarray:
    for axis, width in enumerate(step):
        array = np.add.reduceat(array, np.arange(0, array.shape[axis], width), axis=axis)
    return array


def _runs(row: str) -> list[tuple[str, int]]:
    runs: list[tuple[str, int]] = []
    for mark in row:
        if runs and runs[-1][0] == mark:
            runs[-1] = (mark, runs[-1][1] + 1)
        else:
            runs.append((mark, 1))
    return runs


def _span(mark: str, count: int) -> str:
    return f"<span style='background:{COLOURS[mark]}'>{mark * count}</span>"
