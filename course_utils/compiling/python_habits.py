"""Habits from Python that C++ accepts, or refuses with words that do not help.

Each is looked for when something is wrong with a source, because some are good C++ elsewhere.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .signature import strip_comments

ALWAYS, REFUSED, WRONG = "always", "refused", "wrong"  # by whom: the compiler, or by the result


class Remark(NamedTuple):
    """A line that looks like Python: ``habit`` is its name, ``text`` has the C++ for it."""

    line: int
    habit: str
    text: str


class Habit(NamedTuple):
    """A pattern for one line without its comments, and when it is looked for. ``needs`` is
    a part of every such line, which is quickly found."""

    name: str
    when: str
    needs: str
    pattern: str
    text: str


_NAME = r"[A-Za-z_][\w.]*(?:\[[^\[\]]*\])?"
_TYPE = r"(?:void|char|short|int|unsigned|long|float|double|half|const)\b"
_DIRECTIVES = "include|define|undef|if|ifdef|ifndef|elif|else|endif|error|warning|pragma|line"
_LANES = r"(?!(?:\w*(?:lane|thread|partner|tid|row|column)\w*|x)\b)"  # whose bits are flipped
BLOCK = "braces make a block, not the indentation"
# In the order in which they are looked for: the first that is found in a line counts.
HABITS = (
    Habit(
        "conditional expression",
        ALWAYS,
        "else",
        r"\bif\b[^;{}]*\belse\b(?!\s*$)",
        "Python's `a if c else b` is `c ? a : b` in C++",
    ),
    Habit(
        "for in",
        REFUSED,
        " in",
        r"\bfor\b\s*\(?\s*(?:\w+\s+)*\w+\s+in\b",
        "C++ counts with `for (int i = 0; i < n; ++i)`, and runs through a list with "
        "`for (int d : {1, 2, 4})`",
    ),
    Habit("elif", ALWAYS, "elif", r"^\s*\}?\s*elif\b", "C++ writes `else if (...) { ... }`"),
    Habit(
        "colon",
        REFUSED,
        ":",
        r"^\s*\}?\s*(?:else\s+)?(?:if|while|for)\b(?:[^(]*:|\s*\(.*\)\s*:\s*$)"
        r"|^\s*\}?\s*(?:else|try|finally)\s*:",
        f"C++ writes `if (condition) {{ ... }}`: parentheses, no colon, and {BLOCK}",
    ),
    Habit(
        "no parentheses",
        REFUSED,
        "",
        r"^\s*\}?\s*(?:else\s+)?(?:if|while)\s+(?!constexpr\b|consteval\b)[^(\s]",
        f"C++ writes `if (condition) {{ ... }}`: parentheses, and {BLOCK}",
    ),
    Habit(
        "definition",
        ALWAYS,
        "",
        r"^\s*(?:(?:def|class)\s+\w+\s*\(.*:|import\s+\w|from\s+[\w.]+\s+import\b)",
        "that is Python: C++ begins a function with its type, and has braces",
    ),
    Habit("pass", ALWAYS, "pass", r"^\s*pass\s*;?\s*$", "C++ needs no `pass`: write `{}`"),
    Habit(
        "power",
        ALWAYS,
        "**",
        rf"[=(+\-/,<>]\s*(?!{_TYPE})({_NAME}|\d[\d.]*|\))\s*\*\*\s*[\w(]",
        "`**` isn't a power in C++: write `x * x`, or `powf(x, y)`",
    ),
    Habit(
        "slice",
        REFUSED,
        "[",
        r"\w\s*\[[^\[\]?:]*(?<!:):(?!:)[^\[\]?:]*\]",
        "C++ has no slices: write a loop over the elements",
    ),
    Habit(
        "index of two dimensions",
        ALWAYS,
        "[",
        r"(?<=\w)(?<!\breturn)(?<!\bauto)(?<!\bconst)\s*\[[^\[\](){}]*"
        r"(?:[\w)]\s*,[^\[\]]*|\]\s*,(?:[^\[\]()]|\([^()]*\))*)\]",
        "`a[i, j]` is `a[j]` in C++: write `a[i * columns + j]`, or `a[i][j]`",
    ),
    Habit(
        "chained comparison",
        ALWAYS,
        " <",
        rf"(?:\d|{_NAME})\s+<=?\s+{_NAME}\s+<=?\s",
        "`a < b < c` compares the outcome of `a < b`, 0 or 1, with c: write `a < b && b < c`",
    ),
    Habit(
        "no call",
        ALWAYS,
        "__",
        r"\b(?:__syncthreads|__syncwarp|__threadfence)\s*;",
        "a function without its parentheses is not called: write `__syncthreads();`",
    ),
    Habit(
        "constant",
        ALWAYS,
        "",
        r"\b(?:True|False|None)\b",
        "C++ writes `true`, `false` and `nullptr`",
    ),
    Habit(
        "identity",
        REFUSED,
        "",
        r"\bis\s+(?:not\b|\w+\s*[):])|\bnot\s+in\b",
        "C++ compares with `==` and `!=`",
    ),
    Habit(
        "print", REFUSED, "print", r"(?<![\w.>:])print\s*\(", 'C++ prints with `printf("%d\\n", i)`'
    ),
    Habit(
        "length",
        REFUSED,
        "len",
        r"(?<![\w.>:])len\s*\(",
        "C++ has no `len`: pass a pointer's length as another parameter",
    ),
    Habit(
        "range",
        REFUSED,
        "range",
        r"(?<![\w.>:])range\s*\(",
        "C++ has no `range`: it counts with `for (int i = 0; i < n; ++i)`",
    ),
    Habit(
        "f-string",
        REFUSED,
        "",
        r"""(?<![\w"'])[fF]["']""",
        'C++ has no f-strings: write `printf("%d", i)`',
    ),
    Habit(
        "single quotes",
        REFUSED,
        "'",
        r"(?<!\w)'[A-Za-z%][^'\\]+'",
        "strings are in double quotes in C++, and single quotes hold one character",
    ),
    Habit(
        "xor",
        WRONG,
        "^",
        rf"(?<![\w.])2\s*\^\s*(?:[A-Za-z_]\w*)\b(?!\s*\()|(?<![\w.]){_LANES}[A-Za-z_]\w*\s*\^\s*[23]\s*[;)*+]"
        r"|(?<![\w.])x\s*\^\s*[23]\s*[;)*+]",
        "`^` is exclusive or, not a power: write `1 << k` for a power of 2, `x * x` for a square",
    ),
    Habit(
        "fraction",
        WRONG,
        "/",
        r"(?<![\w.\])*/])(?<![*/\])] )(?:1 ?/ ?(?:[2-9]|\d\d+)|2 ?/ ?[3-9]|3 ?/ ?[4-9])(?![\w.])",
        "`1 / 8` of two integers is 0: write `1.0f / 8`, or 0.125f",
    ),
    Habit(
        "swap",
        WRONG,
        ",",
        rf"^\s*{_NAME}\s*,\s*{_NAME}\s*=\s*[^;=]+,[^;=]+;?\s*$",
        "`a, b = b, a` sets only b in C++: a swap takes a third variable",
    ),
)
IN_C = Habit(  # C++ has these words
    "logical word",
    REFUSED,
    "",
    r"[\w)\]]\s+(?:and|or)\s+[\w(!]|[(=&|]\s*not\s+[\w(]",
    "C writes `&&`, `||` and `!` for `and`, `or` and `not`",
)
COMMENT = Remark(0, "comment", "a comment begins with `//` in C++")
COMMENTED = re.compile(rf"^\s*#(?!\s*(?:{_DIRECTIVES})\b)\s*\w|[;{{}})]\s*#\s*\w")
FLOOR_DIVISION = re.compile(r"[=(<*+\-].*[\w\])]\s*//\s*[\w(]+[^;]*[;{](?:\s*\+\+\w+\)\s*\{)?\s*$")
DIVISION = "`//` begins a comment: integers are divided by `/`, which rounds towards 0"
ASSIGNED = re.compile(r"^\s*([A-Za-z_]\w*)\s*=(?!=)")
GOVERNS = re.compile(r"^(\s*)(?:\}\s*)?(?:(?:else\s+)?(?:if|while|for)\b[^;{}]*\(.*\)|else)\s*$")
LONGEST = 400  # characters of a line: the search in it is quadratic
ENDS_LIST = (",", "(", "=", "+", "-", "*", "?", "&", "|", "enum {")
ENDS = (";", "{", "}", ",", ")", ":", ">")
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')  # PTX in an asm statement has an address [%0, {%1, %2}]


def python_habits(source: str, *, refused: bool = False, in_c: bool = False) -> list[Remark]:
    """A remark for each line of ``source`` that looks like Python, in order.

    ``refused``: the compiler doesn't accept the source. Otherwise its results are wrong. ``in_c``:
    the source is C, not C++.
    """
    bare = TEXT.sub('""', strip_comments(source))
    lines, found = bare.splitlines(), []
    habits = [habit for habit in HABITS if habit.when != (WRONG if refused else REFUSED)]
    habits += [IN_C] if refused and in_c else []
    for number, (line, whole) in enumerate(zip(lines, source.splitlines(), strict=True), 1):
        if len(whole) > LONGEST or not line.strip():
            continue
        if refused and COMMENTED.search(line):
            found.append(COMMENT._replace(line=number))
        elif line.lstrip().startswith("#"):
            continue
        elif habit := next(
            (h for h in habits if h.needs in line and re.search(h.pattern, line)), None
        ):
            found.append(Remark(number, habit.name, habit.text))
        elif FLOOR_DIVISION.search(whole) and (code := line.rstrip()) and not code.endswith(ENDS):
            found.append(Remark(number, "floor division", DIVISION))
        elif refused and (
            name := _without_type(line, lines[number - 2] if number > 1 else "", bare)
        ):
            text = f"C++ wants a type where a variable is first set: `int {name} = ...`"
            found.append(Remark(number, "no type", text))
        elif not refused and _governs_two(lines[number - 1 : number + 2]):
            text = f"only the first of the indented lines belongs to it: {BLOCK}"
            found.append(Remark(number, "indentation", text))
    return found


def _without_type(line: str, before: str, source: str) -> str:
    """The variable that ``line`` sets before anything in ``source`` names it, or "" for none.

    ``before`` is the line above it: a list, of declarations or enumerators, may go on.
    """
    found = ASSIGNED.match(line)
    if found is None or before.rstrip().endswith(ENDS_LIST) or line.rstrip().endswith(","):
        return ""
    first = re.search(rf"\b{found[1]}\b", source)
    own = source.find(line)
    return found[1] if first and own <= first.start() < own + len(line) else ""


def _governs_two(lines: list[str]) -> bool:
    """Whether a line governs one statement by C++'s rules, and two by their indentation."""
    head = GOVERNS.match(lines[0])
    if head is None or len(lines) < 3 or lines[0].count("(") != lines[0].count(")"):
        return False
    indents = [len(line) - len(line.lstrip()) for line in lines]
    return (
        indents[1] == indents[2] > indents[0]
        and lines[1].rstrip().endswith(";")
        and not GOVERNS.match(lines[1])
        and lines[2].strip()[:1] not in ("", "{", "}", "#")
    )
