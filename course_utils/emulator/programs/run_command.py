"""``run PROGRAM.cu … -- ARGUMENTS``: build a whole program and run it without a GPU, checked."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .program_building import ARCH, CannotBuild, build_program
from .program_outcome import run_program
from .program_report import describe_outcome

EXAMPLE = """\
example:
  run vector_add.cu -O2 -DN=1000 -Iinclude -- 1000 7

Every option that isn't named above goes to nvcc. Arguments after -- go to the program.
The report goes to the standard error output. The exit status is the program's own. It's 1 if the
program returned 0 and there are findings, and 2 if the program can't be built.
"""
SOURCES = (".cu", ".cpp", ".cc", ".cxx", ".c")


def parser() -> argparse.ArgumentParser:
    """The command's own options."""
    made = argparse.ArgumentParser(
        prog="run",
        usage="run FILE.cu [FILE …] [option of nvcc …] [-- argument …]",
        description="Build a whole CUDA program, and run it without a GPU under every check.",
        epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("--arch", default=ARCH, help=f"the virtual GPU, without sm_ ({ARCH})")
    made.add_argument(
        "--bounds-only", action="store_true", help="no other checks: several times faster"
    )
    made.add_argument(
        "--patience", type=float, metavar="SECONDS", help="end a launch that takes longer"
    )
    return made


def main(words: Sequence[str]) -> int:
    """Build and run the program that the command line names. Returns the exit status."""
    words = list(words)
    at = words.index("--") if "--" in words else len(words)
    asked, rest = parser().parse_known_args(words[:at])
    sources = [word for word in rest if word.endswith(SOURCES) and not word.startswith("-")]
    if not sources:
        print("Name the program's .cu files: run FILE.cu -- ARGUMENTS", file=sys.stderr)
        return 2
    options = [word for word in rest if word not in sources]
    with tempfile.TemporaryDirectory(prefix="cuda_program_") as place:
        folder = Path(place)
        try:
            built = build_program(sources, options, folder, asked.arch)
        except CannotBuild as error:
            print(*filter(None, (error.log, error)), sep="\n", file=sys.stderr)
            return 2
        if built.warnings:
            print(built.warnings, file=sys.stderr)
        outcome = run_program(
            built,
            folder,
            words[at + 1 :],
            name=Path(sources[0]).stem,
            checks=not asked.bounds_only,
            patience=asked.patience,
        )
    print(describe_outcome(outcome), file=sys.stderr, flush=True)
    status = outcome.status if outcome.status >= 0 else 128 - outcome.status
    return status or (1 if outcome.findings else 0)
