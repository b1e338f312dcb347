"""How many instructions of each kind a PTX text has."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..text_tables import Column, Columns

LINE = r"[^;\n]*(?:\n\s*\{[^;\n]*)*"  # some compilers give each fragment its own line
INSTRUCTION = re.compile(rf"^\s*(?:@!?%p\d+\s+)?([a-z][\w.:]*{LINE});", re.M)
KINDS = {  # an instruction is of the first kind that its opcode begins with
    "loads of 16 bytes": r"ld\.global\S*\.(v4\.\w32|v2\.\w64)\b",
    "loads of 8 bytes": r"ld\.global\S*\.(v2\.\w32|\w64)\b",
    "loads of 4 bytes": r"ld\.global\S*\.\w32\b",
    "other loads": r"ld\.global",
    "stores of 16 bytes": r"st\.global\S*\.(v4\.\w32|v2\.\w64)\b",
    "stores of 8 bytes": r"st\.global\S*\.(v2\.\w32|\w64)\b",
    "stores of 4 bytes": r"st\.global\S*\.\w32\b",
    "other stores": r"st\.global",
    "asynchronous copies": r"cp\.async\S*\.global",
    "waits for copies": r"cp\.async\.wait",
    "products of matrices": r"mma\.",
    "loads of matrices": r"ldmatrix",
    "shuffles": r"shfl",
    "barriers": r"bar\.",
    "shared memory": r"(ld|st)\.shared",
    "exponentials": r"ex2",
    "divisions": r"div|rcp",
    "other fp32 arithmetic": r"[a-z]+[.\w]*\.f32",
    "exclusive ors": r"xor",
    "jumps": r"bra",
    "everything else": r"",
}


def kinds_of(ptx: str) -> dict[str, int]:
    """The instructions of a PTX text, counted by :data:`KINDS`. A predicate changes no kind."""
    counts = dict.fromkeys(KINDS, 0)
    for opcode in opcodes_of(ptx):
        counts[next(kind for kind, begins in KINDS.items() if re.match(begins, opcode))] += 1
    return counts


def opcodes_of(ptx: str) -> list[str]:
    """The opcode of each instruction of a PTX text, such as "add.s32", in the text's order."""
    return [instruction.split(maxsplit=1)[0] for instruction in INSTRUCTION.findall(ptx)]


def compare_ptx(texts: Mapping[str, str]) -> None:
    """Print, for PTX texts by name, a table of their instructions by kind."""
    counts = {name: kinds_of(text) for name, text in texts.items()}
    columns = Columns(Column(width=24, left=True), *(Column(width=19) for _ in counts), gap=0)
    print(columns.row("in the PTX of", *counts))
    for kind in KINDS:
        if any(count[kind] for count in counts.values()):
            print(columns.row(kind, *(count[kind] for count in counts.values())))
    print(columns.row("all", *(sum(count.values()) for count in counts.values())))
