// C = A B for row-major A (M x K), B (K x N) and C (M x N). A block covers 64 x 64 elements of C
// with 64 threads of 8 x 8. cp.async fills kStages pairs of tiles, round-robin.
// Any shape with fewer than 2^31 elements a matrix.
// grid (ceil(N / 64), ceil(M / 64)), block 64, dynamic shared 0

#include "ptx.cuh"

constexpr int BM = 64;  // the block's tile of C
constexpr int BN = 64;
constexpr int BK = 8;
constexpr int TM = 8;  // the thread's tile of C
constexpr int TN = 8;
constexpr int kStages = 3;
constexpr int kThreads = (BM / TM) * (BN / TN);

extern "C" __global__ void __launch_bounds__(kThreads)
    async_stages(const float* A, const float* B, float* C, int M, int N, int K)
{
    __shared__ float tile_a[kStages][BM][BK];
    __shared__ float tile_b[kStages][BK][BN];
    const int first_row = blockIdx.y * BM;  // of the block's tile in C
    const int first_column = blockIdx.x * BN;
    const int row = threadIdx.x / (BN / TN) * TM;  // of the thread's tile in the block's
    const int column = threadIdx.x % (BN / TN) * TN;

    auto copy_tiles = [&](int stage, int start) {  // begins copies; zeros outside of A and B
        for (int element = threadIdx.x; element < BM * BK; element += kThreads) {
            const int y = first_row + element / BK, ka = start + element % BK;
            const int x = first_column + element % BN, kb = start + element / BN;
            const bool in_a = y < M && ka < K, in_b = kb < K && x < N;
            cp_async_4(shared_address(&tile_a[stage][element / BK][element % BK]),
                       in_a ? A + y * K + ka : A, in_a);
            cp_async_4(shared_address(&tile_b[stage][element / BN][element % BN]),
                       in_b ? B + kb * N + x : B, in_b);
        }
    };
    float sum[TM][TN] = {};
    auto multiply = [&](int stage) {
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            for (int i = 0; i < TM; ++i) {
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += tile_a[stage][row + i][k] * tile_b[stage][k][column + j];
                }
            }
        }
    };

    // TODO: keep two steps' copies in flight. Before the loop, begin those of the first two
    //       steps, a group each. In a step: wait for its group, let all threads meet, begin the
    //       copies of the step after the next (a group, even when it is past the end), multiply.
    //       After the loop wait for what is left: a block must not end while it is being copied to.
    // STARTER
    //| for (int start = 0; start < K; start += BK) {
    //|     copy_tiles(0, start);
    //|     cp_async_commit();
    //|     cp_async_wait<0>();
    //|     __syncthreads();
    //|     multiply(0);
    //|     __syncthreads();
    //| }
    // SOLUTION
    for (int stage = 0; stage < kStages - 1; ++stage) {
        copy_tiles(stage, stage * BK);
        cp_async_commit();
    }
    int stage = 0;
    for (int start = 0; start < K; start += BK) {
        cp_async_wait<kStages - 2>();  // this thread's copies of this step are complete
        __syncthreads();               // all copies are, and no thread reads the step before
        copy_tiles((stage + kStages - 1) % kStages, start + (kStages - 1) * BK);
        cp_async_commit();
        multiply(stage);
        stage = (stage + 1) % kStages;
    }
    cp_async_wait<0>();  // the last copies, of zeros, must not outlive the block
    // END

    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; ++j) {
            if (first_row + row + i < M && first_column + column + j < N) {
                C[(first_row + row + i) * N + first_column + column + j] = sum[i][j];
            }
        }
    }
}
