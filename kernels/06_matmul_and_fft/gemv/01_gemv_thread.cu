// y = A x for a row-major fp32 matrix A of M x K: y[row] is the product of a row of A and x.
// The idea: one thread a row. No thread needs another.
// Limit: the lanes of a warp read 32 rows, K floats apart: each load of a warp touches 32 sectors
// and needs 4 of their 32 bytes.
// grid (ceil(M / 256)), block (256), dynamic shared 0

extern "C" __global__ void gemv_thread(const float *A, const float *x, float *y, int M, int K)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M) {
        return;
    }
    const float *values = A + (long long)row * K;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += values[k] * x[k];
    }
    y[row] = sum;
}
