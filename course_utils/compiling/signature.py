"""Reads the parameter lists of ``__global__`` functions from CUDA C++ source.

A launch passes raw bytes, so a wrong type goes unnoticed: ``2.0`` for a ``float`` arrives as 0.0.
The loader compares every argument with what is parsed here. It is no C++ parser: a type it does not
know is *opaque*, and an opaque argument is passed through unchecked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

import ml_dtypes
import numpy as np

from .brackets import balanced, split_at_commas

_INTEGERS: dict[str, Any] = {  # the words of a C integer type, sorted, to its dtype on 64-bit Linux
    "bool": np.bool_,
    "char": np.int8,
    "char signed": np.int8,
    "char unsigned": np.uint8,
    "short": np.int16,
    "int short": np.int16,
    "short unsigned": np.uint16,
    "int short unsigned": np.uint16,
    "int": np.int32,
    "signed": np.int32,
    "int signed": np.int32,
    "unsigned": np.uint32,
    "int unsigned": np.uint32,
    "long": np.int64,
    "int long": np.int64,
    "long unsigned": np.uint64,
    "int long unsigned": np.uint64,
    "long long": np.int64,
    "int long long": np.int64,
    "long long unsigned": np.uint64,
    "int long long unsigned": np.uint64,
    "size_t": np.uint64,
    "ptrdiff_t": np.int64,
    "clock_t": np.int64,
    **{f"int{bits}_t": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"uint{bits}" for bits in (8, 16, 32, 64)},
    "uchar": np.uint8,
    "uint": np.uint32,
}
_FLOATS: dict[str, Any] = {
    "float": np.float32,
    "double": np.float64,
    "__half": np.float16,
    "half": np.float16,
    "half_t": np.float16,  # CuTe's name
}
_NARROW_FLOATS: dict[str, Any] = {
    "bfloat16_t": ml_dtypes.bfloat16,  # CuTe's name
    "__nv_bfloat16": ml_dtypes.bfloat16,
    "nv_bfloat16": ml_dtypes.bfloat16,
    "__nv_fp8_e4m3": ml_dtypes.float8_e4m3fn,
    "__nv_fp8_e5m2": ml_dtypes.float8_e5m2,
}
DTYPES = {name: np.dtype(dtype) for name, dtype in (_INTEGERS | _FLOATS | _NARROW_FLOATS).items()}
# Formats that NumPy itself does not have. Their ``kind`` says nothing.
NARROW_FLOATS = frozenset(map(np.dtype, _NARROW_FLOATS.values()))


@dataclass(frozen=True)
class Parameter:
    """One parameter: ``const float *a`` has name "a", c_type "float", pointer True, const True.

    ``dtype`` is the scalar's, or the dtype of the elements pointed at, None for an opaque type.
    """

    name: str
    c_type: str
    pointer: bool
    const: bool
    dtype: np.dtype | None

    def __str__(self) -> str:
        const = "const " if self.const and self.pointer else ""
        stars = "*" * (self.c_type.count("*") + self.pointer)
        return f"{const}{self.c_type.rstrip('*')} {stars}{self.name}"


@dataclass(frozen=True)
class Signature:
    """A kernel's name, its parameters and, for a template, the names of the template's own."""

    name: str
    parameters: tuple[Parameter, ...]
    template: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    def refused_reference(self) -> str:
        """Why it can't be launched, if a parameter is a reference, and nothing otherwise."""
        found = next((p for p in self.parameters if p.c_type.endswith("&")), None)
        if found is None:
            return ""
        plain = found.c_type.rstrip("& ")
        return (
            f"{self.name}: a kernel takes no references, and {found.name} is one ({found}). Its "
            f"variable would be in the host's memory. Write {plain} {found.name} for a value, or "
            f"{plain} *{found.name} for an array (02/03)."
        )

    def specialise(self, expression: str) -> Signature:
        """This template's signature for a name expression such as ``"scale<float, 4>"``."""
        if not self.template or "<" not in expression:
            return self
        values = split_at_commas(expression[expression.index("<") + 1 : expression.rindex(">")])
        known = dict(zip(self.template, values, strict=False))
        types = [known.get(parameter.c_type, parameter.c_type) for parameter in self.parameters]
        return Signature(
            expression,
            tuple(
                replace(parameter, c_type=c_type, dtype=dtype_of(c_type))
                for parameter, c_type in zip(self.parameters, types, strict=True)
            ),
        )


def kernels(source: str, aliases: dict[str, str] | None = None) -> dict[str, Signature]:
    """Every ``__global__`` function defined in ``source``, by name, in order.

    ``aliases`` maps type names to C types (``-D`` macros); those that ``#define``, ``using`` and
    ``typedef`` make in the source itself are found here.
    """
    text = strip_comments(source)
    known = dict(_ALIAS_DEFINE.findall(text)) | dict(_ALIAS_USING.findall(text))
    known |= {name: c_type for c_type, name in _ALIAS_TYPEDEF.findall(text)} | (aliases or {})
    found = (_read(text, match, known) for match in re.finditer(r"\b__global__\b", text))
    return {signature.name: signature for signature in found if signature}


def strip_comments(source: str) -> str:
    """``source`` with every comment blanked. Line and column numbers stay."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0]) if match[0].startswith("/") else match[0]

    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\''
    return re.sub(pattern, blank, source, flags=re.DOTALL)


def dtype_of(c_type: str) -> np.dtype | None:
    """The NumPy dtype of a C type (``"unsigned int"``, ``"half"``), None when it has none."""
    words = c_type.removeprefix("::").removeprefix("std::").split()
    return DTYPES.get(" ".join(sorted(words)))


_ALIAS_DEFINE = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+(\w[\w \t]*?)[ \t]*$", re.M)
_ALIAS_USING = re.compile(r"\busing\s+(\w+)\s*=\s*([\w:][\w:\s]*?)\s*;")
_ALIAS_TYPEDEF = re.compile(r"\btypedef\s+([\w:][\w:\s]*?)\s+(\w+)\s*;")
_TEMPLATE = re.compile(r"\btemplate\s*<([^;{}]*)>(?:[\s\w]|\([^;{}]*\))*$")  # and attributes


def _read(text: str, match: re.Match[str], aliases: dict[str, str]) -> Signature | None:
    """The signature of the kernel whose ``__global__`` is ``match``; None for a declaration."""
    position = match.end()
    while head := re.compile(r"\s*(\w+)\s*(\()?").match(text, position):
        word, bracket = head.groups()
        position = head.end()
        if not bracket:
            continue
        inside, position = balanced(text, position)
        if word.startswith("__"):  # __launch_bounds__(256), __cluster_dims__(2, 1, 1)
            continue
        if not re.compile(r"\s*{").match(text, position):
            return None
        items = [item for item in split_at_commas(inside) if item != "void"]
        parameters = [_parameter(item, number, aliases) for number, item in enumerate(items, 1)]
        return Signature(word, tuple(parameters), _template(text[: match.start()]))
    return None


def _template(before: str) -> tuple[str, ...]:
    found = _TEMPLATE.search(before)
    if not found:
        return ()
    return tuple(item.split("=")[0].split()[-1].lstrip(".") for item in split_at_commas(found[1]))


def _parameter(text: str, number: int, aliases: dict[str, str]) -> Parameter:
    text = re.sub(r"\b(__restrict__|__restrict|restrict|__grid_constant__|volatile)\b", " ", text)
    text = text.split("=")[0]
    array = "[" in text
    text = re.sub(r"\[[^\]]*\]", " ", text)
    references = text.count("&")
    text = text.replace("&", " ")
    depth = text.count("*") + array
    before, _, after = text.partition("*")
    const = bool(re.search(r"\bconst\b", before))
    words = [word for word in before.split() if word not in ("const", "struct", "typename")]
    if depth > array:
        name = re.sub(r"[*]|\bconst\b", " ", after).strip()
    else:
        name = words.pop() if len(words) > 1 and " ".join(sorted(words)) not in DTYPES else ""
    c_type = " ".join(words)
    for _ in range(4):  # an alias of an alias
        c_type = aliases.get(c_type, c_type)
    if references or depth > 1:
        c_type += "*" * (depth - 1) + "&" * references
    name = name.strip() or f"argument {number}"
    return Parameter(name, c_type, depth > 0, const, dtype_of(c_type))
