"""Kernels that launch kernels: order, arguments, nesting, and what a GPU would refuse."""

from functools import cache

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.machine import device_runtime
from course_utils.emulator.memory.address_space import GLOBAL

SOURCE = r"""
struct Pair { char tag; double value; };
__device__ int order[16], count;
extern "C" {
__global__ void note(int id) { order[atomicAdd(&count, 1)] = id; }
__global__ void with_child(int id) { note<<<1, 1>>>(id + 1); note<<<1, 1>>>(id); }
__global__ void in_order() {
    note<<<1, 1, 0, cudaStreamTailLaunch>>>(9);
    with_child<<<1, 1>>>(20);
    note<<<1, 1, 0, cudaStreamFireAndForget>>>(3);
    cudaStream_t s; cudaEvent_t e;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    note<<<1, 1, 0, s>>>(4);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(0, e, 0);
    note<<<1, 1>>>(5);
    cudaEventDestroy(e);
    cudaStreamDestroy(s);
}

__global__ void add(double* y, char c, Pair p, int n) {
    extern __shared__ int s[];
    s[threadIdx.x] = n;
    y[blockIdx.x * blockDim.x + threadIdx.x] += c + p.tag + p.value + s[threadIdx.x];
}
__global__ void by_every_thread(double* y) {
    Pair p = {2, 0.5 + threadIdx.x};
    add<<<dim3(1, 1), 2, 8>>>(y + 2 * threadIdx.x, 1, p, blockIdx.x);
}

__global__ void memory(int* y) {
    cudaMemsetAsync(y, 1, 4, 0);
    cudaMemcpyAsync(y + 1, y, 4, cudaMemcpyDeviceToDevice, 0);
    y[0] = 7;
    void* heap;
    y[2] = cudaMalloc(&heap, 64);
    y[3] = cudaFree(heap);
}

__global__ void nothing() {}
__global__ void ask(int* e, int blocks, int threads, int stream) {
    nothing<<<blocks, threads, 0, (cudaStream_t)(long long)stream>>>();
    e[0] = cudaPeekAtLastError(); e[1] = cudaGetLastError(); e[2] = cudaGetLastError();
    cudaStream_t s;
    e[3] = cudaStreamCreateWithFlags(&s, cudaStreamDefault);
}
__global__ void deeper(int* n, int* e) {
    atomicAdd(n, 1);
    deeper<<<1, 1>>>(n, e);
    if (int error = cudaGetLastError()) *e = error;
}
__global__ void many() { nothing<<<1, 1>>>(); nothing<<<1, 1>>>(); nothing<<<1, 1>>>(); }

__global__ void past(int* y) { y[threadIdx.x] = 1; }
__global__ void launches_past(int* y) { nothing<<<1, 1>>>(); past<<<1, 64>>>(y); }
__global__ void between(int* y) { launches_past<<<1, 1>>>(y); }
__global__ void racing(int* y) { y[0] = threadIdx.x; }
__global__ void launches_racing(int* y) { racing<<<1, 64>>>(y); }
__global__ void store(int* y) { *y = 1; }
__global__ void own_memory(int* y, int shared) {
    __shared__ int there; int here = 0;
    store<<<1, 1>>>(shared ? &there : &here);
    y[0] = here + there;
}
__global__ void limit(size_t* y) { cudaDeviceGetLimit(y, cudaLimitMallocHeapSize); }
}
"""
LINES = SOURCE.splitlines()


@cache
def module():
    text = compile_ptx(SOURCE, filename="k.cu", options=("-rdc=true",))
    return EmulatedModule(text)


def launch(name, *args, block=1, grid=1, **options):
    before = len(list(GLOBAL.regions))
    for array in args:
        if isinstance(array, np.ndarray):
            GLOBAL.pointer(array)
            before = len(list(GLOBAL.regions))
    options = {"checks": ALL_CHECKS, **options}
    result = module().entry(name).launch(grid, block, args, options=Options(**options))
    left = {r.name for r in GLOBAL.regions if r.name.startswith("arguments of")}
    assert not left, (before, left)
    return result


def line(text):
    return next(n for n, row in enumerate(LINES, 1) if text in row)


def test_launches_run_in_the_order_of_their_streams_and_a_tail_launch_last():
    module().global_array("count")[:] = 0
    assert launch("in_order").findings == []
    order = module().global_array("order").view(np.int32)
    assert order[:6].tolist() == [21, 20, 3, 4, 5, 9]


def test_every_thread_launches_with_its_own_arguments():
    y = np.zeros(6)
    assert launch("by_every_thread", y, block=3).findings == []
    assert y.tolist() == [3.5, 3.5, 4.5, 4.5, 5.5, 5.5]


def test_copies_and_fills_wait_for_the_end_of_the_grid():
    y = np.zeros(4, np.int32)
    launch("memory", y)
    assert y.tolist() == [0x01010101, 0x01010101, 0, 0]


@pytest.mark.parametrize(
    ("blocks", "threads", "stream", "error"),
    [(1, 32, 0, 0), (0, 32, 0, 9), (1, 2048, 0, 9), (1, 32, 99, 400)],
)
def test_what_a_gpu_refuses_gets_its_error_and_a_finding(blocks, threads, stream, error):
    e = np.zeros(4, np.int32)
    found = launch("ask", e, *map(np.int32, (blocks, threads, stream))).findings
    assert e.tolist() == [error, error, 0, 1]
    assert [f.cause for f in found] == [Cause.CHILD_LAUNCH_REFUSED] * (error != 0)
    assert all(f.location.line == line("nothing<<<blocks") for f in found)


def test_launches_lie_in_each_other_at_most_24_deep():
    n, e = np.zeros((2, 1), np.int32)
    found = launch("deeper", n, e).findings
    assert (n[0], e[0]) == (25, 65)
    assert [f.cause for f in found] == [Cause.CHILD_LAUNCH_REFUSED]


def test_more_launches_than_may_be_pending_are_a_warning(monkeypatch):
    monkeypatch.setattr(device_runtime, "MOST_PENDING", 2)
    (found,) = launch("many").findings
    assert (found.cause, found.level) == (Cause.CHILD_LAUNCHES_PENDING, "warning")


@pytest.mark.parametrize(("kernel", "depth"), [("launches_past", 1), ("between", 2)])
def test_a_fault_of_a_child_says_who_launched_it(kernel, depth):
    y = np.zeros(32, np.int32)
    with pytest.raises(KernelFault) as fault:
        launch(kernel, y)
    finding = fault.value.finding
    assert (finding.index, finding.thread) == (32, (32, 0, 0))
    assert finding.message.count(f"k.cu:{line('past<<<1, 64>>>')}") == 1
    assert finding.message.count("past<<<1, 64>>>") == 1


def test_findings_of_a_child_come_with_its_parents():
    (found,) = launch("launches_racing", np.zeros(1, np.int32)).findings
    assert found.cause == Cause.SAME_ELEMENT_WRITTEN or found.kind == "data race"
    assert "racing<<<1, 64>>>" in found.message


@pytest.mark.parametrize("shared", [0, 1])
def test_a_child_gets_no_address_of_local_or_shared_memory(shared):
    with pytest.raises(KernelFault) as fault:
        launch("own_memory", np.zeros(1, np.int32), np.int32(shared), checks=())
    assert fault.value.finding.cause == Cause.CHILD_GETS_OWN_MEMORY
    assert fault.value.finding.location.line == line("store<<<1, 1>>>")


def test_a_function_of_the_device_runtime_that_is_not_there_is_named():
    with pytest.raises(KernelFault, match="cudaDeviceGetLimit") as fault:
        launch("limit", np.zeros(1, np.uint64))
    assert fault.value.finding.cause == Cause.KERNEL_LAUNCHES_KERNEL
