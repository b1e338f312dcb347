"""The assembler's errors in ``asm`` of a source: NVRTC passes it on to PTX as it is."""

from __future__ import annotations

import re
from collections.abc import Callable

from ..emulator import source_files
from .diagnostics import CompileError
from .nvrtc import Compiled

_REFUSED = re.compile(r"ptxas application ptx input, line (\d+); (?:error|fatal)\s*: (.*)")
_PLACE = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)")


def has_assembly(source: str) -> bool:
    """Whether the CUDA C++ ``source`` has inline PTX in it."""
    return re.search(r"\basm\b", source) is not None


def refused_assembly(
    compiled: Callable[[str], Compiled], target: str = "90a"
) -> CompileError | None:
    """The assembler's errors at the lines of the source they come from, None where it has none.

    ``compiled`` makes PTX (``compute_XX``) or a cubin (``sm_XX``) of the source.
    """
    try:
        compiled(f"sm_{target}")
    except CompileError as error:
        found = _REFUSED.findall(error.log)
        if not found:
            return error
    else:
        return None
    ptx = compiled(f"compute_{target}").ptx
    files, rows = source_files(ptx), ptx.splitlines()
    errors = []
    for number, message in found:
        places = (_PLACE.match(row) for row in reversed(rows[: int(number)]))
        file, line = next((place.groups() for place in places if place), ("0", "0"))
        errors.append(f"{files.get(int(file), 'asm')}({line}): error: in asm: {message}")
    return CompileError("\n".join(dict.fromkeys(errors)))
