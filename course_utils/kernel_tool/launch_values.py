"""A launch's arguments written as words: ``x=random(1000)``, ``a=2.5``, ``y=saved.npy``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..compiling.signature import DTYPES, NARROW_FLOATS, Parameter, Signature
from ..devices import emulated_cupy
from ..errors import LessonError

FORMS = (
    "a number, null, a .npy file, or zeros(N), ones(N), arange(N), random(N), empty(N) with as "
    "many extents as you like and, at the end, a dtype where the parameter does not tell it: "
    "zeros(64, 32, float32)"
)
_DTYPES = {**{dtype.name: dtype for dtype in DTYPES.values()}, **DTYPES}
_CALL = re.compile(r"(\w+)\((.*)\)$", re.DOTALL)
_NAMED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


def arguments(words: Sequence[str], signature: Signature | None, seed: int = 0) -> dict[str, Any]:
    """Parameter name -> value, in the kernel's order, from one word each.

    Words are in the parameters' order, or ``name=value`` in any. An array takes its dtype from the
    parameter. ``random`` draws from -1 to 1, whole numbers from 0 to 99, by ``seed``. Raises
    LessonError for a word that says nothing, and for a parameter with no word or with two.
    """
    if signature is None:
        raise LessonError("The kernel's parameters could not be read in its source.")
    if refused := signature.refused_reference():
        raise LessonError(refused)
    parameters = {parameter.name: parameter for parameter in signature.parameters}
    listed = ", ".join(map(str, signature.parameters)) or "none"
    found: dict[str, str] = {}
    for word in words:
        named = _NAMED.fullmatch(word)
        name = named[1] if named else next((n for n in parameters if n not in found), "")
        if name not in parameters:
            what = f"no parameter {name!r}" if name else f"no parameter left for {word!r}"
            raise LessonError(f"{signature.name} has {what}; it has {listed}.")
        if name in found:
            raise LessonError(f"{signature.name}: {name} is given twice.")
        found[name] = named[2] if named else word
    if missing := [name for name in parameters if name not in found]:
        raise LessonError(
            f"{signature.name} wants {listed}: nothing is given for {', '.join(missing)}."
        )
    random = np.random.default_rng(seed)
    return {name: _value(found[name], parameters[name], random) for name in parameters}


def extents(word: str) -> tuple[int, ...]:
    """``"4"`` or ``"4,2,1"`` as one to three whole numbers; LessonError for anything else."""
    try:
        found = tuple(int(part) for part in word.split(","))
    except ValueError:
        found = ()
    if not 1 <= len(found) <= 3:
        raise LessonError(
            f"A grid or a block is one to three whole numbers, 4 or 4,2; got {word!r}."
        )
    return found


def _value(word: str, parameter: Parameter, random: np.random.Generator) -> Any:
    word = word.strip()
    if not parameter.pointer and parameter.dtype is None:
        raise LessonError(f"{parameter.name} is a {parameter.c_type}, for which there is no word.")
    if word == "null":
        return None
    if word.endswith(".npy"):
        return _saved(word)
    if made := _CALL.fullmatch(word):
        return _array(made[1], made[2], parameter, random)
    try:
        return int(word, 0)
    except ValueError:
        pass
    try:
        return float(word)
    except ValueError:
        raise LessonError(f"{parameter.name}: {word!r} is none of {FORMS}.") from None


def _saved(word: str) -> Any:
    try:
        return emulated_cupy.asarray(np.ascontiguousarray(np.load(Path(word), allow_pickle=False)))
    except OSError as error:
        raise LessonError(f"{word!r} could not be read: {error}") from None
    except (ValueError, EOFError):
        raise LessonError(
            f"{word!r} is no file in which NumPy saved an array of numbers."
        ) from None


def _array(maker: str, inside: str, parameter: Parameter, random: np.random.Generator) -> Any:
    if maker not in _MAKERS:
        raise LessonError(f"{parameter.name}: {maker!r} makes no array. A value is {FORMS}.")
    *parts, last = [part.strip() for part in inside.split(",")]
    dtype = parameter.dtype
    if last in _DTYPES:
        dtype = _DTYPES[last]
    else:
        parts.append(last)
    if dtype is None:
        raise LessonError(
            f"{parameter.name} is {parameter.c_type} *: name a dtype, {maker}({inside}, float32)."
        )
    try:
        shape = tuple(int(part) for part in parts)
    except ValueError:
        shape = ()
    if not shape or min(shape) < 0:
        raise LessonError(
            f"{parameter.name}: {maker}({inside}) has no shape or no dtype that is known. Write "
            f"{maker}(1000), or {maker}(64, 32, float32)."
        )
    try:
        return _MAKERS[maker](shape, dtype, random)
    except (MemoryError, ValueError) as error:  # the latter where the product overflows
        raise LessonError(
            f"{parameter.name}: {maker}({inside}): {str(error).rstrip('.')}."
        ) from None


def _random(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> Any:
    if dtype.kind in "f" or dtype in NARROW_FLOATS:
        return emulated_cupy.asarray(random.uniform(-1, 1, shape).astype(dtype))
    return emulated_cupy.asarray(
        random.integers(0, 2 if dtype.kind == "b" else 100, shape).astype(dtype)
    )


def _counted(shape: tuple[int, ...], dtype: np.dtype, random: np.random.Generator) -> Any:
    return emulated_cupy.asarray(np.arange(math.prod(shape)).reshape(shape).astype(dtype))


_MAKERS: dict[str, Callable[[tuple[int, ...], np.dtype, np.random.Generator], Any]] = {
    "zeros": lambda shape, dtype, random: emulated_cupy.zeros(shape, dtype),
    "ones": lambda shape, dtype, random: emulated_cupy.ones(shape, dtype),
    "empty": lambda shape, dtype, random: emulated_cupy.empty(shape, dtype),
    "arange": _counted,
    "random": _random,
}
