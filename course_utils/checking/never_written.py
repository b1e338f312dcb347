"""Which elements were never written: they are as they were before the launch.

``cp.empty`` fills an array on the emulator with values that hardly any kernel computes: a NaN of
its own, or 0xCD in every byte of an integer. A NaN keeps its bits through arithmetic on most
machines: a result with those bits was never written, or was made from unwritten memory. In another
array it was made from that. So was an integer that is a little more than the pattern, or twice it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..devices import emulated_cupy
from ..devices.emulated_arrays import CANARY, NAN_BITS, plain
from ..emulator import GLOBAL
from .tolerance import is_inexact

NEAR = 1 << 16  # from the pattern, within which an integer is hardly a result
FACTORS = range(2, 9)  # by which the pattern may have been multiplied


@dataclass(frozen=True)
class Unset:
    """Masks of the result's shape: ``unwritten`` elements, NaN that have another reason
    (``strange``), and the ones among these, and the integers, that come from unwritten memory
    (``carried``)."""

    unwritten: np.ndarray
    strange: np.ndarray
    carried: np.ndarray


def unset(actual: Any, got: np.ndarray, want: np.ndarray, initial: Any = None) -> Unset:
    """The elements that were never written in ``got``, the host's copy of ``actual``.

    ``initial`` is its content before the launch: an array of its shape, or one value. Without it,
    that is the NaN of NumPy or of ``cp.empty``, or an integer of ``cp.empty``. A NaN that ``want``
    expects is not strange.
    """
    nan = np.isnan(got) & ~np.isnan(want) if _has_nan(got) else np.zeros(got.shape, bool)
    emulated = isinstance(actual, emulated_cupy.ndarray)
    foreign = _holds(got, _empty_bits(got.dtype), either_sign=True)
    if initial is not None:
        before = np.broadcast_to(np.asarray(initial).astype(got.dtype), got.shape)
        same = _equal(got, before)
    elif emulated and GLOBAL.made_without_values(plain(actual)):
        same = _holds(got, _empty_bits(got.dtype))
    elif emulated:
        same = _holds(got, _nan_bits(got.dtype))
    else:
        same = _holds(got, _empty_bits(got.dtype)) | _holds(got, _nan_bits(got.dtype))
    if not _has_nan(got):
        carried = _near_canary(got, want) if emulated else np.zeros(got.shape, bool)
        return Unset(same, nan, carried & ~same)
    carried = foreign | _holds(got, -1) if emulated else foreign
    return Unset(same, nan & ~same, nan & ~same & carried)


def _near_canary(got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """Integers that are the pattern and a small number, or the expected one, or the pattern times
    a small number. Narrow ones may be that by chance."""
    if got.dtype.kind not in "iu" or got.dtype.itemsize < 4 or want.dtype.kind not in "iu":
        return np.zeros(got.shape, bool)
    unsigned = np.dtype(f"u{got.dtype.itemsize}")
    pattern = unsigned.type(int.from_bytes(bytes([CANARY]) * unsigned.itemsize, "little"))
    words = np.ascontiguousarray(got).view(unsigned)
    with np.errstate(over="ignore"):
        more = words - pattern
        found: np.ndarray = more + unsigned.type(NEAR) < 2 * NEAR
        found |= more == want.astype(unsigned)
        for factor in FACTORS:
            found |= words == np.multiply(pattern, unsigned.type(factor))
    return found


def raw_bytes(array: np.ndarray) -> np.ndarray:
    """The raw bytes along a new last axis, so that one NaN differs from another."""
    return np.ascontiguousarray(array)[..., None].view(np.uint8)


def _has_nan(array: np.ndarray) -> bool:
    return is_inexact(array) or array.dtype.name == "bfloat16"


def _equal(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    same: np.ndarray = (raw_bytes(left) == raw_bytes(right)).all(axis=-1)
    return same


def _empty_bits(dtype: np.dtype) -> int | None:
    """The bits that ``cp.empty`` puts into an element, or into each part of a complex one."""
    if dtype.kind in "iu":
        return int.from_bytes(bytes([CANARY]) * dtype.itemsize, "little")
    return NAN_BITS.get(_part(dtype).name)


def _nan_bits(dtype: np.dtype) -> int | None:
    if dtype.kind in "iub":
        return None
    return int(np.array(np.nan, _part(dtype)).view(f"u{_part(dtype).itemsize}"))


def _part(dtype: np.dtype) -> np.dtype:
    """The dtype of the real part of a complex number."""
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def _holds(array: np.ndarray, bits: int | None, either_sign: bool = False) -> np.ndarray:
    """Where the element, or a complex one's real part, is made of these ``bits``."""
    part = _part(array.dtype)
    if bits is None or part.itemsize > 8:
        return np.zeros(array.shape, bool)
    unit = np.dtype(f"u{part.itemsize}")
    words = np.ascontiguousarray(array)[..., None].view(unit)[..., 0]
    mask = (1 << 8 * part.itemsize) - 1
    sign = 1 << 8 * part.itemsize - 1
    found: np.ndarray = words == unit.type(bits & mask)
    if either_sign and array.dtype.kind not in "iu":
        found |= words == unit.type(bits ^ sign)
    return found
