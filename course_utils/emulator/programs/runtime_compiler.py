"""NVRTC, CUDA's own library that compiles at run time: where it is on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .call_state import CallState, Words

INSTALL_NVRTC = "pip install nvidia-cuda-nvrtc"


def nvrtc_library() -> Path | None:
    """The library of a wheel or a toolkit, the newest of a folder first. None for no library."""
    return next((found for folder in _folders() for found in _libraries(folder)), None)


def _folders() -> Iterator[Path]:
    for folder in sys.path:
        for name in ("cu14", "cu13", "cuda_nvrtc"):
            yield Path(folder) / "nvidia" / name / "lib"
    for home in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if home:
            yield Path(home) / "lib64"


def _libraries(folder: Path) -> list[Path]:
    found = (path for path in folder.glob("libnvrtc.so.*") if "alt" not in path.name)
    return sorted(found, key=lambda path: path.suffix.lstrip(".").zfill(4), reverse=True)


class CompilerCalls(CallState):
    """Each call is answered by the method of its name."""

    def _nvrtc_library(self, _: Words) -> int:
        """The address of the library's path, or 0 where there is none."""
        found = nvrtc_library()
        if found is None:
            self.log.write("note", text=f"The program compiles kernels: `{INSTALL_NVRTC}`.")
            return 0
        return self._text(str(found))
