// O = softmax(scale Q K^T) V for each head, in one kernel: Q, K, V and O are n x heads x D floats.
// D is 64 at most. With CAUSAL a query sees the keys up to its own place. Any n, up to 65,535
// heads.
// Adds to the three kernels of attention: tiles and the online softmax. A block keeps 32 queries
// and meets the keys 32 at a time; of all that it has met, it remembers for each row the largest
// score, the sum of exponentials relative to it, and the weighted sum of values. Scores are never
// stored.
// Limit: ordinary cores; each product also reads shared memory.
// grid (ceil(n / 32), heads), block (128), dynamic shared 0

#include <math_constants.h>

#ifndef D
#define D 64 // numbers of a query, a key and a value
#endif
#ifndef CAUSAL
#define CAUSAL 0
#endif

constexpr int kTile = 32; // queries of a block, and keys of a tile
constexpr int kThreads = 128;
constexpr int kTeam = kThreads / kTile; // threads that share a row, neighbours in a warp
constexpr int kScores = kTile / kTeam;  // of a thread, for each tile
constexpr int kColumns = D / kTeam;     // of a thread, of its row of O
constexpr int kStride = D + 1;          // floats from row to row: no bank conflicts

extern "C" __global__ void __launch_bounds__(kThreads)
    flash_tiles(const float *Q, const float *K, const float *V, float *O, int n, float scale)
{
    __shared__ float queries[kTile][kStride], keys[kTile][kStride], values[kTile][kStride];
    __shared__ float weights[kTile][kTile + 1];
    int heads = gridDim.y;
    int first_query = blockIdx.x * kTile;
    int row = threadIdx.x / kTeam;
    int member = threadIdx.x % kTeam;
    int query = first_query + row;
    auto copy = [&](float (*to)[kStride], const float *from, int first) { // zeros past the end
        for (int i = threadIdx.x; i < kTile * D; i += kThreads) {
            int token = first + i / D;
            to[i / D][i % D] =
                token < n ? from[((size_t)token * heads + blockIdx.y) * D + i % D] : 0.0f;
        }
    };

    copy(queries, Q, first_query);
    float largest = -CUDART_INF_F; // of the scores of the row so far
    float sum = 0.0f;              // of exp(score - largest)
    float o[kColumns] = {};        // of exp(score - largest) times value, columns member + kTeam c
    int end = CAUSAL ? min(n, first_query + kTile) : n;
    for (int first_key = 0; first_key < end; first_key += kTile) {
        __syncthreads(); // every warp is done with the tile before
        copy(keys, K, first_key);
        copy(values, V, first_key);
        __syncthreads(); // the tile is complete

        float score[kScores];
        float tile_largest = -CUDART_INF_F;
        for (int s = 0; s < kScores; ++s) {
            int j = member + kTeam * s;
            float dot = 0.0f;
            for (int c = 0; c < D; ++c) {
                dot += queries[row][c] * keys[j][c];
            }
            bool hidden = first_key + j >= n || (CAUSAL && first_key + j > query);
            score[s] = hidden ? -CUDART_INF_F : dot * scale;
            tile_largest = fmaxf(tile_largest, score[s]);
        }
        for (int distance = 1; distance < kTeam; distance *= 2) {
            tile_largest = fmaxf(tile_largest, __shfl_xor_sync(0xffffffff, tile_largest, distance));
        }

        // The online softmax: what was summed relative to the old largest score is rescaled.
        float new_largest = fmaxf(largest, tile_largest); // finite: key 0 is in the first tile
        float rescale = expf(largest - new_largest);
        largest = new_largest;
        sum *= rescale;
        for (int c = 0; c < kColumns; ++c) {
            o[c] *= rescale;
        }
        for (int s = 0; s < kScores; ++s) {
            float weight = expf(score[s] - largest);
            weights[row][member + kTeam * s] = weight;
            sum += weight; // of the thread's own keys; the team adds up at the end
        }
        __syncwarp(); // a row belongs to threads of one warp
        for (int j = 0; j < kTile; ++j) {
            for (int c = 0; c < kColumns; ++c) {
                o[c] += weights[row][j] * values[j][member + kTeam * c];
            }
        }
    }
    for (int distance = 1; distance < kTeam; distance *= 2) {
        sum += __shfl_xor_sync(0xffffffff, sum, distance);
    }
    if (query < n) {
        for (int c = 0; c < kColumns; ++c) {
            O[((size_t)query * heads + blockIdx.y) * D + member + kTeam * c] = o[c] / sum;
        }
    }
}
