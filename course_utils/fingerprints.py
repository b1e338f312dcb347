"""A source without its comments and blank lines: the one rule by which anything is stale.

Records, the stamps of notebook cells and proofs of exercises all carry hashes of code. A comment or
a blank line changes none of them.
"""

from __future__ import annotations

import io
import tokenize
from functools import lru_cache

from .compiling.includes import INCLUDE
from .compiling.signature import strip_comments

C_LIKE = (".cu", ".cuh", ".c", ".h", ".cpp")
PYTHON_CELLS = ("needs", "time", "timeit", "capture")  # magics of cells that hold Python
C_CELLS = ("c", "cpp", "cuda")


@lru_cache(maxsize=4096)
def code_of(text: str, suffix: str) -> str:
    """The code of a source file whose name ends in ``suffix``.

    C, C++ and CUDA C++ also lose their indentation and their ``#include "…"`` lines: the files that
    they name count by themselves. Python keeps its layout. Of any other text, and of Python that
    can't be split into tokens, only the line ends are made alike.
    """
    text = text.replace("\r\n", "\n")
    if suffix in C_LIKE:
        lines = INCLUDE.sub("", strip_comments(text)).splitlines()
        return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
    return _python(text) if suffix == ".py" else text


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


def _python(text: str) -> str:
    """Python without comments and blank lines, but for those inside strings."""
    lines = text.split("\n")
    inside: set[int] = set()  # lines that end within a string
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            row, column = token.start
            if token.type == tokenize.COMMENT:
                lines[row - 1] = lines[row - 1][:column]
            elif token.type not in (tokenize.NEWLINE, tokenize.NL):
                inside.update(range(row - 1, token.end[0] - 1))
    except (tokenize.TokenError, SyntaxError):
        return text.rstrip()
    kept = (line if at in inside else line.rstrip() for at, line in enumerate(lines))
    return "\n".join(line for at, line in enumerate(kept) if line or at in inside)
