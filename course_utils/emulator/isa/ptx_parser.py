"""Reads PTX text: variables, functions, instructions with lexical scopes and source lines.

A module is first cut into its top-level items; a function's body is read only when it is asked for,
because headers of the CUDA C++ library leave hundreds of unused variables behind.
Source: PTX ISA, "Syntax" and "State Spaces, Types, and Variables".
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache

from .location import Location
from .ptx import (
    SIZES,
    UNREADABLE,
    Function,
    Instruction,
    PtxError,
    Register,
    Scope,
    Variable,
)
from .ptx_operands import parse_operand, split

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_LOC = re.compile(r"^\s*\.loc\s+([^\n;]*)$", re.M)
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"[^\n]*$', re.M)
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_HEAD_LINE = re.compile(r"^\s*\.(version|target|address_size)\s+([^\n]*)$", re.M)
_SECTION = re.compile(r"^\s*\.section\b.*\Z", re.M | re.S)
_NAME = re.compile(r"^(\$L__info_string\d+):((?:\s*\.b8[^\n]*)+)", re.M)
_LABEL = re.compile(r"\s*([A-Za-z_$%][\w$]*)\s*:(?!:)")
_VARIABLE = re.compile(
    r"(?P<link>(?:\.(?:visible|extern|weak|common)\s+)*)"
    r"\.(?P<space>global|const|shared|local|param)\s*"
    r"(?P<attributes>(?:\.align\s+\d+\s*|\.attribute\([^)]*\)\s*|\.ptr\s*(?:\.\w+\s*)?)*)"
    r"(?:\.(?P<vector>v[24])\s*)?\.(?P<type>\w+)\s*(?P<attributes2>(?:\.ptr\s*(?:\.\w+\s*)?"
    r"|\.align\s+\d+\s*)*)"
    r"(?P<name>[\w$%]+)\s*(?P<dims>(?:\[\s*\d*\s*\])*)\s*(?:=\s*(?P<initial>.*))?$",
    re.S,
)
_FUNCTION = re.compile(
    r"(?P<link>(?:\.(?:visible|extern|weak)\s+)*)\.(?P<kind>entry|func)\s*"
    r"(?P<flags>(?:\.noreturn\s*)?)(?:\((?P<results>[^)]*)\)\s*)?(?P<name>[\w$]+)\s*"
    r"(?:\((?P<parameters>[^)]*)\))?(?P<rest>[^{]*)",
    re.S,
)
_ATTRIBUTE = re.compile(r"\.(\w+)\s*([\d,\s]*)")
_GUARD = re.compile(r"@\s*(!?)\s*([\w$%.]+)\s*")
_OPCODE = re.compile(r"([a-z]\w*)((?:\.\w+(?:::\w+)*)*)\s*")
_MARK = re.compile(r"[{};]")


def parse_variable(text: str) -> Variable:
    """One declaration such as ``.shared .align 4 .b8 tile[1024]``. Raises PtxError for anything
    else."""
    match = _VARIABLE.fullmatch(text.strip())
    if match is None or match["type"] not in SIZES:
        raise PtxError(f"cannot read the declaration: {text.strip()[:120]}")
    elements = 1
    for dim in re.findall(r"\[\s*(\d*)\s*\]", match["dims"]):
        elements *= int(dim or 0)
    size = SIZES[match["type"]] * elements * int((match["vector"] or "v1")[1:])
    aligns = re.findall(r"\.align\s+(\d+)", match["attributes"] + (match["attributes2"] or ""))
    pointer_align = ".ptr" in match["attributes"] + (match["attributes2"] or "")
    align = int(aligns[0]) if aligns and not pointer_align else SIZES[match["type"]]
    return Variable(
        match["space"],
        match["name"],
        match["type"],
        size,
        align,
        match["initial"],
        "extern" in match["link"],
    )


def _items(text: str) -> Iterator[str]:
    """Cut the text of a module into declarations (ending in ``;``) and functions (``{ }``)."""
    depth, start = 0, 0
    for match in re.finditer(r"[{};]", text):
        mark = match[0]
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0 and re.search(r"\.(entry|func|section)\b", text[start : match.start()]):
                yield text[start : match.end()]
                start = match.end()
        elif depth == 0:
            yield text[start : match.start()]
            start = match.end()


@cache
def _inlined_name(data: str) -> str:
    """The name of a function whose symbol is spelled as bytes, without namespace and types."""
    letters = (int(n) for n in re.findall(r"\d+", data.replace(".b8", "")))
    symbol = bytes(n for n in letters if 0 < n < 256).decode("utf-8", "replace")
    rest, name = symbol.removeprefix("_Z").lstrip("NKL"), symbol
    while match := re.match(r"(?:St|S\d*_)?(\d+)", rest):
        name = rest[match.end() : match.end() + int(match[1])]
        rest = rest[match.end() + len(name) :]
    return name


def source_files(text: str) -> dict[int, str]:
    """The names of a module's source files, by the number that its lines refer to.

    PTX spells a byte outside ASCII in octal (``M\\303\\274ller`` is Müller), and puts a backslash
    before quotes and backslashes.
    """
    return {int(match[1]): _unescaped(match[2]) for match in _FILE.finditer(text)}


def _unescaped(name: str) -> str:
    def byte(match: re.Match[bytes]) -> bytes:
        return bytes([int(match[1], 8)]) if len(match[1]) == 3 else match[1]

    return _ESCAPE.sub(byte, name.encode()).decode("utf-8", "replace")


Names = dict[int | str, str]  # source files by number, names of inlined functions by label


def parse_module(text: str) -> tuple[dict[str, Variable], dict[str, Function], Names]:
    """Variables and functions (bodies unread) of a module, by name, and what its lines refer to."""
    text = _COMMENT.sub(" ", text.replace("\0", " "))
    here = os.getcwd() + os.sep
    files: Names = {n: name.removeprefix(here) for n, name in source_files(text).items()}
    files |= {m[1]: m[2] for m in _NAME.finditer(text)}
    text = _SECTION.sub(" ", _FILE.sub(" ", text))
    text = _HEAD_LINE.sub(" ", text)
    text = _LOC.sub(r".loc \1;", text)
    variables: dict[str, Variable] = {}
    functions: dict[str, Function] = {}
    for item in _items(text):
        item = item.strip()
        if not item or item.startswith((".pragma", ".alias")):
            continue
        if re.search(r"\.(entry|func)\b", item.split("{", 1)[0]):
            function = _parse_head(item)
            if function.name not in functions or function.body is not None:
                functions[function.name] = function
        else:
            variable = parse_variable(item)
            variables[variable.name] = variable
    return variables, functions, files


def _parse_head(item: str) -> Function:
    match = _FUNCTION.match(item)
    if match is None:
        raise PtxError(f"cannot read the function: {item[:120]}")

    def declared(text: str | None) -> list[Variable]:
        parts = [p for p in (text or "").split(",") if p.strip()]
        return [parse_variable(p) for p in parts if ".param" in p]

    attributes = {
        name: tuple(int(n) for n in numbers.replace(",", " ").split())
        for name, numbers in _ATTRIBUTE.findall(match["rest"])
    }
    body = item[match.end() :]
    return Function(
        match["name"],
        match["kind"] == "entry",
        declared(match["parameters"]),
        declared(match["results"]),
        attributes,
        body.strip()[1:-1] if body.strip().startswith("{") else None,
    )


def _statements(body: str) -> Iterator[tuple[str, str]]:
    """Yield the braces of scopes, labels, and statements; braces of operands stay in theirs."""
    buffer, inside = "", 0
    position = 0
    for match in _MARK.finditer(body):
        buffer += body[position : match.start()]
        position = match.end()
        mark = match[0]
        if mark == "{":
            while label := _LABEL.match(buffer):
                yield "label", label[1]
                buffer = buffer[label.end() :]
            if inside == 0 and not buffer.strip():
                yield "{", ""
                buffer = ""
            else:
                inside += 1
                buffer += mark
        elif mark == "}":
            if inside:
                inside -= 1
                buffer += mark
            else:
                while label := _LABEL.match(buffer):  # it stands before what follows the scope
                    yield "label", label[1]
                    buffer = buffer[label.end() :]
                yield "}", ""
                buffer = ""
        else:
            while label := _LABEL.match(buffer):
                yield "label", label[1]
                buffer = buffer[label.end() :]
            if buffer.strip():
                yield ";", buffer.strip()
            buffer = ""
    while label := _LABEL.match(buffer + body[position:]):
        yield "label", label[1]
        buffer, position = (buffer + body[position:])[label.end() :], len(body)


def parse_body(function: Function, files: Names) -> None:
    """Read the body of a function into its list of instructions; read only once."""
    if function.instructions or function.body is None:
        return
    scope = Scope(None, function)
    for variable in (*function.parameters, *function.results):
        scope.variables[variable.name] = variable
    locations: tuple[Location, ...] = ()
    parents: dict[Location, tuple[Location, ...]] = {}
    pending: list[str] = []
    for mark, text in _statements(function.body):
        if mark == "{":
            scope = Scope(scope, function)
        elif mark == "}":
            scope = scope.parent or scope
        elif mark == "label":
            scope.labels[text] = len(function.instructions)
            pending.append(text)
            continue
        elif text.startswith(".loc "):
            locations = _parse_location(text, files, parents) or locations
        elif text.startswith(".branchtargets"):
            scope.tables[pending[-1]] = [t.strip() for t in text[14:].split(",")]
        elif text.startswith(".reg"):
            _declare_registers(scope, text)
        elif text.startswith((".callprototype", ".calltargets", ".pragma")):
            pass
        elif text.startswith("."):
            variable = parse_variable(text)
            scope.variables[variable.name] = variable
            if variable.space in ("shared", "local"):
                function.variables.append(variable)
        else:
            function.instructions.append(_parse_instruction(text, scope, locations))
        pending.clear()
    function.instructions.append(  # for a body that ends without one
        Instruction("ret", (), (), None, locations, scope, "ret")
    )
    function.declared = len(function.slot_types)


def _declare_registers(scope: Scope, text: str) -> None:
    match = re.fullmatch(r"\.reg\s*\.(\w+)\s+(.*)", text, re.S)
    if match is None or match[1] not in SIZES:
        raise PtxError(f"cannot read the declaration: {text[:120]}")
    kind = match[1]
    for name in match[2].split(","):
        name = name.strip()
        if ranged := re.fullmatch(r"([\w$%]+)<(\d+)>", name):
            scope.ranges[ranged[1]] = (kind, int(ranged[2]))
        else:
            scope.declare(name, kind)


def _parse_location(
    text: str, files: Names, parents: dict[Location, tuple[Location, ...]]
) -> tuple[Location, ...] | None:
    """``.loc file line column[, function_name label, inlined_at file line column]``.

    A chain of inlined calls is spelled as one ``.loc`` per level, each naming the one before.
    A line of 0 marks code that belongs to no line: the previous location stays.
    """
    numbers = [int(n) for n in re.findall(r"\s(\d+)(?=[\s,]|$)", text)]
    if len(numbers) < (6 if "inlined_at" in text else 3):
        return None  # nothing to go by
    label = re.search(r"function_name\s+(\S+?),", text)
    name = _inlined_name(files.get(label[1], "")) if label else ""
    place = Location(files.get(numbers[0], "?"), numbers[1], numbers[2], name)
    outer: tuple[Location, ...] = ()
    if "inlined_at" in text:
        caller = Location(files.get(numbers[3], "?"), numbers[4], numbers[5])
        outer = parents.get(caller, (caller,))
    chain = (place, *outer)
    if numbers[1] == 0:
        return outer or None
    parents[place] = chain
    return chain


def _parse_instruction(text: str, scope: Scope, locations: tuple[Location, ...]) -> Instruction:
    """One that cannot be read is a trouble only to the lanes that come to it."""
    try:
        return _instruction(text, scope, locations)
    except (AttributeError, LookupError, ValueError) as error:
        trouble = str(error) if isinstance(error, PtxError) else "an operand cannot be read"
        line = " ".join(text.split())
        return Instruction(UNREADABLE, (), (), None, locations, scope, line, trouble)


def _instruction(text: str, scope: Scope, locations: tuple[Location, ...]) -> Instruction:
    rest, guard = text, None
    if rest.startswith("@"):
        guarded = _GUARD.match(rest)
        register = scope.register(guarded[2]) if guarded else None
        if guarded is None or register is None:
            raise PtxError(f"unknown predicate in: {text}")
        guard = Register(register.slot, register.type, register.name, bool(guarded[1]))
        rest = rest[guarded.end() :]
    match = _OPCODE.match(rest)
    if match is None:
        raise PtxError(f"cannot read the instruction: {text}")
    modifiers = tuple(match[2].split(".")[1:])
    operands = tuple(parse_operand(part, scope) for part in split(rest[match.end() :]))
    return Instruction(
        match[1], modifiers, operands, guard, locations, scope, " ".join(text.split())
    )
