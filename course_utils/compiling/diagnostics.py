"""The compiler's answer made readable: the first errors with line, caret and remedy."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from ..errors import LessonError
from ..paths import ROOT
from ..remedies import set_up_command
from ..symptoms import of_compiler
from .compiler_hints import UNDEFINED, candidates, hint_for
from .headers import cuda_header_paths, cute_header_paths
from .known_errors import CUTE, HOST_CODE, NO_HINT, Hint
from .source_text import DOTS, WIDEST, shortened
from .template_errors import cause, outermost

MAX_ERRORS_SHOWN = 3
MAX_LINES_PER_ERROR = 9
ONE_FOR_ALL = (HOST_CODE.name, "namespace")  # hints that hold for all such errors


class CompileError(LessonError):
    """The compiler refused the source.

    ``log`` is the compiler's whole answer. ``file``, ``line`` and ``column`` (1-based, 0 when
    unknown) say where the first error is. ``hints`` are the names of the mistakes that were
    recognised. ``str(error)`` is for the reader: the first few errors, each with its source
    line, a caret and, for common mistakes, the remedy.

    ``source`` is the compiled text, if it is at hand: a misspelled name is looked for in it.
    ``whole``: it is a whole program, whose host code belongs to it.
    """

    def __init__(self, log: str, source: str = "", whole: bool = False):
        self.log = _shorten_paths(log.strip("\0 \n"))
        diagnostics = causes(told_once(parse_log(self.log)))
        first = diagnostics[0] if diagnostics else Diagnostic("", 0, 0, self.log, ())
        self.file, self.line, self.column = first.file, first.line, first.column
        source = _FIRST_LINE.sub("", source)
        explained = [(item, _hint(item, source, whole)) for item in diagnostics]
        explained = _each_once(explained)
        self.hints = tuple(hint.name for _, hint in explained[:MAX_ERRORS_SHOWN] if hint.name)
        text = _render(explained) if explained else self.log
        super().__init__(text, symptom=of_compiler(first.message))


@dataclass(frozen=True)
class Diagnostic:
    """One error of the compiler's log. ``excerpt`` holds the source line, the caret and notes."""

    file: str
    line: int
    column: int
    message: str
    excerpt: tuple[str, ...]


def parse_log(log: str) -> list[Diagnostic]:
    """The errors in an NVRTC log, in order, without warnings and remarks."""
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
    """``diagnostics`` with errors deep in a template library moved to the reader's line, once each.

    The first error at a line is the cause. The library's next ones about the same call follow
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


def causes(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """``diagnostics`` without those that follow from another one.

    After a name that is not known the compiler misreads its line, and may say so first. A name
    without a type, from a wrong declaration, fits no function.
    """
    unknown = {(item.file, item.line) for item in diagnostics if UNKNOWN.search(item.message)}
    found: list[Diagnostic] = []
    seen: set[tuple[str, int] | str] = set()
    for item in diagnostics:
        place = item.file, item.line
        misread = place in unknown and MISREAD.match(item.message)
        follows = UNDECLARED in item.message and (
            place in seen or item.message in seen or _has_unknown_type(item, diagnostics)
        )
        untyped = found and any("<error-type>" in row for row in item.excerpt)
        if "namespace name" in item.message:
            seen.add(place)  # its header would have declared it
        seen.add(item.message)
        if not (misread or follows or untyped):
            found.append(replace(item, excerpt=candidates(item.excerpt)))
    return found


def _has_unknown_type(item: Diagnostic, diagnostics: list[Diagnostic]) -> bool:
    """Whether ``item`` misses a name that is declared, with a type that isn't known."""
    rows = item.excerpt[:1]
    undeclared = [UNDEFINED.search(other.message) for other in diagnostics]
    types = [found[1] for found in undeclared if found]
    name = UNDEFINED.search(item.message)
    return name is not None and any(
        re.search(rf"\b{known}[\s*&]+{name[1]}\b", row) for known in types for row in rows
    )


UNDECLARED = "is undefined"
UNKNOWN = re.compile(f"{UNDECLARED}|namespace name")
MISREAD = re.compile(
    r'attribute "__global__" does not apply|incomplete type "void"|expected a "[);\]]"'
    r"|expected an? (?:identifier|expression|declaration)|variable .* has already been defined"
    r"|type name is not allowed"
)
# A note that follows an error ("note: to match this '{'") belongs to it, so it isn't a head.
_FIRST_LINE = re.compile(r'\A(?:#line 1 "[^\n]*"\n)+')  # a source is called by it
_HEAD = re.compile(
    r"(?:(?P<file>\S.*?)\((?P<line>\d+)\): |At end of source: |nvrtc: )"
    r"(?P<kind>(?:catastrophic |internal )?error|warning)(?: #[\w-]+)?: (?P<text>.*)"
)
_NOTE = re.compile(r"(?P<file>\S.*?)\((?P<line>\d+)\): note")
_TAIL = re.compile(r"Remark: |\d+ (catastrophic )?errors? detected|Compilation terminated")


def _cute_remedy() -> str:
    if cute_header_paths():
        return "CuTe is installed, without this header: check the name's spelling."
    return f"The package nvidia-cutlass has it, and `{set_up_command()}` installs that."


def _hint(item: Diagnostic, source: str, whole: bool) -> Hint:
    hint = hint_for(item.message, item.excerpt, source, item.line)
    if whole and hint.name == HOST_CODE.name:
        return NO_HINT
    return hint._replace(text=_cute_remedy()) if hint.text == CUTE else hint


def _each_once(explained: list[tuple[Diagnostic, Hint]]) -> list[tuple[Diagnostic, Hint]]:
    """Errors without those that the same change removes as one before."""
    told: set[str] = set()
    found = []
    for item, hint in explained:
        if hint.name not in ONE_FOR_ALL or hint.text not in told:
            found.append((item, hint))
        told.add(hint.text)
    return found


def _render(explained: list[tuple[Diagnostic, Hint]]) -> str:
    parts = []
    for item, hint in explained[:MAX_ERRORS_SHOWN]:
        where = f"{item.file}:{item.line}: " if item.file else ""
        rows = [f"{where}error: {shortened(item.message)}", *_shown(item)]
        hidden = len(item.excerpt) - MAX_LINES_PER_ERROR
        if hidden > 0:
            rows.append(f"  ({hidden} more lines in error.log)")
        if hint.text:
            rows.append(f"  -> {hint.text}")
        parts.append("\n".join(rows))
    rest = len(explained) - MAX_ERRORS_SHOWN
    if rest > 0:
        parts.append(f"and {rest} more. The first error often causes the others: fix it first.")
    return "\n\n".join(parts)


def _shown(item: Diagnostic) -> list[str]:
    """The first rows of the excerpt, but only the part around the caret of a long source line."""
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
