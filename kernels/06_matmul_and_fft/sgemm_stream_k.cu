// C = A B for row-major fp32 matrices: A is M x K, B is K x N, C is M x N. M a multiple of BM, N of
// BN and K of BK. `partial` has room for two tiles a block, `arrived` one 0 a tile of C.
// Adds to sgemm_autotuned.cu: as many blocks as fit on the GPU, and each gets the same number of
// steps along K, whole tiles or not. The blocks that share a tile leave their sums in `partial`; the
// last one to arrive adds them up in a fixed order. No multiprocessor is idle in a last round.
// Limit: registers are read from two banks, and some products wait for a second read.
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
#define STAGES 3
#endif
#ifndef BLOCKS
#define BLOCKS 1 // that share a multiprocessor: caps the registers
#endif

constexpr int kThreads = (BM / WM) * (BN / WN) * 32;
constexpr int kLanesM = WM / TM; // lanes of a warp below each other, and side by side
constexpr int kLanesN = WN / TN;
constexpr int kRowA = BM + 4; // of A's turned tile, padded
constexpr int kTileA = BK * kRowA;
constexpr int kTileB = BK * BN;
constexpr int kRowsA = kThreads / BK; // rows of A that the block copies at once, and of B
constexpr int kRowsB = kThreads / (BN / 4);
static_assert(kLanesM * kLanesN == 32, "the lanes cover the warp's tile");
static_assert(BK % 2 == 0, "the two sets of factors take turns");
static_assert(kThreads % BK == 0 && BM % kRowsA == 0, "copies of A come out even");
static_assert(kThreads % (BN / 4) == 0 && BK % kRowsB == 0, "copies of B come out even");

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    sgemm_stream_k(const float *A, const float *B, float *C, float *partial, int *arrived, int M,
                   int N, int K)
{
    extern __shared__ __align__(16) float tiles[];
    __shared__ bool is_last;
    float *tiles_a = tiles; // STAGES tiles of A, then STAGES tiles of B
    float *tiles_b = tiles + STAGES * kTileA;
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    int row = warp / (BN / WN) * WM + lane / kLanesN * 4; // of the thread's first piece in the tile
    int column = warp % (BN / WN) * WN + lane % kLanesN * 4;
    int a_row = threadIdx.x / BK; // the first element of each tile that the thread copies
    int a_k = threadIdx.x % BK;
    int b_k = threadIdx.x / (BN / 4);
    int b_column = threadIdx.x % (BN / 4) * 4;
    unsigned to_a = shared_address(tiles_a + a_k * kRowA + a_row);
    unsigned to_b = shared_address(tiles_b + b_k * BN + b_column);
    const float *from_a, *from_b;

    auto copy_tiles = [&](int stage) { // one group of copies; the next call takes the next tiles
#pragma unroll
        for (int i = 0; i < BM; i += kRowsA) {
            cp_async_4(to_a + (stage * kTileA + i) * 4, from_a + static_cast<size_t>(i) * K);
        }
#pragma unroll
        for (int k = 0; k < BK; k += kRowsB) {
            cp_async_16(to_b + (stage * kTileB + k * BN) * 4, from_b + static_cast<size_t>(k) * N);
        }
        from_a += BK;
        from_b += static_cast<size_t>(BK) * N;
    };
    float a[2][TM], b[2][TN]; // factors for this k and for the next
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

    int tiles_n = N / BN;
    int steps_of_tile = K / BK;
    long long all_steps = static_cast<long long>(M / BM) * tiles_n * steps_of_tile;
    auto first_step = [&](long long block) { return block * all_steps / gridDim.x; };
    auto block_of = [&](long long step) { return ((step + 1) * gridDim.x - 1) / all_steps; };

    long long next = first_step(blockIdx.x);
    long long end = first_step(blockIdx.x + 1LL);
    while (next < end) {
        int tile = static_cast<int>(next / steps_of_tile);
        int skip = static_cast<int>(next % steps_of_tile); // steps that belong to other blocks
        int steps = static_cast<int>(min(static_cast<long long>(steps_of_tile - skip), end - next));
        size_t tile_row = static_cast<size_t>(tile / tiles_n) * BM;
        size_t tile_column = static_cast<size_t>(tile % tiles_n) * BN;
        from_a = A + (tile_row + a_row) * K + skip * BK + a_k;
        from_b = B + static_cast<size_t>(skip * BK + b_k) * N + tile_column + b_column;

        for (int stage = 0; stage < STAGES - 1; ++stage) {
            if (stage < steps) {
                copy_tiles(stage);
            }
            cp_async_commit();
        }
        float sum[TM][TN] = {};
        int stage = 0;
        int free_stage = STAGES - 1;
        cp_async_wait<STAGES - 2>();
        __syncthreads(); // the first tiles are complete
        read_factors(stage, 0, 0);
        for (int step = 0; step < steps; ++step) {
            if (step + STAGES - 1 < steps) {
                copy_tiles(free_stage);
            }
            cp_async_commit();
#pragma unroll
            for (int k = 0; k < BK; ++k) {
                if (k + 1 < BK) {
                    read_factors(stage, k + 1, (k + 1) % 2);
                } else { // the last k of these tiles: the next factors lie in the next tiles
                    cp_async_wait<STAGES - 2>();
                    __syncthreads();
                    free_stage = stage;
                    stage = stage + 1 == STAGES ? 0 : stage + 1;
                    read_factors(stage, 0, 0); // of no use after the last step
                }
#pragma unroll
                for (int i = 0; i < TM; ++i) {
#pragma unroll
                    for (int j = 0; j < TN; ++j) {
                        sum[i][j] += a[k % 2][i] * b[k % 2][j];
                    }
                }
            }
        }

        bool whole = steps == steps_of_tile;
        // A block has at most two parts of tiles: one that begins in mid-tile, one that ends there.
        float *part = partial + (2 * blockIdx.x + (skip > 0)) * static_cast<size_t>(BM * BN);
        float *out = whole ? C + tile_row * N + tile_column : part;
        size_t pitch = whole ? N : BN;
#pragma unroll
        for (int i = 0; i < TM; ++i) {
#pragma unroll
            for (int j = 0; j < TN; j += 4) {
                int below = row + i / 4 * 4 * kLanesM + i % 4;
                *reinterpret_cast<float4 *>(out + below * pitch + column + j * kLanesN) =
                    make_float4(sum[i][j], sum[i][j + 1], sum[i][j + 2], sum[i][j + 3]);
            }
        }
        if (!whole) {
            long long tile_begin = static_cast<long long>(tile) * steps_of_tile;
            int first = static_cast<int>(block_of(tile_begin)); // blocks that share this tile
            int last = static_cast<int>(block_of(tile_begin + steps_of_tile - 1));
            __threadfence(); // the part is seen by whoever sees the count
            __syncthreads();
            if (threadIdx.x == 0) {
                is_last = atomicAdd(&arrived[tile], 1) == last - first;
            }
            __syncthreads();
            if (is_last) {
                __threadfence();
                for (int place = threadIdx.x * 4; place < BM * BN; place += kThreads * 4) {
                    float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                    for (int block = first; block <= last; ++block) {
                        int which = 2 * block + (first_step(block) > tile_begin);
                        float4 more = __ldcg(reinterpret_cast<const float4 *>(
                            partial + which * static_cast<size_t>(BM * BN) + place));
                        total.x += more.x;
                        total.y += more.y;
                        total.z += more.z;
                        total.w += more.w;
                    }
                    float *to = C + (tile_row + place / BN) * N + tile_column + place % BN;
                    *reinterpret_cast<float4 *>(to) = total;
                }
                if (threadIdx.x == 0) {
                    arrived[tile] = 0; // ready for the next launch
                }
            }
        }
        next += steps;
        __syncthreads(); // nobody reads the tiles or is_last any more
    }
}
