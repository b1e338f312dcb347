// C = A B^T on mma.sync with specialised warps, for any format of operands: shared by its three
// kernels in 06_matmul_and_fft.
// A thread of the producer warps has TMA copy pairs of tiles into a circular buffer of STAGES. The
// consumer warps only multiply. `full` signals them that a stage has arrived, `empty` signals the
// producer that all have read it. The tile scheduler gives each block whole tiles of C as long as
// nearly every block gets one. The steps of the remaining tiles are split evenly (stream-K).

#pragma once

#include "ptx.cuh"
#include "tma.cuh"

#ifndef BM
#define BM 128 // of C: the block's tile
#endif
#ifndef BN
#define BN 256
#endif
#ifndef STAGES
#define STAGES 3
#endif
#ifndef BAND
#define BAND 16 // rows of tiles that are visited together, column by column, for the L2 cache
#endif

constexpr int kWarpM = 64, kWarpN = 64;               // of C: a warp's tile
constexpr int kWarps = (BM / kWarpM) * (BN / kWarpN); // the consumer warps
constexpr int kThreads = kWarps * 32;
constexpr int kProducerThreads = 128; // registers are reallocated by groups of four warps
constexpr int kRowBytes = 128;        // of a tile: as far as the swizzle reaches
constexpr int kTileA = BM * kRowBytes;
constexpr int kTileB = BN * kRowBytes;
constexpr int kChunks = kRowBytes / 32; // that a row has for mma, 32 bytes each
constexpr int kTilesM = kWarpM / 16;    // of one mma, in the warp's tile
constexpr int kTilesN = kWarpN / 8;
constexpr int kConsumers = 1; // name of the barrier of the consumer warps
static_assert(STAGES >= 2, "a stage is multiplied while the next one arrives");
static_assert(kWarps % 4 == 0, "registers are reallocated by groups of four warps");

// Which part of which tile of C comes next for this block: `count` steps from step `skip` on.
struct TileScheduler {
    int tiles_m, tiles_n, steps_of_tile; // of the whole product
    int waves, wave = 0;                 // of whole tiles, in which nearly every block has one
    long long split_steps;               // of the tiles after that
    int split_blocks;                    // the first ones, which have some of them
    int next, end;                       // the block's share of them
    int tile, skip, count;

    __device__ TileScheduler(int M, int N, int steps)
        : tiles_m(M / BM), tiles_n(N / BN), steps_of_tile(steps)
    {
        int tiles = tiles_m * tiles_n, blocks = gridDim.x;
        waves = tiles / blocks;
        if (tiles % blocks * 8 >= blocks * 7) {
            ++waves; // splitting would cost more than the few blocks that have no tile
        }
        split_steps = (long long)max(tiles - waves * blocks, 0) * steps;
        split_blocks = (int)min(max(split_steps, 1LL), (long long)blocks);
        next = begin_of(blockIdx.x);
        end = begin_of(blockIdx.x + 1);
    }

    __device__ int begin_of(int block) const
    {
        return (int)(split_steps * min(block, split_blocks) / split_blocks);
    }

    __device__ int block_of(long long step) const // that has this one of the split steps
    {
        return (int)(((step + 1) * split_blocks - 1) / split_steps);
    }

    __device__ bool advance() // to the next tile, false when there is none
    {
        tile = wave * gridDim.x + blockIdx.x;
        if (wave < waves && tile < tiles_m * tiles_n) {
            ++wave;
            skip = 0;
            count = steps_of_tile;
            return true;
        }
        tile = waves * gridDim.x + next / steps_of_tile;
        skip = next % steps_of_tile;
        count = min(steps_of_tile - skip, end - next);
        next += count;
        return count > 0;
    }

    __device__ int row() const // of C, where the tile begins
    {
        int band = BAND * tiles_n, head = tile / band * BAND;
        return (head + tile % band % min(tiles_m - head, BAND)) * BM;
    }

    __device__ int column() const
    {
        int band = BAND * tiles_n, head = tile / band * BAND;
        return tile % band / min(tiles_m - head, BAND) * BN;
    }
};

// Format gives the types Result of an element of C and Sum, kBytes of an operand, mma() and
// store(): `at` is where a row of 16 results begins, of which lane t of four has the numbers 2 t
// and 2 t + 1 of the left half and of the right half.
template <class Format>
__device__ inline void specialized_gemm(const TensorMap *A, const TensorMap *B,
                                        typename Format::Result *C, void *partial, int *arrived,
                                        int M, int N, int K)
{
    using Sum = typename Format::Sum;
    extern __shared__ __align__(1024) float4 tiles[]; // TMA's swizzle counts from multiples of 1024
    __shared__ unsigned long long barriers[2 * STAGES];
    __shared__ int arrived_before; // blocks that had stored their partial sum of the tile by then
    unsigned tiles_a = shared_address(tiles); // STAGES tiles of A, then STAGES of B
    unsigned tiles_b = tiles_a + STAGES * kTileA;
    unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, kWarps);
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    constexpr int kStep = kRowBytes / Format::kBytes; // elements along K
    TileScheduler scheduler(M, N, K / kStep);
    int stage = 0;
    unsigned phase = 0;

    if (warp >= kWarps) {
        fewer_registers<24>();
        if (threadIdx.x == kThreads) {
            while (scheduler.advance()) {
                for (int step = scheduler.skip; step < scheduler.skip + scheduler.count; ++step) {
                    mbarrier_wait(empty + stage * 8, phase ^ 1); // passes at once in the first lap
                    mbarrier_expect(full + stage * 8, kTileA + kTileB);
                    tma_load(tiles_a + stage * kTileA, A, step * kStep, scheduler.row(),
                             full + stage * 8);
                    tma_load(tiles_b + stage * kTileB, B, step * kStep, scheduler.column(),
                             full + stage * 8);
                    if (++stage == STAGES) {
                        stage = 0;
                        phase ^= 1;
                    }
                }
            }
            // Consumers read the next stage's first operands before a stage ends: even the last.
            mbarrier_wait(empty + stage * 8, phase ^ 1);
            mbarrier_arrive(full + stage * 8);
        }
        return;
    }

    more_registers<240>();
    int warp_row = warp / (BN / kWarpN) * kWarpM; // of the warp's tile in the block's
    int warp_column = warp % (BN / kWarpN) * kWarpN;
    // ldmatrix: lanes 0-15 give the 16 rows of an A tile, left half, lanes 16-31 the right half;
    // of B lanes 0-7 and 16-23 give 16 rows (columns of C), left half, the others the right. Every
    // row that a lane gives is the same modulo 8, so the swizzle of its chunks is too.
    int a_row = warp_row + lane % 16;
    int b_row = warp_column + lane % 8 + lane / 16 * 8;
    unsigned a_at[kChunks], b_at[kChunks];
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
        a_at[k] = tiles_a + a_row * kRowBytes + ((k * 2 + lane / 16) ^ (a_row % 8)) * 16;
        b_at[k] = tiles_b + b_row * kRowBytes + ((k * 2 + lane / 8 % 2) ^ (b_row % 8)) * 16;
    }
    unsigned a[2][kTilesM][4], b[2][kTilesN / 2][4]; // operands for this chunk and for the next
    auto read_factors = [&](int from, int k, int which) {
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
            ldmatrix_4(a[which][i], a_at[k] + from * kTileA + i * 16 * kRowBytes);
        }
#pragma unroll
        for (int j = 0; j < kTilesN / 2; ++j) {
            ldmatrix_4(b[which][j], b_at[k] + from * kTileB + j * 16 * kRowBytes);
        }
    };

    mbarrier_wait(full, 0);
    read_factors(0, 0, 0);
    while (scheduler.advance()) {
        Sum sum[kTilesM][kTilesN][4] = {};
#pragma unroll 1
        for (int step = 0; step < scheduler.count; ++step) {
            int this_stage = stage;
            if (++stage == STAGES) {
                stage = 0;
                phase ^= 1;
            }
#pragma unroll
            for (int k = 0; k < kChunks; ++k) {
                if (k < kChunks - 1) {
                    read_factors(this_stage, k + 1, (k + 1) % 2);
                } else { // the next operands are in the next stage, even if C's next tile begins
                    mbarrier_wait(full + stage * 8, phase);
                    read_factors(stage, 0, 0);
                }
#pragma unroll
                for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                    for (int jj = 0; jj < kTilesN; ++jj) {
                        int j = i % 2 == 0 ? jj : kTilesN - 1 - jj; // a neighbour shares an operand
                        Format::mma(sum[i][j], a[k % 2][i], b[k % 2][j / 2][j % 2 * 2],
                                    b[k % 2][j / 2][j % 2 * 2 + 1]);
                    }
                }
            }
            __syncwarp(); // lane 0 arrives for all lanes
            if (lane == 0) {
                mbarrier_arrive(empty + this_stage * 8);
            }
        }

        if (scheduler.count < scheduler.steps_of_tile) { // a split tile: the last block adds
            using Four = typename Format::Four;
            Four *sums = static_cast<Four *>(partial) + threadIdx.x;
            constexpr int kEach = kTilesM * kTilesN * kThreads;
            int split_tile = scheduler.tile - scheduler.waves * (int)gridDim.x;
            long long first_step = (long long)split_tile * scheduler.steps_of_tile;
            int first = scheduler.block_of(first_step);
            int last = scheduler.block_of(first_step + scheduler.steps_of_tile - 1);
            Four *mine = sums + (size_t)(blockIdx.x * 2 + (scheduler.skip != 0)) * kEach;
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    mine[(i * kTilesN + j) * kThreads] = {sum[i][j][0], sum[i][j][1], sum[i][j][2],
                                                          sum[i][j][3]};
                }
            }
            __threadfence(); // release: a block that sees the count sees this sum
            named_barrier<kConsumers, kThreads>();
            if (threadIdx.x == 0) {
                arrived_before = atomicAdd(&arrived[scheduler.tile], 1);
            }
            named_barrier<kConsumers, kThreads>();
            bool last_here = arrived_before == last - first;
            named_barrier<kConsumers, kThreads>(); // all have read it
            if (!last_here) {
                continue;
            }
            __threadfence(); // acquire
            for (int block = first; block <= last; ++block) { // in order: always the same sum
                int slot = block * 2 + (scheduler.begin_of(block) > first_step);
                const Four *theirs = sums + (size_t)slot * kEach;
#pragma unroll
                for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                    for (int j = 0; j < kTilesN; ++j) {
                        Four addend = __ldcg(theirs + (i * kTilesN + j) * kThreads);
                        bool begins = block == first;
                        sum[i][j][0] = (begins ? 0 : sum[i][j][0]) + addend.x;
                        sum[i][j][1] = (begins ? 0 : sum[i][j][1]) + addend.y;
                        sum[i][j][2] = (begins ? 0 : sum[i][j][2]) + addend.z;
                        sum[i][j][3] = (begins ? 0 : sum[i][j][3]) + addend.w;
                    }
                }
            }
            if (threadIdx.x == 0) {
                arrived[scheduler.tile] = 0; // ready for the next launch
            }
        }
        size_t row = scheduler.row() + warp_row + lane / 4;
        size_t column = scheduler.column() + warp_column;
#pragma unroll
        for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
            for (int j = 0; j < kTilesN; j += 2) {
#pragma unroll
                for (int half = 0; half < 2; ++half) { // eight rows of C each
                    typename Format::Result *at =
                        C + (row + i * 16 + half * 8) * N + column + j * 8;
                    const Sum *left = &sum[i][j][half * 2], *right = &sum[i][j + 1][half * 2];
                    Format::store(at, lane % 4, left, right);
                }
            }
        }
    }
}
