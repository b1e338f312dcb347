"""Elements by name: the text of an index, and the inputs at the same index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np


def at_index(
    index: Sequence[int], shape: Sequence[int], inputs: Mapping[str, Any]
) -> dict[str, Any]:
    """The values of ``inputs`` at the element ``index`` of an output of ``shape``.

    The keys say which element each value is, such as ``x[1, 2]``. An input counts where it has the
    output's shape, or as many elements in one dimension, as a kernel takes them, or the reverse. A
    single number is there at every index. Other inputs are left out: which of their elements
    belongs to the output's only the kernel knows.
    """
    found: dict[str, Any] = {}
    for name, value in inputs.items():
        array = np.asarray(value.get() if hasattr(value, "get") else value)
        if array.ndim == 0:
            found[name] = array[()]
        elif array.size == prod(shape) and (
            array.shape == tuple(shape) or 1 in (array.ndim, len(shape))
        ):
            flat = int(np.ravel_multi_index(tuple(index), tuple(shape)))
            there = tuple(int(i) for i in np.unravel_index(flat, array.shape))
            found[element(name, there)] = array[there]
    return found


def element(name: str, index: Sequence[int]) -> str:
    """An element as Python writes it: ``c[3, 7]``."""
    return f"{name}[{', '.join(map(str, index))}]"


def named_index(index: Sequence[int], axes: Sequence[str] = ()) -> str:
    """An index by its axes' names: ``row 3, column 7``; of one dimension nothing, unless ``axes``
    has its name."""
    names = axes or (axis_names(len(index)) if 1 < len(index) < 4 else ())
    return ", ".join(f"{name} {i}" for name, i in zip(names, index, strict=False))


def axis_names(ndim: int) -> tuple[str, ...]:
    """The names of an array's axes: matrices, their rows and columns."""
    if ndim == 1:
        return ("element",)
    return (*("matrix",) * (ndim - 2), "row", "column")


def plural(name: str) -> str:
    """``rows`` for ``row``, ``queries`` for ``query``, ``matrices`` for ``matrix``."""
    if name.endswith("ix"):
        return f"{name[:-2]}ices"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "ch", "sh")) else f"{name}s"
