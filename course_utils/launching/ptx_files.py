"""``load_ptx``: PTX that another compiler wrote, such as Triton, as a kernel of either device."""

from __future__ import annotations

import os
import re
from functools import cached_property
from pathlib import Path
from typing import Any

from ..compiling.nvrtc import Compiled
from ..compiling.source_text import read_source
from ..devices import emulated_cupy
from ..devices.selection import EMULATOR, cp
from ..devices.selection import device as current_device
from ..emulator import source_files
from ..errors import LessonError
from ..needs import lacking
from ..paths import ROOT
from .kernels import Kernel


def load_ptx(path: str | os.PathLike[str], *, device: str | None = None) -> Kernel:
    """The one kernel of a PTX file. ``path`` is relative to the course's folder.

    It is launched, profiled and sanitized as kernels of ``load`` are, but nothing is known of its
    parameters' types: pass numbers as NumPy scalars, such as ``np.int32(n)``. Reports give
    lines of the file that the PTX names as its source, where the course has that file.

    PTX is written for a target. A GPU that does not suit it leaves the work to the emulator: then
    the arrays are copied there and back. ``device`` is "emulator" or "cuda" to insist on one.

    Raises LessonError where there is no such file, or not exactly one kernel in it.
    """
    file = next((p for p in (ROOT / path, Path(path)) if p.is_file()), None)
    if file is None:
        raise LessonError(f"There is no PTX file {os.fspath(path)!r}.")
    module = PtxModule(file.resolve(), device)
    if len(module.names) != 1:
        found = ", ".join(module.names) or "none"
        raise LessonError(f"{file.name} should have one kernel; it has {found}.")
    return module[module.names[0]]


class PtxModule:
    """A PTX file as far as a :class:`~course_utils.launching.kernels.Kernel` asks for it.

    ``source`` and ``filename`` belong to the program that the PTX was made from.
    """

    def __init__(self, file: Path, device: str | None = None):
        text = read_source(file)
        self.file, self.device = file, device or _suitable(text)
        self.names = re.findall(r"\.entry\s+([\w$]+)", text)
        named = source_files(text).get(1, file.name)
        self.filename = named.removeprefix(f"{ROOT.as_posix()}/")
        origin = ROOT / self.filename
        self.source = read_source(origin) if origin.is_file() else text

    def __getitem__(self, name: str) -> Kernel:
        return Kernel(self, name, self._raw)

    def compiled(self, arch: str, *options: str) -> Compiled:
        """Raises LessonError: PTX was compiled before, for a target that it names."""
        raise LessonError(
            f"{self.file.name} is PTX, and only its CUDA C++ can be compiled for {arch}."
        )

    @cached_property
    def _raw(self) -> Any:
        space = emulated_cupy if self.device == EMULATOR else cp
        return space.RawModule(path=str(self.file))

    @cached_property
    def emulated(self) -> PtxModule:
        """The same file on the emulator, whatever the machine."""
        return self if self.device == EMULATOR else PtxModule(self.file, EMULATOR)


def _suitable(text: str) -> str:
    """The machine's device, or the emulator where its GPU is none of those the PTX is for."""
    target = re.search(r"^\s*\.target\s+(\w+)", text, re.M)
    wrong_gpu = target is not None and lacking(target[1]) is not None
    return EMULATOR if wrong_gpu else current_device()
