"""mbarriers: phases, parities, bytes, parking instead of spinning, and misuse."""

import numpy as np
import pytest
from asynchrony import SEEDS, fault, run

from course_utils.emulator import ALL_CHECKS, BARRIER, DEADLOCK, Cause, KernelFault

F32 = np.float32

PIPELINE = """
__shared__ alignas(128) float tile[2][64];
__shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); } fence(); }
__syncthreads();
if (t >= 64) {
    if (t == 64)
        for (int i = 0; i < n; ++i) {
            EMPTY
            expect(&full[i % 2], 256);
            bulk_load(tile[i % 2], x + i * 64, 256, &full[i % 2]);
        }
} else {
    for (int i = 0; i < n; ++i) {
        FULL
        y[i * 64 + t] = tile[i % 2][63 - t];
        arrive(&empty[i % 2]);
    }
}"""
EMPTY, FULL = "wait(&empty[i % 2], i / 2 & 1 ^ 1);", "wait(&full[i % 2], i / 2 & 1);"


def pipeline(empty=EMPTY, full=FULL, rounds=7, **options):
    x = np.arange(rounds * 64, dtype=F32)
    y = np.zeros_like(x)
    body = PIPELINE.replace("EMPTY", empty).replace("FULL", full)
    arguments = (x, y, np.int32(rounds))
    result = run("const float* x, float* y, int n", body, 1, 96, arguments, **options)
    return result, np.array_equal(y.reshape(-1, 64), x.reshape(-1, 64)[:, ::-1])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_warp_specialised_pipeline_is_right_and_quiet(seed):
    result, right = pipeline(checks=ALL_CHECKS, seed=seed)
    assert right
    assert result.findings == []


@pytest.mark.parametrize("seed", SEEDS)
def test_producer_and_consumers_in_one_warp(seed):
    x = np.arange(8 * 32, dtype=F32)
    y = np.zeros_like(x)
    body = """__shared__ alignas(128) float tile[2][32]; __shared__ u64 full[2], empty[2];
int t = threadIdx.x;
if (t == 0) { for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 32); } fence(); }
__syncwarp();
for (int i = 0; i < n + 1; ++i) {
    if (t == 0 && i < n) {
        wait(&empty[i % 2], i / 2 & 1 ^ 1);
        expect(&full[i % 2], 128);
        bulk_load(tile[i % 2], x + i * 32, 128, &full[i % 2]);
    }
    __syncwarp();
    if (int j = i - 1; i) {
        wait(&full[j % 2], j / 2 & 1);
        y[j * 32 + t] = tile[j % 2][31 - t];
        arrive(&empty[j % 2]);
    }
}"""
    arguments = (x, y, np.int32(8))
    result = run(
        "const float* x, float* y, int n", body, 1, 32, arguments, seed=seed, checks=ALL_CHECKS
    )
    assert np.array_equal(y.reshape(8, 32), x.reshape(8, 32)[:, ::-1])
    assert result.findings == []


@pytest.mark.parametrize("seed", SEEDS)
def test_polling_with_test_wait_sees_the_end_of_a_copy(seed):
    x, y = np.arange(64, dtype=F32), np.zeros(64, F32)
    body = """__shared__ alignas(128) float tile[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 256); bulk_load(tile, x, 256, &bar); }
u32 p;
do asm volatile("{ .reg .pred q; mbarrier.test_wait.parity.shared.b64 q, [%1], 0;"
                "selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(smem(&bar)) : "memory"); while (!p);
y[threadIdx.x] = tile[threadIdx.x];"""
    result = run("const float* x, float* y", body, 1, 64, (x, y), seed=seed, checks=ALL_CHECKS)
    assert np.array_equal(y, x)
    assert result.findings == []


def test_waiting_threads_are_parked_and_do_not_spin():
    result, _ = pipeline()
    waits = [n for name, n in result.counts.opcodes.items() if "try_wait" in name]
    assert sum(waits) == 7 * 64 + 7  # one for each thread and round: nobody came back to look


def test_consumers_that_never_wait_are_reported():
    result, right = pipeline(full="", rounds=2, checks=ALL_CHECKS)
    assert not right
    assert any(f.cause == Cause.COPY_NOT_AWAITED for f in result.findings)


def test_a_producer_that_does_not_wait_for_an_empty_stage_is_reported():
    with pytest.raises(KernelFault) as caught:
        pipeline(empty="")
    found = caught.value.finding
    assert (found.cause, found.location.line) == (Cause.MBARRIER_TOO_MANY_ARRIVALS, 11)
    assert found.thread == (64, 0, 0)


def test_a_wrong_tx_count_is_a_deadlock_that_names_what_is_missing():
    x, y = np.arange(64, dtype=F32), np.zeros(64, F32)
    body = """__shared__ alignas(128) float tile[64]; __shared__ u64 bar;
if (threadIdx.x == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (threadIdx.x == 0) { expect(&bar, 512); bulk_load(tile, x, 256, &bar); }
wait(&bar, 0);
y[threadIdx.x] = tile[threadIdx.x];"""
    found = fault("const float* x, float* y", body, 1, 64, (x, y))
    assert found.kind == DEADLOCK
    assert (found.cause, found.location.line) == (Cause.MBARRIER_BYTES_MISSING, 5)


def test_a_missing_arrival_is_a_deadlock():
    body = """__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 33);
__syncthreads();
arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = 1;"""
    found = fault("float* y", body, 1, 32, (np.zeros(32, F32),))
    assert (found.cause, found.location.line) == (Cause.MBARRIER_ARRIVALS_MISSING, 5)


def test_an_mbarrier_used_before_init_is_reported():
    body = "__shared__ u64 bar;\narrive(&bar);\nwait(&bar, 0);\ny[0] = 1;"
    found = fault("float* y", body, 1, 32, (np.zeros(32, F32),))
    assert found.kind == BARRIER
    assert (found.cause, found.location.line) == (Cause.MBARRIER_NOT_INITIALISED, 2)


def test_too_many_arrivals_are_reported():
    body = """__shared__ u64 bar;
if (threadIdx.x == 0) {
    init(&bar, 2);
    asm volatile("mbarrier.arrive.shared.b64 _, [%0], 3;" :: "r"(smem(&bar)));
}
y[0] = 1;"""
    found = fault("float* y", body, 1, 32, (np.zeros(32, F32),))
    assert found.message == (
        "Barrier misuse: at kernel.cu:4 thread (0, 0, 0) of block (0, 0, 0) arrives at the "
        "mbarrier bar 3 times, but its phase waits for 2 more of 2 arrivals."
    )


def test_a_second_init_without_inval_is_reported():
    body = "__shared__ u64 bar[2];\ninit(&bar[1], 32);\ny[0] = 1;"
    found = fault("float* y", body, 1, 32, (np.zeros(32, F32),))
    assert found.message == (
        "Barrier misuse: at kernel.cu:2 thread (1, 0, 0) of block (0, 0, 0) initialises the "
        "mbarrier bar[1] (byte 8) which is in use already, from kernel.cu:2. One thread must "
        "initialise it once, or mbarrier.inval must end its use."
    )


def test_states_test_wait_drop_and_pending_count():
    y = np.zeros(8, np.uint32)
    body = """__shared__ u64 bar;
u32 b = smem(&bar); u64 s; u32 p;
#define TEST(i) asm volatile("{ .reg .pred q; mbarrier.test_wait.shared.b64 q, [%1], %2;" \\
    "selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(b), "l"(s)); y[i] = p;
init(&bar, 3);
asm volatile("mbarrier.arrive.noComplete.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(b));
asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(y[0]) : "l"(s));
TEST(1)
asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(s) : "r"(b));
asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(y[2]) : "l"(s));
TEST(3)
asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(b));
TEST(4)
asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 16;" :: "r"(b));
asm volatile("mbarrier.arrive.shared.b64 %0, [%1], 2;" : "=l"(s) : "r"(b));
TEST(5)
asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" :: "r"(b));
TEST(6)
asm volatile("mbarrier.inval.shared.b64 [%0];" :: "r"(b));
init(&bar, 1);"""
    run("u32* y", body, 1, 1, (y,))
    assert y.tolist() == [3, 0, 1, 1, 1, 0, 1, 0]


def test_a_try_wait_that_nobody_completes_may_return_false():
    y = np.zeros(32, np.uint32)
    body = """__shared__ u64 bar;
if (threadIdx.x == 0) init(&bar, 1);
__syncthreads();
u32 p;
asm volatile("{ .reg .pred q; mbarrier.try_wait.parity.shared.b64 q, [%1], 0;"
             "selp.u32 %0, 1, 0, q; }" : "=r"(p) : "r"(smem(&bar)));
if (threadIdx.x == 0) arrive(&bar);
wait(&bar, 0);
y[threadIdx.x] = p + 5;"""
    run("u32* y", body, 1, 32, (y,))
    assert y.tolist() == [5] * 32


@pytest.mark.parametrize("seed", SEEDS)
def test_cuda_barrier_with_a_bulk_copy(seed):
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    body = """
using barrier = cuda::barrier<cuda::thread_scope_block>;
__shared__ alignas(128) float tile[256];
#pragma nv_diag_suppress static_var_with_dynamic_init
__shared__ barrier bar;
if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cuda::device::experimental::fence_proxy_async_shared_cta();
}
__syncthreads();
barrier::arrival_token token;
if (threadIdx.x == 0) {
    cuda::device::experimental::cp_async_bulk_global_to_shared(tile, x, sizeof(tile), bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
} else {
    token = bar.arrive();
}
bar.wait(std::move(token));
y[threadIdx.x] = tile[255 - threadIdx.x];"""
    result = run(
        "const float* x, float* y",
        body,
        2,
        256,
        (x, y),
        before="#include <cuda/barrier>",
        seed=seed,
        checks=ALL_CHECKS,
    )
    assert np.array_equal(y, x[::-1])
    assert result.findings == []


def test_cuda_barrier_in_a_loop_orders_threads_like_syncthreads():
    y = np.zeros(64, np.int32)
    body = """
__shared__ cuda::barrier<cuda::thread_scope_block> bar;
__shared__ int s[64];
if (threadIdx.x == 0) init(&bar, 64);
__syncthreads();
int v = threadIdx.x;
for (int i = 0; i < 5; ++i) {
    s[threadIdx.x] = v; bar.arrive_and_wait();
    v = s[(threadIdx.x + 33) % 64]; bar.arrive_and_wait();
}
y[threadIdx.x] = v;"""
    result = run("int* y", body, 1, 64, (y,), before="#include <cuda/barrier>", checks=ALL_CHECKS)
    assert y.tolist() == [(t + 5 * 33) % 64 for t in range(64)]
    assert result.findings == []
