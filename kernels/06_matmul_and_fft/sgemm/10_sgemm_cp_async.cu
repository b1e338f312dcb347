// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Any shape with fewer
// than 2^31 elements a matrix (indices are int) and at most 65535 blocks along y.
// Adds to sgemm_double_buffer: cp.async copies from global straight into shared memory, and kStages
// pairs of tiles alternate, so two steps' worth of copies are always in flight and no register
// holds them. A is copied 4 bytes at a time, which can be transposed.
// Limit: four copies of A for what one load of 16 bytes brought.
// grid (ceil(N / 128), ceil(M / 128)), block (256), dynamic shared 0

#include "ptx.cuh"
#include "tile.cuh"

constexpr int BM = 128; // of C: the block's tile
constexpr int BN = 128;
constexpr int BK = 8;
constexpr int TM = 8; // of C: the thread's tile
constexpr int TN = 8;
constexpr int kThreads = (BM / TM) * (BN / TN);
constexpr int kStages = 3;
constexpr int kPad = 4; // keeps 16-byte loads aligned
constexpr int WM = 64;  // of C: the warp's tile
constexpr int WN = 32;
constexpr int kHalfM = WM / 2; // distance of a thread's two sub-tiles
constexpr int kHalfN = WN / 2;
constexpr int kLanesN = WN / TN;      // lanes side by side
constexpr int kRowsA = kThreads / BK; // rows of A's tile that the block copies at once
static_assert(WM / TM * kLanesN == 32, "the lanes cover the warp's tile");
static_assert(BK * BN == 4 * kThreads, "a thread copies four elements of B");

extern "C" __global__ void __launch_bounds__(kThreads, 2)
    sgemm_cp_async(const float *A, const float *B, float *C, int M, int N, int K)
{
    __shared__ __align__(16) float tile_a[kStages][BK][BM + kPad]; // transposed
    __shared__ __align__(16) float tile_b[kStages][BK][BN];
    int first_row = blockIdx.y * BM; // of the block's tile in C
    int first_column = blockIdx.x * BN;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int row = warp / (BN / WN) * WM + lane / kLanesN * 4; // of the thread's first sub-tile
    int column = warp % (BN / WN) * WN + lane % kLanesN * 4;
    int a_row = threadIdx.x / BK; // the elements that the thread copies
    int a_k = threadIdx.x % BK;
    int b_k = threadIdx.x / (BN / 4);
    int b_column = threadIdx.x % (BN / 4) * 4;

    auto copy_tiles = [&](int stage, int start) { // one group of copies
        bool in_k = start + a_k < K;
#pragma unroll
        for (int i = 0; i < BM; i += kRowsA) {
            bool inside = in_k && first_row + a_row + i < M;
            const float *from = inside ? A + (first_row + a_row + i) * K + start + a_k : A;
            cp_async_4(shared_address(&tile_a[stage][a_k][a_row + i]), from, inside);
        }
        int x = first_column + b_column;
        bool inside = start + b_k < K && x < N;
        const float *from = inside ? B + (start + b_k) * N + x : B;
        if (N % 4 == 0) {
            cp_async_16(shared_address(&tile_b[stage][b_k][b_column]), from, inside);
        } else { // rows of B begin anywhere
            for (int j = 0; j < 4; ++j) {
                bool exists = inside && x + j < N;
                cp_async_4(shared_address(&tile_b[stage][b_k][b_column + j]), exists ? from + j : B,
                           exists);
            }
        }
    };

    for (int stage = 0; stage < kStages - 1; ++stage) {
        copy_tiles(stage, stage * BK);
        cp_async_commit();
    }
    float sum[TM][TN] = {};
    int stage = 0;
    for (int start = 0; start < K; start += BK) {
        cp_async_wait<kStages - 2>(); // this thread's copies of this step are there
        __syncthreads();              // every thread's are, and no warp reads the step before
        int ahead = stage == 0 ? kStages - 1 : stage - 1;
        copy_tiles(ahead, start + (kStages - 1) * BK);
        cp_async_commit();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; i += 4) {
                *reinterpret_cast<float4 *>(a + i) =
                    *reinterpret_cast<float4 *>(&tile_a[stage][k][row + i / 4 * kHalfM]);
            }
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                *reinterpret_cast<float4 *>(b + j) =
                    *reinterpret_cast<float4 *>(&tile_b[stage][k][column + j / 4 * kHalfN]);
            }
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sum[i][j] += a[i] * b[j];
                }
            }
        }
        stage = stage + 1 == kStages ? 0 : stage + 1;
    }
    cp_async_wait<0>(); // the last copies, of zeros, must not outlive the block
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        int y = first_row + row + i / 4 * kHalfM + i % 4;
        if (y < M) {
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                float4 four = make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
                store_row4(C + y * N, first_column + column + j / 4 * kHalfN, N, four);
            }
        }
    }
}
