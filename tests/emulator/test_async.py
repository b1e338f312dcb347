"""Asynchronous copies: right results whenever they land, and a report where nobody waited."""

import time

import numpy as np
import pytest
from asynchrony import SEEDS, fault, module, run

from course_utils.emulator import ALL_CHECKS, DATA_RACE, MISALIGNED, OUT_OF_BOUNDS, Cause
from course_utils.emulator.launching import emulated_launch

F32 = np.float32

DOUBLE_BUFFERED = """
__shared__ alignas(16) float tile[2][256];
int t = threadIdx.x;
cp16(&tile[0][4 * t], x + 4 * t); commit();
for (int i = 0; i < n; ++i) {
    if (i + 1 < n) cp16(&tile[(i + 1) % 2][4 * t], x + (i + 1) * 256 + 4 * t);
    commit();
    WAIT
    __syncthreads();
    for (int j = 0; j < 4; ++j) y[i * 256 + j * 64 + t] = tile[i % 2][255 - j * 64 - t];
    __syncthreads();
}"""


@pytest.mark.parametrize("seed", SEEDS)
def test_cp_async_double_buffering_works_and_is_quiet(seed):
    x = np.arange(6 * 256, dtype=F32)
    y = np.zeros_like(x)
    body = DOUBLE_BUFFERED.replace("WAIT", "wait_group<1>();")
    result = run(
        "const float* x, float* y, int n",
        body,
        1,
        64,
        (x, y, np.int32(6)),
        checks=ALL_CHECKS,
        seed=seed,
    )
    assert np.array_equal(y.reshape(6, 256), x.reshape(6, 256)[:, ::-1])
    assert result.findings == []


def test_a_missing_wait_group_gives_a_wrong_result_and_a_report():
    x = np.arange(6 * 256, dtype=F32)
    y = np.zeros_like(x)
    body = DOUBLE_BUFFERED.replace("WAIT", "")
    result = run(
        "const float* x, float* y, int n", body, 1, 64, (x, y, np.int32(6)), checks=ALL_CHECKS
    )
    assert not np.array_equal(y.reshape(6, 256), x.reshape(6, 256)[:, ::-1])
    assert result.findings[0].kind == DATA_RACE
    (found, *_) = result.findings
    assert (found.cause, found.array, found.index) == (Cause.COPY_NOT_AWAITED, "tile", 255)
    assert (found.location.line, found.other_location.line) == (10, 4)


WAITS = DOUBLE_BUFFERED.replace("WAIT", "wait_group<1>();")
RING = """
__shared__ alignas(16) float tile[3][256];
int t = threadIdx.x;
for (int i = 0; i < 2; ++i) { cp16(&tile[i][4 * t], x + 256 * i + 4 * t); commit(); }
for (int i = 0; i < n; ++i) {
    wait_group<1>();
    __syncthreads();
    if (i + AHEAD < n) cp16(&tile[(i + AHEAD) % 3][4 * t], x + (i + AHEAD) * 256 + 4 * t);
    commit();
    for (int j = 0; j < 4; ++j) y[i * 256 + j * 64 + t] = tile[i % 3][255 - j * 64 - t];
}"""


@pytest.mark.parametrize("ahead, cause", [(2, None), (3, Cause.COPY_OVERWRITES)])
def test_a_copy_into_the_stage_that_is_being_read_is_told_from_one_without_a_wait(ahead, cause):
    x, y = np.arange(6 * 256, dtype=F32), np.zeros(6 * 256, F32)
    body = RING.replace("AHEAD", str(ahead))
    arguments = (x, y, np.int32(6))
    result = run("const float* x, float* y, int n", body, 1, 64, arguments, checks=ALL_CHECKS)
    assert [f.cause for f in result.findings][:1] == ([cause] if cause else [])


GROUPS = {
    Cause.GROUP_NOT_COMMITTED: (WAITS.replace("commit();", ""), "no cp.async.commit_group"),
    Cause.GROUP_LEFT_IN_FLIGHT: (WAITS.replace("<1>", "<2>"), "committed only 1 after"),
    Cause.NO_GROUP_EACH_TIME: (
        WAITS.replace("+ 4 * t);\n    commit();", "+ 4 * t), commit();"),
        "lets 1 group stay",
    ),
}


@pytest.mark.parametrize("cause", GROUPS, ids=lambda cause: cause.name)
def test_a_wait_that_leaves_a_copy_in_flight_is_named_with_what_was_committed(cause):
    body, told = GROUPS[cause]
    x, y = np.arange(6 * 256, dtype=F32), np.zeros(6 * 256, F32)
    arguments = (x, y, np.int32(6))
    result = run(
        "const float* x, float* y, int n", body, 1, 64, arguments, checks=ALL_CHECKS, seed=0
    )
    (found, *_) = result.findings
    assert (found.cause, found.array) == (cause, "tile")
    assert told in found.message and "wait at" in found.message


def test_a_copy_waited_for_still_needs_a_barrier_before_others_read_it():
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    body = """__shared__ alignas(16) float tile[256];
cp16(&tile[4 * threadIdx.x], x + 4 * threadIdx.x); commit(); wait_group<0>();
y[threadIdx.x] = tile[255 - threadIdx.x];"""
    result = run("const float* x, float* y", body, 1, 64, (x, y), checks=ALL_CHECKS)
    assert [f.kind for f in result.findings] == [DATA_RACE]
    assert result.findings[0].cause == Cause.NO_ORDER_IN_BLOCK


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wait_behind_the_barrier_is_reported_whenever_the_copies_land(seed):
    x, y = np.arange(6 * 256, dtype=F32), np.zeros(6 * 256, F32)
    body = DOUBLE_BUFFERED.replace(
        "WAIT\n    __syncthreads();", "__syncthreads(); wait_group<1>();"
    )
    result = run(
        "const float* x, float* y, int n",
        body,
        1,
        64,
        (x, y, np.int32(6)),
        checks=ALL_CHECKS,
        seed=seed,
    )
    (found, *_) = result.findings
    assert (found.cause, found.array, found.index) == (Cause.NO_ORDER_IN_BLOCK, "tile", 255)
    assert (found.location.line, found.other_location.line) == (9, 4)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_copy_that_nobody_waits_for_is_reported_however_early_it_lands(seed):
    x, y = np.arange(256, dtype=F32), np.zeros(64, F32)
    body = """__shared__ alignas(16) float tile[256];
cp16(&tile[4 * threadIdx.x], x + 4 * threadIdx.x);
float sum = 0;
for (int i = 0; i < n; ++i) sum = sum * 0.5f + y[threadIdx.x];
__syncthreads();
y[threadIdx.x] = sum + tile[255 - threadIdx.x];"""
    result = run(
        "const float* x, float* y, int n",
        body,
        1,
        64,
        (x, y, np.int32(500)),
        checks=ALL_CHECKS,
        seed=seed,
    )
    assert result.findings[0].cause == Cause.COPY_NOT_AWAITED


def test_a_short_source_is_filled_with_zeros_and_not_read_beyond():
    x, y = np.arange(1, 11, dtype=F32), np.full(16, -1, F32)
    body = """__shared__ alignas(16) float tile[16];
int t = threadIdx.x, left = max(0, min(16, (n - 4 * t) * 4));
asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
             :: "r"(smem(&tile[4 * t])), "l"(x + 4 * t), "r"(left));
asm volatile("cp.async.wait_all;");
__syncthreads();
for (int i = 0; i < 4; ++i) y[4 * t + i] = tile[4 * t + i];"""
    run("const float* x, float* y, int n", body, 1, 4, (x, y, np.int32(10)))
    assert y.tolist() == [*range(1, 11), 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("size", [4, 8, 16])
def test_cp_async_moves_4_8_or_16_bytes_and_can_ignore_its_source(size):
    x, y = np.arange(128, dtype=F32), np.zeros(32 * size // 4, F32)
    body = f"""__shared__ alignas(16) char tile[32 * {size}];
int t = threadIdx.x;
asm volatile("{{ .reg .pred p; setp.eq.u32 p, %2, 5;"
             "cp.async.ca.shared.global [%0], [%1], {size}, p; }}"
             :: "r"(smem(tile + {size} * t)), "l"((const char*)x + {size} * t), "r"(t));
asm volatile("cp.async.wait_all;"); __syncthreads();
for (int i = 0; i < {size} / 4; ++i) y[t * {size} / 4 + i] = ((float*)tile)[t * {size} / 4 + i];"""
    run("const float* x, float* y", body, 1, 32, (x, y))
    expected = x[: y.size].copy().reshape(32, -1)
    expected[5] = 0
    assert np.array_equal(y.reshape(32, -1), expected)


BULK = """
__shared__ alignas(128) float tile[256];
__shared__ u64 bar;
int t = threadIdx.x;
if (t == 0) { init(&bar, 1); fence(); }
__syncthreads();
if (t == 0) { expect(&bar, 1024); bulk_load(tile, x, 1024, &bar); }
WAIT
for (int i = t; i < 256; i += blockDim.x) tile[i] *= 2;
fence();
__syncthreads();
if (t == 0) { bulk_store(y, tile, 1024); bulk_commit(); END }"""


@pytest.mark.parametrize("seed", SEEDS)
def test_bulk_copies_in_and_out(seed):
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    body = BULK.replace("WAIT", "wait(&bar, 0);").replace("END", "bulk_wait();")
    result = run("const float* x, float* y", body, 1, 64, (x, y), checks=ALL_CHECKS, seed=seed)
    assert np.array_equal(y, 2 * x)
    assert result.findings == []


def test_a_batch_whose_turn_ends_as_its_last_threads_begin_to_wait_is_no_deadlock(monkeypatch):
    monkeypatch.setattr(emulated_launch, "RESIDENT_TURN", 1)
    test_bulk_copies_in_and_out(seed=0)


@pytest.mark.parametrize("wait", ["", "wait(&bar, 1);"])
def test_a_missing_wait_or_a_wrong_parity_is_reported(wait):
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    body = BULK.replace("WAIT", wait).replace("END", "bulk_wait();")
    result = run("const float* x, float* y", body, 1, 64, (x, y), checks=ALL_CHECKS)
    (found, *_) = result.findings
    assert (found.cause, found.array, found.index) == (Cause.COPY_NOT_AWAITED, "tile", 0)
    assert (found.location.line, found.other_location.line) == (9, 7)


def test_a_store_that_nobody_waits_for_before_the_end_is_reported():
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    body = BULK.replace("WAIT", "wait(&bar, 0);").replace("END", "")
    result = run("const float* x, float* y", body, 1, 64, (x, y), checks=ALL_CHECKS)
    (found,) = result.findings
    assert (found.cause, found.location.line) == (Cause.COPY_IN_FLIGHT_AT_END, 12)
    assert np.array_equal(y, 2 * x)


def test_a_source_overwritten_before_the_store_has_read_it_is_reported():
    y = np.zeros(64, F32)
    body = """__shared__ alignas(128) float tile[64];
tile[threadIdx.x] = 1; fence(); __syncthreads();
if (threadIdx.x == 0) { bulk_store(y, tile, 256); bulk_commit(); }
__syncthreads();
tile[threadIdx.x] = 2;
if (threadIdx.x == 0) bulk_wait();"""
    result = run("float* y", body, 1, 64, (y,), checks=ALL_CHECKS)
    (found, *_) = result.findings
    assert (found.cause, found.array, found.index) == (Cause.COPY_NOT_AWAITED, "tile", 0)
    assert (found.location.line, found.other_location.line) == (5, 3)


def test_bulk_reduction_adds_to_global_memory():
    y = np.arange(64, dtype=F32)
    body = """__shared__ alignas(128) float tile[64];
tile[threadIdx.x] = 10; fence(); __syncthreads();
if (threadIdx.x == 0) {
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;"
                 :: "l"(y), "r"(smem(tile)) : "memory");
    bulk_commit(); bulk_wait();
}"""
    run("float* y", body, 3, 64, (y,))
    assert np.array_equal(y, np.arange(64) + 30)


def test_a_bulk_copy_past_the_end_of_an_array_is_named():
    found = fault(
        "const float* x, float* y",
        BULK.replace("WAIT", "wait(&bar, 0);").replace("END", ""),
        1,
        64,
        (np.zeros(250, F32), np.zeros(256, F32)),
    )
    assert found.kind == OUT_OF_BOUNDS
    assert (found.array, found.index, found.past) == ("x", 250, 1)
    assert found.location.line == 7


def test_a_bulk_copy_needs_16_byte_alignment():
    body = """__shared__ alignas(128) float tile[256];
bulk_store(y + 1, tile, 64); bulk_commit(); bulk_wait();"""
    found = fault("float* y", body, 1, 1, (np.zeros(64, F32),))
    assert found.kind == MISALIGNED
    assert found.cause == Cause.COPY_MISALIGNED


@pytest.mark.parametrize("seed", SEEDS)
def test_cuda_pipeline_and_memcpy_async(seed):
    x = np.arange(5 * 128, dtype=F32)
    y = np.zeros_like(x)
    before = """
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;"""
    body = """
__shared__ alignas(16) float s[2][128];
auto b = cg::this_thread_block();
__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> st;
auto p = cuda::make_pipeline(b, &st);
for (int i = 0, f = 0; i < n; ++i) {
    for (; f < n && f < i + 2; ++f) {
        p.producer_acquire();
        cuda::memcpy_async(b, s[f % 2], x + f * 128, cuda::aligned_size_t<16>(512), p);
        p.producer_commit();
    }
    p.consumer_wait();
    y[i * 128 + threadIdx.x] = s[i % 2][127 - threadIdx.x];
    p.consumer_release();
}"""
    result = run(
        "const float* x, float* y, int n",
        body,
        1,
        128,
        (x, y, np.int32(5)),
        before=before,
        seed=seed,
        checks=ALL_CHECKS,
    )
    assert np.array_equal(y.reshape(5, 128), x.reshape(5, 128)[:, ::-1])
    assert result.findings == []


def test_cooperative_groups_memcpy_async():
    x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
    before = """
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;"""
    body = """__shared__ alignas(16) float s[256];
auto b = cg::this_thread_block();
cg::memcpy_async(b, s, x, sizeof(s));
cg::wait(b);
y[threadIdx.x] = s[255 - threadIdx.x];"""
    result = run("const float* x, float* y", body, 1, 256, (x, y), before=before, checks=ALL_CHECKS)
    assert np.array_equal(y, x[::-1])
    assert result.findings == []


@pytest.mark.parametrize("ordered", [True, False])
def test_global_memory_of_a_kernel_with_asynchronous_copies_is_watched_too(ordered):
    """Thread 0 arrives once y is written; the other half of the block waits for that, or not."""
    x, y = np.arange(64, dtype=F32), np.zeros(64, F32)
    body = """__shared__ alignas(16) float tile[64];
__shared__ u64 bar;
int t = threadIdx.x;
if (t == 0) { init(&bar, 32); asm volatile("fence.mbarrier_init.release.cluster;"); }
if (t < 16) cp16(&tile[4 * t], x + 4 * t);
commit(); wait_group<0>();
__syncthreads();
if (t < 32) { y[t] = tile[t] + 1; arrive(&bar); }
else { WAIT y[t] = y[t - 32]; }""".replace("WAIT", "wait(&bar, 0);" if ordered else "")
    result = run("const float* x, float* y", body, 1, 64, (x, y), checks=ALL_CHECKS)
    causes = [f.cause for f in result.findings]
    assert causes == ([] if ordered else [Cause.MBARRIER_NOT_BETWEEN])


def test_two_blocks_that_write_one_place_race_though_each_waits_for_its_copies():
    x, y = np.arange(128, dtype=F32), np.zeros(64, F32)
    body = """__shared__ alignas(16) float tile[64];
int t = threadIdx.x;
if (t < 16) cp16(&tile[4 * t], x + 64 * blockIdx.x + 4 * t);
commit(); wait_group<0>();
__syncthreads();
y[t] = tile[63 - t];"""
    (found,) = run("const float* x, float* y", body, 2, 64, (x, y), checks=ALL_CHECKS).findings
    assert found.cause == Cause.SAME_ELEMENT_WRITTEN


def test_many_copies_in_flight_cost_no_more_each_than_few():
    body = """__shared__ alignas(16) float tile[128];
    for (int i = 0; i < n; ++i)
        bulk_store(y + ((blockIdx.x * n + i) * 32 + threadIdx.x) * 4, tile + 4 * threadIdx.x, 16);
    bulk_commit(); bulk_wait();"""
    kernel = module("float* y, int n", body).entry("f")

    def seconds(copies):
        start = time.process_time()
        kernel.launch(8, 32, (np.zeros(4 * copies, F32), np.int32(copies // 256)))
        return time.process_time() - start

    seconds(256)
    assert min(seconds(16384), seconds(16384)) < 8 * min(seconds(4096), seconds(4096))


def test_the_end_of_a_later_copy_tells_nothing_of_an_earlier_one():
    body = """
__shared__ alignas(128) float a[256], b[256]; __shared__ u64 bar[2];
int t = threadIdx.x;
if (t == 0) { init(&bar[0], 1); init(&bar[1], 1); fence(); }
__syncthreads();
if (t == 0) {
    expect(&bar[0], 1024); bulk_load(a, x, 1024, &bar[0]);
    expect(&bar[1], 1024); bulk_load(b, x, 1024, &bar[1]); }
wait(&bar[1], 0);
BOTH
for (int i = t; i < 256; i += blockDim.x) y[i] = a[i] + b[i];"""
    for both, causes in (("wait(&bar[0], 0);", set()), ("", {Cause.COPY_NOT_AWAITED})):
        x, y = np.arange(256, dtype=F32), np.zeros(256, F32)
        code = body.replace("BOTH", both)
        result = run("const float* x, float* y", code, 1, 64, (x, y), checks=ALL_CHECKS)
        found = [f for f in result.findings if f.cause != Cause.COPY_IN_FLIGHT_AT_END]
        assert {f.cause for f in found} == causes and {f.array for f in found} <= {"a"}
        assert both == "" or np.array_equal(y, 2 * x)
