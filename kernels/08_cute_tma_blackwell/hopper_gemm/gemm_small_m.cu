// C = A B^T for row-major bf16 matrices, A (M x K) with few rows, B (N x K), C (M x N); sums in
// fp32. Any M; N and K multiples of 8. A and B come as tensor maps with boxes of ROWS x 64 and 64 x
// 64 and a swizzle of 128 bytes.
// Like gemm_producer with the operands exchanged: wgmma has 64 rows of its first operand, whatever
// is in them, and from 8 rows of the second. So the rows of B come first, and the sums are C^T. The
// blocks of a cluster share the steps along K, and add up each other's sums.
// Limit: memory bandwidth.
// grid (ceil(N / 64), CLUSTER, ceil(M / ROWS)), block (160), dynamic shared STAGES * DEPTH * (64 + ROWS) * 128

#include <cuda_bf16.h>
#include "cluster.cuh"
#include "ptx.cuh"
#include "tma.cuh"
#include "wgmma.cuh"

#ifndef ROWS
#define ROWS 16 // of A that a block has: 8, 16, 32 or 64
#endif
#ifndef CLUSTER
#define CLUSTER 2 // slices of K
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
constexpr int BN = 64;
constexpr int kTileB = BN * 128, kTileA = ROWS * 128;               // bytes
constexpr int kConsumers = 128;                                     // threads
constexpr int kStage = DEPTH * (kTileB + kTileA), kSums = ROWS / 2; // of a thread
constexpr int kShare = (kSums + CLUSTER - 1) / CLUSTER;             // of them, that a block adds up

// ld.shared::cluster: a float at an address of address_in_block.
__device__ inline float load_cluster(unsigned from)
{
    float value;
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(from) : "memory");
    return value;
}

extern "C" __global__ void __cluster_dims__(1, CLUSTER) __launch_bounds__(kConsumers + 32, BLOCKS)
    gemm_small_m(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
                 __nv_bfloat16 *C, int M, int N, int K)
{
    extern __shared__ __align__(1024) unsigned char tiles[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const unsigned stages = shared_address(tiles);
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, slice = cluster_rank();
    if (threadIdx.x == kConsumers) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, kConsumers / 32);
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    const int column = blockIdx.x * BN, row = blockIdx.z * ROWS; // of C
    const int all_steps = (K + BK * DEPTH - 1) / (BK * DEPTH);
    const int begin = all_steps * slice / CLUSTER, end = all_steps * (slice + 1) / CLUSTER;
    float sum[kSums];
    if (warp == kConsumers / 32) { // the producer
        for (int i = 0; lane == 0 && i < end - begin; ++i) {
            const int stage = i % STAGES, lap = i / STAGES;
            const unsigned to = stages + stage * kStage, arrived = full + stage * 8;
            mbarrier_wait(empty + stage * 8, lap % 2 ^ 1);
            mbarrier_expect(arrived, kStage);
#pragma unroll
            for (int d = 0; d < DEPTH; ++d) {
                const int k = ((begin + i) * DEPTH + d) * BK;
                tma_load(to + d * kTileB, &B, k, column, arrived);
                tma_load(to + DEPTH * kTileB + d * kTileA, &A, k, row, arrived);
            }
        }
        __syncwarp();
    } else {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
            sum[i] = 0.0f;
        }
        for (int i = 0; i < end - begin; ++i) {
            const int stage = i % STAGES, lap = i / STAGES;
            const unsigned b = stages + stage * kStage, a = b + DEPTH * kTileB;
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
        }
        keep_in_order(sum);
    }

    float *sums = reinterpret_cast<float *>(tiles); // where the tiles were, which all have read
    __syncthreads();
    if (warp < kConsumers / 32) {
#pragma unroll
        for (int i = 0; i < kSums; ++i) {
            sums[i * kConsumers + threadIdx.x] = sum[i];
        }
    }
    cluster_arrive();
    cluster_wait();
    if (warp < kConsumers / 32) {
        for (int i = slice * kShare; i < min((slice + 1) * kShare, kSums); ++i) {
            float total = 0.0f;
            for (int from = 0; from < CLUSTER; ++from) {
                unsigned at = shared_address(&sums[i * kConsumers + threadIdx.x]);
                total += load_cluster(address_in_block(at, from));
            }
            const int at_column = column + warp * 16 + lane / 4 + i / 2 % 2 * 8;
            const int at_row = row + i / 4 * 8 + lane % 4 * 2 + i % 2;
            if (at_row < M && at_column < N) {
                C[(size_t)at_row * N + at_column] = __float2bfloat16_rn(total);
            }
        }
    }
    cluster_arrive();
    cluster_wait(); // nobody reads the sums of a block that has ended
}
