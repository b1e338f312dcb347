// whole is the spectrum of rows of n real numbers, n complex numbers a row; half is what a real
// transform stores of it, the first n / 2 + 1 of each row. Real parts first. Any n from 1
// to 8,388,480, which is 65,535 blocks along y.
// grid (rows, ceil(n / 128)), block 128, dynamic shared 0

extern "C" __global__ void whole_spectrum(const float2 *half, float2 *whole, int n)
{
    const int k = blockIdx.y * blockDim.x + threadIdx.x;
    const int stored = n / 2 + 1;
    const float2 *from = half + (size_t)blockIdx.x * stored;
    float2 *to = whole + (size_t)blockIdx.x * n;
    // TODO: store to[k] where frequency k exists: as it is stored, or made of the one that mirrors it
    // SOLUTION
    if (k < n) {
        const float2 mirrored = from[k < stored ? k : n - k];
        to[k] = make_float2(mirrored.x, k < stored ? mirrored.y : -mirrored.y);
    }
    // END
}
