"""Where ``#include`` finds a header: the course's own, CUDA's, CuTe's."""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..paths import KERNELS
from .bindings import nvrtc_version

STANDARD = Path(__file__).parent / "standard_headers"  # <cstdint>, <algorithm>, ...; see its README
DEVICE = Path(__file__).parent / "device_headers"  # instead of CUDA's own, which hold host code


@cache
def include_paths() -> tuple[str, ...]:
    """Folders searched for ``#include``: ``kernels/``, ``kernels/common``, then CUDA's headers.

    Before these come the device's parts of headers that NVRTC can't compile whole (:data:`DEVICE`).
    CUDA's headers come from pip wheels of NVRTC's own major version or, where those are missing,
    from an installed toolkit. CuTe's come next, where they are installed, and last what NVRTC
    lacks of C++'s own (:data:`STANDARD`).
    """
    ours = str(KERNELS), str(KERNELS / "common")
    return (*ours, str(DEVICE), *cuda_header_paths(), *cute_header_paths(), str(STANDARD))


@cache
def cute_header_paths() -> tuple[str, ...]:
    """The folder of ``cute/`` and ``cutlass/`` in the wheel nvidia-cutlass (the extra ``cute``);
    none where it is not installed."""
    spec = find_spec("cutlass_library")
    folder = Path(spec.origin).parent / "source" / "include" if spec and spec.origin else None
    return (str(folder),) if folder and folder.is_dir() else ()


@cache
def cuda_header_paths() -> tuple[str, ...]:
    """Folders of CUDA's headers for NVRTC's major version, from wheels first, then a toolkit."""
    major, _ = nvrtc_version()
    apart = "cuda_runtime", "cuda_cccl", "cuda_nvcc", "curand"  # in CUDA 13 all are in one folder
    wheels = apart if major == 12 else (f"cu{major}",)
    spec = find_spec("nvidia")
    folders = [Path(p) for p in (spec.submodule_search_locations if spec else None) or ()]
    candidates = [folder / wheel / "include" for folder in folders for wheel in wheels]
    toolkit = toolkit_path()
    if toolkit and header_version(toolkit / "include")[0] == major:
        candidates.append(toolkit / "include")
    found = [path for path in candidates if path.is_dir()]
    found += [path / "cccl" for path in found if (path / "cccl").is_dir()]
    return tuple(str(path) for path in found)


@cache
def toolkit_path() -> Path | None:
    """The CUDA toolkit that nvcc belongs to (``CUDA_PATH``, ``CUDA_HOME``, PATH, usual place)."""
    nvcc = shutil.which("nvcc")
    places: list[str | Path | None] = [os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")]
    places += [Path(nvcc).resolve().parent.parent if nvcc else None, "/usr/local/cuda"]
    return next((Path(p) for p in places if p and (Path(p) / "include/cuda.h").is_file()), None)


def header_version(folder: Path) -> tuple[int, int]:
    """(major, minor) of the ``cuda.h`` or ``cuda_runtime_api.h`` in ``folder``, (0, 0) if none."""
    for name, macro in (("cuda.h", "CUDA_VERSION"), ("cuda_runtime_api.h", "CUDART_VERSION")):
        header = Path(folder) / name
        if header.is_file():
            found = re.search(rf"#define\s+{macro}\s+(\d+)", header.read_text(errors="replace"))
            if found:
                number = int(found[1])
                return number // 1000, number % 1000 // 10
    return 0, 0
