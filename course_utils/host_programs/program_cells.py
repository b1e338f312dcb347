"""``%%c`` and ``%%cpp``: a cell that is a whole program, compiled and run apart from the notebook.

Every cell runs in its own folder, which holds a copy of the files kept so far and goes away.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ..checking.verdict import Verdict
from ..compiling.host_compilers import HOW_TO_GET, IN_WORDS, HostCompiler, host_compiler
from ..compiling.source_text import read_source
from ..errors import LessonError
from ..interrupts import interruptible
from ..process_groups import Ended
from ..shell import running_shell
from . import host_kinds as kinds
from .building import PROGRAM, build, compile_error, failed, finds_addresses, sanitizers, warnings
from .cell_options import (
    given_options,
    into_of,
    kept_files,
    listed,
    named,
    one_of,
    plain,
    seconds_of,
    words_of,
)
from .faults import fault_of, without_reports
from .running import run_program

STANDARDS = {"c": "gnu17", "cpp": "c++17"}  # for C it's gcc's default
MOST_LINES, FEW_LINES = 200, 20  # of the output of a program that ends well, or does not
MOST_CHARACTERS = 20_000
MOST_KEPT = 2**24  # bytes of one file that a cell keeps
CELL_LINE = 2  # the body of a cell begins below its magic line
READS = re.compile(
    r"\b(?:v?scanf|getchar|gets|getline|cin)\b|\b(?:fgets|fgetc|getc|fread|fscanf)\s*\([^;]*\bstdin\b"
    r"|\bread\s*\(\s*(?:0|STDIN_FILENO)\b"
)
MAIN = re.compile(r"\bmain\s*\(")
STRAY = re.compile(r"before|type specifier missing|parameter declarator|unknown type name")
CPP_FILES = (".cpp", ".cc", ".hpp")
KERNEL = re.compile(r"\b__global__\b|<<<")
CPP = re.compile(
    r"\bstd::|\btemplate\s*<|\b(?:class|namespace|nullptr|new|auto)\s+\w|\bnullptr\b"
    r"|\b(?:bool|char|int|long|float|double|size_t)\s*&\s*\w+\s*[,)]"
    r"|#\s*include\s*<(?:iostream|vector|string|algorithm|memory|array|cstd\w+|cmath)>"
)
OPTIONS = {
    "args": "the program's arguments, as in a terminal",
    "stdin": "what it reads as its input; \\n ends a line",
    "into": "a name: what it prints becomes that Python variable, and is not shown",
    "file": "keep the cell under this name for later cells (and programs with it)",
    "with": "kept files that are compiled with this cell: with=a.c,b.c",
    "keep": "files the program writes, to be kept: keep=out.bin",
    "flags": "more arguments for the compiler, as in a terminal",
    "std": "the language's version, such as c11 or c++20",
    "seconds": "the time that it may take (5)",
    "sanitize": "off: run it without sanitizers, as a finished program would run",
    "expect": "the fault that this cell is there to show, such as use-after-free",
}


class ProgramFailed(LessonError):
    """A cell's program could not be built, or did not end well. ``verdict`` says why."""

    def __init__(self, verdict: Verdict):
        super().__init__(str(verdict))
        self.verdict = verdict


@dataclass(frozen=True)
class Asked:
    """The first line of a cell."""

    args: tuple[str, ...] = ()
    stdin: str = ""
    into: str = ""
    file: str = ""
    beside: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    std: str = ""
    seconds: float = 5.0
    sanitize: bool = True
    expect: str = ""


def c_folder() -> Path:
    """The folder in which ``%%c file=…`` keeps its cells. It goes away with the notebook.

    Its files are copied to each program's own folder, so programs read them by their names alone.
    """
    return Path(_kept().name)


@cache
def _kept() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="c-cells-")


def run_cell(language: str, line: str, cell: str) -> Verdict | None:
    """Build and run a cell, and print its output. Returns the verdict, if a fault was expected.

    Raises LessonError where the line is wrong, and :class:`ProgramFailed` for any other fault.
    """
    asked = _parse(language, line)
    compiler = host_compiler(language)
    if compiler is None:
        raise LessonError(f"This cell needs {IN_WORDS[language]}. {HOW_TO_GET}")
    source = "\n" * (CELL_LINE - 1) + cell
    name = asked.file or f"cell.{language}"
    if asked.file:
        (c_folder() / name).write_text(source, encoding="utf-8")
    with (
        interruptible("the program was ended, and what it had written is gone."),
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place,
    ):
        return _try(language, asked, compiler, source, name, Path(place))


def _try(
    language: str, asked: Asked, compiler: HostCompiler, source: str, name: str, folder: Path
) -> Verdict | None:
    shutil.copytree(c_folder(), folder, dirs_exist_ok=True)
    (folder / name).write_text(source, encoding="utf-8")
    if Path(name).suffix not in (".c", ".cpp", ".cc"):
        print(f"kept {name}")
        return None
    files = (name, *asked.beside)
    sources = {file: read_source(folder / file) for file in files}
    whole = any(map(MAIN.search, sources.values())) or not asked.file
    standard, checks = asked.std or STANDARDS[language], asked.sanitize
    built = build(compiler, files, folder, standard, asked.flags, sanitized=checks, link=whole)
    if failed(built):
        return _answer(_explained(compile_error(built, files), language, source), asked, compiler)
    if told := warnings(built):
        print(f"{told}\n")
    if whole and not os.access(folder / PROGRAM, os.X_OK):
        raise LessonError(
            f"%%{language} flags={shlex.join(asked.flags)}: with these the compiler makes no "
            "program that could run. Leave out what ends it early (-c, -E, -S)."
        )
    if not whole:
        print(f"kept {name}: it compiles, and has no main to run")
        return None
    ended = run_program(folder, asked.seconds, given=asked.stdin, arguments=asked.args)
    fault = fault_of(ended, files, asked.seconds)
    _show(ended, asked, fault is None)
    for file in asked.keep:
        _keep(folder, file)
    if _waits_for_input(source, asked):
        print(
            "This program reads its input, and a cell has none: it met the end of the file. Give "
            r'it some in the first line: stdin="3 4\n"'
        )
    return _answer(fault.verdict(sources) if fault else None, asked, compiler)


def _answer(verdict: Verdict | None, asked: Asked, compiler: HostCompiler) -> Verdict | None:
    """The verdict, if it was expected. Otherwise raises it, or that it did not come."""
    found = verdict.kind if verdict else ""
    if found == asked.expect:
        return verdict
    if not found and asked.expect in kinds.BY_SANITIZER and not finds_addresses(compiler):
        which = "only some" if sanitizers(compiler) else "no"
        print(f"This compiler ({compiler.name}) has {which} sanitizers: the fault was not seen.")
        return None
    if verdict:
        raise ProgramFailed(verdict)
    raise LessonError(
        f"The first line expects the fault {asked.expect!r}, but the program ended well. If that "
        f"is what you want, take expect={asked.expect.replace(' ', '-')} out of it."
    )


def _explained(verdict: Verdict, language: str, source: str) -> Verdict:
    """Say so where a cell is not a whole program."""
    if verdict.kind == kinds.WRONG_NAME and "definition of main" in verdict.message:
        hint = (
            "A cell is a whole program, and a program begins in main: int main(void) { … }. To "
            "keep functions for later cells, name a file in the first line: file=name.c"
        )
    elif KERNEL.search(_code(source)):
        hint = (
            "A kernel is CUDA C++, which a compiler for the CPU does not know: give it to load or "
            "cp.RawModule, as chapter 04 does."
        )
    elif language == "c" and CPP.search(_code(source)):
        hint = "If this is to be C++, begin the cell with %%cpp: in C there is none of it."
    elif not MAIN.search(source) and STRAY.search(verdict.message):
        hint = "Statements belong in a function. A program begins in int main(void) { … }."
    else:
        return verdict
    return Verdict(verdict.kind, verdict.message, hint, excerpt=verdict.excerpt)


def _show(ended: Ended, asked: Asked, well: bool) -> None:
    """Print the program's output, less of it unless it ended ``well``, or pass it on."""
    lines = MOST_LINES if well else FEW_LINES
    show_output(ended.output, asked.into, lines)
    print_beginning(without_reports(ended.errors), lines)


def show_output(output: str, into: str, lines: int = MOST_LINES) -> None:
    """Print a program's output, or assign it to the notebook's variable ``into``."""
    shell = running_shell()
    if into and shell is not None:
        shell.user_ns[into] = output
    else:
        print_beginning(output, lines)


def print_beginning(text: str, lines: int = MOST_LINES) -> None:
    """Print a text's first ``lines``, and say so where more is left."""
    shown = "".join(text.splitlines(keepends=True)[:lines])[:MOST_CHARACTERS]
    if shown:
        print(shown, end="" if shown.endswith("\n") else "\n")
    if len(shown) < len(text):
        print("... and more, which is not shown")


def _keep(folder: Path, name: str) -> None:
    file = folder / name
    if not file.is_file() or file.is_symlink():
        raise LessonError(f"keep={name}: the program wrote no file of that name.")
    if file.stat().st_size > MOST_KEPT:
        raise LessonError(f"keep={name}: it is larger than {MOST_KEPT // 2**20} MB.")
    shutil.copyfile(file, c_folder() / name)


def _waits_for_input(source: str, asked: Asked) -> bool:
    return not asked.stdin and READS.search(_code(source)) is not None


def _code(source: str) -> str:
    """``source`` without its comments and texts."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", "", source, flags=re.S)


def _parse(language: str, line: str) -> Asked:
    """The options of the first line. Raises LessonError where one is unknown or makes no sense."""
    magic = f"%%{language}"
    given = given_options(magic, line, OPTIONS)
    expect = given.get("expect", "").replace("-", " ")
    if expect and expect not in kinds.KINDS:
        known = ", ".join(kind.replace(" ", "-") for kind in kinds.KINDS)
        raise LessonError(f"{magic} expect={given['expect']}: there is no such fault. Say {known}.")
    sanitize = one_of(magic, "sanitize", given, ("on", "off"))
    into = into_of(magic, given)
    if language == "c":
        _refuse_cpp(magic, given)
    return Asked(
        args=words_of(magic, "args", given),
        stdin=given.get("stdin", "").replace("\\n", "\n"),
        into=into,
        file=named(magic, "file", given.get("file", "")),
        beside=kept_files(magic, given.get("with", ""), c_folder()),
        keep=tuple(plain(magic, "keep", name) for name in listed(given.get("keep", ""))),
        flags=words_of(magic, "flags", given),
        std=given.get("std", ""),
        seconds=seconds_of(magic, given.get("seconds", "5")),
        sanitize=sanitize == "on",
        expect=expect,
    )


def _refuse_cpp(magic: str, given: dict[str, str]) -> None:
    """Raise LessonError where a cell of C asks for a version of C++, or for a file of it."""
    standard = given.get("std", "")
    names = [given.get("file", ""), *listed(given.get("with", ""))]
    asked = standard if "++" in standard else next((n for n in names if n.endswith(CPP_FILES)), "")
    if asked:
        raise LessonError(f"{magic} … {asked}: that is C++. Begin the cell with %%cpp.")
