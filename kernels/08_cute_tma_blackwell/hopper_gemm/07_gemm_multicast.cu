// C = A B^T for row-major bf16 matrices, A (M x K), B (N x K), C (M x N); sums in fp32. Any M; N
// and K multiples of 8. A and B come as tensor maps with boxes of BM x 64 and BN / CLUSTER x 64,
// swizzle 128 bytes.
// Adds to gemm_persistent clusters: two blocks, whose tiles lie one below the other, need the same
// tile of B. Each loads half of it, for both. A stage may be overwritten when it has been read in
// both.
// Limit: the sums go from registers to memory in pieces of 16 bytes, half a sector each.
// grid (at most the multiprocessors, a multiple of CLUSTER), block (384), dynamic shared STAGES * (BM + BN) * 128

#include "cluster_mbarrier.cuh"
#include "ptx.cuh"
#include "tma.cuh"
#include "tma_multicast.cuh"
#include "wgmma.cuh"
#include "wgmma_sums.cuh"

#ifndef STAGES
#define STAGES 4
#endif
#ifndef CLUSTER
#define CLUSTER 2 // blocks, one below the other
#endif
#ifndef BAND
#define BAND 8 // rows of clusters' tiles that are visited together, column by column
#endif

constexpr int BM = 128, BN = 256, BK = 64; // BK elements are 128 bytes, one row of a tile
constexpr int kConsumers = 256;            // threads in two warpgroups; the third is the producer's
constexpr int kTileA = BM * 128, kTileB = BN * 128, kStage = kTileA + kTileB; // bytes
constexpr int kPartB = BN / CLUSTER; // rows of B that a block loads for all

// Where the block's tile begins in tile number `tile` of the cluster: those go down a band's
// columns, and then to the next band.
__device__ inline int2 place_of(int tile, int tiles_down, int tiles_across)
{
    int in_band = tile % (BAND * tiles_across), head = tile / (BAND * tiles_across) * BAND;
    int height = min(tiles_down - head, BAND);
    int row = (head + in_band % height) * CLUSTER + cluster_rank();
    return make_int2(row * BM, in_band / height * BN); // row, column
}

extern "C" __global__ void __cluster_dims__(CLUSTER) __launch_bounds__(kConsumers + 128, 1)
    gemm_multicast(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                   __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(memory);
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, CLUSTER * kConsumers / 128); // groups of all blocks
        }
        mbarriers_are_ready();
    }
    cluster_arrive();
    cluster_wait(); // the barriers of all blocks are made
    const int down = (M + CLUSTER * BM - 1) / (CLUSTER * BM);
    const int across = (N + BN - 1) / BN, steps = (K + BK - 1) / BK;
    const int first = blockIdx.x / CLUSTER, clusters = gridDim.x / CLUSTER, rank = cluster_rank();
    int stage = 0;
    unsigned phase = 0;
    auto next_stage = [&] { // the ring goes on from one tile of C to the next
        stage = stage + 1 == STAGES ? 0 : stage + 1;
        phase ^= stage == 0;
    };

    if (threadIdx.x >= kConsumers) { // the producer
        fewer_registers<40>();
        const bool loads = threadIdx.x == kConsumers;
        for (int tile = first; loads && tile < down * across; tile += clusters) {
            const int2 place = place_of(tile, down, across);
            for (int step = 0; step < steps; ++step) {
                const unsigned to = stages + stage * kStage, arrived = full + stage * 8;
                mbarrier_wait(empty + stage * 8, phase ^ 1); // passes at once in the first lap
                mbarrier_expect(arrived, kStage);            // all of B, whoever loads it
                tma_load(to, &A, step * BK, place.x, arrived);
                tma_load_multicast(to + kTileA + rank * kPartB * 128, &B, step * BK,
                                   place.y + rank * kPartB, arrived, (1 << CLUSTER) - 1);
                next_stage();
            }
        }
        __syncwarp();
    } else { // the consumers
        more_registers<232>();
        const int group_row = threadIdx.x / 128 * 64, in_group = threadIdx.x % 128;
        const unsigned empty_there = address_in_block(empty, in_group % CLUSTER);
        for (int tile = first; tile < down * across; tile += clusters) {
            float sum[BN / 2];
            for (int step = 0; step < steps; ++step) {
                const unsigned long long a = wgmma_tile(stages + stage * kStage + group_row * 128);
                const unsigned long long b = wgmma_tile(stages + stage * kStage + kTileA);
                mbarrier_wait(full + stage * 8, phase);
                wgmma_fence();
#pragma unroll
                for (int k = 0; k < BK / 16; ++k) { // 32 bytes of every row
                    wgmma_bf16(sum, a + k * 2, b + k * 2, step > 0 || k > 0);
                }
                wgmma_commit();
                wgmma_wait<0>();          // meanwhile the other group multiplies
                if (in_group < CLUSTER) { // a thread for each block
                    mbarrier_arrive_there(empty_there + stage * 8);
                }
                next_stage();
            }
            keep_in_order(sum);
            const int2 place = place_of(tile, down, across);
            store_sums(sum, C, place.x + group_row, place.y, M, N);
        }
    }
    cluster_arrive();
    cluster_wait(); // the other block may still arrive at the barriers here
}
