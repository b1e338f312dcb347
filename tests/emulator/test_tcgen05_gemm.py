"""Whole kernels for tcgen05: TMA, tensor cores and epilogue in warps of their own, end to end.

256 × 256 × 128 in f16, K in pieces of 32, twice: one block to 128 rows with two accumulators that
take turns, and a pair of blocks that multiplies together.
"""

import time

import numpy as np
import pytest
from blackwell import run

from course_utils.emulator import ALL_CHECKS, DATA_RACE
from course_utils.launching import tensor_maps as module
from course_utils.launching.tensor_maps import tensor_map
from tests.machine_speed import slowness

PARAMETERS = (
    "const __grid_constant__ TensorMap ma, const __grid_constant__ TensorMap mb, float* out"
)
HELPERS = r"""
constexpr int K = 128, BK = 32, STAGES = 2, STEPS = K / BK;
__device__ inline u64 tile_64(u32 at) {  // K-major, rows of 64 bytes, swizzled
    return (u64)(at >> 4) | 1ull << 16 | (u64)(8 * 64 >> 4) << 32 | 1ull << 46 | 4ull << 61; }
template <int G> __device__ inline void mma(u32 d, u64 a, u64 b, u32 idesc, bool keep) {
    if (G == 1) ASM("{.reg .pred p; setp.ne.b32 p, %4, 0;"
        "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}"
        :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"((int)keep) : "memory");
    else ASM("{.reg .pred p; setp.ne.b32 p, %4, 0;"
        "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, p;}"
        :: "r"(d), "l"(a), "l"(b), "r"(idesc), "r"((int)keep) : "memory"); }
__device__ inline void load_8(u32 a, u32* r) {
    ASM("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]),
          "=r"(r[7]) : "r"(a)); }
__device__ inline bool elect() {
    u32 p; ASM("{.reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p;}" : "=r"(p));
    return p; }
"""

PERSISTENT = """
extern __shared__ __align__(1024) unsigned char shared[];
__shared__ u64 full[STAGES], empty[STAGES], done[2], freed[2]; __shared__ u32 where;
constexpr int BM = 128, BN = 64, TILES = 256 / BN, A = BM * BK * 2, B = BN * BK * 2;
int warp = threadIdx.x / 32;
if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) { init(&full[s], 1); init(&empty[s], 1); }
    for (int s = 0; s < 2; ++s) { init(&done[s], 1); init(&freed[s], 4); }
    fence();
}
if (warp == 2) alloc(&where, 128);
sync();
u32 taddr = where, idesc = 1 << 4 | BN / 8 << 17 | BM / 16 << 24;
if (warp == 0 && elect()) {  // loads
    for (int i = 0; i < TILES * STEPS; ++i) {
        int s = i % STAGES;
        unsigned char* stage = shared + s * (A + B);
        wait(&empty[s], i / STAGES + 1 & 1);
        expect(&full[s], A + B);
        load_2d(stage, &ma, i % STEPS * BK, blockIdx.x * BM, &full[s]);
        load_2d(stage + A, &mb, i % STEPS * BK, i / STEPS * BN, &full[s]);
    }
} else if (warp == 1 && elect()) {  // multiplies
    for (int n = 0; n < TILES; ++n) {
        int x = n % 2;
        wait(&freed[x], n / 2 + 1 & 1);
        after();
        for (int i = n * STEPS; i < (n + 1) * STEPS; ++i) {
            int s = i % STAGES;
            u32 at = smem(shared + s * (A + B));
            wait(&full[s], i / STAGES & 1);
            after();
            for (int k = 0; k < BK * 2; k += 32)
                mma<1>(taddr + x * BN, tile_64(at + k), tile_64(at + A + k), idesc,
                       i % STEPS || k);
            FREE
        }
        commit_1(&done[x]);
    }
} else if (warp >= 4) {  // writes the results
    for (int n = 0; n < TILES; ++n) {
        int x = n % 2;
        wait(&done[x], n / 2 & 1);
        after();
        u32 own = taddr + ((warp - 4) * 32 << 16) + x * BN, r[8];
        float* row = out + (blockIdx.x * BM + (warp - 4) * 32 + threadIdx.x % 32) * 256 + n * BN;
        for (int c = 0; c < BN; c += 8) {
            load_8(own + c, r);
            wait_ld();
            for (int j = 0; j < 8; ++j) row[c + j] = __uint_as_float(r[j]);
        }
        RELEASE
        if (threadIdx.x % 32 == 0) arrive(&freed[x]);
    }
}
__syncthreads();
if (warp == 2) { dealloc(taddr, 128); relinquish(); }"""

PAIR = """
extern __shared__ __align__(1024) unsigned char shared[];
__shared__ u64 full[STAGES], empty[STAGES], done; __shared__ u32 where;
constexpr int BM = 256, BN = 256, A = BM / 2 * BK * 2, B = BN / 2 * BK * 2;
int warp = threadIdx.x / 32, me = rank();
if (threadIdx.x == 0) {
    for (int s = 0; s < STAGES; ++s) { init(&full[s], 1); init(&empty[s], 1); }
    init(&done, 1);
    fence();
}
cluster_sync(); if (warp == 2) alloc<2>(&where, 256);
sync();
u32 taddr = where, idesc = 1 << 4 | BN / 8 << 17 | BM / 16 << 24;
if (warp == 0 && elect()) {  // each block loads its half of A and of B; the even one is told
    for (int i = 0; i < STEPS; ++i) {
        int s = i % STAGES;
        unsigned char* stage = shared + s * (A + B);
        wait(&empty[s], i / STAGES + 1 & 1);
        if (me == 0) expect(&full[s], 2 * (A + B));
        u32 leader = map_rank(&full[s], 0);
        for (int x = 0; x < 2; ++x)
            ASM("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
                ".mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
                :: "r"(smem(stage + x * A)), "l"(x ? &mb : &ma), "r"(leader), "r"(i * BK),
                   "r"(me * 128) : "memory");
    }
} else if (warp == 1 && me == 0 && elect()) {
    for (int i = 0; i < STEPS; ++i) {
        int s = i % STAGES;
        u32 at = smem(shared + s * (A + B));
        wait(&full[s], i / STAGES & 1);
        after();
        for (int k = 0; k < BK * 2; k += 32)
            mma<2>(taddr, tile_64(at + k), tile_64(at + A + k), idesc, i || k);
        commit_2(&empty[s]);
    }
    commit_2(&done);
} else if (warp >= 4) {
    wait(&done, 0);
    after();
    u32 own = taddr + ((warp - 4) * 32 << 16), r[8];
    float* row = out + (me * 128 + (warp - 4) * 32 + threadIdx.x % 32) * 256;
    for (int c = 0; c < BN; c += 8) {
        load_8(own + c, r);
        wait_ld();
        for (int j = 0; j < 8; ++j) row[c + j] = __uint_as_float(r[j]);
    }
    before();
}
__syncwarp();
cluster_sync();
if (warp == 2) dealloc<2>(taddr, 256);"""


@pytest.fixture(autouse=True)
def on_the_emulator(monkeypatch):
    monkeypatch.setattr(module, "ON_GPU", False)


def gemm(body, cluster=None, free="commit_1(&empty[s]);", release="before();", **options):
    """(the result, A · B^T in f64, the launch's result)."""
    rng, width = np.random.default_rng(7), 128 if cluster else 64
    a, b = (rng.standard_normal((256, 128)).astype(np.float16) for _ in range(2))
    out = np.zeros((256, 256), np.float32)
    maps = [tensor_map(x, (rows, 32), swizzle=64) for x, rows in ((a, 128), (b, width))]
    if cluster:
        options["cluster"] = cluster
    body = body.replace("FREE", free).replace("RELEASE", release)
    result = run(
        PARAMETERS,
        body,
        2,
        256,
        (*maps, out),
        shared=2 * 2 * 128 * 32 * 2,
        before=HELPERS,
        **options,
    )
    return out, a.astype(np.float64) @ b.astype(np.float64).T, result


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    "body, cluster",
    [(PERSISTENT, None), (PAIR, (2, 1, 1))],
    ids=["two accumulators", "a pair of blocks"],
)
def test_a_warp_specialised_gemm_is_right_clean_and_fast(body, cluster, seed):
    start = time.perf_counter()
    out, expected, result = gemm(body, cluster, checks=ALL_CHECKS, seed=seed)
    assert np.abs(out - expected).max() < 1e-4
    assert [f.message for f in result.findings] == []
    assert time.perf_counter() - start < 10 * slowness()


def test_a_stage_freed_before_the_tensor_cores_have_read_it_is_found():
    *_, result = gemm(PERSISTENT, free="arrive(&empty[s]);", checks=ALL_CHECKS)
    assert result.findings[0].kind == DATA_RACE
    assert "asynchronous copy out of it" in result.findings[0].message


def test_an_accumulator_freed_without_a_fence_is_found():
    *_, result = gemm(PERSISTENT, release="", checks=ALL_CHECKS)
    (found,) = result.findings
    assert found.kind == DATA_RACE and found.array == "tensor memory"
    assert "no tcgen05.fence::before_thread_sync between tcgen05.ld and the barrier" in (
        found.message
    )
