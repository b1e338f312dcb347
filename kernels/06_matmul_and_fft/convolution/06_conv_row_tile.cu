// y = x * w, the convolution of a neural network: x is N x C x H x W, w is K x C x R x S, y is
// N x K x OH x OW, all fp32, zeros PAD deep around x, stride 1. Any shape with tensors below 2^31.
// Adds to conv_implicit_gemm: the S taps of a row of the filter share what a thread has read. A
// thread computes SEG neighbours of a row of y for TN filters; SEG + S - 1 pixels serve S SEG
// products for each filter, so that shared memory is asked for a third as much.
// Limit: the rate of FFMA.
// grid (ceil(N OH ceil(OW / SEG) / BSEG), ceil(K / BF)), block (BSEG * BF / TN), dynamic shared shared_bytes
#include "ptx.cuh"

#ifndef R
#define R 3
#endif
#ifndef S
#define S 3
#endif
#ifndef PAD
#define PAD 1
#endif
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
#ifndef STAGES
#define STAGES 2
#endif
#ifndef BLOCKS
#define BLOCKS 3
#endif
#ifndef PIPE
#define PIPE 0
#endif
#ifndef EPI
#define EPI 1
#endif
#ifndef ORDER
#define ORDER 0
#endif
#ifndef UNROLL_C
#define UNROLL_C 1
#endif

constexpr int kLanesF = BF / TN;
constexpr int kThreads = BSEG * kLanesF;
constexpr int kWide = SEG + S - 1;            // pixels of a row of x that a thread needs
constexpr int kCols = (kWide + 3) / 4 * 4;    // rounded up to 16 bytes
constexpr int kPitch = kCols % 8 == 0 ? kCols + 4 : kCols;
constexpr int kCopyLanes = kWide <= 16 ? 16 : 32; // threads that copy a row
constexpr int kCopyRows = kThreads / kCopyLanes;
constexpr int kSegs = BSEG / kCopyRows > 0 ? (BSEG + kCopyRows - 1) / kCopyRows : 1; // a thread decodes
constexpr int kTileX = CC * R * BSEG * kPitch; // floats
constexpr int kKK = CC * R * S;
constexpr int kPitchW = BF + 4;
constexpr int kTileW = kKK * kPitchW;
constexpr int kLanesK = CC % 8 == 0 ? 8 : CC % 4 == 0 ? 4 : 1;
constexpr int kRowsF = kThreads / kLanesK;
static_assert(kWide <= 32 && kThreads % kCopyLanes == 0, "copies");
static_assert(BSEG % kCopyRows == 0, "segments come out even");
static_assert(TN % 4 == 0, "");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_row_tile(const float *x, const float *w, float *y, int N, int C, int H, int W, int K)
{
    extern __shared__ __align__(16) float tiles[]; // STAGES tiles of x, then STAGES of w
    float *tiles_x = tiles, *tiles_w = tiles + STAGES * kTileX;
    int tid = threadIdx.x;
    int OH = H + 2 * PAD - R + 1, OW = W + 2 * PAD - S + 1;
    int per_row = (OW + SEG - 1) / SEG;
    int segments = N * OH * per_row;
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
        int xx = segment % per_row * SEG + col - PAD;
        int image = line / OH, yy = line % OH - PAD;
        bool inside = segment < segments && xx >= 0 && xx < W && col < kWide;
#pragma unroll
        for (int r = 0; r < R; ++r) {
            if (inside && yy + r >= 0 && yy + r < H) {
                valid |= 1u << (i * R + r);
            }
        }
        from_x[i] = x + ((long long)image * C * H + yy) * W + xx;
    }
    int copy_k = tid % kLanesK, copy_f = tid / kLanesK;
    unsigned to_x = shared_address(tiles_x + copy_row * kPitch + col);
    unsigned to_w = shared_address(tiles_w + copy_k * kPitchW + copy_f);
    const float *from_w = w + (long long)(first_filter + copy_f) * C * (R * S) + copy_k;

    auto copy_tiles = [&](int stage, int first_channel) {
#pragma unroll
        for (int c = 0; c < CC; ++c) {
            bool more = first_channel + c < C;
#pragma unroll
            for (int i = 0; i < kSegs; ++i) {
                const float *from = from_x[i] + (long long)(first_channel + c) * plane;
#pragma unroll
                for (int r = 0; r < R; ++r) {
                    bool ok = more && (valid >> (i * R + r) & 1);
                    if (kWide == kCopyLanes || col < kWide) {
                        cp_async_4(to_x + (stage * kTileX +
                                           ((c * R + r) * BSEG + i * kCopyRows) * kPitch) * 4,
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
                for (int k = 0; k < kKK; k += kLanesK) {
                    bool good = ok && k < left;
                    cp_async_4(to_w + (stage * kTileW + k * kPitchW + f) * 4,
                               good ? from + (long long)f * C * (R * S) + k : w, good);
                }
            }
        }
    };

    int lane_f = tid % kLanesF, seg = tid / kLanesF; // consecutive lanes: consecutive filters
    const float *my_x = tiles_x + seg * kPitch;
    const float *my_w = tiles_w + lane_f * 4;

    float sum[TN][SEG] = {};
    constexpr int kSets = PIPE ? 2 : 1;
    float in[kSets][kCols], weight[kSets][S][TN];
    auto read = [&](int stage, int c, int r, int which) {
        const float *row = my_x + stage * kTileX + (c * R + r) * BSEG * kPitch;
#pragma unroll
        for (int i = 0; i < kCols; i += 4) {
            *reinterpret_cast<float4 *>(&in[which][i]) = *reinterpret_cast<const float4 *>(row + i);
        }
        const float *ws = my_w + stage * kTileW + (c * R + r) * S * kPitchW;
#pragma unroll
        for (int s = 0; s < S; ++s) {
#pragma unroll
            for (int f = 0; f < TN; f += 4) {
                *reinterpret_cast<float4 *>(&weight[which][s][f]) =
                    *reinterpret_cast<const float4 *>(ws + s * kPitchW + f * kLanesF);
            }
        }
    };
    auto multiply = [&](int which) {
#if ORDER == 0
#pragma unroll
        for (int s = 0; s < S; ++s) {
#pragma unroll
            for (int f = 0; f < TN; ++f) {
#pragma unroll
                for (int q = 0; q < SEG; ++q) {
                    int p = f % 2 ? SEG - 1 - q : q;
                    sum[f][p] += in[which][p + s] * weight[which][s][f];
                }
            }
        }
#elif ORDER == 1
#pragma unroll
        for (int s = 0; s < S; ++s) {
#pragma unroll
            for (int p = 0; p < SEG; ++p) {
#pragma unroll
                for (int q = 0; q < TN; ++q) {
                    int f = p % 2 ? TN - 1 - q : q;
                    sum[f][p] += in[which][p + s] * weight[which][s][f];
                }
            }
        }
#else
#pragma unroll
        for (int i = 0; i < SEG + S - 1; ++i) {
#pragma unroll
            for (int s = 0; s < S; ++s) {
#pragma unroll
                for (int q = 0; q < TN; ++q) {
                    int f = s % 2 ? TN - 1 - q : q;
                    if (i - s >= 0 && i - s < SEG) {
                        sum[f][i - s] += in[which][i] * weight[which][s][f];
                    }
                }
            }
        }
#endif
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
#if PIPE
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    read(0, 0, 0, 0);
#endif
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
#if !PIPE
        cp_async_wait<STAGES - 2>();
        __syncthreads(); // this step's tiles are complete, the ones before are no longer needed
#endif
        if (step + STAGES - 1 < steps) {
            copy_tiles(free_stage, (step + STAGES - 1) * CC);
        }
        cp_async_commit();
#if PIPE
        static_assert(CC * R % 2 == 0, "");
#pragma unroll
        for (int t = 0; t < CC * R; ++t) {
            if (t + 1 < CC * R) {
                read(stage, (t + 1) / R, (t + 1) % R, (t + 1) % 2);
            } else {
                cp_async_wait<STAGES - 2>();
                __syncthreads();
                free_stage = stage;
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                read(stage, 0, 0, 0);
            }
            multiply(t % 2);
        }
#else
#pragma unroll UNROLL_C
        for (int c = 0; c < CC; ++c) {
#pragma unroll
            for (int r = 0; r < R; ++r) {
                read(stage, c, r, 0);
                multiply(0);
            }
        }
        free_stage = stage;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
#endif
    }

#if EPI
    constexpr int kPixels = BSEG * SEG;
    constexpr int kPitchY = kPixels + 4;
    constexpr int kEach = (kPixels + kThreads - 1) / kThreads;
    cp_async_wait<0>();
    long long to[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
        int pixel = tid + i * kThreads;
        int segment = first_segment + pixel / SEG;
        int line = segment / per_row, xx = segment % per_row * SEG + pixel % SEG;
        bool ok = pixel < kPixels && segment < segments && xx < OW;
        to[i] = ok ? ((long long)(line / OH) * K * OH + line % OH) * OW + xx : -1;
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
                    at[(long long)(first_filter + half * kLanesF + f) * OH * OW] =
                        tiles[f * kPitchY + tid + i * kThreads];
                }
            }
        }
    }
#else
    int segment = first_segment + seg;
    if (segment < segments) {
        int line = segment / per_row, xx = segment % per_row * SEG;
        float *at = y + ((long long)(line / OH) * K * OH + line % OH) * OW + xx;
#pragma unroll
        for (int f = 0; f < TN; ++f) {
            int filter = first_filter + f / 4 * 4 * kLanesF + lane_f * 4 + f % 4;
            if (filter < K) {
#pragma unroll
                for (int p = 0; p < SEG; ++p) {
                    if (xx + p < OW) {
                        at[(long long)filter * OH * OW + p] = sum[f][p];
                    }
                }
            }
        }
    }
#endif
}
