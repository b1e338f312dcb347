"""Calls the compiler on a program's files, and makes its answer readable."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from ..checking.excerpts import clip
from ..checking.verdict import Verdict
from ..compiling.host_compilers import HostCompiler
from ..process_groups import Ended, run_group
from . import host_kinds as kinds

PROGRAM = "program"  # the name of the file that is built
COMPILE_SECONDS = 60.0
FIRST_SECONDS = 540.0  # for ziglang, which builds the C or C++ library with the first program
WARNINGS = ("-Wall", "-Wextra", "-fstrict-aliasing", "-Wstrict-aliasing=2")
REFUSED = ("-Werror=main",)
REFUSED_IN_C = (  # as the newest compilers do: older ones only warn of them
    "-Werror=implicit-function-declaration",
    "-Werror=implicit-int",
    "-Werror=incompatible-pointer-types",
    "-Werror=int-conversion",
)
ADDRESS = ("-fsanitize=address,undefined", "-fno-sanitize=object-size", "-fno-omit-frame-pointer")
SANITIZERS = (  # the best that the compiler can build with is taken
    ADDRESS,  # the object sizes are left out because it is AddressSanitizer that names the object
    ("-fsanitize=undefined", "-fno-sanitize-trap=undefined"),
)
ENVIRONMENT = {"LC_ALL": "C", "TERM": "dumb"}
REMEDIES = {
    r"'else' without": "Only one statement may be between if and else: is there a semicolon too "
    "many, or are braces missing?",
    r"expected [^,]*';'[^,]*$|expected ',' or ';'": "The semicolon is often missing at the "
    "end of the line before.",
    r"(?:implicit declaration|undeclared).* function '(?:min|max|sum|len|range)'": "C has none for "
    "arrays: write a loop, and pass the length along.",
    r"is a pointer.? (?:did you mean|maybe you meant)": "Through a pointer it's p->member. "
    "p.member is for the struct itself.",
    r"implicit declaration|undeclared (?:library )?function": "Include the header that declares "
    "it, or define it above this line.",
    r"undeclared|not (?:been )?declared": "Declare it before this line, or check "
    "its spelling: capitals count.",
    r"No such file|file not found": "Check the header's spelling; a cell sees the standard library "
    "and the files that cells before it kept with file=….",
    r"unknown type name": "Include the header that defines the type, or check its spelling.",
    r"makes (?:pointer|integer) from|incompatible (?:integer|pointer)": "One side is an address "
    "and the other a value: *p is the value at the address p, &x is the address of x.",
    r"subscripted value": "A pointer to numbers has one index: A[i * columns + j].",
    r"called object": "A name before ( is a function's, or a macro's whose ( follows it without a "
    "blank in its #define.",
    r"stray|unexpected character|U\+201": "C doesn't know a character here, often a blank or a "
    "quotation mark pasted from a web page: type it anew.",
    r"[Rr]eturn type of 'main'|'main' must return": "main returns the program's status: "
    "int main(void).",
    r"use of deleted function|call to deleted|implicitly[- ]deleted": "The class forbids this: "
    "pass the object on with std::move, and give the class a move constructor.",
    r"lvalue|not assignable|read-only|const-qualified": "It cannot be written to: is it const, or "
    "not a variable at all?",
    r"dereferencing.*void|indirection.*void|void value|declared void|type 'void'": "A "
    "void * has no type to read: convert it to a pointer to a type first.",
    r"expected '?}": "A closing brace is missing: count the { and }.",
}
ERROR = r"(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: (?:fatal )?error: (?P<text>.*)"
_AT = r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+):\d+: +"
# A line of gcc before an error in a template, and of clang after it.
USED_IN = re.compile(rf"{_AT}(?:(?:recursively )?required |note: in instantiation )", re.M)
REQUESTED = re.compile(rf"{_AT}note: in instantiation ", re.M)
INSTANTIATION = re.compile(
    r"[^\s:/]+: In (?:instantiation|substitution) of |[^\s:/]+:\d+:\d+: +(?:recursively )?required "
)
TOLD_AS_ERROR = re.compile(  # after the warnings that are refused here
    r" \[-Werror[=,](?:-W)?(?:main|implicit-[a-z-]+|incompatible-[a-z-]+|int-conversion)\]"
)
UNRESOLVED = re.compile(
    r"(?:(?P<file>[^\s:()]+):(?P<line>\d+): )?undefined reference to [`'](?P<name>[^`'(]+)"
    r"|undefined symbol: (?P<other>\w+)"
)
NOISE = re.compile(
    r"[^\n]*: (?:In function|In member|At global|At top level)[^\n]*:\n"
    r"|^\d+ (?:warning|error)[^\n]* generated\.\n|^cc1\w*: some warnings being treated as errors\n",
    re.M,
)


@cache
def sanitizers(compiler: HostCompiler) -> tuple[str, ...]:
    """The sanitizers' flags with which ``compiler`` builds a program that runs. There may be
    none."""
    if compiler.is_zig:
        return SANITIZERS[-1]
    return next((flags for flags in SANITIZERS if _builds(compiler, flags)), ())


def finds_addresses(compiler: HostCompiler) -> bool:
    """Whether ``compiler``'s sanitizers find wrong addresses, not only wrong values."""
    return sanitizers(compiler) == ADDRESS


def _builds(compiler: HostCompiler, flags: Sequence[str]) -> bool:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "empty.c").write_text("int main(void) { return 0; }\n")
        command = [*compiler.command, *flags, "empty.c", "-o", "empty"]
        if run_group(command, COMPILE_SECONDS, folder=folder).status:
            return False
        return not run_group(["./empty"], 10, folder=folder).status


def build(
    compiler: HostCompiler,
    files: Iterable[str],
    folder: Path,
    standard: str,
    flags: Iterable[str] = (),
    *,
    sanitized: bool = True,
    link: bool = True,
) -> Ended:
    """Compile ``files`` of ``folder`` with warnings, and ``link`` them to ``PROGRAM`` in it."""
    checks = sanitizers(compiler) if sanitized else ()
    refused = REFUSED if "++" in standard else (*REFUSED, *REFUSED_IN_C)
    options = (f"-std={standard}", "-g", "-O0", *WARNINGS, *refused, *checks, *flags)
    result = ("-o", PROGRAM, "-lm", "-pthread") if link else ("-c",)
    command = [*compiler.command, *options, *files, *result]
    seconds = FIRST_SECONDS if compiler.is_zig else COMPILE_SECONDS
    return run_group(command, seconds, folder=folder, environment=ENVIRONMENT)


def failed(built: Ended) -> bool:
    """Whether there is no program."""
    return built.timed_out or bool(built.status)


def warnings(built: Ended) -> str:
    """The compiler's warnings, as many as a verdict has room for. "" without any."""
    text = NOISE.sub("", built.output).strip()
    return f"the compiler warns:\n{clip(text, 12, 1500)}" if text else ""


def compile_error(built: Ended, names: Iterable[str]) -> Verdict:
    """Why there is no program, by the first error in one of the files ``names``."""
    if built.timed_out:
        message = "the compiler did not finish in the time it has, and was stopped."
        return _verdict(kinds.COMPILE_ERROR, message)
    output = TOLD_AS_ERROR.sub("", NOISE.sub("", built.output))
    files = set(names)
    errors = list(re.finditer(ERROR, output))
    first = next((error for error in errors if error["file"] in files), None)
    if first is None and (missing := UNRESOLVED.search(output)):
        wanted = missing["name"] or missing["other"]
        where = f"line {missing['line']}: " if missing["file"] in files else ""
        message = f"{where}the linker finds no definition of {wanted}."
        return _verdict(kinds.WRONG_NAME, message)
    at, caller = first, _instantiated_from(output, first, files) if first else None
    if first is None and errors:  # inside of a library's template: which line asked for it?
        at = next((used for used in USED_IN.finditer(output) if used["file"] in files), None)
        first = errors[0]
    if first is None or at is None:
        message = "the compiler does not accept this cell."
        return _verdict(kinds.COMPILE_ERROR, message, excerpt=clip(output, 16, 2000))
    begin = output.rfind("\n", 0, min(first.start(), at.start())) + 1
    begin = _instantiation(output, begin)
    where = f"line {at['line']}" if len(files) == 1 else f"{at['file']}, line {at['line']}"
    remedy = next((REMEDIES[p] for p in REMEDIES if re.search(p, first["text"])), "")
    shown = output[begin:]
    if at is not first:  # how the library came to its later errors does not help
        shown = shown.partition("\nIn file included from ")[0]
    message = f"{where}: {first['text']}"
    if caller and caller["line"] != at["line"]:
        message += f", instantiated from line {caller['line']}"
    return _verdict(kinds.COMPILE_ERROR, message, excerpt=clip(shown, 16, 2000), hint=remedy)


def _instantiation(output: str, begin: int) -> int:
    """The start of the rows in which gcc says which line instantiates the template that is wrong at
    ``begin``, without rows about a library's own files."""
    while begin:
        start = output.rfind("\n", 0, begin - 1) + 1
        if not INSTANTIATION.match(output[start:begin]):
            break
        begin = start
    return begin


def _instantiated_from(output: str, error: re.Match[str], files: set[str]) -> re.Match[str] | None:
    """The program's own line, the outermost, that instantiates the template of the ``error``: gcc
    names it before the error, and clang after."""
    begin = output.rfind("\n", 0, error.start()) + 1
    before = output[_instantiation(output, begin) : begin]
    after = re.split(r": (?:error|warning): ", output[error.end() :])[0]
    used = [*USED_IN.finditer(before), *REQUESTED.finditer(after)]
    return next((found for found in reversed(used) if found["file"] in files), None)


def _verdict(kind: str, message: str, *, excerpt: str = "", hint: str = "") -> Verdict:
    return Verdict(kind, message, hint or kinds.NEXT_STEP[kind], excerpt=excerpt)
