// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1: x is N x C x H x W, w is K x C x
// 3 x 3 and y is N x K x H x W. Any shape with fewer than 2^31 elements a tensor (indices are int)
// and at most 65535 * BF filters.
// Adds to conv_pipeline: the three taps of a filter's row share what a thread has read. It computes
// SEG neighbours in a row of y for TN filters; SEG + 2 pixels and 3 TN weights make 3 SEG TN
// products. Results leave through shared memory, so that a warp stores neighbours.
// Limit: three of four PTX instructions are products; the next rung needs fewer of them.
// grid (ceil(N H ceil(W / SEG) / BSEG), ceil(K / BF)), block (BSEG * BF / TN), dynamic shared max(2 * (kTileX + kTileW), 4 * kLanesF * kPitchY) * 4

#include "ptx.cuh"

#ifndef SEG
#define SEG 14 // neighbours in a row of y: a thread's
#endif
#ifndef TN
#define TN 8 // filters of a thread
#endif
#ifndef BSEG
#define BSEG 16 // rows of SEG of a block
#endif
#ifndef BF
#define BF 64 // filters of a block
#endif
#ifndef CC
#define CC 4 // channels of a step
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif

constexpr int R = 3; // the filter
constexpr int S = 3;
constexpr int STAGES = 2;
constexpr int kLanesF = BF / TN;
constexpr int kThreads = BSEG * kLanesF;
constexpr int kWide = SEG + S - 1;                         // pixels of x that a segment needs
constexpr int kCols = (kWide + 3) / 4 * 4;                 // rounded up to 16 bytes
constexpr int kPitch = kCols % 8 == 0 ? kCols + 4 : kCols; // rows begin at different banks
constexpr int kCopyLanes = kWide <= 16 ? 16 : 32;          // threads that copy a row
constexpr int kCopyRows = kThreads / kCopyLanes;           // that the block copies at once
constexpr int kSegs = (BSEG + kCopyRows - 1) / kCopyRows;  // segments of which a thread copies
constexpr int kTileX = CC * R * BSEG * kPitch;             // floats
constexpr int kTaps = CC * R * S;
constexpr int kPitchW = BF + 4;
constexpr int kTileW = kTaps * kPitchW;
constexpr int kLanesK = CC % 8 == 0 ? 8 : CC % 4 == 0 ? 4 : 1; // threads that copy a filter's taps
constexpr int kRowsF = kThreads / kLanesK;
static_assert(kWide <= 32 && kSegs * R <= 32, "a bit for each row that a thread copies");
static_assert(kThreads % kCopyLanes == 0 && BSEG % kCopyRows == 0, "copies come out even");
static_assert(TN % 4 == 0, "weights are read four at a time");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_row_tile(const float *x, const float *w, float *y, int N, int C, int H, int W, int K)
{
    extern __shared__ __align__(16) float tiles[]; // STAGES tiles of x, then STAGES of w
    float *tiles_x = tiles, *tiles_w = tiles + STAGES * kTileX;
    int tid = threadIdx.x;
    int per_row = (W + SEG - 1) / SEG;
    int segments = N * H * per_row;
    int first_segment = blockIdx.x * BSEG;
    int first_filter = blockIdx.y * BF;
    int plane = H * W;

    // what this thread copies of x: column `col` of some rows
    int col = tid % kCopyLanes, copy_row = tid / kCopyLanes;
    const float *from_x[kSegs];
    unsigned valid = 0;
#pragma unroll
    for (int i = 0; i < kSegs; ++i) {
        int segment = first_segment + copy_row + i * kCopyRows;
        int line = segment / per_row;
        int xx = segment % per_row * SEG + col - 1;
        int image = line / H, yy = line % H - 1;
        bool inside = segment < segments && xx >= 0 && xx < W && col < kWide;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (inside && yy + r >= 0 && yy + r < H) {
                valid |= 1u << (i * R + r);
            }
        }
        from_x[i] = x + (image * C * H + yy) * W + xx;
    }
    int copy_k = tid % kLanesK, copy_f = tid / kLanesK;
    unsigned to_x = shared_address(tiles_x + copy_row * kPitch + col);
    unsigned to_w = shared_address(tiles_w + copy_k * kPitchW + copy_f);
    const float *from_w = w + (first_filter + copy_f) * C * (R * S) + copy_k;

    auto copy_tiles = [&](int stage, int first_channel) {
#pragma unroll
        for (int c = 0; c < CC; ++c) {
            bool more = first_channel + c < C;
#pragma unroll
            for (int i = 0; i < kSegs; ++i) {
                const float *from = from_x[i] + (first_channel + c) * plane;
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    bool ok = more && (valid >> (i * R + r) & 1);
                    if (kWide == kCopyLanes || col < kWide) {
                        cp_async_4(to_x + (stage * kTileX +
                                           ((c * R + r) * BSEG + i * kCopyRows) * kPitch) *
                                              4,
                                   ok ? from + r * W : x, ok);
                    }
                }
            }
        }
        const float *from = from_w + first_channel * (R * S);
        int left = (C - first_channel) * (R * S) - copy_k;
#pragma unroll
        for (int f = 0; f < BF; f += kRowsF) {
            if (BF % kRowsF == 0 || copy_f + f < BF) {
                bool ok = first_filter + copy_f + f < K;
#pragma unroll
                for (int k = 0; k < kTaps; k += kLanesK) {
                    bool good = ok && k < left;
                    cp_async_4(to_w + (stage * kTileW + k * kPitchW + f) * 4,
                               good ? from + f * C * (R * S) + k : w, good);
                }
            }
        }
    };

    int lane_f = tid % kLanesF, seg = tid / kLanesF; // consecutive lanes: consecutive filters
    const float *my_x = tiles_x + seg * kPitch;
    const float *my_w = tiles_w + lane_f * 4;

    float sum[TN][SEG] = {};
    float in[kCols], weight[S][TN];
    auto read = [&](int stage, int c, int r) {
        const float *row = my_x + stage * kTileX + (c * R + r) * BSEG * kPitch;
#pragma unroll
        for (int i = 0; i < kCols; i += 4) {
            *reinterpret_cast<float4 *>(&in[i]) = *reinterpret_cast<const float4 *>(row + i);
        }
        const float *ws = my_w + stage * kTileW + (c * R + r) * S * kPitchW;
#pragma unroll
        for (int s = 0; s < S; ++s) {
#pragma unroll
            for (int f = 0; f < TN; f += 4) {
                *reinterpret_cast<float4 *>(&weight[s][f]) =
                    *reinterpret_cast<const float4 *>(ws + s * kPitchW + f * kLanesF);
            }
        }
    };
    auto multiply = [&] {
#pragma unroll
        for (int s = 0; s < S; ++s) {
#pragma unroll
            for (int f = 0; f < TN; ++f) {
#pragma unroll
                for (int q = 0; q < SEG; ++q) {
                    int p = f % 2 ? SEG - 1 - q : q;
                    sum[f][p] += in[p + s] * weight[s][f];
                }
            }
        }
    };

    int steps = (C + CC - 1) / CC;
#pragma unroll
    for (int s = 0; s < STAGES - 1; ++s) {
        if (s < steps) {
            copy_tiles(s, s * CC);
        }
        cp_async_commit();
    }
    int stage = 0, free_stage = STAGES - 1;
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        cp_async_wait<STAGES - 2>();
        __syncthreads(); // this step's tiles are complete, the ones before are no longer needed
        if (step + STAGES - 1 < steps) {
            copy_tiles(free_stage, (step + STAGES - 1) * CC);
        }
        cp_async_commit();
#pragma unroll 1
        for (int c = 0; c < CC; ++c) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                read(stage, c, r);
                multiply();
            }
        }
        free_stage = stage;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }

    constexpr int kPixels = BSEG * SEG;
    constexpr int kPitchY = kPixels + 4;
    constexpr int kEach = (kPixels + kThreads - 1) / kThreads;
    cp_async_wait<0>();
    int to[kEach]; // where this thread's pixels lie in the first filter's plane
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        int pixel = tid + i * kThreads;
        int segment = first_segment + pixel / SEG;
        int line = segment / per_row, xx = segment % per_row * SEG + pixel % SEG;
        bool ok = pixel < kPixels && segment < segments && xx < W;
        to[i] = ok ? (line / H * K * H + line % H) * W + xx : -1;
    }
#pragma unroll
    for (int half = 0; half < TN; half += 4) {
        __syncthreads();
#pragma unroll
        for (int f = 0; f < 4; ++f) {
#pragma unroll
            for (int p = 0; p < SEG; ++p) {
                tiles[(lane_f * 4 + f) * kPitchY + seg * SEG + p] = sum[half + f][p];
            }
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            if (to[i] >= 0) {
                float *at = y + to[i];
                int filters = min(kLanesF * 4, K - first_filter - half * kLanesF);
#pragma unroll 4
                for (int f = 0; f < filters; ++f) {
                    at[(first_filter + half * kLanesF + f) * plane] =
                        tiles[f * kPitchY + tid + i * kThreads];
                }
            }
        }
    }
}
