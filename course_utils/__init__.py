"""What the notebooks of the course import: one device, one way to load, check and measure."""

from __future__ import annotations

from . import figures
from .benchmarks import autotune, hardware, stored
from .checking import check
from .device import cp, device, size
from .exercises import answer, hint, progress, reset, restore, solution
from .kernels import load
from .machine import doctor
from .occupancy import occupancy
from .profile import profile, sanitize
from .ptx_files import load_ptx
from .shell import running_shell
from .timing import bench
from .trace import trace

__all__ = [
    "answer",
    "autotune",
    "bench",
    "check",
    "cp",
    "device",
    "doctor",
    "figures",
    "hardware",
    "hint",
    "load",
    "load_ptx",
    "occupancy",
    "profile",
    "progress",
    "reset",
    "restore",
    "sanitize",
    "size",
    "solution",
    "stored",
    "trace",
]


def _teach_ipython() -> None:
    """Register ``%%needs`` and ``%%exercise`` where a notebook is running."""
    shell = running_shell()
    if shell is None:
        return
    from . import needs

    needs.register(shell)

    def exercise(line: str, cell: str):
        from .exercises.magic import exercise as run

        return run(line, cell)

    shell.register_magic_function(exercise, "cell", "exercise")


_teach_ipython()
