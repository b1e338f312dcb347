"""The compiler's answer made readable: the first errors with line, caret and remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..errors import LessonError
from ..paths import ROOT
from ..remedies import set_up_command
from .headers import cuda_header_paths, cute_header_paths
from .source_text import DOTS, WIDEST, shortened
from .template_errors import cause, outermost

MAX_ERRORS_SHOWN = 3
MAX_LINES_PER_ERROR = 9


class CompileError(LessonError):
    """The compiler refused the source.

    ``log`` is the compiler's whole answer; ``file``, ``line`` and ``column`` (1-based, 0 when
    unknown) say where the first error is. ``str(error)`` is what a reader needs: the first few
    errors, each with its source line, a caret and, for common mistakes, the remedy.
    """

    def __init__(self, log: str):
        self.log = _shorten_paths(log.strip("\0 \n"))
        diagnostics = told_once(parse_log(self.log))
        first = diagnostics[0] if diagnostics else Diagnostic("", 0, 0, self.log, ())
        self.file, self.line, self.column = first.file, first.line, first.column
        super().__init__(_render(diagnostics) if diagnostics else self.log)


@dataclass(frozen=True)
class Diagnostic:
    """One error of the compiler's log; ``excerpt`` holds the source line, the caret and notes."""

    file: str
    line: int
    column: int
    message: str
    excerpt: tuple[str, ...]


def parse_log(log: str) -> list[Diagnostic]:
    """The errors in an NVRTC log, in order; warnings and remarks are left out."""
    found: list[Diagnostic] = []
    current: tuple[str, int, str] | None = None
    excerpt: list[str] = []

    def close() -> None:
        if current is not None:
            caret = next((row for row in excerpt if row.strip() == "^"), "")
            column = max(len(caret) - 2, 0)  # NVRTC indents the source line by two
            file, line, message = current
            note = _NOTE.match(excerpt[0]) if excerpt and not file else None
            if note:  # "At end of source": the note says where the open brace is
                file, line = note["file"], int(note["line"])
            found.append(Diagnostic(file, line, column, message, tuple(excerpt)))

    for row in log.splitlines():
        head = _HEAD.match(row)
        if head:
            close()
            excerpt = []
            is_error = "error" in head["kind"]
            current = (head["file"] or "", int(head["line"] or 0), head["text"])
            current = current if is_error else None
        elif current is not None and row.strip() and not _TAIL.match(row):
            excerpt.append(row)
    close()
    return found


def told_once(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """``diagnostics`` with those deep in a template library told at the reader's line, once each.

    The first error at a line is the cause; what the library says next about the same call follows
    from it.
    """
    found: list[Diagnostic] = []
    for item in diagnostics:
        if called := outermost(item.excerpt, item.file):
            file, line, call = called
            if any((own.file, own.line) == (file, line) for own in found):
                continue
            rows = (
                f"    CuTe refuses {call}",
                f"    ({item.file}:{item.line}; all of it in error.log)",
            )
            item = Diagnostic(file, line, 0, cause(item.message), rows)
        found.append(item)
    return found


# A note that follows an error ("note: to match this '{'") belongs to it, so it is no head.
_HEAD = re.compile(
    r"(?:(?P<file>\S.*?)\((?P<line>\d+)\): |At end of source: |nvrtc: )"
    r"(?P<kind>(?:catastrophic |internal )?error|warning)(?: #[\w-]+)?: (?P<text>.*)"
)
_NOTE = re.compile(r"(?P<file>\S.*?)\((?P<line>\d+)\): note")
_TAIL = re.compile(r"Remark: |\d+ (catastrophic )?errors? detected|Compilation terminated")

CUTE = "for CuTe's headers"  # stands for what depends on this machine
_REMEDIES = {
    r'source file "iostream"': "Remove it: a kernel prints with printf, which needs no #include.",
    r'source file "(vector|string|memory|map|set|deque|list|thread|fstream)"': (
        "Only a host program has it. Of C++'s own headers kernels have those in "
        "course_utils/compiling/standard_headers, and those under <cuda/std/...>."
    ),
    r'source file "cuda(_runtime)?\.h"': "Remove it: what a kernel needs from it is built in.",
    r'source file "(cute|cutlass)/': CUTE,
    r"cannot open source file": "Check the name's spelling; shared headers live in kernels/common.",
    r'expected a ";"': "The semicolon is often missing at the end of the line before.",
    r'expected a "}"': "A closing brace is missing: count the { and } of the kernel.",
    r'expected a "\)"': "A closing parenthesis is missing.",
    r'"u?int(8|16|32|64)_t" is undefined': (
        "Write `unsigned`, `long long`..., or add #include <cuda/std/cstdint>."
    ),
    r'"(__)?half2?" is undefined': "Add #include <cuda_fp16.h>.",
    r'"__nv_bfloat162?" is undefined': "Add #include <cuda_bf16.h>.",
    r'"(INFINITY|HUGE_VALF?|NAN)" is undefined': (
        "nvcc has it from the host's headers, which do not exist here: write CUDART_INF_F or "
        "CUDART_NAN_F, and add #include <math_constants.h>."
    ),
    r'"M_PI" is undefined': "Write CUDART_PI_F, and add #include <math_constants.h>.",
    r'"FLT_MAX" is undefined': (
        "Write CUDART_MAX_NORMAL_F, and add #include <math_constants.h>; to begin a maximum, "
        "-CUDART_INF_F is smaller still."
    ),
    r'"(FLT|DBL)_\w+" is undefined': (
        "Write cuda::std::numeric_limits<float>::min(), epsilon()..., and add "
        "#include <cuda/std/limits>."
    ),
    r'"(U?(CHAR|SHRT|INT|LONG|LLONG)_(MAX|MIN)|CHAR_BIT)" is undefined': (
        "Add #include <cuda/std/climits>."
    ),
    r'identifier ".+" is undefined': (
        "Declare it before this line, or check its spelling: capitals count in C++."
    ),
    r'namespace "std" has no member': (
        "Device code has no host library: use the plain function (min, max, sqrtf) or cuda::std."
    ),
    r"must have a void return type": "A kernel returns nothing: results go through a pointer.",
    r"required runtime APIs are not declared": (
        "Only device code is compiled here: leave main and its launches out, or put them in a file "
        "of their own."
    ),
    r"not allowed in JIT mode": "Only device code is compiled here: remove the host function.",
    r"excessive recursion": (
        "The template never stops: end it with `if constexpr (...) ... else ...` (after a plain "
        "`if`, or without the `else`, the rest is compiled too), or with a specialisation."
    ),
    r"must be a modifiable lvalue": "It cannot be written to: is it declared const?",
    r"too (few|many) arguments in function call": "Compare with the function's parameter list.",
    r"(Shape|Stride) Divisibility Condition": (
        "One layout does not divide the other, so their composition has no strides: compare the "
        "numbers of both shapes. `layouts.composition` in Python says which."
    ),
    r"Mismatched Ranks|Mismatched ranks": (
        "A coordinate, shape or stride has more or fewer parts than the layout it is used with."
    ),
    r"Non-injective Layout detected": (
        "Two coordinates have one offset, so nothing is left out in a way that strides can tell."
    ),
    r"Dynamic owning tensors not supported": (
        "A tensor in registers has a shape that the compiler knows: Int<8>{} instead of 8."
    ),
    r"Too many modes in tiler": "The tiler has more parts than the layout has modes.",
}


def _cute_remedy() -> str:
    if cute_header_paths():
        return "CuTe is installed, without this header: check the name's spelling."
    return f"The package nvidia-cutlass has it, and `{set_up_command()}` installs that."


def _render(diagnostics: list[Diagnostic]) -> str:
    parts = []
    for item in diagnostics[:MAX_ERRORS_SHOWN]:
        where = f"{item.file}:{item.line}: " if item.file else ""
        rows = [f"{where}error: {shortened(item.message)}", *_shown(item)]
        hidden = len(item.excerpt) - MAX_LINES_PER_ERROR
        if hidden > 0:
            rows.append(f"  ({hidden} more lines in error.log)")
        matches = (_REMEDIES[p] for p in _REMEDIES if re.search(p, item.message))
        if remedy := next(matches, None):
            rows.append(f"  -> {_cute_remedy() if remedy == CUTE else remedy}")
        parts.append("\n".join(rows))
    rest = len(diagnostics) - MAX_ERRORS_SHOWN
    if rest > 0:
        parts.append(f"and {rest} more. The first error often causes the others: fix it first.")
    return "\n\n".join(parts)


def _shown(item: Diagnostic) -> list[str]:
    """The first rows of the excerpt; of a long source line the part around its caret."""
    rows = list(item.excerpt[:MAX_LINES_PER_ERROR])
    if len(rows) > 1 and rows[1].strip() == "^" and len(rows[0]) > WIDEST:
        caret = rows[1].index("^")
        start = max(caret - WIDEST // 2, 0)
        rows[0] = shortened(rows[0], start)
        rows[1] = " " * (caret - start + (len(DOTS) if start else 0)) + "^"
    return [shortened(row) for row in rows]


def _shorten_paths(log: str) -> str:
    """``log`` with no absolute path in it: headers are named as they are included."""
    for folder in (*cuda_header_paths(), *cute_header_paths(), str(ROOT)):
        log = log.replace(f"{folder}/", "")
    return log
