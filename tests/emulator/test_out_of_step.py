"""With warps and lanes out of step a kernel that lacks a barrier gives another result."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule, Options

THREADS = 256
MODULE = EmulatedModule(
    compile_ptx(
        """
extern "C" __global__ void no_barrier(const float* x, float* y)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = atomicAdd(&s[(threadIdx.x + 32) % 256], 0.0f);  // atomics are no data race
}
extern "C" __global__ void active_lanes(const float* x, float* y)
{
    float sum = x[threadIdx.x];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(__activemask(), sum, d);
    y[threadIdx.x] = sum;
}
extern "C" __global__ void right(const float* x, float* y)
{
    __shared__ float s[256];
    s[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float sum = s[(threadIdx.x + 32) % 256];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    __syncthreads();
    s[threadIdx.x] = sum;
    __syncwarp();
    y[threadIdx.x] = s[threadIdx.x ^ 1];
}
extern "C" __global__ void spin_lock(const float* x, float* y)
{
    __shared__ int lock;
    __shared__ float total;
    if (threadIdx.x == 0) { lock = 0; total = 0.0f; }
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicCAS(&lock, 0, 1) == 0) {
            *(volatile float*)&total += x[threadIdx.x];
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    y[threadIdx.x] = total;
}
extern "C" __global__ void last_of_all(int* done, int* last)
{
    if (threadIdx.x == 0 && atomicAdd(done, 1) == gridDim.x - 1) *last = blockIdx.x;
}
extern "C" __global__ void leaves_early(const float* x, float* y)
{
    if (threadIdx.x % 3 == 0) return;
    float sum = x[threadIdx.x];
    y[threadIdx.x] = sum + __popc(__ballot_sync(__activemask() | 1u << threadIdx.x % 32, 1)) * 0.0f;
}
""",
        filename="out_of_step.cu",
    )
)


def result(name: str, schedule: str, seed: int = 1) -> np.ndarray:
    x, y = np.arange(THREADS, dtype=np.float32), np.zeros(THREADS, np.float32)
    MODULE.entry(name).launch(1, THREADS, (x, y), options=Options(schedule=schedule, seed=seed))
    return y


@pytest.mark.parametrize(
    "name, schedule", [("no_barrier", "warps"), ("no_barrier", "lanes"), ("active_lanes", "lanes")]
)
def test_what_only_lockstep_makes_right_comes_out_otherwise(name, schedule):
    assert not np.array_equal(result(name, schedule), result(name, "lockstep"))


@pytest.mark.parametrize("name", ["right", "spin_lock", "leaves_early"])
@pytest.mark.parametrize("schedule", ["warps", "lanes"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_kernel_that_waits_where_it_must_gives_the_same_in_any_order(name, schedule, seed):
    assert np.array_equal(result(name, schedule, seed), result(name, "lockstep"))


@pytest.mark.parametrize("blocks", [2, 5])
def test_blocks_of_one_warp_end_in_another_order(blocks):
    last = {}
    for schedule in ("lockstep", "warps"):
        done, found = np.zeros((2, 1), np.int32)
        options = Options(schedule=schedule)
        MODULE.entry("last_of_all").launch(blocks, 32, (done, found), options=options)
        last[schedule] = int(found[0])
    assert last == {"lockstep": blocks - 1, "warps": blocks // 2 - 1}


def test_the_seed_draws_who_is_ahead():
    a, b = (result("no_barrier", "warps", seed) for seed in (1, 5))
    assert not np.array_equal(a, b, equal_nan=True)


def test_an_unknown_schedule_is_refused():
    with pytest.raises(ValueError, match="there are lockstep, warps, lanes"):
        Options(schedule="waves")
