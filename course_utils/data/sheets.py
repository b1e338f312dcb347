"""What data sheets say of NVIDIA's GPUs, with the source of each row."""

from __future__ import annotations

import csv
from typing import Any

from ..paths import ASSETS

FILE = ASSETS / "data" / "gpu_generations.csv"
NUMBERS = ("fp32_tflops", "tensor_fp16_tflops", "bandwidth_gb_s", "memory_gb")


def data_sheets(kind: str | None = None) -> list[dict[str, Any]]:
    """One dict a GPU, the oldest first: architecture, year, gpu, kind, fp32_tflops,
    tensor_fp16_tflops (dense; None before tensor cores), bandwidth_gb_s, memory_gb and source.

    ``kind`` picks "large", the GPUs made for data centres, or "card", smaller ones.
    """
    with FILE.open(encoding="utf-8", newline="") as file:
        rows: list[dict[str, Any]] = list(csv.DictReader(file))
    for row in rows:
        row["year"] = int(row["year"])
        row.update({name: float(row[name]) if row[name] else None for name in NUMBERS})
    return [row for row in rows if kind in (None, row["kind"])]
