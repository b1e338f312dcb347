"""tcgen05.mma with block scaling: kinds mxf8f6f4, mxf4 and mxf4nvf4, against NumPy.

No Blackwell GPU was at hand. Where scales lie in tensor memory is said by CuTe layouts as CUTLASS
4.2 has them (``tmem_sf_frg`` in mma_traits_sm100.hpp).
"""

import numpy as np
import pytest
from blackwell import layout, run
from test_tcgen05_mma import CODES, WAIT, check, high, k_major, operand, places, small

from course_utils.emulator import ALL_CHECKS, TENSOR_MEMORY, UNKNOWN_INSTRUCTION, KernelFault
from course_utils.emulator.numerics.floats import F16_OF_E4M3

U32 = np.uint32
A_SCALES, B_SCALES, SCALE_COLUMNS = 256, 320, 64  # columns of tensor memory

GEMM = """
extern __shared__ __align__(1024) unsigned char tile[];
__shared__ u32 where; __shared__ u64 bar;
u32 t = threadIdx.x, base = smem(tile), block = GROUP == 2 ? rank() : 0;
a += block * chunks_a; b += block * chunks_b; out += block * 128 * COLUMNS;
scales += block * 128 * 128;
for (int x = t; x < chunks_a; x += 128) ((uint4*)tile)[x] = a[x];
for (int x = t; x < chunks_b; x += 128) ((uint4*)tile)[chunks_a + x] = b[x];
if (GROUP == 2) cluster_sync(); if (t < 32) alloc<GROUP>(&where, 512);
if (t == 0) init(&bar, 1);
asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
sync();
fill(where + 256, scales, 128);
if (GROUP == 2) { before(); cluster_sync(); after(); } else sync();
if (t == 0 && block == 0) {
    for (u32 s = 0; s < steps; ++s) {
        u64 x = da | (base + s * 32 >> 4), y = db | (base + chunks_a * 16 + s * 32 >> 4);
        u32 first = s * VECTOR, id = first % 4, further = first / 4;
        ASM("{.reg .pred p; setp.ne.b32 p, %4, 0;"
            "tcgen05.mma.cta_group::GROUP.FORM [%0], %1, %2, %3, [%5], [%6], p;}"
            :: "r"(where), "l"(x), "l"(y), "r"(idesc | id << 29 | id << 4), "r"(s),
               "r"(where + 256 + further * wide_a), "r"(where + 320 + further * wide_b)
            : "memory");
    }
    if (GROUP == 2) commit_2(&bar); else commit_1(&bar);
}
WAIT
dump(where, out, COLUMNS);
if (GROUP == 2) { before(); cluster_sync(); } else sync();
if (t < 32) dealloc<GROUP>(where, 512);"""


def scales_of(shape, kind, seed):
    """(bytes, values) of random scales: ue8m0, powers of two, or ue4m3."""
    rng = np.random.default_rng(seed)
    if kind == "ue8m0":
        codes = rng.integers(120, 134, shape).astype(np.uint8)
        return codes, 2.0 ** (codes - 127.0)
    codes = rng.integers(1, 0x7F, shape).astype(np.uint8)
    values = np.where(
        codes >> 3, (8 + codes % 8) * 2.0 ** ((codes >> 3) - 10.0), codes % 8 * 2.0**-9
    )
    return codes, values


def place_scales(image, codes, first, halves):
    """Enter scales (rows, along k) into the bytes of tensor memory (128, columns, 4).

    tmem_sf_frg counts bytes of a lane 128 apart: rows go down 32 lanes, then 4 bytes on, and all of
    it once for each 32 lanes; in the 2x2 data path the second half of B's columns begins at lane 64
    """
    rows, count = codes.shape
    if halves:
        shape, stride = (32, rows // 64, 2, 2), (1, 512, 64, 32)
        source = layout((rows // 2, 2, 2), (1, rows // 2, 0))
    else:
        shape, stride = (32, rows // 32, 4), (1, 512, 32)
        source = layout((rows, 4), (1, 0))
    address = layout(shape, stride)
    width = rows // (64 if halves else 32)
    for k in range(count):
        lane, byte = address % 128, address // 128
        image[lane, first + k // 4 * width + byte // 4, k % 4] = codes[source, k]
    return width


def multiply(
    m,
    n,
    kind,
    qualifier,
    a_kind,
    b_kind=None,
    scale="ue8m0",
    group=1,
    span=128,
    vector=1,
    text=None,
    bits=0,
    **options,
):
    """(D, the expected product, the launch's result)."""
    b_kind = b_kind or a_kind
    steps = span // 32
    k = steps * (64 if kind.startswith("mxf4") else 32)
    matrices = []
    for rows, element, seed in ((m, a_kind, 1), (n, b_kind, 2)):
        if kind.startswith("mxf4"):
            codes, values = small((rows, k), "e2m1", seed)
            data = codes[:, ::2] | codes[:, 1::2] << 4
        else:
            data, values = operand(rows, k, element, seed)
        codes, factors = scales_of((rows, steps * vector), scale, seed + 2)
        matrices.append((data, values * factors.repeat(k // codes.shape[1], axis=1), codes))
    (a, left, a_codes), (b, right, b_codes) = matrices
    halves = group == 2 and m == 128
    images = np.zeros((group, 128, 128, 4), np.uint8)
    for block, rows in enumerate(np.split(a_codes, group)):
        padding = np.zeros((-len(rows) % 128, rows.shape[1]), np.uint8)
        wide_a = place_scales(images[block], np.concatenate([rows, padding]), 0, False)
        wide_b = place_scales(images[block], b_codes, SCALE_COLUMNS, halves)
    tiles = [np.concatenate([k_major(x, span)[0] for x in np.split(y, group)]) for y in (a, b)]
    _, leading, stride, _ = k_major(a, span)
    descriptor = np.uint64(high(k_major, leading, stride, span))
    code = (1, 1) if kind.startswith("mxf4") else (CODES[a_kind], CODES[b_kind])
    idesc = code[0] << 7 | code[1] << 10 | n >> 3 << 17 | (scale == "ue8m0") << 23 | m >> 4 << 24
    where = places(m, n, group)
    columns = int(where[2].max()) + 1
    body = GEMM
    form = text or f"kind::{kind}.block_scale{qualifier}"
    for name, value in (
        ("FORM", form),
        ("GROUP", str(group)),
        ("COLUMNS", str(columns)),
        ("VECTOR", str(vector)),
        ("WAIT", WAIT),
    ):
        body = body.replace(name, value)
    out = np.zeros((group, 128, columns), U32)
    result = run(
        "const uint4* a, const uint4* b, u32* out, const u32* scales, u64 da, u64 db, u32 idesc, "
        "int chunks_a, int chunks_b, u32 steps, u32 wide_a, u32 wide_b",
        body,
        group,
        128,
        (
            *tiles,
            out,
            images.view(U32)[..., 0].copy(),
            descriptor,
            descriptor,
            U32(idesc | bits),
            np.int32(tiles[0].size // 16 // group),
            np.int32(tiles[1].size // 16 // group),
            U32(steps),
            U32(wide_a),
            U32(wide_b),
        ),
        shared=sum(x.size for x in tiles) // group,
        **({"cluster": (group, 1, 1)} if group > 1 else {}),
        **options,
    )
    return out[where].view(np.float32), left @ right.T, result


FORMS = [
    ("mxf8f6f4", "", "e4m3", "e5m2", "ue8m0", 1),
    ("mxf8f6f4", ".scale_vec::1X", "e2m1", "e4m3", "ue8m0", 1),
    ("mxf8f6f4", ".block32", "e3m2", "e2m3", "ue8m0", 1),
    ("mxf4", "", "e2m1", "e2m1", "ue8m0", 2),
    ("mxf4", ".scale_vec::2X", "e2m1", "e2m1", "ue8m0", 2),
    ("mxf4nvf4", ".block32", "e2m1", "e2m1", "ue8m0", 2),
    ("mxf4nvf4", ".scale_vec::4X", "e2m1", "e2m1", "ue4m3", 4),
    ("mxf4nvf4", ".block16", "e2m1", "e2m1", "ue8m0", 4),
]


@pytest.mark.parametrize("kind, qualifier, a_kind, b_kind, scale, vector", FORMS)
def test_every_kind_scales_its_blocks(kind, qualifier, a_kind, b_kind, scale, vector):
    d, expected, result = multiply(
        128, 64, kind, qualifier, a_kind, b_kind, scale, vector=vector, checks=ALL_CHECKS
    )
    check(d, expected)
    assert result.findings == []


@pytest.mark.parametrize("n", [32, 128, 256])
def test_scales_of_b_go_on_in_the_next_column_after_32(n):
    d, expected, _ = multiply(128, n, "mxf8f6f4", "", "e4m3")
    check(d, expected)


@pytest.mark.parametrize("m, n", [(256, 256), (256, 64), (128, 64), (128, 256)])
def test_a_pair_scales_its_blocks(m, n):
    d, expected, result = multiply(m, n, "mxf8f6f4", "", "e4m3", group=2, checks=ALL_CHECKS)
    check(d, expected)
    assert result.findings == []


@pytest.mark.parametrize("span", [32, 64])
def test_scaled_operands_can_be_swizzled_less(span):
    d, expected, _ = multiply(
        128, 64, "mxf4nvf4", ".scale_vec::4X", "e2m1", scale="ue4m3", span=span, vector=4
    )
    check(d, expected)


@pytest.mark.parametrize(
    "text",
    ["kind::mxf8f6f4.block_scale.scale_vec::2X", "kind::mxf4nvf4.block_scale", "kind::mxf8f6f4"],
)
def test_scale_vectors_that_a_kind_does_not_have_are_errors_that_name_them(text):
    with pytest.raises(KernelFault) as caught:
        multiply(128, 64, "mxf8f6f4", "", "e4m3", text=text)
    assert caught.value.finding.kind == UNKNOWN_INSTRUCTION
    assert f"tcgen05.mma.cta_group::1.{text}" in caught.value.finding.message


def test_64_rows_cannot_be_scaled():
    with pytest.raises(KernelFault) as caught:
        multiply(64, 64, "mxf8f6f4", "", "e4m3")
    assert caught.value.finding.kind == TENSOR_MEMORY
    assert "has M = 64 and N = 64, a shape that kind::mxf8f6f4 does not have" in (
        caught.value.finding.message
    )


def test_a_scale_factor_id_must_be_where_scales_can_begin():
    with pytest.raises(KernelFault) as caught:
        multiply(128, 64, "mxf4", "", "e2m1", vector=2, bits=1 << 29)
    assert caught.value.finding.kind == TENSOR_MEMORY
    assert "scale factor ID for A is 1; it must be a multiple of 2" in caught.value.finding.message


def test_ue4m3_scales_are_those_of_e4m3():
    codes, values = scales_of((1, 1000), "ue4m3", 0)
    assert np.array_equal(values, F16_OF_E4M3[codes].view(np.float16).astype(float))
