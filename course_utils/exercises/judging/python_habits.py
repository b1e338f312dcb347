"""Habits from Python that C++ accepts, or refuses with words that do not help.

Only a cell that is not right is looked through: some of these are good C++ in another place.
"""

from __future__ import annotations

import re

from ...compiling.signature import strip_comments

_NAME = r"[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?"
_TYPE = r"(?:void|char|short|int|unsigned|long|float|double|half|const)\b"
# In the order in which they are looked for; a pattern is tried on one line without its comments.
HABITS: tuple[tuple[str, str], ...] = (
    (
        rf"[=(+\-/,<>]\s*(?!{_TYPE})({_NAME}|\d[\d.]*|\))\s*\*\*\s*[\w(]",
        "`**` is no power in C++: write `x * x`, or `powf(x, y)`",
    ),
    (
        r"(?<=\w)(?<!\breturn)(?<!\bauto)(?<!\bconst)\s*\[[^\[\](){}]*[\w\])]\s*,[^\[\]]*\]",
        "`a[i, j]` is `a[j]` in C++: write `a[i * columns + j]`, or `a[i][j]`",
    ),
    (
        rf"(?:\d|{_NAME})\s+<=?\s+{_NAME}\s+<=?\s",
        "`a < b < c` compares the outcome of `a < b`, 0 or 1, with c: write `a < b && b < c`",
    ),
    (
        r"\b(?:__syncthreads|__syncwarp|__threadfence)\s*;",
        "a function without its parentheses is not called: write `__syncthreads();`",
    ),
    (
        r"^\s*(?:(?:elif|def|pass)\b|import\s+\w|from\s+[\w.]+\s+import\b)",
        "that is Python; C++ has `else if`, and braces",
    ),
    (r"\b(?:True|False|None)\b", "C++ writes `true`, `false` and `nullptr`"),
    (r"\b(?:print|len|range)\s*\(", "C++ has no `print`, `len` or `range`"),
    (r"(?<!\w)[A-Za-z_]\w*\s*\^\s*[23]\s*[;)]", "`^` is exclusive or, not a power"),
)
FLOOR_DIVISION = re.compile(r"[=(<*+\-].*[\w\])]\s*//\s*[\w(]+[^;]*[;{](?:\s*\+\+\w+\)\s*\{)?\s*$")
LONGEST = 400  # characters of a line that somebody typed: the search in it is quadratic
ENDS = (";", "{", "}", ",", ")", ":", ">")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')  # PTX in an asm statement has an address [%0, {%1, %2}]


def python_habits(source: str) -> list[tuple[int, str]]:
    """(line, remark) for each line of a cell that looks like one, in order."""
    found = []
    bare = TEXT.sub('""', strip_comments(source)).splitlines()
    for number, (line, whole) in enumerate(zip(bare, source.splitlines(), strict=True), 1):
        if len(whole) > LONGEST:
            continue
        remark = next((text for pattern, text in HABITS if re.search(pattern, line)), "")
        code = line.rstrip()
        if not remark and FLOOR_DIVISION.search(whole) and code and not code.endswith(ENDS):
            remark = "`//` begins a comment: integers are divided by `/`, which rounds towards 0"
        if remark and not line.lstrip().startswith("#"):
            found.append((number, remark))
    return found
