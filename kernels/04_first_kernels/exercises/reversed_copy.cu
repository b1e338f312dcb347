// y[i] = x[n - 1 - i] for n floats: a copy in reverse order. Takes any n.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

extern "C" __global__ void reversed_copy(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: copy one element of x to its index in y, counted from the other end
    // SOLUTION
    if (i < n) {
        y[i] = x[n - 1 - i];
    }
    // END
}
