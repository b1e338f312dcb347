// y = x * w, the convolution of a neural network in fp32: x is N x C x H x W, w is K x C x R x S
// and y is N x K x OH x OW; zeros lie `pad` deep around x. Any shape, filter, stride and padding
// with fewer than 2^31 elements a tensor (indices are int) and at most 65535 * 64 filters.
// Adds to conv_implicit_gemm: tiles of 64 x 256, 8 x 8 of them a thread's, read one step ahead;
// cp.async keeps the next tiles in flight; and k counts the channels of one tap, then those of the
// next tap. A thread now needs no division on the way: the tap changes once in C / 8 steps.
// Limit: a thread reads 16 operands from shared memory for 64 products, and pixels that nine taps
// share are copied nine times.
// grid (ceil(N OH OW / 256), ceil(K / 64)), block 256, dynamic shared STAGES * BK * (BM + 4 + BN) * 4

#include "ptx.cuh"

constexpr int BM = 64;  // filters of a block
constexpr int BN = 256; // pixels of a block
constexpr int BK = 8;
constexpr int WM = 32; // of a warp
constexpr int WN = 64;
constexpr int TM = 8; // of a thread
constexpr int TN = 8;
constexpr int STAGES = 3;
constexpr int BLOCKS = 2; // on a multiprocessor
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kLanesM = WM / TM, kLanesN = WN / TN;
constexpr int kRowA = BM + 4;
constexpr int kTileA = BK * kRowA, kTileB = BK * BN;
constexpr int kRowsA = kThreads / BK; // that the block copies at once
static_assert(kLanesM * kLanesN == 32, "a warp's tile comes out even");
static_assert(kThreads == BN && BM % kRowsA == 0, "a thread copies one pixel of every channel");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_pipeline(const float *x, const float *w, float *y, int N, int C, int H, int W, int K,
                  int R, int S, int stride, int pad)
{
    extern __shared__ __align__(16) float tiles[];
    float *tiles_a = tiles, *tiles_b = tiles + STAGES * kTileA;
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    int row = warp / (BN / WN) * WM + lane / kLanesN * 4;
    int column = warp % (BN / WN) * WN + lane % kLanesN * 4;
    int first_filter = blockIdx.y * BM, first_pixel = blockIdx.x * BN;
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - S) / stride + 1;
    int pixels = N * OH * OW;
    int plane = H * W;

    int a_row = tid / BK; // what this thread copies
    int a_k = tid % BK;
    unsigned to_a = shared_address(tiles_a + a_k * kRowA + a_row);
    unsigned to_b = shared_address(tiles_b + tid);
    int pixel = first_pixel + tid;
    int top = pixel % (OH * OW) / OW * stride - pad;
    int left = pixel % OW * stride - pad;
    const float *image = x + pixel / (OH * OW) * C * plane;
    int r = 0, s = 0, c0 = 0; // tap and first channel of the next tiles
    auto copy_tiles = [&](int stage) {
        const float *from_a = w + ((first_filter + a_row) * C + c0 + a_k) * R * S + r * S + s;
#pragma unroll
        for (int i = 0; i < BM; i += kRowsA) {
            bool exists = first_filter + a_row + i < K && c0 + a_k < C;
            cp_async_4(to_a + (stage * kTileA + i) * 4, exists ? from_a + i * C * R * S : w,
                       exists);
        }
        int yy = top + r;
        int xx = left + s;
        bool inside = pixel < pixels && yy >= 0 && yy < H && xx >= 0 && xx < W;
        const float *from_b = image + c0 * plane + yy * W + xx;
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            bool exists = inside && c0 + k < C;
            cp_async_4(to_b + (stage * kTileB + k * BN) * 4, exists ? from_b + k * plane : x,
                       exists);
        }
        c0 += BK;
        if (c0 >= C) {
            c0 = 0;
            if (++s == S) {
                s = 0;
                ++r;
            }
        }
    };
    float a[2][TM], b[2][TN];
    auto read_factors = [&](int stage, int k, int which) {
#pragma unroll
        for (int i = 0; i < TM; i += 4) {
            *reinterpret_cast<float4 *>(&a[which][i]) = *reinterpret_cast<float4 *>(
                tiles_a + stage * kTileA + k * kRowA + row + i * kLanesM);
        }
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            *reinterpret_cast<float4 *>(&b[which][j]) = *reinterpret_cast<float4 *>(
                tiles_b + stage * kTileB + k * BN + column + j * kLanesN);
        }
    };
    int steps = R * S * ((C + BK - 1) / BK);
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        if (stage < steps) {
            copy_tiles(stage);
        }
        cp_async_commit();
    }
    float sum[TM][TN] = {};
    int stage = 0, free_stage = STAGES - 1;
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    read_factors(0, 0, 0);
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        if (step + STAGES - 1 < steps) {
            copy_tiles(free_stage);
        }
        cp_async_commit();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            if (k + 1 < BK) {
                read_factors(stage, k + 1, (k + 1) % 2);
            } else {
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free_stage = stage;
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                read_factors(stage, 0, 0);
            }
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int jj = 0; jj < TN; ++jj) {
                    int j = i % 2 ? TN - 1 - jj : jj;
                    sum[i][j] += a[k % 2][i] * b[k % 2][j];
                }
            }
        }
    }
#pragma unroll
    for (int j = 0; j < TN; ++j) {
        int out = first_pixel + column + j / 4 * 4 * kLanesN + j % 4;
        if (out < pixels) {
            float *at = y + out / (OH * OW) * K * OH * OW + out % (OH * OW);
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                int filter = first_filter + row + i / 4 * 4 * kLanesM + i % 4;
                if (filter < K) {
                    at[filter * OH * OW] = sum[i][j];
                }
            }
        }
    }
}
