"""The command that brings what this Python lacks: it depends on who made its environment."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from . import install
from .paths import ROOT


def in_the_course_s_own() -> bool:
    """Whether this is the Python of the checkout's ``.venv``, which ``make`` looks after."""
    return Path(sys.prefix).resolve() == (ROOT / install.VENV).resolve()


def installed() -> dict[str, str]:
    """The packages of this Python, by their plain names, and their versions."""
    found = [each for each in metadata.distributions() if each.metadata["Name"]]
    return {install.plain(each.metadata["Name"]): each.version for each in found}


def set_up_command(extra: str = "") -> str:
    """The command that installs what the course needs here, with ``extra`` or the one that fits."""
    if in_the_course_s_own():
        return f"make setup COURSE_EXTRA={extra}" if extra else "make setup"
    return f"pip install -e '.[{extra or fitting_extra()},cute]'"


def fitting_extra() -> str:
    """The extra for this machine: its driver, and the CUDA that this Python has already."""
    return install.fitting_extra(installed())[0]


def torch_command() -> str:
    """The command that adds PyTorch to a machine with no GPU."""
    if in_the_course_s_own():
        return "make torch"
    return f"pip install {install.TORCH} --extra-index-url {install.TORCH_INDEX}"


def ecosystem_command() -> str:
    """The command that adds what chapter 01 compares."""
    return "make ecosystem" if in_the_course_s_own() else "pip install -e '.[ecosystem]'"


def programs_command() -> str:
    """The command that adds nvcc, for whole CUDA programs."""
    return pip_command("-e", "'.[programs]'")


def pip_command(*packages: str) -> str:
    """The command that adds a package to this Python."""
    folder = f"{install.VENV}/bin/" if in_the_course_s_own() else ""
    return f"{folder}pip install {' '.join(packages)}"


def afresh(extra: str = "") -> str:
    """What to do where an environment has the wrong CUDA, or parts of two."""
    command = set_up_command(extra)
    if in_the_course_s_own():
        return f"move .venv away (`mv .venv .venv-old`), then run `{command}`"
    return f"make a new environment, and in it run `{command}`"


def cuda_wheel(library: str, major: int) -> str:
    """The wheel of one of CUDA's libraries ("curand"): those of CUDA 13 have no suffix."""
    return f"nvidia-{library}-cu12" if major == 12 else f"nvidia-{library}"
