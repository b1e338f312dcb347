"""Judges a student's C or C++: built and run by `host_programs`, its output compared.

A random seal encloses everything that the course's own `main` prints. Output of the student's
function is outside the seal: it's shown, but not judged. If the cell has its own `main`, for the
student, it's renamed and never runs.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from ...checking.excerpts import clip
from ...checking.rows import Rows, labelled_rows
from ...checking.verdict import Verdict
from ...compiling.host_compilers import HostCompiler, host_compiler
from ...host_programs.building import build, compile_error, failed, warnings
from ...host_programs.faults import fault_of
from ...host_programs.running import run_program
from ...paths import KERNELS, is_solution
from ...process_groups import MOST_READ, Ended
from ..authoring import kinds
from ..authoring.spec import HostExercise
from .outcome import clip_printed, copied, right, simple
from .trials import all_cases

TEST_PROGRAM, OWN_PROGRAM = "the test program", "the program"
BEFORE, PROBE = "before_the_cell.h", "test_of_the_cell.h"
FINDS = "the test program finds: "  # begins what a probe prints, which calls the cell by itself
FROM_A_FUNCTION = (
    "The test program calls your code and compares the result: work that case out by hand."
)
HARNESS = re.compile(rf"(?:{re.escape(BEFORE)}|{re.escape(PROBE)}):\d+:\d+")
ANONYMOUS = re.compile(r"\{anonymous\}::|\(anonymous namespace\)::")
AFTER_RIGHT_LINES = "The lines before it are right. Start with the call that this line names."
BY_HAND = "Work it by hand:"
MOST_LINES = 6  # of an input that is shown
MOST_ALIKE = 4  # lines in a row that differ in their numbers alone
WIDEST = 100  # characters of a line that is shown below another
NUMBERS = re.compile(r"\d+")
SEALED = """\
#ifdef __cplusplus
#include <cstdio>
#endif
#include <stdio.h>
#define printf(...) (fputs("{0}<", stdout), printf(__VA_ARGS__), fputs(">{0}", stdout))
"""


def verdict_of(exercise: HostExercise, source: str) -> Verdict:
    """Compile ``source``, run every case, compare what it prints."""
    compiler = host_compiler(exercise.language)
    if compiler is None:
        name = "C++" if exercise.language == "cpp" else "C"
        message = f"this exercise needs a {name} compiler (gcc or clang); this machine has none."
        return simple(kinds.NO_COMPILER, message)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        name = f"{exercise.id}.{'cpp' if exercise.language == 'cpp' else 'c'}"
        seal = secrets.token_hex(16) if exercise.driver else ""
        built = _compile(exercise, compiler, source, folder, name, seal)
        if failed(built):
            return _not_built(built, name)
        if file := _included_answer(folder):
            return copied(file)
        for case in all_cases(exercise):
            verdict = _try_case(exercise, case, source, folder, name, seal)
            if verdict is not None:
                break
        else:
            verdict = right(exercise.id, "in every case")
    told = warnings(built)
    return replace(verdict, excerpt="\n\n".join(filter(None, (verdict.excerpt, told))))


def _compile(
    exercise: HostExercise,
    compiler: HostCompiler,
    source: str,
    folder: Path,
    name: str,
    seal: str,
) -> Ended:
    files = [name]
    if exercise.driver:
        built = _compile_driver(exercise, compiler, folder, seal)
        if failed(built):
            return built
        files.append(f"{Path(exercise.driver).stem}.o")
    (folder / BEFORE).write_text(exercise.before, encoding="utf-8")
    finds = f'#define FINDS "{FINDS}"\n'
    (folder / PROBE).write_text(f"{finds}{exercise.probe}", encoding="utf-8")
    flags = ["-MD", *exercise.flags]
    if exercise.probe:
        source = f'{source}\n#include "{PROBE}"\n'
        flags += ["-Dmain=main_of_the_cell", "-include", BEFORE]
    (folder / name).write_text(source, encoding="utf-8")
    return build(compiler, files, folder, exercise.standard, flags)


def _not_built(built: Ended, name: str) -> Verdict:
    """Why there is no program: by the cell's first error, or by what the probe does not find."""
    shown = HARNESS.sub(TEST_PROGRAM, ANONYMOUS.sub("", built.output))
    verdict = compile_error(replace(built, output=shown), [name])
    in_probe = re.search(rf"{PROBE}:\d+:\d+: (?:fatal )?error: (?P<text>[^\[\n]*)", built.output)
    if in_probe is None or re.search(rf"^{re.escape(name)}:\d+:\d+: error", built.output, re.M):
        return verdict
    text = ANONYMOUS.sub("", in_probe["text"]).strip()
    message = f"{TEST_PROGRAM} can't use what this cell defines: {text}."
    hint = "Leave the names, the parameters and the types as the starter has them."
    return simple(kinds.WRONG_NAME, message, hint=hint)


def _compile_driver(
    exercise: HostExercise, compiler: HostCompiler, folder: Path, seal: str
) -> Ended:
    """The course's main function, with ``seal`` around all that it prints. Nothing that a cell
    could include is left of it."""
    sealed, driver = folder / "sealed.h", folder / Path(exercise.driver).name
    sealed.write_text(SEALED.format(seal), encoding="utf-8")
    shutil.copy(KERNELS / exercise.driver, driver)
    flags = ["-D_GNU_SOURCE", "-include", sealed.name]  # a driver may ask the system for anything
    built = build(compiler, [driver.name], folder, exercise.standard, flags, link=False)
    sealed.unlink()
    driver.unlink()
    return built


def _included_answer(folder: Path) -> str:
    """The name of a file of the course's exercises that the compiler read; nothing without one."""
    for file in folder.glob("*.d"):  # what the compiler notes of the files that it opened
        words = re.split(r"(?<!\\)\s+", file.read_text(encoding="utf-8", errors="replace"))
        for word in words:  # as make reads them: a blank in a name has a backslash before it
            path = (folder / word.replace("\\ ", " ")).resolve()
            if is_solution(path):
                return path.name
    return ""


def _try_case(
    exercise: HostExercise, case: str, source: str, folder: Path, name: str, seal: str
) -> Verdict | None:
    """What is wrong in this case; None when it is right."""
    ended = run_program(folder, exercise.seconds, given=case)
    answer, shown = _unsealed(ended.output, seal) if seal else (ended.output, ended.output)
    found = re.findall(rf"^{FINDS}(.*)$", answer, re.M)  # by a probe, before or after main
    answer, shown = (re.sub(rf"^{FINDS}.*\n?", "", x, flags=re.M) for x in (answer, shown))
    beside: dict[str, str] = {}
    if fault := fault_of(ended, [name], exercise.seconds):
        verdict: Verdict | None = fault.verdict({name: source})
    elif len(ended.output.encode()) >= MOST_READ:  # the rest of it is lost, with the answer
        message = f"your code printed more than {MOST_READ // 1000} kB. The rest was cut off."
        verdict = simple(kinds.RESOURCE_LIMIT, message, hint="Print less, or nothing at all.")
    else:
        want = exercise.reference(case)
        verdict = _compare(answer, want, by_driver=bool(exercise.driver))
        beside = _beside(answer, want, by_driver=bool(exercise.driver))
    if verdict is None and found:  # nothing of it comes from the case
        message = f"{FINDS}{found[0]}."
        return simple(kinds.WRONG_OUTPUT, message, hint=FROM_A_FUNCTION)
    if verdict is None:
        return None
    if shown.strip() != beside.get("got"):
        verdict = replace(verdict, printed=clip_printed(_once(shown)))
    if exercise.shows and (values := exercise.shows(case)):
        return replace(verdict, case=labelled_rows(BY_HAND, values))
    given = case.strip().splitlines()
    if given and beside:
        return replace(verdict, case=Rows(BY_HAND, _rows(given, beside)))
    if len(given) > 1:
        return replace(verdict, case=Rows("It was given this input:", _shortened(given)))
    message = verdict.message
    if given:
        message += f"\n  (input {clip(given[0], 1, 120)!r})"
    elif any(other.strip() for other in exercise.cases):
        message += "\n  (input: none at all)"
    return replace(verdict, message=message)


def _once(text: str) -> str:
    """``text`` with one line instead of several in a row that differ in their numbers alone."""
    kept: list[str] = []
    for _, group in groupby(text.splitlines(), key=lambda line: NUMBERS.sub("0", line)):
        lines = list(group)
        if len(lines) > MOST_ALIKE:
            lines = [*lines[:2], f"... and {len(lines) - 2} more lines like these"]
        kept += lines
    return "\n".join(kept)


def _beside(output: str, expected: str, by_driver: bool) -> dict[str, str]:
    """The first line that differs, as it's expected and as it is, to be read one below the other.
    Nothing where the test program has compared by itself, or where a line is missing."""
    for want, got in zip(_lines(expected), _lines(output), strict=False):
        if want != got:
            is_told = by_driver and ", expected " in got
            return {} if is_told else {"expected": want[:WIDEST], "got": got[:WIDEST]}
    return {}


def _rows(given: list[str], beside: Mapping[str, str]) -> tuple[str, ...]:
    """The lines of an input, and the lines of ``beside`` below."""
    first, *others = _shortened(given)
    rows = [("input", first), *(("", line) for line in others), *beside.items()]
    return tuple(f"{label:8}  {text}".rstrip() for label, text in rows)


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _shortened(lines: list[str]) -> tuple[str, ...]:
    """The first lines of an input."""
    return tuple(clip("\n".join(lines), MOST_LINES, 600, 120).splitlines())


def _unsealed(output: str, seal: str) -> tuple[str, str]:
    """The output between the seals, and all of it without them."""
    answer = re.findall(f"{seal}<(.*?)>{seal}", output, re.DOTALL)
    return "".join(answer), re.sub(f"{seal}<|>{seal}", "", output)


def _compare(output: str, expected: str, by_driver: bool) -> Verdict | None:
    """The student's program has printed the output, or ``by_driver`` the course's, which calls the
    student's function."""
    program = TEST_PROGRAM if by_driver else OWN_PROGRAM
    got, want = _lines(output), _lines(expected)
    if got == want:
        return None
    if not got:
        if by_driver:
            message = f"{program} ended without an answer: does your function call exit()?"
            hint = "Return the result. The caller decides whether it's right."
            return simple(kinds.NOTHING_PRINTED, message, hint=hint)
        return simple(kinds.NOTHING_PRINTED, f"{program} printed nothing.")
    for number, line in enumerate(want, 1):
        shown = repr(got[number - 1][:200]) if number <= len(got) else "nothing"
        if number > len(got) or got[number - 1] != line:
            message = f"line {number} that {program} prints is {shown}, expected {line[:200]!r}."
            if by_driver and ", expected " in shown:  # it has compared by itself
                message = f"{program} finds: {got[number - 1][:200]}."
            break
    else:
        further = repr(got[len(want)][:200])
        if by_driver:  # it has compared by itself
            message = f"the result is right, and then {program} finds: {got[len(want)][:200]}."
            return simple(kinds.WRONG_OUTPUT, message, hint=AFTER_RIGHT_LINES)
        message = f"line {len(want) + 1} that {program} prints is {further}, expected no such line."
    hint = FROM_A_FUNCTION if by_driver else ""
    return simple(kinds.WRONG_OUTPUT, message, hint=hint)
