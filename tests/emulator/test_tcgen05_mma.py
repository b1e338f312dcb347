"""tcgen05.mma against NumPy: tiles laid out in shared memory by the test, D read back lane by lane.

No Blackwell GPU was at hand. Tiles are laid out as TMA leaves them; where D lies in tensor memory
is said by CuTe layouts as CUTLASS 4.2 has them (``tmem_frg`` in mma_traits_sm100.hpp).
"""

import numpy as np
import pytest
from blackwell import layout, run
from matrix_tiles import k_major, mn_major
from test_matrix import random

from course_utils.emulator import (
    ALL_CHECKS,
    DATA_RACE,
    OUT_OF_BOUNDS,
    TENSOR_MEMORY,
    UNKNOWN_INSTRUCTION,
    Cause,
    KernelFault,
)
from course_utils.emulator.instructions.fragment_layouts import SMALL
from course_utils.emulator.numerics.floats import to_f16

U32, F32 = np.uint32, np.float32
SEEDS = (0, 1, 2)
BITS = {"f16": 16, "bf16": 16, "tf32": 32}  # others: 8
CODES = {  # types of A and B in the instruction descriptor
    "f16": 0,
    "bf16": 1,
    "tf32": 2,
    "e4m3": 0,
    "e5m2": 1,
    "e2m3": 3,
    "e3m2": 4,
    "e2m1": 5,
    "u8": 0,
    "s8": 1,
}
KINDS = {"f16": "f16", "bf16": "f16", "tf32": "tf32", "u8": "i8", "s8": "i8"}  # others: f8f6f4
D_CODES = {"f16": 0, "f32": 1, "s32": 2}
MODES = {16: 0, 128: 2, 64: 4, 32: 6, "wide": 1}  # swizzle span -> bits 61 to 63

GEMM = """
extern __shared__ __align__(1024) unsigned char tile[];
__shared__ u32 where; __shared__ u64 bar;
u32 t = threadIdx.x, base = smem(tile), block = GROUP == 2 ? rank() : 0;
a += block * chunks_a; b += block * chunks_b; out += block * 128 * COLUMNS;
for (int x = t; x < chunks_a; x += 128) ((uint4*)tile)[x] = a[x];
for (int x = t; x < chunks_b; x += 128) ((uint4*)tile)[chunks_a + x] = b[x];
if (GROUP == 2) cluster_sync(); if (t < 32) alloc<GROUP>(&where, 512);
if (t == 0) init(&bar, 1);
asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
sync();
fill(where, start, COLUMNS);
FILL_A
if (GROUP == 2) { before(); cluster_sync(); after(); } else sync();
if (t == 0 && block == 0) {
    for (int s = 0; s < steps; ++s) {
        u64 x = da | (base + s * step_a >> 4), y = db | (base + chunks_a * 16 + s * step_b >> 4);
        u32 columns = where + 256 + 8 * s;
        ASM("{.reg .pred p; setp.ne.b32 p, %4, 0;"
            "tcgen05.mma.FORM [%0], A_OPERAND, %2, %3, MASK p SHIFT;}"
            :: "r"(where + lane), A_VALUE, "l"(y), "r"(idesc), "r"(s + keep) EXTRA : "memory");
    }
    if (GROUP == 2) commit_2(&bar); else commit_1(&bar);
}
WAIT
dump(where, out, COLUMNS);
if (GROUP == 2) { before(); cluster_sync(); } else sync();
if (t < 32) dealloc<GROUP>(where, 512);"""
WAIT = "wait(&bar, 0); after();"


def small(shape, kind, seed):
    """(codes, values) of random 4- or 6-bit floats."""
    codes = np.random.default_rng(seed).integers(0, len(SMALL[kind]), shape).astype(np.uint8)
    return codes, SMALL[kind][codes]


def padded(codes, bits):
    """Codes (rows, k) as b4x16_p64 or b6x16_p32: 16 elements in 16 bytes."""
    rows = codes.reshape(len(codes), -1, 16)
    out = np.zeros(rows.shape, np.uint8)
    for index in np.ndindex(rows.shape[:2]):
        number = sum(int(c) << bits * n for n, c in enumerate(rows[index]))
        out[index][: 2 * bits] = np.frombuffer(number.to_bytes(2 * bits, "little"), np.uint8)
    return out.reshape(codes.shape)


def operand(rows, k, kind, seed):
    """(what lies in shared memory, values) of a random matrix."""
    if kind in SMALL:
        codes, values = small((rows, k), kind, seed)
        return padded(codes, 4 if kind == "e2m1" else 6), values
    return random((rows, k), kind, seed)


def places(m, n, group=1, stationary=False, half=0):
    """(block, lane, column) of D's rows and columns: CUTLASS's tmem_frg and tmem_frg_ws."""
    rows = m // group
    if rows == 128:
        shape, stride = (128, n), (1, 128)
    elif rows == 64 and group == 1 and not stationary:
        shape, stride = ((16, 4), n), ((1, 32), 128)
    elif rows == 64:
        shape, stride = (64, (n // 2, 2)), (1, (128, 64))
    else:
        shape, stride = (32, (n // 4, 4)), (1, (128, 32))
    address = layout(shape, stride).reshape(n, rows).T + half
    block = np.repeat(np.arange(group), rows)
    address = np.tile(address, (group, 1))
    return block[:, None], address % 128, address // 128


def high(lay, leading, stride, span):
    return leading >> 4 << 16 | stride >> 4 << 32 | 1 << 46 | MODES[span] << 61


def multiply(
    m,
    n,
    a_kind,
    b_kind=None,
    d_kind="f32",
    a_layout=(k_major, 128),
    b_layout=None,
    group=1,
    stationary=False,
    steps=None,
    keep=0,
    half=0,
    in_tensor_memory=False,
    bits=0,
    mask=None,
    shift=None,
    form=None,
    edit=str,
    **options,
):
    """(D (m, n) as its type, A, B, what D was before, the launch's result)."""
    b_kind, b_layout = b_kind or a_kind, b_layout or a_layout
    width = BITS.get(a_kind, 8)
    spans = [128 if s == "wide" else s for f, s in (a_layout, b_layout) if f is k_major]
    k_bytes = 32 * steps if steps else max(spans)
    k, steps = k_bytes * 8 // width, k_bytes // 32
    a, a_values = operand(m, k, a_kind, 1)
    b, b_values = operand(n, k, b_kind, 2)
    parts = []
    for raw, (lay, span) in ((a, a_layout), (b, b_layout)):
        pieces = [lay(piece, span) for piece in np.split(raw, group)]
        _, leading, stride, step = pieces[0]
        data = np.concatenate([piece[0] for piece in pieces])
        parts.append((data, high(lay, leading, stride, span), step))
    (data_a, da, step_a), (data_b, db, step_b) = parts
    idesc = D_CODES[d_kind] << 4 | CODES[a_kind] << 7 | CODES[b_kind] << 10 | bits
    idesc |= (a_layout[0] is mn_major) << 15 | (b_layout[0] is mn_major) << 16
    idesc |= n >> 3 << 17 | m >> 4 << 24
    where = places(m, n, group, stationary, half)
    columns = int(where[2].max()) + 1
    start = np.random.default_rng(3).standard_normal((128, columns)).astype(F32)
    start_bits = start.view(U32)
    if d_kind == "s32":
        start_bits = np.random.default_rng(3).integers(0, 1000, (128, columns)).astype(U32)
    if d_kind == "f16":
        start_bits = to_f16(start).view(np.uint16).astype(U32)
    text = form or f"{'ws.' * stationary}cta_group::{group}.kind::{KINDS.get(a_kind, 'f8f6f4')}"
    fill_a = ""
    if in_tensor_memory:
        fill_a = "fill_a(where + 256, image, steps * 8);"
    words = [] if mask is None else mask
    edits = {
        "FORM": text,
        "GROUP": str(group),
        "COLUMNS": str(columns),
        "WAIT": WAIT,
        "FILL_A": fill_a,
        "A_OPERAND": "[%1]" if in_tensor_memory else "%1",
        "A_VALUE": '"r"(columns)' if in_tensor_memory else '"l"(x)',
        "MASK": "{" + ", ".join(f"%{5 + x}" for x in range(len(words))) + "}," if words else "",
        "EXTRA": "".join(f', "r"({w}u)' for w in words),
        "SHIFT": "" if shift is None else f", {shift}",
    }
    body = edit(GEMM)
    for name, value in edits.items():
        body = body.replace(name, value)
    image = np.zeros((128, 8 * steps), U32)
    if in_tensor_memory:
        image = in_tensor_memory(a, a_values, m, steps)
        body = body.replace("fill_a(", "fill(")
    out = np.zeros((group, 128, columns), U32)
    chunks = [np.int32(x.size // 16 // group) for x in (data_a, data_b)]
    result = run(
        "const uint4* a, const uint4* b, u32* out, const u32* start, const u32* image, u64 da, "
        "u64 db, u32 idesc, u32 lane, int chunks_a, int chunks_b, int steps, int step_a, "
        "int step_b, int keep",
        body,
        group,
        128,
        (
            data_a,
            data_b,
            out,
            start_bits,
            image,
            np.uint64(da),
            np.uint64(db),
            U32(idesc),
            U32(half << 16),
            *chunks,
            np.int32(steps),
            np.int32(step_a),
            np.int32(step_b),
            np.int32(keep),
        ),
        shared=options.pop("shared", (data_a.size + data_b.size) // group),
        **({"cluster": (group, 1, 1)} if group > 1 else {}),
        **options,
    )
    d, before = out[where], start_bits[where[1], where[2]]
    if d_kind == "f16":
        d, before = (x.astype(np.uint16).view(np.float16) for x in (d, before))
    else:
        kind = np.int32 if d_kind == "s32" else F32
        d, before = d.view(kind), before.view(kind)
    return d, a_values, b_values, before, result


TOLERANCE = {"f32": 1e-5, "f16": 2e-3, "s32": 0}


def check(d, expected, d_kind="f32"):
    tolerance = TOLERANCE[d_kind]
    size = np.abs(expected).max()
    np.testing.assert_allclose(
        d.astype(np.float64), expected, rtol=tolerance, atol=tolerance * size
    )


@pytest.mark.parametrize("n", [8, 24, 64, 136, 256])
@pytest.mark.parametrize("m", [64, 128])
def test_mma_multiplies_tiles_of_every_size(m, n):
    d, a, b, _, result = multiply(m, n, "bf16", checks=ALL_CHECKS)
    check(d, a @ b.T)
    assert result.findings == []


@pytest.mark.parametrize(
    "kinds",
    [
        "f16 f16 f32",
        "f16 f16 f16",
        "bf16 bf16 f32",
        "tf32 tf32 f32",
        "e4m3 e5m2 f32",
        "e5m2 e4m3 f16",
        "e2m3 e3m2 f32",
        "e2m1 e4m3 f32",
        "e3m2 e2m1 f32",
        "s8 u8 s32",
        "u8 s8 s32",
    ],
)
def test_mma_knows_every_type(kinds):
    a_kind, b_kind, d_kind = kinds.split()
    d, a, b, _, _ = multiply(128, 32, a_kind, b_kind, d_kind)
    check(d, a @ b.T, d_kind)


@pytest.mark.parametrize("span", [16, 32, 64, 128])
@pytest.mark.parametrize("layouts", ["KK", "MK", "KM", "MM"])
@pytest.mark.parametrize("kind", ["f16", "e4m3", "u8"])
def test_mma_reads_every_swizzle_k_major_and_mn_major(kind, layouts, span):
    major = {"K": k_major, "M": mn_major}
    steps = 2 if span == 16 else span // 32
    d, a, b, _, _ = multiply(
        128,
        128,
        kind,
        d_kind="s32" if kind == "u8" else "f32",
        steps=steps,
        a_layout=(major[layouts[0]], span),
        b_layout=(major[layouts[1]], span),
    )
    check(d, a @ b.T, "s32" if kind == "u8" else "f32")


@pytest.mark.parametrize("span", [16, 32, 64, 128])
def test_mma_reads_tf32_k_major_with_every_swizzle(span):
    d, a, b, _, _ = multiply(64, 64, "tf32", a_layout=(k_major, span), steps=4 if span == 16 else 0)
    check(d, a @ b.T)


def test_mma_reads_tf32_mn_major_with_wide_atoms():
    wide = (mn_major, "wide")
    d, a, b, _, _ = multiply(128, 64, "tf32", a_layout=wide, b_layout=wide, steps=4)
    check(d, a @ b.T)


@pytest.mark.parametrize(
    "m, n, kind",
    [(256, 256, "bf16"), (256, 32, "e4m3"), (128, 64, "f16"), (256, 64, "s8"), (128, 32, "tf32")],
)
def test_a_pair_of_blocks_multiplies_together(m, n, kind):
    d_kind = "s32" if kind == "s8" else "f32"
    d, a, b, _, result = multiply(m, n, kind, d_kind=d_kind, group=2, checks=ALL_CHECKS)
    check(d, a @ b.T, d_kind)
    assert result.findings == []


def test_a_pair_reads_mn_major_tiles():
    d, a, b, _, _ = multiply(256, 128, "f16", group=2, a_layout=(mn_major, 128), steps=2)
    check(d, a @ b.T)


@pytest.mark.parametrize("m", [32, 64, 128])
def test_mma_ws_spreads_its_columns_over_the_lanes(m):
    d, a, b, _, _ = multiply(m, 64, "f16", stationary=True)
    check(d, a @ b.T)


def test_d_of_64_rows_can_lie_in_the_upper_halves():
    d, a, b, _, _ = multiply(64, 32, "f16", half=16)
    check(d, a @ b.T)


@pytest.mark.parametrize("d_kind, a_kind", [("f32", "f16"), ("f16", "f16"), ("s32", "s8")])
def test_mma_adds_to_d_unless_enable_input_d_is_false(d_kind, a_kind):
    d, a, b, before, _ = multiply(128, 16, a_kind, d_kind=d_kind, keep=1)
    check(d, a @ b.T + before, d_kind)


def test_scale_input_d_divides_d_by_a_power_of_two():
    d, a, b, before, _ = multiply(128, 16, "f16", keep=1, shift=3, steps=1, a_layout=(k_major, 32))
    check(d, a @ b.T + before / 8)


@pytest.mark.parametrize("bit, sign", [(1 << 13, -1), (1 << 14, -1), (3 << 13, 1)])
def test_mma_negates_a_and_b(bit, sign):
    d, a, b, _, _ = multiply(128, 16, "bf16", bits=bit)
    check(d, sign * (a @ b.T))


def test_integers_wrap_around_or_saturate():
    big = np.full((128, 16), 2**31 - 1 - 500)
    for bits, limit in ((0, None), (1 << 3, 2**31 - 1)):
        d, a, b, _, _ = multiply(
            128,
            16,
            "u8",
            d_kind="s32",
            keep=1,
            bits=bits,
            steps=1,
            a_layout=(k_major, 32),
            edit=lambda body: body.replace("fill(where, start", "fill_big(where, start").replace(
                "fill_big(where, start, COLUMNS);",
                "for (u32 c = 0; c < COLUMNS; ++c) st1(where + c + (t / 32 << 21), 2147483147u);"
                "wait_st();",
            ),
        )
        total = (a @ b.T).astype(np.int64) + big
        assert total.max() > 2**31
        expected = np.minimum(total, limit) if limit else total.astype(np.int32)
        assert np.array_equal(d, expected)


def test_disabled_lanes_keep_what_they_had():
    words = [0x0000FFFF, 0, 0xFFFFFFFF, 0x80000001]
    d, a, b, before, _ = multiply(128, 16, "f16", mask=words)
    off = np.array([words[lane // 32] >> lane % 32 & 1 for lane in range(128)], bool)
    check(d[~off], (a @ b.T)[~off])
    assert np.array_equal(d[off], before[off])


def test_lanes_of_both_blocks_of_a_pair_can_be_disabled():
    words = [0] * 4 + [0xFFFFFFFF, 0, 0, 0]
    d, a, b, before, _ = multiply(256, 32, "f16", mask=words, group=2)
    check(d[:128], (a @ b.T)[:128])
    assert np.array_equal(d[128:160], before[128:160])
    check(d[160:], (a @ b.T)[160:])


def rows_in_lanes(a, values, m, steps):
    """A as it lies in tensor memory: row i in lane i, 32 bytes of it in 8 columns a step."""
    return np.ascontiguousarray(a).view(U32).reshape(128, 8 * steps)


@pytest.mark.parametrize("kind", ["f16", "tf32", "e4m3", "s8"])
def test_a_can_come_from_tensor_memory(kind):
    d_kind = "s32" if kind == "s8" else "f32"
    d, a, b, _, result = multiply(
        128, 64, kind, d_kind=d_kind, in_tensor_memory=rows_in_lanes, checks=ALL_CHECKS
    )
    check(d, a @ b.T, d_kind)
    assert result.findings == []


def containers(kind):
    """Codes of 4 and 6 bits in the bytes of tensor memory: 00xxxx00 and 00xxxxxx."""

    def image(a, values, m, steps):
        codes = np.argmax(values[..., None] == SMALL[kind], axis=-1).astype(np.uint8)
        return (codes << (2 if kind == "e2m1" else 0)).view(U32).reshape(128, 8 * steps)

    return image


@pytest.mark.parametrize("kind", ["e2m1", "e2m3", "e3m2"])
def test_small_floats_in_tensor_memory_are_bytes(kind):
    d, a, b, _, _ = multiply(128, 64, kind, "e4m3", in_tensor_memory=containers(kind))
    check(d, a @ b.T)


def test_a_of_64_rows_in_tensor_memory_lies_where_d_does():
    def image(a, values, m, steps):
        lanes = layout((16, 4), (1, 32))
        out = np.zeros((128, 8 * steps), U32)
        out[lanes] = a.view(U32).reshape(64, -1)
        return out

    d, a, b, _, _ = multiply(64, 64, "bf16", in_tensor_memory=image)
    check(d, a @ b.T)


# --- what is wrong with an instruction ------------------------------------------------------------


def fault(*args, **kwargs):
    with pytest.raises(KernelFault) as caught:
        multiply(*args, **kwargs)
    return caught.value.finding


@pytest.mark.parametrize(
    "change, words",
    [
        ({"bits": 4}, "asks for a sparse A (bit 2)"),
        ({"bits": 3 << 7}, "gives A the type 3; kind::f16 has 0 (f16), 1 (bf16)"),
        ({"bits": 1 << 24}, "has M = 144 and N = 16, a shape that kind::f16 does not have"),
        (
            {"edit": lambda body: body.replace("x = da |", "x = da ^ 1ull << 46 |")},
            "whose A has a shared memory descriptor whose bits 46 to 48 are 000",
        ),
        (
            {"edit": lambda body: body.replace("y = db |", "y = db | 1ull << 61 |")},
            "with the swizzling mode 3 in bits 61 to 63",
        ),
        (
            {"edit": lambda body: body.replace("y = db |", "y = db | 1ull << 49 |")},
            "with a base offset, which the emulator does not know",
        ),
        ({"half": 16}, "whose D is at lane 16; it must be 0"),
    ],
    ids=["sparse", "type", "shape", "constant", "swizzle", "base offset", "lane"],
)
def test_a_descriptor_that_cannot_be_is_explained(change, words):
    found = fault(128, 16, "f16", **change)
    assert found.kind == TENSOR_MEMORY and words in found.message


def test_mma_past_the_end_of_shared_memory_names_the_array():
    found = fault(128, 64, "f16", shared=128 * 128 + 63 * 128)
    assert (found.kind, found.array) == (OUT_OF_BOUNDS, "tile")


def test_mma_into_columns_that_were_not_allocated_is_out_of_bounds():
    there = ('"r"(where + lane)', '"r"(where + 480)')
    found = fault(128, 64, "f16", edit=lambda body: body.replace(*there))
    assert (found.kind, found.array) == (OUT_OF_BOUNDS, "tensor memory")
    assert "writes columns 480 to 543" in found.message


def test_an_unknown_kind_is_an_error_that_names_it():
    found = fault(128, 64, "f16", form="cta_group::1.kind::f64")
    assert found.kind == UNKNOWN_INSTRUCTION
    assert "tcgen05.mma.cta_group::1.kind::f64" in found.message


# --- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_mma_is_right_whenever_it_is_done(seed):
    d, a, b, _, result = multiply(128, 64, "f16", seed=seed, checks=ALL_CHECKS)
    check(d, a @ b.T)
    assert result.findings == []


@pytest.mark.parametrize(
    "change, missing",
    [
        (
            ("WAIT", "__syncthreads(); after();"),
            "tcgen05.commit to an mbarrier, and a wait for that mbarrier",
        ),
        (
            ("WAIT", "wait(&bar, 1); after();"),
            "tcgen05.commit to an mbarrier, and a wait for that mbarrier",
        ),
        (
            ("WAIT", "wait(&bar, 0);"),
            "tcgen05.fence::after_thread_sync between the wait and tcgen05.ld",
        ),
        (
            ("sync();\nif (t == 0 && block", "__syncthreads(); after();\nif (t == 0 && block"),
            "tcgen05.fence::before_thread_sync between tcgen05.st and the barrier",
        ),
    ],
    ids=["no wait", "wrong parity", "no fence after", "no fence before"],
)
def test_a_missing_step_between_mma_and_its_neighbours_is_named(change, missing):
    *_, result = multiply(128, 64, "f16", checks=ALL_CHECKS, edit=lambda b: b.replace(*change))
    found = result.findings[0]
    assert found.kind == DATA_RACE and found.array == "tensor memory"
    assert f"with no {missing}." in found.message
    assert found.location.file == found.other_location.file == "kernel.cu"


def test_shared_memory_overwritten_while_mma_still_reads_it_is_a_race():
    def overwrite(body):
        return body.replace("WAIT", "((u32*)tile)[t] = 7; WAIT")

    *_, result = multiply(128, 64, "f16", checks=ALL_CHECKS, edit=overwrite)
    found = result.findings[0]
    assert found.kind == DATA_RACE
    assert found.message.startswith("Data race on tile[0] in shared memory")
    assert found.cause == Cause.COPY_NOT_AWAITED


def test_shared_memory_written_without_a_proxy_fence_is_found():
    fence = 'asm volatile("fence.proxy.async.shared::cta;" ::: "memory");'
    *_, result = multiply(128, 64, "f16", checks=ALL_CHECKS, edit=lambda b: b.replace(fence, ""))
    assert result.findings[0].message.startswith("Missing fence: byte 16384 of tile in shared")
    assert "`tcgen05.mma.cta_group::1.kind::f16` that reads it" in result.findings[0].message


def test_the_work_of_mma_is_counted():
    *_, result = multiply(128, 64, "f16", counters=True)
    assert result.counts.flops_by_type["f16 (tensor cores)"] == 2 * 128 * 64 * 64


def test_mma_of_different_threads_need_a_barrier_between_them_but_no_wait():
    def two(barrier):
        second = (
            barrier
            + """
if (t == 32) {
    u64 x = da | (base >> 4), y = db | (base + chunks_a * 16 >> 4);
    ASM("tcgen05.mma.FORM [%0], %1, %2, %3, 0;"
        :: "r"(where + lane), "l"(x), "l"(y), "r"(idesc) : "memory");
    commit_1(&bar);
}
WAIT"""
        )
        return lambda body: body.replace("init(&bar, 1)", "init(&bar, 2)").replace("WAIT", second)

    for barrier, findings in (("sync();", 0), ("__syncthreads();", 1), ("", 1)):
        *_, result = multiply(128, 64, "f16", checks=ALL_CHECKS, edit=two(barrier))
        assert bool(result.findings) == findings
        causes = {found.cause for found in result.findings}
        assert barrier or Cause.TENSOR_MEMORY_BARRIER_MISSING in causes
