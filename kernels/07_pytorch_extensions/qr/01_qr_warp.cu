// QR of `batch` matrices m x n, row-major fp32, m up to ROWS, n up to 32: R in the upper triangle of `qr`,
// the reflectors below it without their ones, and tau (batch x min(m, n)), as LAPACK's geqrf has
// them. Each column is brought near 1 by a power of two first, so any finite numbers will do.
// The first rung: a matrix for a warp, in registers. A lane has a column; a shuffle gives the column
// that is worked on to all lanes.
// Limit: shuffles, one for each element and step, for dot products and once more for the change.
// grid (ceil(batch / 8)), block (256), dynamic shared 0

#include "reflector.cuh"

#ifndef ROWS
#define ROWS 32 // the most
#endif

constexpr unsigned kWholeWarp = 0xffffffff;

extern "C" __global__ void __launch_bounds__(256)
    qr_warp(const float *A, float *qr, float *tau, int batch, int m, int n)
{
    const int lane = threadIdx.x % 32;
    const int matrix = blockIdx.x * 8 + threadIdx.x / 32;
    if (matrix >= batch) {
        return; // the whole warp
    }
    const int count = min(m, n);
    A += (size_t)matrix * m * n;
    qr += (size_t)matrix * m * n;
    tau += (size_t)matrix * count;
    float a[ROWS];
    unsigned largest = 0;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        a[i] = i < m && lane < n ? A[i * n + lane] : 0.0f;
        largest = max(largest, size_bits(a[i]));
    }
    const float power = power_for(largest);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        a[i] = scaled(a[i], power);
    }
#pragma unroll
    for (int j = 0; j < ROWS; ++j) {
        if (j >= count) {
            break;
        }
        const float alpha = __shfl_sync(kWholeWarp, a[j], j);
        float up = 1.0f, total, squares;
        while (true) {
            total = 0.0f; // of the column's tail times the lane's
#pragma unroll
            for (int i = j + 1; i < ROWS; ++i) {
                total = fmaf(__shfl_sync(kWholeWarp, a[i], j) * up, a[i], total);
            }
            squares = __shfl_sync(kWholeWarp, total, j) * up;
            if (up == kUp || squares >= kTooSmall || fabsf(alpha) >= kSmallAlpha) {
                break;
            }
            up = kUp;
        }
        const Reflector h = reflector_of(alpha * up, squares);
        const float to_v = h.inverse * up;
        const float w = h.tau * fmaf(total, h.inverse, a[j]);
#pragma unroll
        for (int i = j + 1; i < ROWS; ++i) {
            float v = __shfl_sync(kWholeWarp, a[i], j) * to_v;
            if (lane > j) {
                a[i] = fmaf(-w, v, a[i]);
            } else if (lane == j) {
                a[i] = v;
            }
        }
        if (lane > j) {
            a[j] -= w;
        } else if (lane == j) {
            a[j] = h.beta / up;
            tau[j] = h.tau;
        }
    }
    const float restore = undo(power);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        if (i < m && lane < n) {
            qr[i * n + lane] = i > lane ? a[i] : scaled(a[i], restore);
        }
    }
}
