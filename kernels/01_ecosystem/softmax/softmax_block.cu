// y = softmax of each row of x, rows x columns of fp32: exp(x - largest), divided by the row's sum.
// Takes rows of at most 4096 columns, and any number of rows.
// Adds to softmax_warps.cu: a block of 256 threads takes a row and keeps it in registers, 16 values
// a thread, so each is read once; the warps tell each other their results in shared memory.
// Limit: memory bandwidth. One read and one write for each element.
// grid (rows), block (256), dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;
constexpr int kEach = 16; // numbers that a thread keeps
constexpr int kWarps = kThreads / kWarpSize;

extern "C" __global__ void softmax_block(const float *x, float *y, int columns)
{
    __shared__ float largest_of[kWarps], sum_of[kWarps];
    int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
    x += blockIdx.x * (long long)columns;
    y += blockIdx.x * (long long)columns;

    float part[kEach];
    float largest = x[0];
    for (int k = 0; k < kEach; ++k) {
        int i = k * kThreads + threadIdx.x;
        part[k] = i < columns ? x[i] : __int_as_float(0xff800000); // minus infinity: exp gives 0
        largest = fmaxf(largest, part[k]);
    }
    for (int distance = kWarpSize / 2; distance > 0; distance /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, distance));
    }
    if (lane == 0) {
        largest_of[warp] = largest;
    }
    __syncthreads(); // every warp's largest is there
    for (float other : largest_of) {
        largest = fmaxf(largest, other);
    }

    float sum = 0.0f, total = 0.0f;
    for (int k = 0; k < kEach; ++k) {
        part[k] = expf(part[k] - largest);
        sum += part[k];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        sum_of[warp] = sum;
    }
    __syncthreads(); // every warp's sum is there
    for (float other : sum_of) {
        total += other;
    }
    float scale = 1.0f / total;

    for (int k = 0; k < kEach; ++k) {
        int i = k * kThreads + threadIdx.x;
        if (i < columns) {
            y[i] = part[k] * scale;
        }
    }
}
