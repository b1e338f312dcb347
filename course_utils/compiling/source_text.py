"""Source files as their editors save them, and the lines of them that a message has room for."""

from __future__ import annotations

from pathlib import Path

from ..errors import LessonError
from ..paths import ROOT

WIDEST = 200  # characters of a line
DOTS = " ... "  # for the rest of it
BYTE_ORDER_MARK = "\ufeff"
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # how a file in it begins
HOW_TO_SAVE = "Save it as UTF-8 (in VS Code: click the encoding at the bottom right)."


def read_source(file: Path) -> str:
    """The text of a source file in UTF-8, with or without a byte order mark. Lines end in "\\n".

    Raises LessonError for a file in another encoding, with its first wrong line and byte, and for
    a file that cannot be opened.
    """
    try:
        data = file.read_bytes()
    except OSError as error:
        raise LessonError(f"{source_name(file)} cannot be read: {error.strerror}.") from None
    if data.startswith(UTF_16):
        raise LessonError(f"{source_name(file)} is UTF-16, not UTF-8. {HOW_TO_SAVE}")
    try:
        text = data.decode("utf-8")
        place = data.find(b"\0")  # a compiler takes it for the end
    except UnicodeDecodeError as error:
        place = error.start
    if place >= 0:
        line, byte = data.count(b"\n", 0, place) + 1, data[place : place + 1]
        probably = f" ({byte.decode('cp1252', 'replace')!r} in Latin-1)" if byte != b"\0" else ""
        raise LessonError(
            f"{source_name(file)} is not UTF-8: line {line} has the byte 0x{byte[0]:02X}"
            f"{probably}. {HOW_TO_SAVE}"
        )
    return without_marks(text.replace("\r\n", "\n").replace("\r", "\n"))


def without_marks(text: str) -> str:
    """``text`` without byte order marks: they are invisible, and compilers refuse them."""
    return text.replace(BYTE_ORDER_MARK, "")


def source_name(file: Path) -> str:
    """The name of a source file in messages: its path in the course, or its name alone
    elsewhere."""
    return file.relative_to(ROOT).as_posix() if file.is_relative_to(ROOT) else file.name


def shortened(line: str, start: int = 0) -> str:
    """At most WIDEST characters of a line from index ``start`` on, and dots for the rest."""
    if len(line) <= WIDEST:
        return line
    before, after = DOTS if start else "", DOTS if start + WIDEST < len(line) else ""
    return f"{before}{line[start : start + WIDEST]}{after}"
