// y = tanh(x), in fp32. Takes any n below 2^31 (indices are int).
// Limit: memory bandwidth, or at small sizes the launch.
// grid (ceil(n / 256)), block 256, dynamic shared 0

extern "C" __global__ void tensor_tanh(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = tanhf(x[i]);
    }
}
