// The gradients of attention: dK and dV in bf16, and the sums of dQ in fp32, without scale, which
// flash_backward_finish rounds. Q and dO are total x heads x D, K, V, dK, dV total x kv_heads
// x D, `starts` as in flash_pipeline; `rows` (heads x total x 2) is from attention_row_dots. `sums`
// holds 64 x D floats for each tile of queries and each head, zeros at first, in the order in which
// this kernel's threads hold them; tiles of sequence s begin at number starts[s] / 64 + s. D is 64
// or 128.
// A block has 128 keys and meets the queries that see them 64 at a time: it computes the weights
// again from the log-sum-exp, and keeps dK and dV in registers. Scores are transposed, S^T = K Q^T:
// then the weights and their gradients are operands A of dK and dV as they lie. While those of one
// tile are multiplied, the next tile's are made: one barrier for each tile. Blocks add to dQ by
// atomics, in any order: its last bits differ from run to run.
// Limit: shared memory, which the operands of each mma come from. sm_90 and later.
// grid (ceil(longest / 128), kv_heads, sequences), block (256), dynamic shared 1280 * D + 67072

#include <cuda_bf16.h>
#include <math_constants.h>
#include "attention.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int BN = 128;    // keys of a block
constexpr int BM = 64;     // queries of a tile
constexpr int kStages = 3; // tiles of queries and gradients: one made, one multiplied, one arriving
constexpr int kThreads = 256;
constexpr int kRowBytes = D * 2;
constexpr int kChunks = kRowBytes / 16;       // of a row
constexpr int kCopyRows = kThreads / kChunks; // that the block copies at once
constexpr int kKeyBytes = BN * kRowBytes;
constexpr int kQueryBytes = BM * kRowBytes;
constexpr int kWeightRow = BM * 2; // bytes of a row of P^T and of dS^T
constexpr int kWeightBytes = BN * kWeightRow;
constexpr int kTilesM = 2;          // of 16 keys, for each warp
constexpr int kTilesN = 4;          // of 8 queries: a warp makes 32 x 32 weights
constexpr int kTilesD = D / 16;     // of 8 columns: a warp has half of those of dK and dV
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
    const unsigned weights = gradients + kStages * kQueryBytes; // P^T; two tiles
    const unsigned changes = weights + 2 * kWeightBytes;        // dS^T; two tiles
    const unsigned row_pairs = changes + 2 * kWeightBytes;      // of `rows`; kStages tiles
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
    int copy_head = 0, copy_tile = first_tile, copy_stage = 0; // which are copied next
    auto copy_tiles = [&]() {
        if (copy_head < group) {
            int first_query = copy_tile * BM;
            unsigned to = copy_stage * kQueryBytes;
#pragma unroll
            for (int i = 0; i < BM / kCopyRows; ++i) {
                copy(queries + to, Q + copy_head * D, q_stride, first_query, i);
                copy(gradients + to, dO + copy_head * D, q_stride, first_query, i);
            }
            if (threadIdx.x < 2 * BM) { // two numbers of a row; zeros past the end, as dO there
                bool exists = first_query + threadIdx.x / 2 < length;
                size_t at = 2 * ((size_t)copy_head * total + first_query) + threadIdx.x;
                cp_async_4(row_pairs + (copy_stage * 2 * BM + threadIdx.x) * 4,
                           rows + (exists ? at : 0), exists);
            }
            if (++copy_tile == end_tile) {
                copy_tile = first_tile;
                ++copy_head;
            }
            copy_stage = copy_stage + 1 == kStages ? 0 : copy_stage + 1;
        }
        cp_async_commit();
    };

    // The warp's 32 keys; and its half of the tile's queries for the weights, of the columns for dK
    // and dV. Where ldmatrix reads: XOR with 32 k takes the k-th 16 columns. A: lanes 0-15 give 16
    // rows, left half, the others the right half. Columns of B: lanes 0-7 and 16-23 give 16 rows,
    // left half. B transposed: as A.
    const int warp_key = warp / 2 * 32;
    const int half = warp % 2;
    const unsigned keys_at = swizzled<kRowBytes>(warp_key + lane % 16, lane / 16);
    const unsigned queries_at =
        swizzled<kRowBytes>(half * 32 + lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const unsigned weights_at = swizzled<kWeightRow>(warp_key + lane % 16, lane / 16);
    const unsigned columns_at = swizzled<kRowBytes>(lane % 16, half * kChunks / 2 + lane / 16);
    const unsigned store_at = swizzled<kWeightRow>(warp_key + lane / 4, half * 4) + lane % 4 * 4;
    // dQ: the warp's rows and columns; dS is read transposed from dS^T.
    const int dq_row = warp / 4 * 32, dq_column = warp % 4 * kWarpColumns;
    const unsigned changes_at =
        swizzled<kWeightRow>(lane % 8 + lane / 16 * 8, dq_row / 8 + lane / 8 % 2);
    const unsigned dq_columns_at = swizzled<kRowBytes>(lane % 16, dq_column / 8 + lane / 16);

    const float to_log2 = scale * kLog2E;
    float dk[kTilesM][kTilesD][4] = {}, dv[kTilesM][kTilesD][4] = {};
    float s[kTilesM][kTilesN][4], dp[kTilesM][kTilesN][4]; // of S^T and dP^T

    // sum = A B^T for 32 of the block's keys (or values) and 32 of a tile's queries (gradients).
    auto multiply = [&](float (&sum)[kTilesM][kTilesN][4], unsigned a_tile, unsigned b_tile) {
#pragma unroll
        for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
            for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    sum[m][n][i] = 0.0f;
                }
            }
        }
#pragma unroll
        for (int k = 0; k < D / 16; ++k) {
            unsigned a[kTilesM][4], b[kTilesN / 2][4];
#pragma unroll
            for (int m = 0; m < kTilesM; ++m) {
                ldmatrix_4(a[m], a_tile + (keys_at ^ k * 32) + m * 16 * kRowBytes);
            }
#pragma unroll
            for (int n = 0; n < kTilesN / 2; ++n) {
                ldmatrix_4(b[n], ((b_tile + queries_at) ^ k * 32) + n * 16 * kRowBytes);
            }
#pragma unroll
            for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
                for (int m = 0; m < kTilesM; ++m) {
                    mma_bf16(sum[m][n], a[m], b[n / 2][n % 2 * 2], b[n / 2][n % 2 * 2 + 1]);
                }
            }
        }
    };
    auto make_scores = [&](int stage, int first_query) { // s and dp
        multiply(s, keys, queries + stage * kQueryBytes);
        const int last_key = first_key + warp_key + 31;
        if (last_key >= length || (CAUSAL && last_key > first_query + half * 32)) { // an edge
#pragma unroll
            for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
                for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        int key = first_key + warp_key + m * 16 + lane / 4 + i / 2 * 8;
                        int query = first_query + half * 32 + n * 8 + lane % 4 * 2 + i % 2;
                        if (key >= length || (CAUSAL && key > query)) {
                            s[m][n][i] = -CUDART_INF_F;
                        }
                    }
                }
            }
        }
        multiply(dp, values, gradients + stage * kQueryBytes);
    };
    auto make_weights = [&](int stage, int buffer, int m, int n) { // of 16 keys and 8 queries
        // Of two neighbouring queries: lse times log2 e and delta, twice.
        const float4 two = reinterpret_cast<const float4 *>(
            shared + (row_pairs - keys))[(stage * BM + half * 32 + n * 8) / 2 + lane % 4];
        float p[4], ds[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            p[i] = exp2_approx(s[m][n][i] * to_log2 - (i % 2 == 0 ? two.x : two.z));
            ds[i] = p[i] * (dp[m][n][i] - (i % 2 == 0 ? two.y : two.w));
        }
        const unsigned to = buffer * kWeightBytes + (store_at ^ n * 16) + m * 16 * kWeightRow;
        store_shared(weights + to, bf16_pair(p[0], p[1]));
        store_shared(weights + to + 8 * kWeightRow, bf16_pair(p[2], p[3]));
        store_shared(changes + to, bf16_pair(ds[0], ds[1]));
        store_shared(changes + to + 8 * kWeightRow, bf16_pair(ds[2], ds[3]));
    };
    // sum += A B for the warp's keys, 16 of a tile's queries, and the warp's half of the columns.
    auto add_product = [&](float (&sum)[kTilesM][kTilesD][4], unsigned a_tile, unsigned b_tile,
                           int k) {
        unsigned a[kTilesM][4];
#pragma unroll
        for (int m = 0; m < kTilesM; ++m) {
            ldmatrix_4(a[m], ((a_tile + weights_at) ^ k * 32) + m * 16 * kWeightRow);
        }
#pragma unroll
        for (int c = 0; c < kTilesD / 2; ++c) {
            unsigned b[4];
            ldmatrix_4_transposed(b, ((b_tile + columns_at) ^ c * 32) + k * 16 * kRowBytes);
#pragma unroll
            for (int i = 0; i < 2; ++i) {
#pragma unroll
                for (int m = 0; m < kTilesM; ++m) {
                    mma_bf16(sum[m][2 * c + i], a[m], b[2 * i], b[2 * i + 1]);
                }
            }
        }
    };
    auto add_dq = [&](int buffer, float *to) {
        float dq[2][kTilesC][4] = {};
#pragma unroll
        for (int k = 0; k < BN / 16; ++k) {
            unsigned a[2][4];
#pragma unroll
            for (int m = 0; m < 2; ++m) {
                unsigned at = changes + buffer * kWeightBytes + (changes_at ^ m * 32);
                ldmatrix_4_transposed(a[m], at + k * 16 * kWeightRow);
            }
#pragma unroll
            for (int c = 0; c < kTilesC / 2; ++c) {
                unsigned b[4];
                ldmatrix_4_transposed(b, keys + (dq_columns_at ^ c * 32) + k * 16 * kRowBytes);
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
    copy_tiles();
    int head = 0, tile = first_tile, stage = 0;
    auto next_step = [&]() {
        cp_async_wait<0>();
        __syncthreads(); // tiles and weights are complete, and every warp is done with those before
        copy_tiles();
    };
    next_step();
    make_scores(stage, tile * BM);
#pragma unroll
    for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
        for (int m = 0; m < kTilesM; ++m) {
            make_weights(stage, 0, m, n);
        }
    }
    for (int step = 1; step < steps; ++step) { // makes its weights, and multiplies those before
        float *sums_before = sums + ((size_t)tile * heads + head) * (BM * D);
        const int before = stage, made = (step - 1) % 2; // stage and buffer of the step before
        next_step();
        if (++tile == end_tile) {
            tile = first_tile;
            ++head;
        }
        stage = stage + 1 == kStages ? 0 : stage + 1;
        make_scores(stage, tile * BM);
#pragma unroll
        for (int k = 0; k < BM / 16; ++k) {
            add_product(dv, weights + made * kWeightBytes, gradients + before * kQueryBytes, k);
            make_weights(stage, step % 2, 0, k);
            add_product(dk, changes + made * kWeightBytes, queries + before * kQueryBytes, k);
            make_weights(stage, step % 2, 1, k);
        }
        add_dq(made, sums_before);
    }
    __syncthreads(); // the last weights are complete
    const int made = (steps - 1) % 2;
#pragma unroll
    for (int k = 0; k < BM / 16; ++k) {
        add_product(dv, weights + made * kWeightBytes, gradients + stage * kQueryBytes, k);
        add_product(dk, changes + made * kWeightBytes, queries + stage * kQueryBytes, k);
    }
    add_dq(made, sums + ((size_t)tile * heads + head) * (BM * D));

#pragma unroll
    for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
            const int key = first_key + warp_key + m * 16 + lane / 4 + lower * 8;
            if (key < length) {
                const size_t to = key * kv_stride + half * (D / 2) + lane % 4 * 2;
#pragma unroll
                for (int c = 0; c < kTilesD; ++c) {
                    const float *v = &dv[m][c][lower * 2], *k = &dk[m][c][lower * 2];
                    *reinterpret_cast<unsigned *>(dV + to + c * 8) = bf16_pair(v[0], v[1]);
                    *reinterpret_cast<unsigned *>(dK + to + c * 8) =
                        bf16_pair(k[0] * scale, k[1] * scale);
                }
            }
        }
    }
}
