"""Figures of other data than those of ``test_figures.py``: where the same function draws more, or
otherwise. What they consist of is recorded, too."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from course_utils import figures
from course_utils.layouts import Layout

LANES = np.arange(32)
SOURCE = ["void f()", "{", "\tx = 1;", "y" * 130, "}", "", "void g()"]


class Profiled:
    """As much of a profile as its picture looks at."""

    kernel, source = "f", "\n".join(SOURCE)

    def __init__(self, **values):
        self.values = {int(name[1:]): value for name, value in values.items()}

    def by_line(self, by):
        return self.values


def traced():
    """As much of a trace as its picture looks at: five lanes, then none of them, then all."""

    def step(line, active, file="sum.cu"):
        return SimpleNamespace(file=file, line=line, active=active)

    few, all_lanes = (LANES > 2) & (LANES < 8), LANES >= 0
    steps = [
        *(step(1, few), step(1, few), step(1, ~few), step(2, all_lanes)),
        *(step(2, all_lanes), step(7, few, "/somewhere/reduce.cuh"), step(3, all_lanes)),
    ]
    return SimpleNamespace(
        steps=steps,
        filename="sum.cu",
        warp=1,
        block_index=(2, 3, 0),
        complete=False,
        text=lambda line: "y" * (57 + line),
    )


def further_drawings() -> dict:
    """As functions of nothing, like ``drawings()``."""
    index = np.arange(40)
    row, column = np.mgrid[:4, :6]
    plane = np.mgrid[:32, :32]
    access = SimpleNamespace(addresses=128 * (LANES % 18), bytes=4, array="x", store=True)
    pairs = [(1024, 20), (4096, 25)]
    coloured = np.arange(45).reshape(3, 5, 3) / 45
    return {
        "thread_map of many blocks": lambda: figures.thread_map(
            np.where(index < 38, index // 3, -1), np.where(index < 38, index % 3, -1)
        ),
        "thread_map of large tiles": lambda: figures.thread_map(
            (plane[1] // 16, plane[0] // 16), (100 + plane[1] % 16, 100 + plane[0] % 16)
        ),
        "image_pair in colour": lambda: figures.image_pair(coloured, 1 - coloured),
        "warp_sectors of bytes": lambda: figures.warp_sectors(LANES[::-1] // 2 * 8, bytes=1),
        "warp_sectors of a store": lambda: figures.warp_sectors(access),
        "shared_banks in conflict": lambda: figures.shared_banks(access),
        "shared_banks in two halves": lambda: figures.shared_banks(8 * (LANES ^ 5), bytes=8),
        "ladder with its line in the way": lambda: figures.ladder(
            *(["a", "b", "c"], [50, 60, 1], ("cuBLAS", 48)), unit="x"
        ),
        "ladder with factors": lambda: figures.ladder(
            ["a", "b", "c"], [2, 5, 4], ("cuBLAS", 6), factors=True
        ),
        "ladder past a low line": lambda: figures.ladder(["a", "b"], [1, 60], 2),
        "curves with guides": lambda: figures.curves(
            {"L1": pairs}, across="bytes", up="ns", guides={"n": pairs, "2 n": pairs}
        ),
        "numbered_cells one below the other": lambda: figures.numbered_cells(
            {"rows": (column, row), "columns": (row, column)}, across=False
        ),
        "stalls of two kernels": lambda: figures.stalls(
            {"slow": {"memory": 8, "barrier": 1, "pipe": 3}, "fast": {"memory": 2, "pipe": 1}}
        ),
        "layout_map of many groups": lambda: figures.layout_map(
            {"a row": Layout("25:1")}, group=lambda offset: offset
        ),
        "layout_maps as wide as the page": lambda: figures.layout_map(
            dict.fromkeys("abc", Layout("(1,7):(0,1)"))
        ),
        "source_heat of short lines": lambda: figures.source_heat(Profiled(L1=3), lines=(1, 3)),
        "source_heat": lambda: figures.source_heat(Profiled(L3=1200, L4=600)),
        "warp_steps": lambda: figures.warp_steps(traced()),
        "warp_steps, the first": lambda: figures.warp_steps(traced(), rows=2),
    }
