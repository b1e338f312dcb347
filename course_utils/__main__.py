"""``python -m course_utils COMMAND``: the commands of the Makefile, and some more for authors."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

from .errors import LessonError

# A command, its description, and its module. That has add_parser(subparsers), which sets `func`:
# from the parsed arguments to an exit status. It is imported for its own commands alone, so a fault
# in a module of another one doesn't stop it.
COMMANDS = {
    "doctor": ("what this machine has and what it can run", "environment"),
    "run": ("execute the notebooks in order, with a verdict and a time for each", "notebooks.run"),
    "exercises": ("list, prove or write the exercises", "exercises.exercises_command"),
    "progress": ("what is done, and what comes next", "exercises.student.class_commands"),
    "portfolio": (
        "a page of your solved exercises, to keep and to show",
        "exercises.student.class_commands",
    ),
    "grade": ("judge students' notebooks", "exercises.student.class_commands"),
    "variants": (
        "give this copy of the course a class's own numbers",
        "exercises.student.class_commands",
    ),
    "exam": (
        "print the quiz questions as an exam bank for Moodle (GIFT)",
        "exercises.student.class_commands",
    ),
    "slides": ("print a chapter's slides as one HTML page", "exercises.student.class_commands"),
    "outcomes": (
        "print each notebook's outcomes beside its exercises",
        "exercises.student.class_commands",
    ),
    "bench": ("measure the emulator, or the kernels on a GPU", "benchmarks.bench_command"),
    "prove-blackwell": (
        "run and time the kernels for sm_100a on a B200",
        "benchmarks.tools.prove_blackwell",
    ),
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status.

    A LessonError is printed without a traceback, and its status is 1. After Ctrl-C it is 130.
    """
    words = sys.argv[1:] if arguments is None else arguments
    parser = argparse.ArgumentParser(prog="python -m course_utils", description=__doc__)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    try:
        if words and words[0] in COMMANDS:
            what, module = COMMANDS[words[0]]
            import_module(f".{module}", __package__).add_parser(subparsers)
            subparsers.choices[words[0]].description = f"{what[0].upper()}{what[1:]}."
        else:  # help, or a mistake, which argparse names
            for name, (what, _) in COMMANDS.items():
                subparsers.add_parser(name, help=what)
        args = parser.parse_args(words, argparse.Namespace(words=words))
        return args.func(args) or 0
    except LessonError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt as stopped:
        print("\n" + ": ".join(filter(None, ("Interrupted", str(stopped)))), file=sys.stderr)
        return 130


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # its reader, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)
