// y = x * w, the convolution of a neural network in bf16 with sums in fp32, channels last: x is N x
// H x W x C, w is K x R x S x C and y is N x OH x OW x K; zeros lie `pad` deep around x. Any
// filter, stride and padding, C and K multiples of 8, fewer than 2^31 elements a tensor (indices
// are int). The implicit GEMM of conv_pipeline on tensor cores. Channels last makes it a product of
// rows: the 64 channels of a pixel under one tap are one row of 128 bytes, copied 16 bytes at a
// time.
// Limit: copies. Every pixel is copied nine times, once for each tap, and every block copies all
// weights of its filters.
// grid (ceil(N OH OW / BM), ceil(K / BN)), block 128, dynamic shared STAGES * (BM + BN) * BK * 2

#include <cuda_bf16.h>
#include "ptx.cuh"

constexpr int BM = 128; // pixels of a block
constexpr int BN = 64;  // filters of a block
constexpr int WM = 64;  // of a warp
constexpr int WN = 32;
constexpr int STAGES = 4;
constexpr int BLOCKS = 2; // on a multiprocessor
constexpr int BK = 64;    // channels of a step: a row of 128 bytes
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kChunk = 8, kChunks = BK / kChunk, kRows = kThreads / kChunks;
constexpr int kTileA = BM * BK * 2, kTileB = BN * BK * 2;
constexpr int kTilesM = WM / 16, kTilesN = WN / 8;
constexpr int kCopiesA = BM / kRows;
static_assert(BM % kRows == 0 && BN % kRows == 0, "copies come out even");

// Bytes from the start of a tile to a chunk of 16 bytes of a row, swizzled.
__device__ inline int place_of(int row, int chunk)
{
    return (row * kChunks + (chunk ^ (row & 7))) * 16;
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_bf16(const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y, int N, int C, int H,
              int W, int K, int R, int S, int stride, int pad)
{
    int OH = (H + 2 * pad - R) / stride + 1;
    int OW = (W + 2 * pad - S) / stride + 1;
    extern __shared__ float4 tiles[];
    unsigned tiles_a = shared_address(tiles), tiles_b = tiles_a + STAGES * kTileA;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int warp_row = warp / (BN / WN) * WM, warp_column = warp % (BN / WN) * WN;
    int first_pixel = blockIdx.x * BM, first_filter = blockIdx.y * BN;
    int pixels = N * OH * OW;
    int copy_row = threadIdx.x / kChunks, copy_channel = threadIdx.x % kChunks * kChunk;
    int top[kCopiesA], left[kCopiesA], image[kCopiesA];
#pragma unroll
    for (int i = 0; i < kCopiesA; ++i) {
        int pixel = first_pixel + copy_row + i * kRows;
        int n = pixel / (OH * OW), rest = pixel % (OH * OW);
        top[i] = pixel < pixels ? rest / OW * stride - pad : -1000000;
        left[i] = rest % OW * stride - pad;
        image[i] = n * H;
    }
    unsigned to = place_of(copy_row, threadIdx.x % kChunks);
    int r = 0, s = 0, c0 = 0;
    auto copy_tiles = [&](int stage) {
        bool channel_ok = c0 + copy_channel < C;
#pragma unroll
        for (int i = 0; i < kCopiesA; ++i) {
            int yy = top[i] + r, xx = left[i] + s;
            bool ok = channel_ok && yy >= 0 && yy < H && xx >= 0 && xx < W;
            const __nv_bfloat16 *from = x + ((image[i] + yy) * W + xx) * C + c0 + copy_channel;
            cp_async_16(tiles_a + stage * kTileA + to + i * kRows * BK * 2, ok ? from : x, ok);
        }
#pragma unroll
        for (int i = 0; i < BN / kRows; ++i) {
            int f = first_filter + copy_row + i * kRows;
            bool ok = channel_ok && f < K;
            const __nv_bfloat16 *from = w + ((f * R + r) * S + s) * C + c0 + copy_channel;
            cp_async_16(tiles_b + stage * kTileB + to + i * kRows * BK * 2, ok ? from : w, ok);
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
    int a_row = warp_row + lane % 16, a_half = lane / 16;
    int b_row = warp_column + lane % 8 + lane / 16 * 8, b_half = lane / 8 % 2;
    unsigned a[2][kTilesM][4], b[2][kTilesN / 2][4];
    auto read_factors = [&](int stage, int k, int which) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
            ldmatrix_4(a[which][i],
                       tiles_a + stage * kTileA + place_of(a_row + i * 16, k * 2 + a_half));
        }
#pragma unroll
        for (int j = 0; j < kTilesN / 2; ++j) {
            ldmatrix_4(b[which][j],
                       tiles_b + stage * kTileB + place_of(b_row + j * 16, k * 2 + b_half));
        }
    };
    int steps = R * S * ((C + BK - 1) / BK);
    for (int i = 0; i < STAGES - 1; ++i) {
        if (i < steps) {
            copy_tiles(i);
        }
        cp_async_commit();
    }
    float sum[kTilesM][kTilesN][4] = {};
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
        for (int k = 0; k < BK / 16; ++k) {
            if (k == BK / 16 - 1) {
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free_stage = stage;
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                read_factors(stage, 0, 0);
            } else {
                read_factors(stage, k + 1, (k + 1) % 2);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int jj = 0; jj < kTilesN; ++jj) {
                    int j = i % 2 == 0 ? jj : kTilesN - 1 - jj;
                    mma_bf16(sum[i][j], a[k % 2][i], b[k % 2][j / 2][j % 2 * 2],
                             b[k % 2][j / 2][j % 2 * 2 + 1]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
        for (int j = 0; j < kTilesN; ++j) {
            int pixel = first_pixel + warp_row + i * 16 + lane / 4;
            int filter = first_filter + warp_column + j * 8 + lane % 4 * 2;
            if (filter < K) {
                if (pixel < pixels) {
                    *reinterpret_cast<__nv_bfloat162 *>(&y[pixel * K + filter]) =
                        __floats2bfloat162_rn(sum[i][j][0], sum[i][j][1]);
                }
                if (pixel + 8 < pixels) {
                    *reinterpret_cast<__nv_bfloat162 *>(&y[(pixel + 8) * K + filter]) =
                        __floats2bfloat162_rn(sum[i][j][2], sum[i][j][3]);
                }
            }
        }
    }
}
