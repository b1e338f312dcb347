// QR of `batch` matrices m x n, m >= n, as LAPACK's geqrf leaves it: R in the upper triangle of qr,
// below it the reflectors without their ones, and tau, batch x n. The shared memory that the launch
// gives has room for a matrix and for four rows more.
// grid (batch), block (256), dynamic shared 4 * (m + 4) * (n + 1)

#include "reduce.cuh" // kWarpSize, kWholeWarp, warp_sum

extern "C" __global__ void open_qr(const float *A, float *qr, float *tau, int m, int n)
{
    extern __shared__ float shared[];
    A += (long long)blockIdx.x * m * n;
    qr += (long long)blockIdx.x * m * n;
    tau += (long long)blockIdx.x * n;
    // TODO: factor this block's matrix
    // SOLUTION
    int stride = n + 1;
    for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
        shared[i / n * stride + i % n] = A[i];
    }
    __syncthreads();
    int lane = threadIdx.x % kWarpSize;
    for (int j = 0; j < n; ++j) {
        float squares = 0.0f; // each warp finds the reflector for itself
        for (int i = j + 1 + lane; i < m; i += kWarpSize) {
            squares += shared[i * stride + j] * shared[i * stride + j];
        }
        squares = warp_sum(squares);
        float alpha = shared[j * stride + j];
        float beta = squares > 0.0f ? -copysignf(sqrtf(alpha * alpha + squares), alpha) : alpha;
        float inverse = squares > 0.0f ? 1.0f / (alpha - beta) : 0.0f;
        float of_tau = squares > 0.0f ? (beta - alpha) / beta : 0.0f;
        for (int c = j + 1 + threadIdx.x; c < n; c += blockDim.x) {
            float dot = 0.0f;
            for (int i = j + 1; i < m; ++i) {
                dot += shared[i * stride + j] * shared[i * stride + c];
            }
            float w = of_tau * (shared[j * stride + c] + dot * inverse);
            shared[j * stride + c] -= w;
            for (int i = j + 1; i < m; ++i) {
                shared[i * stride + c] -= shared[i * stride + j] * inverse * w;
            }
        }
        __syncthreads(); // all columns are changed
        for (int i = j + 1 + threadIdx.x; i < m; i += blockDim.x) {
            shared[i * stride + j] *= inverse;
        }
        if (threadIdx.x == 0) {
            shared[j * stride + j] = beta;
            tau[j] = of_tau;
        }
    }
    __syncthreads();
    for (int i = threadIdx.x; i < m * n; i += blockDim.x) {
        qr[i] = shared[i / n * stride + i % n];
    }
    // END
}
