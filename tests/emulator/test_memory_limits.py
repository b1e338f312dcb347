"""A kernel that asks for much memory gets what a GPU has, and never this machine's last byte."""

import gc
import resource

import numpy as np
import pytest

from course_utils import load
from course_utils.compiling.nvrtc import compile_ptx
from course_utils.devices import emulated_cupy as ecp
from course_utils.devices.limits import LaunchError
from course_utils.devices.selection import EMULATOR
from course_utils.emulator import (
    ALL_CHECKS,
    ENDLESS_LOOP,
    GLOBAL,
    NULL_POINTER,
    USE_AFTER_FREE,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.machine import block_memory

COUNT = """
extern "C" __global__ void run(int* got, unsigned long long size, int times) {
    for (int k = 0; k < times; ++k) {
        if (malloc(size) == nullptr) break;
        atomicAdd(got, 1);
    }
}
"""
LEAK = """
extern "C" __global__ void run(int* sum) {
    for (int k = 0; k < 3; ++k) {
        int* p = (int*)malloc(1 << 20);
        p[threadIdx.x] = k;
        atomicAdd(sum, p[threadIdx.x]);
        %s
    }
}
"""


def module(source: str) -> EmulatedModule:
    return EmulatedModule(compile_ptx(source, filename="kernel.cu"))


def allocations(size: int, times: int = 100, threads: int = 1) -> int:
    got = np.zeros(1, np.int32)
    arguments = (got, np.uint64(size), np.int32(times))
    module(COUNT).entry("run").launch(1, threads, arguments)
    return int(got[0])


@pytest.mark.parametrize(
    ("size", "expected"),
    [(1 << 20, 8), (8 << 20, 1), ((8 << 20) + 1, 0), (1 << 50, 0), (2**64 - 1, 0), (0, 0)],
)
def test_malloc_gives_eight_megabytes_and_then_null(size, expected):
    assert allocations(size) == expected


def test_small_pieces_are_many_and_come_to_an_end():
    assert 100_000 < allocations(16, times=1 << 20, threads=512) <= (8 << 20) // 16


def test_what_is_freed_is_given_out_again():
    total = np.zeros(1, np.int32)
    kernel = module(LEAK % "free(p);").entry("run")
    for _ in range(5):
        kernel.launch(1, 4, (total,))
    assert total[0] == 5 * 4 * (0 + 1 + 2)


def test_a_leak_is_a_null_pointer_once_the_heap_is_full_and_ends_with_its_module():
    before = len(list(GLOBAL.regions))
    made = module(LEAK % "")
    kernel = made.entry("run")
    kernel.launch(1, 2, (np.zeros(1, np.int32),))
    with pytest.raises(KernelFault) as caught:
        kernel.launch(1, 2, (np.zeros(1, np.int32),))
    assert caught.value.finding.kind == NULL_POINTER
    del kernel, made, caught
    gc.collect()
    assert len(list(GLOBAL.regions)) <= before + 2
    assert allocations(1 << 20) == 8, "another module has a heap of its own"


def test_an_array_of_the_host_cannot_be_freed_by_a_kernel():
    x = np.zeros(4, np.int32)
    kernel = module('extern "C" __global__ void run(int* x) { free(x); }').entry("run")
    with pytest.raises(KernelFault) as caught:
        kernel.launch(1, 1, (x,))
    assert caught.value.finding.kind == USE_AFTER_FREE
    assert "does not come from malloc" in str(caught.value)


LOCAL = """
extern "C" __global__ void run(int* y) {
    %s int big[%d];
    for (int k = threadIdx.x; k < %d; k += 997) big[k] = k;
    y[blockIdx.x * blockDim.x + threadIdx.x] = big[threadIdx.x] + big[997 + threadIdx.x];
}
"""


def local(size: int, place: str = ""):
    return LOCAL % (place, size, size)


@pytest.mark.parametrize("checks", [(), ALL_CHECKS])
def test_large_local_arrays_run_in_fewer_blocks_at_once(monkeypatch, checks):
    monkeypatch.setattr(block_memory, "LOCAL_IN_FLIGHT", 2**28)
    monkeypatch.setattr("course_utils.emulator.launching.emulated_launch.LOCAL_IN_FLIGHT", 2**28)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    y = np.zeros(64 * 32, np.int32)
    kernel = module(local(100_000)).entry("run")  # 400 KB a thread, 800 MB in all
    assert kernel.local_bytes == 400_000
    kernel.launch(64, 32, (y,), options=Options(checks=checks))
    assert (y == np.tile(2 * np.arange(32) + 997, 64)).all()
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert used < 450_000  # KB


def test_more_local_memory_than_a_thread_may_have_is_told_before_the_launch():
    kernel = load(source=local(200_000), device=EMULATOR)
    with pytest.raises(LaunchError, match="own arrays take 800,000 bytes"):
        kernel((1,), (32,), (ecp.zeros(32, np.int32),))


def test_a_recursion_without_end_is_told_before_it_has_taken_all_memory(monkeypatch):
    monkeypatch.setattr(block_memory, "LOCAL_IN_FLIGHT", 2**27)
    source = """
    __device__ __noinline__ int down(int n, int* y) {
        int own[1000];
        for (int k = 0; k < 1000; ++k) own[k] = y[k & 31] + n;
        int below = n == -1 ? 0 : down(n + 1, own);
        return below + own[below & 511];
    }
    extern "C" __global__ void run(int* y) { y[threadIdx.x] = down(1, y); }
    """
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(KernelFault) as caught:
        module(source).entry("run").launch(4, 1024, (np.zeros(1024, np.int32),))
    assert caught.value.finding.kind == ENDLESS_LOOP and "stack is full" in str(caught.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 450_000
