"""Finds a compiler for C and C++ on the CPU: the one named, gcc or clang, or the ziglang package.

COURSE_CC and COURSE_CXX name one, with its arguments if need be ("python -m ziglang cc").
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from importlib.util import find_spec

from ..errors import LessonError

COMPILERS = {"c": ("cc", "gcc", "clang"), "cpp": ("c++", "g++", "clang++")}
CHOSEN_BY = {"c": "COURSE_CC", "cpp": "COURSE_CXX"}
USUAL = {"c": "CC", "cpp": "CXX"}  # that other tools read. A missing program is skipped
IN_WORDS = {"c": "a C compiler", "cpp": "a C++ compiler"}
ZIG = {"c": "cc", "cpp": "c++"}  # clang, as a part of the pip package ziglang
FROM_A_DISTRIBUTION = (
    "On Debian or Ubuntu: apt install build-essential; with conda: conda install gxx"
)
HOW_TO_GET = (
    f"{FROM_A_DISTRIBUTION}; anywhere: pip install ziglang (its first program takes minutes)."
)


@dataclass(frozen=True)
class HostCompiler:
    """A compiler's ``command`` without its arguments, and a ``name`` to show."""

    command: tuple[str, ...]
    name: str

    @property
    def is_zig(self) -> bool:
        """Whether it is the ziglang package's clang, which builds its own libraries at first."""
        return "ziglang" in self.command


def host_compiler(language: str) -> HostCompiler | None:
    """A compiler for "c" or "cpp", None where this machine has none.

    Raises LessonError where COURSE_CC or COURSE_CXX names a program that is not there.
    """
    variable = CHOSEN_BY[language]
    if chosen := os.environ.get(variable, "").strip():
        words = [chosen] if shutil.which(chosen) else shlex.split(chosen)  # blanks in its path
        path = shutil.which(words[0])
        if path is None:
            raise LessonError(
                f"{variable} is {chosen!r}, but there is no program {words[0]!r} here. Set it to "
                "one that exists, or unset it, and the course looks for gcc and clang."
            )
        name = "zig" if "ziglang" in words else os.path.basename(words[0])
        return HostCompiler((path, *words[1:]), name)
    for name in (os.environ.get(USUAL[language], ""), *COMPILERS[language]):
        if name and (path := shutil.which(name)):
            return HostCompiler((path,), os.path.basename(name))
    if find_spec("ziglang"):
        return HostCompiler((sys.executable, "-m", "ziglang", ZIG[language]), "zig")
    return None
