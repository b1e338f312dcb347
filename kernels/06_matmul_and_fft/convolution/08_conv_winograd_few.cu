// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1: x is N x C x H x W, w is K x C x
// 3 x 3 and y is N x K x H x W. Any shape with fewer than 2^31 elements a tensor (indices are int),
// at most 65535 * 32 filters.
// Adds to conv_winograd, for few channels: no kernel before it. A block transforms its filters
// itself and keeps them for all tiles it computes. A warp has four places that stand in one column,
// so that half of the transform of the sums is done in registers.
// Limit: with so few channels the transforms take as long as the products.
// grid (at most ceil(N ceil(H / 2) ceil(W / 2) / TILES), ceil(K / 32)), block 128, dynamic shared (kU + kV + kM) * 4

#include "ptx.cuh"
#ifndef TILES
#define TILES 32
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
constexpr int kThreads = 128, BF = 32, CC = 16;
constexpr int kLanesT = TILES / 4, kLanesF = 32 / kLanesT, TF = BF / kLanesF;
constexpr int kRows = kThreads / TILES; // threads of one tile
constexpr int kPitchU = 16 * BF + 4;    // of a channel
constexpr int kU = CC * kPitchU, kV = 16 * CC * TILES, kM = 8 * BF * TILES;

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_winograd_few(const float *x, const float *w, float *y, int N, int C, int H, int W, int K)
{
    extern __shared__ __align__(16) float memory[];
    float *U = memory, *V = U + kU, *M = V + kV;
    int tid = threadIdx.x, lane = tid % 32, column = tid / 32;
    int lane_t = lane % kLanesT, lane_f = lane / kLanesT;
    int across = (W + 1) / 2, down = (H + 1) / 2, tiles = N * across * down, plane = H * W;
    int groups = (tiles + TILES - 1) / TILES;
    int first_filter = blockIdx.y * BF;
    int row = tid / TILES;

    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
        int tile = group * TILES + tid % TILES;
        int image = tile / (across * down), rest = tile % (across * down);
        int top = rest / across * 2 - 1, left = rest % across * 2 - 1;
        unsigned valid = 0;
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            int yy = top + i / 4, xx = left + i % 4;
            if (tile < tiles && yy >= 0 && yy < H && xx >= 0 && xx < W) {
                valid |= 1u << i;
            }
        }
        float sum[4][TF][4] = {};
        for (int first = 0; first < C; first += CC) {
            if (first > 0) {
                __syncthreads(); // nobody reads U and V any more
            }
            float d[CC / kRows][16];
#pragma unroll
            for (int j = 0; j < CC / kRows; ++j) {
                int c = first + row + j * kRows;
                unsigned ok = c < C ? valid : 0;
                const float *from = x + ((long long)image * C + c) * plane + top * W + left;
#pragma unroll
                for (int i = 0; i < 16; ++i) {
                    d[j][i] = ok >> i & 1 ? from[i / 4 * W + i % 4] : 0.0f;
                }
            }
            if (group == blockIdx.x || C > CC) {
#pragma unroll
                for (int p = tid; p < CC * BF; p += kThreads) {
                    int c = p % CC, f = p / CC;
                    float g[9] = {}, t[4][3];
                    if (first + c < C && first_filter + f < K) {
                        const float *from = w + ((long long)(first_filter + f) * C + first + c) * 9;
#pragma unroll
                        for (int i = 0; i < 9; ++i) {
                            g[i] = from[i];
                        }
                    }
#pragma unroll
                    for (int i = 0; i < 3; ++i) {
                        t[0][i] = g[i];
                        t[1][i] = 0.5f * (g[i] + g[3 + i] + g[6 + i]);
                        t[2][i] = 0.5f * (g[i] - g[3 + i] + g[6 + i]);
                        t[3][i] = g[6 + i];
                    }
                    float *to = U + c * kPitchU + f;
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        to[(i * 4 + 0) * BF] = t[i][0];
                        to[(i * 4 + 1) * BF] = 0.5f * (t[i][0] + t[i][1] + t[i][2]);
                        to[(i * 4 + 2) * BF] = 0.5f * (t[i][0] - t[i][1] + t[i][2]);
                        to[(i * 4 + 3) * BF] = t[i][2];
                    }
                }
            }
#pragma unroll
            for (int j = 0; j < CC / kRows; ++j) {
                float *to = V + (row + j * kRows) * TILES + tid % TILES;
                float t[16];
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    t[i] = d[j][i] - d[j][8 + i];
                    t[4 + i] = d[j][4 + i] + d[j][8 + i];
                    t[8 + i] = d[j][8 + i] - d[j][4 + i];
                    t[12 + i] = d[j][4 + i] - d[j][12 + i];
                }
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    to[(i * 4 + 0) * CC * TILES] = t[i * 4] - t[i * 4 + 2];
                    to[(i * 4 + 1) * CC * TILES] = t[i * 4 + 1] + t[i * 4 + 2];
                    to[(i * 4 + 2) * CC * TILES] = t[i * 4 + 2] - t[i * 4 + 1];
                    to[(i * 4 + 3) * CC * TILES] = t[i * 4 + 1] - t[i * 4 + 3];
                }
            }
            __syncthreads();
#pragma unroll UNROLL
            for (int c = 0; c < CC; ++c) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    float u[TF], v[4];
                    const float *from_u = U + c * kPitchU + (i * 4 + column) * BF + lane_f * 4;
#pragma unroll
                    for (int f = 0; f < TF; f += 4) {
                        *reinterpret_cast<float4 *>(&u[f]) =
                            *reinterpret_cast<const float4 *>(from_u + f * kLanesF);
                    }
                    *reinterpret_cast<float4 *>(v) = *reinterpret_cast<const float4 *>(
                        V + ((i * 4 + column) * CC + c) * TILES + lane_t * 4);
#pragma unroll
                    for (int f = 0; f < TF; ++f) {
#pragma unroll
                        for (int j = 0; j < 4; ++j) {
                            int p = f % 2 ? 3 - j : j;
                            sum[i][f][p] += u[f] * v[p];
                        }
                    }
                }
            }
        }
#pragma unroll
        for (int f = 0; f < TF; ++f) {
            float above[4], below[4];
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                above[j] = sum[0][f][j] + sum[1][f][j] + sum[2][f][j];
                below[j] = sum[1][f][j] - sum[2][f][j] - sum[3][f][j];
            }
            int filter = f / 4 * 4 * kLanesF + lane_f * 4 + f % 4;
            float *to = M + (column * BF + filter) * TILES + lane_t * 4;
            *reinterpret_cast<float4 *>(to) = *reinterpret_cast<float4 *>(above);
            *reinterpret_cast<float4 *>(to + 4 * BF * TILES) = *reinterpret_cast<float4 *>(below);
        }
        __syncthreads();
        if (tile < tiles) {
#pragma unroll 4
            for (int f = row; f < BF; f += kRows) {
                if (first_filter + f < K) {
                    const float *m = M + f * TILES + tid % TILES;
                    float *at = y + ((long long)image * K + first_filter + f) * plane +
                                (top + 1) * W + left + 1;
#pragma unroll
                    for (int i = 0; i < 2; ++i) {
                        float a = m[(i * 4 + 0) * BF * TILES], b = m[(i * 4 + 1) * BF * TILES];
                        float c = m[(i * 4 + 2) * BF * TILES], e = m[(i * 4 + 3) * BF * TILES];
                        if (top + 1 + i < H) {
                            if (W % 2 == 0) {
                                *reinterpret_cast<float2 *>(at + i * W) =
                                    make_float2(a + b + c, b - c - e);
                            } else {
                                at[i * W] = a + b + c;
                                if (left + 2 < W) {
                                    at[i * W + 1] = b - c - e;
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
