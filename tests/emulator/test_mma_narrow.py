"""mma of 8-, 6- and 4-bit floats and its block scales (sm_120a), against sums in NumPy.

The kernel takes its operands apart by the formulas of the PTX manual; the numbers are written out
from their definition, sign · 1.fraction · 2**(exponent - bias).
"""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.devices import emulated_arrays
from course_utils.emulator import (
    UNINITIALISED,
    UNKNOWN_INSTRUCTION,
    EmulatedModule,
    KernelFault,
    Options,
)

FORMATS = {  # bits of exponent and of fraction, bias
    "e4m3": (4, 3, 7),
    "e5m2": (5, 2, 15),
    "e3m2": (3, 2, 3),
    "e2m3": (2, 3, 1),
    "e2m1": (2, 1, 1),
}
BYTES = 32  # of a row of A and of a column of B, whatever the format
SOURCE = """
extern "C" __global__ void f(const unsigned* a, const unsigned* b, const {c_type}* c, {c_type}* d,
                             const unsigned* scales_a, const unsigned* scales_b) {{
    int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    unsigned A[4], B[2], C[4];
    for (int r = 0; r < 4; ++r) A[r] = a[(g + 8 * (r % 2)) * 8 + t + 4 * (r / 2)];
    for (int r = 0; r < 2; ++r) B[r] = b[g * 8 + t + 4 * r];
    {c_type}* held = ({c_type}*)C;
    for (int x = 0; x < 4; ++x) held[x] = c[(g + 8 * (x >> 1)) * 8 + 2 * t + (x & 1)];
    unsigned SA = scales_a[lane], SB = scales_b[lane];
    asm volatile("{instruction} {{{cs}}}, {{%4, %5, %6, %7}}, {{%8, %9}}, {{{cs}}}{scaling};"
        : "+r"(C[0]), "+r"(C[1]), "+r"(C[2]), "+r"(C[3])
        : "r"(A[0]), "r"(A[1]), "r"(A[2]), "r"(A[3]), "r"(B[0]), "r"(B[1]), "r"(SA), "r"(SB),
          "h"((short){byte}));
    for (int x = 0; x < 4; ++x) d[(g + 8 * (x >> 1)) * 8 + 2 * t + (x & 1)] = held[x];
}}
"""


def value(kind, code):
    exponent_bits, fraction_bits, bias = FORMATS[kind]
    fraction = code & (1 << fraction_bits) - 1
    exponent = code >> fraction_bits & (1 << exponent_bits) - 1
    sign = -1.0 if code >> (exponent_bits + fraction_bits) else 1.0
    whole = fraction / 2**fraction_bits + (exponent > 0)
    return sign * whole * 2.0 ** (max(exponent, 1) - bias)


def random(kind, shape, seed):
    """(codes, their values); no NaN and no infinity, and no e5m2 that makes the others vanish."""
    bits = sum(FORMATS[kind][:2]) + 1
    known = np.array([value(kind, code) for code in range(1 << bits)])
    usable = np.flatnonzero(abs(known) <= 64)
    codes = np.random.default_rng(seed).choice(usable, shape).astype(np.uint8)
    return codes, known[codes]


def in_bytes(kind, codes):
    """The middle of a byte for 4 bits, the lower end for 6."""
    return codes << 2 if kind == "e2m1" else codes


def in_nibbles(codes):
    return codes[:, 0::2] | codes[:, 1::2] << 4


def multiply(instruction, a, b, c, scaling="", scales=(0, 0), byte=0):
    """``byte``: what the register %12 holds."""
    half = c.dtype == np.float16
    source = SOURCE.format(
        c_type="unsigned short" if half else "float",
        cs="%0, %1" if half else "%0, %1, %2, %3",
        instruction=instruction,
        scaling=scaling,
        byte=byte,
    )
    d = np.zeros_like(c)
    words = [np.broadcast_to(np.asarray(s, np.uint32), 32).copy() for s in scales]
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu", arch="compute_120a"))
    module.entry("f").launch(1, 32, (a, b, c, d, *words))
    return d


PAIRS = [("e4m3", "e3m2"), ("e3m2", "e2m3"), ("e2m3", "e2m1"), ("e2m1", "e5m2"), ("e5m2", "e4m3")]


@pytest.mark.parametrize("a_kind, b_kind", PAIRS)
def test_numbers_of_four_and_six_bits_lie_in_bytes(a_kind, b_kind):
    a, a_values = random(a_kind, (16, 32), 1)
    b, b_values = random(b_kind, (8, 32), 2)
    c = np.random.default_rng(3).standard_normal((16, 8)).astype(np.float32)
    instruction = f"mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.{a_kind}.{b_kind}.f32"
    d = multiply(instruction, in_bytes(a_kind, a), in_bytes(b_kind, b), c)
    np.testing.assert_allclose(d, a_values @ b_values.T + c, rtol=1e-6)


def test_padding_of_a_byte_is_not_looked_at():
    a, a_values = random("e2m1", (16, 32), 1)
    b, b_values = random("e3m2", (8, 32), 2)
    c = np.zeros((16, 8), np.float32)
    instruction = "mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e3m2.f32"
    d = multiply(instruction, a << 2 | 0b11000011, b | 0b11000000, c)
    assert (d == a_values @ b_values.T).all()


def test_the_sum_may_be_f16():
    a, a_values = random("e2m3", (16, 32), 1)
    b, b_values = random("e2m1", (8, 32), 2)
    c = np.arange(128, dtype=np.float16).reshape(16, 8)
    instruction = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m3.e2m1.f16"
    d = multiply(instruction, a, b << 2, c)
    assert (d == (a_values @ b_values.T + c).astype(np.float16)).all()


def spread_scales(scales, holders, byte, seed):
    """A word for each lane: ``scales`` (rows, count) from ``byte`` on in the words of the lanes
    ``holders``, and anything everywhere else."""
    words = np.random.default_rng(seed).integers(0, 256, (32, 4), np.uint8)
    words[holders, byte : byte + scales.shape[1]] = scales
    return words.view(np.uint32)[:, 0]


def scale_case(a_kind, b_kind, count, a_where, b_where, codes):
    """A and B of 32 or 64 numbers a row with ``count`` scales, and A · B as it should be."""
    k = 64 if count > 1 else 32
    a, a_values = random(a_kind, (16, k), 1)
    b, b_values = random(b_kind, (8, k), 2)
    rng = np.random.default_rng(4)
    pick = [rng.integers(0, len(codes), (n, count)) for n in (16, 8)]
    names = np.array(list(codes), np.uint8)
    factors = np.array([codes[code] for code in codes])
    a_values = a_values * factors[pick[0]].repeat(k // count, axis=1)
    b_values = b_values * factors[pick[1]].repeat(k // count, axis=1)
    row = np.arange(16)
    holders_a = 4 * (row % 8) + 2 * a_where[1] + row // 8
    holders_b = 4 * np.arange(8) + b_where[1]
    words = (
        spread_scales(names[pick[0]], holders_a, a_where[0], 5),
        spread_scales(names[pick[1]], holders_b, b_where[0], 6),
    )
    if k == 64:
        return in_nibbles(a), in_nibbles(b), words, a_values @ b_values.T
    return in_bytes(a_kind, a), in_bytes(b_kind, b), words, a_values @ b_values.T


UE8M0 = {127 + n: 2.0**n for n in range(-6, 7)}
UE4M3 = {code: value("e4m3", code) for code in range(8, 100, 7)}


@pytest.mark.parametrize(
    "kind, size, scales, types, a_where, b_where",
    [
        ("mxf8f6f4", 1, UE8M0, ("e4m3", "e2m1"), (0, 0), (0, 0)),
        ("mxf8f6f4", 1, UE8M0, ("e2m3", "e5m2"), (3, 1), (1, 3)),
        ("mxf4", 2, UE8M0, ("e2m1", "e2m1"), (2, 1), (0, 2)),
        ("mxf4nvf4", 2, UE8M0, ("e2m1", "e2m1"), (0, 1), (2, 1)),
        ("mxf4nvf4", 4, UE8M0, ("e2m1", "e2m1"), (0, 0), (0, 3)),
        ("mxf4nvf4", 4, UE4M3, ("e2m1", "e2m1"), (0, 1), (0, 0)),
    ],
    ids=lambda p: "scales" if isinstance(p, dict) else str(p),
)
def test_selectors_say_whose_bytes_scale_each_block(kind, size, scales, types, a_where, b_where):
    a, b, words, product = scale_case(*types, size, a_where, b_where, scales)
    c = np.random.default_rng(3).standard_normal((16, 8)).astype(np.float32)
    k, scale = (32, 64)[size > 1], "ue8m0" if scales is UE8M0 else "ue4m3"
    instruction = (
        f"mma.sync.aligned.kind::{kind}.block_scale.scale_vec::{size}X.m16n8k{k}.row.col"
        f".f32.{types[0]}.{types[1]}.f32.{scale}"
    )
    scaling = f", {{%10}}, {{%12, {a_where[1]}}}, {{%11}}, {{{b_where[0]}, {b_where[1]}}}"
    d = multiply(instruction, a, b, c, scaling, words, byte=a_where[0])
    np.testing.assert_allclose(d, product + c, rtol=1e-6, atol=1e-5 * abs(product).max())


@pytest.mark.parametrize("kind, k, size", [("mxf8f6f4", 32, 1), ("mxf4", 64, 2)])
def test_without_scale_vec_the_kind_says_how_many_scales(kind, k, size):
    a, b, words, product = scale_case("e2m1", "e2m1", size, (0, 0), (0, 0), UE8M0)
    instruction = (
        f"mma.sync.aligned.m16n8k{k}.row.col.kind::{kind}.block_scale.f32.e2m1.e2m1.f32.ue8m0"
    )
    c = np.zeros((16, 8), np.float32)
    d = multiply(instruction, a, b, c, ", %10, {0, 0}, %11, {0, 0}", words)
    np.testing.assert_allclose(d, product, rtol=1e-6)


def test_a_scale_of_255_is_nan():
    zeros = np.zeros((16, 32), np.uint8)
    scales = np.full(32, 127)
    scales[4 * 3] = 255  # row 3
    instruction = (
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    )
    c = np.zeros((16, 8), np.float32)
    d = multiply(instruction, zeros, zeros, c, ", %10, {0, 0}, %11, {0, 0}", (scales, 127))
    assert np.isnan(d[3]).all() and np.isnan(d).sum() == 8


@pytest.mark.parametrize(
    "form, scaling, says",
    [
        ("kind::mxf4nvf4.block_scale.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3", "", "scale_vec"),
        ("kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0",
         "", "operands"),
        ("kind::mxf4.block_scale.scale_vec::2X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue8m0",
         ", %10, {1, 0}, %11, {0, 0}", "byte"),
        ("kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3.e4m3.f32.ue8m0",
         ", %10, {0, 2}, %11, {0, 0}", "thread"),
        ("sp::ordered_metadata.kind::f8f6f4.m16n8k32.row.col.f32.e4m3.e4m3.f32", "", "metadata"),
        ("kind::f8f6f4.m16n8k32.row.col.f32.e4m3.f16.f32", "", "e4m3.f16"),
        ("m16n8k32.row.col.f32.e4m3.e2m1.f32", "", "e4m3.e2m1"),
    ],
)  # fmt: skip
def test_what_no_gpu_takes_is_refused_and_named(form, scaling, says):
    zeros, c = np.zeros((16, 32), np.uint8), np.zeros((16, 8), np.float32)
    with pytest.raises(KernelFault) as caught:
        multiply("mma.sync.aligned." + form, zeros, zeros, c, scaling)
    assert caught.value.finding.kind == UNKNOWN_INSTRUCTION
    assert says in caught.value.finding.message and "kernel.cu:" in caught.value.finding.message


def test_a_scale_that_nobody_has_written_is_found():
    instruction = (
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0"
    )
    scaling = ", %10, {0, 0}, %11, {0, 0}"
    source = SOURCE.replace("d[(g", "if (held[x] > 0) d[(g").format(
        c_type="float", cs="%0, %1, %2, %3", instruction=instruction, scaling=scaling, byte=0
    )
    a, scales = np.zeros((16, 32), np.uint8), np.full(32, 127, np.uint32)
    c = np.ones((16, 8), np.float32)
    never = emulated_arrays.plain(emulated_arrays.empty(32, np.uint32))
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu", arch="compute_120a"))
    for arguments, count in (((scales, scales), 0), ((scales, never), 1)):
        result = module.entry("f").launch(
            1,
            32,
            (a, a[:8], c, c.copy(), *arguments),
            options=Options(checks=frozenset({"uninitialised"})),
        )
        assert [finding.kind for finding in result.findings][:1] == [UNINITIALISED] * count
