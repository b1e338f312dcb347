// y[i] = x[i] g[0] + x[i + 1] g[1] + x[i + 2] g[2] for i from 0 to n - 1; x has n + 2 numbers, and
// n is a multiple of 2. u is the filter, transformed already: g[0], (g[0] + g[1] + g[2]) / 2,
// (g[0] - g[1] + g[2]) / 2 and g[2]. A thread computes two neighbours with four multiplications,
// where they seem to need six.
// grid (ceil(n / 2 / 128)), block 128, dynamic shared 0

extern "C" __global__ void winograd_line(const float *x, const float *u, float *y, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (i >= n) {
        return;
    }
    // TODO: make four sums or differences of x[i] to x[i + 3], multiply each by its u, and make
    //       y[i] and y[i + 1] of the four products
    // SOLUTION
    float m0 = (x[i] - x[i + 2]) * u[0];
    float m1 = (x[i + 1] + x[i + 2]) * u[1];
    float m2 = (x[i + 2] - x[i + 1]) * u[2];
    float m3 = (x[i + 1] - x[i + 3]) * u[3];
    y[i] = m0 + m1 + m2;
    y[i + 1] = m1 - m2 - m3;
    // END
}
