"""Joins the PTX of several files into one module, as nvcc's device linker does (``-rdc=true``).

A name that one file declares ``.extern`` is another file's. A name that no other file may see can
be the same in two of them, and gets a suffix in the second. Of a ``.weak`` name the first
definition counts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .ptx import PtxError
from .symbols import readable_name

_TOKENS = re.compile(r'"[^"]*"|//[^\n]*|[{};]')
_LINE = re.compile(r"\s*\.(version|target|address_size|file)\b[^\n]*")
_FUNCTION = re.compile(r"\.(?:func|entry)\s*(?:\.\w+\s*)*(?:\([^)]*\)\s*)?([\w$%]+)")
_VARIABLE = re.compile(r"([\w$%]+)\s*(?:\[[^\]]*\]\s*)*(?:=|;)")
_NUMBERS = re.compile(r"(\.file\s+|\.loc\s+|\binlined_at\s+|\$L__info_string)(\d+)")
_COMMENT = re.compile(r"//[^\n]*")
STEP = 100_000  # from one file's numbers, of source files and strings, to the next file's


@dataclass(frozen=True)
class Statement:
    """A statement at a module's top level. ``linking`` is "extern", "visible", "weak", "common" or
    "" for a name that only its file sees."""

    text: str
    name: str
    linking: str
    has_body: bool = True


def link(texts: Sequence[str]) -> str:
    """The module that the modules ``texts`` make together. A name that is nowhere defined stays
    ``.extern``. Raises PtxError for a name that two of them define."""
    if len(texts) == 1:
        return texts[0]
    heads: list[str] = []
    parts: list[list[Statement]] = []
    seen: set[str] = set()
    for number, text in enumerate(texts):
        text = _numbered(text, number)
        statements = list(_statements(text))
        mine = {s.name for s in statements if s.name and not s.linking}
        for name in mine & seen:
            text = re.sub(rf"(?<![\w$%]){re.escape(name)}(?![\w$])", f"{name}__{number}", text)
        if mine & seen:
            statements = list(_statements(text))
        seen |= {s.name for s in statements if s.name}
        heads += [s.text for s in statements if s.linking == "head"][3 * (number > 0) :]
        parts.append([s for s in statements if s.linking != "head"])
    defined = {
        s.name for part in parts for s in part if s.name and s.has_body and s.linking != "extern"
    }
    _check_once(parts)
    kept, had = [], set[tuple[str, bool]]()
    for statement in (s for part in parts for s in part):
        key = statement.name, statement.has_body
        if statement.linking == "extern" and statement.name in defined:
            continue
        if statement.name and statement.linking in ("extern", "weak", "common") and key in had:
            continue
        had.add(key)
        kept.append(statement.text)
    kept.sort(key=lambda text: text.startswith(".section"))  # those end a module
    return "\n".join((*heads, *kept))


def _check_once(parts: Sequence[Sequence[Statement]]) -> None:
    """Raise PtxError for a visible name with two definitions, as the linker does."""
    seen: set[str] = set()
    for part in parts:
        mine = {s.name for s in part if s.linking == "visible" and s.has_body}
        if twice := sorted(mine & seen):
            raise PtxError(
                f"{readable_name(twice[0])} is defined in two of the files that are linked. Define "
                "it in one, and declare it in the others. In a header make it inline or static."
            )
        seen |= mine


def _numbered(text: str, number: int) -> str:
    """A file's text with numbers of source files and of strings that no other file has."""
    return _NUMBERS.sub(lambda m: f"{m[1]}{int(m[2]) + STEP * number}", text)


def _statements(text: str) -> Iterator[Statement]:
    """The statements at the top level. A line without a semicolon has the linking "head"."""
    at = depth = 0
    while line := _LINE.match(text, at):
        yield Statement(line[0].strip(), "", "head")
        at = line.end()
    for token in _TOKENS.finditer(text, at):
        if token.start() < at:
            continue
        word = token[0]
        depth += (word == "{") - (word == "}")
        if depth == 0 and word in ("}", ";"):
            end = token.end()
            if word == "}" and re.match(r"\s*;", text[end : end + 8]):
                continue  # of an initializer
            yield _statement(text[at:end].strip())
            at = end
            while line := _LINE.match(text, at):
                yield Statement(line[0].strip(), "", "head")
                at = line.end()


def _statement(text: str) -> Statement:
    bare = _COMMENT.sub("", text).strip()
    if bare.startswith((".section", "@@", ".alias", ".pragma")):
        return Statement(text, "", "")
    found = re.search(r"\.(extern|visible|weak|common)\b", bare.partition("(")[0][:200])
    linking = found[1] if found else ""
    function = _FUNCTION.search(bare.partition("{")[0])
    if function:
        return Statement(text, function[1], linking, bare.endswith("}"))
    variable = _VARIABLE.search(bare)
    return Statement(text, variable[1] if variable else "", linking)
