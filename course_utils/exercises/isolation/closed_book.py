"""Keeps a student's Python code away from the course's own answers while it runs.

The process has the specs and their references in memory, and the solutions are on disk. This is no
security boundary. It stops an answer that simply calls the reference.
"""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

from ...paths import ROOT

FOLDER = "exercises"  # of specs, of solutions and of the checker itself
COURSE = __package__.partition(".")[0]
CLOSED_FOLDERS = FOLDER, ".git"  # in whichever copy of the course
INTROSPECTION = ("gc.get_objects", "gc.get_referrers", "sys._current_frames")
# Another program would not be stopped, and a second name hides whose file it is.
BYPASSES = ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.link")
JOB_FILES = ("job.json", "answer.json", "answer.new")
OWN_ANSWERS = "the course's own answers are closed while yours is tried"
_closed = False
_refused: list[str] = []


class BookClosed(PermissionError):
    """A student's code looked for the course's answer."""


@contextmanager
def closed_book() -> Iterator[None]:
    """Within it, nothing of the exercises can be imported or opened by code of this process."""
    global _closed
    _listen()
    _refused.clear()
    package = sys.modules[COURSE]
    unread = _without_lines()
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_ours(name)}
    attribute = vars(package).pop(FOLDER, None)
    _closed = True
    try:
        yield
    finally:
        _closed = False
        for file in unread:
            linecache.cache.pop(file, None)
        sys.modules.update(hidden)
        if attribute is not None:
            setattr(package, FOLDER, attribute)


def run_in_clean_frame(function: Callable[..., Any], *arguments: Any) -> Any:
    """``function(*arguments)``, in a thread: no frame below it belongs to the checker, whose
    variables hold the spec and the expected values."""
    found: list[tuple[Any, BaseException | None]] = []

    def run() -> None:
        try:
            found.append((function(*arguments), None))
        except BaseException as error:
            found.append((None, error))

    thread = Thread(target=run)
    thread.start()
    thread.join()
    value, error = found[0]
    if error is not None:
        raise error
    return value


def _without_lines() -> list[str]:
    """Let the closed files of this process have no lines for a traceback or a warning. Python looks
    them up for each frame below the answer, and an honest one that shows its stack isn't to blame.
    """
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    closed = [file for file in files if file and FOLDER in file and _is_closed(Path(file))]
    for file in closed:
        linecache.cache[file] = 0, None, [], file  # without a time: it isn't read again
    return closed


def _is_closed(path: Path) -> bool:
    """Whether the file is the checker's, or has the course's answers."""
    return path.suffix == ".ipynb" or not set(CLOSED_FOLDERS).isdisjoint(path.parent.parts)


def _is_ours(module: str) -> bool:
    return f"{module}.".startswith((f"{COURSE}.{FOLDER}.", "exercises_of_"))


@cache
def _listen() -> None:
    """Listen to every opening of a file, until the process ends."""
    sys.addaudithook(_hook)


def refused() -> str:
    """The access that the code was refused while the book was last closed, even if it hid that."""
    return _refused[0] if _refused else ""


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if not _closed:
        return
    if event in INTROSPECTION:
        _refuse("the checker's own variables are closed while your answer is tried")
    if event in BYPASSES:
        _refuse("your answer may start no other program and make no links")
    if event == "open" and isinstance(arguments[0], (str, bytes, os.PathLike)):
        path = Path(os.path.realpath(os.fsdecode(arguments[0])))
        if _is_closed(path) or path.name in JOB_FILES or path.is_relative_to(ROOT / "tests"):
            _refuse(OWN_ANSWERS)


def _refuse(why: str) -> None:
    _refused.append(why)
    raise BookClosed(why)
