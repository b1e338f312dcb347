// The QR factorisation of a panel of 32 columns by a block, in its registers: a lane has a column.
// A tile has eight rows. A warp has every WARPS-th tile.

#pragma once

#include "reflector.cuh"

#ifndef WARPS
#define WARPS 8
#endif
#ifndef SLOTS
#define SLOTS 8 // tiles of a warp
#endif

constexpr int kPanel = 32; // columns of a panel, and reflectors
constexpr int kTile = 8;   // rows
constexpr int kThreads = WARPS * 32;
constexpr int kMostRows = SLOTS * WARPS * kTile;
// Of the columns of v, and of the rows of T: four of them begin at different banks, eight apart.
constexpr int kStride = kMostRows + 8;
constexpr int kTStride = kPanel + 8;
constexpr unsigned kWholeWarp = 0xffffffff;
static_assert(WARPS % 4 == 0,
              "the first 32 rows are in the first slot; kMostRows is even to banks");

typedef float Column[SLOTS * kTile]; // a lane's part of a column

struct Panel {
    float v[kPanel * kStride];         // its reflectors, a column each; zeros above their ones
    float t[kPanel * kTStride];        // v_i . v_k for i < k, otherwise 0; then T
    float tau[kPanel];                 // 0 for a reflector that is not there
    float pivot[WARPS][SLOTS * kTile]; // the column that is worked on, as the warps have it
    float dots[2][WARPS + 1][kPanel];  // of it and all columns: the warps' shares; then its row
};

// The first row of the warp's tile `slot`.
__device__ inline int row_of(int slot)
{
    return (slot * WARPS + threadIdx.x / 32) * kTile;
}

// A lane's column of a row-major matrix with rows of n, that begins at `from`; zeros where it or a
// row is not there.
__device__ inline void load_column(Column &a, const float *from, int n, int rows, bool exists)
{
#pragma unroll
    for (int i = 0; i < SLOTS * kTile; ++i) {
        const int row = row_of(i / kTile) + i % kTile;
        a[i] = exists && row < rows ? from[row * n] : 0.0f;
    }
}

// Stores it. Numbers of R, down to row `last`, in the first slot, get back the power of two that the
// column was divided by.
__device__ inline void store_column(const Column &a, float *to, int n, int rows, bool exists,
                                    int last, float restore)
{
#pragma unroll
    for (int i = 0; i < SLOTS * kTile; ++i) {
        const int row = row_of(i / kTile) + i % kTile;
        if (exists && row < rows) {
            to[row * n] = i < kTile && row <= last ? scaled(a[i], restore) : a[i];
        }
    }
}

// Brings the lane's column near 1 by a power of two, and returns its inverse. All threads call it.
__device__ inline float scale_column(Column &a, unsigned (&room)[WARPS][kPanel])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned most = 0;
#pragma unroll
    for (int i = 0; i < SLOTS * kTile; ++i) {
        most = max(most, size_bits(a[i]));
    }
    room[warp][lane] = most;
    __syncthreads(); // the warps' largest are there
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        most = max(most, room[w][lane]);
    }
    const float power = power_for(most);
#pragma unroll
    for (int i = 0; i < SLOTS * kTile; ++i) {
        a[i] = scaled(a[i], power);
    }
    __syncthreads(); // all have read the largest
    return undo(power);
}

// Factors the panel in a, of whose slots the first `slots` may be other than zero. `count` columns
// become reflectors, at most 32. Leaves R and v in a, v without its one; v, tau and the products of
// reflectors in shared memory. Ends with a barrier.
__device__ inline void factor_panel(Panel &panel, Column &a, int slots, int count)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    float *mine = panel.pivot[warp];
    const float4 *pivot = reinterpret_cast<const float4 *>(mine);
    float to_v = 0.0f; // the lane's column times this is its v
    int turn = 0;
    for (int i = threadIdx.x; i < kPanel * kTStride; i += kThreads) {
        panel.t[i] = 0.0f;
    }
    if (warp == 0) {
        panel.tau[lane] = 0.0f;
    }
    __syncthreads();
    for (int tile = 0; tile < kPanel / kTile; ++tile) { // whose rows warp `tile` has first
#pragma unroll
        for (int q = 0; q < kTile; ++q) {
            const int j = tile * kTile + q;
            if (j >= count) {
                break;
            }
            float up = 1.0f, total, of_row;
            Reflector h;
            while (true) { // a second time where squares are too small
                if (lane == j) {
                    // Rows of the first tile that are not below the diagonal.
                    const int above = warp > tile ? 0 : warp == tile ? q + 1 : kTile;
#pragma unroll
                    for (int s = 0; s < SLOTS; ++s) {
                        if (s < slots) {
#pragma unroll
                            for (int i = 0; i < kTile; ++i) {
                                const bool below = s > 0 || i >= above;
                                mine[s * kTile + i] = below ? a[s * kTile + i] * up : 0.0f;
                            }
                        }
                    }
                }
                __syncwarp(); // the pivot is there
                float sum[4] = {};
#pragma unroll
                for (int s = 0; s < SLOTS; ++s) {
                    if (s < slots) {
#pragma unroll
                        for (int i = 0; i < kTile; i += 4) {
                            const float4 x = pivot[(s * kTile + i) / 4];
                            const float *own = &a[s * kTile + i];
                            sum[0] = fmaf(x.x, own[0], sum[0]);
                            sum[1] = fmaf(x.y, own[1], sum[1]);
                            sum[2] = fmaf(x.z, own[2], sum[2]);
                            sum[3] = fmaf(x.w, own[3], sum[3]);
                        }
                    }
                }
                float (*dots)[kPanel] = panel.dots[turn];
                turn ^= 1;
                dots[warp][lane] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
                if (warp == tile) {
                    dots[WARPS][lane] = a[q];
                }
                __syncthreads(); // all warps' shares are there
                total = dots[0][lane];
#pragma unroll
                for (int w = 1; w < WARPS; ++w) {
                    total += dots[w][lane];
                }
                of_row = dots[WARPS][lane];
                const float alpha = __shfl_sync(kWholeWarp, of_row, j);
                const float squares = __shfl_sync(kWholeWarp, total, j) * up;
                if (up == 1.0f && squares < kTooSmall && fabsf(alpha) < kSmallAlpha) {
                    up = kUp;
                    continue;
                }
                h = reflector_of(alpha * up, squares);
                break;
            }
            // The dot product of v_j and the lane's column, row j included.
            const float dot = fmaf(total, h.inverse, of_row);
            if (lane > j) {
                const float w = h.tau * dot, factor = -w * h.inverse;
                if (warp == tile) {
                    a[q] -= w;
                }
#pragma unroll
                for (int s = 0; s < SLOTS; ++s) {
                    if (s < slots) {
#pragma unroll
                        for (int i = 0; i < kTile; i += 4) {
                            const float4 x = pivot[(s * kTile + i) / 4];
                            float *own = &a[s * kTile + i];
                            own[0] = fmaf(x.x, factor, own[0]);
                            own[1] = fmaf(x.y, factor, own[1]);
                            own[2] = fmaf(x.z, factor, own[2]);
                            own[3] = fmaf(x.w, factor, own[3]);
                        }
                    }
                }
            } else if (lane == j) {
                to_v = h.inverse * up;
                if (warp == tile) {
                    a[q] = up == 1.0f ? h.beta : h.beta * (1.0f / kUp);
                    panel.tau[j] = h.tau;
                }
            } else if (warp == 0) {
                panel.t[lane * kTStride + j] = to_v * dot;
            }
            __syncwarp(); // the pivot has been used
        }
    }
    const bool reflects = lane < count;
#pragma unroll
    for (int i = 0; i < SLOTS * kTile; i += 4) {
        float v[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const int row = row_of(i / kTile) + i % kTile + k;
            a[i + k] = reflects && row > lane ? a[i + k] * to_v : a[i + k];
            v[k] = !reflects || row < lane ? 0.0f : row == lane ? 1.0f : a[i + k];
        }
        *reinterpret_cast<float4 *>(&panel.v[lane * kStride + row_of(i / kTile) + i % kTile]) =
            make_float4(v[0], v[1], v[2], v[3]);
    }
    __syncthreads(); // products of reflectors, v and tau are there
}

// T of the panel's reflectors, H_1 H_2 ... = I - V T V^T, by one warp, whose lane k has column k. The
// inverse of T has 1 / tau on its diagonal and v_i . v_k above it, so T is found from below, without
// dividing by a tau.
__device__ inline void make_t(Panel &panel)
{
    const int lane = threadIdx.x % 32;
    float t[kPanel];
#pragma unroll
    for (int i = kPanel - 1; i >= 0; --i) {
        float sum = i == lane ? 1.0f : 0.0f;
#pragma unroll
        for (int k = i + 1; k < kPanel; ++k) {
            sum = fmaf(-panel.t[i * kTStride + k], t[k], sum);
        }
        t[i] = panel.tau[i] * sum;
        __syncwarp(); // row i has been read
        panel.t[i * kTStride + lane] = t[i];
    }
}
