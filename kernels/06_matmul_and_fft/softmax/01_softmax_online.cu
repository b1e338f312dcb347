// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// Adds to softmax_rows.cu of chapter 03: the largest number and the sum in one pass. Whenever a
// thread meets a larger number, what it has added up shrinks to fit. Takes any columns.
// Limit: two reads and one write for each element, and two exponentials for each that it merges.
// grid (rows), block (256), dynamic shared 0

#include "softmax.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void softmax_online(const float *x, float *y, int columns)
{
    __shared__ ExpSum tree[kThreads];
    int thread = threadIdx.x;
    const float *row = x + (long long)blockIdx.x * columns;
    float *out = y + (long long)blockIdx.x * columns;

    ExpSum mine = {kLowest, 0.0f};
    for (int i = thread; i < columns; i += kThreads) {
        mine = merged(mine, {row[i], 1.0f}); // expf(v - v) is 1
    }
    tree[thread] = mine;
    for (int half = kThreads / 2; half > 0; half /= 2) {
        __syncthreads(); // the sums of the step before are there
        if (thread < half) {
            tree[thread] = merged(tree[thread], tree[thread + half]);
        }
    }
    __syncthreads(); // the last one too
    float largest = tree[0].largest;
    float scale = 1.0f / tree[0].sum;
    for (int i = thread; i < columns; i += kThreads) {
        out[i] = expf(row[i] - largest) * scale;
    }
}
