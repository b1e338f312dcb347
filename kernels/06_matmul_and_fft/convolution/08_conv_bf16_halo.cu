// 3 x 3, stride 1, padding 1, NHWC bf16, C = 64; K a multiple of BN. Adds: the taps read one tile of x
// in place: a pixel is a row of 128 bytes, and ldmatrix takes rows from anywhere. The weights stay
// in shared memory, TMA copies tiles with their halo (zeros outside), blocks are persistent.
// x as a tensor map N x H x W x 64, box 1 x (TH + 2) x (TW + 2) x 64, swizzle 128.
// w as a tensor map (K 9) x 64, box (BN, 64)... a row for each (filter, tap); see below.
// grid (SMs), block (TILES * (TH * TW / WM) * (BN / WN) * 32 + 32), dynamic shared 9 * BN * 128 + STAGES * TILES * kTile
#include <cuda_bf16.h>
#include "ptx.cuh"
#include "tma.cuh"
#ifndef TH
#define TH 8
#endif
#ifndef TW
#define TW 8
#endif
#ifndef TILES
#define TILES 4 // of a step
#endif
#ifndef WM
#define WM 64 // pixels of a warp
#endif
#ifndef WN
#define WN 32
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef PRODUCER
#define PRODUCER 1 // a warp of its own issues the copies; 0: thread 0 does, one step ahead
#endif
constexpr int BN = 64;
constexpr int kHaloW = TW + 2, kHalo = (TH + 2) * (TW + 2);
constexpr int kTile = (kHalo * 128 + 1023) / 1024 * 1024;
constexpr int kWarpsOfTile = (TH * TW / WM) * (BN / WN);
constexpr int kWarps = TILES * kWarpsOfTile, kThreads = kWarps * 32;
constexpr int kTilesM = WM / 16, kTilesN = WN / 8;
constexpr int kWeights = 9 * BN * 128;
static_assert(TW % 8 == 0, "eight rows of a fragment lie side by side");

// Box at (channel, column, row, image).
__device__ inline void tma_load_4(unsigned to, const TensorMap *from, int c, int x, int y, int n,
                                  unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4, %5}], [%6];" ::"r"(to),
                 "l"(from), "r"(c), "r"(x), "r"(y), "r"(n), "r"(barrier)
                 : "memory");
}
__device__ inline void tma_load_3(unsigned to, const TensorMap *from, int c, int x, int y,
                                  unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
                 "l"(from), "r"(c), "r"(x), "r"(y), "r"(barrier)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads + 32 * PRODUCER, 1)
    conv_bf16_halo(const __grid_constant__ TensorMap x, const __grid_constant__ TensorMap w,
                   __nv_bfloat16 *y, int N, int H, int W, int K)
{
    extern __shared__ __align__(1024) float4 memory[];
    __shared__ unsigned long long barriers[2 * STAGES + 1];
    unsigned weights = shared_address(memory); // 9 taps of BN filters of 64 channels
    unsigned tiles = weights + kWeights;
    unsigned full = shared_address(barriers), empty = full + STAGES * 8, ready = empty + STAGES * 8;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, kWarps);
        }
        mbarrier_init(ready, 1);
        mbarriers_are_ready();
    }
    __syncthreads();
    int across = (W + TW - 1) / TW, down = (H + TH - 1) / TH, of_image = across * down;
    int all = N * of_image, groups = (all + TILES - 1) / TILES;
    int first_filter = blockIdx.y * BN;

    auto load_weights = [&] {
        mbarrier_expect(ready, kWeights);
        for (int tap = 0; tap < 9; ++tap) {
            tma_load_3(weights + tap * BN * 128, &w, 0, tap, first_filter, ready);
        }
    };
    auto load_group = [&](int group, int stage, unsigned phase) {
        mbarrier_wait(empty + stage * 8, phase ^ 1);
        mbarrier_expect(full + stage * 8, TILES * kHalo * 128);
        for (int t = 0; t < TILES; ++t) {
            int tile = group * TILES + t; // past the end: image N, all zeros
            int image = tile / of_image, rest = tile % of_image;
            tma_load_4(tiles + (stage * TILES + t) * kTile, &x, 0, rest % across * TW - 1,
                       rest / across * TH - 1, image, full + stage * 8);
        }
    };
#if PRODUCER
    if (warp == kWarps) {
        if (lane == 0) {
            load_weights();
            int stage = 0;
            unsigned phase = 0;
            for (int group = blockIdx.x; group < groups; group += gridDim.x) {
                load_group(group, stage, phase);
                if (++stage == STAGES) {
                    stage = 0;
                    phase ^= 1;
                }
            }
        }
        return;
    }
#else
    static_assert(STAGES == 2, "");
    if (threadIdx.x == 0) {
        load_weights();
        if (blockIdx.x < groups) {
            load_group(blockIdx.x, 0, 0);
        }
    }
#endif

    int my_tile = warp / kWarpsOfTile;
    int part = warp % kWarpsOfTile;
    int warp_row = part / (BN / WN) * WM, warp_column = part % (BN / WN) * WN;
    int half = lane / 16;
    int a_pixel[kTilesM]; // in the tile with its halo, for the tap at its upper left
#pragma unroll
    for (int i = 0; i < kTilesM; ++i) {
        int m = warp_row + i * 16 + lane % 16;
        a_pixel[i] = m / TW * kHaloW + m % TW;
    }
    int b_row = warp_column + lane % 8 + lane / 16 * 8, b_half = lane / 8 % 2;
    unsigned b_at[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        b_at[k] = weights + b_row * 128 + ((k * 2 + b_half) ^ (b_row & 7)) * 16;
    }
    mbarrier_wait(ready, 0);
    int stage = 0;
    unsigned phase = 0;
    for (int group = blockIdx.x; group < groups; group += gridDim.x) {
        float sum[kTilesM][kTilesN][4] = {};
        unsigned a[2][kTilesM][4], b[2][kTilesN / 2][4];
        unsigned tile_at = tiles + (stage * TILES + my_tile) * kTile;
        auto read_factors = [&](int step, int which) {
            int tap = step / 4, k = step % 4;
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
                int pixel = a_pixel[i] + tap / 3 * kHaloW + tap % 3;
                ldmatrix_4(a[which][i], tile_at + pixel * 128 + ((k * 2 + half) ^ (pixel & 7)) * 16);
            }
#pragma unroll
            for (int j = 0; j < kTilesN / 2; ++j) {
                ldmatrix_4(b[which][j], b_at[k] + tap * BN * 128 + j * 16 * 128);
            }
        };
#if !PRODUCER
        if (threadIdx.x == 0 && group + gridDim.x < groups) {
            load_group(group + gridDim.x, stage ^ 1, phase ^ stage);
        }
        __syncwarp();
#endif
        mbarrier_wait(full + stage * 8, phase);
        read_factors(0, 0);
#pragma unroll
        for (int step = 0; step < 36; ++step) {
            if (step + 1 < 36) {
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
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
        int tile = group * TILES + my_tile;
        if (tile < all) {
            int image = tile / of_image, rest = tile % of_image;
            int top = rest / across * TH, left = rest % across * TW;
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int h = 0; h < 2; ++h) {
                    int m = warp_row + i * 16 + h * 8 + lane / 4;
                    int yy = top + m / TW, xx = left + m % TW;
                    bool inside = yy < H && xx < W;
                    __nv_bfloat16 *at = y + ((long long)(image * H + yy) * W + xx) * K +
                                        first_filter + warp_column;
                    int quarter = lane % 4, side = quarter % 2;
#pragma unroll
                    for (int j = 0; j < kTilesN; j += 2) {
                        __nv_bfloat162 l = __floats2bfloat162_rn(sum[i][j][h * 2], sum[i][j][h * 2 + 1]);
                        __nv_bfloat162 q =
                            __floats2bfloat162_rn(sum[i][j + 1][h * 2], sum[i][j + 1][h * 2 + 1]);
                        unsigned pair[2] = {*reinterpret_cast<unsigned *>(&l),
                                            *reinterpret_cast<unsigned *>(&q)};
                        unsigned other =
                            __shfl_xor_sync(0xffffffff, side == 0 ? pair[1] : pair[0], 1);
                        uint2 four =
                            side == 0 ? make_uint2(pair[0], other) : make_uint2(other, pair[1]);
                        if (inside) {
                            *reinterpret_cast<uint2 *>(at + j * 8 + side * 8 + quarter / 2 * 4) = four;
                        }
                    }
                }
            }
        }
    }
}
