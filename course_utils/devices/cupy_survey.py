"""Rewrites ``cupy_signatures.json`` from the CuPy that is installed, which needs no GPU:

    python -m course_utils.devices.cupy_survey

Do so when the course moves to another CuPy. ``tests/devices/test_cupy_signatures.py`` then names
whatever the emulated ``cp`` has that CuPy lacks.
"""

from __future__ import annotations

import inspect
import json
import re
from importlib import import_module
from typing import Any

import numpy as np

from .cupy_signatures import FILE, MODULE, SCATTER_UFUNC, TYPE, UFUNC, UNKNOWN, VALUE

NAMESPACES = ("", "fft", "linalg", "random", "testing", "cuda", "cuda.runtime", "cuda.texture")
CLASSES = (
    "ndarray",
    "ufunc",
    "RawKernel",
    "RawModule",
    "random.Generator",
    "random.RandomState",
    "cuda.Device",
    "cuda.Event",
    "cuda.MemoryPointer",
    "cuda.Stream",
)
# Of these only the names that the emulator may want.
KEPT = {
    "testing": re.compile(r"assert_\w+"),
    "cuda.runtime": re.compile(
        r"(?:get|set|mem|device)\w+|\w+GetVersion|cuda(?:Address|Array|Channel|Filter|Read|Resource)\w+"
    ),
}
ANY = re.compile("")
OF_A_LIST = re.compile(r"'list' object has no attribute|, (got|not) .*list")


def survey(cupy: Any) -> dict[str, dict[str, str]]:
    """The tables of this CuPy, as :mod:`.cupy_signatures` describes them."""
    tables = {}
    for name in NAMESPACES:
        space = import_module(f"cupy.{name}") if name else cupy
        tables[name] = {
            each: described(getattr(space, each))
            for each in sorted(dir(space))
            if not each.startswith("_") and KEPT.get(name, ANY).match(each)
        }
    for name in CLASSES:
        found = cupy
        for part in name.split("."):
            found = getattr(found, part)
        members = {each: getattr(found, each) for each in sorted(dir(found)) if each[0] != "_"}
        tables[name] = {each: described(member) for each, member in members.items()}
        tables[name]["()"] = parameters(found)
        if "__call__" in vars(found):
            tables[name]["__call__"] = parameters(found.__call__)
    return tables


def described(value: Any) -> str:
    """The entry of a name of CuPy."""
    if type(value).__name__ in ("ufunc", "_GUFunc"):
        return SCATTER_UFUNC if getattr(value, "_scatter_op", None) else UFUNC
    if isinstance(value, type):
        return TYPE
    if inspect.ismodule(value):
        return MODULE
    return parameters(value) if inspect.isroutine(value) else VALUE


def parameters(function: Any) -> str:
    """The parameters of a function or a constructor. Cython writes its own into the first line of
    the documentation."""
    first = (getattr(function, "__doc__", "") or "").partition("\n")[0]
    written = re.match(r"[\w.]+\((.*)\)", first)
    if written:
        return " ".join(filter(None, map(_word, _split(written[1]))))
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return UNKNOWN
    words: list[str] = []
    for each in found:
        if each.kind is each.KEYWORD_ONLY and not any(w.startswith("*") for w in words):
            words.append("*")
        stars = "*" * (each.kind is each.VAR_POSITIONAL) + "**" * (each.kind is each.VAR_KEYWORD)
        default = "=" if each.default is not each.empty else ""
        words.append(stars + each.name + default)
    return " ".join(word for word in words if word != "self")


def refuse_lists(cupy: Any) -> list[str]:
    """The functions of ``cupy`` whose first argument must be an array: without a GPU the others
    fail later, at the device."""
    found = []
    for name, value in sorted(vars(cupy).items()):
        if not inspect.isroutine(value) or not callable(getattr(np, name, None)):
            continue
        words = parameters(value).split()
        required = [word for word in words if word[-1] != "=" and word[0] not in "*/"]
        try:
            if required:
                value(*[[1.0, 2.0]] * len(required))
        except (AttributeError, TypeError) as error:
            if OF_A_LIST.search(str(error)):
                found.append(name)
        except Exception:
            continue
    return found


def _split(text: str) -> list[str]:
    """``text`` at its commas, those in brackets apart."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _word(text: str) -> str:
    """A parameter as it is stored, of ``self`` nothing: ``axis=`` of ``int axis=-1``."""
    name, equals, _ = text.partition("=")
    bare = name.partition(":")[0].split()
    return "" if not bare or bare[-1] in ("self", "cls") else bare[-1] + equals


def main() -> None:
    """Write the file."""
    import cupy

    content = {
        "cupy": cupy.__version__,
        "tables": survey(cupy),
        "refuse_lists": refuse_lists(cupy),
    }
    FILE.write_text(json.dumps(content, indent=0, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
