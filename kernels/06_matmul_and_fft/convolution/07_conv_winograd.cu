// y = x * w, a convolution of 3 x 3 in fp32, stride 1, padding 1: x is N x C x H x W and y is N x K
// x H x W; U is what winograd_filters makes of w. K is a multiple of 64, fewer than 2^31 elements a
// tensor (indices are int).
// The idea: another algorithm, Winograd's F(2 x 2, 3 x 3). A tile of 2 x 2 pixels of y needs 4 x 4
// of x; 32 additions turn those into 16 numbers, whose products with the filter's 16 are summed
// over the channels, and 24 additions turn the sums into the four results: 16 products in place of
// 36.
// Adds to conv_row_tile: these sums are 16 matrix products, one for each of the 16 places. A warp
// computes two of them for 64 filters and 32 tiles. A block takes one group of 32 tiles after the
// other, and copies the first channels of the next one while it multiplies the last ones of this.
// Limit: half of its PTX instructions are no products; there is one block on a multiprocessor, and
// its warps wait for each other while the sums change hands.
// grid (at most ceil(N ceil(H / 2) ceil(W / 2) / 32), K / 64), block 256, dynamic shared (2 * (kTileV + kTileU) + kTileM) * 4

#include "ptx.cuh"

#ifndef PARTS
#define PARTS 4 // in which the sums change hands: 4, or 1 with 128 KB more of shared memory
#endif
constexpr int kTiles = 32; // of 2 x 2 pixels of y: a block's
constexpr int BF = 64;     // filters of a block
constexpr int CC = 8;      // channels of a step
constexpr int kThreads = 256;
constexpr int kTileV = 16 * CC * kTiles; // floats
constexpr int kTileU = CC * 16 * BF;
constexpr int kPartF = BF / PARTS;                            // filters of a part
constexpr int kTileM = PARTS == 1 ? 16 * kPartF * kTiles : 0; // four parts fit in a tile of U
static_assert(kTileM > 0 || 16 * kPartF * kTiles <= kTileU, "a part of the sums fits");

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_winograd(const float *x, const float *U, float *y, int N, int C, int H, int W, int K)
{
    extern __shared__ __align__(16) float memory[];
    float *tiles_v = memory, *tiles_u = memory + 2 * kTileV;
    int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    int across = (W + 1) / 2, down = (H + 1) / 2, tiles = N * across * down, plane = H * W;
    int first_filter = blockIdx.y * BF, groups = (tiles + kTiles - 1) / kTiles;

    unsigned valid, next_valid; // a bit for each pixel of the tile that exists
    const float *from_x, *next_x;
    auto look_at = [&](int group) { // tiles to load next: a lane's tile, a warp's channel
        int tile = group * kTiles + lane;
        int image = tile / (across * down), rest = tile % (across * down);
        int top = rest / across * 2 - 1, left = rest % across * 2 - 1;
        next_valid = 0;
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            int yy = top + i / 4, xx = left + i % 4;
            if (tile < tiles && yy >= 0 && yy < H && xx >= 0 && xx < W) {
                next_valid |= 1u << i;
            }
        }
        next_x = x + (image * C + warp) * plane + top * W + left;
    };
    float d[16];
    auto load_x = [&](int first_channel) {
        const float *from = from_x + first_channel * plane;
        unsigned ok = first_channel + warp < C ? valid : 0;
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            d[i] = ok >> i & 1 ? from[i / 4 * W + i % 4] : 0.0f;
        }
    };
    auto store_v = [&](int buffer) { // B^T d B
#pragma unroll
        for (int i = 0; i < 4; ++i) { // columns
            float a = d[i], b = d[4 + i], e = d[8 + i], g = d[12 + i];
            d[i] = a - e;
            d[4 + i] = b + e;
            d[8 + i] = e - b;
            d[12 + i] = b - g;
        }
        float *to = tiles_v + buffer * kTileV + warp * kTiles + lane;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float a = d[i * 4], b = d[i * 4 + 1], e = d[i * 4 + 2], g = d[i * 4 + 3];
            to[(i * 4 + 0) * CC * kTiles] = a - e;
            to[(i * 4 + 1) * CC * kTiles] = b + e;
            to[(i * 4 + 2) * CC * kTiles] = e - b;
            to[(i * 4 + 3) * CC * kTiles] = b - g;
        }
    };
    unsigned to_u = shared_address(tiles_u + tid / 16 * BF + tid % 16 * 4);
    const float *from_u = U + tid / 16 * K + first_filter + tid % 16 * 4;
    auto copy_u = [&](int buffer, int first_channel) {
#pragma unroll
        for (int c = 0; c < CC; ++c) { // 16 rows of 64 a channel
            bool ok = first_channel + c < C;
            cp_async_16(to_u + (buffer * kTileU + c * 16 * BF) * 4,
                        ok ? from_u + (first_channel + c) * 16 * K : U, ok);
        }
    };

    int lane_f = lane % 8, lane_t = lane / 8;
    look_at(blockIdx.x);
    valid = next_valid;
    from_x = next_x;
    load_x(0);
    copy_u(0, 0);
    cp_async_commit();
    store_v(0);
    int buffer = 0;
#pragma unroll 1
    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
        float sum[2][8][8] = {};
        bool last = group + gridDim.x >= groups;
        look_at(group + gridDim.x);
#pragma unroll 1
        for (int first = 0; first < C; first += CC) {
            cp_async_wait<0>();
            __syncthreads(); // this step's tiles are complete, those before are no
                             // longer read
            int next = first + CC;
            bool more = next < C || !last;
            if (next >= C) { // the first channels of the next tiles
                next = 0;
                valid = next_valid;
                from_x = next_x;
            }
            if (more) {
                load_x(next);
                copy_u(buffer ^ 1, next);
                cp_async_commit();
            }
#pragma unroll
            for (int c = 0; c < CC; ++c) {
#pragma unroll
                for (int q = 0; q < 2; ++q) {
                    const float *row_v =
                        tiles_v + buffer * kTileV + ((warp * 2 + q) * CC + c) * kTiles + lane_t * 4;
                    const float *row_u =
                        tiles_u + buffer * kTileU + (c * 16 + warp * 2 + q) * BF + lane_f * 4;
                    float u[8], v[8];
                    *reinterpret_cast<float4 *>(&u[0]) = *reinterpret_cast<const float4 *>(row_u);
                    *reinterpret_cast<float4 *>(&u[4]) =
                        *reinterpret_cast<const float4 *>(row_u + 32);
                    *reinterpret_cast<float4 *>(&v[0]) = *reinterpret_cast<const float4 *>(row_v);
                    *reinterpret_cast<float4 *>(&v[4]) =
                        *reinterpret_cast<const float4 *>(row_v + 16);
#pragma unroll
                    for (int f = 0; f < 8; ++f) {
#pragma unroll
                        for (int j = 0; j < 8; ++j) {
                            int p = f % 2 ? 7 - j : j;
                            sum[q][f][p] += u[f] * v[p];
                        }
                    }
                }
            }
            if (more) {
                store_v(buffer ^ 1);
            }
            buffer ^= 1;
        }

        // The sums change hands, a row of a part for each filter. Its chunks of four tiles change
        // places by the lane that stores them, so that eight lanes at a time store to all banks.
        constexpr int kEach = 8 / PARTS; // filters of a lane in a part
        float *sums = tiles_u + (PARTS == 1 ? 2 : buffer ^ 1) * kTileU; // past U, or its free tile
        int tile = group * kTiles + lane;
        int image = tile / (across * down), rest = tile % (across * down);
        int row = rest / across * 2, column = rest % across * 2;
        float *first_y = y + ((image * K + first_filter) * H + row) * W + column;
        bool right = column + 1 < W, below = row + 1 < H;
#pragma unroll
        for (int part = 0; part < PARTS; ++part) {
            if (PARTS > 1) {
                __syncthreads(); // nobody reads this memory any more
            }
#pragma unroll
            for (int q = 0; q < 2; ++q) {
#pragma unroll
                for (int f = 0; f < kEach; ++f) {
                    float *to = sums + ((warp * 2 + q) * kPartF + lane_f * kEach + f) * kTiles;
                    *reinterpret_cast<float4 *>(to + (lane_t ^ lane_f) * 4) =
                        *reinterpret_cast<float4 *>(&sum[q][part * kEach + f][0]);
                    *reinterpret_cast<float4 *>(to + ((lane_t + 4) ^ lane_f) * 4) =
                        *reinterpret_cast<float4 *>(&sum[q][part * kEach + f][4]);
                }
            }
            __syncthreads(); // all sums of the part are there
#pragma unroll
            for (int r = warp; r < kPartF && tile < tiles; r += 8) { // A^T m A; lanes are tiles
                int of_lane = part * kEach + r % kEach; // the f of the lane that stored it
                int filter = of_lane / 4 * 32 + r / kEach * 4 + of_lane % 4;
                const float *from = sums + r * kTiles + (lane / 4 ^ r / kEach) * 4 + lane % 4;
                float m[16], t[8];
#pragma unroll
                for (int j = 0; j < 16; ++j) {
                    m[j] = from[j * kPartF * kTiles];
                }
#pragma unroll
                for (int j = 0; j < 4; ++j) {
                    t[j] = m[j] + m[4 + j] + m[8 + j];
                    t[4 + j] = m[4 + j] - m[8 + j] - m[12 + j];
                }
                float *at = first_y + filter * plane;
                float y00 = t[0] + t[1] + t[2], y01 = t[1] - t[2] - t[3];
                float y10 = t[4] + t[5] + t[6], y11 = t[5] - t[6] - t[7];
                if (W % 2 == 0) {
                    *reinterpret_cast<float2 *>(at) = make_float2(y00, y01);
                    if (below) {
                        *reinterpret_cast<float2 *>(at + W) = make_float2(y10, y11);
                    }
                } else {
                    at[0] = y00;
                    if (right) {
                        at[1] = y01;
                    }
                    if (below) {
                        at[W] = y10;
                        if (right) {
                            at[W + 1] = y11;
                        }
                    }
                }
            }
        }
    }
}
