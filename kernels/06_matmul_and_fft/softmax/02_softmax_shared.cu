// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// Adds to softmax_online.cu: the row stays in shared memory, so that the second read is not of
// global memory. Takes columns up to 57,000: they have to fit the block's 227 KB.
// Limit: memory bandwidth for short rows. With long ones few blocks fit a multiprocessor: one of
// 256 threads at 32,768 columns.
// grid (rows), block (256), dynamic shared columns * 4

#include "softmax.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void softmax_shared(const float *x, float *y, int columns)
{
    extern __shared__ float kept[];
    __shared__ ExpSum tree[kThreads];
    int thread = threadIdx.x;
    const float *row = x + (long long)blockIdx.x * columns;
    float *out = y + (long long)blockIdx.x * columns;

    float largest = kLowest;
    for (int i = thread; i < columns; i += kThreads) {
        kept[i] = row[i];
        largest = fmaxf(largest, kept[i]);
    }
    float sum = 0.0f;
    for (int i = thread; i < columns; i += kThreads) { // those that the thread has stored itself
        kept[i] = expf(kept[i] - largest);
        sum += kept[i];
    }
    tree[thread] = {largest, sum};
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads(); // the sums of the step before are there
        if (thread < half) {
            tree[thread] = merged(tree[thread], tree[thread + half]);
        }
    }
    __syncthreads(); // the last one too
    float scale = expf(largest - tree[0].largest) / tree[0].sum;
    for (int i = thread; i < columns; i += kThreads) {
        out[i] = kept[i] * scale;
    }
}
