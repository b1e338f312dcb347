"""What a source does, apart from how it is written: the one rule by which anything is stale.

Records, the stamps of notebook cells and proofs of exercises all carry hashes of code. A comment, a
blank line or a wrapped line changes none of them.
"""

from __future__ import annotations

import ast
from functools import lru_cache

from .compiling.includes import INCLUDE
from .compiling.signature import strip_comments

C_LIKE = (".cu", ".cuh", ".c", ".h", ".cpp")


@lru_cache(maxsize=4096)
def code_of(text: str, suffix: str) -> str:
    """The code of a source file whose name ends in ``suffix``.

    C, C++ and CUDA C++ lose comments, blank lines, indentation and ``#include "…"`` lines, whose
    files count by themselves; Python loses comments and its layout. Any other text, and Python with
    a syntax error, only has its line ends made alike.
    """
    if suffix in C_LIKE:
        lines = INCLUDE.sub("", strip_comments(text)).splitlines()
        return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))
    if suffix == ".py":
        try:
            return ast.unparse(ast.parse(text))
        except SyntaxError:
            pass
    return text.replace("\r\n", "\n")
