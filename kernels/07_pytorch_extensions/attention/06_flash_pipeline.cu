// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// `starts` (sequences + 1 ints) says where each sequence begins among `total` tokens. Q and O are
// total x heads x D, K and V total x kv_heads x D, lse is heads x total in fp32; heads is a
// multiple of kv_heads, and heads / kv_heads neighbours share keys and values. D is 64 or 128,
// scale above 0.
// With CAUSAL a query sees the keys up to its own place. Arrays begin at multiples of 16 bytes.
// Adds to flash_mma: 32 queries for each warp, so that each key and value read from shared memory
// serves two mma; cp.async, which brings the next tiles while these are used; no rescaling of rows
// whose largest score has not grown; and mbarriers instead of block-wide barriers, so that warps
// may be up to three tiles apart: one multiplies while another computes exponentials.
// Limit: the tensor cores, and what is left of waiting for them. sm_90 and later, for mbarrier.
// grid (ceil(longest / 256), heads, sequences), block (256), dynamic shared 2 * D * (256 + 8 * 64)

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"
#include "tma.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int BN = 64;     // keys of a tile
constexpr int kStages = 4; // tiles of keys and values in shared memory
constexpr int kWarps = 8;
constexpr int kTilesM = 2; // of 16 queries, for each warp
constexpr int kWarpRows = kTilesM * 16;
constexpr int BM = kWarps * kWarpRows; // queries of a block
constexpr int kThreads = kWarps * 32;
constexpr int kRowBytes = D * 2;
constexpr int kChunks = kRowBytes / 16; // of a row
constexpr int kTileBytes = BN * kRowBytes;
constexpr int kCopyRows = kThreads / kChunks; // that the block copies at once
constexpr int kTilesN = BN / 8;               // of one mma's columns, in the scores
constexpr int kTilesD = D / 8;                // and in the output
constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    flash_pipeline(const __nv_bfloat16 *Q, const __nv_bfloat16 *K, const __nv_bfloat16 *V,
                   __nv_bfloat16 *O, float *lse, const int *starts, int heads, int kv_heads,
                   int total, float scale)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned queries = shared_address(shared);
    const unsigned keys = queries + BM * kRowBytes; // kStages tiles
    const unsigned values = keys + kStages * kTileBytes;
    __shared__ unsigned long long barriers[2 * kStages];
    const unsigned full = shared_address(barriers); // a stage's copies have arrived, of all threads
    const unsigned empty = full + kStages * 8;      // and all warps have used them
    const int lane = threadIdx.x % 32;
    const int first = starts[blockIdx.z]; // token of the sequence
    const int length = starts[blockIdx.z + 1] - first;
    // Causal blocks with late queries have most to do: they come first.
    const int first_query = (gridDim.x - 1 - blockIdx.x) * BM;
    if (first_query >= length) {
        return; // the whole block
    }
    const int head = blockIdx.y;
    const size_t q_stride = (size_t)heads * D, kv_stride = (size_t)kv_heads * D;
    const size_t kv_from = first * kv_stride + head / (heads / kv_heads) * D;
    Q += first * q_stride + head * D; // now they begin at the head's part of the sequence
    O += first * q_stride + head * D;
    K += kv_from;
    V += kv_from;

    const int copy_row = threadIdx.x / kChunks; // the first chunk that the thread copies
    const int copy_chunk = threadIdx.x % kChunks;
    auto copy = [&](unsigned to, const __nv_bfloat16 *from, size_t stride, int first_row, int i) {
        int row = copy_row + i * kCopyRows;
        bool exists = first_row + row < length; // zeros past the end
        const __nv_bfloat16 *at = from + (exists ? first_row + row : 0) * stride + copy_chunk * 8;
        cp_async_16(to + swizzled<kRowBytes>(row, copy_chunk), at, exists);
    };
    auto copy_tiles = [&](int tile) { // of keys and values
        const int stage = tile % kStages;
        if (tile >= kStages) { // all warps have used the tile there
            mbarrier_wait(empty + stage * 8, (tile / kStages - 1) % 2);
        }
#pragma unroll
        for (int i = 0; i < BN / kCopyRows; ++i) {
            copy(keys + stage * kTileBytes, K, kv_stride, tile * BN, i);
            copy(values + stage * kTileBytes, V, kv_stride, tile * BN, i);
        }
        cp_async_arrive(full + stage * 8);
    };

    auto release = [&](int stage) { // by this warp
        __syncwarp();
        if (lane == 0) {
            mbarrier_arrive(empty + stage * 8);
        }
    };

    // Where ldmatrix reads: XOR with 32 k takes the k-th 16 columns, since rows begin at multiples
    // of 128 bytes. A: lanes 0-15 give 16 rows, left half, the others the right half. Keys, as
    // columns of B: lanes 0-7 and 16-23 give 16 rows, left half. Values, transposed: as A.
    const int warp_row = threadIdx.x / 32 * kWarpRows;
    const unsigned q_at = queries + swizzled<kRowBytes>(warp_row + lane % 16, lane / 16);
    const unsigned k_at = swizzled<kRowBytes>(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const unsigned v_at = swizzled<kRowBytes>(lane % 16, lane / 16);

    // Of each tile of 16 rows a lane has rows l / 4 and l / 4 + 8: half 0 and half 1.
    const float to_log2 = scale * kLog2E;
    float largest[kTilesM][2], sum[kTilesM][2]; // of scores without scale; of the lane's columns
    float o[kTilesM][kTilesD][4] = {};
#pragma unroll
    for (int m = 0; m < kTilesM; ++m) {
        largest[m][0] = largest[m][1] = -CUDART_INF_F;
        sum[m][0] = sum[m][1] = 0.0f;
    }

    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) {
            mbarrier_init(full + i * 8, kThreads);
            mbarrier_init(empty + i * 8, kWarps);
        }
        mbarriers_are_ready();
    }
    __syncthreads(); // no thread arrives before the barriers are there
#pragma unroll
    for (int i = 0; i < BM / kCopyRows; ++i) {
        copy(queries, Q, q_stride, first_query, i);
    }
    const int end = CAUSAL ? min(length, first_query + BM) : length;
    const int tiles = (end + BN - 1) / BN;
    copy_tiles(0); // with the queries
    for (int tile = 0; tile < tiles; ++tile) {
        const int stage = tile % kStages;
        if (tile + 1 < tiles) {
            copy_tiles(tile + 1);
        }
        mbarrier_wait(full + stage * 8, tile / kStages % 2);
        const int first_key = tile * BN;
        const int last_key = first_key + BN - 1;
        if (CAUSAL && first_key >= first_query + warp_row + kWarpRows) {
            release(stage);
            continue; // hidden from all rows of this warp
        }

        const unsigned at = keys + stage * kTileBytes + k_at;
        float s[kTilesM][kTilesN][4] = {};
#pragma unroll
        for (int k = 0; k < D / 16; ++k) {
            unsigned a[kTilesM][4], b[kTilesN / 2][4];
#pragma unroll
            for (int m = 0; m < kTilesM; ++m) {
                ldmatrix_4(a[m], (q_at ^ k * 32) + m * 16 * kRowBytes);
            }
#pragma unroll
            for (int n = 0; n < kTilesN / 2; ++n) {
                ldmatrix_4(b[n], (at ^ k * 32) + n * 16 * kRowBytes);
            }
#pragma unroll
            for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
                for (int m = 0; m < kTilesM; ++m) {
                    mma_bf16(s[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
                }
            }
        }
        if (last_key >= length || (CAUSAL && last_key > first_query + warp_row)) { // an edge
#pragma unroll
            for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
                for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        int key = first_key + n * 8 + lane % 4 * 2 + i % 2;
                        int query = first_query + warp_row + m * 16 + lane / 4 + i / 2 * 8;
                        if (key >= length || (CAUSAL && key > query)) {
                            s[m][n][i] = -CUDART_INF_F;
                        }
                    }
                }
            }
        }

        float most[kTilesM][2]; // of this tile's scores, the lane's own
#pragma unroll
        for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                most[m][half] = fmaxf(s[m][0][half * 2], s[m][0][half * 2 + 1]);
#pragma unroll
                for (int n = 1; n < kTilesN; ++n) {
                    most[m][half] =
                        fmaxf(most[m][half], fmaxf(s[m][n][half * 2], s[m][n][half * 2 + 1]));
                }
            }
        }
        float offset[kTilesM][2]; // of exponents
#pragma unroll
        for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                if (__any_sync(kWholeWarp, most[m][half] > largest[m][half])) { // of eight rows
                    float new_largest = fmaxf(largest[m][half], most[m][half]);
                    new_largest = fmaxf(new_largest, __shfl_xor_sync(kWholeWarp, new_largest, 1));
                    new_largest = fmaxf(new_largest, __shfl_xor_sync(kWholeWarp, new_largest, 2));
                    float rescale = exp2_approx((largest[m][half] - new_largest) * to_log2);
                    largest[m][half] = new_largest;
                    sum[m][half] *= rescale;
#pragma unroll
                    for (int c = 0; c < kTilesD; ++c) {
                        o[m][c][half * 2] *= rescale;
                        o[m][c][half * 2 + 1] *= rescale;
                    }
                }
                offset[m][half] = largest[m][half] * to_log2;
            }
        }
        const unsigned values_at = values + stage * kTileBytes + v_at;
#pragma unroll
        for (int k = 0; k < BN / 16; ++k) { // the weights of 16 keys, then their products
            unsigned p[kTilesM][4];
#pragma unroll
            for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
                for (int i = 0; i < 8; ++i) {
                    float &score = s[m][2 * k + i / 4][i % 4];
                    score = exp2_approx(score * to_log2 - offset[m][i / 2 % 2]);
                    sum[m][i / 2 % 2] += score;
                }
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const float *pair = &s[m][2 * k + i / 2][i % 2 * 2];
                    p[m][i] = bf16_pair(pair[0], pair[1]);
                }
            }
#pragma unroll
            for (int c = 0; c < kTilesD / 2; ++c) {
                unsigned b[4];
                ldmatrix_4_transposed(b, (values_at ^ c * 32) + k * 16 * kRowBytes);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
#pragma unroll
                    for (int m = 0; m < kTilesM; ++m) {
                        mma_bf16(o[m][2 * c + i], p[m], b[2 * i], b[2 * i + 1]);
                    }
                }
            }
        }
        release(stage);
    }

#pragma unroll
    for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float all = sum[m][half];
            all += __shfl_xor_sync(kWholeWarp, all, 1);
            all += __shfl_xor_sync(kWholeWarp, all, 2);
            const int query = first_query + warp_row + m * 16 + lane / 4 + half * 8;
            if (query < length) {
                const float inverse = 1.0f / all;
                __nv_bfloat16 *to = O + query * q_stride + lane % 4 * 2;
#pragma unroll
                for (int c = 0; c < kTilesD; ++c) {
                    *reinterpret_cast<unsigned *>(to + c * 8) =
                        bf16_pair(o[m][c][half * 2] * inverse, o[m][c][half * 2 + 1] * inverse);
                }
                if (lane % 4 == 0) {
                    lse[(size_t)head * total + first + query] =
                        largest[m][half] * scale + logf(all);
                }
            }
        }
    }
}
