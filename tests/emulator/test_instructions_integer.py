"""Integer arithmetic, logic and comparisons against hand-worked cases and Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from instruction_cases import array, bits, check, find, run, table

from course_utils.emulator.instructions import TABLE

HAND_WORKED = """
add.u32         | 0xffffffff, 1                  | 0
add.sat.s32     | MAX, 1                         | MAX
sub.sat.s32     | MIN, 1                         | MIN
add.u16x2       | 0x0001ffff, 0x00010001         | 0x00020000
mul.lo.s32      | 65536, 65536                   | 0
mul.hi.u32      | 0xffffffff, 0xffffffff         | 0xfffffffe
mul.hi.s32      | -1, 1                          | -1
mul.wide.s32    | -2, 3                          | -6
mul.wide.u16    | 0xffff, 0xffff                 | 0xfffe0001
mul.hi.u64      | 2**64 - 1, 2**64 - 1           | 2**64 - 2
mul.hi.s64      | -2**63, -2**63                 | 2**62
mul24.lo.u32    | 0xff000003, 5                  | 15
mul24.hi.s32    | 0x00ffffff, 0x10000            | -1
mad.hi.sat.s32  | MIN, MIN, MAX                  | MAX
mad.wide.u32    | 0xffffffff, 2, 5               | 0x200000003
sad.s32         | -3, 4, 10                      | 17
div.s32         | -7, 2                          | -3
div.s32         | MIN, -1                        | MIN
div.u32         | 5, 0                           | 0xffffffff
rem.s32         | -7, 2                          | -1
rem.s32         | 7, -2                          | 1
rem.s64         | 9, 0                           | -1
abs.s32         | MIN                            | MIN
min.relu.s32    | -5, 3                          | 0
max.s32.relu    | -5, -3                         | 0
vabsdiff4.u32.u32.u32 | 0x05000201, 0x01ff0002, 9 | 0x04ff0201
vabsdiff4.u32.u32.u32.add | 0x05000201, 0x01ff0002, 9 | 271
max.s16x2       | 0x8000ffff, 0x00010000         | 0x00010000
popc.b64        | 2**64 - 1                      | 64
clz.b32         | 0                              | 32
clz.b32         | 1                              | 31
clz.b64         | 2**32                          | 31
bfind.u32       | 0                              | 0xffffffff
bfind.s32       | -1                             | 0xffffffff
bfind.s32       | -2                             | 0
bfind.shiftamt.u32 | 1                           | 31
fns.b32         | 0b10110, 0, 2                  | 2
fns.b32         | 0b10110, 4, -2                 | 2
fns.b32         | 0b10110, 0, 0                  | 0xffffffff
fns.b32         | 0b10110, 1, 0                  | 1
brev.b32        | 1                              | 0x80000000
brev.b64        | 0xf                            | 0xf << 60
bfe.u32         | 0x12345678, 8, 8               | 0x56
bfe.s32         | 0x0000ff00, 8, 8               | -1
bfe.s32         | -1, 5, 0                       | 0
bfe.s32         | MIN, 40, 3                     | -1
bfe.u32         | -1, 28, 8                      | 0xf
bfi.b32         | 0xff, 0, 28, 8                 | 0xf0000000
bfi.b32         | 0xff, 0x12345678, 4, 0         | 0x12345678
bfi.b64         | 1, 0, 63, 1                    | 2**63
bmsk.clamp.b32  | 4, 32                          | 0xfffffff0
bmsk.wrap.b32   | 33, 2                          | 6
szext.wrap.s32  | 0x80, 8                        | -128
szext.clamp.u32 | -1, 40                         | 0xffffffff
dp4a.s32.s32    | 0xff01ff01, 0x02020202, 10     | 10
dp4a.u32.s32    | 0xff, 0xff, 0                  | -255
dp2a.hi.u32.u32 | 0x00020003, 0x05070000, 1      | 32
and.pred        | True, False                    | False
cnot.b32        | 0                              | 1
lop3.b32        | 0b1100, 0b1010, 0b0110, 0x96   | 0
lop3.b32        | 0b1100, 0b1010, 0b0110, 0xCA   | 0b1010
shl.b32         | 1, 32                          | 0
shl.b16         | 1, 0x10000                     | 0
shr.u32         | MIN, 33                        | 0
shr.s32         | MIN, 2**31                     | -1
shr.s16         | -4, 1                          | -2
shf.l.wrap.b32  | 0x80000000, 1, 33              | 3
shf.l.clamp.b32 | 0x12345678, 1, 40              | 0x12345678
shf.r.clamp.b32 | 5, 7, 32                       | 7
shf.r.wrap.b32  | 0, 1, 1                        | 0x80000000
prmt.b32        | 0x33221100, 0x77665544, 0x7410 | 0x77441100
prmt.b32        | 0x00000080, 0, 0x1118          | 0x000000ff
prmt.b32        | 0x33221180, 0x77665544, 0x7684 | 0x7766ff44
prmt.b32.f4e    | 0x33221100, 0x77665544, 1      | 0x44332211
prmt.b32.b4e    | 0x33221100, 0x77665544, 1      | 0x66770011
prmt.b32.rc8    | 0x33221100, 0, 2               | 0x22222222
prmt.b32.ecl    | 0x33221100, 0, 1               | 0x33221111
prmt.b32.ecr    | 0x33221100, 0, 1               | 0x11111100
prmt.b32.rc16   | 0x33221100, 0, 1               | 0x33223322
selp.b64        | 1, 2, False                    | 2
slct.u32.s32    | 1, 2, 0                        | 1
set.lt.u32.s32  | -1, 0                          | 0xffffffff
set.lt.f32.u32  | 1, 2                           | 1.0
"""


@table(HAND_WORKED)
def test_hand_worked(opcode, operands, expected):
    check(opcode, *operands, expected=expected)


RANGE = {
    f"{sign}{width}": (-(2 ** (width - 1)) if sign == "s" else 0, 2 ** (width - (sign == "s")) - 1)
    for sign in "us"
    for width in (16, 32, 64)
}


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


REFERENCE = {
    "add": lambda a, b, c, w: a + b,
    "sub": lambda a, b, c, w: a - b,
    "mul.lo": lambda a, b, c, w: a * b,
    "mul.hi": lambda a, b, c, w: (a * b) >> w,
    "mad.lo": lambda a, b, c, w: a * b + c,
    "mad.hi": lambda a, b, c, w: ((a * b) >> w) + c,
    "div": lambda a, b, c, w: truncated(a, b) if b else -1,
    "rem": lambda a, b, c, w: a - b * truncated(a, b) if b else -1,
    "min": lambda a, b, c, w: min(a, b),
    "max": lambda a, b, c, w: max(a, b),
    "sad": lambda a, b, c, w: abs(a - b) + c,
}


def integers(kind: str):
    low, high = RANGE[kind]
    near = [v for v in (low, low + 1, -1, 0, 1, 2, high - 1, high) if low <= v <= high]
    return st.integers(low, high) | st.sampled_from(near) | st.integers(max(low, -40), 40)


@pytest.mark.parametrize("kind", RANGE)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_arithmetic_wraps_around_like_python_modulo_the_width(kind, data):
    number, width = integers(kind), int(kind[1:])
    lanes = data.draw(st.lists(st.tuples(number, number, number), min_size=1, max_size=20))
    for name, reference in REFERENCE.items():
        opcode = f"{name}.{kind}"
        count = len(find(opcode).src)
        result = run(opcode, *[lane[:count] for lane in lanes])
        assert bits(result) == [reference(*lane, width) % 2**width for lane in lanes], opcode


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**128 - 1), st.integers(0, 2**128 - 1))
def test_carry_chains_add_subtract_and_multiply_wide_numbers(x, y):
    words = [[array("u32", [n >> 32 * i]) for i in range(4)] for n in (x, y)]
    for op, expected in (("add", x + y), ("sub", x - y)):
        total, carry = find(f"{op}.cc.u32").compute(words[0][0], words[1][0])
        result = int(total[0])
        for i in range(1, 4):
            total, carry = find(f"{op}c.cc.u32").compute(words[0][i], words[1][i], carry)
            result |= int(total[0]) << 32 * i
        assert result == expected % 2**128
        assert bool(carry[0]) == (expected >= 2**128 or expected < 0)
    a, b = words[0][0], words[1][0]
    low, carry = find("mad.lo.cc.u32").compute(a, b, words[0][1])
    high = find("madc.hi.u32").compute(a, b, words[1][1], carry)
    expected = int(a[0]) * int(b[0]) + int(words[0][1][0]) + (int(words[1][1][0]) << 32)
    assert int(low[0]) | int(high[0]) << 32 == expected % 2**64


@settings(max_examples=60, deadline=None)
@given(*[st.integers(0, 2**32 - 1)] * 3, st.integers(0, 255))
def test_lop3_looks_every_bit_up_in_its_table(a, b, c, lut):
    def bit(i):
        return lut >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1

    check("lop3.b32", a, b, c, lut, expected=sum(bit(i) << i for i in range(32)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), *[st.integers(0, 300)] * 2)
def test_bit_fields_follow_the_manuals_loop(a, position, length):
    position, length = position & 255, length & 255
    for kind in ("u32", "s32"):
        last = min(position + length - 1, 31)
        sign = 0 if kind == "u32" or length == 0 else a >> last & 1
        inside = [i < length and position + i <= 31 for i in range(32)]
        expected = sum((a >> position + i & 1 if ok else sign) << i for i, ok in enumerate(inside))
        check(f"bfe.{kind}", a, position, length, expected=expected)


@pytest.mark.parametrize("combine", ["and", "or", "xor"])
def test_setp_combines_the_comparison_and_its_opposite_with_a_predicate(combine):
    lanes = [(a, 0, c) for a in (-1, 1) for c in (False, True)]
    p, q = run(f"setp.lt.{combine}.s32", *lanes)
    python = {"and": lambda x, y: x & y, "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}[
        combine
    ]
    assert p.tolist() == [python(a < 0, c) for a, _, c in lanes]
    assert q.tolist() == [python(a >= 0, c) for a, _, c in lanes]


def test_prmt_picks_bytes_lane_by_lane():
    lanes = [(0x33221180, 0x77665544, s) for s in (0x7410, 0x7684, 0xFEDC, 0x8888)]
    assert bits(run("prmt.b32", *lanes)) == [bits(run("prmt.b32", lane))[0] for lane in lanes]


def test_unsigned_and_signed_comparisons_differ_on_the_top_bit():
    assert run("setp.lt.s32", (-1, 0))[0].tolist() == [True]
    assert run("setp.lo.u32", (-1, 0))[0].tolist() == [False]
    assert run("setp.hi.u32", (-1, 0))[0].tolist() == [True]


def test_one_value_for_all_lanes_may_meet_many():
    many, one = np.arange(5, dtype=np.uint32), np.array([3], np.uint32)
    assert find("add.u32").compute(many, one).tolist() == [3, 4, 5, 6, 7]
    assert find("div.u32").compute(one, many + np.uint32(1)).tolist() == [3, 1, 1, 0, 0]


@pytest.mark.parametrize(
    "opcode", ["add.b32", "add.sat.f64", "mul.u32", "setp.lt.b32", "prmt.b32.xyz", "cvt.u32.f32"]
)
def test_a_form_that_does_not_exist_is_unknown(opcode):
    base, *modifiers = opcode.split(".")
    assert TABLE[base](tuple(modifiers)) is None
