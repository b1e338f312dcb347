"""NumPy's functions under CuPy's names, with CuPy's arguments and nothing that CuPy lacks."""

from __future__ import annotations

import inspect
from functools import cache, wraps
from typing import Any

import numpy as np

from .cupy_signatures import (
    MODULE,
    NO_FUNCTIONS,
    SCATTER_UFUNC,
    TYPE,
    UFUNC,
    CupySignature,
    dotted,
    entry,
    refuses_lists,
    signature_of,
    stored,
)
from .emulated_arrays import called, wrap

SPACES = {"": np, "fft": np.fft, "linalg": np.linalg}
UFUNC_OPTIONS = {"out", "dtype", "casting"}
REDUCING = {"reduce": ("add", "multiply"), "accumulate": ("add", "multiply"), "reduceat": ("add",)}
HOST_TYPES = (
    "broadcast",
    "flatiter",
    "nditer",
    "poly1d",
    "vectorize",
)  # NumPy's hold its own arrays
CONVERTING = ("allclose", "array_equal", "array_equiv")  # arrays of no dimensions in CuPy


@cache
def named(table: str, name: str) -> Any:
    """``name`` of ``cp`` (the table ``""``) or of a part of it such as ``fft``. Raises
    AttributeError where CuPy or the emulator lacks it."""
    kind = entry(table, name)
    found = getattr(SPACES[table], name, None)
    if found is None or kind == MODULE or name in HOST_TYPES:
        raise AttributeError(
            f"CuPy has {dotted(table, name)}; the emulator does not: it has what NumPy has, too, "
            "and cp.RawModule."
        )
    if kind in (UFUNC, SCATTER_UFUNC):
        return ufunc(found)
    if kind == TYPE:
        return found
    if kind in NO_FUNCTIONS:
        return _Grid(found) if name in ("c_", "mgrid", "ogrid", "r_") else found
    return adapted(found, table, name)


def adapted(function: Any, table: str, name: str) -> Any:
    """NumPy's ``function`` with the arguments of CuPy's of that name."""
    cupys = signature_of(table, name)
    assert cupys is not None
    other_names = _other_names(function, cupys)
    no_lists = refuses_lists(table, name)

    @wraps(function)
    def function_of_cupy(*args: Any, **kwargs: Any) -> Any:
        cupys.check(args, kwargs)
        if no_lists and args and type(args[0]) in (list, tuple):
            raise TypeError(
                f"{cupys.name} takes a cp array, got a {type(args[0]).__name__}: make it one, "
                "cp.array(...)."
            )
        if other_names:
            kwargs = {other_names.get(key, key): value for key, value in kwargs.items()}
        found = called(function, cupys.name, args, kwargs)
        return wrap(np.bool_(found)) if name in CONVERTING else found

    return function_of_cupy


def _other_names(function: Any, cupys: CupySignature) -> dict[str, str]:
    """NumPy's names of parameters that CuPy calls otherwise."""
    try:
        numpys = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return {}
    pairs = zip(cupys.positional, numpys, strict=False)
    return {mine: theirs for mine, theirs in pairs if mine not in numpys}


class ufunc:  # noqa: N801 (CuPy's own name)
    """A ufunc of ``cp``. Raises TypeError for arguments that CuPy's do not take,
    NotImplementedError for operations that they lack."""

    def __init__(self, numpys: Any) -> None:
        self._numpys = numpys
        self.__name__ = numpys.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = f"cp.{self.__name__}"
        for word in kwargs:
            if word not in UFUNC_OPTIONS:
                raise TypeError(
                    f"{name}() got an unexpected keyword argument '{word}': NumPy has it, CuPy "
                    "does not. CuPy's takes out, dtype, casting; for where, use cp.where(...)."
                )
        for value in args:
            if type(value) in (list, tuple):
                raise TypeError(
                    f"Unsupported type {type(value)}: {name} takes cp arrays and numbers, so make "
                    "it one, cp.array(...)."
                )
        return called(self._numpys, name, args, kwargs)

    def reduce(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, under CuPy's rules for arguments."""
        return self._method("reduce", args, kwargs)

    def accumulate(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, under CuPy's rules for arguments."""
        return self._method("accumulate", args, kwargs)

    def reduceat(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, under CuPy's rules for arguments."""
        return self._method("reduceat", args, kwargs)

    def outer(self, *args: Any, **kwargs: Any) -> Any:
        """As NumPy's, under CuPy's rules for arguments."""
        return self._method("outer", args, kwargs)

    def at(self, *args: Any, **kwargs: Any) -> None:
        """As NumPy's, under CuPy's rules for arguments."""
        self._method("at", args, kwargs)

    def _method(self, method: str, args: Any, kwargs: Any) -> Any:
        name = self.__name__
        able = method == "outer" or name in REDUCING.get(method, ())
        if not able and not (method == "at" and entry("", name) == SCATTER_UFUNC):
            raise NotImplementedError(f"CuPy has no cp.{name}.{method}, even if NumPy has.")
        cupys = signature_of("ufunc", method)
        assert cupys is not None
        cupys.check(args, kwargs)
        return called(getattr(self._numpys, method), f"cp.{name}.{method}", args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name not in ("nargs", "nin", "nout"):
            entry("ufunc", name)
        return getattr(self._numpys, name)

    def __repr__(self) -> str:
        return f"<ufunc 'cp.{self.__name__}'>"


class _Grid:
    """``cp.mgrid`` and the like, which are indexed."""

    def __init__(self, numpys: Any) -> None:
        self._numpys = numpys

    def __getitem__(self, key: Any) -> Any:
        return wrap(self._numpys[key])


class Namespace:
    """A part of ``cp``, such as ``cp.fft``."""

    def __init__(self, table: str) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return named(self._table, name)

    def __dir__(self) -> list[str]:
        return list(stored()[self._table])


class RandomNumbers(Namespace):
    """``cp.random``, or a generator that it makes. ``source`` is NumPy's of it.

    CuPy's functions take a dtype, which NumPy's old ones do not.
    """

    def __init__(self, table: str, source: Any) -> None:
        super().__init__(table)
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        cupys, found = signature_of(self._table, name), getattr(self._source, name, None)
        if cupys is None or found is None:
            raise AttributeError(f"CuPy has {dotted(self._table, name)}; the emulator does not.")
        takes_dtype = self._table == "random.Generator" or name == "randint"

        def draw(*args: Any, **kwargs: Any) -> Any:
            cupys.check(args, kwargs)
            dtype = None if takes_dtype else kwargs.pop("dtype", None)
            made = called(found, cupys.name, args, kwargs)
            if isinstance(made, np.random.Generator):
                return RandomNumbers("random.Generator", made)
            if isinstance(made, (int, float)):
                made = wrap(np.asarray(made))
            return made if dtype is None else made.astype(dtype)

        return draw

    def RandomState(self, seed: Any = None) -> RandomNumbers:  # noqa: N802 (CuPy's own name)
        """A generator with the functions of ``cp.random``."""
        return RandomNumbers("random.RandomState", np.random.RandomState(seed))


# --- NumPy's functions, called with arrays of cp ---


@cache
def of_ufunc(numpys: Any, method: str) -> Any:
    """The ufunc of ``cp`` for a call of NumPy's. Raises TypeError where CuPy has none."""
    if stored()[""].get(numpys.__name__) not in (UFUNC, SCATTER_UFUNC):
        raise TypeError(_no_counterpart(f"np.{numpys.__name__}"))
    found = named("", numpys.__name__)
    call = found if method == "__call__" else getattr(found, method)

    def ufunc_of_cupy(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        if out is not None:
            if len(out) != 1:
                raise ValueError("The 'out' parameter must have exactly one array value")
            kwargs["out"] = out[0]
        return call(*args, **kwargs)

    return ufunc_of_cupy


@cache
def of_function(numpys: Any) -> Any:
    """The function of ``cp`` for a call of NumPy's. Raises TypeError where CuPy has none."""
    from . import emulated_cupy

    table = numpys.__module__.partition(".")[2]
    name = f"np.{table}.{numpys.__name__}" if table else f"np.{numpys.__name__}"
    if numpys.__name__ not in stored().get(table, ()):
        raise TypeError(_no_counterpart(name))
    space = getattr(emulated_cupy, table) if table else emulated_cupy
    return getattr(space, numpys.__name__)


def _no_counterpart(name: str) -> str:
    return (
        f"{name} got a cp array, and CuPy has no such function. Use what CuPy has, or compute on "
        "the host with a copy, x.get()."
    )
