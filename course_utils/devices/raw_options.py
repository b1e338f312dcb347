"""The compiler options of ``cp.RawModule``."""

from __future__ import annotations


def split_arch(options: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """The architecture that ``options`` ask for, by default compute_90a, and the other options."""
    arch, others = "compute_90a", []
    for option in options:
        flag, _, value = option.partition("=")
        if flag in ("-arch", "--gpu-architecture"):
            arch = value.replace("sm_", "compute_")
        else:
            others.append(option)
    return arch, tuple(others)


def macros(options: tuple[str, ...]) -> dict[str, str]:
    """The values of the macros that compiler ``options`` define, by name."""
    found: dict[str, str] = {}
    for option in options:
        flag = next((f for f in ("--define-macro=", "-D") if option.startswith(f)), None)
        name, _, value = option.removeprefix(flag or "").strip().partition("=")
        if flag and value:
            found[name] = value
    return found
