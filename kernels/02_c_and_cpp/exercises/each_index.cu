// y[i] = x[i] where x[i] > 0, otherwise slope * x[i], for n floats and any grid.
// The loop is a function template that takes the body as a lambda, and calls body(i) once for each
// i below n, shared out over all threads of the grid.
// grid any, block any, dynamic shared 0

template <typename Body>
__device__ void each_index(int n, Body body)
{
    // TODO: write it
    // SOLUTION
    const int threads = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        body(i);
    }
    // END
}

extern "C" __global__ void leaky_relu(const float *x, float *y, float slope, int n)
{
    each_index(n, [=](int i) { y[i] = x[i] > 0.0f ? x[i] : slope * x[i]; });
}
