// The k largest elements of each row of x, rows x columns of fp32, and their indices, the largest
// first; of equal elements the one with the lower index comes first. NaN is larger than +inf, and
// +0 larger than -0. k is at most columns.
// The idea: k rounds. Each finds the largest of what comes after the last one found.
// Limit: a block reads its row k times.
// grid (rows), block (256), dynamic shared 0

#include "top_k.cuh"

constexpr int kThreads = 256, kWarps = kThreads / kWarpSize;

__device__ Pair warp_max(Pair pair)
{
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        pair = max(pair, __shfl_xor_sync(kWholeWarp, pair, distance));
    }
    return pair;
}

extern "C" __global__ void top_k_rounds(const float *x, float *values, long long *indices,
                                        int columns, int k)
{
    __shared__ Pair of_warp[2][kWarps];
    const float *row = x + (long long)blockIdx.x * columns;
    Pair last = ~Pair(0);
    for (int round = 0; round < k; ++round) {
        Pair largest = 0;
        for (int i = threadIdx.x; i < columns; i += kThreads) {
            Pair pair = pair_of(row[i], i);
            if (pair < last) {
                largest = max(largest, pair);
            }
        }
        largest = warp_max(largest);
        Pair *found = of_warp[round % 2]; // the other half is still being read
        if (threadIdx.x % kWarpSize == 0) {
            found[threadIdx.x / kWarpSize] = largest;
        }
        __syncthreads(); // every warp's largest is there
        last = found[0];
        for (int warp = 1; warp < kWarps; ++warp) {
            last = max(last, found[warp]);
        }
        if (threadIdx.x == 0) {
            store_pair(last, blockIdx.x * k + round, values, indices);
        }
    }
}
