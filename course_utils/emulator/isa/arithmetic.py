"""The floating-point work of an instruction, under ncu's names."""

from __future__ import annotations

from dataclasses import dataclass

_LETTERS = {"f32": "f", "f64": "d", "f16": "h", "bf16": "h", "f16x2": "h", "bf16x2": "h"}


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


def elementwise(operation: str, kind: str) -> Arithmetic:
    """An "add", "mul" or "fma" of one type, of both halves of a pair."""
    flops = (2 if operation == "fma" else 1) * (2 if kind.endswith("x2") else 1)
    return Arithmetic(kind.removesuffix("x2"), _LETTERS[kind] + operation, flops)
