// As decode_paged, in one launch and for any lengths, 0 among them. K, V, table and lengths as there,
// PAGE a multiple of 16 and kv_heads of HEADS. part_O is blocks x 2 x HEADS x GROUP x 128 floats,
// part_sums as many pairs without the 128, and arrived sequences x kv_heads / HEADS zeros, which
// are zeros again at the end.
// Adds to decode_paged: persistent blocks with equal shares of all tiles, and several heads in each,
// so that it reads long runs. cp.async, a tile ahead. A merge by the last of the blocks that share
// a sequence.
// Limit: three reads of memory, one after the other, before the first product: lengths, table, keys.
// grid (any), block (32 * WARPS), dynamic shared WARPS * (STAGES * 8192 + GROUP * 512)

#include "decode_shares.cuh"
#include "split_k.cuh"

#ifndef GROUP
#define GROUP 4
#endif
#ifndef PAGE
#define PAGE 16
#endif
#ifndef WARPS
#define WARPS 8
#endif
#ifndef HEADS
#define HEADS 4 // heads of keys that a block reads together, each by WARPS / HEADS warps
#endif
#ifndef STAGES
#define STAGES 2 // tiles of a warp in shared memory
#endif

constexpr int kThreads = 32 * WARPS;
constexpr int kRowBytes = 2 * kD;
constexpr int kTileBytes = kTileKeys * kRowBytes; // of keys, and as many of values
constexpr int kQuads = kD / 4;                    // groups of four numbers in a row
constexpr int kStep = WARPS / HEADS;              // tiles of a head at once
constexpr int kQueries = HEADS * GROUP;           // of these heads
constexpr int kItems = (kQueries * kQuads + kThreads - 1) / kThreads; // quads of a thread

// Four numbers of a query's attention, and its sums over some keys, where weights are
// 2^(score - largest).
struct Sums {
    float largest = -CUDART_INF_F, sum = 0.0f;
    float4 o = {};

    __device__ void add(float weight, float other_sum, float4 other)
    {
        sum += weight * other_sum;
        o.x += weight * other.x;
        o.y += weight * other.y;
        o.z += weight * other.z;
        o.w += weight * other.w;
    }

    __device__ uint2 attention() const
    {
        return make_uint2(bf16_pair(o.x / sum, o.y / sum), bf16_pair(o.z / sum, o.w / sum));
    }
};

extern "C" __global__ void __launch_bounds__(kThreads)
    decode_persistent(const uint4 *Q, const uint4 *K, const uint4 *V, uint2 *O, float4 *part_O,
                      float2 *part_sums, int *arrived, const int *lengths, const int *table,
                      int pages_of_one, int sequences, int kv_heads, float scale)
{
    extern __shared__ __align__(1024) char shared[];
    __shared__ float largests[GROUP][WARPS], sums[GROUP][WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = lane / 4, column = lane % 4;
    const int member = warp % HEADS;
    const unsigned stages = shared_address(shared) + warp * STAGES * 2 * kTileBytes;
    float4(*outputs)[WARPS][kQuads] =
        reinterpret_cast<float4(*)[WARPS][kQuads]>(shared + WARPS * STAGES * 2 * kTileBytes);
    for (int s = blockIdx.x; s < sequences; s += gridDim.x) {
        for (int i = threadIdx.x; lengths[s] == 0 && i < kv_heads * GROUP * kQuads; i += kThreads) {
            O[(size_t)s * kv_heads * GROUP * kQuads + i] = uint2();
        }
    }
    const Share share(lengths, sequences, kv_heads / HEADS);

    // Copies: the warp's next tile goes to stage `into`. Its page is looked up a tile earlier.
    const unsigned long long once = evict_first();
    Place ahead = share.begin;
    int next = share.first + warp / HEADS, into = 0, page = 0;
    auto look_up = [&] {
        ahead.settle(lengths, sequences, kv_heads / HEADS);
        if (next < share.end) {
            page = table[(size_t)ahead.sequence * pages_of_one + ahead.tile * kTileKeys / PAGE];
        }
    };
    auto copy = [&] {
        if (next < share.end) {
            int token = ahead.tile * kTileKeys;
            size_t from =
                ((size_t)page * kv_heads + ahead.head * HEADS + member) * PAGE + token % PAGE;
#pragma unroll
            for (int i = 0; i < kTileKeys; ++i) { // two rows at a time, of keys and then of values
                int r = 2 * i % kTileKeys + lane / kChunks, chunk = lane % kChunks;
                unsigned to =
                    stages + (2 * into + i / 8) * kTileBytes + swizzled<kRowBytes>(r, chunk);
                copy_once(to, (i < 8 ? K : V) + (from + r) * kChunks + chunk,
                          token + r < ahead.length, once);
            }
            into = (into + 1) % STAGES;
            next += kStep;
            ahead.tile += kStep;
            look_up();
        }
        cp_async_commit();
    };
    ahead.tile += warp / HEADS;
    look_up();
#pragma unroll 1
    for (int s = 0; s < STAGES - 1; ++s) {
        copy();
    }

    // Where ldmatrix reads, as in flash_pipeline.
    const unsigned k_at = swizzled<kRowBytes>(lane % 8 + lane / 16 * 8, lane / 8 % 2);
    const unsigned v_at = swizzled<kRowBytes>(lane % 16, lane / 16) + kTileBytes;
    const float to_log2 = scale * kLog2E;
    Place place = share.begin;
    int mine = share.first + warp / HEADS, stage = 0;
    for (int at = share.first; at < share.end;) { // the share's tiles of one group
        const int group = place.sequence * (kv_heads / HEADS) + place.head,
                  tiles = tiles_of(place.length);
        const int begin = at - place.tile, end = min(share.end, begin + tiles);
        unsigned query[kD / 16][2] = {};
        if (row < GROUP) {
            const uint4 *from = Q + ((size_t)group * kQueries + member * GROUP + row) * kChunks;
#pragma unroll
            for (int k = 0; k < kD / 16; ++k) {
                query[k][0] = reinterpret_cast<const unsigned *>(from + 2 * k)[column];
                query[k][1] = reinterpret_cast<const unsigned *>(from + 2 * k + 1)[column];
            }
        }
        float largest = -CUDART_INF_F, sum = 0.0f, o[kD / 8][2] = {};
        for (; mine < end; mine += kStep) {
            cp_async_wait<STAGES - 2>();
            __syncwarp(); // the tile is there, of all lanes, and the one before has been read
            copy();
            const unsigned tile = stages + stage * 2 * kTileBytes;
            stage = (stage + 1) % STAGES;
            float score[2][2] = {}; // of keys 8 half + 2 column and the next one
#pragma unroll
            for (int k = 0; k < kD / 16; ++k) {
                unsigned key[4];
                ldmatrix_4(key, (tile + k_at) ^ (32 * k));
                mma_upper(score[0], query[k][0], query[k][1], key[0], key[1]);
                mma_upper(score[1], query[k][0], query[k][1], key[2], key[3]);
            }
            const int keys = place.length - (mine - begin) * kTileKeys; // from this tile on
            float new_largest = largest;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
#pragma unroll
                for (int i = 0; i < 2; ++i) {
                    bool exists = 8 * half + 2 * column + i < keys;
                    score[half][i] = exists ? score[half][i] * to_log2 : -CUDART_INF_F;
                    new_largest = fmaxf(new_largest, score[half][i]);
                }
            }
            new_largest = fmaxf(new_largest, __shfl_xor_sync(0xffffffff, new_largest, 1));
            new_largest = fmaxf(new_largest, __shfl_xor_sync(0xffffffff, new_largest, 2));
            float rescale = exp2_approx(largest - new_largest); // the tile's first key exists
            largest = new_largest;
            sum *= rescale;
#pragma unroll
            for (int n = 0; n < kD / 8; ++n) {
                o[n][0] *= rescale;
                o[n][1] *= rescale;
            }
            unsigned weights[2];
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                float left = exp2_approx(score[half][0] - largest);
                float right = exp2_approx(score[half][1] - largest);
                sum += left + right;
                weights[half] = bf16_pair(left, right);
            }
#pragma unroll
            for (int n = 0; n < kD / 16; ++n) {
                unsigned value[4];
                ldmatrix_4_transposed(value, (tile + v_at) ^ (32 * n));
                mma_upper(o[2 * n], weights[0], weights[1], value[0], value[1]);
                mma_upper(o[2 * n + 1], weights[0], weights[1], value[2], value[3]);
            }
        }

        // The warps' sums become the block's.
        sum += __shfl_xor_sync(0xffffffff, sum, 1);
        sum += __shfl_xor_sync(0xffffffff, sum, 2);
        __syncthreads(); // the sums of the last group have been read
        if (row < GROUP) {
#pragma unroll
            for (int n = 0; n < kD / 8; ++n) {
                reinterpret_cast<float2 *>(outputs[row][warp])[4 * n + column] =
                    make_float2(o[n][0], o[n][1]);
            }
            largests[row][warp] = largest; // of four lanes, which have the same
            sums[row][warp] = sum;
        }
        __syncthreads();
        const bool whole = begin >= share.first && begin + tiles <= share.end;
#pragma unroll
        for (int item = 0; item < kItems; ++item) {
            int i = threadIdx.x + item * kThreads, q = i / kQuads,
                w = q / GROUP; // of the first warp
            if (q < kQueries) {
                Sums block;
#pragma unroll
                for (int step = 0; step < kStep; ++step) {
                    block.largest = fmaxf(block.largest, largests[q % GROUP][w + step * HEADS]);
                }
#pragma unroll
                for (int step = 0; step < kStep; ++step, w += HEADS) {
                    float weight = exp2_approx(largests[q % GROUP][w] - block.largest);
                    block.add(weight, sums[q % GROUP][w], outputs[q % GROUP][w][i % kQuads]);
                }
                if (whole) {
                    O[(size_t)group * kQueries * kQuads + i] = block.attention();
                } else { // a block has a part of two groups at most: its first and its last one
                    int slot = 2 * blockIdx.x + (at > share.first);
                    part_O[(size_t)slot * kQueries * kQuads + i] = block.o;
                    part_sums[slot * kQueries + q] = make_float2(block.largest, block.sum);
                }
            }
        }

        // The last block that has keys of the group merges.
        const int first_block = begin / share.each, last_block = (begin + tiles - 1) / share.each;
        if (!whole && last_to_arrive(arrived + group, last_block - first_block + 1)) {
            Sums all[kItems];
#pragma unroll(kItems > 1 ? 2 : 8)
            for (int b = first_block; b <= last_block; ++b) {
                int slot = 2 * b + (b * share.each < begin);
#pragma unroll
                for (int item = 0; item < kItems; ++item) {
                    int i = threadIdx.x + item * kThreads, q = min(i / kQuads, kQueries - 1);
                    float2 part = __ldcg(part_sums + slot * kQueries + q);
                    float4 o = __ldcg(part_O + ((size_t)slot * kQueries + q) * kQuads + i % kQuads);
                    float larger = fmaxf(all[item].largest, part.x);
                    float old = exp2_approx(all[item].largest - larger);
                    Sums both;
                    both.largest = larger;
                    both.add(old, all[item].sum, all[item].o);
                    both.add(exp2_approx(part.x - larger), part.y, o);
                    all[item] = both;
                }
            }
#pragma unroll
            for (int item = 0; item < kItems; ++item) {
                int i = threadIdx.x + item * kThreads;
                if (i < kQueries * kQuads) {
                    O[(size_t)group * kQueries * kQuads + i] = all[item].attention();
                }
            }
        }
        place.tile += end - at;
        place.settle(lengths, sequences, kv_heads / HEADS);
        at = end;
    }
}
