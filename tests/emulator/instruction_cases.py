"""Running one instruction of the table on Python values; shared by test_instructions_*.py."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st

from course_utils.emulator.instructions import DTYPES, TABLE, Op


def find(opcode: str) -> Op:
    base, *modifiers = opcode.split(".")
    op = TABLE[base](tuple(modifiers))
    assert op is not None, f"{opcode} is not in the table"
    return op


def array(kind: str, values) -> np.ndarray:
    """Values of a type; an integer given for a float type, or out of range, is a bit pattern."""
    dtype = DTYPES[kind]
    if kind == "pred":
        return np.array(values, bool)
    if dtype.kind == "f" and not all(isinstance(v, int) for v in values):
        return np.array(values, dtype)
    width = 8 * dtype.itemsize
    return np.array([int(v) % 2**width for v in values], f"u{dtype.itemsize}").view(dtype)


def bits(x: np.ndarray) -> list[int]:
    return [int(b) for b in x.view(bool if x.dtype == bool else f"u{x.itemsize}")]


def run(opcode: str, *lanes, carry=None):
    """The results of ``opcode`` over ``lanes``, each a tuple of operands."""
    op = find(opcode)
    kinds = [*op.src, *["pred"] * op.carry_in]
    sources = [
        array(kind, column) for kind, column in zip(kinds, zip(*lanes, strict=True), strict=True)
    ]
    before = [s.copy() for s in sources]
    with np.errstate(all="ignore"):
        results = op.compute(*sources)
    for source, copy in zip(sources, before, strict=True):
        assert bits(source) == bits(copy), f"{opcode} changed an operand"
    results = results if isinstance(results, tuple) else (results,)
    for result, kind in zip(results, [*op.dst, *["pred"] * op.carry_out], strict=True):
        assert result.dtype == DTYPES[kind] and result.shape in ((len(lanes),), (1,))
    return results[0] if len(results) == 1 else results


def check(opcode: str, *operands, expected) -> None:
    """Compare bit for bit; ``expected`` is a value of the destination's type or a bit pattern."""
    result = run(opcode, tuple(operands))
    wanted = array(find(opcode).dst[0], [expected])
    got, want = bits(result)[0], bits(wanted)[0]
    assert got == want, (
        f"{opcode} {operands}: {result[0]!r} ({got:#x}), not {wanted[0]!r} ({want:#x})"
    )


def table(rows: str):
    """parametrize over lines ``opcode | operands | expected`` (Python literals and names)."""
    names = {"inf": float("inf"), "nan": float("nan"), "MIN": -(2**31), "MAX": 2**31 - 1}
    cases = []
    for row in filter(str.strip, rows.splitlines()):
        opcode, operands, expected = (part.strip() for part in row.split("|"))
        values = eval(f"({operands},)", names), eval(expected, names)  # noqa: S307
        cases.append(pytest.param(opcode, *values, id=f"{opcode}({operands})"))
    return pytest.mark.parametrize(("opcode", "operands", "expected"), cases)


# An independent reference: a rational number rounded to a binary format, given by its precision
# and its least and greatest exponent.

FORMATS = {
    "f16": (11, -14, 15),
    "bf16": (8, -126, 127),
    "f32": (24, -126, 127),
    "f64": (53, -1022, 1023),
}


def rounded(value: Fraction, kind: str, mode: str) -> float:
    """A non-zero rational in precision, minimal and maximal exponent of ``kind``."""
    precision, low, high = FORMATS[kind]
    size, negative = abs(value), value < 0
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    exponent -= Fraction(2) ** exponent > size
    unit = Fraction(2) ** (max(exponent, low) - precision + 1)
    whole, rest = divmod(size, unit)
    up = {
        "rn": rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1),
        "rz": False,
        "rp": rest > 0 and not negative,
        "rm": rest > 0 and negative,
    }[mode]
    result, largest = (
        (whole + up) * unit,
        (2 - Fraction(2) ** (1 - precision)) * Fraction(2) ** high,
    )
    if result > largest:
        away = mode == "rn" or mode == ("rm" if negative else "rp")
        number = math.inf if away else float(largest)
    else:
        number = float(result)
    return -number if negative else number


def numbers(kind: str):
    """Numbers of few bits at every exponent, where ties and cancellation are common."""
    precision, low, high = FORMATS[kind]
    short = st.builds(
        lambda mantissa, exponent: mantissa * 2.0**exponent,
        st.integers(-9, 9) | st.integers(-(2**precision) + 1, 2**precision - 1),
        st.integers(low - precision + 1, high - precision) | st.integers(-precision, 2),
    )
    return short.filter(lambda x: abs(x) < 2.0**high)
