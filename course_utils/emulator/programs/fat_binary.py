"""The PTX that nvcc puts into a program: the entries of a fat binary.

The format is not documented. We read uncompressed PTX as nvcc 12 and 13 write it, and :func:`wrap`
writes the same.
"""

from __future__ import annotations

import ctypes
import re
import struct

_WRAPPER_MAGIC, _MAGIC, _PTX = 0x466243B1, 0xBA55ED50, 1
_HEADER = struct.Struct("<IHHQ")  # magic, version, bytes of this header, bytes of the entries
_ENTRY = struct.Struct("<HHIQIIHHIQQQQ")
_FOLDER = re.compile(r'(\.file\s+\d+\s+")[^"\n]*/(?=[^"/\n]+")')
_ELF = 0x464C457F  # begins machine code
_COMPRESSED = 0x2000 | 0x8000  # flags of an entry: LZ4, Zstandard


class NoPtx(ValueError):
    """A fat binary without PTX that can be read. The message says why."""


def ptx_at(wrapper: int) -> str:
    """The PTX of the fat binary that the wrapper at an address of this process points to. Its
    source files are named without their folders, as host code's are.

    Raises NoPtx where there is none, or it is compressed.
    """
    magic, _, data = struct.unpack("<IIQ", ctypes.string_at(wrapper, 16))
    if magic != _WRAPPER_MAGIC:
        raise NoPtx(f"there is no fat binary at {wrapper:#x}")
    return _ptx_of_entries(data)


def ptx_of_image(image: int) -> str:
    """The PTX of an image that a program loads itself: PTX, or a fat binary with or without its
    wrapper. Raises NoPtx for another one."""
    (magic,) = struct.unpack("<I", ctypes.string_at(image, 4))
    if magic == _WRAPPER_MAGIC:
        return ptx_at(image)
    if magic == _MAGIC:
        return _ptx_of_entries(image)
    if magic == _ELF:
        raise NoPtx("it is machine code and no PTX: compile for a virtual architecture")
    text = ctypes.string_at(image).decode("utf-8", "replace")
    if ".version" not in text:
        raise NoPtx("it is neither PTX nor a fat binary")
    return _FOLDER.sub(r"\1", text)


def _ptx_of_entries(data: int) -> str:
    magic, _, header, size = _HEADER.unpack(ctypes.string_at(data, _HEADER.size))
    if magic != _MAGIC:
        raise NoPtx("the fat binary has a format that isn't known here")
    return _FOLDER.sub(r"\1", ptx_in(ctypes.string_at(data + header, size)))


def ptx_in(entries: bytes) -> str:
    """The first PTX among the entries of a fat binary. Raises NoPtx."""
    at = 0
    while at + _ENTRY.size <= len(entries):
        kind, _, header, size, _, _, _, _, _, _, flags, _, _ = _ENTRY.unpack_from(entries, at)
        if kind == _PTX:
            text = entries[at + header : at + header + size]
            if flags & _COMPRESSED or b".version" not in text:
                raise NoPtx("its PTX is compressed: compile with --no-compress")
            return text.rstrip(b"\0").decode("utf-8", "replace")
        at += header + size
    raise NoPtx("it holds machine code and no PTX: compile for a virtual architecture")


def wrap(ptx: str) -> bytes:
    """A fat binary, without its wrapper, of one uncompressed PTX."""
    text = ptx.encode() + b"\0"
    text += bytes(-len(text) % 8)
    entry = _ENTRY.pack(_PTX, 0x101, _ENTRY.size, len(text), 0, 0, 0, 0, 90, 0, 0, 0, 0) + text
    return _HEADER.pack(_MAGIC, 1, _HEADER.size, len(entry)) + entry
