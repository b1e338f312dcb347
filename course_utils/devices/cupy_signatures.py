"""CuPy's own names and signatures, which the emulated ``cp`` follows. CuPy need not be installed.

They are stored in ``cupy_signatures.json``, which :mod:`.cupy_survey` writes, in a table for each
of CuPy's namespaces and classes: ``""`` is ``cp`` itself, ``"ndarray"`` has the methods of arrays,
``"fft"`` the functions of ``cp.fft``. The entry of a function is its parameters, such as
``"a axis= out="``, where ``=`` marks a default. The entry ``()`` has a constructor's.
``"ufunc"`` marks a ufunc, and ``"scatter ufunc"`` one that has ``at``. ``"type"``, ``"module"`` and
``"value"`` mark the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_suffix(".json")
UFUNC, SCATTER_UFUNC = "ufunc", "scatter ufunc"
TYPE, MODULE, VALUE = "type", "module", "value"
UNKNOWN = "*args **kwargs"  # a function whose parameters CuPy does not say
NO_FUNCTIONS = (UFUNC, SCATTER_UFUNC, TYPE, MODULE, VALUE)


@cache
def _content() -> dict[str, Any]:
    content: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return content


def stored() -> dict[str, dict[str, str]]:
    """The tables."""
    tables: dict[str, dict[str, str]] = _content()["tables"]
    return tables


@cache
def refuses_lists(table: str, name: str) -> bool:
    """Whether the first argument of this function must be an array, where NumPy also takes
    lists."""
    return table in ("fft", "linalg") or (not table and name in _content()["refuse_lists"])


@dataclass(frozen=True)
class CupySignature:
    """The parameters of one of CuPy's functions, which messages call ``name``."""

    name: str
    positional: tuple[str, ...]
    named: frozenset[str]
    any_positional: bool
    any_named: bool

    @classmethod
    def of(cls, name: str, text: str) -> CupySignature:
        """The signature that is stored as ``text``."""
        positional: list[str] = []
        named: list[str] = []
        by_name_only = any_positional = any_named = False
        for word in text.split():
            bare = word.rstrip("=")
            if bare.startswith("**"):
                any_named = True
            elif bare.startswith("*"):
                by_name_only, any_positional = True, len(bare) > 1
            elif bare == "/":
                named.clear()
            else:
                named.append(bare)
                if not by_name_only:
                    positional.append(bare)
        return cls(name, tuple(positional), frozenset(named), any_positional, any_named)

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Raise TypeError for arguments that CuPy's function does not take."""
        if kwargs and not self.any_named:
            for word in kwargs:
                if word not in self.named:
                    raise TypeError(
                        f"{self.name}() got an unexpected keyword argument '{word}': even if "
                        f"NumPy has it, CuPy does not. {self._takes()}"
                    )
        if len(args) > len(self.positional) and not self.any_positional:
            raise TypeError(
                f"{self.name}() takes {len(self.positional)} positional arguments but {len(args)} "
                f"were given. {self._takes()}"
            )

    def _takes(self) -> str:
        words = [*self.positional, *sorted(self.named - {*self.positional})]
        return f"CuPy's takes {', '.join(words)}." if words else "CuPy's takes none."


@cache
def signature_of(table: str, name: str) -> CupySignature | None:
    """The signature of ``name``, such as ``max`` of the table ``ndarray``, None where that isn't a
    function. Raises AttributeError for a name that CuPy lacks."""
    text = entry(table, name)
    return None if text in NO_FUNCTIONS else CupySignature.of(dotted(table, name), text)


def entry(table: str, name: str) -> str:
    """The stored entry of ``name``. Raises AttributeError for a name that CuPy lacks."""
    text = stored()[table].get(name)
    if text is None:
        raise AttributeError(
            f"CuPy has no {dotted(table, name)}, even if NumPy has. Use what CuPy has, or compute "
            "on the host: copy the array there with .get(), the result back with cp.asarray(...)."
        )
    return text


def dotted(table: str, name: str) -> str:
    """The name as a reader writes it: ``cp.fft.fft``."""
    return ".".join(filter(None, ("cp", table, name)))
