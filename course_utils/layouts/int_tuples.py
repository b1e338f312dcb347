"""Numbers and nested tuples of numbers: the shapes, strides and coordinates of layouts."""

from __future__ import annotations

from math import prod

IntTuple = int | tuple["IntTuple", ...]


def whole(value: object, what: str, least: int) -> IntTuple:
    """``value`` as an int or nested tuple of ints from ``least`` on. Raises ValueError
    otherwise."""
    if isinstance(value, tuple | list):
        if not value:
            raise ValueError(f"a {what} of () names no number: write 1 for a single element")
        return tuple(whole(part, what, least) for part in value)
    try:
        number = value.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise ValueError(
            f"a {what} is made of whole numbers and tuples of them, not of {value!r}"
        ) from None
    if isinstance(value, bool) or number < least:
        raise ValueError(f"{value!r} in a {what}: each number is at least {least}")
    return int(number)


def text(value: IntTuple) -> str:
    """``value`` as CuTe prints it, without blanks: ``(4,(2,3))``."""
    if isinstance(value, int):
        return str(value)
    return f"({','.join(map(text, value))})"


def modes(value: IntTuple) -> tuple[IntTuple, ...]:
    """The top-level parts of ``value``. A number is its own only one."""
    return value if isinstance(value, tuple) else (value,)


def flatten(value: IntTuple) -> tuple[int, ...]:
    """The numbers of ``value`` from left to right."""
    if isinstance(value, int):
        return (value,)
    return tuple(number for part in value for number in flatten(part))


def product(value: IntTuple) -> int:
    """All numbers of ``value`` multiplied."""
    return prod(flatten(value))


def depth(value: IntTuple) -> int:
    """How deep the tuples of ``value`` are nested, 0 for a number."""
    return 0 if isinstance(value, int) else 1 + max(map(depth, value))


def congruent(a: IntTuple, b: IntTuple) -> bool:
    """Whether ``a`` and ``b`` have their parentheses in the same places."""
    if isinstance(a, int) or isinstance(b, int):
        return isinstance(a, int) and isinstance(b, int)
    return len(a) == len(b) and all(map(congruent, a, b))


def compact(shape: IntTuple, first: int = 1) -> IntTuple:
    """Strides that number ``shape`` without gaps, the leftmost number of it fastest, and 0 for an
    extent of 1, as CuTe has it."""
    if isinstance(shape, int):
        return first if shape > 1 else 0
    strides = []
    for part in shape:
        strides.append(compact(part, first))
        first *= product(part)
    return tuple(strides)


def compact_rows(shape: IntTuple) -> IntTuple:
    """Strides that number ``shape`` without gaps, the rightmost number of it fastest."""
    return mirrored(compact(mirrored(shape)))


def mirrored(value: IntTuple) -> IntTuple:
    """``value`` with the parts of each tuple in reverse order."""
    return value if isinstance(value, int) else tuple(mirrored(part) for part in reversed(value))
