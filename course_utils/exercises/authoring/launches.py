"""The arguments of a kernel under test, and its launch shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Empty:
    """A pure output: the runner fills it with a poison pattern before every launch."""

    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def fill(self) -> np.generic:
        """Its contents before a launch on a GPU: NaN, or a number that is rarely a result."""
        number: np.generic = self.dtype.type(np.nan if self.dtype.kind in "fc" else 0x5A)
        return number


def empty(shape: int | tuple[int, ...], dtype: Any = np.float32) -> Empty:
    """An output array that the kernel has to fill."""
    return Empty((shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype))


def floats(rng: np.random.Generator, shape: int | tuple[int, ...]) -> np.ndarray:
    """Normally distributed float32 values: distinct, of both signs."""
    return rng.standard_normal(shape, dtype=np.float32)


def int32s(**values: Any) -> dict[str, np.int32]:
    """Scalars of C++'s ``int`` by parameter name, in this order: ``**int32s(rows=37, n=45)``."""
    return {name: np.int32(value) for name, value in values.items()}


@dataclass(frozen=True)
class Launch:
    """Grid and block as (x, y, z) counts. ``shared`` is dynamic shared memory in bytes.

    ``kernel`` and ``arguments`` (names of inputs) are for exercises that launch several kernels.
    ``budget`` is for a launch that takes more instructions than the exercise's others.
    """

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int = 0
    kernel: str | None = None
    arguments: tuple[str, ...] | None = None
    budget: int = 0
