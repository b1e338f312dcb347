"""The lanes of a warp that an instruction waits for, and its name in the kernel's language."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..findings.language_words import WORDS, Language
from ..isa.instruction_set import traits_of
from ..isa.ptx import Instruction
from .convergence import live_masks

if TYPE_CHECKING:
    from .batch import Batch
    from .lanes import Group

WARP_CALLS = {"shfl", "vote", "match", "redux", "elect"}
_WMMA = {"load": "load_matrix", "mma": "mma", "store": "store_matrix"}
_SHUFFLES = {"up": "up_", "down": "down_", "bfly": "xor_", "idx": ""}


def call_of(i: Instruction, language: Language = Language.CUDA) -> str:
    """The name of an instruction in CUDA C++, such as ``__shfl_down_sync()``, or its opcode. A
    barrier has its name in ``language``."""
    kind = next((m for m in i.modifiers if m != "sync"), "")
    barrier = traits_of(i).barrier
    if barrier in ("block", "warp"):
        words = WORDS[language]
        return words.block_barrier if barrier == "block" else words.warp_barrier
    if i.opcode == "shfl":
        return f"__shfl_{_SHUFFLES.get(kind, '')}sync()"
    if i.opcode in ("vote", "match", "redux"):
        name = {"vote": "", "match": "match_", "redux": "reduce_"}[i.opcode]
        return f"__{name}{kind}_sync()"
    if i.opcode == "wmma":
        return f"wmma::{_WMMA[kind]}_sync()"
    return i.opcode


def missing(batch: Batch, group: Group, warp: int) -> tuple[int, int]:
    """(mask, lanes) of one warp of a group that waits for lanes of its warp: the mask that its
    first lane names, and a bit for each lane of it that is elsewhere."""
    at = int(np.flatnonzero(group.lanes >> 5 == warp)[0])
    mask = int(group.full(group.code.blocks[group.block].member_mask(group))[at])
    here = int(np.bitwise_or.reduce(1 << (group.lanes[group.lanes >> 5 == warp] & 31)))
    return mask, mask & int(live_masks(batch)[warp]) & ~here


def lanes_in_words(bits: int) -> str:
    """``lane 3``, ``lanes 16-31`` or ``lanes 0-7 and 16-23`` for the bits of a mask."""
    lanes = [n for n in range(32) if bits >> n & 1]
    starts = [n for n in lanes if n - 1 not in lanes]
    ends = [n for n in lanes if n + 1 not in lanes]
    runs = [str(a) if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True)]
    listed = " and ".join([", ".join(runs[:-1]), runs[-1]] if len(runs) > 1 else runs)
    return f"lane{'s' if len(lanes) > 1 else ''} {listed}"
