// y = W x as in gemv_int4_bytes.cu, for M a multiple of ROWS and K of 128, at most 32 * THREADS.
// Adds to it: copies without threads. A block has a run of rows; one thread asks for as much of it
// as shared memory holds before anybody waits, in pieces of ROWS rows, and GROUPS groups of THREADS
// threads take turns at them. With EARLY all of that is under way before the kernel before this one
// has ended. Limit: memory bandwidth, and how long it takes to start and to end.
// grid (any, up to M / ROWS), block (GROUPS * THREADS + 32), dynamic shared as bulk_bytes in the
// cases says

#include "bulk_add.cuh"
#include "byte_piece.cuh"
#include "tma.cuh"

#ifndef GROUPS
#define GROUPS 2
#endif

static_assert(STAGES % GROUPS == 0, "a stage belongs to one group, which sees all its phases");

// cp.async: the scales of ROWS rows.
__device__ inline void cp_async_scales(unsigned to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(2 * ROWS)
                 : "memory");
}

extern "C" __global__ void __launch_bounds__(GROUPS *THREADS + 32, 1)
    gemv_int4_bulk(const void *W, const __half *scales, const __half *x, float *y, int M, int K)
{
    extern __shared__ __align__(128) unsigned char stages[];
    __shared__ unsigned long long barriers[2 * STAGES];
    const int copied = ROWS * K / 2; // bytes of a copy
    const int all = M / ROWS, first = (long long)all * blockIdx.x / gridDim.x;
    const int count = (int)((long long)all * (blockIdx.x + 1) / gridDim.x) - first;
    const int most = (all + gridDim.x - 1) / gridDim.x + 1; // an odd place for each group's scales
    RowScales *of_scales = reinterpret_cast<RowScales *>(stages + STAGES * copied);
    float *of_warps = reinterpret_cast<float *>(of_scales + K / kGroup * most);
    const unsigned to = shared_address(stages);
    const unsigned full = shared_address(barriers), empty = full + STAGES * 8;
    const int lane = threadIdx.x % 32, group = threadIdx.x / THREADS;
    auto load = [&](int i) {
        const int stage = i % STAGES;
        mbarrier_expect(full + stage * 8, copied);
        const char *from = static_cast<const char *>(W) + (size_t)(first + i) * copied;
        bulk_load(to + stage * copied, from, copied, full + stage * 8);
    };
    if (threadIdx.x == GROUPS * THREADS) {
        for (int i = 0; i < STAGES; ++i) {
            mbarrier_init(full + i * 8, 1);
            mbarrier_init(empty + i * 8, kWarps);
        }
        mbarriers_are_ready();
        for (int i = 0; i < min(count, STAGES); ++i) {
            load(i);
        }
    }
    const int column = threadIdx.x % THREADS * BytePiece::kColumns;
    BytePiece piece;
    if (group < GROUPS) {
        for (int i = threadIdx.x; i < K / kGroup * count; i += GROUPS * THREADS) {
            const int at = i / count * most + i % count;
            cp_async_scales(shared_address(of_scales + at),
                            scales + (size_t)(i / count) * M + (first + i % count) * ROWS);
        }
        cp_async_commit();
        wait_for_x();
        piece.load(column < K ? x + column : nullptr);
        cp_async_wait<0>();
    }
    __syncthreads(); // barriers and scales
    if (group == GROUPS) {
        for (int i = STAGES; lane == 0 && i < count; ++i) {
            mbarrier_wait(empty + i % STAGES * 8, i / STAGES % 2 ^ 1);
            load(i);
        }
    }
    for (int i = group; group < GROUPS && i < count; i += GROUPS) {
        const int stage = i % STAGES;
        mbarrier_wait(full + stage * 8, i / STAGES % 2);
        float sum[ROWS] = {};
        if (column < K) {
            const uint4 *own = reinterpret_cast<const uint4 *>(stages + stage * copied);
            own += threadIdx.x % THREADS;
            uint4 pieces[ROWS];
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                pieces[row] = own[row * (K / BytePiece::kColumns)];
            }
            const RowScales own_scales = of_scales[column / kGroup * most + i];
#pragma unroll
            for (int row = 0; row < ROWS; ++row) {
                sum[row] = piece.dot(pieces[row]) * __half2float(own_scales.of[row]);
            }
        }
        __syncwarp();
        if (lane == 0) {
            mbarrier_arrive(empty + stage * 8);
        }
        float total = sums_of_rows(sum);
        constexpr int kLanes = kWarpSize / ROWS;
        if (lane % kLanes == 0) {
            const int warp = threadIdx.x % THREADS / 32;
            of_warps[(i * ROWS + lane / kLanes) * kWarps + warp] = total;
        }
    }
    __syncthreads();
    for (int row = threadIdx.x; row < count * ROWS; row += GROUPS * THREADS + 32) {
        float total = 0.0f;
        for (int warp = 0; warp < kWarps; ++warp) {
            total += of_warps[row * kWarps + warp];
        }
        y[first * ROWS + row] = total;
    }
}
