// y[i] is result number i + first of the whole convolution of x (n numbers) with h (taps numbers),
// for i < count: the sum of h[j] x[i + first - j] over all j for which both exist. Any sizes from 1
// on, more taps than numbers too; results beyond the last one, n + taps - 2, are zeros.
// grid ceil(count / 128), block 128, dynamic shared 0

extern "C" __global__ void convolution_part(const float *x, const float *h, float *y, int n,
                                            int taps, int first, int count)
{
    // TODO: all of it
    // SOLUTION
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    float sum = 0.0f;
    for (int j = 0; j < taps; ++j) {
        const int from = i + first - j;
        if (from >= 0 && from < n) {
            sum += h[j] * x[from];
        }
    }
    y[i] = sum;
    // END
}
