// C = A B for row-major A (M x K), B (K x N) and C (M x N); M is a multiple of 128, N of 256, K of
// 8. 256 threads for each 128 x 256 of C, and 64 KB of shared memory; the rest is yours to choose.
// grid (N / 256, M / 128), block 256, dynamic shared 65536

#include "ptx.cuh"

constexpr int BM = 128;  // the block's tile of C
constexpr int BN = 256;
constexpr int BK = 8;
constexpr int TM = 8;  // the thread's tile of C
constexpr int TN = 16;
constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    beat_cublas(const float* A, const float* B, float* C, int M, int N, int K)
{
    extern __shared__ __align__(16) float shared[];
    // TODO: this is right, and slow. Replace it, line by line or all at once: load from shared
    //       memory without conflicts, prefetch, read the next operands early, order the products
    // STARTER
    //| float* tile_a = shared;            // transposed: BK rows of BM
    //| float* tile_b = shared + BK * BM;  // BK rows of BN
    //| const int first_row = blockIdx.y * BM, first_column = blockIdx.x * BN;
    //| const int row = threadIdx.x / (BN / TN) * TM, column = threadIdx.x % (BN / TN) * TN;
    //| float sum[TM][TN] = {};
    //| for (int start = 0; start < K; start += BK) {
    //|     for (int element = threadIdx.x; element < BM * BK; element += kThreads) {
    //|         const size_t y = first_row + element / BK;
    //|         tile_a[element % BK * BM + element / BK] = A[y * K + start + element % BK];
    //|     }
    //|     for (int element = threadIdx.x; element < BK * BN; element += kThreads) {
    //|         const size_t k = start + element / BN;
    //|         tile_b[element] = B[k * N + first_column + element % BN];
    //|     }
    //|     __syncthreads();
    //|     for (int k = 0; k < BK; ++k) {
    //|         float a[TM], b[TN];
    //|         for (int i = 0; i < TM; ++i) a[i] = tile_a[k * BM + row + i];
    //|         for (int j = 0; j < TN; ++j) b[j] = tile_b[k * BN + column + j];
    //|         for (int i = 0; i < TM; ++i)
    //|             for (int j = 0; j < TN; ++j) sum[i][j] += a[i] * b[j];
    //|     }
    //|     __syncthreads();
    //| }
    //| for (int i = 0; i < TM; ++i)
    //|     for (int j = 0; j < TN; ++j)
    //|         C[size_t(first_row + row + i) * N + first_column + column + j] = sum[i][j];
    // SOLUTION
    constexpr int kStages = 4;
    constexpr int kRowA = BM + 4;  // of A's transposed tile, padded
    constexpr int kTileA = BK * kRowA, kTileB = BK * BN;
    float* tiles_a = shared;  // kStages tiles of A, then kStages of B
    float* tiles_b = shared + kStages * kTileA;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int row = warp / 4 * 64 + lane / 4 * 4;  // warps of 64 x 64, lanes 8 by 4 in each
    const int column = warp % 4 * 64 + lane % 4 * 4;
    const int a_row = threadIdx.x / BK, a_k = threadIdx.x % BK;  // what the thread copies
    const int b_k = threadIdx.x / (BN / 4), b_column = threadIdx.x % (BN / 4) * 4;
    const float* from_a = A + size_t(blockIdx.y * BM + a_row) * K + a_k;
    const float* from_b = B + size_t(b_k) * N + blockIdx.x * BN + b_column;

    auto copy_tiles = [&](int stage) {  // one group; the next call takes the next tiles
        for (int i = 0; i < BM; i += kThreads / BK) {
            cp_async_4(shared_address(tiles_a + stage * kTileA + a_k * kRowA + a_row + i),
                       from_a + size_t(i) * K);
        }
        for (int k = 0; k < BK; k += kThreads / (BN / 4)) {
            cp_async_16(shared_address(tiles_b + stage * kTileB + (b_k + k) * BN + b_column),
                        from_b + size_t(k) * N);
        }
        from_a += BK;
        from_b += size_t(BK) * N;
    };
    float a[2][TM], b[2][TN];  // operands for this k and for the next
    auto read_factors = [&](int stage, int k, int which) {
        const float* in_a = tiles_a + stage * kTileA + k * kRowA + row;
        const float* in_b = tiles_b + stage * kTileB + k * BN + column;
        for (int i = 0; i < TM; i += 4) {
            *reinterpret_cast<float4*>(&a[which][i]) =
                *reinterpret_cast<const float4*>(in_a + i * 8);
        }
        for (int j = 0; j < TN; j += 4) {
            *reinterpret_cast<float4*>(&b[which][j]) =
                *reinterpret_cast<const float4*>(in_b + j * 4);
        }
    };

    const int steps = K / BK;
    for (int s = 0; s < kStages - 1; ++s) {
        if (s < steps) copy_tiles(s);
        cp_async_commit();
    }
    float sum[TM][TN] = {};
    int stage = 0, free_stage = kStages - 1;
    cp_async_wait<kStages - 2>();
    __syncthreads();  // the first tiles are complete
    read_factors(stage, 0, 0);
    for (int step = 0; step < steps; ++step) {
        if (step + kStages - 1 < steps) copy_tiles(free_stage);
        cp_async_commit();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k == BK - 1) {  // the next operands are in the next tiles
                cp_async_wait<kStages - 2>();
                __syncthreads();  // they are complete, and no thread needs these any more
                free_stage = stage;
                stage = (stage + 1) % kStages;
            }
            read_factors(stage, (k + 1) % BK, (k + 1) % 2);  // of no use after the last step
            for (int j = 0; j < TN; ++j) {  // down one column and up the next
                for (int x = 0; x < TM; ++x) {
                    const int i = j % 2 ? TM - 1 - x : x;
                    sum[i][j] += a[k % 2][i] * b[k % 2][j];
                }
            }
        }
    }
    float* out = C + size_t(blockIdx.y * BM + row) * N + blockIdx.x * BN + column;
    for (int i = 0; i < TM; ++i) {
        for (int j = 0; j < TN; j += 4) {
            *reinterpret_cast<float4*>(out + size_t(i / 4 * 32 + i % 4) * N + j * 4) =
                make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
        }
    }
    // END
}
