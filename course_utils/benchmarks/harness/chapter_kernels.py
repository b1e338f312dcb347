"""The kernels and programs of a chapter, by their names."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from typing import Any

from ...launching.kernels import Kernel
from ...launching.modules import load
from ...paths import KERNELS, kernel_file


@dataclass(frozen=True)
class ChapterKernels:
    """The kernels of the chapter in ``folder``, such as ``06_matmul_and_fft``, by their names.

    A kernel is found in whichever topic folder it is and at whichever position of its ladder. Both
    methods raise LessonError unless a name has exactly one file.
    """

    folder: str

    def kernel(self, name: str, arch: str | None = None, /, **defines: int | str) -> Kernel:
        """The kernel ``name``, compiled with ``defines`` as its macros for this machine's device,
        or for ``arch`` ("sm_90a")."""
        return load(kernel_file(name, self.folder), defines=defines, arch=arch).kernel

    def files(self, *names: str) -> tuple[str, ...]:
        """The files of the kernels ``names``, below ``kernels/``."""
        return tuple(kernel_file(name, self.folder) for name in names)


def program(file: str, name: str) -> Any:
    """The object ``name`` of the Python ``file`` below ``kernels/``.

    Triton wants it from a module, and torch.compile from one that is imported.
    """
    path = KERNELS / file
    spec = importlib.util.spec_from_file_location(f"course_{path.stem}", path)
    assert spec and spec.loader, f"{path} is Python"
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return getattr(module, name)
