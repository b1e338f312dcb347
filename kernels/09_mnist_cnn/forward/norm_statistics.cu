// mean[c] and rstd[c] = 1 / sqrt(variance + eps) of channel c over all images, in fp32: x is
// N x C x P, with P pixels an image. Takes any shape with fewer than 2^31 - 256 elements
// (indices are int), N P at least 1.
// One block takes a channel. It reads it twice: the squares are of distances from the mean, since
// a difference of two large sums would lose the variance's digits.
// `running_mean` and `running_variance` move by `momentum` towards this batch, as PyTorch's do: the
// variance is then of a sample, divided by N P - 1. With N P = 1 they stay as they are.
// grid (C), block 256, dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void norm_statistics(const float *x, float *mean, float *rstd,
                                           float *running_mean, float *running_variance, int N,
                                           int C, int P, float momentum, float eps)
{
    __shared__ float center;
    int c = blockIdx.x;
    int count = N * P;
    float squares = 0.0f; // of the distances from the mean

    // TODO: the channel's mean into `center`, and into thread 0's `squares` the sum of the squared
    // distances from it. Element i of the channel is x[(i / P * C + c) * P + i % P]
    // SOLUTION
    float sum = 0.0f;
    for (int i = threadIdx.x; i < count; i += kThreads) {
        sum += x[(i / P * C + c) * P + i % P];
    }
    sum = block_sum<kThreads>(sum);
    if (threadIdx.x == 0) {
        center = sum / count;
    }
    __syncthreads(); // the mean is there, and the warps' sums have been read
    for (int i = threadIdx.x; i < count; i += kThreads) {
        float distance = x[(i / P * C + c) * P + i % P] - center;
        squares += distance * distance;
    }
    squares = block_sum<kThreads>(squares);
    // END
    if (threadIdx.x == 0) {
        mean[c] = center;
        rstd[c] = rsqrtf(squares / count + eps);
        if (count > 1) {
            running_mean[c] += momentum * (center - running_mean[c]);
            running_variance[c] += momentum * (squares / (count - 1) - running_variance[c]);
        }
    }
}
