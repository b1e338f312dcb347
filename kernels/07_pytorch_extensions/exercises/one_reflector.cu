// For each row x of n numbers: the reflector H = I - tau v v^T with v[0] = 1 that turns x into (beta,
// 0, ..., 0). beta has the sign that x[0] has not; where all of x but x[0] is zero, tau is 0 and beta
// is x[0]. Row r of beta_tau holds its beta, then its tau. A warp a row.
// grid (ceil(rows / 8)), block (256), dynamic shared 0

#include "reduce.cuh" // kWarpSize, kWholeWarp, warp_sum

extern "C" __global__ void one_reflector(const float *x, float *v, float *beta_tau, int rows, int n)
{
    int lane = threadIdx.x % kWarpSize;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
    if (row >= rows) {
        return; // the whole warp
    }
    x += (long long)row * n;
    v += (long long)row * n;
    float alpha = x[0];
    // TODO: the norm of x[1] to x[n - 1], safe from overflow and underflow of the squares
    // SOLUTION
    float largest = 0.0f;
    for (int i = 1 + lane; i < n; i += kWarpSize) {
        largest = fmaxf(largest, fabsf(x[i]));
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));
    }
    float squares = 0.0f;
    for (int i = 1 + lane; i < n; i += kWarpSize) {
        squares += x[i] / largest * (x[i] / largest);
    }
    float norm = largest * sqrtf(warp_sum(squares));
    // END
    // TODO: beta, tau and v
    // SOLUTION
    if (largest == 0.0f) {
        norm = 0.0f; // not 0 times NaN
    }
    float beta = norm == 0.0f ? alpha : -copysignf(hypotf(alpha, norm), alpha);
    for (int i = lane; i < n; i += kWarpSize) {
        v[i] = i == 0 ? 1.0f : norm == 0.0f ? 0.0f : x[i] / (alpha - beta);
    }
    if (lane == 0) {
        beta_tau[2 * row] = beta;
        beta_tau[2 * row + 1] = norm == 0.0f ? 0.0f : (beta - alpha) / beta;
    }
    // END
}
