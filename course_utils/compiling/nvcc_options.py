"""Options of nvcc that NVRTC lacks, and needs not: they come with the sources of others."""

from __future__ import annotations

import re

EXTENDED_LAMBDA = {"extended-lambda", "expt-extended-lambda"}
RELAXED_CONSTEXPR = {"expt-relaxed-constexpr"}
MARKED = re.compile(r"(?<=\])\s*(?:__(?:host|device)__\s*)+(?=[({])")  # [=] __device__ (int i)


def without_nvcc_options(source: str, options: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """A source and options that NVRTC understands and that mean the same.

    A function is the device's own there unless it says something else, so a lambda needs no mark
    and a ``constexpr`` function may be called. Marks of lambdas become blanks, in their own lines.
    """
    if EXTENDED_LAMBDA & {option.lstrip("-") for option in options}:
        source = MARKED.sub(lambda found: re.sub(r"\S", " ", found[0]), source)
    needless = EXTENDED_LAMBDA | RELAXED_CONSTEXPR
    return source, tuple(option for option in options if option.lstrip("-") not in needless)
