"""The first line of a cell that is a program: options written as ``name=value``."""

from __future__ import annotations

import builtins
import keyword
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from ..errors import LessonError

NAME = re.compile(r"\w[\w.+-]*\.(?:c|cpp|cc|h|hpp|cuh|cu|txt)")


def given_options(magic: str, line: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options that the line gives, by name. ``options``: all that there are, with the meaning
    of each. Raises LessonError for any other, and for one without a value or given twice."""
    try:
        words = shlex.split(line)
    except ValueError:
        raise LessonError(f"{magic} {line}: a quotation mark is missing.") from None
    given: dict[str, str] = {}
    for word in words:
        option, equals, value = word.partition("=")
        if option in options and not value and option != "stdin":
            raise LessonError(
                f"{magic} {line}: there is no value after {option}. Write {option}=… with no "
                "blank on either side of the =."
            )
        if option in given:
            raise LessonError(f"{magic} {line}: {option} is given twice.")
        if option not in options or not equals:
            known = "\n".join(f"  {name}=…  {what}" for name, what in options.items())
            raise LessonError(f"{magic} {word}: no such option. There are:\n{known}")
        given[option] = value
    return given


def words_of(magic: str, option: str, given: Mapping[str, str]) -> tuple[str, ...]:
    """The words of an option's value, as a terminal would split it. Raises LessonError."""
    try:
        return tuple(shlex.split(given.get(option, "")))
    except ValueError:
        message = f"{magic} {option}={given[option]!r}: a quotation mark is missing in it."
        raise LessonError(message) from None


def one_of(magic: str, option: str, given: Mapping[str, str], values: tuple[str, ...]) -> str:
    """An option's value, which is one of ``values``: the first if it isn't given. Raises
    LessonError for any other."""
    value = given.get(option, values[0])
    if value not in values:
        listed = " or ".join(filter(None, values))
        raise LessonError(f"{magic} {option}={value}: say {listed}.")
    return value


def into_of(magic: str, given: Mapping[str, str]) -> str:
    """The Python variable that ``into=`` names, or "". Raises LessonError for no such name."""
    if into := given.get("into", ""):
        if not into.isidentifier() or keyword.iskeyword(into):
            raise LessonError(f"{magic} into={into}: that is no name for a variable.")
        if hasattr(builtins, into):
            raise LessonError(f"{magic} into={into}: that would hide Python's own {into}.")
    return into


def seconds_of(magic: str, text: str, most: int = 60) -> float:
    """A number of seconds, up to ``most``. Raises LessonError for anything else."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= most:
        raise LessonError(f"{magic} seconds={text}: say a number from 0 to {most}.")
    return seconds


def listed(text: str) -> list[str]:
    """The names in a list with commas."""
    return [name for name in text.split(",") if name]


def plain(magic: str, option: str, name: str) -> str:
    """A file's name alone. Raises LessonError for a path."""
    if "/" in name or name in (".", ".."):
        raise LessonError(f"{magic} {option}={name}: give a file's name alone, with no folder.")
    return name


def named(magic: str, option: str, name: str) -> str:
    """The name of a source file, or "". Raises LessonError for any other file."""
    if name and not NAME.fullmatch(plain(magic, option, name)):
        raise LessonError(f"{magic} {option}={name}: give a name such as sum.c, sum.cpp or sum.h.")
    return name


def kept_files(magic: str, text: str, folder: Path) -> tuple[str, ...]:
    """The files that ``with=`` lists, which are in ``folder``. Raises LessonError if one isn't."""
    names = listed(text)
    for name in names:
        if not (folder / plain(magic, "with", name)).is_file():
            kept = ", ".join(sorted(file.name for file in folder.iterdir())) or "nothing"
            raise LessonError(
                f"{magic} with={name}: no cell has kept {name} (kept so far: {kept}). Run the cell "
                f"that begins with {magic} file={name} first."
            )
    return tuple(names)
