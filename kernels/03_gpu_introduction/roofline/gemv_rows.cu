// y = A x for a row-major fp32 matrix A of M x K: element `row` is the product of a row of A and x.
// M and K up to 2 billion.
// The idea: one block a row. Its threads share the products and add their partial sums in shared
// memory.
// Limit: memory bandwidth. Each element of A is read once and used once; only x is used again.
// grid (M), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void gemv_rows(const float *A, const float *x, float *y, int K)
{
    __shared__ float parts[kThreads];
    int thread = threadIdx.x;
    const float *row = A + (long long)blockIdx.x * K;

    float sum = 0.0f;
    for (int k = thread; k < K; k += kThreads) {
        sum += row[k] * x[k];
    }
    parts[thread] = sum;
    __syncthreads();
    for (int half = kThreads / 2; half > 0; half /= 2) {
        if (thread < half) {
            parts[thread] += parts[thread + half];
        }
        __syncthreads();
    }
    if (thread == 0) {
        y[blockIdx.x] = parts[0];
    }
}
