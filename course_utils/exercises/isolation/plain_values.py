"""The results of a student's function, as plain values without the student's code.

A class may say of itself that it equals everything. So results are written down as numbers in the
student's process, and made again from them, of Python's own types, in the checker's.
"""

from __future__ import annotations

import base64
import numbers
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

DEEPEST = 20  # lists in lists
LONGEST = 20_000  # characters of a string
LARGEST = 2**24  # bytes of a number or an array
NESTED: dict[str, type[Any]] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}


@dataclass(frozen=True)
class Unserialisable:
    """A value other than numbers, strings and containers of them: its type's name, and itself as
    Python writes it."""

    type_name: str
    text: str

    def __repr__(self) -> str:
        return self.text


def written(value: Any, depth: int = 0) -> list[Any]:
    """``value`` in lists, strings and truth values, as JSON has them, with :func:`read` as the
    inverse.

    A class of the student's is not asked about itself where Python's own type knows the answer.
    """
    if depth > DEEPEST:
        return ["other", type(value).__name__, f"<a deeply nested {type(value).__name__}>"]
    if hasattr(type(value), "get") and hasattr(value, "dtype"):  # an array of the device
        value = value.get()
    if value is None or value is True or value is False:
        return ["constant", value]
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value).view(np.ndarray)
        if array.dtype.kind in "biufcSU" and array.nbytes <= LARGEST:
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            content = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
            return [kind, array.dtype.str, list(array.shape), content]
        return _other(value)
    if isinstance(value, str):
        text = str.__str__(value)
        return ["text", text if len(text) <= LONGEST else text[:LONGEST] + "..."]
    for name, base in NESTED.items():
        if isinstance(value, base):
            elements = [written(element, depth + 1) for element in base.__iter__(value)]
            return [name, elements if base in (list, tuple) else sorted(elements, key=repr)]
    if isinstance(value, dict):
        pairs = dict.items(value)
        return ["dict", [[written(k, depth + 1), written(v, depth + 1)] for k, v in pairs]]
    if isinstance(value, int):
        return _whole(int.__int__(value))
    if isinstance(value, float):
        return ["float", float.__float__(value).hex()]
    if isinstance(value, numbers.Integral):
        return _whole(int(value))
    return ["float", float(value).hex()] if isinstance(value, numbers.Real) else _other(value)


def read(found: list[Any]) -> Any:
    """The value that :func:`written` wrote down."""
    kind, *content = found
    if kind in NESTED:
        return NESTED[kind](map(read, content[0]))
    if kind in ("array", "scalar"):
        dtype, shape, data = content
        array = np.frombuffer(base64.b64decode(data), np.dtype(dtype)).reshape(shape).copy()
        return array if kind == "array" else array[()]
    if kind == "dict":
        return {read(key): read(value) for key, value in content[0]}
    if kind == "other":
        return Unserialisable(*content)
    ways: dict[str, Callable[[], Any]] = {
        "constant": lambda: content[0],
        "text": lambda: content[0],
        "int": lambda: int(content[0], 16),
        "float": lambda: float.fromhex(content[0]),
    }
    return ways[kind]()


def plain(value: Any) -> Any:
    """Numbers, strings, lists, tuples, dictionaries and arrays as just those."""
    return read(written(value))


def _whole(value: int) -> list[Any]:
    return ["int", hex(value)] if value.bit_length() <= 8 * LARGEST else _other(value)


def _other(value: Any) -> list[Any]:
    try:
        text = repr(value)
    except Exception as error:
        text = f"<a {type(value).__name__} that repr() cannot write: {type(error).__name__}>"
    return ["other", type(value).__name__, str.__str__(text)[:LONGEST]]
