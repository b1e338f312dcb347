// The gradients of attention: dK and dV in bf16, and the sums of dQ in fp32, without scale, which
// flash_backward_finish rounds. Q and dO are total x heads x D, K, V, dK and dV total x kv_heads x D,
// `starts` as in flash_pipeline; `rows` (heads x total x 2) is from attention_row_dots. `sums` holds
// 64 x D floats for each tile of queries and each head, zeros at first, in the order in which this
// kernel's threads hold them; tiles of sequence s begin at number starts[s] / 64 + s. D is 64 or 128.
// A block has 128 keys and meets the queries that see them 64 at a time: it computes the weights
// again from the log-sum-exp, and keeps dK and dV in registers. Scores are transposed, S^T = K Q^T, so
// that the weights and their gradients are operands in the registers they came in; only for dQ, to
// which all warps add, do they pass through shared memory. Blocks add to dQ by atomics, in any order:
// its last bits differ from run to run.
// Limit: shared memory, which each mma's operands come from.
// grid (ceil(longest / 128), kv_heads, sequences), block (256), dynamic shared 1024 * D + 33792

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int kWarps = 8;
constexpr int BN = kWarps * 16; // keys of a block
constexpr int BM = 64;          // queries of a tile
constexpr int kStages = 2;      // tiles of queries and gradients in shared memory
constexpr int kThreads = kWarps * 32;
constexpr int kRowBytes = D * 2;
constexpr int kChunks = kRowBytes / 16;       // of a row
constexpr int kCopyRows = kThreads / kChunks; // that the block copies at once
constexpr int kKeyBytes = BN * kRowBytes;
constexpr int kQueryBytes = BM * kRowBytes;
constexpr int kWeightRow = BM * 2; // bytes of a row of dS^T
constexpr int kWeightBytes = BN * kWeightRow;
constexpr int kTilesM = BM / 8;     // of one mma's columns: queries
constexpr int kTilesD = D / 8;      // and numbers of a key
constexpr int kWarpColumns = D / 4; // of dQ: a warp has 32 rows and a quarter of the columns
constexpr int kTilesC = kWarpColumns / 8;

// red.v4: add four floats to global memory, at a multiple of 16 bytes. sm_90 and later.
__device__ inline void add_4(float *to, const float (&four)[4])
{
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(four[0]),
                 "f"(four[1]), "f"(four[2]), "f"(four[3])
                 : "memory");
}

__device__ inline void store_shared(unsigned to, unsigned bits)
{
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(bits) : "memory");
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    flash_backward(const __nv_bfloat16 *Q, const __nv_bfloat16 *K, const __nv_bfloat16 *V,
                   const __nv_bfloat16 *dO, const float *rows, float *sums, __nv_bfloat16 *dK,
                   __nv_bfloat16 *dV, const int *starts, int heads, int kv_heads, int total,
                   float scale)
{
    extern __shared__ __align__(1024) char shared[];
    const unsigned keys = shared_address(shared);
    const unsigned values = keys + kKeyBytes;
    const unsigned queries = values + kKeyBytes;                // kStages tiles
    const unsigned gradients = queries + kStages * kQueryBytes; // of the output; kStages tiles
    const unsigned weights = gradients + kStages * kQueryBytes; // gradients of S^T; two tiles
    const unsigned row_pairs = weights + 2 * kWeightBytes;      // of `rows`; kStages tiles
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int first = starts[blockIdx.z]; // token of the sequence
    const int length = starts[blockIdx.z + 1] - first;
    const int first_key = blockIdx.x * BN;
    if (first_key >= length) {
        return; // the whole block
    }
    const int group = heads / kv_heads; // query heads that share these keys
    const int first_head = blockIdx.y * group;
    const size_t q_stride = (size_t)heads * D, kv_stride = (size_t)kv_heads * D;
    const size_t q_from = first * q_stride + first_head * D;
    const size_t kv_from = first * kv_stride + blockIdx.y * D;
    Q += q_from; // now they begin at the first head's part of the sequence
    dO += q_from;
    K += kv_from;
    V += kv_from;
    dK += kv_from;
    dV += kv_from;
    rows += 2 * ((size_t)first_head * total + first);
    sums += ((size_t)(first / BM + blockIdx.z) * heads + first_head) * (BM * D);

    // Tiles of queries, head after head: those that see a key of the block.
    const int first_tile = CAUSAL ? first_key / BM : 0;
    const int end_tile = (length + BM - 1) / BM;
    const int steps = (end_tile - first_tile) * group;

    const int copy_row = threadIdx.x / kChunks; // the first chunk that the thread copies
    const int copy_chunk = threadIdx.x % kChunks;
    auto copy = [&](unsigned to, const __nv_bfloat16 *from, size_t stride, int first_row, int i) {
        int row = copy_row + i * kCopyRows;
        bool exists = first_row + row < length; // zeros past the end
        const __nv_bfloat16 *at = from + (exists ? first_row + row : 0) * stride + copy_chunk * 8;
        cp_async_16(to + swizzled<kRowBytes>(row, copy_chunk), at, exists);
    };
    int copy_head = 0, copy_tile = first_tile; // which are copied next
    auto copy_tiles = [&](int stage) {
        if (copy_head < group) {
            int first_query = copy_tile * BM;
#pragma unroll
            for (int i = 0; i < BM / kCopyRows; ++i) {
                copy(queries + stage * kQueryBytes, Q + copy_head * D, q_stride, first_query, i);
                copy(gradients + stage * kQueryBytes, dO + copy_head * D, q_stride, first_query, i);
            }
            if (threadIdx.x < 2 * BM) { // two numbers of a row; zeros past the end, as dO there
                bool exists = first_query + threadIdx.x / 2 < length;
                size_t at = 2 * ((size_t)copy_head * total + first_query) + threadIdx.x;
                cp_async_4(row_pairs + (stage * 2 * BM + threadIdx.x) * 4, rows + (exists ? at : 0),
                           exists);
            }
            if (++copy_tile == end_tile) {
                copy_tile = first_tile;
                ++copy_head;
            }
        }
        cp_async_commit();
    };

    // Where ldmatrix reads; XOR with 32 k takes the k-th 16 columns. A: lanes 0-15 give 16 rows, left
    // half, the others the right half. Columns of B: lanes 0-7 and 16-23 give 16 rows, left half.
    const int warp_key = warp * 16;
    const unsigned a_at = swizzled<kRowBytes>(warp_key + lane % 16, lane / 16);
    const unsigned b_at = swizzled<kRowBytes>(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const unsigned b_transposed = swizzled<kRowBytes>(lane % 16, lane / 16);
    // dQ: the warp's rows and columns; dS is read transposed from S^T's.
    const int dq_row = warp / 4 * 32, dq_column = warp % 4 * kWarpColumns;
    const unsigned ds_read =
        swizzled<kWeightRow>(lane % 8 + lane / 16 * 8, dq_row / 8 + lane / 8 % 2);
    const unsigned k_transposed = swizzled<kRowBytes>(lane % 16, dq_column / 8 + lane / 16);
    const unsigned ds_write = swizzled<kWeightRow>(warp_key + lane / 4, 0) + lane % 4 * 4;

    const float to_log2 = scale * kLog2E;
    float dk[kTilesD][4] = {}, dv[kTilesD][4] = {};

    auto add_dq = [&](int stage, float *to) { // of a tile whose dS all warps have written
        float dq[2][kTilesC][4] = {};
#pragma unroll
        for (int k = 0; k < BN / 16; ++k) {
            unsigned a[2][4];
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                ldmatrix_4_transposed(a[m], weights + stage * kWeightBytes + (ds_read ^ m * 32) +
                                                k * 16 * kWeightRow);
            }
#pragma unroll
            for (int c = 0; c < kTilesC / 2; ++c) {
                unsigned b[4];
                ldmatrix_4_transposed(b, keys + (k_transposed ^ c * 32) + k * 16 * kRowBytes);
#pragma unroll
                for (int i = 0; i < 2; ++i) {
#pragma unroll
                    for (int m = 0; m < 2; ++m) {
                        mma_bf16(dq[m][2 * c + i], a[m], b[2 * i], b[2 * i + 1]);
                    }
                }
            }
        }
        to += (warp * 2 * kTilesC * 32 + lane) * 4;
#pragma unroll
        for (int m = 0; m < 2; ++m) {
#pragma unroll
            for (int c = 0; c < kTilesC; ++c) { // 512 bytes of a warp, one after the other
                add_4(to + (m * kTilesC + c) * 128, dq[m][c]);
            }
        }
    };

#pragma unroll
    for (int i = 0; i < BN / kCopyRows; ++i) {
        copy(keys, K, kv_stride, first_key, i);
        copy(values, V, kv_stride, first_key, i);
    }
    copy_tiles(0);
    int head = 0, tile = first_tile;
    float *sums_before = nullptr; // of the tile before
    for (int step = 0; step < steps; ++step) {
        const int stage = step % kStages;
        cp_async_wait<0>();
        __syncthreads(); // this step's tiles are complete, and nobody reads those before any more
        copy_tiles((step + 1) % kStages);
        const unsigned q_tile = queries + stage * kQueryBytes;
        const unsigned do_tile = gradients + stage * kQueryBytes;
        const int first_query = tile * BM;

        float s[kTilesM][4] = {}, dp[kTilesM][4] = {}; // of S^T and dP^T: 16 keys, BM queries
#pragma unroll
        for (int k = 0; k < D / 16; ++k) {
            unsigned a[4];
            ldmatrix_4(a, keys + (a_at ^ k * 32));
#pragma unroll
            for (int n = 0; n < kTilesM / 2; ++n) {
                unsigned b[4];
                ldmatrix_4(b, ((q_tile + b_at) ^ k * 32) + n * 16 * kRowBytes);
                mma_bf16(s[2 * n], a, b[0], b[1]);
                mma_bf16(s[2 * n + 1], a, b[2], b[3]);
            }
        }
        const int last_key = first_key + warp_key + 15;
        if (last_key >= length || (CAUSAL && last_key > first_query)) { // an edge
#pragma unroll
            for (int n = 0; n < kTilesM; ++n) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    int key = first_key + warp_key + lane / 4 + i / 2 * 8;
                    int query = first_query + n * 8 + lane % 4 * 2 + i % 2;
                    if (key >= length || (CAUSAL && key > query)) {
                        s[n][i] = -CUDART_INF_F;
                    }
                }
            }
        }
        // Of two neighbouring queries: lse times log2 e and D, twice.
        const float4 *pairs = reinterpret_cast<const float4 *>(shared + (row_pairs - keys)) +
                              stage * BM / 2 + lane % 4;
#pragma unroll
        for (int k = 0; k < D / 16; ++k) { // dP^T = V dO^T, and the weights
            unsigned a[4];
            ldmatrix_4(a, values + (a_at ^ k * 32));
#pragma unroll
            for (int n = 0; n < kTilesM / 2; ++n) {
                unsigned b[4];
                ldmatrix_4(b, ((do_tile + b_at) ^ k * 32) + n * 16 * kRowBytes);
                mma_bf16(dp[2 * n], a, b[0], b[1]);
                mma_bf16(dp[2 * n + 1], a, b[2], b[3]);
            }
#pragma unroll
            for (int n = k * kTilesM * 16 / D; n < (k + 1) * kTilesM * 16 / D; ++n) {
                float4 two = pairs[n * 4];
                s[n][0] = exp2_approx(s[n][0] * to_log2 - two.x);
                s[n][1] = exp2_approx(s[n][1] * to_log2 - two.z);
                s[n][2] = exp2_approx(s[n][2] * to_log2 - two.x);
                s[n][3] = exp2_approx(s[n][3] * to_log2 - two.z);
            }
        }
        unsigned ds[BM / 16][4];
#pragma unroll
        for (int k = 0; k < BM / 16; ++k) { // dV += P^T dO, and dS = P (dP - D)
            const float (&left)[4] = s[2 * k], (&right)[4] = s[2 * k + 1];
            unsigned p[4] = {bf16_pair(left[0], left[1]), bf16_pair(left[2], left[3]),
                             bf16_pair(right[0], right[1]), bf16_pair(right[2], right[3])};
#pragma unroll
            for (int c = 0; c < kTilesD / 2; ++c) {
                unsigned b[4];
                ldmatrix_4_transposed(b, ((do_tile + b_transposed) ^ c * 32) + k * 16 * kRowBytes);
                mma_bf16(dv[2 * c], p, b[0], b[1]);
                mma_bf16(dv[2 * c + 1], p, b[2], b[3]);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int n = 2 * k + i;
                float4 two = pairs[n * 4];
                ds[k][2 * i] =
                    bf16_pair(s[n][0] * (dp[n][0] - two.y), s[n][1] * (dp[n][1] - two.w));
                ds[k][2 * i + 1] =
                    bf16_pair(s[n][2] * (dp[n][2] - two.y), s[n][3] * (dp[n][3] - two.w));
                unsigned to = weights + stage * kWeightBytes + (ds_write ^ n * 16);
                store_shared(to, ds[k][2 * i]);
                store_shared(to + 8 * kWeightRow, ds[k][2 * i + 1]);
            }
        }
#pragma unroll
        for (int k = 0; k < BM / 16; ++k) { // dK += dS^T Q
#pragma unroll
            for (int c = 0; c < kTilesD / 2; ++c) {
                unsigned b[4];
                ldmatrix_4_transposed(b, ((q_tile + b_transposed) ^ c * 32) + k * 16 * kRowBytes);
                mma_bf16(dk[2 * c], ds[k], b[0], b[1]);
                mma_bf16(dk[2 * c + 1], ds[k], b[2], b[3]);
            }
        }
        if (step > 0) {
            add_dq(stage ^ 1, sums_before); // its dS are complete since this step's barrier
        }
        sums_before = sums + ((size_t)tile * heads + head) * (BM * D);
        if (++tile == end_tile) {
            tile = first_tile;
            ++head;
        }
    }
    __syncthreads(); // the last dS are complete
    add_dq((steps - 1) % kStages, sums_before);

#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int key = first_key + warp_key + lane / 4 + half * 8;
        if (key < length) {
            const size_t to = key * kv_stride + lane % 4 * 2;
#pragma unroll
            for (int c = 0; c < kTilesD; ++c) {
                *reinterpret_cast<unsigned *>(dV + to + c * 8) =
                    bf16_pair(dv[c][half * 2], dv[c][half * 2 + 1]);
                *reinterpret_cast<unsigned *>(dK + to + c * 8) =
                    bf16_pair(dk[c][half * 2] * scale, dk[c][half * 2 + 1] * scale);
            }
        }
    }
}
