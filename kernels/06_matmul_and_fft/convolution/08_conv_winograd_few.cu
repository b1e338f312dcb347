// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1: x is N x C x H x W, w is K x C x
// 3 x 3 and y is N x K x H x W. At most 16 channels and 65535 * 32 filters, and fewer than 2^31
// elements a tensor (indices are int).
// Adds to conv_winograd, for few channels: no kernel before it and no loop over channels. A block
// transforms its filters itself and keeps them for all tiles it computes. A warp has the four
// places of one column, so that half of the transform of the sums is done in registers; the next
// tiles are loaded while this one's results are stored.
// Limit: half of its instructions are products, the other half transforms, loads and stores.
// grid (at most ceil(N ceil(H / 2) ceil(W / 2) / TILES), ceil(K / 32)), block 128, dynamic shared (kU + kV + kM) * 4

#include "ptx.cuh"

#ifndef TILES
#define TILES 32 // of 2 x 2 pixels of y: a block's at a time
#endif
#ifndef BLOCKS
#define BLOCKS 2 // on a multiprocessor
#endif
#ifndef UNROLL
#define UNROLL 2
#endif

constexpr int kThreads = 128;
constexpr int BF = 32;             // filters of a block
constexpr int CC = 16;             // channels, at most
constexpr int kLanesT = TILES / 4; // lanes side by side, each with four tiles
constexpr int kLanesF = 32 / kLanesT;
constexpr int TF = BF / kLanesF;        // filters of a thread
constexpr int kRows = kThreads / TILES; // channels that the block loads at once
constexpr int kPitchU = 16 * BF + 4;    // of a channel; 4 moves the next one to other banks
constexpr int kU = CC * kPitchU;        // floats
constexpr int kV = 16 * CC * TILES;
constexpr int kM = 8 * BF * TILES;

struct Place { // of a tile: its pixels of x begin at (top, left), one above and left of y's
    int image, top, left;
    unsigned valid; // a bit for each of the 16 pixels that exists
};

__device__ inline Place place_of(int tile, int tiles, int H, int W)
{
    int across = (W + 1) / 2;
    int of_image = across * ((H + 1) / 2);
    Place place = {tile / of_image, tile % of_image / across * 2 - 1, tile % across * 2 - 1, 0};
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        int row = place.top + i / 4;
        int column = place.left + i % 4;
        if (tile < tiles && row >= 0 && row < H && column >= 0 && column < W) {
            place.valid |= 1u << i;
        }
    }
    return place;
}

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    conv_winograd_few(const float *x, const float *w, float *y, int N, int C, int H, int W, int K)
{
    extern __shared__ __align__(16) float memory[];
    float *U = memory;
    float *V = U + kU;
    float *M = V + kV;
    int lane = threadIdx.x % 32;
    int column = threadIdx.x / 32; // of the 4 x 4 places: the warp's
    int lane_t = lane % kLanesT;
    int lane_f = lane / kLanesT;
    int my_tile = threadIdx.x % TILES; // that the thread transforms
    int my_row = threadIdx.x / TILES;  // and its first channel or filter
    int tiles = N * ((H + 1) / 2) * ((W + 1) / 2);
    int groups = (tiles + TILES - 1) / TILES;
    int first_filter = blockIdx.y * BF;

    float d[CC / kRows][16];
    auto load_x = [&](const Place &place) {
#pragma unroll
        for (int j = 0; j < CC / kRows; ++j) {
            int c = my_row + j * kRows;
            unsigned valid = c < C ? place.valid : 0;
            const float *from = x + ((place.image * C + c) * H + place.top) * W + place.left;
#pragma unroll
            for (int i = 0; i < 16; ++i) {
                d[j][i] = valid >> i & 1 ? from[i / 4 * W + i % 4] : 0.0f;
            }
        }
    };
    Place place = place_of(blockIdx.x * TILES + my_tile, tiles, H, W);
    load_x(place);

    constexpr int kFilters = CC * BF / kThreads; // that a thread transforms
    float g[kFilters][9];
#pragma unroll
    for (int j = 0; j < kFilters; ++j) {
        int c = (threadIdx.x + j * kThreads) % CC;
        int filter = first_filter + (threadIdx.x + j * kThreads) / CC;
        bool exists = c < C && filter < K;
        const float *from = w + (exists ? (filter * C + c) * 9 : 0);
#pragma unroll
        for (int i = 0; i < 9; ++i) {
            g[j][i] = exists ? from[i] : 0.0f;
        }
    }
#pragma unroll
    for (int j = 0; j < kFilters; ++j) { // G g G^T
        float t[4][3];
#pragma unroll
        for (int i = 0; i < 3; ++i) {
            t[0][i] = g[j][i];
            t[1][i] = 0.5f * (g[j][i] + g[j][3 + i] + g[j][6 + i]);
            t[2][i] = 0.5f * (g[j][i] - g[j][3 + i] + g[j][6 + i]);
            t[3][i] = g[j][6 + i];
        }
        int pair = threadIdx.x + j * kThreads;
        float *to = U + pair % CC * kPitchU + pair / CC;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            to[(i * 4 + 0) * BF] = t[i][0];
            to[(i * 4 + 1) * BF] = 0.5f * (t[i][0] + t[i][1] + t[i][2]);
            to[(i * 4 + 2) * BF] = 0.5f * (t[i][0] - t[i][1] + t[i][2]);
            to[(i * 4 + 3) * BF] = t[i][2];
        }
    }

#pragma unroll 1
    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
#pragma unroll
        for (int j = 0; j < CC / kRows; ++j) { // B^T d B
            float *to = V + (my_row + j * kRows) * TILES + my_tile;
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
        __syncthreads(); // U and V are complete, and no thread reads the last M any more

        float sum[4][TF][4] = {};
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
#pragma unroll
        for (int f = 0; f < TF; ++f) { // A^T m, of the warp's column
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
        Place next = place_of((group + gridDim.x) * TILES + my_tile, tiles, H, W);
        load_x(next);
        __syncthreads(); // M is complete, and no thread reads V any more

        if (group * TILES + my_tile < tiles) {
            bool right = place.left + 2 < W;
            float *at =
                y + ((place.image * K + first_filter) * H + place.top + 1) * W + place.left + 1;
#pragma unroll 4
            for (int f = my_row; f < BF; f += kRows) { // and A
                const float *m = M + f * TILES + my_tile;
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    float m0 = m[(i * 4 + 0) * BF * TILES];
                    float m1 = m[(i * 4 + 1) * BF * TILES];
                    float m2 = m[(i * 4 + 2) * BF * TILES];
                    float m3 = m[(i * 4 + 3) * BF * TILES];
                    float *to = at + (f * H + i) * W;
                    if (first_filter + f < K && place.top + 1 + i < H) {
                        if (W % 2 == 0) {
                            *reinterpret_cast<float2 *>(to) =
                                make_float2(m0 + m1 + m2, m1 - m2 - m3);
                        } else {
                            to[0] = m0 + m1 + m2;
                            if (right) {
                                to[1] = m1 - m2 - m3;
                            }
                        }
                    }
                }
            }
        }
        place = next;
    }
}
