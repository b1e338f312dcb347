// C = A B^T for row-major bf16 matrices: A is M x K, B is N x K, C is M x N; sums in fp32. Whole
// tiles only: M a multiple of BM, N of BN and K of BK; the caller sees to it.
// The kernel gemm_bf16_pipeline of chapter 06 in CuTe: each thread's part of a tile, in global memory,
// in shared memory and in registers, comes from a TiledCopy or the TiledMMA and is no index formula.
// Limit: as there, the warps that multiply also issue the copies.
// grid (M / BM * (N / BN)), block (WARPS_M * WARPS_N * 32), dynamic shared STAGES * (BM + BN) * BK * 2

#include <cute/tensor.hpp>

using namespace cute;

#ifndef BM
#define BM 128 // of C: the block's tile
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 64 // elements of a row in shared memory: 128 bytes
#endif
#ifndef WARPS_M
#define WARPS_M 2 // the block's warps, down and across its tile
#endif
#ifndef WARPS_N
#define WARPS_N 2
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef BLOCKS
#define BLOCKS 2 // of a multiprocessor, at the same time
#endif
#ifndef BAND
#define BAND 16 // rows of tiles that are visited together, column by column, for the L2 cache
#endif

constexpr int kThreads = WARPS_M * WARPS_N * 32;
static_assert(BK == 64, "the swizzle is that of rows of 128 bytes");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    gemm_bf16_tiled(const bfloat16_t *A, const bfloat16_t *B, bfloat16_t *C, int M, int N, int K)
{
    int tiles_n = N / BN, tiles_m = M / BM;
    int band = BAND * tiles_n, head = int(blockIdx.x) / band * BAND;
    int height = min(tiles_m - head, BAND);
    int tile_m = head + blockIdx.x % band % height, tile_n = blockIdx.x % band / height;

    // Level 1, the block: its tiles in global memory and its stages in shared memory.
    Tensor all_a = make_tensor(make_gmem_ptr(A), make_shape(M, K), make_stride(K, _1{}));
    Tensor all_b = make_tensor(make_gmem_ptr(B), make_shape(N, K), make_stride(K, _1{}));
    Tensor all_c = make_tensor(make_gmem_ptr(C), make_shape(M, N), make_stride(N, _1{}));
    Tensor global_a = local_tile(all_a, Shape<Int<BM>, Int<BK>>{}, make_coord(tile_m, _));
    Tensor global_b = local_tile(all_b, Shape<Int<BN>, Int<BK>>{}, make_coord(tile_n, _));
    Tensor global_c = local_tile(all_c, Shape<Int<BM>, Int<BN>>{}, make_coord(tile_m, tile_n));

    extern __shared__ __align__(1024) unsigned char memory[]; // as a swizzle of addresses wants it
    auto eight_rows = composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{});
    auto stages_a = tile_to_shape(eight_rows, Shape<Int<BM>, Int<BK>, Int<STAGES>>{});
    auto stages_b = tile_to_shape(eight_rows, Shape<Int<BN>, Int<BK>, Int<STAGES>>{});
    bfloat16_t *first = reinterpret_cast<bfloat16_t *>(memory);
    Tensor shared_a = make_tensor(make_smem_ptr(first), stages_a);
    Tensor shared_b = make_tensor(make_smem_ptr(first + cosize(stages_a)), stages_b);

    // Level 2, the thread that copies: eight threads a row, 16 bytes each.
    auto copier = make_tiled_copy(Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<uint128_t>, bfloat16_t>{},
                                  Layout<Shape<Int<kThreads / 8>, _8>, Stride<_8, _1>>{},
                                  Layout<Shape<_1, _8>>{});
    auto copies = copier.get_slice(threadIdx.x);
    Tensor from_a = copies.partition_S(global_a); // (copy, rows, 1, steps)
    Tensor from_b = copies.partition_S(global_b);
    Tensor to_a = copies.partition_D(shared_a); // (copy, rows, 1, stages)
    Tensor to_b = copies.partition_D(shared_b);
    auto fetch = [&](int step, int stage) {
        copy(copier, from_a(_, _, _, step), to_a(_, _, _, stage));
        copy(copier, from_b(_, _, _, step), to_b(_, _, _, stage));
    };

    // Level 3, the thread that multiplies: its fragments, and what ldmatrix fills them from.
    auto mma = make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{},
                              Layout<Shape<Int<WARPS_M>, Int<WARPS_N>>>{},
                              Tile<Int<WARPS_M * 16>, Int<WARPS_N * 16>, _16>{});
    auto products = mma.get_slice(threadIdx.x);
    Tensor a = products.partition_fragment_A(global_a(_, _, 0)); // (registers, tiles, k)
    Tensor b = products.partition_fragment_B(global_b(_, _, 0));
    Tensor part_c = products.partition_C(global_c); // (registers, tiles down, tiles across)
    Tensor sum = mma.make_fragment_C(part_c);
    Copy_Atom<SM75_U32x4_LDSM_N, bfloat16_t> ldmatrix;
    auto reader_a = make_tiled_copy_A(ldmatrix, mma);
    auto reader_b = make_tiled_copy_B(ldmatrix, mma);
    Tensor rows_a = reader_a.get_slice(threadIdx.x).partition_S(shared_a);
    Tensor rows_b = reader_b.get_slice(threadIdx.x).partition_S(shared_b);
    Tensor filled_a = reader_a.get_slice(threadIdx.x).retile_D(a); // the same registers
    Tensor filled_b = reader_b.get_slice(threadIdx.x).retile_D(b);
    auto read = [&](int stage, int k) {
        copy(reader_a, rows_a(_, _, k, stage), filled_a(_, _, k));
        copy(reader_b, rows_b(_, _, k, stage), filled_b(_, _, k));
    };

    int steps = K / BK;
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            fetch(s, s);
        }
        cp_async_fence();
    }
    clear(sum);
    int stage = 0, free_stage = STAGES - 1;
    cp_async_wait<STAGES - 2>();
    __syncthreads(); // the first stage is complete
    read(0, 0);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        if (step + STAGES - 1 < steps) {
            fetch(step + STAGES - 1, free_stage);
        }
        cp_async_fence();
        CUTE_UNROLL
        for (int k = 0; k < BK / 16; ++k) {
            if (k == BK / 16 - 1) { // the next fragments lie in the next stage
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free_stage = stage;
                stage = stage + 1 == STAGES ? 0 : stage + 1;
            }
            read(stage, (k + 1) % (BK / 16)); // of no use after the last step
            gemm(mma, a(_, _, k), b(_, _, k), sum);
        }
    }
    Tensor rounded = make_tensor_like<bfloat16_t>(sum);
    copy(sum, rounded);
    copy(AutoVectorizingCopyWithAssumedAlignment<32>{}, rounded, part_c);
}
