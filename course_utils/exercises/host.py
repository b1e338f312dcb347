"""Compiles a student's C or C++ with the compiler at hand and runs it where it can do no harm.

With warnings, and with the address and undefined-behaviour sanitizers where the compiler has them,
in a process group of its own with limits on time, memory and output. What the course's own main
function prints stands between words drawn anew for each judgement: what a student's function prints
beside it is shown, and is no part of the answer.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import signal
import tempfile
from dataclasses import replace
from functools import cache
from pathlib import Path

from ..checking.verdict import Verdict
from ..paths import KERNELS
from . import kinds
from .isolated import MOST_OUTPUT, Ended, run_group
from .outcome import clip, clip_printed, simple, source_excerpt
from .promises import all_cases
from .spec import HostExercise

COMPILERS = {"c": ("cc", "gcc", "clang"), "cpp": ("c++", "g++", "clang++")}
OVERRIDES = {"c": "CC", "cpp": "CXX"}
COMPILE_SECONDS = 60.0
STACK_KB = 8192  # as most systems have it
WARNINGS = ("-Wall", "-Wextra")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-omit-frame-pointer")
ENVIRONMENT = {
    "ASAN_OPTIONS": "color=never:exitcode=99:hard_rss_limit_mb=2048:handle_abort=1",
    "UBSAN_OPTIONS": "color=never:halt_on_error=1:exitcode=99:print_stacktrace=1",
    "LC_ALL": "C",
}
HINTS = {
    kinds.OUT_OF_BOUNDS: "An array of n elements has the indices 0 to n - 1: look at the line and "
    "at the size it was made with.",
    kinds.CRASHED: "Look at the last thing the program does before it stops: print there.",
    kinds.NOTHING_PRINTED: "A function gives its result back, and its caller says whether it is "
    "right.",
}
TEST_PROGRAM = "the test program"
SEALED = """\
#ifdef __cplusplus
#include <cstdio>
#endif
#include <stdio.h>
#define printf(...) (fputs("{0}<", stdout), printf(__VA_ARGS__), fputs(">{0}", stdout))
"""
BLOCK = 512  # bytes: the unit of the shell's `ulimit -f`
KINDS = {  # AddressSanitizer's names
    "heap-use-after-free": kinds.USE_AFTER_FREE,
    "stack-use-after-return": kinds.USE_AFTER_FREE,
    "stack-use-after-scope": kinds.USE_AFTER_FREE,
    "attempting double-free": kinds.USE_AFTER_FREE,
    "stack-overflow": kinds.STACK_OVERFLOW,
    "FPE": kinds.UNDEFINED,
    "SEGV": kinds.CRASHED,
}


def verdict_of(exercise: HostExercise, source: str) -> Verdict:
    """Compile ``source``, run every case, compare what it prints."""
    if compiler(exercise.language) is None:
        name = "C++" if exercise.language == "cpp" else "C"
        message = f"this exercise needs a {name} compiler (gcc or clang); this machine has none."
        return simple(kinds.NO_COMPILER, message)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        name = f"{exercise.id}.{'cpp' if exercise.language == 'cpp' else 'c'}"
        seal = secrets.token_hex(16) if exercise.driver else ""
        built = _compile(exercise, source, folder, name, seal)
        if built.timed_out or built.status:
            return _compile_error(built, source, name)
        if copied := _included_answer(folder):
            return simple(kinds.COPIED, f"this cell includes the course's own {copied}.")
        for case in all_cases(exercise):
            verdict = _try_case(exercise, case, source, folder, name, seal)
            if verdict is not None:
                break
        else:
            message = f"{exercise.id} is right in every case tried."
            hint = f'solution("{exercise.id}") shows ours, with an explanation.'
            verdict = simple(kinds.PASS, message, hint=hint)
    if built.output.strip() and not verdict.excerpt:
        shown = f"the compiler warns:\n{clip(built.output, 12, 1500)}"
        verdict = replace(verdict, excerpt=shown)
    return verdict


def compiler(language: str) -> str | None:
    """The path of a compiler for "c" or "cpp"; CC and CXX choose it. None where there is none."""
    names = (os.environ.get(OVERRIDES[language], ""), *COMPILERS[language])
    return next((path for name in names if name and (path := shutil.which(name))), None)


@cache
def sanitizers(path: str) -> tuple[str, ...]:
    """The sanitizers' flags, where this compiler can build with them and the program runs."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "empty.c").write_text("int main(void) { return 0; }\n")
        command = [path, *SANITIZERS, "empty.c", "-o", "empty"]
        built = run_group(command, COMPILE_SECONDS, folder=folder)
        works = not built.status and not run_group(["./empty"], 10, folder=folder).status
    return SANITIZERS if works else ()


def _compile(exercise: HostExercise, source: str, folder: Path, name: str, seal: str) -> Ended:
    path = compiler(exercise.language)
    flags = (f"-std={exercise.standard}", "-g", "-O1", *WARNINGS, *sanitizers(path))
    environment = {"LC_ALL": "C", "TERM": "dumb"}
    files = [name]
    if exercise.driver:
        built = _compile_driver(exercise.driver, [path, *flags], folder, environment, seal)
        if built.timed_out or built.status:
            return built
        files.insert(0, "driver.o")
    (folder / name).write_text(source, encoding="utf-8")
    command = [path, *flags, "-MD", *files, "-o", "program", "-lm", "-pthread"]
    return run_group(command, COMPILE_SECONDS, folder=folder, environment=environment)


def _compile_driver(
    driver: str, command: list[str], folder: Path, environment: dict[str, str], seal: str
) -> Ended:
    """The course's main function, with ``seal`` around all that it prints. Nothing that a cell
    could include is left of it."""
    sealed, copied = folder / "sealed.h", folder / Path(driver).name
    sealed.write_text(SEALED.format(seal), encoding="utf-8")
    shutil.copy(KERNELS / driver, copied)
    flags = ("-include", sealed.name, "-c", copied.name, "-o", "driver.o")
    built = run_group([*command, *flags], COMPILE_SECONDS, folder=folder, environment=environment)
    sealed.unlink()
    copied.unlink()
    return built


def _included_answer(folder: Path) -> str:
    """The name of a file of the course's exercises that the compiler read; nothing without one."""
    for file in folder.glob("*.d"):  # what the compiler notes of the files that it opened
        words = re.split(r"(?<!\\)\s+", file.read_text(encoding="utf-8", errors="replace"))
        for word in words:  # as make reads them: a blank in a name has a backslash before it
            path = (folder / word.replace("\\ ", " ")).resolve()
            if path.is_relative_to(KERNELS) and path.parent.name == "exercises":
                return path.name
    return ""


def _try_case(
    exercise: HostExercise, case: str, source: str, folder: Path, name: str, seal: str
) -> Verdict | None:
    """What is wrong in this case; None when it is right."""
    # A stack without a limit would grow until memory is full, and no overflow be seen.
    stack = f'[ "$(ulimit -s)" != unlimited ] || ulimit -S -s {STACK_KB}'
    limits = f'ulimit -f {MOST_OUTPUT // BLOCK}; ulimit -c 0; {stack}; exec "$@"'
    command = ["sh", "-c", limits, "sh", "./program"]
    options = {"folder": folder, "given": case, "apart": True}
    ended = run_group(command, exercise.seconds, environment=ENVIRONMENT, **options)
    who = TEST_PROGRAM if exercise.driver else "the program"
    if "LeakSanitizer has encountered a fatal error" in ended.errors:  # not possible under ptrace
        quiet = {**ENVIRONMENT, "ASAN_OPTIONS": ENVIRONMENT["ASAN_OPTIONS"] + ":detect_leaks=0"}
        ended = run_group(command, exercise.seconds, environment=quiet, **options)
    answer, shown = _unsealed(ended.output, seal) if seal else (ended.output, ended.output)
    verdict = _fault(ended, source, name, exercise.seconds) or _compare(
        answer, exercise.reference(case), who
    )
    if verdict is None:
        return None
    message = verdict.message
    if case.strip():
        message += f"\n  (input {clip(case.strip(), 3, 120)!r})"
    return replace(verdict, message=message, printed=clip_printed(shown))


def _unsealed(output: str, seal: str) -> tuple[str, str]:
    """What stands between the seals, and the whole output without them."""
    answer = re.findall(f"{seal}<(.*?)>{seal}", output, re.DOTALL)
    return "".join(answer), re.sub(f"{seal}<|>{seal}", "", output)


def _compare(output: str, expected: str, who: str) -> Verdict | None:
    """``who`` prints the output: the student's program, or the course's that calls a function."""
    got, want = (
        [line.rstrip() for line in text.rstrip().splitlines()] for text in (output, expected)
    )
    if got == want:
        return None
    if not got:
        if who == TEST_PROGRAM:
            message = f"{who} came to no answer: does your function end it, as exit() does?"
            return simple(kinds.NOTHING_PRINTED, message, hint=HINTS[kinds.NOTHING_PRINTED])
        return simple(kinds.NOTHING_PRINTED, f"{who} printed nothing.")
    for number, line in enumerate(want, 1):
        shown = repr(got[number - 1][:200]) if number <= len(got) else "nothing"
        if number > len(got) or got[number - 1] != line:
            message = f"line {number} that {who} prints is {shown}, expected {line!r}."
            return simple(kinds.WRONG_OUTPUT, message)
    message = f"{who} prints {len(got)} lines, expected {len(want)}."
    return simple(kinds.WRONG_OUTPUT, message)


def _compile_error(built: Ended, source: str, name: str) -> Verdict:
    if built.timed_out:
        message = f"the compiler was still busy after {COMPILE_SECONDS:.0f} seconds."
        return simple(kinds.COMPILE_ERROR, message)
    missing = re.search(
        r"undefined reference to [`']([^`'(]+)|undefined symbol: (\w+)", built.output
    )
    if missing:
        wanted = missing[1] or missing[2]
        message = f"the linker finds no definition of {wanted}."
        return simple(kinds.WRONG_NAME, message)
    found = re.search(rf"{re.escape(name)}:(\d+):\d+: (?:fatal )?error: (.*)", built.output)
    if not found:
        message = "the compiler does not accept this cell."
        return simple(kinds.COMPILE_ERROR, message, excerpt=clip(built.output, 16, 2000))
    start = built.output.rfind("\n", 0, found.start()) + 1
    excerpt = clip(built.output[start:], 16, 2000)
    return simple(kinds.COMPILE_ERROR, f"line {found[1]}: {found[2]}", excerpt=excerpt)


def _fault(ended: Ended, source: str, name: str, seconds: float) -> Verdict | None:
    """What stopped the program, from the sanitizers' report or else from its status."""
    if ended.timed_out:
        message = f"the program was still running after {seconds:g} seconds."
        return simple(kinds.TIME_LIMIT, message)
    kind, message = _report(ended.errors) or _status(ended)
    if not kind:
        return None
    excerpt = source_excerpt(source, _own_lines(ended.errors, name))
    return simple(kind, message, hint=HINTS.get(kind, ""), excerpt=excerpt)


def _report(errors: str) -> tuple[str, str] | None:
    """The kind and a sentence from AddressSanitizer, LeakSanitizer or UBSan."""
    undefined = re.search(r":\d+:\d+: runtime error: (.+)", errors)
    if undefined:
        text = undefined[1]
        if "null pointer" in text:
            return kinds.NULL_POINTER, f"{text}."
        # Newer compilers see at the load itself that the object behind the address is too small.
        outside = "out of bounds" in text or "insufficient space" in text
        return (kinds.OUT_OF_BOUNDS if outside else kinds.UNDEFINED), f"{text}."
    if "detected memory leaks" in errors:
        lost = re.search(r"SUMMARY: AddressSanitizer: (\d+) byte", errors)
        return kinds.MEMORY_LEAK, f"{lost[1] if lost else 'some'} bytes are never freed."
    found = re.search(r"ERROR: AddressSanitizer: (attempting double-free|[\w-]+)", errors)
    if found is None:
        return None
    what = found[1]
    if what == "SEGV" and "zero page" in errors:
        return kinds.NULL_POINTER, "the program follows a NULL pointer."
    kind = KINDS.get(what, kinds.OUT_OF_BOUNDS if what.endswith("overflow") else kinds.CRASHED)
    access = re.search(r"^(READ|WRITE) of size (\d+)", errors, re.M)
    message = what.removeprefix("attempting ").replace("-", " ")
    if access:
        verb = "reads" if access[1] == "READ" else "writes"
        message += f": the program {verb} {access[2]} bytes there"
    place = re.search(r"is located (\d+ bytes \w+(?: \w+)?) (?:of )?(\d+)-byte region", errors)
    if place:
        message += f", {place[1]} a region of {place[2]} bytes"
    return kind, f"{message}."


def _status(ended: Ended) -> tuple[str, str]:
    if ended.status in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
        return kinds.CRASHED, f"the program printed more than {MOST_OUTPUT // 2**20} MB."
    if ended.status < 0:
        name = signal.Signals(-ended.status).name
        return kinds.CRASHED, f"the program was stopped by the signal {name}."
    if ended.status:
        return kinds.CRASHED, f"the program ended with status {ended.status}, not 0."
    return "", ""


def _own_lines(errors: str, name: str) -> list[int]:
    """The first line of the student's file in each stack of the report, at most two."""
    lines = []
    for stack in re.split(r"\n\s*\n", errors):
        found = re.search(rf"{re.escape(name)}:(\d+)", stack)
        if found and int(found[1]) not in lines:
            lines.append(int(found[1]))
    return lines[:2]
