"""Kernels of other languages in Python on the emulator: Triton, Numba and Warp."""

from __future__ import annotations

from collections.abc import Sequence


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The arguments of the command ``run``, and the program's own, which follow ``--``."""
    at = list(arguments).index("--") if "--" in arguments else len(arguments)
    return list(arguments[:at]), list(arguments[at + 1 :])


def is_script(arguments: Sequence[str]) -> bool:
    """Whether ``run`` is asked for a Python program."""
    return any(argument.endswith(".py") for argument in split(arguments)[0])
