// One of log2(n) stages of the transform of n complex points, batch rows; n a power of
// two, 2 or more.
// Adds to fft_dft: divide and conquer, without recursion (Stockham). Transforms of `done` points
// become transforms of 2 done; each pair of results is one sum, one difference and one factor.
// The order of the results is natural after the last stage, with no bit reversal.
// Limit: memory. Every stage reads and writes all points.
// grid (batch, ceil(n / 512)), block (256), dynamic shared 0

#include "fft.cuh"

extern "C" __global__ void fft_radix2(const float2 *in, float2 *out, int n, int done)
{
    in += (size_t)blockIdx.x * n;
    out += (size_t)blockIdx.x * n;
    int j = blockIdx.y * blockDim.x + threadIdx.x; // the butterfly
    if (j >= n / 2) {
        return;
    }
    int k = j & (done - 1); // j modulo done: the frequency, in both transforms that meet here
    int first = (j - k) * 2 + k;
    float2 a = in[j];
    float2 b = in[j + n / 2] * root(k, 2 * done);
    out[first] = a + b;
    out[first + done] = a - b;
}
