"""What an instruction computes: floating-point operations by type, under ncu's names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..machine.ptx import Instruction

_OPERATIONS = {"add": "add", "sub": "add", "mul": "mul", "fma": "fma", "mad": "fma"}
_LETTERS = {"f32": "f", "f64": "d", "f16": "h", "bf16": "h", "f16x2": "h", "bf16x2": "h"}
_FLOATS = ("f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1")
_SHAPE = re.compile(r"m(\d+)n(\d+)k(\d+)")
WARP, WARPGROUP = 32, 128  # threads


@dataclass(frozen=True)
class Arithmetic:
    """The floating-point work of one instruction.

    ``flops`` are done by ``threads`` threads together: by 1 for an ordinary instruction, by a warp
    or a warpgroup for one of the tensor cores, where a tile of M × N × K counts 2 M N K. ``type``
    is that of the factors, "f32" or "f16 (tensor cores)"; ``operation`` what ncu calls it, "ffma",
    or "" where it has no counter of its own. A sparse product counts as the full one it stands for.
    """

    type: str
    operation: str
    flops: int
    threads: int = 1


def arithmetic(instruction: Instruction) -> Arithmetic | None:
    """The work of an instruction; None for one that computes nothing in floating point.

    Functions such as ``div``, ``sqrt`` or ``sin`` count nothing, as in ncu's three counters, though
    a GPU computes some of them with additions and multiplications. ``tcgen05.mma`` says its shape
    only when it runs.
    """
    return _arithmetic(instruction.opcode, instruction.modifiers)


@lru_cache(maxsize=4096)
def _arithmetic(opcode: str, modifiers: tuple[str, ...]) -> Arithmetic | None:
    if opcode in ("mma", "wmma", "wgmma"):
        return _matrix(opcode, modifiers)
    if opcode not in _OPERATIONS or not modifiers or modifiers[-1] not in _LETTERS:
        return None
    operation, kind = _OPERATIONS[opcode], modifiers[-1]
    flops = (2 if operation == "fma" else 1) * (2 if kind.endswith("x2") else 1)
    return Arithmetic(kind.removesuffix("x2"), _LETTERS[kind] + operation, flops)


def _matrix(opcode: str, modifiers: tuple[str, ...]) -> Arithmetic | None:
    """wmma gives (D, C) types where A and B are f16; mma (D, A, B, C); wgmma (D, A, B)."""
    shape = next(filter(None, map(_SHAPE.fullmatch, modifiers)), None)
    if shape is None or not {"mma", "mma_async"} & {opcode, *modifiers[:1]}:
        return None
    m, n, k = map(int, shape.groups())
    types = modifiers[modifiers.index(shape[0]) + 1 :]
    kinds = [t for t in types if t in _FLOATS or t in ("f32", "s32", "s8", "u8", "s4", "u4", "b1")]
    factor = "f16" if opcode == "wmma" and len(kinds) == 2 else kinds[1]
    if factor not in _FLOATS:
        return None
    threads = WARPGROUP if opcode == "wgmma" else WARP
    return Arithmetic(f"{factor} (tensor cores)", "", 2 * m * n * k, threads)
