"""Conversions against hand-worked cases, ``struct`` and exact rational arithmetic."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_cases import bits, check, numbers, rounded, run, table

HAND_WORKED = """
cvt.u8.s32          | -1                    | 255
cvt.s8.u32          | 0x80                  | -128
cvt.s64.s32         | -5                    | -5
cvt.u64.u32         | 0xffffffff            | 0xffffffff
cvt.sat.u8.s32      | -1                    | 0
cvt.sat.s8.u32      | 300                   | 127
cvt.sat.u16.s64     | 2**40                 | 65535
cvt.rzi.s32.f32     | -1.9                  | -1
cvt.rni.s32.f32     | 2.5                   | 2
cvt.rni.s32.f32     | 3.5                   | 4
cvt.rmi.s32.f32     | -1.1                  | -2
cvt.rpi.s32.f32     | 1.1                   | 2
cvt.rpi.s32.f32     | 2.0**-130             | 1
cvt.rpi.ftz.s32.f32 | 2.0**-130             | 0
cvt.rzi.s32.f32     | 3e9                   | MAX
cvt.rzi.s32.f32     | -inf                  | MIN
cvt.rzi.u32.f32     | -3.0                  | 0
cvt.rzi.u32.f32     | 4294967040.0          | 4294967040
cvt.rzi.u8.f32      | 300.0                 | 255
cvt.rzi.s32.f32     | nan                   | 0
cvt.rzi.s32.f64     | nan                   | MIN
cvt.rzi.s64.f32     | nan                   | -2**63
cvt.rzi.s64.f64     | 2.0**63               | 2**63 - 1
cvt.rzi.u64.f32     | 2.0**63               | 2**63
cvt.rzi.s32.f16     | -7.5                  | -7
cvt.rn.f32.s32      | 16777217              | 16777216.0
cvt.rp.f32.s32      | 16777217              | 16777218.0
cvt.rz.f32.s64      | -2**62 - 1            | -2.0**62
cvt.rm.f32.s64      | -2**62 - 1            | -2.0**62 - 2.0**39
cvt.rz.f64.u64      | 2**64 - 1             | 2.0**64 - 2.0**11
cvt.rn.f64.u64      | 2**64 - 1             | 2.0**64
cvt.rn.f16.s32      | 2049                  | 2048.0
cvt.rn.f16.u64      | 2**40                 | inf
cvt.rz.f16.u32      | 70000                 | 65504.0
cvt.rn.bf16.s32     | 257                   | 0x4380
cvt.rn.f32.f64      | 1.0 + 2.0**-24        | 1.0
cvt.rn.ftz.f32.f64  | 2.0**-130             | 0.0
cvt.rp.f32.f64      | 1e-60                 | 1
cvt.f64.f32         | 0x3f800001            | 1.0 + 2.0**-23
cvt.rn.f16.f64      | 1.0 + 2.0**-11 + 2.0**-40 | 1.0 + 2.0**-10
cvt.rn.f16.f32      | 65519.996             | 65504.0
cvt.rn.f16.f32      | 65520.0               | inf
cvt.rz.f16.f32      | 1e6                   | 65504.0
cvt.rn.f16.f32      | nan                   | 0x7fff
cvt.f32.f16         | nan                   | 0x7fffffff
cvt.rni.f16.f16     | 2.5                   | 2.0
cvt.rmi.f32.f32     | -0.5                  | -1.0
cvt.sat.f32.f32     | -2.0                  | 0.0
cvt.rn.bf16.f32     | 1.0 + 2.0**-8         | 0x3f80
cvt.rn.bf16.f32     | 1.0 + 3 * 2.0**-8     | 0x3f82
cvt.rn.bf16.f32     | nan                   | 0x7fff
cvt.rn.bf16.f32     | 3.4e38                | 0x7f80
cvt.rz.bf16.f32     | 3.4e38                | 0x7f7f
cvt.rn.satfinite.bf16.f32 | -inf            | 0xff7f
cvt.rn.relu.bf16.f32 | -1.0                 | 0
cvt.f32.bf16        | 0xc000                | -2.0
cvt.rna.tf32.f32    | 1.0 + 2.0**-11        | 0x3f802000
cvt.rn.tf32.f32     | 1.0 + 2.0**-11        | 0x3f800000
cvt.rn.f16x2.f32    | 1.0, 2.0              | 0x3c004000
cvt.rn.relu.f16x2.f32 | -1.0, 2.0           | 0x00004000
cvt.rn.bf16x2.f32   | 1.0, 2.0              | 0x3f804000
cvt.rn.satfinite.e4m3x2.f32 | 1.0, 448.0    | 0x387e
cvt.rn.satfinite.e4m3x2.f32 | 1e9, -inf     | 0x7efe
cvt.rn.satfinite.e4m3x2.f32 | 2.0**-9, 2.0**-10 | 0x0100
cvt.rn.satfinite.e4m3x2.f32 | nan, 0.0      | 0x7f00
cvt.rn.satfinite.e5m2x2.f32 | 1.0, 57344.0  | 0x3c7b
cvt.rn.satfinite.e5m2x2.f16x2 | 0x3c007c00  | 0x3c7b
cvt.rn.f16x2.e4m3x2 | 0x387e                | 0x3c005f00
cvt.rn.f16x2.e5m2x2 | 0x3c7b                | 0x3c007b00
cvt.rn.satfinite.e2m1x2.f32 | 1.0, 6.0      | 0x27
cvt.rn.satfinite.e2m1x2.f32 | -1e9, 0.25    | 0xf0
cvt.rn.satfinite.e2m1x2.f32 | 0.75, 2.5     | 0x24
cvt.rn.satfinite.e2m1x2.f32 | nan, -0.0     | 0x78
cvt.rn.satfinite.relu.e2m1x2.f32 | -3.0, 5.0 | 0x06
cvt.rn.f16x2.e2m1x2 | 0xd1                  | 0xc2003800
cvt.rp.satfinite.ue8m0x2.f32 | 1.0, 1.0 + 2.0**-23 | 0x7f80
cvt.rz.satfinite.ue8m0x2.f32 | 1.75, -4.0   | 0x7f81
cvt.rp.satfinite.ue8m0x2.f32 | 3.4e38, 0.0  | 0xfe00
cvt.rp.ue8m0x2.f32  | inf, nan              | 0xffff
cvt.rp.satfinite.ue8m0x2.f32 | inf, nan     | 0xfeff
cvt.rp.satfinite.ue8m0x2.f32 | 2.0**-127, 1.5 * 2.0**-127 | 0x0001
cvt.rn.bf16x2.ue8m0x2 | 0x7f00              | 0x3f800040
cvt.pack.sat.u16.s32 | 70000, -1            | 0xffff0000
cvt.pack.sat.s8.s32.b32 | 300, -300, 0xabcd | 0xabcd7f80
"""


@table(HAND_WORKED)
def test_hand_worked(opcode, operands, expected):
    check(opcode, *operands, expected=expected)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=20))
def test_f16_is_what_struct_packs(values):
    def packed(x):
        try:
            return struct.unpack("<H", struct.pack("<e", x))[0]
        except OverflowError:
            return 0xFC00 if x < 0 else 0x7C00

    assert bits(run("cvt.rn.f16.f32", *[(x,) for x in values])) == [packed(x) for x in values]


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_narrowing_rounds_once_in_every_mode(mode, data):
    values = [x for x in data.draw(st.lists(numbers("f64"), min_size=1, max_size=8)) if x]
    for target in ("f32", "f16"):
        result = run(f"cvt.{mode}.{target}.f64", *[(x,) for x in values or [1.0]])
        assert result.tolist() == [rounded(Fraction(x), target, mode) for x in values or [1.0]]
    wanted = [rounded(Fraction(x), "bf16", mode) for x in values or [1.0]]
    result = run(f"cvt.{mode}.bf16.f64", *[(x,) for x in values or [1.0]]).astype(np.uint32)
    assert (result << np.uint32(16)).view(np.float32).tolist() == wanted


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@settings(max_examples=60, deadline=None)
@given(values=st.lists(st.integers(-(2**63), 2**63 - 1).filter(bool), min_size=1, max_size=8))
def test_64_bit_integers_round_once(mode, values):
    for target in ("f64", "f32"):
        result = run(f"cvt.{mode}.{target}.s64", *[(x,) for x in values])
        assert result.tolist() == [rounded(Fraction(x), target, mode) for x in values]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=20))
def test_to_an_integer_rounds_then_clamps(values):
    python = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}
    for kind, low, high in (
        ("s32", -(2**31), 2**31 - 1),
        ("u16", 0, 2**16 - 1),
        ("s64", -(2**63), 2**63 - 1),
    ):
        for mode, whole in python.items():
            wanted = [
                min(max(whole(x), low), high) if math.isfinite(x) else (low if x < 0 else high)
                for x in values
            ]
            assert run(f"cvt.{mode}.{kind}.f32", *[(x,) for x in values]).tolist() == wanted


@pytest.mark.parametrize(("kind", "fraction", "bias"), [("e4m3", 3, 7), ("e5m2", 2, 15)])
def test_fp8_decodes_by_its_fields_and_encodes_to_the_nearest(kind, fraction, bias):
    codes = [c for c in range(128) if c != 0x7F and not (kind == "e5m2" and c >= 0x7C)]

    def value(code):
        exponent, rest = code >> fraction, code & (2**fraction - 1)
        hidden = 0 if exponent == 0 else 2**fraction
        return (hidden + rest) * 2.0 ** (max(exponent, 1) - bias - fraction)

    decoded = run(f"cvt.rn.f16x2.{kind}x2", *[(c | (c | 0x80) << 8,) for c in codes])
    assert decoded.view(np.float16)[0::2].tolist() == [value(c) for c in codes]
    assert decoded.view(np.float16)[1::2].tolist() == [-value(c) for c in codes]
    for low, high in zip(codes, codes[1:], strict=False):
        middle = (value(low) + value(high)) / 2
        above = float(np.nextafter(np.float32(middle), np.float32(1e9)))
        even = low if low % 2 == 0 else high
        check(f"cvt.rn.satfinite.{kind}x2.f32", middle, above, expected=even << 8 | high)
