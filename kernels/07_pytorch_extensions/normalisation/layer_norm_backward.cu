// The gradients of a layer normalisation, rows x columns of ELEMENT, float or bf16, with sums of
// floats. With g = dy * gamma and x^ = (x - mean) * rstd: dx = rstd * (g - mean of g - x^ * mean of
// g x^), the means over the row; and what this block's rows add to dgamma (dy x^) and to dbeta (dy)
// goes to its two rows of `partial`, 2 * gridDim.x rows of floats, which column_sums.cu adds up.
// columns is at most THREADS * GROUPS * 16 bytes; the arrays begin at multiples of 16 bytes.
// With CENTERED 0 those of an RMS normalisation, which has no mean and no beta: x^ = x * rstd, the
// mean of g is left out, `mean` is not read, and `partial` has one row a block, dgamma.
// Adds to layer_norm_backward_rows.cu: blocks that stay take row after row, so that a thread meets
// the same columns again and adds up dgamma and dbeta in registers: x and dy are read once. The
// next STAGES - 1 rows are on their way to shared memory meanwhile (cp.async). No atomics: the
// order of all additions is fixed.
// Limit: memory bandwidth. Two reads and one write for each element.
// grid (any; as many as are resident), block (THREADS), dynamic shared STAGES * 32 * THREADS *
// GROUPS

#include "ptx.cuh"
#include "row_values.cuh"

#ifndef ELEMENT
#define ELEMENT float
#endif
#ifndef THREADS
#define THREADS 512
#endif
#ifndef GROUPS
#define GROUPS 2 // of 16 bytes that a thread keeps, of x and of dy
#endif
#ifndef CENTERED
#define CENTERED 1
#endif
#ifndef STAGES
#define STAGES 3 // rows in shared memory
#endif
#ifndef RESIDENT
#define RESIDENT 1 // blocks of a multiprocessor
#endif

constexpr int kEach = kWidth<ELEMENT>;
constexpr int kWarps = THREADS / kWarpSize;
constexpr int kHalf = kWarpSize / 2;
static_assert(kWarps <= kHalf, "half a warp reads the sums of all warps");

// The sum over the 16 lanes of each half of the warp, in each of them.
__device__ inline float half_warp_sum(float value)
{
#pragma unroll
    for (int distance = kHalf / 2; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(kWholeWarp, value, distance);
    }
    return value;
}

// The sum of `sum` over the warp in its first 16 lanes, that of `product` in the others: with one
// exchange each half has all that it needs, and four more steps serve both.
__device__ inline float warp_sums_in_halves(float sum, float product)
{
    bool first = threadIdx.x % kWarpSize < kHalf;
    float mine = first ? sum : product;
    mine += __shfl_xor_sync(kWholeWarp, first ? product : sum, kHalf);
    return half_warp_sum(mine);
}

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENT)
    layer_norm_backward(const ELEMENT *dy, const ELEMENT *x, const ELEMENT *gamma,
                        const float *mean, const float *rstd, ELEMENT *dx, float *partial, int rows,
                        int columns)
{
    extern __shared__ uint4 ring[]; // [STAGES][2][GROUPS][THREADS]: a thread reads what it copied
    __shared__ float of_warp[2][2][kHalf]; // of this row and of the next, a warp's sum and product
    bool whole = columns % kEach == 0;     // rows begin at multiples of 16 bytes
    int lane = threadIdx.x % kWarpSize;
    int warp = threadIdx.x / kWarpSize;
    float share = 1.0f / columns;

    auto slot = [&](int stage, int array, int k) {
        return ring + ((stage * 2 + array) * GROUPS + k) * THREADS + threadIdx.x;
    };
    auto fetch = [&](int row, int stage) {
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            int column = column_of_group<ELEMENT, THREADS>(k);
            if (whole && row < rows && column < columns) {
                long long i = (long long)row * columns + column;
                cp_async_16(shared_address(slot(stage, 0, k)), x + i);
                cp_async_16(shared_address(slot(stage, 1, k)), dy + i);
            }
        }
        cp_async_commit(); // one group a row, even where there is none
    };
    auto arrived = [&](const ELEMENT *from, int row, int stage, int array, int k) {
        int column = column_of_group<ELEMENT, THREADS>(k);
        if (whole && column < columns) {
            return *slot(stage, array, k);
        }
        return load_row_16_bytes(from + (long long)row * columns, column, columns, true);
    };

    uint4 factors[GROUPS]; // gamma, as it is in memory
    float dgamma[GROUPS][kEach] = {}, dbeta[GROUPS][kEach] = {};
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
        factors[k] =
            load_row_16_bytes(gamma, column_of_group<ELEMENT, THREADS>(k), columns, true);
    }
#pragma unroll
    for (int stage = 0; stage < STAGES; ++stage) {
        fetch(blockIdx.x + stage * gridDim.x, stage);
    }
    int stage = 0, parity = 0;
    float next_center = 0.0f, next_scale = 0.0f; // asked for a row ahead, as all that is read
    if (blockIdx.x < rows) {
        next_center = CENTERED ? mean[blockIdx.x] : 0.0f;
        next_scale = rstd[blockIdx.x];
    }
    for (int row = blockIdx.x; row < rows; row += gridDim.x) {
        float center = next_center, scale = next_scale;
        if (row + gridDim.x < rows) {
            next_center = CENTERED ? mean[row + gridDim.x] : 0.0f;
            next_scale = rstd[row + gridDim.x];
        }
        float normed[GROUPS][kEach], gradient[GROUPS][kEach];
        float sum = 0.0f, product = 0.0f;
        cp_async_wait<STAGES - 1>(); // this row is there
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
            float factor[kEach];
            unpack(normed[k], arrived(x, row, stage, 0, k));
            unpack(gradient[k], arrived(dy, row, stage, 1, k));
            unpack(factor, factors[k]);
#pragma unroll
            for (int j = 0; j < kEach; ++j) { // past the end of the row the gradient is 0
                normed[k][j] = (normed[k][j] - center) * scale;
                dgamma[k][j] += gradient[k][j] * normed[k][j];
                dbeta[k][j] += gradient[k][j];
                gradient[k][j] *= factor[j];
                sum += gradient[k][j];
                product += gradient[k][j] * normed[k][j];
            }
        }
        float mine = warp_sums_in_halves(sum, product);
        if (lane % kHalf == 0) {
            of_warp[parity][lane / kHalf][warp] = mine;
        }
        __syncthreads(); // every warp's sums are there
        fetch(row + STAGES * gridDim.x, stage);
        int other = lane % kHalf;
        mine = other < kWarps ? of_warp[parity][lane / kHalf][other] * share : 0.0f;
        mine = half_warp_sum(mine);
        sum = CENTERED ? __shfl_sync(kWholeWarp, mine, 0) : 0.0f;
        product = __shfl_sync(kWholeWarp, mine, kHalf);
#pragma unroll
        for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
            for (int j = 0; j < kEach; ++j) {
                gradient[k][j] = scale * (gradient[k][j] - sum - normed[k][j] * product);
            }
        }
        store_values<THREADS>(dx + (long long)row * columns, gradient, columns);
        parity ^= 1;
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
    float *of_block = partial + (CENTERED ? 2ll : 1ll) * blockIdx.x * columns;
#pragma unroll
    for (int k = 0; k < GROUPS; ++k) {
#pragma unroll
        for (int j = 0; j < kEach; j += 4) {
            int column = column_of_group<ELEMENT, THREADS>(k) + j;
            auto four = [j](const float(&of)[kEach]) {
                return packed({of[j], of[j + 1], of[j + 2], of[j + 3]});
            };
            store_row_16_bytes(of_block, column, columns, four(dgamma[k]));
            if (CENTERED) {
                store_row_16_bytes(of_block + columns, column, columns, four(dbeta[k]));
            }
        }
    }
}
