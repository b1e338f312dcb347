// y[i] = a * x[i] + y[i] for n floats, in place. Takes any n.
// The name is BLAS's: single precision, a times x plus y.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

extern "C" __global__ void saxpy(float a, const float* x, float* y, int n)
{
    // TODO: find the element this thread owns, from blockIdx.x, blockDim.x and threadIdx.x
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // END

    // TODO: update y, but only where this thread's element exists
    // SOLUTION
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
    // END
}
