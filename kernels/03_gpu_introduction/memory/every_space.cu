// y[i] = one of four mixtures of x[i] and its right neighbour in the block; which[i] says which one,
// weights how much of x[i] it takes. n fp32 elements, any n.
// The idea: a tour. The arrays are in global memory, the weights in constant memory, the block's
// part of x in shared memory, and the four mixtures in local memory, since the index into them is
// known only when the kernel runs. i, right and the like are in registers.
// Limit: none that matters; it is a tool for looking.
// grid (ceil(n / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;
constexpr int kMixtures = 4;
__constant__ float weights[kMixtures];

extern "C" __global__ void every_space(const float *x, const int *which, float *y, int n)
{
    __shared__ float tile[kThreads];
    int i = blockIdx.x * kThreads + threadIdx.x;
    tile[threadIdx.x] = i < n ? x[i] : 0.0f;
    __syncthreads();

    int right = (threadIdx.x + 1) % kThreads;
    float mixture[kMixtures];
#pragma unroll 1 // do not unroll
    for (int k = 0; k < kMixtures; ++k) {
        mixture[k] = weights[k] * tile[threadIdx.x] + (1.0f - weights[k]) * tile[right];
    }
    if (i < n) {
        y[i] = mixture[which[i] % kMixtures];
    }
}
