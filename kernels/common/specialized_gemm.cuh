// C = A B^T on mma.sync with specialised warps, for any format of factors: what its three kernels in
// 06_matmul_and_fft share.
// One thread of an extra group of warps has TMA copy pairs of tiles into a ring of STAGES; the other
// warps only multiply. `full` tells them that a stage has arrived, `empty` tells the copying thread
// that all warps have read it. A block computes whole tiles of C as long as nearly every block has one
// left; the steps of the tiles that remain are shared out evenly, so that all blocks end together.

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
#define BAND 16 // rows of tiles that are walked together, column by column, for the L2 cache
#endif

constexpr int kWarpM = 64, kWarpN = 64;               // of C: a warp's tile
constexpr int kWarps = (BM / kWarpM) * (BN / kWarpN); // that multiply
constexpr int kThreads = kWarps * 32;
constexpr int kCopyThreads = 128; // registers are handed over by groups of four warps
constexpr int kRowBytes = 128;    // of a tile: as far as the swizzle reaches
constexpr int kTileA = BM * kRowBytes;
constexpr int kTileB = BN * kRowBytes;
constexpr int kChunks = kRowBytes / 32; // that a row has for mma, 32 bytes each
constexpr int kTilesM = kWarpM / 16;    // of one mma, in the warp's tile
constexpr int kTilesN = kWarpN / 8;
constexpr int kMultiply = 1; // name of the barrier of the warps that multiply
static_assert(STAGES >= 2, "a stage is multiplied while the next one arrives");
static_assert(kWarps % 4 == 0, "registers are handed over by groups of four warps");

// Which part of which tile of C comes next for this block: `count` steps from step `skip` on.
struct Walk {
    int tiles_m, tiles_n, steps_of_tile; // of the whole product
    int rounds, round = 0;               // of whole tiles, in which nearly every block has one
    long long shared_steps;              // of the tiles after that
    int sharers;                         // blocks, the first ones, that have some of them
    int next, end;                       // the block's share of them
    int tile, skip, count;

    __device__ Walk(int M, int N, int steps)
        : tiles_m(M / BM), tiles_n(N / BN), steps_of_tile(steps)
    {
        int tiles = tiles_m * tiles_n, blocks = gridDim.x;
        rounds = tiles / blocks;
        if (tiles % blocks * 8 >= blocks * 7) {
            ++rounds; // parts would cost more than the few blocks that have no tile
        }
        shared_steps = (long long)max(tiles - rounds * blocks, 0) * steps;
        sharers = (int)min(max(shared_steps, 1LL), (long long)blocks);
        next = begin_of(blockIdx.x);
        end = begin_of(blockIdx.x + 1);
    }

    __device__ int begin_of(int block) const
    {
        return (int)(shared_steps * min(block, sharers) / sharers);
    }

    __device__ int sharer_of(long long step) const // the block that has this one of the shared steps
    {
        return (int)(((step + 1) * sharers - 1) / shared_steps);
    }

    __device__ bool take()
    {
        tile = round * gridDim.x + blockIdx.x;
        if (round < rounds && tile < tiles_m * tiles_n) {
            ++round;
            skip = 0;
            count = steps_of_tile;
            return true;
        }
        tile = rounds * gridDim.x + next / steps_of_tile;
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

// Format gives the types Result of an element of C and Sum, kBytes of a factor, mma() and store():
// `at` is where a row of 16 results begins, of which lane t of four has the numbers 2 t and 2 t + 1
// of the left half and of the right half.
template <class Format>
__device__ inline void specialized_gemm(const TensorMap *A, const TensorMap *B,
                                        typename Format::Result *C, void *partial, int *arrived,
                                        int M, int N, int K)
{
    using Sum = typename Format::Sum;
    extern __shared__ __align__(1024) float4 tiles[]; // TMA's swizzle counts from multiples of 1024
    __shared__ unsigned long long barriers[2 * STAGES];
    __shared__ int before_me; // blocks that had left their part of the tile when this one did
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
    Walk walk(M, N, K / kStep);
    int stage = 0;
    unsigned phase = 0;

    if (warp >= kWarps) {
        fewer_registers<24>();
        if (threadIdx.x == kThreads) {
            while (walk.take()) {
                for (int step = walk.skip; step < walk.skip + walk.count; ++step) {
                    mbarrier_wait(empty + stage * 8, phase ^ 1); // passes in the first round
                    mbarrier_expect(full + stage * 8, kTileA + kTileB);
                    tma_load(tiles_a + stage * kTileA, A, step * kStep, walk.row(),
                             full + stage * 8);
                    tma_load(tiles_b + stage * kTileB, B, step * kStep, walk.column(),
                             full + stage * 8);
                    if (++stage == STAGES) {
                        stage = 0;
                        phase ^= 1;
                    }
                }
            }
            // The others read the next stage's first factors before a stage ends: also after the last.
            mbarrier_wait(empty + stage * 8, phase ^ 1);
            mbarrier_arrive(full + stage * 8);
        }
        return;
    }

    more_registers<240>();
    int warp_row = warp / (BN / kWarpN) * kWarpM; // of the warp's tile in the block's
    int warp_column = warp % (BN / kWarpN) * kWarpN;
    // ldmatrix: lanes 0-15 give the 16 rows of an A tile, left half, lanes 16-31 the right half; of B
    // lanes 0-7 and 16-23 give 16 rows (columns of C), left half, the others the right half. Every
    // row that a lane gives is the same modulo 8, so the swizzle of its chunks is too.
    int a_row = warp_row + lane % 16;
    int b_row = warp_column + lane % 8 + lane / 16 * 8;
    unsigned a_at[kChunks], b_at[kChunks];
#pragma unroll
    for (int k = 0; k < kChunks; ++k) {
        a_at[k] = tiles_a + a_row * kRowBytes + ((k * 2 + lane / 16) ^ (a_row % 8)) * 16;
        b_at[k] = tiles_b + b_row * kRowBytes + ((k * 2 + lane / 8 % 2) ^ (b_row % 8)) * 16;
    }
    unsigned a[2][kTilesM][4], b[2][kTilesN / 2][4]; // factors for this chunk and for the next
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
    while (walk.take()) {
        Sum sum[kTilesM][kTilesN][4] = {};
#pragma unroll 1
        for (int step = 0; step < walk.count; ++step) {
            int this_stage = stage;
            if (++stage == STAGES) {
                stage = 0;
                phase ^= 1;
            }
#pragma unroll
            for (int k = 0; k < kChunks; ++k) {
                if (k < kChunks - 1) {
                    read_factors(this_stage, k + 1, (k + 1) % 2);
                } else { // the next factors lie in the next stage, even if C's next tile begins
                    mbarrier_wait(full + stage * 8, phase);
                    read_factors(stage, 0, 0);
                }
#pragma unroll
                for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                    for (int jj = 0; jj < kTilesN; ++jj) {
                        int j = i % 2 == 0 ? jj : kTilesN - 1 - jj; // a neighbour shares a factor
                        Format::mma(sum[i][j], a[k % 2][i], b[k % 2][j / 2][j % 2 * 2],
                                    b[k % 2][j / 2][j % 2 * 2 + 1]);
                    }
                }
            }
            __syncwarp(); // lane 0 speaks for what all lanes have read
            if (lane == 0) {
                mbarrier_arrive(empty + this_stage * 8);
            }
        }

        if (walk.count < walk.steps_of_tile) { // others have parts of this tile: the last one adds
            using Four = typename Format::Four;
            Four *parts = static_cast<Four *>(partial) + threadIdx.x;
            constexpr int kEach = kTilesM * kTilesN * kThreads;
            long long first_step =
                (long long)(walk.tile - walk.rounds * (int)gridDim.x) * walk.steps_of_tile;
            int first = walk.sharer_of(first_step);
            int last = walk.sharer_of(first_step + walk.steps_of_tile - 1);
            Four *mine = parts + (size_t)(blockIdx.x * 2 + (walk.skip != 0)) * kEach;
#pragma unroll
            for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                for (int j = 0; j < kTilesN; ++j) {
                    mine[(i * kTilesN + j) * kThreads] = {sum[i][j][0], sum[i][j][1], sum[i][j][2],
                                                          sum[i][j][3]};
                }
            }
            __threadfence(); // whoever sees the count sees this part
            named_barrier<kMultiply, kThreads>();
            if (threadIdx.x == 0) {
                before_me = atomicAdd(&arrived[walk.tile], 1);
            }
            named_barrier<kMultiply, kThreads>();
            bool last_here = before_me == last - first;
            named_barrier<kMultiply, kThreads>(); // all have read it
            if (!last_here) {
                continue;
            }
            __threadfence();
            for (int block = first; block <= last; ++block) { // in order: always the same sum
                int slot = block * 2 + (walk.begin_of(block) > first_step);
                const Four *theirs = parts + (size_t)slot * kEach;
#pragma unroll
                for (int i = 0; i < kTilesM; ++i) {
#pragma unroll
                    for (int j = 0; j < kTilesN; ++j) {
                        Four part = __ldcg(theirs + (i * kTilesN + j) * kThreads);
                        bool begins = block == first;
                        sum[i][j][0] = (begins ? 0 : sum[i][j][0]) + part.x;
                        sum[i][j][1] = (begins ? 0 : sum[i][j][1]) + part.y;
                        sum[i][j][2] = (begins ? 0 : sum[i][j][2]) + part.z;
                        sum[i][j][3] = (begins ? 0 : sum[i][j][3]) + part.w;
                    }
                }
            }
            if (threadIdx.x == 0) {
                arrived[walk.tile] = 0; // ready for the next launch
            }
        }
        size_t row = walk.row() + warp_row + lane / 4;
        size_t column = walk.column() + warp_column;
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
