"""The kernels launched last, with the arrays that each may have written, for a check that fails."""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from .emulated_arrays import ndarray, plain

KEPT = 32  # launches
MOST_BYTES = 1 << 28  # of an array that is compared with its content before a launch


@dataclass(frozen=True)
class Launched:
    """A launch: the kernel's name, its grid and block, and whether a fault ended it. ``references``
    are weak ones to its arrays, by their parameters' names. ``code`` is the kernel's.
    ``shared`` are its bytes of dynamic shared memory. ``changed_nothing``: its results were there
    already, from other code of the same name."""

    kernel: str
    grid: Sequence[int]
    block: Sequence[int]
    faulted: bool = False
    references: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    code: str = field(default="", repr=False, compare=False)
    shared: int = 0
    changed_nothing: bool = False

    @property
    def as_sanitized(self) -> str:
        """The call that examines it: ``sanitize(vec_add, 4, 256, args)``."""
        shared = f", shared_mem={self.shared}" if self.shared else ""
        return f"sanitize({self.kernel}, {_shape(self.grid)}, {_shape(self.block)}, args{shared})"

    def arrays(self) -> dict[str, Any]:
        """Its arrays that still exist, by their parameters' names, as they are now."""
        kept = {name: reference() for name, reference in self.references.items()}
        return {name: array for name, array in kept.items() if array is not None}


class Written(NamedTuple):
    """Memory that a launch may have written: a weak reference to its ``owner``, its bounds, and a
    checksum of the contents after a fault, None after any other launch."""

    owner: Any
    bounds: tuple[int, int]
    left: int | None


_launches: deque[tuple[Launched, list[Written]]] = deque(maxlen=KEPT)


def remember(launched: Launched, args: Any, parameters: Sequence[Any] = ()) -> None:
    """Note a launch on ``args``. ``parameters`` are the ones in the kernel's signature, where
    known: an array that it takes as const isn't written."""
    wrote, read = arrays_of(args, parameters)
    written = {name: reference for name, (reference, _) in wrote.items()}
    others = {name: reference for name, (reference, _) in read.items()}
    launched = replace(launched, references={**written, **others})
    places = []
    for reference, here in wrote.values():
        owner = _owner(reference())
        left = _checksum(owner) if launched.faulted else None
        places.append(Written(weakref.ref(owner), here, left))
    _launches.append((launched, places))


Arrays = dict[str, tuple[Any, tuple[int, int]]]


def arrays_of(args: Any, parameters: Sequence[Any] = ()) -> tuple[Arrays, Arrays]:
    """The arrays among ``args`` that a kernel may write, and the others, by their parameters'
    names: a weak reference to each, and its bounds."""
    known = parameters if len(parameters) == len(args) else [None] * len(args)
    wrote, read = Arrays(), Arrays()
    for number, (value, parameter) in enumerate(zip(args, known, strict=True), 1):
        here = bounds(value)
        if here is None:
            continue
        try:
            reference = weakref.ref(value)
        except TypeError:  # nothing shows whether it still exists
            continue
        name = f"argument {number}" if parameter is None else parameter.name
        const = parameter is not None and parameter.const
        (read if const else wrote)[name] = reference, here
    return wrote, read


def launches_on(array: Any) -> list[Launched]:
    """The launches that may have written to ``array``, of those that are remembered, in order."""
    return [launched for launched, written in _launches if _overlaps(array, written)]


def last_launch_on(array: Any) -> Launched | None:
    """The last of :func:`launches_on`, None without one."""
    return next(iter(launches_on(array)[::-1]), None)


def results_before(kernel: str, code: str, args: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """The arrays of the emulator among ``args`` that other code has written before, as a kernel of
    the same name: each with a copy of its content."""
    found = []
    for value in args:
        if isinstance(value, ndarray) and value.nbytes <= MOST_BYTES:
            earlier = [each for each in launches_on(value) if each.kernel == kernel]
            if any(each.code != code and not each.faulted for each in earlier):
                found.append((plain(value), plain(value).copy()))
    return found


def are_unchanged(results: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Whether there are such arrays, and each has its contents still."""
    same = (now.tobytes() == before.tobytes() for now, before in results)
    return bool(results) and all(same)


def _overlaps(array: Any, places: Sequence[Written]) -> bool:
    """Whether ``array`` has a byte in common with one of ``places`` that is still in use, and that
    nothing has written since a fault."""
    here = bounds(array)
    return here is not None and any(
        place.owner() is not None
        and here[0] < place.bounds[1]
        and place.bounds[0] < here[1]
        and (place.left is None or place.left == _checksum(place.owner()))
        for place in places
    )


def _checksum(array: Any) -> int | None:
    """Of an array of the emulator. None on a GPU, where a fault leaves it unreadable."""
    known = isinstance(array, np.ndarray) and array.nbytes <= MOST_BYTES
    return crc32(array.tobytes()) if known else None


def _owner(array: Any) -> Any:
    """The array that owns the memory of ``array``: a view such as y[2:] may be gone before it."""
    array = plain(array)
    base = getattr(array, "base", getattr(array, "_base", None))  # the second is torch's
    return _owner(base) if isinstance(base, (np.ndarray, type(array))) else array


def bounds(array: Any) -> tuple[int, int] | None:
    """The addresses of an array on the device, from its first byte to past its last, None for
    any other value."""
    if isinstance(array, ndarray):
        low, high = np.lib.array_utils.byte_bounds(plain(array))
        return int(low), int(high)
    if hasattr(array, "data_ptr"):  # torch
        start = int(array.data_ptr())
        return start, start + int(array.numel()) * int(array.element_size())
    if hasattr(array, "__cuda_array_interface__") and hasattr(array, "nbytes"):  # CuPy
        start = int(array.data.ptr)
        return start, start + int(array.nbytes)
    return None


def _shape(size: Sequence[int]) -> str:
    """A grid or a block as it is written: without the ones at its end."""
    kept = list(size)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return str(kept[0]) if len(kept) == 1 else str(tuple(kept))
