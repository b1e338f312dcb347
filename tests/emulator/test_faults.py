"""Planted faults, and the very report that each must get."""

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import (
    ALL_CHECKS,
    ASSERTION,
    BARRIER,
    DATA_RACE,
    DEADLOCK,
    ENDLESS_LOOP,
    MISALIGNED,
    NULL_POINTER,
    OUT_OF_BOUNDS,
    TRAP,
    UNKNOWN_INSTRUCTION,
    Cause,
    EmulatedModule,
    KernelFault,
    Options,
)
from course_utils.emulator.launching import emulated_launch
from course_utils.emulator.machine import scheduler

F32 = np.float32


def run(body, grid, block, args, names=(), parameters="float* x, int n", shared=0, **options):
    """A kernel whose body begins on line 2 of kernel.cu."""
    source = f'extern "C" __global__ void f({parameters}) {{\n{body}\n}}'
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu"))
    return module.entry("f").launch(
        grid, block, args, shared, names=names, options=Options(**options)
    )


def fault(*args, **kwargs):
    with pytest.raises(KernelFault) as caught:
        run(*args, **kwargs)
    return caught.value.finding


def test_reading_past_the_end_names_array_index_line_and_thread():
    found = fault(
        "int i = blockIdx.x * blockDim.x + threadIdx.x;\nx[i] = x[i] + 1.0f;",
        2,
        64,
        (np.zeros(100, F32), np.int32(100)),
        names=("x", "n"),
    )
    assert found.kind == OUT_OF_BOUNDS
    assert found.message == (
        "Out of bounds: thread (36, 0, 0) of block (1, 0, 0) reads x[100] at kernel.cu:3, "
        "1 element past its end: x has 100 elements."
    )
    assert (found.array, found.index, found.past) == ("x", 100, 1)
    assert (found.location.line, found.thread, found.block) == (3, (36, 0, 0), (1, 0, 0))


def test_writing_before_the_start_is_seen():
    found = fault(
        "x[(int)threadIdx.x - 2] = 0.0f;", 1, 32, (np.zeros(64, F32), np.int32(0)), ("x", "n")
    )
    assert found.message == (
        "Out of bounds: thread (0, 0, 0) of block (0, 0, 0) writes x[-2] at kernel.cu:2, "
        "2 elements before its start: x has 64 elements."
    )


def test_running_past_one_array_never_reaches_its_neighbour():
    found = fault(
        "x[threadIdx.x] = 1.0f; y[threadIdx.x] = 1.0f;",
        1,
        33,
        (np.zeros(33, F32), np.zeros(32, F32)),
        ("x", "y"),
        "float* x, float* y",
    )
    assert (found.array, found.index, found.past) == ("y", 32, 1)


def test_a_write_across_the_end_in_one_of_many_blocks_is_found():
    found = fault(
        "x[blockIdx.x * 256 + threadIdx.x] = 1.0f;",
        100,
        256,
        (np.zeros(25599, F32), np.int32(0)),
        ("x", "n"),
    )
    assert (found.index, found.thread, found.block) == (25599, (255, 0, 0), (99, 0, 0))


def test_a_shared_array_is_guarded_from_its_neighbour():
    found = fault(
        "__shared__ float a[32]; __shared__ float b[32];\n"
        "b[threadIdx.x] = 1; a[threadIdx.x + n] = 2;\n__syncthreads();\n"
        "x[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];",
        1,
        32,
        (np.zeros(32, F32), np.int32(1)),
    )
    assert found.message == (
        "Out of bounds: thread (31, 0, 0) of block (0, 0, 0) writes a[32] in shared memory at "
        "kernel.cu:3, 1 element past its end: a has 32 elements."
    )


def test_dynamic_shared_memory_ends_where_the_launch_said():
    found = fault(
        "extern __shared__ float tile[];\ntile[threadIdx.x] = 1;\nx[threadIdx.x] = tile[0];",
        1,
        64,
        (np.zeros(64, F32), np.int32(0)),
        shared=60 * 4,
    )
    assert (found.array, found.index, found.thread) == ("tile", 60, (60, 0, 0))


def test_a_local_array_has_bounds_too():
    found = fault(
        "float a[4] = {1, 2, 3, 4};\nfor (int i = 0; i < n; ++i) a[i * threadIdx.x] += 1;\n"
        "x[threadIdx.x] = a[n % 4];",
        1,
        32,
        (np.zeros(32, F32), np.int32(3)),
    )
    assert found.kind == OUT_OF_BOUNDS
    assert f"element {found.index} of a local array at kernel.cu:3" in found.message
    assert (found.index, found.thread) == (4, (4, 0, 0))


def test_a_misaligned_vector_load_is_explained():
    found = fault(
        "float4 v = *(float4*)(x + n);\nx[threadIdx.x] = v.x + v.y * v.z + v.w;",
        1,
        1,
        (np.zeros(64, F32), np.int32(1)),
        ("x", "n"),
    )
    assert found.kind == MISALIGNED
    assert found.message == (
        "Misaligned access: thread (0, 0, 0) of block (0, 0, 0) reads 16 bytes at once at "
        "kernel.cu:2, 4 bytes into x. An access of 16 bytes must start at a multiple of 16."
    )


def test_a_null_pointer_is_called_by_its_name():
    found = fault("x[threadIdx.x] = 1.0f;", 1, 32, (np.uint64(0), np.int32(0)))
    assert found.kind == NULL_POINTER
    assert found.message.startswith(
        "Null pointer: thread (0, 0, 0) of block (0, 0, 0) writes 4 bytes through a pointer that "
        "is NULL at kernel.cu:2."
    )


def test_a_pointer_from_nowhere_is_reported():
    found = fault("x[threadIdx.x] = 1.0f;", 1, 32, (np.uint64(0x123456789000), np.int32(0)))
    assert found.kind == OUT_OF_BOUNDS
    assert "address 0x123456789000" in found.message


def test_an_endless_loop_names_its_line():
    found = fault(
        "int i = 0;\nwhile (i < n) {\n    x[0] += 1.0f;\n}",
        1,
        32,
        (np.zeros(1, F32), np.int32(5)),
        budget=20_000,
    )
    assert (found.kind, found.location.line) == (ENDLESS_LOOP, 3)
    assert (found.cause, found.array) == (Cause.CONDITION_NEVER_CHANGES, None)


@pytest.mark.parametrize(
    "loop",
    [
        "while (n > 0) { }",
        "while (i < 40) x[i % 4] += x[0];",
        "for (int j = n; j > 0; j = j * 1) x[i % 4] += j;",
    ],
)
def test_a_loop_that_cannot_end_is_reported_long_before_the_budget(loop):
    body = f"int i = threadIdx.x;\n{loop}\nx[0] = 1;"
    found = fault(body, 1, 32, (np.zeros(4, F32), np.int32(5)), budget=10**9)
    assert (found.kind, found.cause) == (ENDLESS_LOOP, Cause.CONDITION_NEVER_CHANGES)


@pytest.mark.parametrize(
    "loop",
    [
        "for (long long i = 0, t = clock64(); clock64() - t < n; ++i) x[0] = i;",
        'unsigned long long t; do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); '
        "while (t % 64 > n);",
        "int flag = 0; while (!flag) flag = *(volatile float*)x >= 0;",
        "for (int i = 0; i < 9000; ++i) x[0] += i % n;",
        "int i = 0; do { if (x[i % 4] < 0) break; } while (++i < 9000);",
    ],
)
def test_a_loop_that_ends_is_not_taken_for_an_endless_one(loop, monkeypatch):
    monkeypatch.setattr(scheduler, "ENDLESS_AFTER", 1)
    run(loop, 1, 32, (np.zeros(4, F32), np.int32(5)))


def test_a_loop_that_may_end_is_told_from_one_that_never_does():
    body = "for (int i = 0; i < 1 << 30; ++i) x[0] = x[n] * 2.0f;"
    found = fault(body, 1, 32, (np.zeros(1, F32), np.int32(0)), budget=20_000)
    assert (found.kind, found.cause) == (ENDLESS_LOOP, Cause.STEP_BUDGET_EXCEEDED)


def test_a_variable_that_the_compiler_reads_once_before_a_loop_is_named():
    body = "__shared__ int turn;\nturn = n;\n__syncthreads();\nwhile (turn < threadIdx.x) { }"
    found = fault(body, 1, 32, (np.zeros(1, F32), np.int32(0)), budget=20_000)
    assert (found.cause, found.array) == (Cause.CONDITION_NEVER_CHANGES, "turn")


def test_an_index_that_passed_2_to_the_31_names_the_array_and_the_index_that_was_meant():
    table = np.zeros(2**31 + 100, np.uint8)  # no memory is taken before a byte is written
    parameters = "const unsigned char* table, unsigned char* y, int row, int width"
    found = fault(
        "y[threadIdx.x] = table[row * width + (int)threadIdx.x];",
        1,
        32,
        (table, np.zeros(32, np.uint8), np.int32(2**15), np.int32(2**16)),
        ("table", "y", "row", "width"),
        parameters,
    )
    assert (found.kind, found.cause) == (OUT_OF_BOUNDS, Cause.INDEX_OVERFLOW)
    assert (found.array, found.index, found.meant) == ("table", -(2**31), 2**31)


@pytest.mark.parametrize(
    "index, product", [("x[threadIdx.x]", False), ("(x[0] + 1) * (x[0] + 1)", True)]
)
def test_an_index_far_outside_is_told_of_the_array_that_its_line_names(index, product):
    given = np.full(1000, -1524377912, np.int32), np.zeros(1000, np.int32)
    parameters = "const int* x, int* y"
    if product:
        given[0][0] = 46500  # squared, above 2^31
    found = fault(f"y[{index}] = 1;", 1, 1, given, ("x", "y"), parameters)
    assert (found.array, found.index < -(2**30)) == ("y", True)
    assert ("2^31" in found.message) == product


@pytest.mark.parametrize(
    "table, shown",
    [
        (np.array([[1, 2.5]], F32), "the floats 1.0, 2.5"),
        (np.array([1.5]), "the double 1.5"),
        (np.array([[3, 4]], np.int32), "the ints 3, 4"),
    ],
)
def test_numbers_that_are_used_as_an_address_are_shown_with_their_array(table, shown):
    arguments = table, np.zeros(1, F32)
    found = fault("y[0] = m[0][0];", 1, 1, arguments, ("m", "y"), "float** m, float* y")
    assert (found.cause, found.array, found.index) == (Cause.NUMBERS_AS_ADDRESS, "m", 0)
    assert f"m[0] was read as a pointer and holds {shown}" in found.message


def test_an_array_just_after_an_address_is_named_at_the_start_of_its_memory():
    body = "__shared__ float s[32];\ns[(int)threadIdx.x - n] = 1;\n__syncthreads();\nx[0] = s[0];"
    found = fault(body, 1, 32, (np.zeros(1, F32), np.int32(1)))
    assert (found.array, found.index) == ("s", -1)


def test_an_access_to_a_struct_past_the_end_counts_bytes_and_structs():
    body = "x[threadIdx.x].value = 1;"
    given = np.zeros(68, np.uint8), np.int32(0)
    before = "struct Particle { char kind; float weight; double value; int n; };"
    module = EmulatedModule(
        compile_ptx(
            f'{before}\nextern "C" __global__ void f(Particle* x, int n) {{ {body} }}',
            filename="kernel.cu",
        )
    )
    with pytest.raises(KernelFault) as caught:
        module.entry("f").launch(1, 32, given, names=("x", "n"))
    found = caught.value.finding
    assert (found.array, found.index, found.thread) == ("x", 10, (3, 0, 0))
    for part in ("at byte 80 of x", "68 bytes", "element 3", "room for 2"):
        assert part in found.message


def test_an_array_of_another_type_is_named_with_its_bytes_and_its_own_type():
    given = np.zeros(8, bool), np.int32(0)
    found = fault("x[threadIdx.x + n] = 1;", 1, 8, given, ("mask", "n"), "int* x, int n")
    assert (found.array, found.index) == ("mask", 2)
    assert "mask has 8 bytes, 2 elements of 4 bytes. The array holds bool." in found.message


@pytest.mark.parametrize(
    "body, cause",
    [
        ("x[threadIdx.x] = 1;", Cause.OUTSIDE_ARRAY),
        ("x[blockIdx.x * blockDim.x + threadIdx.x + 1] = 1;", Cause.OUTSIDE_ARRAY),
        ("x[(blockIdx.x + 1) * 9] = 1;", Cause.OUTSIDE_ARRAY_COMPUTED),
        ("__shared__ float s[8];\ns[threadIdx.x] = 1;\nx[0] = s[n];", Cause.OUTSIDE_SHARED_ARRAY),
    ],
)
def test_a_guard_is_advised_only_where_the_index_may_be_the_thread_s_own(body, cause):
    found = fault(body, 2, 16, (np.zeros(8, F32), np.int32(1)), ("x", "n"))
    assert (found.kind, found.cause) == (OUT_OF_BOUNDS, cause)


@pytest.mark.parametrize(
    "type_, cause",
    [("int", Cause.ADDRESS_MISALIGNED), ("float4", Cause.VECTOR_MISALIGNED)],
)
def test_an_access_to_one_element_is_told_from_one_to_several(type_, cause):
    body = f"*({type_}*)((char*)x + 6) = {type_}();"
    found = fault(body, 1, 1, (np.zeros(8, F32), np.int32(1)), ("x", "n"))
    assert (found.kind, found.cause) == (MISALIGNED, cause)


@pytest.mark.parametrize(
    "body, line",
    [
        ("int i = threadIdx.x;\nif (i < 40)\n    x[i + n] = 1;", 3),
        ("for (int i = threadIdx.x;\n     i < 40; i += 32)\n    x[i + n] += 1;", 3),
        ("int i = threadIdx.x;\nif (i >= 40 * n) return;\nif (i & 1)\n    x[i + n] = 1;", 3),
        ("int i = threadIdx.x;\nif (i < n) return;\nif (i & 1)\n    x[i + n] = 1;", None),
        ("x[threadIdx.x + n] = 1;", None),
        ("if (threadIdx.x == 31)\n    x[threadIdx.x + n] = 1;", None),
        ("if (n > 0)\n    x[threadIdx.x + n] = 1;", None),
        ("int i = threadIdx.x;\nif (i > 0)\n    x[i + n] = 1;", None),
        ("int i = threadIdx.x;\nif (i < 40 && x[i] < 3)\n    x[i + n] = 1;", 3),
        ("int i = threadIdx.x;\nif (x[i] < 3)\n    x[i + n] = 1;", None),
        ("for (int j = 0; j < 4 * n; ++j)\n    x[threadIdx.x + j] = 1;", None),
        ("for (int j = 0; j < 40 * n; ++j)\n    x[j] = 1;", 2),
    ],
)
def test_a_comparison_that_let_an_access_through_is_known_by_its_line(body, line):
    found = fault(body, 1, 32, (np.zeros(32, F32), np.int32(1)), ("x", "n"))
    assert found.kind == OUT_OF_BOUNDS
    causes = Cause.OUTSIDE_ARRAY, Cause.OUTSIDE_ARRAY_GUARDED
    assert found.cause == causes[line is not None]
    assert (found.condition and found.condition.line) == line


@pytest.mark.parametrize("count, cause", [(9, Cause.COUNTER_PASSED), (7, Cause.VALUES_COME_BACK)])
def test_a_loop_that_waits_for_equality_shows_both_numbers(count, cause):
    body = """for (int round = 0; round < n; ++round) {
if (threadIdx.x == 0) while (atomicAdd(x, 0u) != n * gridDim.x);
__syncthreads(); }
x[1] = 1;"""
    found = fault(
        body,
        4,
        8,
        (np.full(2, count, np.uint32), np.int32(2)),
        parameters="unsigned* x, int n",
        budget=20_000,
    )
    assert (found.kind, found.cause) == (ENDLESS_LOOP, cause)
    assert f"it reads {count} and waits for 8" in found.message


SWAP = "atomicCAS(x, seen, seen + x[1 + threadIdx.x])"


@pytest.mark.parametrize(
    "body, cause",
    [
        (f"unsigned seen = 1; while (true) if ({SWAP} == seen) return;", "EXPECTED_NOT_RENEWED"),
        (f"unsigned seen = 1, b; do b = {SWAP}; while (b != seen);", "EXPECTED_NOT_RENEWED"),
        (f"unsigned seen = x[0]; while ({SWAP} != seen);", "EXPECTED_NOT_RENEWED"),
        ("while (atomicCAS(x, 1, 2) != 1);", "EXPECTED_NOT_RENEWED"),
        (
            "unsigned my = atomicAdd(x + 1, 1u) - 5; while (atomicCAS(x, my, my + 1) != my);",
            "COUNTER_PASSED",
        ),
    ],
)
@pytest.mark.parametrize("start", [1, 7])
def test_a_compare_and_swap_that_expects_one_value_for_ever_waits_for_no_counter(
    body, cause, start
):
    x = np.array([start, *range(5, 37)], np.uint32)
    found = fault(body, 1, 32, (x, np.int32(1)), parameters="unsigned* x, int n", budget=20_000)
    assert (found.kind, found.cause) == (ENDLESS_LOOP, Cause[cause])
    assert ("waits for" in found.message) == (cause == "COUNTER_PASSED")


def test_a_compare_and_swap_that_renews_what_it_expects_waits_for_no_number():
    body = """unsigned seen = 0, before;
while ((before = atomicCAS(x, seen, seen + x[1])) != seen || seen < 1000) seen = before;"""
    x = np.array([7, 0], np.uint32)
    found = fault(body, 1, 32, (x, np.int32(1)), parameters="unsigned* x, int n", budget=20_000)
    assert found.kind == ENDLESS_LOOP
    assert found.cause not in (Cause.COUNTER_PASSED, Cause.EXPECTED_NOT_RENEWED)
    assert "waits for" not in found.message


def test_recursion_without_end_is_an_endless_loop():
    source = """
    __device__ __noinline__ int deeper(int n) { volatile int a[64]; a[n & 63] = n;
                                                return deeper(n + 1) + a[n & 31]; }
    extern "C" __global__ void f(int* x) { x[0] = deeper(0); }
    """
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu"))
    with pytest.raises(KernelFault, match="calls itself without end") as fault:
        module.entry("f").launch(1, 1, (np.zeros(1, np.int32),))
    assert fault.value.finding.cause == Cause.ENDLESS_RECURSION


def test_a_barrier_that_part_of_a_warp_skips():
    found = fault(
        "if (threadIdx.x < 16)\n    __syncthreads();\nx[threadIdx.x] = 1;\n__syncthreads();\n"
        "x[threadIdx.x] += x[63 - threadIdx.x];",
        1,
        64,
        (np.zeros(64, F32), np.int32(0)),
    )
    assert (found.kind, found.cause) == (BARRIER, Cause.BARRIER_NOT_REACHED)
    assert (found.location.line, found.thread) == (3, (0, 0, 0))
    assert (found.other_location.line, found.other_thread) == (5, (16, 0, 0))
    assert found.condition.line == 2
    assert "Lanes 16-31 wait at the __syncthreads() at kernel.cu:5" in found.message


@pytest.mark.parametrize(
    "call, name",
    [
        ("__shfl_down_sync(n, i, 1)", "__shfl_down_sync()"),
        ("__shfl_xor_sync(n, i, 1)", "__shfl_xor_sync()"),
        ("__shfl_sync(n, i, 1)", "__shfl_sync()"),
        ("__ballot_sync(n, i)", "__ballot_sync()"),
        ("__reduce_add_sync(n, i)", "__reduce_add_sync()"),
        ("__match_any_sync(n, i)", "__match_any_sync()"),
    ],
)
def test_a_shuffle_whose_mask_names_lanes_that_wait_elsewhere_names_both(call, name):
    found = fault(
        f"int i = threadIdx.x;\nif (i < 16)\n    i = {call};\n__syncthreads();\nx[0] = i;",
        1,
        32,
        (np.zeros(64, F32), np.uint32(0xFF00FF)),
        parameters="float* x, unsigned n",
    )
    assert (found.kind, found.cause) == (DEADLOCK, Cause.SHUFFLE_NOT_REACHED)
    assert (found.location.line, found.other_location.line) == (4, 5)
    assert (found.thread, found.other_thread) == ((0, 0, 0), (16, 0, 0))
    for part in (name, "lanes 16-23", "0x00ff00ff", "the __syncthreads() at kernel.cu:5"):
        assert part in found.message


def test_threads_that_returned_before_a_barrier_are_missed():
    result = run(
        "if (threadIdx.x >= 50) return;\n__syncthreads();\nx[threadIdx.x] = 1;",
        1,
        64,
        (np.zeros(64, F32), np.int32(0)),
        checks=ALL_CHECKS,
    )
    (found,) = result.findings
    assert (found.kind, found.cause) == (BARRIER, Cause.THREADS_RETURNED)
    assert found.location.line == 3 and "14 of the 64 threads" in found.message
    assert found.condition.line == 2


TILES = """for (int c = 0; c < n; ++c) {
for (int i = threadIdx.x; i < 100; i += 64)
x[i] = c;
__syncthreads();
}"""


def test_a_return_is_told_from_the_loop_that_comes_before_the_barrier():
    given = np.zeros(100, F32), np.int32(2)
    result = run(f"if (threadIdx.x >= 50) return;\n{TILES}", 1, 64, given, checks=ALL_CHECKS)
    (found,) = (f for f in result.findings if f.cause is Cause.THREADS_RETURNED)
    assert (found.location.line, found.condition.line) == (6, 2)
    assert (
        "kernel.cu:2 sends some threads on to it, and others to the kernel's end" in found.message
    )


def test_a_barrier_in_a_branch_is_told_from_the_loop_that_comes_before_it():
    given = np.zeros(100, F32), np.int32(2)
    found = fault(f"if (threadIdx.x < 50) {{\n{TILES}\n}}\n__syncthreads();", 1, 64, given)
    assert (found.cause, found.condition.line) == (Cause.BARRIER_NOT_REACHED, 2)


@pytest.mark.parametrize("value", ["x[threadIdx.x]", "v"])  # the compiler merges a test of ``v``
def test_of_two_returns_that_threads_can_part_at_none_is_blamed_alone(value):
    body = f"""float v = x[threadIdx.x]; if (threadIdx.x >= 50) return;
if ({value} < 0) return;
__syncthreads(); x[threadIdx.x] = v;"""
    result = run(body, 1, 64, (np.zeros(100, F32), np.int32(0)), checks=ALL_CHECKS)
    (found,) = (f for f in result.findings if f.cause is Cause.THREADS_RETURNED)
    assert "One of the conditions at kernel.cu:2 and kernel.cu:3 sends" in found.message


@pytest.mark.parametrize("index, line", [("blockIdx.x", 2), ("threadIdx.x", 4)])
def test_a_return_is_told_from_a_condition_that_is_loaded_for_all(index, line):
    body = f"""if (n > 0) return; if (threadIdx.x >= 50) return;
int last = x[{index}];
for (int k = 0; k < last; ++k)
__syncthreads();
x[threadIdx.x + 64] = 1;"""
    given = np.full(128, 2, np.int32), np.int32(0)
    result = run(body, 1, 64, given, parameters="int* x, int n", checks=ALL_CHECKS)
    (found,) = (f for f in result.findings if f.cause is Cause.THREADS_RETURNED)
    assert (found.location.line, found.condition.line) == (5, line)


def test_the_condition_of_a_barrier_is_the_one_that_threads_find_different():
    found = fault(
        "int last = 0;\nif (threadIdx.x == 0) last = atomicAdd(&x[0], 1);\nif (last > 0) {\n"
        "for (int i = 0; i < n; ++i)\nif (n > 3) __syncthreads();\n}\n__syncthreads();",
        1,
        64,
        (np.ones(64, np.int32), np.int32(4)),
        parameters="int* x, int n",
    )
    assert (found.cause, found.condition.line) == (Cause.BARRIER_NOT_REACHED, 4)


def test_warps_that_wait_at_one_line_are_one_line_of_a_deadlock():
    found = fault(
        "if (threadIdx.x & 1) __syncthreads();\nelse __syncthreads();",
        4,
        256,
        (np.zeros(64, F32), np.int32(0)),
    )
    waiting = [line for line in found.message.splitlines() if "waiting" in line]
    assert len(waiting) == 2 and all("31 more warps: 16 threads each" in line for line in waiting)


def test_a_deadlock_names_every_waiting_warp():
    found = fault(
        'if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;");\n'
        'else asm volatile("bar.sync 2, 64;");\nx[threadIdx.x] = 1;',
        1,
        64,
        (np.zeros(64, F32), np.int32(0)),
    )
    assert found.kind == DEADLOCK
    assert found.message == (
        "Deadlock: every thread waits, and none is left to release them.\n"
        "  warp 0 of block (0, 0, 0): 32 threads waiting at kernel.cu:2, first thread (0, 0, 0) of "
        "block (0, 0, 0)\n"
        "  warp 1 of block (0, 0, 0): 32 threads waiting at kernel.cu:3, first thread (32, 0, 0) "
        "of block (0, 0, 0)"
    )


def test_warps_may_name_their_barrier_in_a_register():
    found = fault(
        'asm volatile("bar.sync %0, 64;" :: "r"(1 + threadIdx.x / 32));\nx[threadIdx.x] = 1;',
        1,
        64,
        (np.zeros(64, F32), np.int32(0)),
    )
    assert found.kind == DEADLOCK


def test_a_failed_assertion_tells_condition_and_thread():
    found = fault(
        "assert(x[threadIdx.x] < 5.0f);\nx[threadIdx.x] = 0;",
        1,
        32,
        (np.arange(32, dtype=F32), np.int32(0)),
    )
    assert found.kind == ASSERTION
    assert found.thread == (5, 0, 0)
    assert found.message.startswith("Assertion failed: x[threadIdx.x] < 5.0f at ")


def test_a_trap_is_reported_with_its_line():
    found = fault(
        "if (threadIdx.x == 7) __trap();\nx[threadIdx.x] = 0;",
        1,
        32,
        (np.zeros(32, F32), np.int32(0)),
    )
    assert (found.kind, found.thread, found.location.line) == (TRAP, (7, 0, 0), 2)


def test_an_unknown_instruction_is_an_error_that_names_it():
    ptx = """
    .version 8.8
    .target sm_90
    .address_size 64
    .visible .entry f() { frobnicate.u32 %r1; ret; }
    """.replace("%r1", "5")
    with pytest.raises(KernelFault) as caught:
        EmulatedModule(ptx).entry("f").launch(1, 32, ())
    assert caught.value.finding.kind == UNKNOWN_INSTRUCTION
    assert "frobnicate.u32" in str(caught.value)


RACE = """__shared__ float s[64];
s[threadIdx.x] = threadIdx.x;
{sync}
x[threadIdx.x] = s[{index}];"""


def test_a_missing_syncthreads_is_a_race_with_both_lines_and_threads():
    body = RACE.format(sync="", index="63 - threadIdx.x")
    x = np.zeros(64, F32)
    result = run(body, 1, 64, (x, np.int32(0)), checks=ALL_CHECKS)
    assert (x == np.arange(64)[::-1]).all()  # right by luck: the machine runs in step
    (found,) = result.findings
    assert found.kind == DATA_RACE
    assert found.message == (
        "Data race (read after write) on s[63] in shared memory, block (0, 0, 0):\n"
        "  thread (63, 0, 0) writes it at kernel.cu:3\n"
        "  thread (0, 0, 0) reads it at kernel.cu:5\n"
        "  with no __syncthreads() in between."
    )


IN_A_BRANCH = """__shared__ float s[64];
if (threadIdx.x < 48) {
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
}
x[threadIdx.x] = s[threadIdx.x % 48 ^ 1];"""
LATER_IN_A_LOOP = """__shared__ float s[64];
for (int i = 0; i < n; ++i) {
    __syncthreads();
    s[threadIdx.x] = i;
}
x[threadIdx.x] = s[63 - threadIdx.x];"""


UNIFORM = """__shared__ float s[64];
s[threadIdx.x] = threadIdx.x;
if (n > 5) __syncthreads();
x[threadIdx.x] = s[63 - threadIdx.x];"""
UNROLLED = """__shared__ float s[64];
float sum = 0;
#pragma unroll
for (int i = 0; i < 3; ++i) {
    s[threadIdx.x] = threadIdx.x + i;
    __syncthreads();
    sum += s[63 - threadIdx.x];
}
x[threadIdx.x] = sum;"""
BRANCHES = {"some": (IN_A_BRANCH, True), "a loop": (LATER_IN_A_LOOP, False)}
BRANCHES |= {"uniform": (UNIFORM, False), "unrolled": (UNROLLED, False)}


@pytest.mark.parametrize("which", BRANCHES)
@pytest.mark.parametrize("schedule", ["lockstep", "warps", "lanes"])
def test_a_barrier_that_some_threads_pass_by_is_told(which, schedule):
    body, told = BRANCHES[which]
    arguments = np.zeros(64, F32), np.int32(2)
    for seed in range(3):
        options = {"checks": ALL_CHECKS, "schedule": schedule, "seed": seed}
        result = run(body, 1, 64, arguments, **options)
        texts = [f.message for f in result.findings if f.kind == DATA_RACE]
        words = "skipped it: the barrier is in a divergent branch"
        assert texts or not told
        assert told or not any(words in text for text in texts)
        assert not told or schedule != "lockstep" or any(words in text for text in texts)


@pytest.mark.parametrize("sync", ["__syncthreads();", "", "__syncwarp();"])
def test_only_a_barrier_for_the_block_orders_two_warps(sync):
    body = RACE.format(sync=sync, index="(threadIdx.x + 32) % 64")
    result = run(body, 1, 64, (np.zeros(64, F32), np.int32(0)), checks=ALL_CHECKS)
    assert len(result.findings) == (0 if sync == "__syncthreads();" else 1)


@pytest.mark.parametrize("sync", ["__syncwarp();", ""])
def test_within_a_warp_syncwarp_is_enough(sync):
    body = RACE.format(sync=sync, index="threadIdx.x ^ 1")
    result = run(body, 1, 64, (np.zeros(64, F32), np.int32(0)), checks=ALL_CHECKS)
    assert [f.kind for f in result.findings] == ([] if sync else [DATA_RACE])


def test_a_thread_does_not_race_with_itself():
    body = RACE.format(sync="", index="threadIdx.x")
    assert not run(body, 1, 64, (np.zeros(64, F32), np.int32(0)), checks=ALL_CHECKS).findings


def test_writing_a_tile_again_while_others_still_read_it():
    body = """__shared__ float s[64];
for (int i = 0; i < n; ++i) {
    s[threadIdx.x] = i;
    __syncthreads();
    x[threadIdx.x] += s[63 - threadIdx.x];
}"""
    (found,) = run(body, 1, 64, (np.zeros(64, F32), np.int32(3)), checks=ALL_CHECKS).findings
    assert "write after read" in found.message
    assert (found.other_location.line, found.location.line) == (6, 4)


def test_two_threads_writing_different_values_to_one_place():
    body = (
        "__shared__ float s[4];\ns[threadIdx.x % 4] = threadIdx.x;\n__syncthreads();\nx[0] = s[0];"
    )
    (found,) = run(body, 1, 64, (np.zeros(1, F32), np.int32(0)), checks=ALL_CHECKS).findings
    assert "write after write" in found.message
    assert found.location.line == found.other_location.line == 3


@pytest.mark.parametrize(
    "index, cause",
    [
        ("4 * threadIdx.x + k", None),
        ("threadIdx.x + k", Cause.SAME_ELEMENT_IN_TURN),
    ],
)
def test_two_threads_that_get_one_place_in_two_rounds_are_asked_about_the_index(index, cause):
    body = f"""__shared__ float s[4096];
for (int k = 0; k < n; ++k)
s[{index}] = 10 * threadIdx.x + k;
__syncthreads(); x[threadIdx.x] = s[threadIdx.x];"""
    found = run(body, 1, 64, (np.zeros(64, F32), np.int32(4)), checks=ALL_CHECKS).findings
    assert {(f.cause, f.location.line, f.other_location.line) for f in found} == (
        {(cause, 4, 4)} if cause else set()
    )
    assert not any("__sync" in f.message for f in found)


def test_the_same_value_written_by_all_is_no_race():
    body = "__shared__ int flag;\nif (n > 0) flag = 1;\n__syncthreads();\nx[threadIdx.x] = flag;"
    assert not run(body, 1, 32, (np.zeros(32, F32), np.int32(1)), checks=ALL_CHECKS).findings


def test_shared_atomics_do_not_race_with_each_other_but_with_plain_reads():
    atomic = "__shared__ int s[2];\nif (threadIdx.x < 2) s[threadIdx.x] = 0;\n__syncthreads();\n"
    atomic += "atomicAdd(&s[threadIdx.x % 2], 1);\n{sync}\nx[threadIdx.x] = s[0];"
    arguments = (1, 64, (np.zeros(64, F32), np.int32(0)))
    assert not run(atomic.format(sync="__syncthreads();"), *arguments, checks=ALL_CHECKS).findings
    assert run(atomic.format(sync=""), *arguments, checks=ALL_CHECKS).findings


def test_blocks_of_one_batch_have_shared_memory_of_their_own():
    body = "__shared__ float s[32];\ns[threadIdx.x] = blockIdx.x;\n__syncthreads();\n"
    body += "x[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];"
    x = np.zeros(40 * 32, F32)
    assert not run(body, 40, 32, (x, np.int32(0)), checks=ALL_CHECKS).findings
    assert (x == np.repeat(np.arange(40), 32)).all()


def test_the_correct_tiled_product_is_free_of_findings():
    body = """__shared__ float a[16][16], b[16][16];
int row = threadIdx.y, col = threadIdx.x; float sum = 0;
for (int t = 0; t < n / 16; ++t) {
    a[row][col] = x[row * n + t * 16 + col]; b[row][col] = x[(t * 16 + row) * n + col];
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += a[row][k] * b[k][col];
    __syncthreads();
}
x[n * n + row * 16 + col] = sum;"""
    x = np.zeros(64 * 64 + 256, F32)
    assert not run(body, 1, (16, 16), (x, np.int32(64)), checks=ALL_CHECKS).findings


@pytest.mark.parametrize("writer", [0, 7, 31])
def test_one_of_many_readers_who_writes_races_with_the_others(writer):
    body = (
        "__shared__ float s[1];\nif (threadIdx.x == 0) s[0] = 1;\n__syncthreads();\n"
        f"x[threadIdx.x] = s[0];\nif (threadIdx.x == {writer}) s[0] = n;"
    )
    (found,) = run(body, 1, 32, (np.zeros(32, F32), np.int32(0)), checks=ALL_CHECKS).findings
    assert "write after read" in found.message
    assert found.thread == (writer, 0, 0) != found.other_thread


def test_reading_one_half_of_a_tile_while_the_other_is_written_is_no_race():
    body = """__shared__ float s[2][64];
int t = threadIdx.x;
s[0][t] = t; __syncthreads();
for (int i = 0; i < n; ++i) {
    s[(i + 1) % 2][t] = i;
    x[t] += s[SEEN][63 - t];
    __syncthreads();
}"""
    arguments = (1, 64, (np.zeros(64, F32), np.int32(4)))
    assert not run(body.replace("SEEN", "i % 2"), *arguments, checks=ALL_CHECKS).findings
    (found,) = run(body.replace("SEEN", "(i + 1) % 2"), *arguments, checks=ALL_CHECKS).findings
    assert "read after write" in found.message


def test_threads_of_two_sizes_of_access_meet_in_one_word():
    body = """__shared__ unsigned s[32];
int t = threadIdx.x;
if (t < 32) s[t] = 0; __syncthreads();
if (t < 32) ((unsigned short*)s)[2 * t + 1] = t; else x[t - 32] = s[t - 32 + n] + 1;"""
    (found,) = run(body, 1, 64, (np.zeros(64, F32), np.int32(0)), checks=ALL_CHECKS).findings
    assert {found.location.line, found.other_location.line} == {5}


@pytest.mark.parametrize("grid, block, axis", [((0, 1, 1), 32, "x"), (1, (32, 1, 0), "z")])
def test_a_launch_of_nothing_is_refused(grid, block, axis):
    kernel = EmulatedModule(
        compile_ptx('extern "C" __global__ void f() {}', filename="f.cu")
    ).entry("f")
    with pytest.raises(ValueError, match=f"along {axis}"):
        kernel.launch(grid, block, ())


@pytest.mark.parametrize(
    "declared, called, cause",
    [
        ("__device__ float a::help(float)", "a::help", Cause.FUNCTION_NOT_DEFINED),
        ("__device__ float help(float)", "help", Cause.FUNCTION_NOT_DEFINED),
        (
            'extern "C" __device__ float cudaLaunchDeviceV2(float)',
            "cudaLaunchDeviceV2",
            Cause.KERNEL_LAUNCHES_KERNEL,
        ),
    ],
)
def test_a_function_that_the_module_lacks_is_named(declared, called, cause):
    declared = declared.replace("a::help", "help")
    space = ("namespace a { ", " }") if "::" in called else ("", "")
    source = f"""{space[0]}{declared};{space[1]}
        extern "C" __global__ void f(float* x) {{ x[0] = {called}(x[0]); }}"""
    kernel = EmulatedModule(compile_ptx(source, filename="k.cu")).entry("f")
    with pytest.raises(KernelFault) as fault:
        kernel.launch(1, 1, (np.zeros(1, np.float32),))
    finding = fault.value.finding
    assert (finding.cause, finding.location.line) == (cause, 2)
    assert called in finding.message or cause == Cause.KERNEL_LAUNCHES_KERNEL


GRID_BARRIER = """
extern "C" __global__ void f(unsigned* count, unsigned n) {
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1);
        while (WAITS < n) {}
    }
    __syncthreads();
}"""


@pytest.mark.parametrize("waits", ["*(volatile unsigned*)count", "atomicAdd(count, 0)"])
def test_a_barrier_of_more_blocks_than_fit_is_told_at_once(monkeypatch, waits):
    source = GRID_BARRIER.replace("WAITS", waits)
    kernel = EmulatedModule(compile_ptx(source, filename="kernel.cu")).entry("f")
    monkeypatch.setattr(type(kernel), "resident_blocks", lambda *_: 4)
    monkeypatch.setattr(emulated_launch, "BATCH_LANES", 64)
    count = np.zeros(1, np.uint32)
    kernel.launch(4, 32, (count, np.uint32(4)))
    with pytest.raises(KernelFault) as fault:
        kernel.launch(9, 32, (count, np.uint32(13)))
    finding = fault.value.finding
    assert (finding.cause, finding.location.line) == (Cause.BLOCKS_NOT_RESIDENT, 6)
    assert "4 of the 9 blocks" in finding.message
    assert count[0] == 8  # and not after the budget of an endless loop
