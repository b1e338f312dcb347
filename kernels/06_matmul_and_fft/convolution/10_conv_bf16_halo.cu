// y = x * w, a convolution of 3 x 3 in bf16 with sums in fp32, stride 1, padding 1, channels last:
// x is N x H x W x 64, w is K x 3 x 3 x 64 and y is N x H x W x K. 64 channels and K a multiple of
// 64; any images, with fewer than 2^31 elements a tensor (indices are int). x and w come as tensor
// maps: x with boxes of 1 x 10 x 10 x 64, w as K x 9 x 64 with boxes of 64 x 1 x 64, both with a
// swizzle of 128 bytes.
// Adds to conv_bf16: a pixel is copied once, not nine times. TMA brings tiles of 8 x 8 with their
// halo (zeros outside of the image), one pixel a row of 128 bytes, and ldmatrix takes the rows of a
// tap from where they lie. The weights of all taps stay in shared memory, and blocks go from tiles
// to tiles.
// Limit: less than half of the tensor cores' peak. mma.sync takes its operands through
// registers, and a tile's warp neither reads nor multiplies while it stores.
// sm_90a.
// grid (at most multiprocessors, K / 64), block (TILES * 32 + 32), dynamic shared kWeights + STAGES * TILES * kTile

#include <cuda_bf16.h>
#include "ptx.cuh"
#include "tma_tensor.cuh"

constexpr int TH = 8; // of y: a warp's tile
constexpr int TW = 8;
constexpr int BN = 64;   // filters of a block
constexpr int TILES = 4; // of a step, one for each warp
constexpr int STAGES = 2;
constexpr int kPixel = 128; // bytes: 64 channels
constexpr int kHaloW = TW + 2;
constexpr int kHalo = (TH + 2) * kHaloW;                     // pixels of x that a tile needs
constexpr int kTile = (kHalo * kPixel + 1023) / 1024 * 1024; // bytes
constexpr int kWeights = 9 * BN * kPixel;
constexpr int kThreads = TILES * 32 + 32;
constexpr int kTilesM = TH * TW / 16; // of one mma
constexpr int kTilesN = BN / 8;
constexpr int kSteps = 9 * 4; // taps, and 16 of 64 channels

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    conv_bf16_halo(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,
                   __nv_bfloat16 *y, int N, int H, int W, int K)
{
    extern __shared__ __align__(1024) float4 memory[];
    __shared__ unsigned long long barriers[2 * STAGES + 1];
    unsigned weights = shared_address(memory);
    unsigned tiles = weights + kWeights;
    unsigned full = shared_address(barriers); // a stage's tiles are there
    unsigned empty = full + STAGES * 8;       // its warps have read them
    unsigned ready = empty + STAGES * 8;      // the weights are there
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, TILES);
        }
        mbarrier_init(ready, 1);
        mbarriers_are_ready();
    }
    __syncthreads();
    int across = (W + TW - 1) / TW;
    int of_image = across * ((H + TH - 1) / TH);
    int all = N * of_image;
    int groups = (all + TILES - 1) / TILES;
    int first_filter = blockIdx.y * BN;
    int stage = 0;
    unsigned phase = 0;

    if (warp == TILES) { // the producer
        if (lane == 0) {
            mbarrier_expect(ready, kWeights);
            for (int tap = 0; tap < 9; ++tap) {
                tma_load_3(weights + tap * BN * kPixel, &w, 0, tap, first_filter, ready);
            }
            for (int group = blockIdx.x; group < groups; group += gridDim.x) {
                mbarrier_wait(empty + stage * 8, phase ^ 1);
                mbarrier_expect(full + stage * 8, TILES * kHalo * kPixel);
                for (int t = 0; t < TILES; ++t) {
                    int tile = group * TILES + t; // past the last one: image N, all zeros
                    int place = tile % of_image;
                    tma_load_4(tiles + (stage * TILES + t) * kTile, &x, 0, place % across * TW - 1,
                               place / across * TH - 1, tile / of_image, full + stage * 8);
                }
                stage ^= 1;
                phase ^= stage == 0;
            }
        }
        return;
    }

    int half = lane / 16;
    int a_pixel[kTilesM]; // in the tile with its halo, for the tap at its upper left
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
        int m = i * 16 + lane % 16;
        a_pixel[i] = m / TW * kHaloW + m % TW;
    }
    int b_row = lane % 8 + lane / 16 * 8;
    int b_half = lane / 8 % 2;
    unsigned b_at[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        b_at[k] = weights + b_row * kPixel + ((k * 2 + b_half) ^ (b_row & 7)) * 16;
    }
    mbarrier_wait(ready, 0);
    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
        float sum[kTilesM][kTilesN][4] = {};
        unsigned a[2][kTilesM][4], b[2][kTilesN / 2][4];
        unsigned tile_at = tiles + (stage * TILES + warp) * kTile;
        auto read_factors = [&](int step, int which) {
            int tap = step / 4;
            int k = step % 4;
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                int pixel = a_pixel[i] + tap / 3 * kHaloW + tap % 3;
                unsigned chunk = (k * 2 + half) ^ (pixel & 7);
                ldmatrix_4(a[which][i], tile_at + pixel * kPixel + chunk * 16);
            }
#pragma unroll
            for (int j = 0; j < kTilesN / 2; ++j) {
                ldmatrix_4(b[which][j], b_at[k] + (tap * BN + j * 16) * kPixel);
            }
        };
        mbarrier_wait(full + stage * 8, phase);
        read_factors(0, 0);
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
            if (step + 1 < kSteps) {
                read_factors(step + 1, (step + 1) % 2);
            }
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int jj = 0; jj < kTilesN; ++jj) {
                    int j = i % 2 == 0 ? jj : kTilesN - 1 - jj;
                    mma_bf16(sum[i][j], a[step % 2][i], b[step % 2][j / 2][j % 2 * 2],
                             b[step % 2][j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        __syncwarp();
        if (lane == 0) {
            mbarrier_arrive(empty + stage * 8);
        }
        stage ^= 1;
        phase ^= stage == 0;

        int tile = group * TILES + warp;
        if (tile >= all) {
            continue;
        }
        int place = tile % of_image;
        int first_row = place / across * TH;
        int first_column = place % across * TW;
        int quarter = lane % 4;
        int side = quarter % 2;
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
            for (int h = 0; h < 2; ++h) {
                int m = i * 16 + h * 8 + lane / 4;
                int row = first_row + m / TW;
                int column = first_column + m % TW;
                __nv_bfloat16 *at =
                    y + ((tile / of_image * H + row) * W + column) * K + first_filter;
#pragma unroll
                for (int j = 0; j < kTilesN; j += 2) { // lanes swap pairs: four filters a store
                    __nv_bfloat162 left =
                        __floats2bfloat162_rn(sum[i][j][h * 2], sum[i][j][h * 2 + 1]);
                    __nv_bfloat162 right =
                        __floats2bfloat162_rn(sum[i][j + 1][h * 2], sum[i][j + 1][h * 2 + 1]);
                    unsigned pair[2] = {*reinterpret_cast<unsigned *>(&left),
                                        *reinterpret_cast<unsigned *>(&right)};
                    unsigned other = __shfl_xor_sync(0xffffffff, side == 0 ? pair[1] : pair[0], 1);
                    uint2 four =
                        side == 0 ? make_uint2(pair[0], other) : make_uint2(other, pair[1]);
                    if (row < H && column < W) {
                        *reinterpret_cast<uint2 *>(at + (j + side) * 8 + quarter / 2 * 4) = four;
                    }
                }
            }
        }
    }
}
