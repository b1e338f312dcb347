// The sums S_t of the batch's pixels under each of conv1's nine taps t, and G_ts of their products:
// mean and variance of any filter's result follow from them, w S / M and w G w / M - mean^2, so
// batch norm needs no pass over conv1's results. They are those of the step `ahead` steps from now.
// The images are bytes, normalised on the way in; see batch.cuh.
// A thread takes a tap and a row of an image: 9 products and a sum for each pixel.
// Takes any N from 1 and any grid; the moments are zero before.
// grid (any), block 256, dynamic shared 0

#include "batch.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void __launch_bounds__(kThreads)
    input_moments(const unsigned char *images, const int *order, const int *clock,
                  long long *moments, int ahead, int N)
{
    __shared__ float x[kImageFloats];
    __shared__ float of_rows[kSide][kMoments];
    int step = clock[0] + ahead;
    int row = threadIdx.x / kTaps;
    int tap = threadIdx.x % kTaps;
    float products[kTaps] = {};
    float sum = 0.0f;

    clear_image<kThreads>(x);
    for (int image = blockIdx.x; image < N; image += gridDim.x) {
        __syncthreads(); // the image before has been used
        load_image<kThreads>(images, image_number(order, step, N, image), x);
        __syncthreads();
        if (row < kSide) {
            const float *around = x + row * kImageStride;
            const float *own = around + tap / 3 * kImageStride + tap % 3;
#pragma unroll 4
            for (int column = 0; column < kSide; ++column) {
                float value = own[column];
#pragma unroll
                for (int s = 0; s < kTaps; ++s) {
                    products[s] += value * around[s / 3 * kImageStride + s % 3 + column];
                }
                sum += value;
            }
        }
    }
    if (row < kSide) {
#pragma unroll
        for (int s = 0; s < kTaps; ++s) {
            of_rows[row][tap * kTaps + s] = products[s];
        }
        of_rows[row][kTaps * kTaps + tap] = sum;
    }
    __syncthreads();
    if (threadIdx.x < kMoments) {
        double total = 0.0;
        for (int r = 0; r < kSide; ++r) {
            total += of_rows[r][threadIdx.x];
        }
        long long whole = __double2ll_rn(total * kMomentUnit);
        atomicAdd((unsigned long long *)moments + moments_of(step) + threadIdx.x,
                  (unsigned long long)whole);
    }
}
