"""A GPU's own instructions (SASS), as NVIDIA's disassembler writes them."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from ...errors import LessonError

TOOL = "nvdisasm"


def listing(cubin: bytes) -> list[str]:
    """The instructions of ``cubin``, one a line, without addresses and encodings.

    Raises LessonError where there is no nvdisasm: neither on the PATH nor in Triton.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.cubin"
        file.write_bytes(cubin)
        command = [_tool(), "-c", str(file)]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return read(text)


def read(text: str) -> list[str]:
    """The instructions of a text of nvdisasm: ``/*0050*/ @P0 LDS R6, [R7] ;`` is one."""
    found = re.findall(r"^\s*/\*[0-9a-f]{4,}\*/\s+(\S.*?)\s*;", text, re.M)
    return [" ".join(line.split()) for line in found]


def _tool() -> str:
    on_path = shutil.which(TOOL)
    triton = find_spec("triton")
    if on_path:
        return on_path
    if triton and triton.origin:
        inside = Path(triton.origin).parent / "backends" / "nvidia" / "bin" / TOOL
        if inside.is_file():
            return str(inside)
    raise LessonError(f"This reads machine code with {TOOL}, which comes with the CUDA toolkit.")
