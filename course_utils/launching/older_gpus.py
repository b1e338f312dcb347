"""A kernel that the GPU at hand is too old for runs on the emulator, beside those on the GPU."""

from __future__ import annotations

from typing import Protocol

from ..compiling.diagnostics import CompileError
from ..compiling.nvrtc import Compiled
from ..devices.compute_capability import capability
from ..emulator import spoken_time
from ..errors import LessonError
from .cubins import CUBIN_TARGETS

LATER = ("sm_80", "sm_86", "sm_89", "sm_90", *CUBIN_TARGETS)  # the oldest that does is named
CUTE_FAILS = (b"CUTE_ARCH_", b"instructions has not been enabled")  # in its output then
PATIENCE = 40.0  # seconds that a launch may take there: a GPU's sizes would take hours


class Compilable(Protocol):
    """The part of a module that is needed here."""

    def compiled(self, arch: str, *options: str) -> Compiled:
        """The module compiled for ``arch``, not loaded. Raises CompileError."""


def is_beyond(arch: str | None) -> bool:
    """Whether code for ``arch``, such as "sm_90a", cannot run on the GPU at hand."""
    return arch in CUBIN_TARGETS and arch != f"sm_{capability()}a"


def compiles(module: Compilable, arch: str) -> bool:
    """Whether ``module`` compiles for GPUs of ``arch``, its inline assembly included, and CuTe's:
    there the compiler accepts an instruction that an older GPU lacks, and an assertion fails."""
    try:
        cubin = module.compiled(arch).cubin
    except CompileError:
        return False
    return not any(words in cubin for words in CUTE_FAILS)


def needed(module: Compilable) -> str | None:
    """The oldest GPU later than the one at hand for which ``module`` compiles, such as "sm_80".

    None where it compiles for the GPU at hand as well, or for none that is later.
    """
    if compiles(module, f"sm_{capability()}"):
        return None
    later = (arch for arch in LATER if int(arch[3:].rstrip("a")) >= capability())
    return next((arch for arch in later if compiles(module, arch)), None)


def announcement(name: str, what: str) -> str:
    """The line that says that ``name``, which needs ``what``, runs on the emulator here."""
    return f"{name} needs {what}, and this GPU is sm_{capability()}: it runs on the emulator."


class GpuTooOld(LessonError):
    """The emulator replaces the GPU, and cannot do this: ``what``."""

    def __init__(self, what: str):
        super().__init__(
            f"{what} Set COURSE_DEVICE=emulator and restart the kernel of the notebook: it then "
            "runs on the emulator as a whole, with sizes that suit it."
        )


def too_long(name: str, seconds: float) -> GpuTooOld:
    """The error of a launch that would take the emulator ``seconds`` or more."""
    return GpuTooOld(
        f"{name} runs on the emulator, because this GPU cannot run it, and there this launch "
        f"would take {spoken_time(seconds)} or more."
    )
