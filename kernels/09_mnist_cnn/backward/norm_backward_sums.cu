// dgamma[c] = the sum of dy h and dbeta[c] = the sum of dy, over channel c of all images, in fp32,
// where h = (x - mean) rstd is the normalised x: x and dy are N x C x P, with P pixels an image.
// Takes any shape with fewer than 2^31 - 256 elements (indices are int).
// One block takes a channel.
// grid (C), block 256, dynamic shared 0

#include "reduce.cuh"

constexpr int kThreads = 256;

extern "C" __global__ void norm_backward_sums(const float *x, const float *mean, const float *rstd,
                                              const float *dy, float *dgamma, float *dbeta, int N,
                                              int C, int P)
{
    int c = blockIdx.x;
    float of_gamma = 0.0f;
    float of_beta = 0.0f;
    for (int i = threadIdx.x; i < N * P; i += kThreads) {
        int at = (i / P * C + c) * P + i % P;
        of_gamma += dy[at] * (x[at] - mean[c]) * rstd[c];
        of_beta += dy[at];
    }
    of_gamma = block_sum<kThreads>(of_gamma);
    __syncthreads(); // the warps' sums have been read
    of_beta = block_sum<kThreads>(of_beta);
    if (threadIdx.x == 0) {
        dgamma[c] = of_gamma;
        dbeta[c] = of_beta;
    }
}
