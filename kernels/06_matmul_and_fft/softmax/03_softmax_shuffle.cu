// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// Adds to softmax_shared.cu: lanes combine by shuffles, and one barrier is left. Takes columns up
// to 57,000: they have to fit the block's 227 KB.
// Limit: as before. Rows in shared memory leave room for few threads where they are long.
// grid (rows), block (256), dynamic shared columns * 4

#include "softmax.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void softmax_shuffle(const float *x, float *y, int columns)
{
    extern __shared__ float kept[];
    const float *row = x + (long long)blockIdx.x * columns;
    float *out = y + (long long)blockIdx.x * columns;

    float largest = kLowest;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        kept[i] = row[i];
        largest = fmaxf(largest, kept[i]);
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += kThreads) { // those that the thread stored itself
        kept[i] = expf(kept[i] - largest);
        sum += kept[i];
    }
    ExpSum all = block_merged<kThreads>({largest, sum});
    float scale = expf(largest - all.largest) / all.sum;
    for (int i = threadIdx.x; i < columns; i += kThreads) {
        out[i] = kept[i] * scale;
    }
}
