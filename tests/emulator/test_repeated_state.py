"""A loop whose values come back is found soon, and none that ends is taken for one."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    ENDLESS_LOOP,
    OUT_OF_BOUNDS,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.launching import emulated_launch
from course_utils.emulator.machine import repeated_state

HEAD = 'extern "C" __global__ void f(volatile int* x, const int* a, const int* b, int n)'


def run(body, grid=2, block=64, n=40, **options):
    """What the kernel leaves in x, int32 (8,); zeros before. a and b count up from 0, 40 and 30."""
    entry = EmulatedModule(compile_ptx(f"{HEAD} {{\n{body}\n}}", filename="kernel.cu")).entry("f")
    x, a, b = np.zeros(8, np.int32), np.arange(40, dtype=np.int32), np.arange(30, dtype=np.int32)
    arguments = (x, a, b, np.int32(n))
    entry.launch(grid, block, arguments, names="xabn", options=Options(**options))
    return x


SEARCH = """const int* own = threadIdx.x % 2 ? a : b;
int low = 0, high = n;
while (low < high) {
  int middle = (low + high) / 2;
  if (own[middle % 30] < 20) low = middle{one}; else high = middle;
}
x[threadIdx.x % 8] = low;"""

ENDLESS = {
    "a search that stays where it is": SEARCH.replace("{one}", ""),
    "lanes of two loops": "if (threadIdx.x % 2) while (!x[0]); else while (!x[1]); x[2] = 1;",
    "up and down": "int k = n; while (k > 0) k = k % 2 ? k + 1 + x[0] : k - 1; x[1] = k;",
    "an atomic that adds nothing": "while (atomicAdd((int*)x, 0) < n); x[1] = 1;",
    "before a barrier": "if (threadIdx.x == 0) while (!x[0]); __syncthreads(); x[1] = 1;",
}


@pytest.mark.parametrize("how", ENDLESS)
def test_a_loop_whose_values_come_back_ends_the_launch_soon(how):
    with pytest.raises(KernelFault) as caught:
        run(ENDLESS[how], checks=ALL_CHECKS, budget=10**9)
    found = caught.value.finding
    assert (found.kind, found.cause) == (ENDLESS_LOOP, Cause.VALUES_COME_BACK)


ENDS = {
    "a search": SEARCH.replace("{one}", " + 1"),
    "one sets a flag late": "if (threadIdx.x == 33) { for (int k = 0; k < 900; ++k) x[1] = k; "
    "x[0] = 1; } else while (!x[0]);",
    "another block sets it": "if (blockIdx.x == 1) x[0] = 1; else while (!x[0]);",
    "after a barrier": "if (threadIdx.x < 32) { __syncwarp(); x[0] = 1; } else while (!x[0]); "
    "__syncthreads();",
    "long periods of a part": "unsigned r = 1; for (int k = 0; k < 300; ++k) "
    "{ r = 1; while (r % 16) r = r * 5 + 3; } x[0] = r;",
    "a clock": "long long t = clock64(); while (clock64() - t < 4000);",
}


@pytest.mark.parametrize("how", ENDS)
def test_a_loop_that_ends_goes_on(how, monkeypatch):
    monkeypatch.setattr(repeated_state, "FIRST", 1)
    run(ENDS[how])


def test_a_block_may_wait_for_one_of_a_later_batch(monkeypatch):
    monkeypatch.setattr(repeated_state, "FIRST", 1)
    monkeypatch.setattr(emulated_launch, "BATCH_LANES", 64)
    assert run("if (blockIdx.x == 3) x[0] = 1; else while (!x[0]);", grid=4)[0] == 1


def test_a_loop_of_ordinary_loads_is_found_in_one_batch_of_many(monkeypatch):
    monkeypatch.setattr(emulated_launch, "BATCH_LANES", 64)
    with pytest.raises(KernelFault) as caught:
        run(ENDLESS["a search that stays where it is"], grid=4, budget=10**9)
    assert caught.value.finding.cause is Cause.VALUES_COME_BACK


def test_lanes_that_reach_many_arrays_get_their_own_and_the_first_outside_is_told():
    body = "const int* own = threadIdx.x % 2 ? a : b;\natomicAdd((int*)x, own[threadIdx.x / 2]);"
    assert run(body, grid=1, block=60)[0] == 2 * sum(range(30))
    with pytest.raises(KernelFault) as caught:
        run(body, grid=1, block=96)
    found = caught.value.finding
    assert (found.kind, found.array, found.index) == (OUT_OF_BOUNDS, "b", 30)
    assert found.thread == (60, 0, 0)
