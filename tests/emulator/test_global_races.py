"""Races in global memory: what is found, and what is no race."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import ALL_CHECKS, DATA_RACE, Cause, EmulatedModule, Options
from course_utils.emulator.checks.races.happens_before import HappensBefore
from course_utils.emulator.launching import emulated_launch

F32 = np.float32


def findings(body, grid, block, x, parameters="float* x, int n", n=None):
    source = f'extern "C" __global__ void f({parameters}) {{\n{body}\n}}'
    entry = EmulatedModule(compile_ptx(source, filename="kernel.cu")).entry("f")
    args = (x, np.int32(len(x) if n is None else n))
    return entry.launch(
        grid, block, args, names=("x", "n"), options=Options(checks=ALL_CHECKS)
    ).findings


def test_blocks_that_update_one_place_race():
    (found, *_) = findings("x[0] = x[0] + 1.0f;", 4, 1, np.zeros(1, F32))
    assert (found.kind, found.cause) == (DATA_RACE, Cause.UPDATE_NOT_ATOMIC)
    assert found.message.startswith(
        "Data race (write after read) on x[0]:\n"
        "  thread (0, 0, 0) of block (3, 0, 0) reads it at kernel.cu:2\n"
        "  thread (0, 0, 0) of block (0, 0, 0) writes it at kernel.cu:2\n"
    )


@pytest.mark.parametrize(
    "body, cause",
    [
        ("x[0] = threadIdx.x + atomicAdd(x, 0.0f);", Cause.UPDATE_NOT_ATOMIC),
        ("x[0] += 1.0f + threadIdx.x;", Cause.UPDATE_NOT_ATOMIC),
        ("x[(int)x[8 + threadIdx.x]] += 1.0f;", Cause.UPDATE_NOT_ATOMIC),
        ("x[blockIdx.x * threadIdx.x] += 1.0f;", Cause.UPDATE_OF_ONE_INDEX),
        ("x[threadIdx.x] = blockIdx.x;", Cause.SAME_ELEMENT_WRITTEN),
        ("x[threadIdx.x / 2] = threadIdx.x;", Cause.SAME_ELEMENT_WRITTEN),
        ("x[0] = threadIdx.x;", Cause.WRITTEN_BY_ALL),
        ("x[0] = threadIdx.x + x[1];", Cause.WRITTEN_BY_ALL),
        ("x[0] = threadIdx.x + x[8 + threadIdx.x];", Cause.OWN_VALUES_WRITTEN_BY_ALL),
        (
            "float s = threadIdx.x; for (int k = s; k < n - 8; k += 8) s += x[8 + k]; x[0] = s;",
            Cause.OWN_VALUES_WRITTEN_BY_ALL,
        ),
        (
            "__shared__ float t[8]; t[threadIdx.x] = blockIdx.x; __syncthreads();\n"
            "if (threadIdx.x == 0) x[0] = t[0] + t[7];",
            Cause.OWN_VALUES_WRITTEN_BY_ALL,
        ),
        ("x[(int)x[8 + threadIdx.x]] = threadIdx.x;", Cause.SAME_INDEX_COUNTED),
    ],
)
def test_who_may_write_an_element_is_told_by_what_its_index_is_made_of(body, cause):
    (found, *_) = findings(body, 4, 8, np.zeros(40, F32))
    assert (found.kind, found.cause) == (DATA_RACE, cause)


def test_every_thread_doing_all_the_work_is_a_race():
    body = "for (int i = 0; i < n; ++i) x[i] = 2.0f * x[i] + 1.0f;"
    assert findings(body, 2, 64, np.ones(8, F32))


def test_blocks_of_different_batches_race_too(monkeypatch):
    monkeypatch.setattr(emulated_launch, "BATCH_LANES", 8192)
    body = "x[(blockIdx.x * blockDim.x + threadIdx.x) % n] += 1.0f;"
    assert findings(body, 20, 1024, np.zeros(19 * 1024, F32))


def test_each_thread_with_an_element_of_its_own_does_not_race():
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 2.0f * x[i];"
    assert not findings(body, 40, 256, np.ones(10000, F32))


@pytest.mark.parametrize("sync", ["__syncthreads();", ""])
def test_a_barrier_orders_the_threads_of_a_block(sync):
    body = f"x[threadIdx.x] = threadIdx.x;\n{sync}\nfloat v = x[n - 1 - threadIdx.x];\n"
    body += "__syncthreads();\nx[threadIdx.x] = v;"
    assert bool(findings(body, 1, 64, np.zeros(64, F32))) == (not sync)


def test_a_barrier_does_not_order_two_blocks():
    body = "x[blockIdx.x] = 1.0f + blockIdx.x;\n__syncthreads();\nfloat v = x[1 - blockIdx.x];\n"
    body += "x[2 + blockIdx.x] = v;"
    found = findings(body, 2, 1, np.zeros(4, F32))
    assert any("read after write" in f.message for f in found)


def test_reading_what_a_neighbouring_block_writes_is_a_race():
    body = "int i = blockIdx.x * blockDim.x + threadIdx.x;\nif (i + 1 < n) x[i] = x[i + 1];"
    assert findings(body, 8, 32, np.arange(256, dtype=F32))


def test_atomics_do_not_race_with_each_other():
    assert not findings("atomicAdd(&x[threadIdx.x % 3], 1.0f);", 30, 256, np.zeros(3, F32))


def test_raising_one_flag_from_many_threads_is_no_race():
    assert not findings("if (n > 0) x[0] = 1.0f;", 30, 256, np.zeros(1, F32))


def test_two_threads_that_write_different_values_race():
    (found, *_) = findings("x[threadIdx.x % 2] = threadIdx.x;", 1, 32, np.zeros(2, F32))
    assert "write after write" in found.message


LAST_BLOCK = """__shared__ bool last;
x[1 + blockIdx.x] = blockIdx.x;
WRITER;
if (threadIdx.x == 0) last = atomicAdd((int*)&x[0], 1) == gridDim.x - 1;
__syncthreads();
if (last && threadIdx.x == 0) { READER; float s = 0;
                                for (int b = 0; b < gridDim.x; ++b) s += x[1 + b];
                                x[1 + gridDim.x] = s; }"""


@pytest.mark.parametrize("writer", ["__threadfence()", "__threadfence_block()", ""])
@pytest.mark.parametrize("reader", ["__threadfence()", "__threadfence_block()", ""])
@pytest.mark.parametrize("grid", [10, 600])
def test_the_last_block_may_read_what_the_others_wrote_if_both_sides_fence(writer, reader, grid):
    x = np.zeros(2 + grid, F32)
    found = findings(LAST_BLOCK.replace("WRITER", writer).replace("READER", reader), grid, 32, x)
    assert x[-1] == grid * (grid - 1) / 2
    assert bool(found) == (writer != "__threadfence()" or reader != "__threadfence()")


POLLED = """int* flag = (int*)x; int t = threadIdx.x;
if (blockIdx.x == 0) { x[1 + t] = t; WRITER; __syncthreads(); if (t == 0) atomicExch(flag, 1); }
else { POLL; READER; x[33 + blockIdx.x * 32 + t] = x[1 + t]; }"""
BY_ALL = "while (atomicAdd(flag, 0) == 0);"
BY_ONE = "if (t == 0) while (atomicAdd(flag, 0) == 0);\n__syncthreads()"


@pytest.mark.parametrize("poll", [BY_ALL, BY_ONE, "while (*(volatile int*)flag == 0);"])
@pytest.mark.parametrize("writer, reader", [(1, 1), (0, 1), (1, 0)])
@pytest.mark.parametrize("grid", [3, 1200])  # of many blocks some begin when the flag is set
def test_an_atomic_that_polls_a_flag_orders_what_lies_beyond_fences(poll, writer, reader, grid):
    body = POLLED.replace("POLL", poll)
    for name, fence in (("WRITER", writer), ("READER", reader)):
        body = body.replace(name, "__threadfence()" if fence else "")
    found = findings(body, grid, 32, np.zeros(33 + 32 * grid, F32))
    assert bool(found) == (not writer or not reader)


def test_an_atomic_that_polls_a_flag_in_shared_memory_orders_what_lies_beyond_fences():
    body = """__shared__ int flag; int t = threadIdx.x, i = blockIdx.x * 64 + t;
if (t == 0) flag = 0;
__syncthreads();
if (t < 32) { x[i] = t; FENCE; __syncwarp(); if (t == 0) atomicExch(&flag, 1); }
else { while (atomicAdd(&flag, 0) == 0); __threadfence(); x[i] = x[i - 32]; }"""
    for fence in ("__threadfence()", ""):
        found = findings(body.replace("FENCE", fence), 100, 64, np.zeros(6400, F32))
        assert bool(found) == (fence == "")


def test_a_flag_between_two_warps_of_a_block_takes_a_fence_and_no_barrier():
    body = """__shared__ int flag; __shared__ float box; int t = threadIdx.x;
if (t == 0) flag = 0;
__syncthreads();
if (t == 0) { box = n; BEFORE atomicExch(&flag, 1); __threadfence_block(); }
if (t == 32) { while (atomicAdd(&flag, 0) == 0); __threadfence_block(); x[0] = box; }"""
    assert not findings(body.replace("BEFORE", "__threadfence_block();"), 1, 64, np.zeros(1, F32))
    (found,) = findings(body.replace("BEFORE", ""), 1, 64, np.zeros(1, F32))
    assert (found.cause, found.array) == (Cause.FLAG_IN_BLOCK_NOT_FENCED, "box")
    assert "put __threadfence_block() right before it" in found.message


TWO_WARPS = """__shared__ int full, empty, box; int t = threadIdx.x;
if (t == 0) full = empty = box = 0;
__syncthreads();
for (int k = 0; k < n; ++k)
if (t == 0) { while (atomicAdd(&empty, 0) < k); __threadfence_block();
box = k;
__threadfence_block(); atomicExch(&full, k + 1); }
else if (t == 32) { while (atomicAdd(&full, 0) SIGN k);
__threadfence_block();
x[k] = box;
__threadfence_block(); atomicExch(&empty, k + 1); }"""


@pytest.mark.parametrize("sign, cause", [("<=", None), ("<", Cause.FLAG_WAIT_TOO_SHORT)])
def test_a_wait_that_is_over_too_soon_in_another_branch_is_named(sign, cause):
    x = np.zeros(70, F32)
    found = findings(TWO_WARPS.replace("SIGN", sign), 1, 64, x)
    assert {(f.cause, f.array) for f in found} == ({(cause, "box")} if cause else set())
    if found:
        assert "kernel.cu:9 can be over before the store at kernel.cu:7" in found[0].message
        assert "kernel.cu:6 can be over before the read at kernel.cu:11" in found[0].message


TURNS = """__shared__ int box[32]; int group = threadIdx.x / 32, at = threadIdx.x % 32;
if (group == 0) box[at] = n;
if (group == 1) asm volatile("barrier.arrive %0, 64;" ::"r"(FIRST) : "memory");
asm volatile("barrier.sync %0, 64;" ::"r"(group + 1) : "memory");
if (group == 0) box[at] += 1;
else x[at] = box[at];
asm volatile("barrier.arrive %0, 64;" ::"r"(2 - group) : "memory");"""


def test_warps_that_take_turns_are_asked_about_the_turn_and_not_for_a_barrier():
    causes = {f.cause for f in findings(TURNS.replace("FIRST", "2"), 1, 64, np.zeros(32, F32))}
    assert Cause.TURN_NOT_PASSED in causes and Cause.NO_ORDER_IN_BLOCK not in causes
    found = findings(TURNS.replace("FIRST", "1"), 1, 64, np.zeros(32, F32))
    assert [f.cause for f in found] == [Cause.BARRIER_NOT_COMPLETED]  # the last turn


def test_the_second_half_of_a_vector_store_races_like_the_first():
    body = "((float2*)x)[0] = make_float2(1.0f, threadIdx.x);"
    (found, *_) = findings(body, 1, 32, np.zeros(2, F32))
    assert "write after write) on x[1]" in found.message


def test_a_byte_written_inside_a_word_that_another_thread_reads_is_a_race():
    body = "if (threadIdx.x == 0) ((char*)x)[5] = 1;\nelse x[32 + threadIdx.x] = x[threadIdx.x];"
    (found,) = findings(body, 1, 3, np.zeros(64, F32))
    assert found.kind == DATA_RACE
    assert (found.location.line, found.other_location.line) in [(2, 3), (3, 2)]
    assert not findings(body.replace("[5]", "[3]"), 1, 3, np.zeros(64, F32))


def test_another_kernel_of_the_module_that_makes_its_own_order_hides_nothing():
    source = """extern "C" __global__ void fenced(float* x) { x[0] = 1; __threadfence(); x[1] = 2; }
extern "C" __global__ void f(float* x) { x[0] += 1.0f; }"""
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu"))
    module.entry("fenced").launch(1, 1, (np.zeros(2, F32),))
    result = module.entry("f").launch(4, 1, (np.zeros(2, F32),), options=Options(checks=ALL_CHECKS))
    assert [f.kind for f in result.findings] == [DATA_RACE]


def test_the_first_race_of_two_lines_counts_those_like_it():
    (found,) = findings("x[threadIdx.x + 1] = x[threadIdx.x];", 1, 33, np.arange(34, dtype=F32))
    assert found.repeats == 31


def test_what_another_warp_saw_of_a_flag_never_takes_from_what_this_one_saw():
    order = object.__new__(HappensBefore)
    order.far, order._union = [None, None], (None, None, None)
    order.pending = [{"flag": 1, "other": 4}, {"flag": 3}]
    order._pass_on([0], [1])
    assert order.pending == [{"flag": 1, "other": 4}, {"flag": 3, "other": 4}]
