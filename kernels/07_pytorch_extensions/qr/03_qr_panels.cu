// QR of `batch` matrices m x n as qr_warp, m up to 8 * WARPS * SLOTS, any n. A and qr are not the same.
// Adds to qr_block: panels of 32 columns. A panel is factored in the registers of its block; the
// product of its reflectors is I - V T V^T, so the rest of the matrix C becomes C - V T^T (V^T C) by
// products of matrices, 32 columns of it at a time, and is read and written once for 32 reflectors.
// Limit: FMAs, and the reading of V from shared memory for them.
// grid (batch), block (32 * WARPS), dynamic shared shared_bytes() of batched_qr.py

#include "qr_panel.cuh"

#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1 // of an SM
#endif

struct Shared {
    Panel panel;
    float parts[WARPS][kPanel][kPanel]; // of V^T C: row k belongs to reflector k
    float y[kPanel][kPanel];            // their sum
    float w[kPanel][kPanel];            // T^T V^T C
    unsigned sizes[WARPS][kPanel];
    float restore[1]; // n powers of two, which undo the scaling of R's columns
};

extern "C" __global__ void __launch_bounds__(kThreads, MIN_BLOCKS)
    qr_panels(const float *A, float *qr, float *tau, int m, int n)
{
    extern __shared__ __align__(16) char room[];
    Shared &shared = *reinterpret_cast<Shared *>(room);
    Panel &panel = shared.panel;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    A += (size_t)blockIdx.x * m * n;
    qr += (size_t)blockIdx.x * m * n;
    tau += (size_t)blockIdx.x * min(m, n);
    Column a; // of the panel, then of the rest
    for (int first = 0; first < min(m, n); first += kPanel) {
        const float *from = first == 0 ? A : qr; // scaled from then on
        const int rows = m - first, count = min(kPanel, min(m, n) - first);
        const int slots = (rows + WARPS * kTile - 1) / (WARPS * kTile);
        for (int strip = first; strip < n; strip += kPanel) {
            const int corner = first * n + strip + lane;
            const bool exists = strip + lane < n;
            load_column(a, from + corner, n, rows, exists);
            if (first == 0) {
                const float restore = scale_column(a, shared.sizes);
                if (warp == 0 && exists) {
                    shared.restore[strip + lane] = restore;
                }
            }
            if (strip == first) {
                factor_panel(panel, a, slots, count);
                if (warp == 0) {
                    if (lane < count) {
                        tau[first + lane] = panel.tau[lane];
                    }
                    make_t(panel);
                }
                const float restore = exists ? shared.restore[strip + lane] : 1.0f;
                store_column(a, qr + corner, n, rows, exists, lane, restore);
                continue;
            }
#pragma unroll 2
            for (int k = 0; k < kPanel; ++k) {
                float sum[4] = {};
#pragma unroll
                for (int s = 0; s < SLOTS; ++s) {
                    if (s < slots) {
#pragma unroll
                        for (int i = 0; i < kTile; i += 4) {
                            const float *v = &panel.v[k * kStride + row_of(s) + i];
                            const float4 x = *reinterpret_cast<const float4 *>(v);
                            const float *own = &a[s * kTile + i];
                            sum[0] = fmaf(x.x, own[0], sum[0]);
                            sum[1] = fmaf(x.y, own[1], sum[1]);
                            sum[2] = fmaf(x.z, own[2], sum[2]);
                            sum[3] = fmaf(x.w, own[3], sum[3]);
                        }
                    }
                }
                shared.parts[warp][k][lane] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
            }
            __syncthreads(); // all warps' rows are there, and T
            for (int k = warp; k < kPanel; k += WARPS) {
                float sum = shared.parts[0][k][lane];
#pragma unroll
                for (int w = 1; w < WARPS; ++w) {
                    sum += shared.parts[w][k][lane];
                }
                shared.y[k][lane] = sum;
            }
            __syncthreads(); // V^T C is there
            for (int k = warp; k < kPanel; k += WARPS) {
                float sum = 0.0f;
                for (int p = 0; p <= k; ++p) {
                    sum = fmaf(panel.t[p * kTStride + k], shared.y[p][lane], sum);
                }
                shared.w[k][lane] = sum;
            }
            __syncthreads(); // T^T V^T C is there
#pragma unroll 2
            for (int k = 0; k < kPanel; ++k) {
                const float w = -shared.w[k][lane];
#pragma unroll
                for (int s = 0; s < SLOTS; ++s) {
                    if (s < slots) {
#pragma unroll
                        for (int i = 0; i < kTile; i += 4) {
                            const float *v = &panel.v[k * kStride + row_of(s) + i];
                            const float4 x = *reinterpret_cast<const float4 *>(v);
                            float *own = &a[s * kTile + i];
                            own[0] = fmaf(x.x, w, own[0]);
                            own[1] = fmaf(x.y, w, own[1]);
                            own[2] = fmaf(x.z, w, own[2]);
                            own[3] = fmaf(x.w, w, own[3]);
                        }
                    }
                }
            }
            // The first 32 rows are R's and will not change any more.
            const float restore = exists ? shared.restore[strip + lane] : 1.0f;
            store_column(a, qr + corner, n, rows, exists, kPanel - 1, restore);
        }
        __syncthreads(); // what was stored is there for the next panel, and v has been used
    }
}
