"""The names that Numba's shared arrays have in the Python, for reports."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable
from typing import Any

_SHARED = re.compile(r"\.shared\s[^;]*?\b(_cudapy_smem(?:_(\d+))?)\[")


def with_names_of_arrays(ptx: str, function: Callable[..., Any]) -> str:
    """``ptx`` whose shared arrays have the names of the variables of ``function``: ``tile`` for
    ``tile = cuda.shared.array(...)``, and not Numba's ``_cudapy_smem_2``.

    Nothing is renamed where the two can't be paired, such as with an array of a device function.
    """
    compilers = sorted(set(_SHARED.findall(ptx)), key=lambda found: int(found[1] or 0))
    names = _shared_arrays(function)
    if len(names) != len(compilers) or len(set(names)) != len(names):
        return ptx
    own = {symbol: name for (symbol, _), name in zip(compilers, names, strict=True)}
    if any(re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", ptx) for name in names):
        return ptx
    return re.sub(r"_cudapy_smem(?:_\d+)?\b", lambda match: own.get(match[0], match[0]), ptx)


def _shared_arrays(function: Callable[..., Any]) -> list[str]:
    """The variables that get an array of ``cuda.shared.array``, in the order of the lines."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError):  # made by exec, without a source
        return []
    found = [
        (node.lineno, node.targets[0].id)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id.isascii()
        and isinstance(node.value, ast.Call)
        and ast.unparse(node.value.func).endswith("shared.array")
    ]
    return [name for _, name in sorted(found)]
