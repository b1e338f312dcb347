// O = softmax(scale Q K^T) V for each head, with the arguments of flash_tiles: Q, K, V and O are n
// x heads x D floats. D is 32 or 64. With CAUSAL a query sees the keys up to its own position. Any
// n, up to 65,535 heads; all numbers finite and below 2^127.
// Adds to flash_tiles tensor cores, with the error of fp32: each number is a pair of TF32 numbers,
// and each product three products on tensor cores. A warp has 32 queries, and its weights become an
// operand where they are, because a sum doesn't mind which of eight keys comes first.
// Limit: mma.sync, and taking the pairs apart, which each warp does for all keys and values.
// grid (ceil(n / (32 WARPS)), heads), block (32 WARPS), dynamic shared 16 KEYS D

#include <math_constants.h>

#include "attention.cuh"
#include "tf32_pair.cuh"

#ifndef D
#define D 64 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif
#ifndef WARPS
#define WARPS 8 // of a block: 32 queries each
#endif
#ifndef KEYS
#define KEYS 32 // of a tile
#endif

constexpr int kThreads = 32 * WARPS;
constexpr int kRows = 2; // tiles of 16 queries that a warp has
constexpr int kQueries = 16 * kRows * WARPS;
constexpr int kAtOnce = KEYS < 32 ? KEYS / 8 : 4; // tiles of 8 columns of a product
constexpr int kChunks = D / 4;                    // of 16 bytes, in a row
constexpr int kTile = KEYS * D;                   // floats

// Where a chunk of a row of keys, and of values, begins: the XOR spreads what lanes read together,
// four chunks of two rows of keys or two chunks of four rows of values, over all banks.
__device__ inline int key_chunk(int row, int chunk)
{
    return row * D + 4 * (chunk ^ (row & 1) * 4);
}
__device__ inline int value_chunk(int row, int chunk)
{
    return row * D + 4 * (chunk ^ (row / 2 & 3) * 2);
}

// sum[j] += a b[j], for tiles that don't wait for each other. Small products come first.
template <int kCount>
__device__ __forceinline__ void add_products(float (*sum)[4], const float (&values)[4],
                                             const Pair (&b)[kCount][2])
{
    const PairA a(values);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
        mma_tf32_movable(sum[j], a.low, b[j][0].high, b[j][1].high);
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
        mma_tf32_movable(sum[j], a.high, b[j][0].low, b[j][1].low);
    }
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
        mma_tf32_movable(sum[j], a.high, b[j][0].high, b[j][1].high);
    }
}

extern "C" __global__ void __launch_bounds__(kThreads)
    flash_pairs(const float *Q, const float *K, const float *V, float *O, int n, float scale)
{
    extern __shared__ float4 shared[];
    float *tiles =
        reinterpret_cast<float *>(shared); // keys and values of a stage, then of the next
    const int heads = gridDim.y, lane = threadIdx.x % 32;
    const int g = lane / 4, t = lane % 4; // row and column of the lane in a tile of 8 x 4
    const int first_query = blockIdx.x * kQueries + threadIdx.x / 32 * 16 * kRows;
    const int end = CAUSAL ? min(n, (blockIdx.x + 1) * kQueries) : n;

    auto copy_tile = [&](int first_key, int stage) {
        const unsigned keys = shared_address(tiles + stage * 2 * kTile), values = keys + 4 * kTile;
#pragma unroll
        for (int i = threadIdx.x; i < KEYS * kChunks; i += kThreads) {
            const int row = i / kChunks, chunk = i % kChunks, key = first_key + row;
            const size_t from = ((size_t)min(key, n - 1) * heads + blockIdx.y) * D + 4 * chunk;
            cp_async_16(keys + 4 * key_chunk(row, chunk), K + from, key < n); // zeros past the end
            cp_async_16(values + 4 * value_chunk(row, chunk), V + from, key < n);
        }
        cp_async_commit();
    };
    copy_tile(0, 0);

    // Queries are the left operand. Of 16 columns a lane has four neighbours, two for each of two
    // steps. Scores are powers of 2.
    float q[kRows][D / 8][4];
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
#pragma unroll
        for (int i = 0; i < D / 16; ++i) {
            float4 row[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int query = min(first_query + 16 * m + g + 8 * half, n - 1);
                row[half] = *reinterpret_cast<const float4 *>(
                    Q + ((size_t)query * heads + blockIdx.y) * D + 16 * i + 4 * t);
            }
            const float by = scale * kLog2E;
            const float even[4] = {row[0].x * by, row[1].x * by, row[0].y * by, row[1].y * by};
            const float odd[4] = {row[0].z * by, row[1].z * by, row[0].w * by, row[1].w * by};
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                q[m][2 * i][k] = even[k];
                q[m][2 * i + 1][k] = odd[k];
            }
        }
    }

    float largest[kRows][2], sum[kRows][2] = {}; // of the rows g and g + 8
    float o[kRows][D / 8][4] = {};
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
        largest[m][0] = largest[m][1] = -CUDART_INF_F;
    }
    int stage = 0;
    for (int first_key = 0; first_key < end; first_key += KEYS, stage ^= 1) {
        cp_async_wait<0>();
        __syncthreads(); // the tile is complete, and nobody reads the one before any more
        if (first_key + KEYS < end) {
            copy_tile(first_key + KEYS, stage ^ 1);
        }
        const float *keys = tiles + stage * 2 * kTile, *values = keys + kTile;

// Otherwise the compiler takes the queries apart before the loop, into twice the registers.
#pragma unroll
        for (int i = 0; i < kRows * D / 2; ++i) {
            asm volatile("" : "+f"(q[i / (D / 2)][i / 4 % (D / 8)][i % 4]));
        }

        float s[kRows][KEYS / 8][4] = {};
#pragma unroll
        for (int i = 0; i < D / 16; ++i) {
#pragma unroll
            for (int j0 = 0; j0 < KEYS / 8; j0 += kAtOnce) {
                float4 key[kAtOnce];
#pragma unroll
                for (int j = 0; j < kAtOnce; ++j) {
                    key[j] = *reinterpret_cast<const float4 *>(
                        keys + key_chunk(8 * (j0 + j) + g, 4 * i + t));
                }
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    Pair b[kAtOnce][2];
#pragma unroll
                    for (int j = 0; j < kAtOnce; ++j) {
                        b[j][0] = Pair(half ? key[j].z : key[j].x);
                        b[j][1] = Pair(half ? key[j].w : key[j].y);
                    }
#pragma unroll
                    for (int m = 0; m < kRows; ++m) {
                        add_products(&s[m][j0], q[m][2 * i + half], b);
                    }
                }
            }
        }

        const int last_seen =
            CAUSAL ? min(n - 1, first_query) : n - 1; // by all of the warp's queries
        if (first_key + KEYS - 1 > last_seen) {
#pragma unroll
            for (int m = 0; m < kRows; ++m) {
#pragma unroll
                for (int j = 0; j < KEYS / 8; ++j) {
#pragma unroll
                    for (int c = 0; c < 4; ++c) {
                        const int key = first_key + 8 * j + 2 * t + c % 2;
                        const int query = first_query + 16 * m + g + c / 2 * 8;
                        if (key >= n || (CAUSAL && key > query)) {
                            s[m][j][c] = -CUDART_INF_F;
                        }
                    }
                }
            }
        }

        float rescale[kRows][2];
#pragma unroll
        for (int m = 0; m < kRows; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float now = largest[m][half];
#pragma unroll
                for (int j = 0; j < KEYS / 8; ++j) {
                    now = fmaxf(now, fmaxf(s[m][j][2 * half], s[m][j][2 * half + 1]));
                }
                now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, 1));
                now = fmaxf(now, __shfl_xor_sync(0xffffffff, now, 2)); // finite: key 0 was there
                rescale[m][half] = exp2_approx(largest[m][half] - now);
                largest[m][half] = now;
                sum[m][half] *= rescale[m][half];
#pragma unroll
                for (int j = 0; j < KEYS / 8; ++j) {
#pragma unroll
                    for (int c = 2 * half; c < 2 * half + 2; ++c) {
                        s[m][j][c] = exp2_approx(s[m][j][c] - now);
                        sum[m][half] += s[m][j][c]; // of the lane's own keys
                    }
                }
            }
        }

#pragma unroll
        for (int c0 = 0; c0 < D / 32; ++c0) { // 32 columns, of which the lane has four at g
            float product[kRows][4][4] = {};  // of this tile alone: tensor cores cut long sums off
#pragma unroll
            for (int k = 0; k < KEYS / 8; ++k) {
                float even[4], odd[4];
                *reinterpret_cast<float4 *>(even) = *reinterpret_cast<const float4 *>(
                    values + value_chunk(8 * k + 2 * t, 8 * c0 + g));
                *reinterpret_cast<float4 *>(odd) = *reinterpret_cast<const float4 *>(
                    values + value_chunk(8 * k + 2 * t + 1, 8 * c0 + g));
                Pair b[4][2];
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    b[c][0] = Pair(even[c]);
                    b[c][1] = Pair(odd[c]);
                }
#pragma unroll
                for (int m = 0; m < kRows; ++m) {
                    const float weights[4] = {s[m][k][0], s[m][k][2], s[m][k][1], s[m][k][3]};
                    add_products(product[m], weights, b);
                }
            }
#pragma unroll
            for (int m = 0; m < kRows; ++m) {
#pragma unroll
                for (int c = 0; c < 4; ++c) {
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        o[m][4 * c0 + c][e] =
                            o[m][4 * c0 + c][e] * rescale[m][e / 2] + product[m][c][e];
                    }
                }
            }
        }
    }

#pragma unroll
    for (int m = 0; m < kRows; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float whole = sum[m][half];
            whole += __shfl_xor_sync(0xffffffff, whole, 1);
            whole += __shfl_xor_sync(0xffffffff, whole, 2);
            const int query = first_query + 16 * m + g + 8 * half;
            if (query < n) {
                float *to = O + ((size_t)query * heads + blockIdx.y) * D + 8 * t;
#pragma unroll
                for (int c0 = 0; c0 < D / 32; ++c0) { // column 4 n + c of a tile's n-th number
#pragma unroll
                    for (int e = 0; e < 2; ++e) {
                        const int at = 2 * half + e;
                        *reinterpret_cast<float4 *>(to + 32 * c0 + 4 * e) =
                            make_float4(o[m][4 * c0][at] / whole, o[m][4 * c0 + 1][at] / whole,
                                        o[m][4 * c0 + 2][at] / whole, o[m][4 * c0 + 3][at] / whole);
                    }
                }
            }
        }
    }
}
