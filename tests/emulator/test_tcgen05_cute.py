"""CuTe's own atoms for sm_100a, compiled unchanged from the headers of the wheel nvidia-cutlass.

CuTe builds the descriptors, lays tiles out in shared memory and tensor memory, and chooses the
registers of every load: nothing here knows a layout. They take four minutes of processor time,
nearly all of them spent by the compiler, so `make test` leaves them to `make test-gpu`.
"""

from functools import cache

import numpy as np
import pytest
from test_matrix import random
from test_tcgen05_mma import k_major, operand, small
from test_tcgen05_scales import scales_of

from course_utils.compiling.headers import cute_header_paths
from course_utils.compiling.nvrtc import compile_source
from course_utils.emulator import ALL_CHECKS, EmulatedModule, Options

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not cute_header_paths(), reason="needs the extra cute"),
]

SOURCE = r"""
#include <cute/tensor.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/arch/cluster_sm90.hpp>
#include <cute/arch/tmem_allocator_sm100.hpp>
#include <cutlass/arch/barrier.h>
#include <cutlass/detail/sm100_blockscaled_layout.hpp>
using namespace cute;

template <class Load, class TMEM, class GMEM>
__device__ void read_back(Load, TMEM const& from, GMEM& to) {
    TiledCopy load = make_tmem_copy(Load{}, from);
    ThrCopy mine = load.get_slice(threadIdx.x);
    Tensor in_tensor_memory = mine.partition_S(from);
    Tensor in_global = mine.partition_D(to);
    Tensor registers = make_tensor<typename GMEM::value_type>(shape(in_global));
    copy(load, in_tensor_memory, registers);
    cutlass::arch::fence_view_async_tmem_load();
    copy(registers, in_global);
}

// D = A B^T for one tile; A (M, K) and B (N, K), each contiguous along K or along M or N.
template <class Op, class AtomA, class AtomB, class Load, int M, int N, int K, bool AK, bool BK,
          class TA, class TB, class TD>
__device__ void gemm(Op op, const TA* a, const TB* b, TD* d) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ uint32_t where;
    __shared__ alignas(16) uint64_t bar;
    TiledMMA mma = make_tiled_mma(op);
    auto cta = mma.get_slice(0);
    auto shape_a = make_shape(Int<M>{}, Int<K>{});
    auto shape_b = make_shape(Int<N>{}, Int<K>{});
    auto stride_a = make_stride(Int<AK ? K : 1>{}, Int<AK ? 1 : M>{});
    auto stride_b = make_stride(Int<BK ? K : 1>{}, Int<BK ? 1 : N>{});
    Tensor gA = make_tensor(make_gmem_ptr(a), shape_a, stride_a);
    Tensor gB = make_tensor(make_gmem_ptr(b), shape_b, stride_b);
    Tensor gD = make_tensor(make_gmem_ptr(d), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{});
    Tensor tCgA = cta.partition_A(gA);
    Tensor tCgB = cta.partition_B(gB);
    Tensor tCgD = cta.partition_C(gD);
    auto layout_a = UMMA::tile_to_mma_shape(AtomA{}, partition_shape_A(mma, shape_a));
    auto layout_b = UMMA::tile_to_mma_shape(AtomB{}, partition_shape_B(mma, shape_b));
    Tensor sA = make_tensor(make_smem_ptr((TA*)shared), layout_a);
    Tensor sB = make_tensor(make_smem_ptr((TB*)shared + cosize(layout_a)), layout_b);
    Tensor tCrA = cta.make_fragment_A(sA);
    Tensor tCrB = cta.make_fragment_B(sB);
    Tensor tCtD = cta.make_fragment_C(tCgD);
    bool first_warp = threadIdx.x / 32 == 0;
    cute::TMEM::Allocator1Sm allocator{};
    if (first_warp) allocator.allocate(512, &where);
    if (threadIdx.x == 0) cute::initialize_barrier(bar, 1);
    __syncthreads();
    tCtD.data() = where;
    for (int i = threadIdx.x; i < size(sA); i += 128) sA(i) = tCgA(i);
    for (int i = threadIdx.x; i < size(sB); i += 128) sB(i) = tCgB(i);
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    if (first_warp) {
        mma.accumulate_ = UMMA::ScaleOut::Zero;
        for (int k = 0; k < size<2>(tCrA); ++k) {
            cute::gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCtD);
            mma.accumulate_ = UMMA::ScaleOut::One;
        }
        cutlass::arch::umma_arrive(&bar);
    }
    cute::wait_barrier(bar, 0);
    FENCE
    read_back(Load{}, tCtD, tCgD);
    __syncthreads();
    if (first_warp) { allocator.release_allocation_lock(); allocator.free(where, 512); }
}

// The same with block scaling. All four operands come as they lie in shared memory.
template <class Op, class Atom, int M, int N, int K, int VECTOR, class T, class SF>
__device__ void scaled(const uint4* a, const uint4* b, const uint4* sfa, const uint4* sfb,
                       float* d) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ uint32_t where;
    __shared__ alignas(16) uint64_t bar;
    constexpr int A = M * K * sizeof_bits_v<T> / 8, B = N * K * sizeof_bits_v<T> / 8;
    TiledMMA mma = make_tiled_mma(Op{});
    auto cta = mma.get_slice(0);
    using Mma = decltype(mma);
    using Config = cutlass::detail::Sm1xxBlockScaledConfig<VECTOR>;
    auto tile = Shape<Int<M>, Int<N>, Int<K>>{};
    auto layout_sfa = Config::deduce_smem_layoutSFA(mma, tile);
    auto layout_sfb = Config::deduce_smem_layoutSFB(mma, tile);
    constexpr int SA = cosize(filter_zeros(layout_sfa)), SB = cosize(filter_zeros(layout_sfb));
    auto shape_a = partition_shape_A(mma, make_shape(Int<M>{}, Int<K>{}));
    auto shape_b = partition_shape_B(mma, make_shape(Int<N>{}, Int<K>{}));
    Tensor sA = make_tensor(make_smem_ptr<T>(shared), UMMA::tile_to_mma_shape(Atom{}, shape_a));
    Tensor sB = make_tensor(make_smem_ptr<T>(shared + A), UMMA::tile_to_mma_shape(Atom{}, shape_b));
    Tensor sSFA = make_tensor(make_smem_ptr((SF*)(shared + A + B)), layout_sfa);
    Tensor sSFB = make_tensor(make_smem_ptr((SF*)(shared + A + B + SA)), layout_sfb);
    Tensor gD = make_tensor(make_gmem_ptr(d), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{});
    Tensor tCgD = cta.partition_C(gD);
    Tensor tCrA = cta.make_fragment_A(sA);
    Tensor tCrB = cta.make_fragment_B(sB);
    Tensor tCtD = cta.make_fragment_C(tCgD);
    Tensor tSFA = make_tensor<typename Mma::FrgTypeSFA>(shape(layout_sfa));
    Tensor tSFB = make_tensor<typename Mma::FrgTypeSFB>(shape(layout_sfb));
    bool first_warp = threadIdx.x / 32 == 0;
    cute::TMEM::Allocator1Sm allocator{};
    if (first_warp) allocator.allocate(512, &where);
    if (threadIdx.x == 0) cute::initialize_barrier(bar, 1);
    __syncthreads();
    tCtD.data() = where;
    tSFA.data() = where + 256;
    tSFB.data() = where + 320;
    auto fill = [&](unsigned char* to, const uint4* from, int bytes) {
        for (int i = threadIdx.x; i < bytes / 16; i += 128) ((uint4*)to)[i] = from[i];
    };
    fill(shared, a, A);
    fill(shared + A, b, B);
    fill(shared + A + B, sfa, SA);
    fill(shared + A + B + SA, sfb, SB);
    cutlass::arch::fence_view_async_shared();
    __syncthreads();
    if (first_warp) {
        using Copy = SM100_UTCCP_4x32dp128bit_1cta;
        auto copy_scales = [&](auto& in_shared, auto& in_tensor_memory) {
            auto from = make_tensor(in_shared.data(), filter_zeros(in_shared.layout()));
            auto to = make_tensor(in_tensor_memory.data(), filter_zeros(in_tensor_memory.layout()));
            auto tiled = make_utccp_copy(Copy{}, to);
            auto mine = tiled.get_slice(0);
            auto parts = get_utccp_smem_desc_tensor<Copy>(mine.partition_S(from));
            if (cute::elect_one_sync()) copy(tiled, parts, mine.partition_D(to));
        };
        copy_scales(sSFA, tSFA);
        copy_scales(sSFB, tSFB);
        mma.accumulate_ = UMMA::ScaleOut::Zero;
        for (int k = 0; k < size<2>(tCrA); ++k) {
            cute::gemm(mma.with(mma.accumulate_, tSFA(_, _, k), tSFB(_, _, k)), tCrA(_, _, k),
                       tCrB(_, _, k), tCtD);
            mma.accumulate_ = UMMA::ScaleOut::One;
        }
        cutlass::arch::umma_arrive(&bar);
    }
    cute::wait_barrier(bar, 0);
    FENCE
    read_back(SM100_TMEM_LOAD_32dp32b4x{}, tCtD, tCgD);
    __syncthreads();
    if (first_warp) { allocator.release_allocation_lock(); allocator.free(where, 512); }
}

// Block scaling by a pair: operands are given for each block as they lie in its shared memory.
template <class Op, class Atom, int M, int N, int K, int VECTOR, class T, class SF>
__device__ void scaled_pair(const uint4* a, const uint4* b, const uint4* sfa, const uint4* sfb,
                       float* d) {
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ uint32_t where;
    __shared__ alignas(16) uint64_t bar;
    constexpr int A = M / 2 * K * sizeof_bits_v<T> / 8, B = N / 2 * K * sizeof_bits_v<T> / 8;
    TiledMMA mma = make_tiled_mma(Op{});
    int me = cute::block_rank_in_cluster();
    auto cta = mma.get_slice(me);
    using Mma = decltype(mma);
    using Config = cutlass::detail::Sm1xxBlockScaledConfig<VECTOR>;
    auto tile = Shape<Int<M>, Int<N>, Int<K>>{};
    auto layout_sfa = Config::deduce_smem_layoutSFA(mma, tile);
    auto layout_sfb = Config::deduce_smem_layoutSFB(mma, tile);
    constexpr int SA = cosize(filter_zeros(layout_sfa)), SB = cosize(filter_zeros(layout_sfb));
    auto shape_a = partition_shape_A(mma, make_shape(Int<M>{}, Int<K>{}));
    auto shape_b = partition_shape_B(mma, make_shape(Int<N>{}, Int<K>{}));
    Tensor sA = make_tensor(make_smem_ptr<T>(shared), UMMA::tile_to_mma_shape(Atom{}, shape_a));
    Tensor sB = make_tensor(make_smem_ptr<T>(shared + A), UMMA::tile_to_mma_shape(Atom{}, shape_b));
    Tensor sSFA = make_tensor(make_smem_ptr((SF*)(shared + A + B)), layout_sfa);
    Tensor sSFB = make_tensor(make_smem_ptr((SF*)(shared + A + B + SA)), layout_sfb);
    Tensor gD = make_tensor(make_gmem_ptr(d), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{});
    Tensor tCgD = cta.partition_C(gD);
    Tensor tCrA = cta.make_fragment_A(sA);
    Tensor tCrB = cta.make_fragment_B(sB);
    Tensor tCtD = cta.make_fragment_C(tCgD);
    Tensor tSFA = make_tensor<typename Mma::FrgTypeSFA>(shape(layout_sfa));
    Tensor tSFB = make_tensor<typename Mma::FrgTypeSFB>(shape(layout_sfb));
    bool first_warp = threadIdx.x / 32 == 0;
    cute::TMEM::Allocator2Sm allocator{};
    cute::cluster_sync();
    if (first_warp) allocator.allocate(512, &where);
    if (threadIdx.x == 0) cute::initialize_barrier(bar, 1);
    __syncthreads();
    tCtD.data() = where;
    tSFA.data() = where + 256;
    tSFB.data() = where + 320;
    auto fill = [&](unsigned char* to, const uint4* from, int bytes) {
        for (int i = threadIdx.x; i < bytes / 16; i += 128) ((uint4*)to)[i] = from[i];
    };
    fill(shared, a + me * (A / 16), A);
    fill(shared + A, b + me * (B / 16), B);
    fill(shared + A + B, sfa + me * (SA / 16), SA);
    fill(shared + A + B + SA, sfb, SB);
    cutlass::arch::fence_view_async_shared();
    cute::cluster_sync();
    if (first_warp && me == 0) {
        using Copy = SM100_UTCCP_4x32dp128bit_2cta;
        auto copy_scales = [&](auto& in_shared, auto& in_tensor_memory) {
            auto from = make_tensor(in_shared.data(), filter_zeros(in_shared.layout()));
            auto to = make_tensor(in_tensor_memory.data(), filter_zeros(in_tensor_memory.layout()));
            auto tiled = make_utccp_copy(Copy{}, to);
            auto mine = tiled.get_slice(0);
            auto parts = get_utccp_smem_desc_tensor<Copy>(mine.partition_S(from));
            if (cute::elect_one_sync()) copy(tiled, parts, mine.partition_D(to));
        };
        copy_scales(sSFA, tSFA);
        copy_scales(sSFB, tSFB);
        mma.accumulate_ = UMMA::ScaleOut::Zero;
        for (int k = 0; k < size<2>(tCrA); ++k) {
            cute::gemm(mma.with(mma.accumulate_, tSFA(_, _, k), tSFB(_, _, k)), tCrA(_, _, k),
                       tCrB(_, _, k), tCtD);
            mma.accumulate_ = UMMA::ScaleOut::One;
        }
        cutlass::arch::umma_arrive_multicast_2x1SM(&bar, 3);
    }
    cute::wait_barrier(bar, 0);
    FENCE
    read_back(SM100_TMEM_LOAD_32dp32b4x{}, tCtD, tCgD);
    cute::cluster_sync();
    if (first_warp) { allocator.release_allocation_lock(); allocator.free(where, 512); }
}

// A pair of blocks: each has its half of A and of B, the even one issues.
template <int M, int N, int K>
__device__ void pair(const half_t* a, const half_t* b, float* d) {
    using T = half_t;
    using Op = SM100_MMA_F16BF16_2x1SM_SS<T, T, float, M, N, UMMA::Major::K, UMMA::Major::K>;
    using Atom = UMMA::Layout_K_SW128_Atom<T>;
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ uint32_t where;
    __shared__ alignas(16) uint64_t bar;
    TiledMMA mma = make_tiled_mma(Op{});
    int me = cute::block_rank_in_cluster();
    auto cta = mma.get_slice(me);
    auto shape_a = Shape<Int<M>, Int<K>>{};
    auto shape_b = Shape<Int<N>, Int<K>>{};
    Tensor tCgA = cta.partition_A(make_tensor(make_gmem_ptr(a), shape_a, Stride<Int<K>, _1>{}));
    Tensor tCgB = cta.partition_B(make_tensor(make_gmem_ptr(b), shape_b, Stride<Int<K>, _1>{}));
    Tensor gD = make_tensor(make_gmem_ptr(d), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{});
    Tensor tCgD = cta.partition_C(gD);
    auto layout_a = UMMA::tile_to_mma_shape(Atom{}, partition_shape_A(mma, shape_a));
    auto layout_b = UMMA::tile_to_mma_shape(Atom{}, partition_shape_B(mma, shape_b));
    Tensor sA = make_tensor(make_smem_ptr((T*)shared), layout_a);
    Tensor sB = make_tensor(make_smem_ptr((T*)shared + cosize(layout_a)), layout_b);
    Tensor tCrA = cta.make_fragment_A(sA);
    Tensor tCrB = cta.make_fragment_B(sB);
    Tensor tCtD = cta.make_fragment_C(tCgD);
    bool first_warp = threadIdx.x / 32 == 0;
    cute::TMEM::Allocator2Sm allocator{};
    cute::cluster_sync();
    if (first_warp) allocator.allocate(512, &where);
    if (threadIdx.x == 0) cute::initialize_barrier(bar, 1);
    __syncthreads();
    tCtD.data() = where;
    for (int i = threadIdx.x; i < size(sA); i += 128) sA(i) = tCgA(i);
    for (int i = threadIdx.x; i < size(sB); i += 128) sB(i) = tCgB(i);
    cutlass::arch::fence_view_async_shared();
    cute::cluster_sync();
    if (first_warp && me == 0) {
        mma.accumulate_ = UMMA::ScaleOut::Zero;
        for (int k = 0; k < size<2>(tCrA); ++k) {
            cute::gemm(mma, tCrA(_, _, k), tCrB(_, _, k), tCtD);
            mma.accumulate_ = UMMA::ScaleOut::One;
        }
        cutlass::arch::umma_arrive_multicast_2x1SM(&bar, 3);
    }
    cute::wait_barrier(bar, 0);
    FENCE
    read_back(SM100_TMEM_LOAD_32dp32b8x{}, tCtD, tCgD);
    cute::cluster_sync();
    if (first_warp) { allocator.release_allocation_lock(); allocator.free(where, 512); }
}
"""

HALVES = "const half_t* a, const half_t* b, float* d"
SCALED = "const uint4* a, const uint4* b, const uint4* sfa, const uint4* sfb, float* d"
OTHERS = {  # name: (parameters, body)
    "pair_256": (
        HALVES,
        """
    pair<256, 128, 64>(a, b, d);""",
    ),
    "pair_128": (
        HALVES,
        """
    pair<128, 128, 64>(a, b, d);""",
    ),
    "mxf8": (
        SCALED,
        """
    using T = float_e4m3_t; using SF = float_ue8m0_t;
    using Op = SM100_MMA_MXF8F6F4_SS<T, T, float, SF, 128, 128, UMMA::Major::K, UMMA::Major::K>;
    scaled<Op, UMMA::Layout_K_SW128_Atom<T>, 128, 128, 128, 32, T, SF>(a, b, sfa, sfb, d);""",
    ),
    "mxf8_pair": (
        SCALED,
        """
    using T = float_e4m3_t; using SF = float_ue8m0_t; constexpr auto X = UMMA::Major::K;
    using Op = SM100_MMA_MXF8F6F4_2x1SM_SS<T, T, float, SF, 256, 128, X, X>;
    scaled_pair<Op, UMMA::Layout_K_SW128_Atom<T>, 256, 128, 128, 32, T, SF>(a, b, sfa, sfb, d);""",
    ),
    "nvf4": (
        SCALED,
        """
    using T = float_e2m1_t; using SF = float_ue4m3_t;
    using Op = SM100_MMA_MXF4_SS<T, T, float, SF, 128, 128, 16, UMMA::Major::K, UMMA::Major::K>;
    scaled<Op, UMMA::Layout_K_SW128_Atom<T>, 128, 128, 256, 16, T, SF>(a, b, sfa, sfb, d);""",
    ),
}

# name: (atom, layouts of A and B in shared memory, load, M, N, K, types of A, B and D)
F16 = "SM100_MMA_F16BF16_SS<{a}, {b}, {d}, {m}, {n}, UMMA::Major::{x}, UMMA::Major::{y}>{{}}"
TF32 = "SM100_MMA_TF32_SS<{a}, {b}, {d}, {m}, {n}, UMMA::Major::{x}, UMMA::Major::{y}>{{}}"
INT8 = "SM100_MMA_S8_SS<{a}, {b}, {d}, {m}, {n}, UMMA::Major::{x}, UMMA::Major::{y}>{{}}"
FP8 = """MMA_Traits<SM100_MMA_F8F6F4_SS, {a}, {b}, {d}, C<{m}>, C<{n}>,
    integral_constant<UMMA::Major, UMMA::Major::{x}>,
    integral_constant<UMMA::Major, UMMA::Major::{y}>,
    integral_constant<UMMA::ScaleIn, UMMA::ScaleIn::One>,
    integral_constant<UMMA::ScaleIn, UMMA::ScaleIn::One>>{{}}"""
CASES = {
    "bf16_sw128": (F16, "K_SW128", "K_SW128", "32dp32b8x", 128, 256, 64, "bf16", "f32"),
    "f16_rows64": (F16, "K_SW64", "K_INTER", "16dp256b4x", 64, 64, 32, "f16", "f32"),
    "f16_mn": (F16, "MN_SW128", "MN_SW64", "16dp128b4x", 128, 128, 32, "f16", "f32"),
    "bf16_mn_small": (F16, "MN_SW32", "MN_INTER", "16dp64b8x", 128, 64, 32, "bf16", "f32"),
    "tf32_mn": (TF32, "MN_SW128_32B", "MN_SW128_32B", "32dp32b4x", 128, 64, 16, "tf32", "f32"),
    "tf32_k": (TF32, "K_SW32", "K_SW128", "32dp32b4x", 64, 32, 32, "tf32", "f32"),
    "s8_k_mn": (INT8, "K_SW128", "MN_SW128", "32dp32b4x", 128, 128, 128, "s8", "s32"),
    "e4m3_mn_k": (FP8, "MN_SW128", "K_SW64", "32dp32b16x", 128, 64, 64, "e4m3", "f32"),
}
TYPES = {
    "bf16": "bfloat16_t",
    "f16": "half_t",
    "tf32": "tfloat32_t",
    "s8": "int8_t",
    "e4m3": "float_e4m3_t",
    "f32": "float",
    "s32": "int32_t",
}


def kernel(name):
    if name in OTHERS:
        parameters, body = OTHERS[name]
        return f'extern "C" __global__ void {name}({parameters}) {{{body}\n}}'
    op, a_layout, b_layout, load, m, n, k, kind, d = CASES[name]
    a, d = TYPES[kind], TYPES[d]
    x, y = (layout.partition("_")[0] for layout in (a_layout, b_layout))
    op = op.format(a=a, b=a, d=d, m=m, n=n, x=x, y=y)
    atoms = (f"UMMA::Layout_{layout}_Atom<{a}>" for layout in (a_layout, b_layout))
    load = load if m == 128 or load.startswith("16dp") else load.replace("32dp32b", "16dp32b")
    return f"""
extern "C" __global__ void {name}(const {a}* a, const {a}* b, {d}* d) {{
    gemm<decltype({op}), {", ".join(atoms)}, SM100_TMEM_LOAD_{load}, {m}, {n}, {k},
         {str(x == "K").lower()}, {str(y == "K").lower()}>({op}, a, b, d);
}}"""


@cache
def module_of(name):
    """A module for each kernel: all thirteen in one take the compiler past its 8 GB.

    CUTLASS itself never fences after its waits, as the manual's patterns have it; these do.
    """
    fence = 'asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");'
    code = SOURCE.replace("FENCE", fence) + kernel(name)
    options = ("-DCUTLASS_ARCH_MMA_SM100A_ENABLED",)
    return EmulatedModule(
        compile_source(code, filename="cute.cu", arch="compute_100a", options=options).code
    )


def check(name, arguments, out, expected, shared, blocks=1):
    entry = module_of(name).entry(name)
    options = Options(checks=ALL_CHECKS, cluster=(blocks, 1, 1))
    result = entry.launch(blocks, 128, (*arguments, out), shared, options=options)
    assert np.abs(out - expected).max() <= 1e-5 * np.abs(expected).max()
    assert [f.message for f in result.findings] == []


@pytest.mark.parametrize("name", CASES)
def test_cutes_atoms_multiply_right(name):
    _, a_layout, b_layout, _, m, n, k, kind, d_kind = CASES[name]
    a, left = random((m, k), kind, 1)
    b, right = random((n, k), kind, 2)
    data = [
        np.ascontiguousarray(raw if layout[0] == "K" else raw.T)
        for raw, layout in ((a, a_layout), (b, b_layout))
    ]
    out = np.zeros((m, n), np.int32 if d_kind == "s32" else np.float32)
    check(name, data, out, left @ right.T, a.nbytes + b.nbytes)


@pytest.mark.parametrize("m", [256, 128])
def test_cutes_atoms_for_a_pair_of_blocks_multiply_right(m):
    a, left = random((m, 64), "f16", 1)
    b, right = random((128, 64), "f16", 2)
    out = np.zeros((m, 128), np.float32)
    shared = (a.nbytes + b.nbytes) // 2
    check(f"pair_{m}", (a, b), out, left @ right.T, shared, blocks=2)


def test_cutes_atom_for_a_pair_scales_with_all_scales_of_b_in_both_blocks():
    tiles, factors, values = [], [], []
    for rows, seed in ((256, 1), (128, 2)):
        data, numbers = operand(rows, 128, "e4m3", seed)
        codes, scales = scales_of((rows, 4), "ue8m0", seed + 2)
        image = np.zeros(codes.size, np.uint8)
        row, block = np.mgrid[:rows, :4]
        image[row // 128 * 512 + row % 32 * 16 + row % 128 // 32 * 4 + block] = codes
        halves = np.split(data, 2)
        tiles.append(np.concatenate([k_major(half, 128)[0] for half in halves]))
        factors.append(image)
        values.append(numbers * scales.repeat(32, axis=1))
    out = np.zeros((256, 128), np.float32)
    shared = sum(x.size for x in tiles) // 2 + 2 * 512
    check("mxf8_pair", (*tiles, *factors), out, values[0] @ values[1].T, shared, blocks=2)


@pytest.mark.parametrize(
    "name, kind, k, vector, scale",
    [("mxf8", "e4m3", 128, 32, "ue8m0"), ("nvf4", "e2m1", 256, 16, "ue4m3")],
)
def test_cutes_atoms_scale_blocks_copied_from_shared_memory(name, kind, k, vector, scale):
    tiles, factors, values = [], [], []
    for seed in (1, 2):
        data, numbers = operand(128, k, "e4m3", seed)
        if kind == "e2m1":
            codes, numbers = small((128, k), "e2m1", seed)
            data = codes[:, ::2] | codes[:, 1::2] << 4
        codes, scales = scales_of((128, k // vector), scale, seed + 2)
        image = np.zeros(codes.size, np.uint8)  # 32 x 4 rows to an atom of 512 bytes
        row, along = np.mgrid[:128, : k // vector]
        image[row % 32 * 16 + row // 32 * 4 + along % 4 + along // 4 * 512] = codes
        tiles.append(k_major(data, 128)[0])
        factors.append(image)
        values.append(numbers * scales.repeat(vector, axis=1))
    out = np.zeros((128, 128), np.float32)
    expected = values[0] @ values[1].T
    shared = sum(x.size for x in (*tiles, *factors))
    check(name, (*tiles, *factors), out, expected, shared)
