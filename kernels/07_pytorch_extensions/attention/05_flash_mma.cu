// O = softmax(scale Q K^T) V in bf16, and the log of the sum of exponentials of each row's scores.
// `starts` (sequences + 1 ints) says where each sequence begins among `total` tokens. Q and O are
// total x heads x D, K and V total x kv_heads x D, lse is heads x total in fp32; heads is a
// multiple of kv_heads, and heads / kv_heads neighbours share keys and values. D is 64 or 128,
// scale above 0.
// With CAUSAL a query sees the keys up to its own position. Arrays begin at multiples of 16 bytes.
// Adds to flash_tiles: tensor cores. A warp has 16 queries; a tile's weights stay in the registers
// that its scores came in, since what mma returns as C it takes as A.
// Limit: each tile is loaded, then used, one after the other.
// grid (ceil(longest / 64), heads, sequences), block (128), dynamic shared 0

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int BN = 32;          // keys of a tile
constexpr int kWarps = 4;       // with 16 queries each
constexpr int BM = kWarps * 16; // queries of a block
constexpr int kThreads = kWarps * 32;
constexpr int kRowBytes = D * 2;
constexpr int kChunks = kRowBytes / 16; // of a row

extern "C" __global__ void __launch_bounds__(kThreads)
    flash_mma(const __nv_bfloat16 *Q, const __nv_bfloat16 *K, const __nv_bfloat16 *V,
              __nv_bfloat16 *O, float *lse, const int *starts, int heads, int kv_heads, int total,
              float scale)
{
    __shared__ __align__(128) char tile[2 * BN * kRowBytes]; // keys and values; first the queries
    static_assert(BM <= 2 * BN, "the queries fit where the tiles lie");
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    int head = blockIdx.y;
    int kv_head = head / (heads / kv_heads);
    int first = starts[blockIdx.z]; // token of the sequence
    int length = starts[blockIdx.z + 1] - first;
    int first_query = blockIdx.x * BM; // in the sequence, as all queries and keys below
    if (first_query >= length) {
        return;
    }
    auto copy = [&](char *to, const __nv_bfloat16 *from, int count, int of_heads, int which,
                    int first_row) { // `count` rows of one head; zeros past the sequence
        for (int i = threadIdx.x; i < count * kChunks; i += kThreads) {
            int row = first_row + i / kChunks;
            const __nv_bfloat16 *at =
                from + ((size_t)(first + row) * of_heads + which) * D + i % kChunks * 8;
            *reinterpret_cast<uint4 *>(to + swizzled<kRowBytes>(i / kChunks, i % kChunks)) =
                row < length ? *reinterpret_cast<const uint4 *>(at) : make_uint4(0, 0, 0, 0);
        }
    };

    copy(tile, Q, BM, heads, head, first_query);
    __syncthreads();
    unsigned q[D / 16][4]; // the warp's 16 queries, as operands A
    for (int k = 0; k < D / 16; ++k) {
        unsigned at = swizzled<kRowBytes>(warp * 16 + lane % 16, k * 2 + lane / 16);
        ldmatrix_4(q[k], shared_address(tile) + at);
    }

    // Lane l has rows l / 4 and l / 4 + 8 of the warp's 16: everything of a row comes in pairs.
    int row = first_query + warp * 16 + lane / 4;
    float to_log2 = scale * kLog2E;
    float largest[2] = {-CUDART_INF_F, -CUDART_INF_F}; // of a row's scores so far, without scale
    float sum[2] = {};                                 // of the lane's own columns
    float o[D / 8][4] = {};
    int end = CAUSAL ? min(length, first_query + BM) : length;
    for (int first_key = 0; first_key < end; first_key += BN) {
        __syncthreads(); // every warp is done with the tiles before
        copy(tile, K, BN, kv_heads, kv_head, first_key);
        copy(tile + BN * kRowBytes, V, BN, kv_heads, kv_head, first_key);
        __syncthreads();

        float s[BN / 8][4] = {}; // Q K^T: 16 queries and BN keys
        for (int k = 0; k < D / 16; ++k) {
            for (int j = 0; j < BN / 16; ++j) {
                unsigned keys[4]; // 16 of them: operands B of two mma
                unsigned at =
                    swizzled<kRowBytes>(j * 16 + lane % 8 + lane / 16 * 8, k * 2 + lane / 8 % 2);
                ldmatrix_4(keys, shared_address(tile) + at);
                mma_bf16(s[2 * j], q[k], keys[0], keys[1]);
                mma_bf16(s[2 * j + 1], q[k], keys[2], keys[3]);
            }
        }
        float tile_largest[2] = {-CUDART_INF_F, -CUDART_INF_F};
        for (int j = 0; j < BN / 8; ++j) {
            for (int i = 0; i < 4; ++i) {
                int key = first_key + j * 8 + lane % 4 * 2 + i % 2;
                if (key >= length || (CAUSAL && key > row + i / 2 * 8)) {
                    s[j][i] = -CUDART_INF_F;
                }
                tile_largest[i / 2] = fmaxf(tile_largest[i / 2], s[j][i]);
            }
        }
        for (int half = 0; half < 2; ++half) {
            float most = fmaxf(largest[half], tile_largest[half]);
            most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1)); // four lanes have the row
            most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 2));
            float rescale = exp2_approx((largest[half] - most) * to_log2);
            largest[half] = most;
            sum[half] *= rescale;
            for (int c = 0; c < D / 8; ++c) {
                o[c][half * 2] *= rescale;
                o[c][half * 2 + 1] *= rescale;
            }
        }
        for (int j = 0; j < BN / 8; ++j) {
            for (int i = 0; i < 4; ++i) {
                s[j][i] = exp2_approx((s[j][i] - largest[i / 2]) * to_log2);
                sum[i / 2] += s[j][i];
            }
        }
        for (int k = 0; k < BN / 16; ++k) { // P V: columns of P are rows of V
            const float (&left)[4] = s[2 * k], (&right)[4] = s[2 * k + 1];
            unsigned p[4] = {bf16_pair(left[0], left[1]), bf16_pair(left[2], left[3]),
                             bf16_pair(right[0], right[1]), bf16_pair(right[2], right[3])};
            for (int c = 0; c < D / 16; ++c) {
                unsigned values[4];
                unsigned at =
                    (BN * kRowBytes) + swizzled<kRowBytes>(k * 16 + lane % 16, c * 2 + lane / 16);
                ldmatrix_4_transposed(values, shared_address(tile) + at);
                mma_bf16(o[2 * c], p, values[0], values[1]);
                mma_bf16(o[2 * c + 1], p, values[2], values[3]);
            }
        }
    }
    for (int half = 0; half < 2; ++half) {
        sum[half] += __shfl_xor_sync(0xffffffff, sum[half], 1);
        sum[half] += __shfl_xor_sync(0xffffffff, sum[half], 2);
        int query = row + half * 8;
        if (query >= length) {
            continue;
        }
        __nv_bfloat16 *to = O + ((size_t)(first + query) * heads + head) * D + lane % 4 * 2;
        for (int c = 0; c < D / 8; ++c) {
            *reinterpret_cast<unsigned *>(to + c * 8) =
                bf16_pair(o[c][half * 2] / sum[half], o[c][half * 2 + 1] / sum[half]);
        }
        if (lane % 4 == 0) {
            lse[(size_t)head * total + first + query] = largest[half] * scale + logf(sum[half]);
        }
    }
}
