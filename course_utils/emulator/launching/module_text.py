"""The text of a PTX module, as it was read: kept for the next module of the same text.

A notebook runs a cell again, and a test launches a kernel at one size after the other. Each time
the source is loaded again, and reading a kernel takes longer than launching it at a small size.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache

from ..isa import ptx, ptx_parser
from ..machine.code import Code

MOST_KEPT = 16
LONGEST = 200_000  # characters of a text that is kept: once decoded they take 13 MB


@dataclass(eq=False)
class ModuleText:
    """The declarations of a text, and the codes decoded from it that are alike for every module.

    ``codes``: by (kernel, function, whether in clusters). A code that holds the address of a
    module's variable isn't among them, because each module has its own variables.
    """

    variables: dict[str, ptx.Variable]
    functions: dict[str, ptx.Function]
    files: ptx_parser.Names
    codes: dict[tuple[str, str, bool], Code] = field(default_factory=dict)


def read_text(text: str) -> ModuleText:
    """Read ``text``, or find the same text among those read before.

    Raises :class:`~course_utils.emulator.PtxError` for text that is not PTX.
    """
    if len(text) > LONGEST:
        return ModuleText(*ptx_parser.parse_module(text))
    return _kept(text, os.getcwd())


@lru_cache(MOST_KEPT)
def _kept(text: str, folder: str) -> ModuleText:
    """``folder``: files are named as seen from there."""
    return ModuleText(*ptx_parser.parse_module(text))
