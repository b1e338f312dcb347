// y[i] = 2 * x[i] for n floats. Each thread owns one element.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

extern "C" __global__ void double_it(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;  // this thread's element
    if (i < n) {
        // TODO: store two times x[i] in y[i]
        // SOLUTION
        y[i] = 2.0f * x[i];
        // END
    }
}
