"""Warpgroup matrix instructions: tiles laid out in shared memory by the test, against NumPy.

A test builds the bytes of both tiles the way TMA would leave them: lines of one swizzle span, whose
16-byte chunks are exchanged by the number of the line. The kernel copies them into shared memory,
multiplies and writes D by the manual's formula for its registers.
"""

import numpy as np
import pytest
from matrix_tiles import k_major, mn_major
from test_matrix import ACCUMULATORS, TOLERANCE, launch, random

from course_utils.emulator import (
    ALL_CHECKS,
    BARRIER,
    DATA_RACE,
    OUT_OF_BOUNDS,
    Cause,
    KernelFault,
)

F32 = np.float32

KERNEL = """
typedef unsigned long long u64;
extern "C" __global__ void f(const uint4* a, const uint4* b, {c}* d, u64 da, u64 db, int chunks_a,
                             int chunks_b, int steps, int step_a, int step_b, {c} start) {{
    extern __shared__ __align__(1024) unsigned char tile[];
    constexpr int N = {n};
    int t = threadIdx.x % 128, lane = t % 32;
    uint4* shared = (uint4*)tile;
    for (int i = threadIdx.x; i < chunks_a; i += blockDim.x) shared[i] = a[i];
    for (int i = threadIdx.x; i < chunks_b; i += blockDim.x) shared[chunks_a + i] = b[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    {barrier}
    __align__(8) {c} acc[N / 2];
    for (int v = 0; v < N / 2; ++v) acc[v] = start;
    {word}* D = ({word}*)acc;
    unsigned base = (unsigned)__cvta_generic_to_shared(tile);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int s = 0; s < steps; ++s) {{
        u64 desc_a = da | ((base + s * step_a) >> 4 & 0x3fff);
        u64 desc_b = db | ((base + chunks_a * 16 + s * step_b) >> 4 & 0x3fff);
        {load_a}
        asm volatile("{{.reg .pred p; setp.ne.b32 p, {scale_number}, 0;\\n"
            "wgmma.mma_async.sync.aligned.m64n{n}k{k}.{types} {{{d}}}, {a}, {b}, p{flags};}}\\n"
            : {outputs} : {inputs});
    }}
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    {wait}
    d += (blockIdx.x * (blockDim.x / 128) + threadIdx.x / 128) * 64 * N;
    for (int v = 0; v < N / 2; ++v) {{
        int row = 16 * (t / 32) + lane / 4 + 8 * ((v >> 1) & 1);
        int col = 8 * (v >> 2) + 2 * (lane & 3) + (v & 1);
        d[row * N + col] = acc[v];
    }}
}}
"""
WAIT = 'asm volatile("wgmma.wait_group.sync.aligned {};" ::: "memory");'
WAIT_0 = WAIT.format(0)
K = {"f16": 16, "bf16": 16, "tf32": 8, "e4m3": 32, "e5m2": 32, "s8": 32, "u8": 32}
BITS = {"f16": 16, "bf16": 16, "tf32": 32, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8}
MODES = {128: 1, 64: 2, 32: 3, 16: 0}  # bytes of the swizzle span -> the descriptor's field


def source(
    n,
    a_kind,
    b_kind,
    d_kind,
    registers=False,
    keep="s > 0 || start != 0",
    signs=(1, 1),
    trans=(0, 0),
    barrier="__syncthreads();",
    wait=WAIT_0,
):
    c, word, constraint, _ = ACCUMULATORS[d_kind]
    count = n // 4 if d_kind == "f16" else n // 2
    d = ", ".join(f"%{v}" for v in range(count))
    satfinite = ".satfinite" if d_kind == "s32" else ""
    flags = "" if d_kind == "s32" else f", {signs[0]}, {signs[1]}"
    if K[a_kind] == 16:
        flags += "".join(f", {t}" for t in (trans[1:] if registers else trans))
    inputs = '"l"(desc_a)'
    a, next_ = f"%{count}", count + 1
    load_a = ""
    if registers:  # lane 4 g + t: rows g and g + 8, words t and t + 4 of the 32 bytes of a row
        a, next_ = f"{{%{count}, %{count + 1}, %{count + 2}, %{count + 3}}}", count + 4
        inputs = ", ".join(f'"r"(r[{x}])' for x in range(4))
        load_a = """
        unsigned r[4];
        for (int x = 0; x < 4; ++x) {
            int row = 16 * (t / 32) + lane / 4 + 8 * (x & 1), byte = 4 * (lane % 4) + 16 * (x >> 1);
            r[x] = *(unsigned*)(tile + row * 32 * steps + s * 32 + byte);
        }"""
    return KERNEL.format(
        c=c,
        n=n,
        k=K[a_kind],
        word=word,
        d=d,
        a=a,
        b=f"%{next_}",
        load_a=load_a,
        types=f"{d_kind}.{a_kind}.{b_kind}{satfinite}",
        scale_number=f"%{next_ + 1}",
        flags=flags,
        barrier=barrier,
        wait=wait,
        outputs=", ".join(f'"+{constraint}"(D[{v}])' for v in range(count)),
        inputs=f'{inputs}, "l"(desc_b), "r"((int)({keep}))',
    )


def multiply(
    n,
    a_kind,
    b_kind,
    d_kind,
    layout_a=(k_major, 128),
    layout_b=(k_major, 128),
    steps=None,
    start=0,
    threads=128,
    grid=1,
    **form,
):
    """(D of every warpgroup, values of A, values of B, the launch's result)."""
    k_bytes = 32 * steps if steps else max(s for f, s in (layout_a, layout_b) if f is k_major)
    k, steps = k_bytes * 8 // BITS[a_kind], k_bytes // 32
    a, a_values = random((64, k), a_kind, 1)
    b, b_values = random((n, k), b_kind, 2)
    registers = form.get("registers", False)
    parts = []
    for raw, (lay, span) in ((a, layout_a), (b, layout_b)):
        data, leading, stride, step = lay(raw, span)
        high = leading >> 4 << 16 | stride >> 4 << 32 | MODES[span] << 62
        parts.append((data, np.uint64(high), np.int32(step)))
    (data_a, da, step_a), (data_b, db, step_b) = parts
    if registers:
        data_a = a.view(np.uint8).reshape(-1)
    dtype = ACCUMULATORS[d_kind][3]
    form["trans"] = (int(layout_a[0] is mn_major), int(layout_b[0] is mn_major))
    names = "checks", "counters", "shared", "schedule", "seed"
    options = {x: form.pop(x) for x in names if x in form}
    d = np.zeros((grid * threads // 128, 64, n), dtype)
    shared = options.pop("shared", data_a.size + data_b.size)
    result = launch(
        source(n, a_kind, b_kind, d_kind, **form),
        threads,
        (
            data_a,
            data_b,
            d,
            da,
            db,
            np.int32(data_a.size // 16),
            np.int32(data_b.size // 16),
            np.int32(steps),
            step_a,
            step_b,
            dtype(start),
        ),
        grid=grid,
        shared=shared,
        **options,
    )
    return d, a_values, b_values, result


FEW_BITS = 2**-10  # of fp8 products: the terms of a sum end 13 bits below the largest


def check(d, expected, d_kind, tolerance=None):
    tolerance = TOLERANCE[d_kind] if tolerance is None else tolerance
    np.testing.assert_allclose(
        d, np.broadcast_to(expected, d.shape), rtol=tolerance, atol=tolerance * 20
    )


@pytest.mark.parametrize("n", [8, 24, 64, 128, 256])
def test_wgmma_multiplies_128_byte_swizzled_tiles_of_every_width(n):
    d, a, b, _ = multiply(n, "bf16", "bf16", "f32")
    check(d, a @ b.T, "f32")


@pytest.mark.parametrize(
    "kinds",
    [
        "f16 f16 f32",
        "f16 f16 f16",
        "bf16 bf16 f32",
        "tf32 tf32 f32",
        "e4m3 e5m2 f32",
        "e5m2 e4m3 f32",
        "e4m3 e4m3 f16",
        "s8 u8 s32",
        "u8 u8 s32",
    ],
)
@pytest.mark.parametrize("registers", [False, True], ids=["shared", "registers"])
def test_wgmma_knows_every_type_with_a_in_shared_memory_or_registers(kinds, registers):
    a_kind, b_kind, d_kind = kinds.split()
    d, a, b, _ = multiply(32, a_kind, b_kind, d_kind, registers=registers)
    few = kinds.startswith("e") and d_kind == "f32"
    check(d, a @ b.T, d_kind, FEW_BITS if few else None)


@pytest.mark.parametrize("span", [16, 32, 64, 128])
@pytest.mark.parametrize(
    "layouts",
    [(k_major, k_major), (mn_major, k_major), (k_major, mn_major), (mn_major, mn_major)],
    ids=["KK", "MK", "KM", "MM"],
)
def test_wgmma_reads_every_swizzle_k_major_and_mn_major(layouts, span):
    steps = 4 if span == 16 else span // 32
    d, a, b, _ = multiply(
        128, "f16", "f16", "f32", (layouts[0], span), (layouts[1], span), steps=steps
    )
    check(d, a @ b.T, "f32")


def test_wgmma_adds_to_d_unless_scale_d_is_zero():
    d, a, b, _ = multiply(16, "f16", "f16", "f32", start=5)
    check(d, a @ b.T + 5, "f32")
    d, a, b, _ = multiply(16, "f16", "f16", "f32", start=5, keep="s > 0")
    check(d, a @ b.T, "f32")


@pytest.mark.parametrize("signs", [(1, -1), (-1, 1), (-1, -1)])
def test_wgmma_negates_a_and_b(signs):
    d, a, b, _ = multiply(16, "bf16", "bf16", "f32", signs=signs)
    check(d, signs[0] * signs[1] * (a @ b.T), "f32")


def test_each_warpgroup_of_each_block_reads_its_own_shared_memory():
    d, a, b, _ = multiply(64, "f16", "f16", "f32", threads=256, grid=5)
    assert d.shape == (10, 64, 64)
    check(d, a @ b.T, "f32")


def test_warpgroups_in_different_branches_multiply_their_own_tiles():
    source = """
    __device__ __forceinline__ void mma(float (&d)[4], unsigned long long desc) {
        asm volatile("wgmma.fence.sync.aligned; "
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, "
            "1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(desc));
    }
    extern "C" __global__ void f(float* out) {
        extern __shared__ __align__(1024) unsigned tile[];
        tile[threadIdx.x] = threadIdx.x < 128 ? 0x3c003c00 : 0x40004000;  // 512 bytes of 1, of 2
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        unsigned long long base = (unsigned)__cvta_generic_to_shared(tile) >> 4;
        float d[4] = {0, 0, 0, 0};
        if (threadIdx.x < 128) mma(d, base);
        else if (threadIdx.x < 256) { mma(d, base + 32); mma(d, base + 32); }
        else d[0] = 7;
        out[threadIdx.x] = d[0];
    }
    """
    out = np.zeros(288, F32)
    result = launch(source, 288, (out,), shared=1152, checks=ALL_CHECKS)
    assert out[::32].tolist() == [16] * 4 + [128] * 4 + [7]
    assert result.findings == []


def test_wgmma_past_the_end_of_shared_memory_names_the_array():
    with pytest.raises(KernelFault) as caught:
        multiply(64, "f16", "f16", "f32", shared=64 * 128 + 63 * 128)
    assert caught.value.finding.kind == OUT_OF_BOUNDS
    assert caught.value.finding.array == "tile"


def test_wgmma_of_an_incomplete_warpgroup_is_reported():
    with pytest.raises(KernelFault) as caught:
        multiply(8, "f16", "f16", "f32", threads=160)
    assert caught.value.finding.kind == BARRIER
    assert "160 threads" in caught.value.finding.message


def test_a_missing_barrier_before_wgmma_is_a_race():
    for barrier, races in (("", True), ("__syncthreads();", False)):
        result = multiply(8, "f16", "f16", "f32", barrier=barrier, checks=ALL_CHECKS)[-1]
        assert bool(result.findings) == races


@pytest.mark.parametrize("wait", ["", WAIT.format(1)])
def test_a_result_used_before_the_wait_is_seen_with_both_lines(wait):
    _, _, _, result = multiply(8, "f16", "f16", "f32", wait=wait, checks=ALL_CHECKS)
    (found,) = result.findings
    assert found.kind == DATA_RACE
    code = source(8, "f16", "f16", "f32", wait=wait).splitlines()
    assert "d[row * N + col] = acc[v]" in code[found.location.line - 1]
    assert '"l"(desc_a)' in code[found.other_location.line - 1]


@pytest.mark.parametrize("read_early, findings", [("x", 0), ("y", 1)])
def test_wait_group_1_waits_for_all_but_the_last_group(read_early, findings):
    source = """
    __device__ __forceinline__ void mma(float (&d)[4]) {
        asm volatile("wgmma.fence.sync.aligned; "
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, "
            "%4, %4, 1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(0ull));
    }
    extern "C" __global__ void f(float* out) {
        extern __shared__ __align__(1024) unsigned tile[];
        if (threadIdx.x < 32) tile[threadIdx.x] = 0x3c003c00;
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        float x[4] = {0, 0, 0, 0}, y[4] = {0, 0, 0, 0};
        for (int i = 0; i < 3; ++i) {
            mma(x);
            mma(y);
            asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
            out[threadIdx.x] += READ[0];
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        }
        out[threadIdx.x] += x[0] + y[0];
    }
    """
    source = source.replace("READ", read_early)
    out = np.zeros(128, F32)
    result = launch(source, 128, (out,), shared=1024, checks=ALL_CHECKS)
    assert len(result.findings) == findings
    assert (out == 16 + 32 + 48 + 2 * 48).all()


PIPELINE = """
typedef unsigned long long u64;
__device__ void wait(unsigned barrier, int parity) {
    asm volatile("{ .reg .pred p; AGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; "
                 "@!p bra AGAIN; }" :: "r"(barrier), "r"(parity) : "memory");
}
__device__ void arrive(unsigned barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
extern "C" __global__ void f(float* out) {
    extern __shared__ __align__(1024) unsigned tile[];
    __shared__ u64 barriers[2];
    unsigned full = (unsigned)__cvta_generic_to_shared(barriers), empty = full + 8;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(full));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(empty));
    }
    __syncthreads();
    if (threadIdx.x >= 128) {  // one warp fills the tile with 1, 2, 4
        for (int i = 0; i < 3; ++i) {
            wait(empty, (i & 1) ^ 1);
            for (int x = threadIdx.x - 128; x < 128; x += 32) tile[x] = 0x3c003c00 + i * 0x04000400;
            asm volatile("fence.proxy.async;" ::: "memory");
            arrive(full);
        }
        return;
    }
    float d[4] = {0, 0, 0, 0};
    u64 desc = (unsigned)__cvta_generic_to_shared(tile) >> 4;
    for (int i = 0; i < 3; ++i) {
        wait(full, i & 1);
        EARLY
        asm volatile("wgmma.fence.sync.aligned; "
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %4, "
            "1, 1, 1, 0, 0; wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(desc));
        LATE
    }
    out[threadIdx.x] = d[0];
}
"""


@pytest.mark.parametrize("thread", [0, 1, 33, 127])
def test_one_thread_may_say_that_the_tile_of_a_warpgroup_is_free_but_not_before_it_is(thread):
    release, out = f"if (threadIdx.x == {thread}) arrive(empty);", np.zeros(128, F32)
    for early, late, races in (("", release, False), (release, "", True)):
        code = PIPELINE.replace("EARLY", early).replace("LATE", late)
        result = launch(code, 160, (out,), shared=1024, checks=ALL_CHECKS)
        assert bool(result.findings) == races
        assert races or (out == 16 * (1 + 4 + 16)).all()


@pytest.mark.parametrize("before, clean", [(WAIT_0, True), ("", False)])
def test_after_its_wait_each_thread_of_a_warpgroup_may_write_over_the_tiles(before, clean):
    over = f"{before} if (blockDim.x == 128) for (int i = t; i < chunks_a; i += 128) "
    over += "shared[i] = uint4{};" + ("" if clean else WAIT_0)
    *_, result = multiply(16, "f16", "f16", "f32", checks=ALL_CHECKS, wait=over)
    causes = {finding.cause for finding in result.findings}
    assert (not causes) if clean else Cause.TILE_STILL_READ in causes


@pytest.mark.parametrize("schedule", ["lockstep", "warps", "lanes"])
@pytest.mark.parametrize("threads", [128, 256])
def test_a_wgmma_is_over_for_all_warps_at_once_so_one_may_write_over_the_tiles(schedule, threads):
    # On an H200 too the waits of all four ended with that of a late warp.
    late = "if (threadIdx.x / 32 == 2) while (clock64() - began < 20000) {}"
    barrier = f"__syncthreads(); const long long began = clock64(); {late}"
    over = "__syncwarp(); for (int i = 0; t == 0 && i < chunks_a + chunks_b; ++i)"
    over += " if (blockDim.x == 128) shared[i] = uint4{};"  # the other warpgroup reads them too
    form = {"barrier": barrier, "wait": WAIT_0 + over, "threads": threads}
    for seed in range(2):
        d, a, b, result = multiply(
            16, "f16", "f16", "f32", checks=ALL_CHECKS, schedule=schedule, seed=seed, **form
        )
        check(d, a @ b.T, "f32")
        assert not result.findings


@pytest.mark.parametrize(
    "act, words",
    [
        ("return", "needs all 128 threads of a warpgroup, but 32 of them have ended"),
        ("__syncthreads()", "the four warps of a warpgroup execute a wgmma together"),
    ],
)
def test_a_wgmma_to_which_a_warp_does_not_come_is_reported(act, words):
    barrier = f"__syncthreads(); if (threadIdx.x / 32 == 3) {act};"
    with pytest.raises(KernelFault) as caught:
        multiply(8, "f16", "f16", "f32", barrier=barrier)
    assert caught.value.finding.kind == BARRIER and words in str(caught.value)
