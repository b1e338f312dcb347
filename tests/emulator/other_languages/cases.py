"""Launches of the kernels beside this file: what they compute, and the mistake that each has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from course_utils.emulator import DATA_RACE, OUT_OF_BOUNDS

HERE = Path(__file__).parent
MARK = "# here"
Arrays = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """One launch. ``grid``, ``block`` and ``args`` are as the language takes them; a name among
    ``args`` stands for one of ``arrays``. ``right``: the array ``o`` or ``y`` afterwards, NumPy's.
    ``found``: the kind of the one finding, at the line with the mark."""

    language: str
    kernel: str
    grid: Any
    args: tuple[Any, ...]
    arrays: Callable[[np.random.Generator], Arrays]
    right: Callable[[Arrays], np.ndarray] | None = None
    block: Any = None
    meta: dict[str, Any] = field(default_factory=dict)
    arch: int = 90
    found: str = ""

    @property
    def name(self) -> str:
        return f"{self.language}_{self.kernel}_{self.arch}"

    @property
    def file(self) -> Path:
        return HERE / f"{self.language}_kernels.py"

    def made(self) -> Arrays:
        return self.arrays(np.random.default_rng(7))

    def line(self) -> int:
        """Of the mark below the kernel's head."""
        lines = self.file.read_text().splitlines()
        head = lines.index(next(line for line in lines if f"def {self.kernel}(" in line))
        return 1 + next(n for n in range(head, len(lines)) if lines[n].endswith(MARK))

    def function(self) -> Any:
        module = import_module(f"{__package__}.{self.language}_kernels")
        return getattr(module, self.kernel)


def floats(**shapes: Any) -> Callable[[np.random.Generator], Arrays]:
    """Random float32 arrays, and zeros for ``o``."""
    return lambda rng: {
        name: np.zeros(shape, np.float32)
        if name in "oc"
        else rng.standard_normal(shape).astype(np.float32)
        for name, shape in shapes.items()
    }


def halves(rng: np.random.Generator) -> Arrays:
    a, b = rng.standard_normal((2, 64, 64)).astype(np.float16)
    return {"a": a, "b": b, "o": np.zeros((64, 64), np.float32)}


def integers(rng: np.random.Generator) -> Arrays:
    return {"x": rng.integers(0, 9, 300).astype(np.int32), "o": np.zeros(9, np.int32)}


def softmaxes(given: Arrays) -> np.ndarray:
    power = np.exp(given["x"])
    return power / power.sum(1, keepdims=True)


def counts(given: Arrays) -> np.ndarray:
    return np.bincount(given["x"], minlength=9)


TRITON = [
    Case(
        "triton",
        "add",
        (4,),
        ("x", "y", "o", 1000),
        floats(x=1000, y=1000, o=1000),
        lambda given: given["x"] + given["y"],
        meta={"BLOCK": 256},
    ),
    *(
        Case(
            "triton",
            "softmax",
            (3,),
            ("x", "o", 100),
            floats(x=(3, 100), o=(3, 100)),
            softmaxes,
            meta={"BLOCK": 128, "num_warps": 2},
            arch=arch,
        )
        for arch in (80, 100)
    ),
    *(
        Case(
            "triton",
            "product",
            (1, 2),
            ("a", "b", "o", 64, 64),
            halves,
            lambda given: given["a"].astype(np.float32) @ given["b"].astype(np.float32),
            meta={"BM": 64, "BN": 32, "BK": 32},
            arch=arch,
        )
        for arch in (80, 90)
    ),
    Case("triton", "histogram", (2,), ("x", "o", 300), integers, counts, meta={"BLOCK": 256}),
    Case(
        "triton",
        "running_total",
        (1,),
        ("x", "o"),
        lambda rng: {"x": np.arange(256, dtype=np.int32), "o": np.zeros(256, np.int32)},
        lambda given: np.cumsum(given["x"]),
        meta={"BLOCK": 256},
    ),
    Case(
        "triton",
        "squares",
        (1,),
        ("x", "o"),
        floats(x=128, o=128),
        lambda given: given["x"] / np.square(given["x"]).sum(),
        meta={"BLOCK": 128},
    ),
    Case(
        "triton",
        "no_mask",
        (4,),
        ("x", "o"),
        floats(x=1000, o=1000),
        meta={"BLOCK": 256},
        found=OUT_OF_BOUNDS,
    ),
    Case(
        "triton",
        "two_to_one",
        (1,),
        ("x", "o"),
        floats(x=256, o=128),
        meta={"BLOCK": 256},
        found=DATA_RACE,
    ),
]
NUMBA = [
    Case(
        "numba",
        "saxpy",
        3,
        ("x", "o", 2.0),
        floats(x=300, o=300),
        lambda given: 2 * given["x"],
        block=128,
    ),
    Case(
        "numba",
        "total",
        3,
        ("x", "o"),
        floats(x=300, o=1),
        lambda given: given["x"].sum(keepdims=True),
        block=128,
    ),
    Case(
        "numba",
        "row_sums",
        1,
        ("x", "o"),
        lambda rng: {"x": rng.standard_normal((10, 8))[::2, ::2], "o": np.zeros(5)},
        lambda given: given["x"].sum(1),
        block=32,
    ),
    Case(
        "numba",
        "waves",
        3,
        ("x", "o"),
        floats(x=300, o=300),
        lambda given: np.exp(given["x"]) * np.sin(given["x"]),
        block=128,
    ),
    Case(
        "numba",
        "no_guard",
        3,
        ("x", "o"),
        floats(x=300, o=300),
        block=128,
        found=OUT_OF_BOUNDS,
    ),
    Case("numba", "no_barrier", 1, ("x", "o"), floats(x=128, o=128), block=128, found=DATA_RACE),
]
WARP = [
    Case(
        "warp",
        "saxpy",
        300,
        ("x", "o", 2.0),
        floats(x=300, o=300),
        lambda given: 2 * given["x"],
        block=128,
    ),
    Case(
        "warp",
        "flipped",
        (20, 30),
        ("x", "o"),
        floats(x=(20, 30), o=(30, 20)),
        lambda given: given["x"].T,
        block=256,
    ),
    Case("warp", "count", 300, ("x", "o"), integers, counts, block=128),
    Case(
        "warp",
        "one_further",
        300,
        ("x", "o"),
        floats(x=300, o=300),
        block=128,
        found=OUT_OF_BOUNDS,
    ),
]
CASES = {case.name: case for case in (*TRITON, *NUMBA, *WARP)}
