// One stage of Stockham's transform on each row of n complex numbers: transforms of `done` points
// become transforms of 2 done. Both are powers of two, and n is a multiple of 2 done.
// grid (rows, ceil(n / 512)), block 256, dynamic shared 0

__device__ float2 times(float2 a, float2 b)
{
    return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// exp(-2 pi i k / n)
__device__ float2 root(int k, int n)
{
    float2 w;
    sincospif(k * (-2.0f / n), &w.y, &w.x);
    return w;
}

extern "C" __global__ void butterflies(const float2* x, float2* y, int n, int done)
{
    x += (size_t)blockIdx.x * n;
    y += (size_t)blockIdx.x * n;
    const int j = blockIdx.y * blockDim.x + threadIdx.x;
    if (j >= n / 2) return;
    // TODO: butterfly j takes x[j] and x[j + n / 2], frequency k = j % done of two transforms of
    //       `done` points. Multiply the second by root(k, 2 * done); the sum is frequency k of the
    //       new transform, the difference frequency k + done. Transform number j / done has 2 done
    //       elements of y, one after the other.
    // SOLUTION
    const int k = j % done;
    const float2 a = x[j];
    const float2 b = times(x[j + n / 2], root(k, 2 * done));
    const int first = j / done * 2 * done + k;
    y[first] = make_float2(a.x + b.x, a.y + b.y);
    y[first + done] = make_float2(a.x - b.x, a.y - b.y);
    // END
}
