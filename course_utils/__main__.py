"""``python -m course_utils COMMAND``: doctor, run, exercises, progress, bench, prove-blackwell."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module

# Each has add_parser(subparsers), which sets `func`: from the parsed arguments to an exit status.
COMMANDS = (
    "course_utils.environment",
    "course_utils.notebooks.run",
    "course_utils.exercises.cli",
    "course_utils.benchmarks.cli",
    "course_utils.benchmarks.prove_blackwell",
)


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = argparse.ArgumentParser(prog="python -m course_utils", description=__doc__)
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        import_module(name).add_parser(subparsers)
    args = parser.parse_args(arguments)
    return args.func(args) or 0


if __name__ == "__main__":
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read it, as `head` does, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 0
    sys.exit(status)
