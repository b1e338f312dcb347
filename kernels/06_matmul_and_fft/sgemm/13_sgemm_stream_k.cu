// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. Whole tiles only: M a
// multiple of BM, N of BN and K of BK; the caller sees to it. M N K / (BM BN BK) is below 2^31.
// `partial` has room for two tiles a block, `arrived` one 0 a tile of C.
// Adds to sgemm_ordered: as many blocks as fit on the GPU, and each gets the same number of steps
// along K, whole tiles or not. Blocks that share a tile leave their sums in `partial`; the last one
// to arrive adds them up in a fixed order, so results repeat, but depend on the number of blocks.
// Also new: bands of tiles for the L2 cache, and another order of products.
// Limit: 92 of 100 instructions are products; over seconds, the board's power cap.
// grid (multiprocessors * BLOCKS), block ((BM / WM) * (BN / WN) * 32), dynamic shared STAGES * BK * (BM + 4 + BN) * 4

#include "ptx.cuh"

#ifndef BM
#define BM 128 // of C: the block's tile
#endif
#ifndef BN
#define BN 256
#endif
#ifndef BK
#define BK 8
#endif
#ifndef WM
#define WM 64 // of C: the warp's tile
#endif
#ifndef WN
#define WN 64
#endif
#ifndef TM
#define TM 8 // of C: the thread's tile
#endif
#ifndef TN
#define TN 16
#endif
#ifndef STAGES
#define STAGES 4
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif
#ifndef ROWS
#define ROWS 4, 1, 0, 2, 5, 7, 6, 3 // of the thread's tile, in the order of their products
#endif
#ifndef COLUMNS
#define COLUMNS 0, 4, 2, 1, 3, 13, 6, 7, 5, 9, 10, 11, 14, 15, 12, 8
#endif

constexpr int kBand = 4; // rows of tiles that are visited together, column by column

constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kLanesM = WM / TM; // lanes of a warp below each other, and side by side
constexpr int kLanesN = WN / TN;
constexpr int kAtOnce = TM * TN / 4 < 8 ? TM * TN / 4 : 8; // loads of partial sums in flight
constexpr int kRowA = BM + 4; // of A's transposed tile, padded
constexpr int kTileA = BK * kRowA;
constexpr int kTileB = BK * BN;
constexpr int kRowsA = kThreads / BK; // rows of A that the block copies at once, and of B
constexpr int kRowsB = kThreads / (BN / 4);
static_assert(kLanesM * kLanesN == 32, "the lanes cover the warp's tile");
static_assert(BM * BN % (kThreads * 4 * kAtOnce) == 0, "partial sums come out even");
static_assert(BK % 2 == 0, "the two sets of factors alternate");
static_assert(kThreads % BK == 0 && BM % kRowsA == 0, "copies of A come out even");
static_assert(kThreads % (BN / 4) == 0 && BK % kRowsB == 0, "copies of B come out even");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sgemm_stream_k(const float *A, const float *B, float *C, float *partial, int *arrived, int M,
                   int N, int K)
{
    extern __shared__ float4 tiles[];
    __shared__ int arrived_before; // blocks that had stored their partial sum of the tile by then
    float *tiles_a = reinterpret_cast<float *>(tiles); // STAGES tiles of A, then STAGES of B
    float *tiles_b = tiles_a + STAGES * kTileA;
    int tid = threadIdx.x;
    int lane = tid & 31;
    int warp = tid >> 5;
    int warp_row = warp / (BN / WN) * WM; // of the warp's tile in the block's
    int warp_column = warp % (BN / WN) * WN;
    int lane_row = lane / kLanesN;
    int lane_column = lane % kLanesN;
    int a_row = tid / BK; // the first element of each tile that the thread copies
    int a_k = tid % BK;
    int b_k = tid / (BN / 4);
    int b_column = tid % (BN / 4) * 4;
    unsigned to_a = shared_address(tiles_a) + (a_k * kRowA + a_row) * 4;
    unsigned to_b = shared_address(tiles_b) + (b_k * BN + b_column) * 4;
    unsigned a_at = shared_address(tiles_a + warp_row + lane_row * 4);
    unsigned b_at = shared_address(tiles_b + warp_column + lane_column * 4);

    int steps_of_tile = K / BK, tiles_n = N / BN, tiles_m = M / BM;
    long long all_steps = (long long)tiles_m * tiles_n * steps_of_tile;
    int next = (int)(all_steps * blockIdx.x / gridDim.x);
    int end = (int)(all_steps * (blockIdx.x + 1) / gridDim.x);
    while (next < end) {
        int tile = next / steps_of_tile;
        int skip = next % steps_of_tile; // steps of this tile that belong to other blocks
        int steps = min(steps_of_tile - skip, end - next);
        int band = kBand * tiles_n, head = tile / band * kBand, height = min(tiles_m - head, kBand);
        int tile_row = head + tile % band % height;
        int tile_column = tile % band / height;
        const float *from_a = A + (size_t)(tile_row * BM + a_row) * K + skip * BK + a_k;
        const float *from_b = B + (size_t)(skip * BK + b_k) * N + tile_column * BN + b_column;
        auto copy_tiles = [&](int stage) { // one group; the next call takes the next tiles
#pragma unroll
            for (int i = 0; i < BM / kRowsA; ++i) {
                cp_async_4(to_a + (stage * kTileA + i * kRowsA) * 4,
                           from_a + (size_t)i * kRowsA * K);
            }
#pragma unroll
            for (int i = 0; i < BK / kRowsB; ++i) {
                cp_async_16(to_b + (stage * kTileB + i * kRowsB * BN) * 4,
                            from_b + (size_t)i * kRowsB * N);
            }
            from_a += BK;
            from_b += (size_t)BK * N;
        };
        float sum[TM][TN] = {};
        for (int s = 0; s < STAGES - 1; ++s) {
            if (s < steps) {
                copy_tiles(s);
            }
            cp_async_commit();
        }
        int stage = 0;
        int free_stage = STAGES - 1;
        float a[2][TM], b[2][TN]; // operands for this k and for the next
        auto read_factors = [&](int stage, int k, int which) {
#pragma unroll
            for (int i = 0; i < TM; i += 4) {
                *reinterpret_cast<float4 *>(&a[which][i]) =
                    load_shared_4(a_at + (stage * kTileA + k * kRowA + i * kLanesM) * 4);
            }
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                *reinterpret_cast<float4 *>(&b[which][j]) =
                    load_shared_4(b_at + (stage * kTileB + k * BN + j * kLanesN) * 4);
            }
        };
        cp_async_wait<STAGES - 2>();
        __syncthreads(); // the first tiles are complete
        read_factors(0, 0, 0);
        for (int step = 0; step < steps; ++step) {
            if (step + STAGES - 1 < steps) {
                copy_tiles(free_stage);
            }
            cp_async_commit();
#pragma unroll
            for (int k = 0; k < BK; ++k) {
                if (k == BK - 1) { // the next operands lie in the next tiles
                    cp_async_wait<STAGES - 2>();
                    __syncthreads();
                    free_stage = stage;
                    stage = stage + 1 == STAGES ? 0 : stage + 1;
                    read_factors(stage, 0, 0); // of no use after the last step
                } else {
                    read_factors(stage, k + 1, (k + 1) % 2);
                }
#pragma unroll
                for (int y = 0; y < TN; ++y) {
#pragma unroll
                    for (int x = 0; x < TM; ++x) {
                        constexpr int rows[TM] = {ROWS}, columns[TN] = {COLUMNS};
                        int i = rows[y % 2 == 0 ? x : TM - 1 - x], j = columns[y];
                        sum[i][j] += a[k % 2][i] * b[k % 2][j];
                    }
                }
            }
        }

        bool whole = steps == steps_of_tile;
        float *out;
        size_t pitch;
        if (whole) {
            out = C + (size_t)(tile_row * BM) * N + tile_column * BN;
            pitch = N;
        } else { // a block has two partial tiles at most: one begins in mid-tile, one ends there
            out = partial + (size_t)(blockIdx.x * 2 + (skip != 0)) * BM * BN;
            pitch = BN;
        }
#pragma unroll
        for (int i = 0; i < TM; ++i) {
            int y = warp_row + i / 4 * 4 * kLanesM + lane_row * 4 + i % 4;
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                int x = warp_column + j * kLanesN + lane_column * 4;
                *reinterpret_cast<float4 *>(&out[(size_t)y * pitch + x]) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            }
        }
        if (!whole) {
            long long tile_begin = (long long)tile * steps_of_tile;
            long long tile_end = tile_begin + steps_of_tile;
            int first = (int)(((tile_begin + 1) * gridDim.x - 1) / all_steps); // the blocks that
            int last = (int)((tile_end * gridDim.x - 1) / all_steps);          // share this tile
            __threadfence(); // release: a block that sees the count sees this partial sum
            __syncthreads();
            if (tid == 0) {
                arrived_before = atomicAdd(&arrived[tile], 1);
                __threadfence(); // acquire: the partial sums of the blocks counted are seen
            }
            __syncthreads();
            if (arrived_before == last - first) {
                for (int head = tid * 4; head < BM * BN; head += kThreads * 4 * kAtOnce) {
                    float4 total[kAtOnce] = {};
                    for (int block = first; block <= last; ++block) {
                        int which = block * 2 + (all_steps * block / gridDim.x > tile_begin);
                        const float *addends = partial + (size_t)which * BM * BN + head;
#pragma unroll
                        for (int i = 0; i < kAtOnce; ++i) {
                            float4 addend = __ldcg(
                                reinterpret_cast<const float4 *>(addends + i * kThreads * 4));
                            total[i].x += addend.x;
                            total[i].y += addend.y;
                            total[i].z += addend.z;
                            total[i].w += addend.w;
                        }
                    }
#pragma unroll
                    for (int i = 0; i < kAtOnce; ++i) {
                        int element = head + i * kThreads * 4;
                        size_t y = tile_row * BM + element / BN;
                        size_t x = tile_column * BN + element % BN;
                        *reinterpret_cast<float4 *>(&C[y * N + x]) = total[i];
                    }
                }
                if (tid == 0) {
                    arrived[tile] = 0; // ready for the next launch
                }
            }
        }
        next += steps;
        __syncthreads(); // every warp is done with the tiles and the count
    }
}
