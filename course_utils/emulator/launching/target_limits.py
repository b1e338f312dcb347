"""Limits of a module's target: the instructions of newer GPUs, and the size of constant memory.

Source: PTX ISA, "Target ISA Notes" of each instruction. CUDA C++ Programming Guide, "Technical
Specifications per Compute Capability".
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..isa import ptx
from ..isa.symbols import readable_name

CONSTANT_BYTES = 64 * 1024
TARGET = re.compile(r"^\s*\.target\s+sm_(\d+)([af]?)", re.M)
# The beginning of an opcode and the least target. Longer beginnings come first. A letter there asks
# for one of the target, and no later GPU has an instruction that is EXACT.
NEEDS = (
    ("tcgen05", "100a"),
    ("wgmma", "90a"),
    ("clusterlaunchcontrol", "100"),
    ("setmaxnreg", "90a"),
    ("tensormap.replace", "90a"),
    ("tensormap", "90"),
    *((opcode, "90") for opcode in ("mapa", "getctarank", "elect", "stmatrix", "griddepcontrol")),
    *((opcode, "90") for opcode in ("barrier.cluster", "cp.async.bulk", "cp.reduce.async.bulk")),
    *((opcode, "90") for opcode in ("st.async", "mbarrier.try_wait")),
    *((opcode, "80") for opcode in ("cp.async", "mbarrier", "redux", "createpolicy")),
    *((opcode, "75") for opcode in ("ldmatrix", "movmatrix", "tanh")),
    *((opcode, "70") for opcode in ("wmma", "mma", "match", "nanosleep")),
)
EXACT = "wgmma"
FIRST = frozenset(opcode.partition(".")[0] for opcode, _ in NEEDS)


def check_target(text: str, instructions: Iterable[ptx.Instruction]) -> None:
    """Raise PtxError for an instruction that no GPU of the ``.target`` in the module ``text`` has.
    A text without one is not checked."""
    target = TARGET.search(text)
    if target is None:
        return
    number, letter = int(target[1]), target[2]
    for i in {(i.opcode, i.modifiers): i for i in instructions if i.opcode in FIRST}.values():
        opcode = i.full_opcode
        least = next((least for start, least in NEEDS if _begins(opcode, start)), "0")
        enough = number >= int(least.rstrip("a")) and (bool(letter) or least[-1] != "a")
        if i.opcode == EXACT:
            enough = f"{number}{letter}" == least
        if not enough:
            where = f" at {i.location}" if i.location else ""
            raise ptx.PtxError(
                f"`{opcode}`{where} needs a GPU of sm_{least}, and this code is compiled for "
                f"sm_{number}{letter}. Compile it for sm_{least}."
            )


def check_constants(variables: Iterable[ptx.Variable]) -> None:
    """Raise PtxError for a module with more constant memory than a GPU has."""
    constants = [v for v in variables if v.space == "const"]
    total = sum(v.size for v in constants)
    if total > CONSTANT_BYTES:
        largest = max(constants, key=lambda v: v.size)
        raise ptx.PtxError(
            f"The __constant__ variables take {total:,} bytes, and a GPU has {CONSTANT_BYTES:,}. "
            f"{readable_name(largest.name)} takes {largest.size:,}: keep it in global memory, and "
            "pass it as const T* __restrict__."
        )


def _begins(opcode: str, start: str) -> bool:
    return opcode == start or opcode.startswith(f"{start}.")
