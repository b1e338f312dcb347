"""One case, launched once in a process of its own for Nsight Compute to watch."""

from __future__ import annotations

from pathlib import Path

from ...devices.selection import cp
from ...paths import unnumbered
from .. import cases
from ..harness.case import Case, Size


def launch_of(name: str, size: Size) -> tuple[str, str]:
    """(Python code that launches the case ``name`` once, its first kernel's name)."""
    code = f"from {__name__} import launch; launch({name!r}, {size!r})"
    return code, unnumbered(Path(_case(name).files[0]).stem)


def launch(name: str, size: Size) -> None:
    """Run the case ``name`` once."""
    _case(name).make(size)()
    cp.cuda.runtime.deviceSynchronize()


def _case(name: str) -> Case:
    return next(case for case in cases.CASES if case.name == name)
