// QR of `batch` matrices m x n as qr_warp, m up to 8 * WARPS * SLOTS, any n. A and qr are not the same.
// Adds to qr_panels: tensor cores for the rest of the matrix, C. Of an fp32 number they get two TF32
// numbers, and three products of them are as good as fp32. 16 columns of C stay in registers: as an
// mma's sum they are laid out as an operand is, if V's rows are counted in another order.
// Limit: what comes between the products: the columns of a panel, one after another, and barriers.
// grid (batch), block (32 * WARPS), dynamic shared shared_bytes() of batched_qr.py

#include "qr_panel.cuh"
#include "tf32_pair.cuh"

#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1 // of an SM
#endif

constexpr int kStrip = 16;           // columns of C at once
constexpr int kMmas = kPanel / 8;    // of a product with 32 reflectors
constexpr int kYStride = kPanel + 8; // V^T C, transposed: pairs are stored without bank conflicts
constexpr int kWStride = kPanel + 4; // and T^T V^T C: single numbers are read without

struct Shared {
    Panel panel;
    float parts[WARPS][kStrip * kYStride]; // of V^T C, then in the first their sum
    float w[kStrip * kWStride];            // -T^T V^T C
    unsigned sizes[WARPS][kPanel];
    float restore[1]; // n powers of two, which undo the scaling of R's columns
};

typedef float Strip[SLOTS][4]; // of each tile rows 2t, 2t + 1 of columns g and, second, g + 8

// Brings 16 columns near 1, as scale_columns does.
__device__ inline void scale_strip(Strip &c, unsigned (&room)[WARPS][kPanel], float *restore,
                                   int columns)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, g = lane / 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        unsigned most = 0;
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) {
            most = max(most, max(size_bits(c[s][half * 2]), size_bits(c[s][half * 2 + 1])));
        }
        most = max(most, __shfl_xor_sync(kWholeWarp, most, 1));
        most = max(most, __shfl_xor_sync(kWholeWarp, most, 2));
        if (lane % 4 == 0) {
            room[warp][g + half * 8] = most;
        }
    }
    __syncthreads(); // the warps' largest are there
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const int column = g + half * 8;
        unsigned most = 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            most = max(most, room[w][column]);
        }
        const float power = power_for(most);
        if (warp == 0 && lane % 4 == 0 && column < columns) {
            restore[column] = undo(power);
        }
#pragma unroll
        for (int s = 0; s < SLOTS; ++s) {
            c[s][half * 2] = scaled(c[s][half * 2], power);
            c[s][half * 2 + 1] = scaled(c[s][half * 2 + 1], power);
        }
    }
}

extern "C" __global__ void __launch_bounds__(kThreads, MIN_BLOCKS)
    qr_tensor(const float *A, float *qr, float *tau, int m, int n)
{
    extern __shared__ __align__(16) char room[];
    Shared &shared = *reinterpret_cast<Shared *>(room);
    Panel &panel = shared.panel;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int g = lane / 4, t = lane % 4; // of an mma's operands
    A += (size_t)blockIdx.x * m * n;
    qr += (size_t)blockIdx.x * m * n;
    tau += (size_t)blockIdx.x * min(m, n);
    for (int first = 0; first < min(m, n); first += kPanel) {
        const float *from = first == 0 ? A : qr; // scaled from then on
        const int rows = m - first, columns = min(kPanel, n - first), count = min(columns, rows);
        const int slots = (rows + WARPS * kTile - 1) / (WARPS * kTile);
        {
            Column a;
            const int corner = first * n + first + lane;
            const bool exists = lane < columns;
            load_column(a, from + corner, n, rows, exists);
            if (first == 0) {
                const float restore = scale_column(a, shared.sizes);
                if (warp == 0 && exists) {
                    shared.restore[lane] = restore;
                }
            }
            factor_panel(panel, a, slots, count); // with barriers
            const float restore = exists ? shared.restore[first + lane] : 1.0f;
            store_column(a, qr + corner, n, rows, exists, lane, restore);
        }
        if (warp == 0) {
            if (lane < count) {
                tau[first + lane] = panel.tau[lane];
            }
            make_t(panel);
        }
        __syncthreads(); // T is there
        for (int strip = first + columns; strip < n; strip += kStrip) {
            const int corner = first * n + strip + g;
            const bool there[2] = {strip + g < n, strip + g + 8 < n};
            Strip c;
#pragma unroll
            for (int s = 0; s < SLOTS; ++s) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int row = (s * WARPS + warp) * kTile + 2 * t + i % 2;
                    const float *own = from + corner + row * n + i / 2 * 8;
                    c[s][i] = there[i / 2] && row < rows ? *own : 0.0f;
                }
            }
            if (first == 0) {
                scale_strip(c, shared.sizes, shared.restore + strip, n - strip);
            }
            float y[kMmas][4] = {}; // this warp's share of V^T C
#pragma unroll
            for (int s = 0; s < SLOTS; ++s) {
                if (s < slots) {
                    const PairA rest({c[s][0], c[s][2], c[s][1], c[s][3]});
                    const float *v = panel.v + g * kStride + (s * WARPS + warp) * kTile + 2 * t;
#pragma unroll
                    for (int i = 0; i < kMmas; ++i) {
                        const float2 two = *reinterpret_cast<const float2 *>(v + i * 8 * kStride);
                        add_product(y[i], rest, Pair(two.x), Pair(two.y));
                    }
                }
            }
#pragma unroll
            for (int i = 0; i < kMmas; ++i) {
                float *to = &shared.parts[warp][g * kYStride + i * 8 + 2 * t];
                *reinterpret_cast<float2 *>(to) = make_float2(y[i][0], y[i][1]);
                *reinterpret_cast<float2 *>(to + 8 * kYStride) = make_float2(y[i][2], y[i][3]);
            }
            __syncthreads(); // all warps' rows are there
            for (int i = threadIdx.x; i < kStrip * kPanel; i += kThreads) {
                const int number = i / kPanel * kYStride + i % kPanel;
                float sum = shared.parts[0][number];
#pragma unroll
                for (int w = 1; w < WARPS; ++w) {
                    sum += shared.parts[w][number];
                }
                shared.parts[0][number] = sum; // no other thread's
            }
            __syncthreads();    // V^T C is there
            if (warp < kMmas) { // eight reflectors each
                PairSum sum;
#pragma unroll
                for (int k = 0; k < kMmas; ++k) {
                    if (k <= warp) { // T is a triangle
                        const float *of_y = &shared.parts[0][g * kYStride + k * 8 + t];
                        const PairA whole(
                            {of_y[0], of_y[8 * kYStride], of_y[4], of_y[8 * kYStride + 4]});
                        const float *of_t = &panel.t[(k * 8 + t) * kTStride + warp * 8 + g];
                        sum.add(whole, Pair(-of_t[0]), Pair(-of_t[4 * kTStride]));
                    }
                }
                float w[4] = {};
                sum.add_to(w);
                float *to = &shared.w[g * kWStride + warp * 8 + 2 * t];
                *reinterpret_cast<float2 *>(to) = make_float2(w[0], w[1]);
                *reinterpret_cast<float2 *>(to + 8 * kWStride) = make_float2(w[2], w[3]);
            }
            __syncthreads(); // -T^T V^T C is there
            PairA w[kMmas];
#pragma unroll
            for (int k = 0; k < kMmas; ++k) {
                const float *of_w = &shared.w[g * kWStride + k * 8 + t];
                w[k] = PairA({of_w[0], of_w[8 * kWStride], of_w[4], of_w[8 * kWStride + 4]});
            }
#pragma unroll
            for (int s = 0; s < SLOTS; ++s) {
                if (s < slots) {
                    const float *v = panel.v + t * kStride + (s * WARPS + warp) * kTile + g;
                    PairSum sum;
#pragma unroll
                    for (int k = 0; k < kMmas; ++k) {
                        sum.add(w[k], Pair(v[k * 8 * kStride]), Pair(v[(k * 8 + 4) * kStride]));
                    }
                    sum.add_to(c[s]);
                }
            }
            // The first 32 rows, of the first slot, are R's and will not change any more.
            const float restore[2] = {there[0] ? shared.restore[strip + g] : 1.0f,
                                      there[1] ? shared.restore[strip + g + 8] : 1.0f};
#pragma unroll
            for (int s = 0; s < SLOTS; ++s) {
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    const int row = (s * WARPS + warp) * kTile + 2 * t + i % 2;
                    if (there[i / 2] && row < rows) {
                        qr[corner + row * n + i / 2 * 8] =
                            s == 0 && row < kPanel ? scaled(c[s][i], restore[i / 2]) : c[s][i];
                    }
                }
            }
        }
        __syncthreads(); // what was stored is there for the next panel, and v has been used
    }
}
