// y[i] = the mean of x[i - 1], x[i] and x[i + 1], for n floats. At either end the element itself
// takes the place of the neighbour that is not there. Takes any n.
// grid ceil(n / 256), block 256, dynamic shared 0

extern "C" __global__ void smooth(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        // BUG
        //| const float left = i > 0 ? x[i - 1] : x[0];
        //| const float right = i < n ? x[i + 1] : x[n - 1];
        // SOLUTION
        const float left = i > 0 ? x[i - 1] : x[0];
        const float right = i < n - 1 ? x[i + 1] : x[n - 1];
        // END
        y[i] = (left + x[i] + right) / 3.0f;
    }
}
