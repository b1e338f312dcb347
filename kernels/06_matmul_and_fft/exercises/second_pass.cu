// C = f(alpha P + beta C + bias) for row-major fp32 matrices of M x N, where f divides by 8 what is
// negative. P is the sum of `slices` such matrices, one after the other in `sums`; `bias` has N
// numbers, one for each column of C.
// grid (ceil(M * N / 256)), block 256, dynamic shared 0

extern "C" __global__ void second_pass(const float* sums, float* C, const float* bias, float alpha,
                                       float beta, int slices, int M, int N)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: element i of C: add up its partial sums in the order of the slices, scale by alpha, add
    //       beta C and the bias of its column; divide by 8 what is negative.
    //       Where beta is 0, C may hold anything, NaN too, and is not read.
    // SOLUTION
    const int elements = M * N;
    if (i >= elements) return;
    float sum = 0.0f;
    for (int slice = 0; slice < slices; ++slice) {
        sum += sums[(size_t)slice * elements + i];
    }
    float value = alpha * sum + bias[i % N];
    if (beta != 0.0f) value += beta * C[i];
    C[i] = value < 0.0f ? value / 8 : value;
    // END
}
