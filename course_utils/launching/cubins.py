"""Kernels for a target that CuPy cannot name, compiled by us and loaded by CuPy."""

from __future__ import annotations

import tempfile
from typing import Any

from ..compiling.nvrtc import compile_source
from ..errors import LessonError

CUBIN_TARGETS = ("sm_90a", "sm_100a", "sm_103a", "sm_120a")


class CubinModule:
    """A module compiled by us for a target CuPy cannot name, and loaded by CuPy."""

    def __init__(self, code: str, options: tuple[str, ...], names: tuple[str, ...], arch: str):
        import cupy

        capability = cupy.cuda.Device().compute_capability
        if arch != f"sm_{capability}a":
            raise LessonError(
                f"This kernel is written for {arch} and this GPU is sm_{capability}. "
                f'Run it on the emulator: load(..., device="emulator").'
            )
        compiled = compile_source(
            code, filename="kernel.cu", arch=arch, options=options, names=names
        )
        self._mangled = compiled.mangled
        with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
            file.write(compiled.cubin)
            file.flush()
            self._module = cupy.RawModule(path=file.name)
            self._module.compile()

    def get_function(self, name: str) -> Any:
        """CuPy's function of the kernel ``name``."""
        return self._module.get_function(self._mangled.get(name, name))

    def get_global(self, name: str) -> Any:
        """CuPy's pointer to the global variable ``name``."""
        return self._module.get_global(name)
