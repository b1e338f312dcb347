// Implicit GEMM, fp32: filters x pixels, k = (tap, channel). NCHW, KCRS. Any filter, stride, pad.
// grid (ceil(N OH OW / BN), ceil(K / BM)), block (BM / TM * BN / TN), dynamic shared STAGES * BK * (BM + 4 + BN) * 4
#include "ptx.cuh"

#ifndef BM
#define BM 64 // filters of a block
#endif
#ifndef BN
#define BN 256 // pixels of a block
#endif
#ifndef BK
#define BK 8
#endif
#ifndef WM
#define WM 32
#endif
#ifndef WN
#define WN 64
#endif
#ifndef TM
#define TM 8
#endif
#ifndef TN
#define TN 8
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kLanesM = WM / TM, kLanesN = WN / TN;
constexpr int kRowA = BM + 4;
constexpr int kTileA = BK * kRowA, kTileB = BK * BN;
constexpr int kRowsA = kThreads / BK;
constexpr int kPixels = BN < kThreads ? BN : kThreads; // that the block copies at once
constexpr int kRowsB = kThreads / kPixels;
constexpr int kEach = BN / kPixels;
static_assert(kLanesM * kLanesN == 32 && BK % 2 == 0, "");
static_assert(BM % kRowsA == 0 && BK % kRowsB == 0 && BN % kPixels == 0, "");

struct Shape {
    int N, C, H, W, K, R, S, stride, pad, OH, OW;
};

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_implicit_gemm(const float *x, const float *w, float *y, int N, int C, int H, int W, int K,
                       int R, int S, int stride, int pad, int OH, int OW)
{
    extern __shared__ __align__(16) float tiles[];
    float *tiles_a = tiles, *tiles_b = tiles + STAGES * kTileA;
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    int row = warp / (BN / WN) * WM + lane / kLanesN * 4;
    int column = warp % (BN / WN) * WN + lane % kLanesN * 4;
    int first_filter = blockIdx.y * BM, first_pixel = blockIdx.x * BN;
    int pixels = N * OH * OW, plane = H * W;

    int a_row = tid / BK, a_k = tid % BK;
    int b_k = tid / kPixels, b_column = tid % kPixels;
    unsigned to_a = shared_address(tiles_a + a_k * kRowA + a_row);
    unsigned to_b = shared_address(tiles_b + b_k * BN + b_column);
    int top[kEach], left[kEach];
    const float *image[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        int pixel = first_pixel + b_column + i * kPixels;
        bool ok = pixel < pixels;
        int n = pixel / (OH * OW), rest = pixel % (OH * OW);
        top[i] = ok ? rest / OW * stride - pad : -1000000;
        left[i] = rest % OW * stride - pad;
        image[i] = x + (long long)n * C * plane;
    }
    int r = 0, s = 0, c0 = 0; // of the next tiles
    int RS = R * S;
    auto copy_tiles = [&](int stage) {
        const float *from_a = w + ((long long)(first_filter + a_row) * C + c0 + a_k) * RS + r * S + s;
#pragma unroll
        for (int i = 0; i < BM; i += kRowsA) {
            bool ok = first_filter + a_row + i < K && c0 + a_k < C;
            cp_async_4(to_a + (stage * kTileA + i) * 4, ok ? from_a + (long long)i * C * RS : w, ok);
        }
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            int yy = top[i] + r, xx = left[i] + s;
            bool inside = yy >= 0 && yy < H && xx >= 0 && xx < W;
            const float *from = image[i] + (long long)(c0 + b_k) * plane + yy * W + xx;
#pragma unroll
            for (int k = 0; k < BK; k += kRowsB) {
                bool ok = inside && c0 + b_k + k < C;
                cp_async_4(to_b + (stage * kTileB + k * BN + i * kPixels) * 4,
                           ok ? from + (long long)k * plane : x, ok);
            }
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
    int steps = RS * ((C + BK - 1) / BK);
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
    int area = OH * OW;
#pragma unroll
    for (int j = 0; j < TN; ++j) {
        int pixel = first_pixel + column + j / 4 * 4 * kLanesN + j % 4;
        int filter = first_filter + row;
        if (pixel < pixels) {
            float *at = y + (long long)(pixel / area) * K * area + pixel % area;
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                int f = filter + i / 4 * 4 * kLanesM + i % 4;
                if (f < K) {
                    at[(long long)f * area] = sum[i][j];
                }
            }
        }
    }
}
