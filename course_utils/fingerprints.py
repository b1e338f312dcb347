"""The code of a source alone, without comments and docstrings: the rule by which anything is stale.

Records, the stamps of notebook cells and proofs of exercises all carry hashes of code. A comment, a
docstring or a blank line changes none of them.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache

from .compiling.includes import INCLUDE
from .compiling.signature import strip_comments

C_LIKE = (".cu", ".cuh", ".c", ".h", ".cpp")
PYTHON_CELLS = ("needs", "time", "timeit", "capture")  # magics of cells that hold Python
C_CELLS = ("c", "cpp", "cuda")
USES_DOCSTRINGS = re.compile(r"\b(?:__doc__|getdoc|doctest|help|getsource)\b")
BETWEEN = (tokenize.COMMENT, tokenize.NL)


@lru_cache(maxsize=4096)
def code_of(text: str, suffix: str) -> str:
    """The code of a source file whose name ends in ``suffix``.

    C, C++ and CUDA C++ also lose their indentation and their ``#include "…"`` lines: the files that
    they name count by themselves. Python keeps its layout, and its docstrings if it uses any. Of
    any other text, and of Python that can't be split into tokens, only the line ends are made
    alike.
    """
    text = text.replace("\r\n", "\n")
    if suffix in C_LIKE:
        lines = INCLUDE.sub("", strip_comments(text)).splitlines()
        return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
    return _python(text, module=True) if suffix == ".py" else text


def code_of_cell(source: str) -> str:
    """The code of a notebook's cell, whose first line may be a magic such as ``%%needs gpu``."""
    head, _, body = source.partition("\n")
    if not head.startswith("%%"):
        return _python(source)
    magic = head[2:].split(" ")[0]
    if magic in C_CELLS:
        body = code_of(body, ".cpp")
    elif magic in PYTHON_CELLS:
        body = _python(body)
    return f"{head}\n{body.rstrip()}"


def _python(text: str, module: bool = False) -> str:
    """Python without comments, docstrings and blank lines, but for those inside strings.

    A string at the top is a docstring only in a ``module``: a cell may show it.
    """
    lines = text.split("\n")
    inside: set[int] = set()  # lines that end within a string
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError):
        return text.rstrip()
    for token in tokens:
        row, column = token.start
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column]
        elif token.type not in (tokenize.NEWLINE, tokenize.NL):
            inside.update(range(row - 1, token.end[0] - 1))
    if not USES_DOCSTRINGS.search(text):
        for first, last in _docstrings(tokens, module):
            lines[first - 1 : last] = [""] * (last - first + 1)
            inside.difference_update(range(first - 1, last))
    kept = (line if at in inside else line.rstrip() for at, line in enumerate(lines))
    return "\n".join(line for at, line in enumerate(kept) if line or at in inside)


def _docstrings(tokens: Iterable[tokenize.TokenInfo], module: bool) -> Iterator[tuple[int, int]]:
    """(first, last) line of the docstring of each function and class, and of a ``module``."""
    tokens = [token for token in tokens if token.type not in BETWEEN]
    head = module  # whether the line before opens a body that may have a docstring
    begins = 0  # where the statement begins
    for at, token in enumerate(tokens):
        if token.type == tokenize.INDENT:
            begins = at + 1
        elif token.type == tokenize.NEWLINE:
            statement = tokens[begins:at]
            if head and [one.type for one in statement] == [tokenize.STRING]:
                yield statement[0].start[0], token.start[0]
            words = [one.string for one in statement[:2]]
            head = words[:1] in (["def"], ["class"]) or words == ["async", "def"]
            begins = at + 1
        elif token.type == tokenize.DEDENT:
            begins = at + 1
