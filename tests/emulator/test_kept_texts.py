"""A text that was read is kept for the next module of it, which shares nothing that can change."""

import gc
import weakref

import numpy as np

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import EmulatedModule

COUNTED = """
__device__ int counter = 5;
extern "C" __global__ void count(int *seen) { seen[threadIdx.x] = atomicAdd(&counter, 1); }
extern "C" __global__ void twice(int *seen) { seen[threadIdx.x] *= 2; }
"""
CALLED = """
__noinline__ __device__ int add(int n, int x) { return n == 0 ? x : add(n - 1, x) + 1; }
__noinline__ __device__ int take(int n, int x) { return n == 0 ? x : take(n - 1, x) - 1; }
extern "C" __global__ void call(int *values)
{
    int x = values[threadIdx.x];
    values[threadIdx.x] = x % 2 ? add(3, x) : take(2, x);
}
"""


def modules(source: str) -> list[EmulatedModule]:
    text = compile_ptx(source, filename="kept.cu")
    return [EmulatedModule(text) for _ in range(3)]


def test_each_module_has_variables_of_its_own():
    first, second, _ = modules(COUNTED)
    seen = np.zeros(4, np.int32)
    first.entry("count").launch(1, 4, [seen])
    second.entry("count").launch(1, 4, [seen])
    assert seen.tolist() == [5, 6, 7, 8]
    assert first.global_array("counter").view(np.int32)[0] == 9


def test_a_kernel_without_such_variables_is_decoded_once():
    first, second, _ = modules(COUNTED)
    blocks = [module.entry("twice").code_for(False).blocks for module in (first, second)]
    assert blocks[0] is blocks[1]
    blocks = [module.entry("count").code_for(False).blocks for module in (first, second)]
    assert blocks[0] is not blocks[1]


def test_a_kernel_takes_the_same_registers_however_often_it_is_decoded():
    codes = [module.entry("count").code_for(False) for module in modules(COUNTED)]
    assert len({len(code.blank) for code in codes}) == 1


def test_functions_run_in_the_order_in_which_a_module_comes_to_them():
    for module, start in zip(modules(CALLED), (0, 1, 0), strict=True):
        entry = module.entry("call")
        values = np.arange(start, start + 4, dtype=np.int32)
        counts = entry.launch(1, 4, [values]).counts
        assert values.tolist() == [x + 3 if x % 2 else x - 2 for x in range(start, start + 4)]
        orders = [
            entry.code_for(False, name).order for name in entry.module.functions if name != "call"
        ]
        assert sorted(orders) == [1, 2]
        assert counts.warp_instructions > 0


def test_what_is_kept_holds_no_module():
    here = [weakref.ref(module) for module in modules(COUNTED)]
    gc.collect()
    assert [module() for module in here] == [None, None, None]
