// y = Q x for each of `batch` factorisations as geqrf leaves them: qr is batch x m x n with m >= n,
// tau is batch x n, x and y are batch x m. Q = H_1 H_2 ... H_n; the ones of the v are not stored. A
// warp a matrix.
// grid (ceil(batch / 8)), block (256), dynamic shared 0

#include "reduce.cuh" // kWarpSize, warp_sum

extern "C" __global__ void q_times(const float *qr, const float *tau, const float *x, float *y,
                                   int batch, int m, int n)
{
    int lane = threadIdx.x % kWarpSize;
    int matrix = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (matrix >= batch) {
        return; // the whole warp
    }
    qr += (long long)matrix * m * n;
    tau += (long long)matrix * n;
    x += (long long)matrix * m;
    y += (long long)matrix * m;
    for (int i = lane; i < m; i += kWarpSize) {
        y[i] = x[i]; // a lane keeps to its elements: no lane reads another's
    }
    // TODO: apply the reflectors to y
    // SOLUTION
    for (int j = n - 1; j >= 0; --j) {
        float dot = 0.0f;
        for (int i = lane; i < m; i += kWarpSize) {
            float v = i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];
            dot += v * y[i];
        }
        float w = tau[j] * warp_sum(dot);
        for (int i = lane; i < m; i += kWarpSize) {
            float v = i < j ? 0.0f : i == j ? 1.0f : qr[(long long)i * n + j];
            y[i] -= w * v;
        }
    }
    // END
}
