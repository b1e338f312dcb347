"""The arguments of planted kernels, from text such as ``zeros(64), tensor_map(), 3``.

A number becomes an ``int``. Anything else is a call of one of MAKERS, with one number or none.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

import course_utils.launching.tensor_maps as tensor_maps
from course_utils.devices import emulated_cupy as cp
from course_utils.devices.emulated_arrays import plain
from course_utils.emulator import GLOBAL, Surface, Texels, Texture

CALL = re.compile(r"(\w+)\((\d*)\)")
MAPPED = np.arange(64, dtype=np.float32).reshape(8, 8)  # a map holds its address, not the array


def arguments(text: str) -> tuple[Any, ...]:
    """The arguments of ``text``, made anew. Raises ValueError for a part that is neither."""
    return tuple(_argument(part) for part in text.split(", "))


def _argument(text: str) -> Any:
    if text.isdecimal():
        return np.int32(text)
    call = CALL.fullmatch(text)
    if call is None or call[1] not in MAKERS:
        raise ValueError(f"{text!r} is no number, nor a call of {', '.join(MAKERS)}")
    return MAKERS[call[1]](*map(int, call[2].split()))


def zeros(count: int) -> np.ndarray:
    return np.zeros(count, np.float32)


def ones(count: int) -> np.ndarray:
    return np.ones(count, np.float32)


def numbers(count: int) -> np.ndarray:
    """0, 1, 2 and so on."""
    return np.arange(count, dtype=np.float32)


def empty(count: int) -> np.ndarray:
    """Uninitialised numbers."""
    return plain(cp.empty(count, np.float32))


def padded() -> np.ndarray:
    """16 rows of four numbers, the last of which is uninitialised."""
    made = empty(64)
    made.reshape(16, 4)[:, :3] = 1
    return made


def null() -> np.uint64:
    """A pointer to nothing."""
    return np.uint64(0)


def freed() -> np.uint64:
    """The address of an array that is gone."""
    return np.uint64(GLOBAL.pointer(np.zeros(64, np.float32), "old"))


def tensor_map() -> np.ndarray:
    """A map of ``mapped()`` as one box of 8 rows of 8 numbers."""
    return tensor_maps.tensor_map(MAPPED, (8, 8))


def mapped() -> np.ndarray:
    """The 64 numbers that ``tensor_map()`` describes."""
    return MAPPED.reshape(-1)


@cache
def _texels() -> Texels:
    """2 rows of 64 numbers, 0 each."""
    return Texels(np.zeros((1, 2, 64, 1), np.float32), 2)


@cache
def _texture() -> Texture:
    return Texture(_texels())


@cache
def _surface() -> Surface:
    return Surface(_texels())


def texture() -> np.uint64:
    """The handle of a texture of 2 rows of 64 numbers."""
    return np.uint64(_texture().handle)


def surface() -> np.uint64:
    """The handle of a surface on the same numbers as ``texture()``."""
    return np.uint64(_surface().handle)


MAKERS = {
    make.__name__: make
    for make in (
        *(zeros, ones, numbers, empty, padded, null, freed),
        *(tensor_map, mapped, texture, surface),
    )
}
