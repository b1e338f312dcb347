"""f32, f64, f16 and bf16 arithmetic against hand-worked cases and exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_cases import bits, check, find, numbers, rounded, run, table

from course_utils.emulator.launching.emulated_module import fpenv

EXACT = {
    "add": lambda a, b, c: a + b,
    "sub": lambda a, b, c: a - b,
    "mul": lambda a, b, c: a * b,
    "fma": lambda a, b, c: a * b + c,
    "div": lambda a, b, c: a / b if b else Fraction(0),
}


def check_lanes(opcode, name, kind, mode, lanes):
    count = len(find(opcode).src)
    if kind == "bf16":
        encoded = [
            tuple(int(np.float32(x).view(np.uint32)) >> 16 for x in lane[:count]) for lane in lanes
        ]
        result = (run(opcode, *encoded).astype(np.uint32) << np.uint32(16)).view(np.float32)
    else:
        result = run(opcode, *[tuple(map(float, lane[:count])) for lane in lanes])
    for lane, got in zip(lanes, result, strict=True):
        exact = EXACT[name](*map(Fraction, lane))
        if exact:
            want = rounded(exact, kind, mode)
            assert float(got) == want and math.copysign(1, got) == math.copysign(1, want), (
                f"{opcode} {lane}: {float(got).hex()}, not {want.hex()}"
            )


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_arithmetic_rounds_once_in_every_mode(kind, mode, data):
    number = numbers(kind)
    lanes = data.draw(st.lists(st.tuples(number, number, number), min_size=1, max_size=8))
    for name in EXACT:
        check_lanes(f"{name}.{mode}.{kind}", name, kind, mode, lanes)


@pytest.mark.parametrize("kind", ["f16", "bf16"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_half_precision_rounds_once(kind, data):
    number = numbers(kind)
    lanes = data.draw(st.lists(st.tuples(number, number, number), min_size=1, max_size=8))
    for name in ("add", "sub", "mul", "fma"):
        check_lanes(f"{name}.rn.{kind}", name, kind, "rn", lanes)


ODD_13, ODD_12 = st.integers(2**11, 2**12 - 1), st.integers(2**10, 2**11 - 1)


@settings(max_examples=60, deadline=None)
@given(ODD_13, ODD_12, st.lists(st.integers(-149, -50), min_size=1, max_size=8))
def test_fma_sees_an_addend_far_below_a_tie(x, y, exponents):
    """An odd product of 25 bits is half-way between two f32, and the sign of c alone decides."""
    a, b = float(2 * x + 1), float(2 * y + 1) * 2.0**-24
    lanes = [(a, b, math.ldexp(sign, e)) for e in exponents for sign in (1, -1)]
    check_lanes("fma.rn.f32", "fma", "f32", "rn", lanes)


def test_fma_of_a_subnormal_addend_is_repaired():
    """The product lies 2**-47 below half of the smallest subnormal, which f64 cannot hold."""
    a, b, c = 2.0**-75 * (1 + 2.0**-23), 2.0**-75 * (1 - 2.0**-23), 2.0**-127 + 2.0**-149
    check_lanes("fma.rn.f32", "fma", "f32", "rn", [(a, b, c), (-a, b, c), (a, b, -c)])


def test_wide_double_fma_survives_overflow_and_underflow_on_the_way():
    lanes = [
        (1e300, 1e300, -1e308),
        (1e200, 1e200, 0.0),
        (5e-324, 0.5, 5e-324),
        (1e-200, 1e-200, 1e-310),
    ]
    lanes += [
        (1.5e-170, -1.1e-170, 0.0),
        (1.7e308, 1.0, -1.7e308),
        (2.0**1000, 2.0**23, -(2.0**1000)),
    ]
    for mode in ("rn", "rz", "rm", "rp"):
        check_lanes(f"fma.{mode}.f64", "fma", "f64", mode, lanes)
    assert run("fma.rn.f64", (1e300, -1e300, math.inf))[0] == math.inf


TINY, SUB = 2.0**-126, 2.0**-127
HAND_WORKED = """
add.f32             | 1.0, 2.0**-24               | 1.0
add.rp.f32          | 1.0, 2.0**-24               | 1.0 + 2.0**-23
add.rm.f32          | 1.0, -1.0                   | -0.0
add.f32             | 1.0, -1.0                   | 0.0
add.rz.f32          | 3e38, 3e38                  | 0x7f7fffff
add.f32             | 3e38, 3e38                  | inf
add.sat.f32         | 0.75, 0.75                  | 1.0
add.sat.f32         | nan, 1.0                    | 0.0
mul.sat.f32         | -0.0, 1.0                   | 0.0
mul.f32             | 2.0**-126, 0.5              | 2.0**-127
mul.ftz.f32         | 2.0**-126, -0.5             | -0.0
mul.ftz.f32         | 2.0**-127, 2.0**10          | 0.0
add.ftz.f32         | -2.0**-127, 0.0             | 0.0
mul.ftz.f32         | 2.0**-125*(1 - 2.0**-24), 0.5 | 0.0
neg.ftz.f32         | 2.0**-130                   | -0.0
abs.ftz.f32         | -2.0**-130                  | 0.0
neg.f32             | 0.0                         | -0.0
div.rn.f32          | 1.0, 3.0                    | 0x3eaaaaab
div.rz.f32          | 1.0, 3.0                    | 0x3eaaaaaa
div.approx.f32      | 1.0, 2.0**127               | 0.0
div.full.f32        | 6.0, 3.0                    | 2.0
rcp.rn.f32          | -0.0                        | -inf
rcp.approx.f32      | 0.0                         | inf
sqrt.rn.f32         | 2.0                         | 0x3fb504f3
sqrt.rp.f32         | 2.0                         | 0x3fb504f4
sqrt.approx.f32     | -0.0                        | -0.0
rsqrt.approx.f32    | 0.0                         | inf
rsqrt.approx.f32    | 4.0                         | 0.5
ex2.approx.f32      | -inf                        | 0.0
ex2.approx.f32      | 3.0                         | 8.0
lg2.approx.f32      | 0.0                         | -inf
lg2.approx.f32      | 8.0                         | 3.0
sin.approx.f32      | 0.0                         | 0.0
cos.approx.f32      | 0.0                         | 1.0
tanh.approx.f32     | inf                         | 1.0
max.f32             | -0.0, 0.0                   | 0.0
max.f32             | 0.0, -0.0                   | 0.0
min.f32             | 0.0, -0.0                   | -0.0
min.f32             | -0.0, 0.0                   | -0.0
max.f32             | nan, 1.0                    | 1.0
min.f64             | 1.0, nan                    | 1.0
min.xorsign.abs.f32 | -3.0, 2.0                   | -2.0
max.ftz.f32         | 2.0**-130, -1.0             | 0.0
copysign.f32        | -1.0, 2.0                   | -2.0
testp.normal.f32    | 2.0**-127                   | False
testp.subnormal.f32 | 2.0**-127                   | True
testp.infinite.f64  | -inf                        | True
testp.notanumber.f32 | nan                        | True
set.neu.f32.f32     | nan, 1.0                    | 1.0
set.ne.u32.f32      | nan, 1.0                    | 0
slct.f32.f32        | 1.0, 2.0, -0.0              | 1.0
slct.f32.f32        | 1.0, 2.0, nan               | 2.0
add.f16             | 1.0, 2.0**-11               | 1.0
add.f16             | 65504.0, 16.0               | inf
fma.rn.f16          | 1.0 + 2.0**-10, 1.0 + 2.0**-9, -1.0 | 0x1a01
fma.rn.relu.f16     | 1.0, -1.0, 0.5              | 0.0
mul.f16             | nan, 1.0                    | 0x7fff
mul.sat.f16         | 3.0, 1.0                    | 1.0
mul.ftz.f16         | 2.0**-14, -0.5              | -0.0
mul.f16             | 2.0**-14, 0.5               | 2.0**-15
min.NaN.f16         | nan, 1.0                    | 0x7fff
max.f16             | nan, 1.0                    | 1.0
add.f16x2           | 0x3c004000, 0x3c003c00      | 0x40004200
neg.f16x2           | 0x3c00bc00                  | 0xbc003c00
abs.bf16x2          | 0xbf80ffff                  | 0x3f807fff
mul.bf16            | 0x3f81, 0x3f81              | 0x3f82
fma.rn.bf16x2       | 0x3f803f80, 0x40004000, 0x3f804000 | 0x40404080
ex2.approx.f16x2    | 0x40003c00                  | 0x44004000
tanh.approx.bf16    | 0                           | 0
set.lt.f16x2.f16x2  | 0x3c004000, 0x40003c00      | 0x3c000000
set.nan.bf16x2.bf16x2 | 0x7fff3f80, 0x3f803f80    | 0x3f800000
"""


@table(HAND_WORKED)
def test_hand_worked(opcode, operands, expected):
    check(opcode, *operands, expected=expected)


SIGNS = {
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "num": "<=>",
    "nan": "",
}
UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}


@pytest.mark.parametrize("kind", ["f32", "f64", "f16"])
@pytest.mark.parametrize("name", [*SIGNS, *UNORDERED])
def test_only_unordered_comparisons_hold_for_nan(name, kind):
    signs = SIGNS[UNORDERED.get(name, name)]
    lanes = [(a, b) for a in (1.0, 2.0, -0.0, 0.0) for b in (1.0, 2.0, -0.0, 0.0)]
    holds = [("=" if a == b else "<" if a < b else ">") in signs for a, b in lanes]
    p, q = run(f"setp.{name}.{kind}", *lanes)
    assert p.tolist() == holds
    assert q.tolist() == [not h for h in holds]
    of_nan = name in UNORDERED or name == "nan"
    assert run(f"setp.{name}.{kind}", (math.nan, 1.0))[0].tolist() == [of_nan]


def test_setp_of_a_pair_answers_for_each_half():
    low, high = run("setp.lt.f16x2", (0x3C004000, 0x40003C00))
    assert (low.tolist(), high.tolist()) == ([False], [True])


def test_two_nans_make_a_nan_even_when_their_bits_have_nothing_in_common():
    for opcode in ("max.f32", "min.f32", "max.NaN.f32"):
        assert np.isnan(run(opcode, (0x7F800001, 0x7FC00000)))[0]


def test_hardware_flushing_agrees_with_flushing_in_numpy():
    rng = np.random.default_rng(1)
    pattern = rng.integers(0, 2**24, (3, 4096), dtype=np.uint32) | (
        rng.integers(0, 2, (3, 4096), dtype=np.uint32) << np.uint32(31)
    )
    sources = list(pattern.view(np.float32))
    sources[1] = sources[1] * np.float32(2.0**100)
    for opcode in ("add.ftz.f32", "mul.ftz.f32", "fma.rn.ftz.f32", "max.ftz.f32", "neg.ftz.f32"):
        op = find(opcode)
        operands = sources[: len(op.src)]
        with np.errstate(all="ignore"):
            plain = op.compute(*operands)
            with fpenv.hardware_ftz() as effective:
                assert fpenv.active == effective
                fast = op.compute(*operands)
        assert bits(plain) == bits(fast), opcode
    assert not fpenv.active
    assert np.float32(TINY) * np.float32(0.5) != 0, "subnormals are back after the block"


@pytest.mark.parametrize(
    ("opcodes", "answer"),
    [
        (["ld.global.f32", "fma.rn.ftz.f32", "st.global.f32", "add.s32"], True),
        (["fma.rn.ftz.f32", "add.f32"], False),
        (["fma.rn.ftz.f32", "cvt.f64.f32"], False),
        (["fma.rn.ftz.f32", "cvt.rn.f32.s32", "cvt.rn.f16.f32", "add.f16x2"], True),
        (["mul.ftz.f32", "fma.rn.bf16x2"], False),
        (["add.f32"], False),
    ],
)
def test_hardware_flushing_suits_kernels_that_flush_everywhere(opcodes, answer):
    assert fpenv.suits(opcodes) is answer


@pytest.mark.parametrize("length", [1, 3, 16, 33])
@pytest.mark.parametrize("opcode", ["max.f32", "min.f32"])
def test_a_number_beats_a_signalling_nan_wherever_it_stands_in_the_array(opcode, length):
    nan, number = np.full(length, 0x7F8AC000, np.uint32).view(np.float32), np.ones(length, "f4")
    for sources in ((nan, number), (number, nan)):
        assert (find(opcode).compute(*sources) == 1).all()


def test_the_logarithm_of_a_flushed_number_is_that_of_zero_however_it_is_flushed():
    tiny = np.full(64, 0x00400000, np.uint32).view(np.float32)
    logarithm = find("lg2.approx.ftz.f32").compute
    with np.errstate(all="ignore"):
        in_software = logarithm(tiny)
        with fpenv.hardware_ftz():
            in_hardware = logarithm(tiny)
    assert (in_software == -np.inf).all() and (in_hardware == -np.inf).all()
