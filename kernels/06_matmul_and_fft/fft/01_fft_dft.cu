// The discrete Fourier transform of batch rows of n complex points: out[k] is the sum over j of
// in[j] exp(-2 pi i j k / n). Any n below 2^24.
// The definition, with a thread for each result: n products for each of n results.
// Limit: arithmetic, 8 n^2 FLOPs and as many sines and cosines as products.
// grid (batch, ceil(n / 256)), block (256), dynamic shared 0

#include "fft.cuh"

extern "C" __global__ void fft_dft(const float2 *in, float2 *out, int n)
{
    const float2 *row = in + (size_t)blockIdx.x * n;
    int k = blockIdx.y * blockDim.x + threadIdx.x;
    if (k >= n) {
        return;
    }
    float2 sum = make_float2(0.0f, 0.0f);
    int turns = 0; // j k modulo n: whole turns do not matter, and small angles are exact
    for (int j = 0; j < n; ++j) {
        float2 w;
        sincospif(-2.0f * turns / n, &w.y, &w.x);
        sum = sum + row[j] * w;
        turns += k;
        if (turns >= n) {
            turns -= n;
        }
    }
    out[(size_t)blockIdx.x * n + k] = sum;
}
