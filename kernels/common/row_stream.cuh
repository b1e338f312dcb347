// The product of a matrix in few bits with a vector: the part that does not depend on the format.
//
// A thread owns one piece of 16 bytes of every row, the same columns always, so that its part of x
// stays in registers. The rows of a block stream through shared memory, ROWS at a time and STAGES
// deep. Each thread copies its own pieces and reads only those, so no thread waits for another.

#pragma once

#include <cuda_fp16.h>

#include "ptx.cuh"
#include "reduce.cuh"

#ifndef THREADS
#define THREADS 256 // at least as many as a row has pieces, in whole warps
#endif
#ifndef ROWS
#define ROWS 8 // 2, 4 or 8: that a thread works on together
#endif
#ifndef STAGES
#define STAGES 2
#endif
#ifndef BLOCKS
#define BLOCKS 2 // that share a multiprocessor: caps the registers
#endif
#ifndef EARLY
#define EARLY 0 // 1, from sm_90 on: may be launched before the kernel that makes x has ended
#endif

constexpr int kWarps = THREADS / kWarpSize;
constexpr int kGroup = 128; // columns that share a scale

__device__ inline __half2 as_halves(unsigned bits)
{
    return *reinterpret_cast<__half2 *>(&bits);
}

// The kCount halves from `from` on, a multiple of 16 bytes, zeros if it is null.
template <int kCount>
__device__ inline void load_halves(__half (&x)[kCount], const __half *from)
{
#pragma unroll
    for (int i = 0; i < kCount / 8; ++i) {
        uint4 eight = from ? reinterpret_cast<const uint4 *>(from)[i] : uint4{};
        const unsigned pairs[4] = {eight.x, eight.y, eight.z, eight.w};
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            x[8 * i + 2 * j] = __low2half(as_halves(pairs[j]));
            x[8 * i + 2 * j + 1] = __high2half(as_halves(pairs[j]));
        }
    }
}

// Programmatic dependent launch: the next kernel may begin, and the one before has ended. Every
// thread waits, so that no kernel ends before the one before it. In an ordinary launch nothing.
__device__ inline void wait_for_x()
{
#if EARLY
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// The scales of the rows that a thread works on together.
struct alignas(2 * ROWS) RowScales {
    __half of[ROWS];
};

// sum[i] over the warp for each of ROWS rows: in lane l that of row l / (32 / ROWS). Each step
// halves the number of rows that a lane has, and gives the other half away.
__device__ inline float sums_of_rows(float (&sum)[ROWS])
{
    int distance = kWarpSize / 2;
#pragma unroll
    for (int kept = ROWS / 2; kept > 0; kept /= 2, distance /= 2) {
        bool upper = threadIdx.x & distance;
#pragma unroll
        for (int i = 0; i < kept; ++i) {
            float mine = upper ? sum[i + kept] : sum[i];
            float given = upper ? sum[i] : sum[i + kept];
            sum[i] = mine + __shfl_xor_sync(kWholeWarp, given, distance);
        }
    }
#pragma unroll
    for (; distance > 0; distance /= 2) {
        sum[0] += __shfl_xor_sync(kWholeWarp, sum[0], distance);
    }
    return sum[0];
}

// y = W x for W of M x K in pieces of 16 bytes, `rows` rows a block. Piece says how many columns a
// piece has (kColumns), whether groups of them have scales (kScaled), how to keep x (load) and how
// to multiply with it (dot). scales is K / 128 x M, so that the scales of neighbouring rows are
// neighbours. M and `rows` are multiples of 8.
template <typename Piece>
__device__ inline void stream_rows(const void *W, const __half *scales, const __half *x, float *y,
                                   int M, int K, int rows)
{
    extern __shared__ uint4 stages[]; // STAGES x ROWS x THREADS pieces, scales, sums of warps
    constexpr int kScaleBytes = sizeof(RowScales);
    unsigned pieces = shared_address(stages) + 16 * threadIdx.x;
    unsigned of_scales = shared_address(stages + STAGES * ROWS * THREADS);
    of_scales += kScaleBytes * threadIdx.x;
    char *end = reinterpret_cast<char *>(stages + STAGES * ROWS * THREADS);
    float *of_warps = reinterpret_cast<float *>(end + STAGES * kScaleBytes * THREADS);

    int first = blockIdx.x * rows, count = min(rows, M - first);
    int column = threadIdx.x * Piece::kColumns, pitch = K / Piece::kColumns; // pieces of a row
    bool exists = column < K;
    const uint4 *from = static_cast<const uint4 *>(W) + (size_t)first * pitch;
    from += exists ? threadIdx.x : 0;
    const __half *scale = scales + (size_t)(exists ? column / kGroup : 0) * M + first;
    auto fetch = [&](int row, int stage) {
        if (row < count) {
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                cp_async_16(pieces + (stage * ROWS + i) * THREADS * 16,
                            from + (size_t)(row + i) * pitch, exists);
            }
            if constexpr (Piece::kScaled) {
                unsigned to = of_scales + stage * THREADS * kScaleBytes;
                asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to),
                             "l"(scale + row), "n"(kScaleBytes)
                             : "memory");
            }
        }
        cp_async_commit();
    };
#pragma unroll
    for (int stage = 0; stage < STAGES - 1; ++stage) {
        fetch(stage * ROWS, stage);
    }
    wait_for_x(); // the first rows are on their way
    Piece piece;
    piece.load(exists ? x + column : nullptr);
    int stage = 0;
    for (int row = 0; row < count; row += ROWS) {
        fetch(row + (STAGES - 1) * ROWS, stage == 0 ? STAGES - 1 : stage - 1);
        cp_async_wait<STAGES - 1>(); // this thread's pieces of the stage are there
        const uint4 *own = stages + stage * ROWS * THREADS + threadIdx.x;
        RowScales own_scales{};
        if constexpr (Piece::kScaled) {
            own_scales = reinterpret_cast<const RowScales *>(end)[stage * THREADS + threadIdx.x];
        }
        float sum[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            sum[i] = piece.dot(own[i * THREADS]);
            if constexpr (Piece::kScaled) {
                sum[i] *= __half2float(own_scales.of[i]);
            }
        }
        float total = sums_of_rows(sum);
        constexpr int kLanes = kWarpSize / ROWS; // that have the same sum
        int lane = threadIdx.x % kWarpSize;
        if (lane % kLanes == 0) {
            of_warps[(row + lane / kLanes) * kWarps + threadIdx.x / kWarpSize] = total;
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    __syncthreads(); // the sums of all warps are there
    for (int row = threadIdx.x; row < count; row += THREADS) {
        float total = 0.0f;
        for (int warp = 0; warp < kWarps; ++warp) {
            total += of_warps[row * kWarps + warp];
        }
        y[first + row] = total;
    }
}
