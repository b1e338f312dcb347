// y = x where x is positive, else 0, in fp32; NaN stays NaN. Takes any n below 2^31 (indices are
// int).
// Limit: memory bandwidth, or at small sizes the launch.
// grid (ceil(n / 256)), block 256, dynamic shared 0

extern "C" __global__ void tensor_relu(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[i] <= 0.0f ? 0.0f : x[i];
    }
}
