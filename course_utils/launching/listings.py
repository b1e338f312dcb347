"""``show``: the source of a kernel in colours, with the line numbers that reports give."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from ..compiling.source_text import read_source, source_name
from ..errors import LessonError
from ..shell import running_shell
from .kernel_files import find_kernel_file

Edge = int | str | None  # of a part: a line's number, words in the line, or the file's own edge


class HasSource(Protocol):
    """A kernel or a module of kernels."""

    @property
    def source(self) -> str: ...

    @property
    def filename(self) -> str: ...


def show(
    kernel: HasSource | str | os.PathLike[str], *, lines: tuple[Edge, Edge] | None = None
) -> None:
    """Display the source of ``kernel``, or print it in a terminal.

    ``kernel`` comes from :func:`~course_utils.load`, or is the path of a source file: CUDA C++, C,
    C++ or Python. ``lines`` is (first, last), both shown and counted from 1. A string stands for
    the first line that contains it, from the part's first line on, and None for the first or the
    last line of the file. ``lines=('extern "C"', None)`` leaves out the lines above the kernel.

    Raises LessonError for a missing file, and for lines that the file doesn't have.
    """
    if isinstance(kernel, (str, os.PathLike)):
        file = find_kernel_file(kernel)
        listing = Listing(read_source(file), source_name(file), lines)
    else:
        listing = Listing(kernel.source, kernel.filename, lines)
    if running_shell() is None:
        print(listing)
        return
    from IPython.display import display

    display(listing)


class Listing:
    """Some lines of a source file, as text and as HTML."""

    def __init__(self, source: str, filename: str, lines: tuple[Edge, Edge] | None = None) -> None:
        self.source, self.filename = source, filename
        rows = _rows(source)
        begin, end = lines or (None, None)
        self.first = self._place(rows, begin, 1) if begin is not None else 1
        self.last = self._place(rows, end, self.first) if end is not None else len(rows)
        if lines is not None and not 1 <= self.first <= self.last <= len(rows):
            raise LessonError(
                f"{filename} has lines 1 to {len(rows)}, not {self.first} to {self.last}."
            )

    def _place(self, rows: list[str], edge: int | str, start: int) -> int:
        if isinstance(edge, int):
            return edge
        for number, row in enumerate(rows[start - 1 :], start):
            if edge in row:
                return number
        raise LessonError(f"{self.filename} has no line with {edge!r} from line {start} on.")

    @property
    def caption(self) -> str:
        """The file's name, and of a part its lines."""
        if self.first == 1 and self.last >= len(_rows(self.source)):
            return self.filename
        return f"{self.filename}, lines {self.first} to {self.last}"

    def __str__(self) -> str:
        rows = self._numbered(_rows(self.source))
        return "\n".join([self.caption, *(f"{number}  {row}".rstrip() for number, row in rows)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = self._numbered(coloured(self.source, self.filename))
        code = "\n".join(NUMBER.format(number) + row for number, row in rows)
        return (
            f"<div class=highlight><code>{html.escape(self.caption)}</code>"
            f'<pre style="white-space:pre;overflow-x:auto">{code}</pre></div>'
        )

    def _numbered(self, rows: list[str]) -> Iterator[tuple[str, str]]:
        """(number, row) of the lines that are shown, the numbers flush right."""
        width = len(str(self.last))
        for number in range(self.first, min(self.last, len(rows)) + 1):
            yield f"{number:{width}}", rows[number - 1]


# Pygments' short names. JupyterLab, nbconvert and Sphinx have colours for them, light and dark.
TAGS = {
    "Comment.Preproc": ("span", "cp"),
    "Comment.PreprocFile": ("span", "cp"),
    "Comment": ("i", "c"),
    "Keyword": ("b", "k"),
    "Literal.String": ("span", "s"),
    "Literal.Number": ("span", "m"),
}
NUMBER = "<span class=linenos style=opacity:.5>{}</span>  "


def coloured(source: str, filename: str) -> list[str]:
    """The lines of ``source`` in HTML. The end of ``filename`` says which language it is."""
    from pygments.lexers import get_lexer_for_filename
    from pygments.lexers.special import TextLexer
    from pygments.util import ClassNotFound

    options = {"stripnl": False, "ensurenl": False}
    try:
        lexer = get_lexer_for_filename(Path(filename).name, **options)
    except ClassNotFound:
        lexer = TextLexer(**options)
    pieces: list[tuple[str, str]] = []  # (Pygments' name of its kind, text), neighbours joined
    for token, text in lexer.get_tokens(source):
        kind = next((name for name in TAGS if str(token).startswith(f"Token.{name}")), "")
        if pieces and (pieces[-1][0] == kind or text.isspace()):
            pieces[-1] = pieces[-1][0], pieces[-1][1] + text
        else:
            pieces.append((kind, text))
    return _rows("".join(_marked(kind, text) for kind, text in pieces))


def _rows(text: str) -> list[str]:
    """The lines of ``text`` as compilers count them."""
    return text.removesuffix("\n").split("\n")


def _marked(kind: str, text: str) -> str:
    """``text`` in the element of its kind, each line in its own."""
    if not kind:
        return html.escape(text, quote=False)
    tag, name = TAGS[kind]
    return "\n".join(
        f"<{tag} class={name}>{html.escape(row, quote=False)}</{tag}>" if row.strip() else row
        for row in text.split("\n")
    )
