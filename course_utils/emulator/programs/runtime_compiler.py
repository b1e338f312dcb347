"""NVRTC, CUDA's own library that compiles at run time: where it is on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .call_state import CallState, Words

INSTALL_NVRTC = "pip install nvidia-cuda-nvrtc"


def nvrtc_library(major: int) -> Path | None:
    """The library of a wheel or a toolkit, if there is one of CUDA ``major``: the program includes
    that CUDA's headers. None for no library."""
    found = [path for folder in _folders() for path in sorted(folder.glob("libnvrtc.so.*"))]
    known = [path for path in found if path.name.count(".") == 2 and path.suffix[1:].isdigit()]
    return next((path for path in known if path.suffix == f".{major}"), next(iter(known), None))


def _folders() -> Iterator[Path]:
    for folder in sys.path:
        for name in ("cu14", "cu13", "cuda_nvrtc"):
            yield Path(folder) / "nvidia" / name / "lib"
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            yield Path(home) / "lib64"


class CompilerCalls(CallState):
    """Each call is answered by the method of its name."""

    def _nvrtc_library(self, w: Words) -> int:
        """The address of the library's path, or 0 where there is none. ``w``: CUDA's version."""
        found = nvrtc_library(w[0] // 1000)
        if found is None:
            self.log.write("note", text=f"The program compiles kernels: `{INSTALL_NVRTC}`.")
            return 0
        return self._text(str(found))
