"""Files that are whole or as they were: written in one step, and read with a clear error."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from .errors import LessonError


def write_whole(path: Path, text: str) -> None:
    """Write ``text`` as UTF-8, with its own line ends.

    If that fails or is interrupted, ``path`` stays as it was. Missing folders are made, and a file
    keeps its mode.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.resolve()  # a link stays one
    fresh = path.with_name(f"{path.name}.{token_hex(4)}")
    try:
        with open(fresh, "xb") as file:
            file.write(text.encode("utf-8", "surrogatepass"))
        with suppress(FileNotFoundError):
            fresh.chmod(path.stat().st_mode)
        os.replace(fresh, path)
    except BaseException:
        with suppress(OSError):
            fresh.unlink()
        raise


def write_changed(path: Path, text: str) -> bool:
    """Write ``text`` if ``path`` hasn't it already, and return whether it was written."""
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_whole(path, text)
    return True


def read_json(path: Path) -> Any:
    """The content of a JSON file of the course.

    Raises LessonError, with the command that restores the file, if it isn't JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise LessonError(
            f"{path} is damaged ({error}). `git checkout -- {path}` restores the course's own."
        ) from None
