"""Whole kernels in CUDA C++, compiled by NVRTC and run by the machine, against NumPy."""

import math

import numpy as np
import pytest

from course_utils.compiling.nvrtc import compile_ptx
from course_utils.emulator import ALL_CHECKS, EmulatedModule, Options, TraceOptions
from course_utils.emulator.launching import emulated_launch
from course_utils.emulator.machine import runtime_functions


def launch(source, name, grid, block, args, shared=0, **options):
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu"))
    return module.entry(name).launch(grid, block, args, shared, options=Options(**options))


def test_a_value_returned_by_a_recursive_function_reaches_each_thread():
    source = """
    __device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
    extern "C" __global__ void run(int* out) { out[threadIdx.x] = factorial(threadIdx.x % 10); }
    """
    out = np.zeros(64, np.int32)
    launch(source, "run", 1, 64, (out,))
    assert out.tolist() == [math.factorial(i % 10) for i in range(64)]


def test_function_pointers_send_each_thread_to_its_own_function():
    source = """
    __device__ __noinline__ int twice(int x) { return 2 * x; }
    __device__ __noinline__ int square(int x) { return x * x; }
    typedef int (*function)(int);
    __device__ function table[2] = {twice, square};
    extern "C" __global__ void run(int* out) {
        out[threadIdx.x] = table[threadIdx.x % 2](threadIdx.x);
    }
    """
    out = np.zeros(40, np.int32)
    launch(source, "run", 1, 40, (out,))
    assert out.tolist() == [i * i if i % 2 else 2 * i for i in range(40)]


def test_virtual_functions_are_found_through_the_object():
    source = """
    struct Shape { __device__ virtual float area() const = 0; };
    struct Square : Shape { float a; __device__ Square(float a) : a(a) {}
                            __device__ float area() const override { return a * a; } };
    struct Disc : Shape { float r; __device__ Disc(float r) : r(r) {}
                          __device__ float area() const override { return 3.0f * r * r; } };
    extern "C" __global__ void run(float* out) {
        Square square(threadIdx.x); Disc disc(threadIdx.x);
        const Shape* shapes[2] = {&square, &disc};
        out[threadIdx.x] = shapes[threadIdx.x % 2]->area();
    }
    """
    out = np.zeros(32, np.float32)
    launch(source, "run", 1, 32, (out,))
    assert out.tolist() == [(3.0 if i % 2 else 1.0) * i * i for i in range(32)]


def test_a_switch_and_a_local_array_indexed_at_run_time():
    source = """
    extern "C" __global__ void run(const int* in, int* out, int n) {
        int seen[8];
        for (int i = 0; i < 8; ++i) seen[i] = 10 * i;
        int t = threadIdx.x, value = in[t];
        switch (value) {
            case 0: value = 100; break;
            case 1: value = 201; break;
            case 2: value = 302; break;
            case 3: value = 403; break;
            case 4: value = 504; break;
            case 7: value = 807; break;
            default: value = -1;
        }
        seen[in[t] & 7] += value;
        int sum = 0;
        for (int i = 0; i < n; ++i) sum += seen[(i + t) & 7];
        out[t] = sum;
    }
    """
    values = np.arange(64, dtype=np.int32) % 9
    out = np.zeros(64, np.int32)
    launch(source, "run", 1, 64, (values, out, np.int32(8)))
    cases = {0: 100, 1: 201, 2: 302, 3: 403, 4: 504, 7: 807}
    assert out.tolist() == [280 + cases.get(v, -1) for v in values.tolist()]


def test_structs_are_passed_by_value():
    source = """
    struct Affine { float scale; double offset; short add[3]; };
    extern "C" __global__ void run(Affine f, float* out) {
        int t = threadIdx.x;
        out[t] = f.scale * t + (float)f.offset + f.add[t % 3];
    }
    """
    kind = np.dtype([("scale", "f4"), ("offset", "f8"), ("add", "i2", 3)], align=True)
    value = np.array((2.5, 100.0, [1, -2, 3]), kind)
    out = np.zeros(33, np.float32)
    launch(source, "run", 1, 33, (value.tobytes(), out))
    assert out.tolist() == [2.5 * i + 100 + (1, -2, 3)[i % 3] for i in range(33)]


def test_constant_and_device_variables_are_shared_with_the_host():
    source = """
    __constant__ float weights[4] = {1, 2, 3, 4};
    __device__ int visits = 5;
    extern "C" __global__ void run(float* out) {
        out[threadIdx.x] = weights[threadIdx.x & 3];
        atomicAdd(&visits, 1);
    }
    """
    module = EmulatedModule(compile_ptx(source, filename="kernel.cu"))
    out = np.zeros(32, np.float32)
    module.global_array("weights").view(np.float32)[3] = 40
    module.entry("run").launch(1, 32, (out,))
    assert out.tolist() == [1, 2, 3, 40] * 8
    assert module.global_array("visits").view(np.int32)[0] == 37


def test_dynamic_shared_memory_reverses_a_block():
    source = """
    extern __shared__ float tile[];
    extern "C" __global__ void run(float* x) {
        tile[threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x];
        __syncthreads();
        x[blockIdx.x * blockDim.x + threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
    }
    """
    x = np.arange(5 * 96, dtype=np.float32)
    expected = x.reshape(5, 96)[:, ::-1].reshape(-1).copy()
    launch(source, "run", 5, 96, (x,), shared=96 * 4)
    assert (x == expected).all()


def test_vector_loads_and_stores_move_sixteen_bytes():
    source = """
    extern "C" __global__ void run(const float4* in, float4* out) {
        float4 v = in[threadIdx.x];
        out[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
    }
    """
    x = np.arange(256, dtype=np.float32)
    out = np.zeros_like(x)
    launch(source, "run", 1, 64, (x, out))
    assert (out.reshape(64, 4) == x.reshape(64, 4)[:, ::-1]).all()


@pytest.mark.parametrize("threads", [32, 48, 256])
def test_warp_shuffles_reduce_a_warp_also_when_it_is_not_full(threads):
    source = """
    extern "C" __global__ void run(const int* in, int* out) {
        int value = in[threadIdx.x];
        unsigned mask = __activemask();
        for (int step = 16; step > 0; step /= 2) {
            int other = __shfl_down_sync(mask, value, step);
            if ((threadIdx.x & 31) + step < min(32, blockDim.x - (threadIdx.x & ~31)))
                value += other;
        }
        out[threadIdx.x] = __shfl_sync(mask, value, 0);
    }
    """
    x = np.arange(1, threads + 1, dtype=np.int32)
    out = np.zeros_like(x)
    launch(source, "run", 1, threads, (x, out))
    for start in range(0, threads, 32):
        assert (out[start : start + 32] == x[start : start + 32].sum()).all()


def test_shuffles_within_parts_of_a_warp_keep_to_their_part():
    source = """
    extern "C" __global__ void run(int* up, int* down, int* lanes, int* crossed) {
        int t = threadIdx.x;
        up[t] = __shfl_up_sync(~0u, t, 3, 8);
        down[t] = __shfl_down_sync(~0u, t, 3, 8);
        lanes[t] = __shfl_sync(~0u, t, 5, 8);
        crossed[t] = __shfl_xor_sync(~0u, t, 9, 16);
    }
    """
    up, down, lanes, crossed = (np.zeros(32, np.int32) for _ in range(4))
    launch(source, "run", 1, 32, (up, down, lanes, crossed))
    t = np.arange(32)
    assert (up == np.where(t % 8 >= 3, t - 3, t)).all()
    assert (down == np.where(t % 8 < 5, t + 3, t)).all()
    assert (lanes == t // 8 * 8 + 5).all()
    assert (crossed == (t ^ 9)).all()


def test_votes_matches_and_reductions_over_a_warp():
    source = """
    extern "C" __global__ void run(const int* in, unsigned* out) {
        int t = threadIdx.x, v = in[t];
        out[0 * 32 + t] = __ballot_sync(~0u, v & 1);
        out[1 * 32 + t] = __all_sync(~0u, v >= 0) + 2 * __any_sync(~0u, v == 5);
        out[2 * 32 + t] = __match_any_sync(~0u, v);
        out[3 * 32 + t] = __reduce_add_sync(~0u, v);
        out[4 * 32 + t] = __reduce_max_sync(~0u, v);
        out[5 * 32 + t] = __reduce_xor_sync(~0u, (unsigned)v);
    }
    """
    v = (np.arange(32) * 7 % 11).astype(np.int32)
    out = np.zeros((6, 32), np.uint32)
    launch(source, "run", 1, 32, (v, out))
    bits = 1 << np.arange(32, dtype=np.uint64)
    assert (out[0] == (bits * (v & 1)).sum()).all()
    assert (out[1] == 3).all()
    assert out[2].tolist() == [int((bits * (v == x)).sum()) for x in v]
    assert (out[3] == v.sum()).all()
    assert (out[4] == v.max()).all()
    assert (out[5] == np.bitwise_xor.reduce(v)).all()


def test_lanes_of_a_split_warp_meet_again_at_a_shuffle():
    source = """
    extern "C" __global__ void run(int* out) {
        int t = threadIdx.x, value = t;
        if (t & 1) { for (int i = 0; i < t; ++i) value += i; } else value = -t;
        __syncwarp();
        out[t] = __shfl_xor_sync(~0u, value, 1);
    }
    """
    out = np.zeros(64, np.int32)
    launch(source, "run", 1, 64, (out,))
    value = [t + t * (t - 1) // 2 if t & 1 else -t for t in range(64)]
    assert out.tolist() == [value[t ^ 1] for t in range(64)]


def test_every_atomic_leaves_what_serial_execution_would():
    source = """
    extern "C" __global__ void run(const int* x, int* i, unsigned* u, float* f, double* d,
                                   unsigned long long* l) {
        int t = blockIdx.x * blockDim.x + threadIdx.x, v = x[t];
        atomicAdd(&i[0], v); atomicMin(&i[1], v); atomicMax(&i[2], v); atomicSub(&i[3], v);
        atomicAnd(&u[0], v | 3); atomicOr(&u[1], v); atomicXor(&u[2], v);
        atomicInc(&u[3], 9); atomicDec(&u[4], 9); atomicExch(&u[5], 77);
        atomicAdd(&f[0], 0.5f); atomicAdd(&d[0], 0.25); atomicAdd(&l[0], (unsigned long long)v);
        atomicMax(&l[1], (unsigned long long)v);
    }
    """
    x = (np.arange(500) * 37 % 501).astype(np.int32)
    i = np.array([0, 10**6, -(10**6), 0], np.int32)
    u = np.array([0xFFFFFFFF, 0, 0, 0, 0, 0], np.uint32)
    f, d, big = np.zeros(1, np.float32), np.zeros(1), np.zeros(2, np.uint64)
    launch(source, "run", 5, 100, (x, i, u, f, d, big))
    assert i.tolist() == [x.sum(), x.min(), x.max(), -x.sum()]
    assert u[0] == np.bitwise_and.reduce(x | 3)
    assert u[1:3].tolist() == [np.bitwise_or.reduce(x), np.bitwise_xor.reduce(x)]
    assert u[3:].tolist() == [500 % 10, 0, 77]
    assert (f[0], d[0], big.tolist()) == (250.0, 125.0, [x.sum(), x.max()])


def test_one_thread_wins_a_compare_and_swap():
    source = """
    extern "C" __global__ void run(int* i) {
        int t = blockIdx.x * blockDim.x + threadIdx.x;
        if (atomicCAS(&i[0], 0, 7 * t + 1) == 0) i[1] = t;
    }
    """
    i = np.array([0, -1], np.int32)
    launch(source, "run", 5, 100, (i,))
    assert 0 <= i[1] < 500 and i[0] == 7 * i[1] + 1


def test_the_old_values_of_atomics_number_the_threads():
    source = """
    extern "C" __global__ void run(int* counter, int* seen) {
        seen[atomicAdd(counter, 1)] += 1;
    }
    """
    counter, seen = np.zeros(1, np.int32), np.zeros(3000, np.int32)
    launch(source, "run", 12, 250, (counter, seen))
    assert counter[0] == 3000
    assert (seen == 1).all()


def test_a_lock_made_of_compare_and_swap_protects_a_sum():
    source = """
    extern "C" __global__ void run(int* lock, int* sum) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                *(volatile int*)sum = *(volatile int*)sum + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
    """
    lock, total = np.zeros(1, np.int32), np.zeros(1, np.int32)
    launch(source, "run", 2, 64, (lock, total))
    assert total[0] == 128


def test_blocks_that_wait_for_later_blocks_get_them(monkeypatch):
    monkeypatch.setattr(emulated_launch, "BATCH_LANES", 8192)
    source = """
    extern "C" __global__ void run(int* arrived, int* out) {
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (atomicAdd(arrived, 0) < gridDim.x) { }
        }
        __syncthreads();
        out[blockIdx.x * blockDim.x + threadIdx.x] = *(volatile int*)arrived;
    }
    """
    arrived, out = np.zeros(1, np.int32), np.zeros(40 * 512, np.int32)
    launch(source, "run", 40, 512, (arrived, out))
    assert (out == 40).all()


@pytest.mark.parametrize("blocks, threads", [(48, 512), (132, 1024)])  # the last fill the GPU
def test_a_whole_grid_synchronises_across_batches(monkeypatch, blocks, threads):
    monkeypatch.setattr(emulated_launch, "BATCH_LANES", 8192 if blocks == 48 else 25 * 1024)
    n = blocks * threads
    source = """
    #include <cooperative_groups.h>
    extern "C" __global__ void run(int* box, int* out) {
        auto grid = cooperative_groups::this_grid();
        int i = grid.thread_rank();
        box[i] = i;
        grid.sync();
        out[i] = box[grid.size() - 1 - i];
    }
    """
    box, out = np.zeros(n, np.int32), np.zeros(n, np.int32)
    launch(source, "run", blocks, threads, (box, out))
    assert (out == np.arange(n)[::-1]).all()


def test_barriers_that_count_and_combine_predicates():
    source = """
    extern "C" __global__ void run(const int* x, int* out) {
        int t = threadIdx.x;
        out[0 * 96 + t] = __syncthreads_count(x[t]);
        out[1 * 96 + t] = __syncthreads_and(x[t] < 2);
        out[2 * 96 + t] = __syncthreads_or(x[t] > 5);
    }
    """
    x = (np.arange(96) % 3 == 0).astype(np.int32)
    out = np.zeros((3, 96), np.int32)
    launch(source, "run", 1, 96, (x, out))
    assert out[:, 0].tolist() == [32, 1, 0]
    assert (out == out[:, :1]).all()


def test_named_barriers_let_two_halves_of_a_block_hand_over_data():
    source = """
    extern "C" __global__ void run(int* out) {
        __shared__ int box[64];
        int t = threadIdx.x;
        if (t < 64) {
            box[t] = t * t;
            asm volatile("bar.arrive 1, 128;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 128;" ::: "memory");
            out[t - 64] = box[t - 64];
        }
    }
    """
    out = np.zeros(64, np.int32)
    result = launch(source, "run", 1, 128, (out,), checks=ALL_CHECKS)
    assert out.tolist() == [t * t for t in range(64)]
    assert result.findings == []


def test_cooperative_groups_sync_reduce_and_tile():
    source = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void run(const int* x, int* out) {
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<16>(block);
        __shared__ int sums[8];
        int sum = cg::reduce(tile, x[block.thread_rank()], cg::plus<int>());
        if (tile.thread_rank() == 0) sums[tile.meta_group_rank()] = sum;
        block.sync();
        out[block.thread_rank()] = sums[block.thread_rank() / 16];
        auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) out[block.thread_rank()] += active.size();
    }
    """
    x = np.arange(128, dtype=np.int32)
    out = np.zeros(128, np.int32)
    launch(source, "run", 1, 128, (x, out))
    expected = x.reshape(8, 16).sum(1).repeat(16)
    expected[::32] += 32
    assert (out == expected).all()


@pytest.mark.parametrize(
    ("header", "scalar", "pair", "convert", "back"),
    [
        ("cuda_fp16.h", "__half", "__half2", "__float2half", "__half2float"),
        ("cuda_bf16.h", "__nv_bfloat16", "__nv_bfloat162", "__float2bfloat16", "__bfloat162float"),
    ],
)
def test_half_precision_headers_compile_and_compute(header, scalar, pair, convert, back):
    source = f"""
    #include <{header}>
    extern "C" __global__ void run(const float* x, float* out, float* pairs) {{
        {scalar} a = {convert}(x[threadIdx.x]), b = {convert}(0.5f);
        out[threadIdx.x] = {back}(__hfma(a, b, {convert}(1.0f)));
        {pair} p; p.x = a; p.y = b;
        {pair} q = __hadd2(p, p);
        pairs[2 * threadIdx.x] = {back}(q.x);
        pairs[2 * threadIdx.x + 1] = {back}(q.y);
    }}
    """
    x = np.arange(32, dtype=np.float32)
    out, pairs = np.zeros(32, np.float32), np.zeros(64, np.float32)
    launch(source, "run", 1, 32, (x, out, pairs))
    assert (out == x * 0.5 + 1).all()
    assert (pairs.reshape(32, 2) == np.stack([2 * x, np.ones(32)], 1)).all()


def test_the_mathematical_functions_are_as_close_as_the_guide_says():
    names = {
        "expf": np.exp,
        "logf": np.log,
        "sinf": np.sin,
        "cosf": np.cos,
        "tanhf": np.tanh,
        "sqrtf": np.sqrt,
        "cbrtf": np.cbrt,
        "log2f": np.log2,
        "exp2f": np.exp2,
        "atanf": np.arctan,
    }
    body = "".join(f"out[{n} * 200 + t] = {name}(v);" for n, name in enumerate(names))
    source = f"""
    extern "C" __global__ void run(const float* x, float* out) {{
        int t = threadIdx.x; float v = x[t]; {body}
    }}
    """
    x = np.linspace(0.01, 8, 200, dtype=np.float32)
    out = np.zeros((len(names), 200), np.float32)
    launch(source, "run", 1, 200, (x, out))
    for row, function in zip(out, names.values(), strict=True):
        expected = function(x.astype(np.float64))
        np.testing.assert_allclose(row, expected, rtol=4e-7, atol=2e-7)


def test_doubles_divide_and_take_roots_exactly_as_ieee_says():
    source = """
    extern "C" __global__ void run(const double* x, double* out) {
        int t = threadIdx.x;
        out[t] = x[t] / 3.0; out[100 + t] = sqrt(x[t]); out[200 + t] = fma(x[t], x[t], -1.0);
        out[300 + t] = 1.0 / x[t];
    }
    """
    x = np.random.default_rng(0).uniform(0.1, 1e6, 100)
    out = np.zeros((4, 100))
    launch(source, "run", 1, 100, (x, out))
    assert (out[0] == x / 3).all()
    assert (out[1] == np.sqrt(x)).all()
    assert (out[3] == 1 / x).all()
    np.testing.assert_allclose(out[2], x * x - 1, rtol=1e-15)


def test_integer_division_and_wide_products():
    source = """
    extern "C" __global__ void run(const int* a, const int* b, long long* out) {
        int t = threadIdx.x;
        out[t] = a[t] / b[t]; out[64 + t] = a[t] % b[t];
        out[128 + t] = (long long)a[t] * b[t];
        out[192 + t] = ((long long)a[t] * 1000003LL) / b[t];
        out[256 + t] = __mulhi(a[t], b[t]);
        out[320 + t] = (unsigned)a[t] / 7u;
    }
    """
    rng = np.random.default_rng(1)
    a = rng.integers(-(2**31), 2**31, 64).astype(np.int32)
    b = rng.integers(1, 2**15, 64).astype(np.int32) * np.where(np.arange(64) % 2, 1, -1)
    b = b.astype(np.int32)
    out = np.zeros((6, 64), np.int64)
    launch(source, "run", 1, 64, (a, b, out))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    quotients = [int(math.copysign(abs(x) // abs(y), x * y)) if x else 0 for x, y in pairs]
    assert out[0].tolist() == quotients
    assert out[1].tolist() == [x - q * y for (x, y), q in zip(pairs, quotients, strict=True)]
    assert out[2].tolist() == [x * y for x, y in pairs]
    products = [x * 1000003 for x, _ in pairs]
    assert out[3].tolist() == [
        abs(p) // abs(y) * (1 if p * y >= 0 else -1)
        for p, (_, y) in zip(products, pairs, strict=True)
    ]
    assert out[4].tolist() == [x * y >> 32 for x, y in pairs]
    assert out[5].tolist() == [x % 2**32 // 7 for x, _ in pairs]


PRINT = """
    extern "C" __global__ void f(float* x) {
        printf("%s\\n", ARGUMENTS);
        printf("line %d\\n", threadIdx.x);
    }"""


def test_printf_takes_32_arguments_and_says_what_its_buffer_lacks(monkeypatch):
    monkeypatch.setattr(runtime_functions, "PRINT_LIMIT", 500)
    source = PRINT.replace("%s", "%d " * 33).replace("ARGUMENTS", ", ".join(map(str, range(33))))
    printed = launch(source, "f", 1, 64, (np.zeros(1, np.float32),)).printed
    first, *_ = printed.splitlines()
    assert first.split() == [*map(str, range(32)), "%d"]
    shown = sum(row.startswith(("0 1", "line")) for row in printed.splitlines())
    assert f"{128 - shown} of 128 calls" in printed


def test_printf_prints_block_by_block_and_knows_cs_formats():
    source = r"""
    extern "C" __global__ void run(long long big) {
        printf("%d/%u %5.2f|%-4s|%c %lld %%\n", -(int)threadIdx.x, blockIdx.x, 1.5, "ab", 'z', big);
    }
    """
    result = launch(source, "run", 2, 2, (np.int64(-(1 << 40)),))
    assert result.printed == "".join(
        f"{-t}/{b}  1.50|ab  |z {-(1 << 40)} %\n" for b in range(2) for t in range(2)
    )


def test_clocks_go_forward():
    source = """
    extern "C" __global__ void run(long long* out) {
        long long start = clock64();
        int x = 0;
        for (int i = 0; i < 100; ++i) asm volatile("add.s32 %0, %0, 1;" : "+r"(x));
        out[threadIdx.x] = clock64() - start + (x == 0);
    }
    """
    out = np.zeros(32, np.int64)
    launch(source, "run", 1, 32, (out,))
    assert (out >= 100).all()


def test_labels_and_registers_of_inline_assembly_stay_in_their_braces():
    source = """
    __device__ int count_up(int n) {
        int result;
        asm volatile("{ .reg .pred P; .reg .b32 i; mov.b32 i, 0;\\n"
                     "AGAIN: add.s32 i, i, 1; setp.lt.s32 P, i, %1; @P bra AGAIN;\\n"
                     "mov.b32 %0, i; }" : "=r"(result) : "r"(n));
        return result;
    }
    extern "C" __global__ void run(int* out) {
        out[threadIdx.x] = count_up(threadIdx.x + 1) + 100 * count_up(3) + count_up(5);
    }
    """
    out = np.zeros(32, np.int32)
    launch(source, "run", 1, 32, (out,))
    assert out.tolist() == [t + 1 + 305 for t in range(32)]


def test_three_dimensional_indices_cover_the_grid_once():
    source = """
    extern "C" __global__ void run(int* out, int nx, int ny, int nz) {
        int x = blockIdx.x * blockDim.x + threadIdx.x;
        int y = blockIdx.y * blockDim.y + threadIdx.y;
        int z = blockIdx.z * blockDim.z + threadIdx.z;
        if (x < nx && y < ny && z < nz) out[(z * ny + y) * nx + x] += 100 * z + 10 * y + x;
    }
    """
    nx, ny, nz = 7, 5, 3
    out = np.zeros((nz, ny, nx), np.int32)
    launch(source, "run", (2, 2, 2), (4, 3, 2), (out, *map(np.int32, (nx, ny, nz))))
    z, y, x = np.indices(out.shape)
    assert (out == 100 * z + 10 * y + x).all()


def test_instructions_are_counted_exactly():
    source = """
    extern "C" __global__ void run(float* x, int n) {
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        if (i < n) x[i] = x[i] * 2.0f;
    }
    """
    x = np.ones(100, np.float32)
    counts = launch(source, "run", 2, 64, (x, np.int32(100))).counts
    assert counts.opcodes["add.ftz.f32"] + counts.opcodes.get("mul.ftz.f32", 0) == 100
    assert counts.opcodes["setp.ge.s32"] == 128
    assert counts.thread_instructions == sum(counts.opcodes.values())


@pytest.mark.parametrize("every_lane", [True, False])
def test_a_base_below_zero_with_an_offset_above_it_is_an_address_like_any_other(every_lane):
    source = """
    extern "C" __global__ void run(int* out) {
        __shared__ int tile[256];
        for (int i = threadIdx.x; i < 256; i += 32) tile[i] = i;
        __syncthreads();
        const long long below = 4 * (EVERY_LANE - 16ll);
        const long long base = (long long)__cvta_generic_to_shared(tile) + below;
        asm volatile("ld.shared.u32 %0, [%1+80];" : "=r"(out[threadIdx.x]) : "l"(base));
    }
    """.replace("EVERY_LANE", "0" if every_lane else "threadIdx.x")
    out = np.zeros(32, np.int32)
    launch(source, "run", 1, 32, (out,), checks=ALL_CHECKS, counters=True, trace=TraceOptions())
    assert out.tolist() == [4 + (0 if every_lane else i) for i in range(32)]


# The compiler unrolls the loop and keeps 32 * (row - lane) in a register, which lies below the
# array, or in the memory of another block, until the constant of each turn is added.
DIAGONALS = """
template <int M> __device__ float at(unsigned a) {
    float v; asm volatile("ld.shared.f32 %0, [%1+%2];" : "=f"(v) : "r"(a), "n"(M * 132)); return v;
}
extern "C" __global__ void CLUSTER run(float* y) {
    __shared__ float t[8][33];
    int x = threadIdx.x;
    for (int i = 0; i < 8; ++i) t[i][x] = i * 100 + x;
    __syncthreads();
    unsigned below = (unsigned)__cvta_generic_to_shared(&t[0][0]) + 4 * (x - 33 * x);
    float sum = 0;
    TURNS
    y[blockIdx.x * 32 + x] = sum;
}"""
TURN = "if ({0} - x >= 0 && {0} - x < 8 && x < 8) sum += {0} * {1};"


@pytest.mark.parametrize("cluster", ["", "__cluster_dims__(2)"])
@pytest.mark.parametrize("load", ["t[{0} - x][x]", "at<{0}>(below)"])
def test_an_address_below_its_array_is_brought_back_by_the_constant(load, cluster):
    turns = "\n".join(TURN.format(m, load.format(m)) for m in range(15))
    source = DIAGONALS.replace("TURNS", turns).replace("CLUSTER", cluster)
    y = np.zeros((2, 32), np.float32)
    result = launch(source, "run", 2, 32, (y,), checks=ALL_CHECKS)
    sums = [sum(m * ((m - x) * 100 + x) for m in range(x, x + 8)) for x in range(8)]
    assert y.tolist() == [sums + [0] * 24] * 2
    assert not result.findings


@pytest.mark.parametrize("cluster", ["", "__cluster_dims__(2)"])
def test_groups_of_several_warps_meet_in_the_reserved_shared_memory(cluster):
    source = """
    #include <cooperative_groups.h>
    #include <cooperative_groups/reduce.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void CLUSTER run(int* sums, int* given) {
        __shared__ cg::block_tile_memory<256> memory;
        auto block = cg::this_thread_block(memory);
        auto tile = cg::tiled_partition<64>(block);
        int i = blockIdx.x * blockDim.x + threadIdx.x;
        sums[i] = cg::reduce(tile, (int)threadIdx.x, cg::plus<int>());
        given[i] = tile.shfl(threadIdx.x, 3);
        tile.sync();
    }""".replace("CLUSTER", cluster)
    sums, given = np.zeros((2, 4, 64), np.int32), np.zeros((2, 4, 64), np.int32)
    result = launch(source, "run", 2, 256, (sums, given), checks=ALL_CHECKS)
    threads = np.arange(256).reshape(1, 4, 64)
    assert (sums == threads.sum(axis=2, keepdims=True)).all()
    assert (given == threads[..., 3:4]).all()
    assert not result.findings


@pytest.mark.parametrize("static", [0, 10, 64, 1024])
@pytest.mark.parametrize("align", [4, 16, 128, 512, 1024])
def test_dynamic_shared_memory_begins_after_static_as_its_array_is_aligned_and_no_better(
    static, align
):
    before = f"__shared__ unsigned tile[{static}]; tile[threadIdx.x] = 1; y[1] = tile[0];"
    source = f"""extern __shared__ __align__({align}) unsigned more[];
    extern "C" __global__ void run(unsigned* y) {{
    {before if static else ""}
    more[threadIdx.x] = 2;
    y[0] = (unsigned)__cvta_generic_to_shared(more);
    }}"""
    y = np.zeros(2, np.uint32)
    launch(source, "run", 1, 1, (y,), shared=40)
    least = max(align, 16)
    assert y[0] % least == 0 and y[1] == (static > 0)
    # A GPU that has nothing before it puts it at the beginning, which suits any alignment.
    by_luck = y[0] % (2 * least) == 0
    assert by_luck == (not static) or align == 1024


def test_what_the_system_keeps_back_of_shared_memory_is_in_registers():
    names = ["begin", "end", "cap", "0", "1"]
    reads = "".join(
        f'asm("mov.u32 %0, %%reserved_smem_offset_{n};" : "=r"(y[{i}]));\n'
        for i, n in enumerate(names)
    )
    source = f"""extern "C" __global__ void run(unsigned* y, unsigned long long* graph) {{
    __shared__ float tile[100]; extern __shared__ float more[];
    tile[threadIdx.x] = 1; more[threadIdx.x] = 2;
    {reads}
    asm("mov.u32 %0, %%aggr_smem_size;" : "=r"(y[5]));
    asm("mov.u64 %0, %%current_graph_exec;" : "=l"(*graph));
    y[6] = tile[threadIdx.x] + more[threadIdx.x];
    }}"""
    y, graph = np.zeros(7, np.uint32), np.ones(1, np.uint64)
    launch(source, "run", 1, 1, (y, graph), shared=40)
    begin, end, cap, first, second, whole, three = y.tolist()
    assert begin <= first < second < end == begin + cap and end - second >= 288
    assert whole == 512 + cap and graph[0] == 0 and three == 3
