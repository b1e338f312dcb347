// C = A B^T for row-major bf16 matrices, A (M x K) with few rows, B (N x K), C (M x N); sums in
// fp32. Any M; N and K multiples of 8. A and B come as tensor maps with boxes of ROWS x 64 and BN x
// 64 and a swizzle of 128 bytes.
// Like gemm_producer with the operands exchanged: wgmma has 64 rows of its first operand, whatever
// is in them, and from 8 rows of the second. So the rows of B come first, and the sums are C^T. The
// blocks of a cluster share the steps along K, and each adds up its part of all their sums. Alone
// in its cluster a block takes tile after tile. Limit: memory bandwidth.
// grid (tiles at once, CLUSTER, ceil(M / ROWS)), block (2 * BN + 32), dynamic shared as
// small_m_bytes in the cases says. Tiles at once: all ceil(N / BN) in a cluster, from 1 on alone.

#include <cuda_bf16.h>
#include "cluster.cuh"
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

#ifndef ROWS
#define ROWS 16 // of A that a block has: 8, 16, 32 or 64
#endif
#ifndef BN
#define BN 64 // rows of B of a tile: 64 for each warpgroup that multiplies
#endif
#ifndef CLUSTER
#define CLUSTER 2 // slices of K: 1, 2 or 4
#endif
#ifndef DEPTH
#define DEPTH 2 // boxes of 64 along K that a stage has
#endif
#ifndef STAGES
#define STAGES 5
#endif
#ifndef BLOCKS
#define BLOCKS 2 // that share a multiprocessor
#endif

constexpr int BK = 64; // 128 bytes
constexpr int kTileB = BN * 128, kTileA = ROWS * 128; // bytes
constexpr int kConsumers = BN * 2;                    // threads
constexpr int kStage = DEPTH * (kTileB + kTileA), kSums = ROWS / 2; // of a thread
constexpr int kPairs = kSums / 2;                                   // of sums, next to each other
constexpr int kShare = (kPairs + CLUSTER - 1) / CLUSTER;            // of them, that a block adds up

// prefetch.tensormap: fetch the map, so that the first copy does not wait for it.
__device__ inline void prefetch_map(const TensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

extern "C" __global__ void __cluster_dims__(1, CLUSTER) __launch_bounds__(kConsumers + 32, BLOCKS)
    gemm_small_m(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                 __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(tiles), slots = stages + STAGES * kStage;
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = cluster_rank();
    const int row = blockIdx.z * ROWS; // of C
    const int all_steps = (K + BK * DEPTH - 1) / (BK * DEPTH);
    const int begin = all_steps * slice / CLUSTER;
    const int steps = all_steps * (slice + 1) / CLUSTER - begin;
    const int columns = CLUSTER == 1 ? gridDim.x * BN : N; // from a block's tile to its next

    int column = blockIdx.x * BN, step = 0, stage = 0, lap = 0; // of the next load
    auto load = [&] {
        const unsigned to = stages + stage * kStage, arrived = full + stage * 8;
        mbarrier_expect(arrived, kStage);
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            const int k = ((begin + step) * DEPTH + d) * BK;
            tma_load(to + d * kTileB, &B, k, column, arrived);
            tma_load(to + DEPTH * kTileB + d * kTileA, &A, k, row, arrived);
        }
        if (++step == steps) {
            step = 0;
            column += columns;
        }
        if (++stage == STAGES) {
            stage = 0;
            ++lap;
        }
    };
    if (threadIdx.x == kConsumers) { // the producer: all stages are on their way before it waits
        prefetch_map(&B);
        prefetch_map(&A);
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, kConsumers / 32);
        }
        mbarriers_are_ready();
        while (steps > 0 && lap == 0 && column < N) {
            load();
        }
    }
    if (CLUSTER > 1) {
        cluster_arrive_relaxed(); // this block has begun
    }
    __syncthreads();
    if (warp == kConsumers / 32) {
        while (lane == 0 && steps > 0 && column < N) {
            mbarrier_wait(empty + stage * 8, lap % 2 ^ 1);
            load();
        }
        __syncwarp();
        if (CLUSTER > 1) { // like the others below
            cluster_wait();
            cluster_arrive();
            cluster_wait();
        }
        return;
    }

    for (; column < N; column += columns) {
        float sum[kSums] = {};
        for (int i = 0; i < steps; ++i) {
            const unsigned b = stages + stage * kStage + warp / 4 * 64 * 128;
            const unsigned a = stages + stage * kStage + DEPTH * kTileB;
            mbarrier_wait(full + stage * 8, lap % 2);
            wgmma_fence();
#pragma unroll
            for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
                for (int k = 0; k < BK / 16; ++k) {
                    wgmma_bf16(sum, wgmma_tile(b + d * kTileB) + k * 2,
                               wgmma_tile(a + d * kTileA) + k * 2, 1);
                }
            }
            wgmma_commit();
            wgmma_wait<0>();
            if (lane == 0) {
                mbarrier_arrive(empty + stage * 8);
            }
            if (++stage == STAGES) {
                stage = 0;
                ++lap;
            }
        }
        keep_in_order(sum);

        // Sum i of a thread belongs to this column, or 8 further on, and row.
        auto store = [&](int i, float value) {
            const int at_column = column + warp * 16 + lane / 4 + i / 2 % 2 * 8;
            const int at_row = row + i / 4 * 8 + lane % 4 * 2 + i % 2;
            if (at_row < M && at_column < N) {
                C[(size_t)at_row * N + at_column] = __float2bfloat16_rn(value);
            }
        };
        if constexpr (CLUSTER == 1) {
#pragma unroll
            for (int i = 0; i < kSums; ++i) {
                store(i, sum[i]);
            }
        } else {
            // slots[slice][pair][thread] of the block that adds the pair up
            cluster_wait(); // all blocks have begun
#pragma unroll
            for (int i = 0; i < kPairs; ++i) {
                const int slot = slice * kShare + i % kShare;
                const unsigned to = slots + (slot * kConsumers + threadIdx.x) * 8;
                store_cluster_2(address_in_block(to, i / kShare), sum[2 * i], sum[2 * i + 1]);
            }
            cluster_arrive();
            cluster_wait(); // the sums of all slices are here
            const float2 *sums = reinterpret_cast<const float2 *>(tiles + STAGES * kStage);
            sums += threadIdx.x;
#pragma unroll
            for (int i = 0; i < kShare; ++i) {
                const int pair = slice * kShare + i;
                if (pair < kPairs) {
                    float2 total = {};
#pragma unroll
                    for (int from = 0; from < CLUSTER; ++from) {
                        const float2 part = sums[(from * kShare + i) * kConsumers];
                        total.x += part.x;
                        total.y += part.y;
                    }
                    store(2 * pair, total.x);
                    store(2 * pair + 1, total.y);
                }
            }
        }
    }
}
