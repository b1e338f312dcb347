"""The table of instructions that compute a value from values.

A register holds a 1-D NumPy array: one element per lane, or a single element when all lanes agree.
Arrays in registers are never changed in place. An entry of the table is a *builder*: it reads the
modifiers of one instruction (``("rn", "ftz", "f32")`` for ``fma.rn.ftz.f32``) and answers with an
:class:`Op`, which names the types of the operands and the function that computes the result.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

DTYPES: dict[str, np.dtype] = {
    "pred": np.dtype(np.bool_),
    "u8": np.dtype(np.uint8),
    "s8": np.dtype(np.int8),
    "b8": np.dtype(np.uint8),
    "u16": np.dtype(np.uint16),
    "s16": np.dtype(np.int16),
    "b16": np.dtype(np.uint16),
    "u32": np.dtype(np.uint32),
    "s32": np.dtype(np.int32),
    "b32": np.dtype(np.uint32),
    "u64": np.dtype(np.uint64),
    "s64": np.dtype(np.int64),
    "b64": np.dtype(np.uint64),
    "f16": np.dtype(np.float16),
    "bf16": np.dtype(np.uint16),  # raw bits: NumPy has no bfloat16
    "f16x2": np.dtype(np.uint32),  # raw bits of a packed pair
    "bf16x2": np.dtype(np.uint32),
    "f32": np.dtype(np.float32),
    "tf32": np.dtype(np.uint32),  # raw bits
    "f64": np.dtype(np.float64),
    "e4m3x2": np.dtype(np.uint16),
    "e5m2x2": np.dtype(np.uint16),
}


@dataclass(frozen=True)
class Op:
    """One decoded instruction: ``results = compute(*sources)``.

    ``dst`` and ``src`` name the type of every destination and source. ``compute`` gets arrays of
    exactly those dtypes (lengths n or 1, mixed freely) and returns an array, or a tuple of arrays
    when there are several destinations. Where ``carry_in`` is set, the carry flag arrives as one
    more bool source; where ``carry_out`` is set, it is returned as one more bool result.
    """

    dst: tuple[str, ...]
    src: tuple[str, ...]
    compute: Callable
    carry_in: bool = False
    carry_out: bool = False


Builder = Callable[[tuple[str, ...]], "Op | None"]
TABLE: dict[str, Builder] = {}


def instruction(*names: str) -> Callable[[Builder], Builder]:
    """Enter a builder under one or more base opcodes (``"add"``, ``"mad"``).

    The builder returns None for a form it does not know; the machine then reports the instruction.
    """

    def enter(builder: Builder) -> Builder:
        for name in names:
            TABLE[name] = builder
        return builder

    return enter
