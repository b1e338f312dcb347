// Attention for sequences of different lengths, packed one after the other: sequence s has the
// tokens starts[s] to starts[s + 1] - 1, and a query sees the keys of its own sequence, all of them.
// Queries, keys, values and outputs are single numbers: o[i] is the mean of v[j] weighted with
// exp(q[i] k[j]). A length may be 0. A block has 64 queries of a sequence. Up to 65,535 sequences,
// the grid's limit along y.
// grid (ceil(longest / 64), sequences), block (64), dynamic shared 0

constexpr int kTile = 64; // queries of a block, and keys of a tile

extern "C" __global__ void packed_sequences(const float *q, const float *k, const float *v,
                                            const int *starts, float *o)
{
    __shared__ float keys[kTile], values[kTile];
    // TODO: each thread computes one query's output, if the sequence has it. Tiles of 64 keys and
    //       values pass through shared memory; every thread of the block reaches each barrier
    // SOLUTION
    int first = starts[blockIdx.y];
    int length = starts[blockIdx.y + 1] - first;
    int query = blockIdx.x * kTile + threadIdx.x;
    if (blockIdx.x * kTile >= length) {
        return; // the whole block
    }
    float mine = query < length ? q[first + query] : 0.0f;
    float sum = 0.0f, weighted = 0.0f;
    for (int start = 0; start < length; start += kTile) {
        int count = min(kTile, length - start);
        __syncthreads(); // no thread reads the tile before any more
        if (threadIdx.x < count) {
            keys[threadIdx.x] = k[first + start + threadIdx.x];
            values[threadIdx.x] = v[first + start + threadIdx.x];
        }
        __syncthreads();
        for (int j = 0; j < count; ++j) {
            float weight = expf(mine * keys[j]);
            sum += weight;
            weighted += weight * values[j];
        }
    }
    if (query < length) {
        o[first + query] = weighted / sum;
    }
    // END
}
