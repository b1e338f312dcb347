"""``%%cuda`` and ``run_cuda``: a whole CUDA program, on a GPU or on the emulator.

On a GPU nvcc builds the program for it. Everywhere else nvcc compiles it, and its launches run on
the emulator under every check: the report of its mistakes follows its output.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..compiling.diagnostics import CompileError
from ..devices.selection import ON_GPU
from ..emulator import CannotBuild, build_program, describe_outcome, prepare_program
from ..errors import LessonError
from ..interrupts import interruptible
from ..paths import KERNELS
from ..process_groups import MEMORY, GroupLimits, run_group
from .building import PROGRAM
from .cell_options import given_options, into_of, kept_files, named, one_of, seconds_of, words_of
from .program_cells import CELL_LINE, MAIN, c_folder, print_beginning, show_output

GPU, EMULATOR = "gpu", "emulator"
CELL = "cell.cu"
LIMITS = GroupLimits(memory=6 * 2**30, processes=64, disk=2**27)  # of a program on the emulator
MOST_SECONDS = 600
COMPILE_SECONDS = 300.0
SOURCES = (".cu", ".cpp", ".cc", ".c")
INCLUDES = f"-I{KERNELS}", f"-I{KERNELS / 'common'}"
MAGIC = "%%cuda"
OPTIONS = {
    "args": "the program's arguments, as in a terminal",
    "stdin": "its input, with \\n at the end of each line",
    "into": "the Python variable that gets its output, which is then not shown",
    "file": "keep the cell under this name for later cells",
    "with": "kept files: sources are compiled with this cell, headers may be included",
    "flags": 'more options of nvcc, as in a terminal: flags="-O3 -DN=1000"',
    "seconds": "the time that it may take (60)",
    "on": "gpu or emulator: the GPU is chosen where there is one, with nvcc",
    "checks": "off: the emulator checks bounds alone, and is several times faster",
}


@dataclass(frozen=True)
class AskedProgram:
    """A program to run. ``files`` are its sources. ``folder`` is where it is built from and run."""

    files: tuple[str, ...]
    folder: Path
    args: tuple[str, ...] = ()
    stdin: str = ""
    into: str = ""
    flags: tuple[str, ...] = ()
    seconds: float = 60.0
    on: str = ""
    checks: bool = True
    in_a_cell: bool = False

    @property
    def name(self) -> str:
        """The program's name: its first source's."""
        return Path(self.files[0]).stem


def run_cuda(
    *files: str | Path,
    args: str | Sequence[object] = (),
    flags: str = "",
    seconds: float = 60.0,
    on: str = "",
    checks: bool = True,
) -> None:
    """Build and run a whole CUDA program, and print its output. On the emulator the report of
    its mistakes follows.

    ``files`` are its ``.cu`` and ``.cpp`` files, ``args`` its arguments, and ``flags`` more options
    of nvcc. ``seconds`` limits its run. ``on``: "gpu" or "emulator". If it isn't given, the program
    runs on the GPU where there is one, with nvcc. Without ``checks`` the emulator checks bounds
    alone. Raises CompileError for a program that doesn't compile, and LessonError for one that
    can't be built or run here.
    """
    if not files:
        raise LessonError("run_cuda needs a program's files: run_cuda('vector_add.cu')")
    for file in files:
        if not Path(file).is_file():
            raise LessonError(f"run_cuda: there is no file {file}.")
    if on not in ("", GPU, EMULATOR):
        raise LessonError(f'run_cuda: on={on!r}. Say "{GPU}" or "{EMULATOR}".')
    words = shlex.split(args) if isinstance(args, str) else [str(word) for word in args]
    asked = AskedProgram(
        files=tuple(str(Path(file).resolve()) for file in files),
        folder=Path.cwd(),
        args=tuple(words),
        flags=tuple(shlex.split(flags)),
        seconds=seconds,
        on=on,
        checks=checks,
    )
    _run(asked)


def run_cuda_cell(line: str, cell: str) -> None:
    """Build and run a cell as :func:`run_cuda` does a file. ``line`` holds its OPTIONS. Raises
    LessonError for a cell with no ``main``."""
    given = given_options(MAGIC, line, OPTIONS)
    name = named(MAGIC, "file", given.get("file", "")) or CELL
    source = "\n" * (CELL_LINE - 1) + cell
    beside = kept_files(MAGIC, given.get("with", ""), c_folder())
    if "file" in given:
        (c_folder() / name).write_text(source, encoding="utf-8")
    if Path(name).suffix not in SOURCES or ("file" in given and not MAIN.search(cell)):
        print(f"kept {name}")
        return
    asked = AskedProgram(
        files=(name, *(file for file in beside if file.endswith(SOURCES))),
        folder=Path(),
        args=words_of(MAGIC, "args", given),
        stdin=given.get("stdin", "").replace("\\n", "\n"),
        into=into_of(MAGIC, given),
        flags=words_of(MAGIC, "flags", given),
        seconds=seconds_of(MAGIC, given.get("seconds", "60"), MOST_SECONDS),
        on=one_of(MAGIC, "on", given, ("", GPU, EMULATOR)),
        checks=one_of(MAGIC, "checks", given, ("on", "off")) == "on",
    )
    if not MAIN.search(cell) and not beside:
        raise LessonError(
            f"A {MAGIC} cell is a whole program, and a program begins in main: int main() {{ … }}. "
            f"To keep kernels for later cells, name a file in the first line: {MAGIC} file=name.cu"
        )
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place)
        shutil.copytree(c_folder(), folder, dirs_exist_ok=True)
        (folder / name).write_text(source, encoding="utf-8")
        _run(replace(asked, folder=folder, in_a_cell=True), source)


def _run(asked: AskedProgram, source: str = "") -> None:
    on = asked.on or (GPU if ON_GPU and shutil.which("nvcc") else EMULATOR)
    with (
        interruptible("the program was ended, and what it had written is gone."),
        tempfile.TemporaryDirectory(prefix="cuda-", ignore_cleanup_errors=True) as place,
    ):
        run = _on_gpu if on == GPU else _on_emulator
        run(asked, source, Path(place))


def _on_emulator(asked: AskedProgram, source: str, build: Path) -> None:
    flags = [*INCLUDES, *asked.flags]
    try:
        built = build_program(asked.files, flags, build, beside=asked.folder)
    except CannotBuild as error:
        raise _refused(str(error), error.log, source) from None
    if built.warnings:
        print(f"{built.warnings}\n")
    call = prepare_program(built, build, asked.args, asked.name, asked.checks)
    ended = run_group(
        call.command,
        asked.seconds,
        folder=asked.folder,
        environment=call.environment,
        given=asked.stdin,
        apart=True,
        limits=LIMITS if asked.in_a_cell else None,
    )
    show_output(ended.output, asked.into)
    print_beginning(ended.errors)
    if ended.timed_out:
        print(
            f"The program was stopped after {asked.seconds:g} seconds. Give it a smaller size, or "
            "more time with seconds=…. checks=off makes it several times faster."
        )
        return
    if ended.exceeded:
        what = "6 GB of memory" if ended.exceeded == MEMORY else f"its share of {ended.exceeded}"
        print(f"The program was stopped: it took more than {what}.")
        return
    print(describe_outcome(call.outcome(ended.status)))


def _on_gpu(asked: AskedProgram, source: str, build: Path) -> None:
    if not ON_GPU or not (nvcc := shutil.which("nvcc")):
        lacked = "nvcc" if ON_GPU else "GPU"
        raise LessonError(f"on=gpu: there is no {lacked} here. Leave it out.")
    program = build / PROGRAM
    command = [nvcc, "-O2", "-arch=native", "-lineinfo", *INCLUDES, *asked.flags, *asked.files]
    made = run_group([*command, "-o", str(program)], COMPILE_SECONDS, folder=asked.folder)
    if made.status or not os.access(program, os.X_OK):
        raise _refused("nvcc can't compile this program.", made.output, source)
    if made.output.strip():
        print(f"{made.output.strip()}\n")
    ended = run_group(
        [str(program), *asked.args],
        asked.seconds,
        folder=asked.folder,
        given=asked.stdin,
        apart=True,
    )
    show_output(ended.output, asked.into)
    print_beginning(ended.errors)
    if ended.timed_out:
        print(f"The program was stopped after {asked.seconds:g} seconds.")
    elif ended.status < 0:
        print(f"The program was ended by {signal.Signals(-ended.status).name}.")
    elif ended.status:
        print(f"The program ended with status {ended.status}.")


def _refused(message: str, log: str, source: str) -> LessonError:
    """The error for a program that isn't built: the compiler's, where there is a log."""
    return CompileError(log, source, whole=True) if log else LessonError(message)
