"""Functions of a source that lack ``__device__`` or ``__global__``: nvcc is stricter than NVRTC."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .brackets import balanced
from .signature import strip_comments

# NVRTC's words for one, without the option that makes it a device function.
WITHOUT_ATTRIBUTE = "A function without execution space annotations"
FOR_NVCC = "warning #nvcc: "  # begins a warning about code that only nvcc refuses
_NAMESPACE = re.compile(r'(?:\bnamespace\b[\w:\s]*|\bextern\s+"C"\s*)$')
_LINKAGE = re.compile(r'\bextern\s+"C"(?:\+\+)?')
_TEMPLATE = re.compile(r"\s*template\s*<[^;{}]*?>\s*(?=[A-Za-z_])")
_FUNCTION = re.compile(r"\s*[A-Za-z_][\w:<>,*&\s]*[\s*&](\w+)\s*\(")
_ATTRIBUTE = re.compile(r"\b(?:__\w+__|constexpr|consteval)\b")
_BOUNDS = re.compile(r"__(?:launch_bounds|cluster_dims)__\s*\([^()]*\)")
_DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)


def functions_without_attribute(source: str) -> dict[str, int]:
    """Name and line of each function outside of classes that looks as if only the host had it.

    ``#if`` isn't understood, and macros aren't: the compiler has the last word on them.
    """
    return {
        name: line
        for name, line, head in _functions(source)
        if name != "main" and not _ATTRIBUTE.search(head)
    }


def why_no_kernel(source: str) -> str:
    """Why no kernel came of ``source``, and how it gets one."""
    functions = [function for function in _functions(source) if function[0] != "main"]
    if not functions:
        return 'It has no function at all. A kernel begins with extern "C" __global__ void.'
    for name, _, head in functions:
        if "__global__" in head:
            return f"{name} is a template: name an instance of it, such as '{name}<float>'."
    name = functions[0][0]
    return f'{name} has no __global__, so it is no kernel: extern "C" __global__ void {name}(...).'


def missing_kernel(name: str, source: str, symbols: Iterable[str]) -> str:
    """Why a module compiled from ``source`` has no kernel ``name`` among its ``symbols``: C++ has
    changed the name, or it is an instance of a template that was never asked for."""
    plain = name.partition("<")[0]
    head = next((head for known, _, head in _functions(source) if known == plain), "")
    message = f"no kernel is called {name!r}; this module has {', '.join(symbols) or 'none'}."
    if "template" in head:
        instance = name if "<" in name else f"{name}<float>"
        return f"{message} {plain} is a template: ask for name_expressions=({instance!r},)."
    if "__global__" in head:
        return (
            f'{message} C++ has added the parameters\' types to the name: put extern "C" before '
            "__global__."
        )
    return message


def _functions(source: str) -> Iterator[tuple[str, int, str]]:
    """Name, line and head of each function that is defined outside of classes."""
    text = _blank(_DIRECTIVE, strip_comments(source))
    start = place = 0
    while place < len(text):
        letter = text[place]
        if letter in ";}":
            start = place + 1
        elif letter == "{":
            head = text[start:place]
            if _NAMESPACE.search(head):
                start = place + 1
            else:
                if name := _name(head):
                    yield name[1], text.count("\n", 0, start + name[0]) + 1, head
                _, place = balanced(text, place + 1, "{")
                start = place
                continue
        place += 1


def _blank(pattern: re.Pattern[str], text: str) -> str:
    """``text`` with all finds of ``pattern`` blanked: lines and places stay as they are."""
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def _name(head: str) -> tuple[int, str] | None:
    """The place and the name of the function that ``head`` begins, None for anything else."""
    template = _TEMPLATE.match(head)
    begin = template.end() if template else 0
    rest = _blank(_BOUNDS, _blank(_LINKAGE, head[begin:]))
    found = _FUNCTION.match(rest)
    if not found or not rest.rstrip().endswith((")", "const", "noexcept")):
        return None
    return begin + found.start(1), found[1]
