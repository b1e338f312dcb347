"""`python -m course_utils run`: execute the notebooks in order, say how each fared.

With `--update` the executed notebooks are written back, normalised and stamped, and the
outputs of their `%%needs` cells on a GPU are stored. They run without the answers in `.progress`.
`--check`, `--format` and `--outputs` start no kernel.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from ..errors import LessonError
from ..paths import CHAPTERS, README, ROOT, shown
from ..whole_files import write_whole

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_SECONDS = 120.0
WAITING = "tests/notebooks/waiting_for_gpu.txt"  # notebooks with cells to measure on a GPU

# Run in its own process, so that it picks the device asked for.
DESCRIBE = """
import json
from course_utils import device
from course_utils.devices.properties import own_gpu
kind = device()
name = own_gpu() or "emulator"
if kind == "cuda":
    import cupy
    version = cupy.cuda.nvrtc.getVersion()
else:
    from cuda.bindings import nvrtc
    version = nvrtc.nvrtcVersion()[1:]
print(json.dumps({"kind": kind, "name": name, "cuda": ".".join(map(str, version[:2]))}))
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand `run`. `args.func(args)` returns the exit status."""
    parser = subparsers.add_parser("run")
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="NAME",
        help="notebooks or chapters: 04_first_kernels/01_hello_threads, 04, a path (default: all)",
    )
    parser.add_argument("--device", choices=("emulator", "cuda"), help="default: the machine's")
    parser.add_argument(
        "--timeout",
        type=float,
        default=CELL_SECONDS,
        metavar="S",
        help=f"seconds that one cell may take (default {CELL_SECONDS:g})",
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--update", action="store_true", help="write the outputs back and stamp them")
    what.add_argument("--check", action="store_true", help="list broken house rules, run nothing")
    what.add_argument("--format", action="store_true", help="write canonical form, run nothing")
    what.add_argument(
        "--outputs",
        action="store_true",
        help="store what %%%%needs cells gave on the GPU machine, for others; run nothing",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="with --update: renew every output, not only those of cells that changed",
    )
    parser.set_defaults(func=main)


def main(args: argparse.Namespace) -> int:
    """Run as ``args`` say. Returns 0 if all is well, 1 if a cell failed, 2 for a wrong request."""
    from .cells import asked_for

    try:
        paths = asked_for(args.paths)
    except (FileNotFoundError, LessonError) as error:
        print(error, file=sys.stderr)
        return 2
    if not paths:
        print("no notebooks in chapters/ yet")
        return 0
    if args.check:
        return check(paths)
    if args.format:
        return rewrite(paths, readme=not args.paths)
    if args.outputs:
        return store(paths)
    return run(paths, args)


def check(paths: list[Path]) -> int:
    """Print every violation of the notebooks at ``paths``."""
    from .cells import Violation
    from .rules import violations

    wrong = 0
    for path in paths:
        try:
            found: list[Violation | LessonError] = [*violations(path)]
        except LessonError as error:
            found = [error]
        wrong += bool(found)
        print(f"{'FAIL' if found else 'PASS'}  {shown(path)}")
        for violation in found:
            print(f"      {violation}")
    print(f"{len(paths) - wrong} of {len(paths)} notebooks keep the house rules")
    return 1 if wrong else 0


def rewrite(paths: list[Path], readme: bool = False) -> int:
    """Put the notebooks at ``paths`` into canonical form, outputs and stamp kept, and write their
    times, needs and next links, and their cells for Colab and Kaggle. With ``readme`` also draw the
    counts, paths and map there."""
    from . import course_map, front_page
    from .canonical import canonical, dumps, read_file
    from .drawn_cells import as_listed
    from .hosted_cells import with_hosted_cells

    unread = 0
    for path in paths:
        try:
            nb = as_listed(read_file(path), path.resolve())
            new = dumps(canonical(with_hosted_cells(nb, path)))
        except LessonError as error:
            print(error, file=sys.stderr)
            unread += 1
            continue
        if new != path.read_text(encoding="utf-8"):
            write_whole(path, new)
            print(f"formatted {shown(path)}")
    if readme and not unread and front_page.draw():
        print(f"drew {shown(README)}'s counts, paths and map")
    if readme and not unread and course_map.draw():
        print(f"drew {shown(course_map.FILE)}")
    return 1 if unread else 0


def store(paths: list[Path]) -> int:
    """Store the outputs of the notebooks at ``paths`` for machines that skip their cells.

    Notebooks whose outputs are stale or the emulator's keep the stored ones that they have.
    """
    from . import output_store
    from .canonical import read_file

    for path in paths:
        if not output_store.can_be_stored(read_file(path)):
            print(f"left as it is: {shown(path)}, whose outputs are stale or the emulator's")
        elif output_store.write(path):
            print(f"stored the outputs of {shown(path)}")
    return 0


def run(paths: list[Path], args: argparse.Namespace) -> int:
    """Execute the notebooks at ``paths`` one after the other.

    One for whose kernels the GPU is too old runs as a whole on the emulator.
    """
    from ..devices.selection import EMULATOR
    from ..launching.older_gpus import GpuTooOld
    from .canonical import read_file
    from .cells import numbered
    from .execute import execute, kernel_environment
    from .progress_bars import progress_bar

    env = kernel_environment(args.device)
    machine = None
    if args.update:
        machine = describe(env)
        if machine is None:
            return 2

    books, unread = [], {}
    for path in paths:
        try:
            books.append((path, read_file(path)))
        except LessonError as error:
            unread[path] = str(error)
    cells = sum(len(list(numbered(nb, "code"))) for _, nb in books)
    failed, skipped = len(unread), 0
    seconds = 0.0
    with progress_bar(cells) as report:
        for path, why in unread.items():
            report.verdict("FAIL", shown(path))
            report.detail(why)
        for index, (path, nb) in enumerate(books, 1):
            name = shown(path)
            report.start(f"[{index}/{len(books)}] {name}")
            with TemporaryDirectory(prefix="course-") as no_answers:
                if machine:  # an answer of this folder's own would get into stored outputs
                    env["COURSE_PROGRESS"] = no_answers
                outcome = execute(nb, path.parent, env, args.timeout, lambda _: report.advance())
            note = ""
            if outcome.failure and GpuTooOld.__name__ in outcome.failure.error and not machine:
                nb = read_file(path)
                outcome = execute(nb, path.parent, kernel_environment(EMULATOR), args.timeout)
                note = "  (on the emulator: the GPU is too old)"
            verdict = "FAIL" if outcome.failure else "PASS"
            if machine and not outcome.failure:
                try:
                    waiting = write_back(path, nb, machine, args.all)
                except LessonError as error:
                    waiting, verdict = [], "FAIL"
                    failed += 1
                    report.detail(str(error))
                if waiting:
                    note += f"  (cells {waiting} wait for a GPU: list it in {WAITING})"
            note += f"  ({outcome.skipped} SKIPPED)" if outcome.skipped else ""
            report.verdict(verdict, f"{outcome.seconds:6.1f} s  {name}{note}")
            if outcome.failure:
                report.detail(str(outcome.failure))
            failed += outcome.failure is not None
            skipped += outcome.skipped
            seconds += outcome.seconds
    left_out = f", {skipped} SKIPPED cells" if skipped else ""
    print(f"{len(paths) - failed} PASS, {failed} FAIL{left_out} in {seconds:.1f} s")
    return 1 if failed else 0


def describe(env: dict[str, str]) -> dict[str, str] | None:
    """The kind, name and CUDA version of the device that a kernel would use, None if it fails."""
    done = subprocess.run(
        [sys.executable, "-c", DESCRIBE], env=env, capture_output=True, text=True, check=False
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        print(f"the device does not work: {last[0]}", file=sys.stderr)
        print("`python -m course_utils doctor` says what is missing", file=sys.stderr)
        return None
    machine: dict[str, str] = json.loads(done.stdout.strip().splitlines()[-1])
    return machine


def write_back(
    path: Path, nb: NotebookNode, machine: dict[str, str], renew: bool = False
) -> list[int]:
    """Write the executed ``nb`` to ``path``: canonical, free of this machine, each cell stamped;
    and what its ``%%needs`` cells gave, if it is one of the course's and the machine has a GPU.

    A cell whose code is as it was keeps a GPU's outputs, unless they are to ``renew``, and one in
    which only the date would change keeps that. Returns the positions of cells that wait for a GPU;
    WAITING is to list their notebook. Raises LessonError where the notebook was edited meanwhile.
    """
    from . import output_store
    from .canonical import canonical, dumps, map_text, read
    from .stamp import keep_current, stamp

    text = path.read_text(encoding="utf-8")
    old = canonical(read(text))
    map_text(nb, without_machine)
    nb = canonical(nb)
    if [cell.source for cell in old.cells] != [cell.source for cell in nb.cells]:
        raise LessonError(f"{shown(path)} was edited while it ran: run it again.")
    stamp(nb, machine["name"], machine["cuda"])
    waiting = keep_current(nb, old, machine["name"], renew)
    nb = canonical(nb)
    if dumps(nb) != text:
        write_whole(path, dumps(nb))
    if machine["kind"] == "cuda" and path.is_relative_to(CHAPTERS):
        output_store.write(path)
    return waiting


def without_machine(text: str) -> str:
    """``text`` with the paths of this machine made relative: repository, venv, home folder."""
    home = os.path.expanduser("~").rstrip("/")
    venv = sys.prefix if sys.prefix != sys.base_prefix else ""
    for folder, name in ((venv, "<venv>"), (f"{ROOT}/", ""), (str(ROOT), "."), (home, "~")):
        if folder:
            end = "" if folder.endswith("/") else r"(?![\w.-])"
            text = re.sub(rf"(?<![\w.~-]){re.escape(folder)}{end}", name, text)
    return text
