"""Where instructions find their operands and leave their results, and the step of the plainest.

A *getter* ``get(R)`` answers with a source out of the registers ``R``, as the type that the
instruction asks for; a *setter* ``put(R, value)`` leaves a result there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..isa.instruction_set import DTYPES
from .lanes import Registers

if TYPE_CHECKING:
    from .code import Step
    from .lanes import Group

Get = Callable[[Registers], np.ndarray]
Put = Callable[[Registers, np.ndarray], None]
Place = tuple[int, np.dtype]

# What is known of getters and setters that do nothing special, for `one_result`.
_REGISTERS: str = "register"  # of a getter, its slot and dtype
_CONSTANT: str = "constant"
_SLOT: str = "slot"  # of a setter


def convert(value: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The bits of ``value`` as ``dtype``: reinterpreted at equal width, cut off when narrower."""
    if value.itemsize == dtype.itemsize:
        return value.view(dtype)
    wide = value.view(DTYPES[f"u{value.itemsize * 8}"])
    return wide.astype(DTYPES[f"u{dtype.itemsize * 8}"]).view(dtype)


def of_register(slot: int, dtype: np.dtype) -> Get:
    """The bits of a register as ``dtype``."""

    def get(R: Registers) -> np.ndarray:
        value = R[slot]
        return value if value.dtype is dtype else convert(value, dtype)

    get.register = slot, dtype  # type: ignore[attr-defined]
    return get


def of_constant(value: np.ndarray) -> Get:
    """The same array, of one element, each time."""

    def get(R: Registers) -> np.ndarray:
        return value

    get.constant = value  # type: ignore[attr-defined]
    return get


def into_register(slot: int) -> Put:
    """Into a register of the width that the value has."""

    def put(R: Registers, value: np.ndarray) -> None:
        R[slot] = value

    put.slot = slot  # type: ignore[attr-defined]
    return put


def into_wider(slot: int, dtype: np.dtype, width: int) -> Put:
    """Into a register of ``width`` bytes, which are more than the value has: it is extended."""
    wide = DTYPES[("s" if dtype.kind == "i" else "u") + str(width * 8)]
    bits = dtype if dtype.kind in "iu" else DTYPES[f"u{dtype.itemsize * 8}"]

    def put(R: Registers, value: np.ndarray) -> None:
        R[slot] = value.view(bits).astype(wide)

    return put


def one_result(compute: Callable[..., Any], gets: Sequence[Get], put: Put) -> Step:
    """The step of ``compute``, which has one result."""
    if len(gets) == 1:
        (a,) = gets

        def act(group: Group) -> None:
            R = group.R
            put(R, compute(a(R)))

    elif len(gets) == 2:
        a, b = gets
        quick = _of_two(compute, a, b, put) if isinstance(compute, np.ufunc) else None
        if quick:
            return quick

        def act(group: Group) -> None:
            R = group.R
            put(R, compute(a(R), b(R)))

    elif len(gets) == 3:
        a, b, c = gets

        def act(group: Group) -> None:
            R = group.R
            put(R, compute(a(R), b(R), c(R)))

    else:

        def act(group: Group) -> None:
            R = group.R
            put(R, compute(*(get(R) for get in gets)))

    return act


def _of_two(compute: np.ufunc, a: Get, b: Get, put: Put) -> Step | None:
    """The step of a function of NumPy on two registers, or one and a constant, which does without
    the calls of getters and setters: with few lanes these cost as much as the function. None for
    operands of other kinds.

    Of arrays of n elements and of one, NumPy takes the latter faster with no dimension at all.
    """
    target = getattr(put, "slot", None)
    first: Place | None = getattr(a, "register", None)
    second: Place | None = getattr(b, "register", None)
    if target is None or (first is None and second is None):
        return None
    if first is not None and second is not None:
        (i, x_type), (j, y_type) = first, second

        def of_registers(group: Group) -> None:
            R = group.R
            x, y = R[i], R[j]
            if x.dtype is not x_type:
                x = convert(x, x_type)
            if y.dtype is not y_type:
                y = convert(y, y_type)
            if len(x) != len(y):
                if len(x) == 1:
                    x = x[0, ...]
                else:
                    y = y[0, ...]
            R[target] = compute(x, y)

        return of_registers
    constant = getattr(a if first is None else b, "constant", None)
    if constant is None:
        return None
    value = constant.reshape(())
    if first is not None:
        i, x_type = first

        def with_constant(group: Group) -> None:
            R = group.R
            x = R[i]
            R[target] = compute(x if x.dtype is x_type else convert(x, x_type), value)

        return with_constant
    if second is None:
        return None
    j, y_type = second

    def of_constant_and(group: Group) -> None:
        R = group.R
        y = R[j]
        R[target] = compute(value, y if y.dtype is y_type else convert(y, y_type))

    return of_constant_and
