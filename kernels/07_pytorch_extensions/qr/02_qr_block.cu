// QR of `batch` matrices m x n as qr_warp, for matrices that fit into shared memory.
// Adds to qr_warp: a matrix for a block, in shared memory. A warp has a column at a time, its lanes
// share the rows. Every warp computes the reflector for itself, so that one barrier a column is
// enough.
// Limit: shared memory: three accesses for two FMAs.
// grid (batch), block (512), dynamic shared 4 * (n * (m | 1) + 2 * n)

#include "reduce.cuh"
#include "reflector.cuh"

constexpr int kThreads = 512, kWarps = kThreads / kWarpSize;

extern "C" __global__ void __launch_bounds__(kThreads)
    qr_block(const float *A, float *qr, float *tau, int m, int n)
{
    extern __shared__ float columns[]; // a column after the other
    const int stride = m | 1;          // odd: the rows of a column lie in different banks
    float *restore = columns + n * stride;
    float *to_v = restore + n; // what the column that is left there has to be multiplied by
    const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    const int count = min(m, n);
    A += (size_t)blockIdx.x * m * n;
    qr += (size_t)blockIdx.x * m * n;
    tau += (size_t)blockIdx.x * count;
    for (int i = threadIdx.x; i < m * n; i += kThreads) {
        columns[i % n * stride + i / n] = A[i];
    }
    __syncthreads(); // the matrix is there
    for (int c = warp; c < n; c += kWarps) {
        float *column = columns + c * stride;
        unsigned largest = 0;
        for (int i = lane; i < m; i += kWarpSize) {
            largest = max(largest, size_bits(column[i]));
        }
        const float power = power_for(__reduce_max_sync(kWholeWarp, largest));
        for (int i = lane; i < m; i += kWarpSize) {
            column[i] = scaled(column[i], power);
        }
        if (lane == 0) {
            restore[c] = undo(power);
            to_v[c] = 0.0f;
        }
    }
    __syncthreads(); // all columns are scaled
    for (int j = 0; j < count; ++j) {
        float *pivot = columns + j * stride;
        const float alpha = pivot[j];
        float squares = 0.0f, up = 1.0f;
        for (int i = j + 1 + lane; i < m; i += kWarpSize) {
            squares = fmaf(pivot[i], pivot[i], squares);
        }
        squares = warp_sum(squares);
        if (squares < kTooSmall && fabsf(alpha) < kSmallAlpha) {
            up = kUp;
            squares = 0.0f;
            for (int i = j + 1 + lane; i < m; i += kWarpSize) {
                squares = fmaf(pivot[i] * up, pivot[i] * up, squares);
            }
            squares = warp_sum(squares);
        }
        const Reflector h = reflector_of(alpha * up, squares);
        const float inverse = h.inverse * up;
        for (int c = j + 1 + warp; c < n; c += kWarps) {
            float *column = columns + c * stride;
            float dot = 0.0f;
            for (int i = j + 1 + lane; i < m; i += kWarpSize) {
                dot = fmaf(pivot[i] * up, column[i], dot);
            }
            dot = fmaf(warp_sum(dot), h.inverse, column[j]);
            const float w = h.tau * dot;
            for (int i = j + 1 + lane; i < m; i += kWarpSize) {
                column[i] = fmaf(-w, pivot[i] * inverse, column[i]);
            }
            __syncwarp(); // all lanes have read row j
            if (lane == 0) {
                column[j] -= w;
            }
        }
        __syncthreads(); // the next column is ready, and all warps have read this one's alpha
        if (threadIdx.x == 0) {
            pivot[j] = h.beta / up;
            to_v[j] = inverse;
            tau[j] = h.tau;
        }
    }
    __syncthreads(); // the last beta is there
    for (int i = threadIdx.x; i < m * n; i += kThreads) {
        const int row = i / n, column = i % n;
        const float value = columns[column * stride + row];
        qr[i] = row > column ? value * to_v[column] : scaled(value, restore[column]);
    }
}
