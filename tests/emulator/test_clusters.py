"""Clusters: ranks, the memory of neighbours, the cluster's barrier, remote mbarriers."""

import numpy as np
import pytest
from asynchrony import SEEDS, fault, run

from course_utils.emulator import ALL_CHECKS, BARRIER, DATA_RACE, OUT_OF_BOUNDS, Cause

F32 = np.float32

ROTATE = """__shared__ float s[32];
s[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = load_remote(map_rank(&s[31 - threadIdx.x], (rank() + 1) % 4));
END"""


def rotate(end="cluster_sync();", begin="cluster_sync();", **options):
    y = np.zeros(12 * 32, F32)
    body = ROTATE.replace("END", end).replace("cluster_sync();\ny", begin + "\ny")
    result = run("float* y", body, 12, 32, (y,), prefix="__cluster_dims__(4, 1, 1)", **options)
    return result, y.reshape(12, 32)


def test_blocks_read_the_shared_memory_of_their_neighbour():
    result, y = rotate(checks=ALL_CHECKS)
    block = np.arange(12)
    neighbour = block // 4 * 4 + (block + 1) % 4
    assert np.array_equal(y, neighbour[:, None] * 100 + np.arange(32)[::-1])
    assert result.findings == []


def test_reading_a_block_that_has_not_surely_started_is_reported():
    result, _ = rotate(begin="", checks=ALL_CHECKS)
    assert result.findings[0].kind == BARRIER
    (found, *_) = result.findings
    assert (found.cause, found.location.line) == (Cause.BLOCK_NOT_STARTED, 4)


def test_reading_a_block_that_has_ended_is_reported():
    y = np.zeros(64, F32)
    body = """__shared__ float s[32];
s[threadIdx.x] = threadIdx.x;
cluster_sync();
if (rank() == 1) return;
for (int i = 0; i < n; ++i) __syncthreads();
y[threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], 1));"""
    found = fault(
        "float* y, int n", body, 2, 32, (y, np.int32(300)), prefix="__cluster_dims__(2, 1, 1)"
    )
    assert found.kind == OUT_OF_BOUNDS
    assert (found.cause, found.location.line) == (Cause.BLOCK_HAS_ENDED, 6)


def test_a_block_that_may_end_before_its_neighbour_has_read_is_reported():
    result, y = rotate(end="", checks=ALL_CHECKS)
    assert y[0, 0] == 131  # the result is right by luck
    (found,) = result.findings
    assert (found.cause, found.location.line) == (Cause.BLOCK_MAY_END, 4)
    assert (found.thread, found.block) == ((31, 0, 0), (3, 0, 0))


def test_a_rank_that_the_cluster_does_not_have_is_reported():
    body = """__shared__ float s[32];
s[threadIdx.x] = 0; cluster_sync();
y[0] = load_remote(map_rank(s, 2)); cluster_sync();"""
    found = fault("float* y", body, 2, 32, (np.zeros(1, F32),), prefix="__cluster_dims__(2, 1, 1)")
    assert found.cause == Cause.RANK_NOT_IN_CLUSTER


def test_a_missing_second_cluster_barrier_is_a_race_between_blocks():
    y = np.zeros(64, F32)
    body = """__shared__ float s[32];
s[threadIdx.x] = 1; cluster_sync();
y[blockIdx.x * 32 + threadIdx.x] = load_remote(map_rank(&s[threadIdx.x], rank() ^ 1));
s[threadIdx.x] = 2; cluster_sync();"""
    result = run(
        "float* y", body, 2, 32, (y,), prefix="__cluster_dims__(2, 1, 1)", checks=ALL_CHECKS
    )
    assert [f.cause for f in result.findings] == [Cause.NO_ORDER_IN_CLUSTER]


def test_two_dimensional_clusters_and_their_special_registers():
    y = np.zeros((4, 6, 8), np.uint32)
    body = """
u32 v[7];
#define SPECIAL(i, name) asm("mov.u32 %0, %%" name ";" : "=r"(v[i]));
SPECIAL(0, "cluster_ctaid.x") SPECIAL(1, "cluster_ctaid.y") SPECIAL(2, "cluster_ctarank")
SPECIAL(3, "cluster_nctarank") SPECIAL(4, "clusterid.x") SPECIAL(5, "clusterid.y")
SPECIAL(6, "nclusterid.x")
for (int i = 0; i < 7; ++i) y[(blockIdx.y * 6 + blockIdx.x) * 8 + i] = v[i];"""
    run("u32* y", body, (6, 4), 1, (y,), prefix="__cluster_dims__(3, 2, 1)")
    for by in range(4):
        for bx in range(6):
            rank = by % 2 * 3 + bx % 3
            expected = [bx % 3, by % 2, rank, 6, bx // 3, by // 2, 2]
            assert y[by, bx, :7].tolist() == expected


def test_cooperative_groups_and_generic_addresses():
    y = np.zeros(64, F32)
    body = """__shared__ float s[32];
auto c = cg::this_cluster();
s[threadIdx.x] = c.block_rank() * 100 + threadIdx.x;
c.sync();
y[blockIdx.x * 32 + threadIdx.x] = c.map_shared_rank(s, c.block_rank() ^ 1)[threadIdx.x];
c.sync();
atomicAdd(c.map_shared_rank(s, 0), 1.0f);
c.sync();
if (blockIdx.x == 0 && threadIdx.x == 0) y[0] = s[0];"""
    before = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;"
    prefix = "__cluster_dims__(2, 1, 1)"
    result = run("float* y", body, 2, 32, (y,), prefix=prefix, before=before)
    assert y[0] == 64
    assert y[1:].tolist() == [*range(101, 132), *range(32)]
    assert result.findings == []


def test_a_cluster_size_given_at_launch():
    y = np.zeros(4, np.uint32)
    run("u32* y", "y[blockIdx.x] = rank();", 4, 1, (y,), cluster=(2, 1, 1))
    assert y.tolist() == [0, 1, 0, 1]


def test_a_grid_must_divide_into_clusters():
    with pytest.raises(ValueError, match="does not divide into clusters"):
        run("float* y", "y[0] = 0;", 3, 1, (np.zeros(1, F32),), prefix="__cluster_dims__(2, 1, 1)")


def test_a_cluster_has_a_block_in_each_direction():
    with pytest.raises(ValueError, match="no blocks"):
        run("float* y", "y[0] = 0;", 4, 1, (np.zeros(1, F32),), cluster=(2, 0, 1))


def test_a_wait_without_an_arrival_is_reported():
    body = 'asm volatile("barrier.cluster.wait;");\ny[0] = 0;'
    found = fault("float* y", body, 2, 32, (np.zeros(1, F32),), prefix="__cluster_dims__(2, 1, 1)")
    assert (found.cause, found.location.line) == (Cause.CLUSTER_WAIT_WITHOUT_ARRIVAL, 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_arrive_at_the_mbarrier_of_another(seed):
    y = np.zeros(32, F32)
    body = """__shared__ u64 bar; __shared__ float s[32];
if (threadIdx.x == 0) init(&bar, 96);
cluster_sync();
if (rank() == 0) {
    wait(&bar, 0);
    y[threadIdx.x] = s[threadIdx.x];
} else {
    if (rank() == 2)
        asm volatile("st.shared::cluster.f32 [%0], %1;"
                     :: "r"(map_rank(&s[threadIdx.x], 0)), "f"(2.0f * threadIdx.x) : "memory");
    arrive_remote(map_rank(&bar, 0));
}
cluster_sync();"""
    result = run(
        "float* y",
        body,
        4,
        32,
        (y,),
        prefix="__cluster_dims__(4, 1, 1)",
        seed=seed,
        checks=ALL_CHECKS,
    )
    assert y.tolist() == [2 * t for t in range(32)]
    assert result.findings == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_multicast_reaches_each_block_of_its_mask_and_its_mbarrier(seed):
    x, y = np.arange(64, dtype=F32), np.zeros((4, 64), F32)
    body = """__shared__ alignas(128) float tile[64]; __shared__ u64 bar;
tile[threadIdx.x] = -1;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
cluster_sync();
if (threadIdx.x == 0 && (0xb >> rank() & 1)) expect(&bar, 256);
if (threadIdx.x == 0 && rank() == 1)
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 ".multicast::cluster [%0], [%1], 256, [%2], %3;"
                 :: "r"(smem(tile)), "l"(x), "r"(smem(&bar)), "h"((short)0xb) : "memory");
if (0xb >> rank() & 1) wait(&bar, 0);
y[blockIdx.x * 64 + threadIdx.x] = tile[threadIdx.x];
cluster_sync();"""
    result = run(
        "const float* x, float* y",
        body,
        4,
        64,
        (x, y),
        prefix="__cluster_dims__(4, 1, 1)",
        seed=seed,
        checks=ALL_CHECKS,
    )
    assert np.array_equal(y, np.stack([x, x, np.full(64, -1), x]))
    assert result.findings == []


@pytest.mark.parametrize("seed", SEEDS)
def test_st_async_and_copies_between_blocks(seed):
    y = np.zeros((2, 64), F32)
    body = """__shared__ alignas(128) float own[32]; __shared__ alignas(128) float got[64];
__shared__ u64 bar;
own[threadIdx.x] = 100 * rank() + threadIdx.x;
if (threadIdx.x == 0) { init(&bar, 1); expect(&bar, 256); fence(); }
fence();
cluster_sync();
u32 other = rank() ^ 1, b = map_rank(&bar, other);
asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
             :: "r"(map_rank(&got[threadIdx.x], other)), "f"(1000.0f + own[threadIdx.x]), "r"(b));
if (threadIdx.x == 0)
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes"
                 " [%0], [%1], 128, [%2];"
                 :: "r"(map_rank(&got[32], other)), "r"(smem(own)), "r"(b) : "memory");
wait(&bar, 0);
for (int i = 0; i < 64; i += 32)
    y[blockIdx.x * 64 + i + threadIdx.x] = got[i + threadIdx.x];
cluster_sync();"""
    result = run(
        "float* y",
        body,
        2,
        32,
        (y,),
        prefix="__cluster_dims__(2, 1, 1)",
        seed=seed,
        checks=ALL_CHECKS,
    )
    own = np.arange(32) + 100 * np.arange(2)[:, None]
    assert np.array_equal(y, np.concatenate([1000 + own[::-1], own[::-1]], axis=1))
    assert result.findings == []


SEND = """__shared__ alignas(8) float got[32]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); expect(&bar, 128); fence(); }
cluster_sync();
u32 other = rank() ^ 1;
asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.f32 [%0], %1, [%2];"
             :: "r"(map_rank(&got[threadIdx.x], other)), "f"(100.0f * rank() + threadIdx.x),
                "r"(map_rank(&bar, other)));
WAIT
y[blockIdx.x * 32 + threadIdx.x] = got[threadIdx.x];"""


def send(wait, seed):
    y = np.zeros((2, 32), F32)
    prefix = "__cluster_dims__(2, 1, 1)"
    body = SEND.replace("WAIT", wait)
    return run("float* y", body, 2, 32, (y,), prefix=prefix, seed=seed, checks=ALL_CHECKS), y


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_may_end_before_what_it_has_sent_has_come(seed):
    result, y = send("wait(&bar, 0);", seed)
    assert np.array_equal(y, np.arange(32) + 100 * np.array([[1], [0]]))
    assert result.findings == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_block_that_ends_before_what_it_was_sent_has_come_is_reported(seed):
    result, _ = send("", seed)
    assert DATA_RACE in {finding.kind for finding in result.findings}


def test_a_cluster_of_more_than_sixteen_blocks_is_refused():
    y = np.zeros(32, np.uint32)
    with pytest.raises(ValueError, match=r"\(32, 1, 1\) has 32 blocks, and a GPU takes at most 16"):
        run("u32* y", "y[blockIdx.x] = rank();", 32, 1, (y,), cluster=(32, 1, 1))
