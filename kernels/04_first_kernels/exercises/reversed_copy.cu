// Parameters: const float* x, float* y, int n. y[i] = x[n - 1 - i] for n floats. Takes any n.
// One thread copies one element.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

// TODO: write the kernel reversed_copy from its first line
// SOLUTION
extern "C" __global__ void reversed_copy(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = x[n - 1 - i];
    }
}
// END
