// C = f(alpha P + beta C + bias) + residual for row-major fp32 matrices of M x N, where P is the sum
// of the `slices` of sgemm_split_k.cu. f is the identity, with -DACTIVATION=1 ReLU and with 2 GELU;
// `bias` (N numbers) counts with -DBIAS, `residual` (M x N) with -DRESIDUAL. Where beta is 0, C is not
// read, so that it may hold anything, NaN too. `sums` or `residual` may be C. Any shape.
// Adds to split-K the second pass: a thread adds up its element of every slice in their order, so
// that a result has the same bits in each run, and does what else is to be done while it is there.
// Limit: memory bandwidth, or the L2 cache's where the slices are still in it.
// grid (ceil(M * N / 256)), block (256), dynamic shared 0

#ifndef ACTIVATION
#define ACTIVATION 0
#endif

__device__ inline float activation(float value)
{
#if ACTIVATION == 1
    return value < 0.0f ? 0.0f : value; // NaN stays NaN
#elif ACTIVATION == 2
    return 0.5f * value * (1.0f + erff(value * 0.70710678f)); // value / sqrt(2)
#else
    return value;
#endif
}

extern "C" __global__ void split_k_finish(const float *sums, float *C, const float *bias,
                                          const float *residual, float alpha, float beta,
                                          int slices, int M, int N)
{
    size_t elements = (size_t)M * N;
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements) {
        return;
    }
    float sum = 0.0f;
    for (int slice = 0; slice < slices; ++slice) {
        sum += sums[slice * elements + i];
    }
    float value = alpha * sum;
    if (beta != 0.0f) {
        value += beta * C[i];
    }
#ifdef BIAS
    value += bias[i % N];
#endif
    value = activation(value);
#ifdef RESIDUAL
    value += residual[i];
#endif
    C[i] = value;
}
