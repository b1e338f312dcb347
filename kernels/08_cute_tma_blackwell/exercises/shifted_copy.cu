// y[i] = x[i + shift] for n floats; x has n + shift of them, shift is at least 0. Both arrays begin at
// multiples of 16 bytes.
// grid (ceil(n / 1024)), block (256), dynamic shared 0
extern "C" __global__ void shifted_copy(const float* x, float* y, int shift, int n)
{
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    // TODO: move the elements first, first + 1, first + 2 and first + 3 that exist; where all do,
    // by one store of 16 bytes
    // SOLUTION
    const float* from = x + shift + first;
    if (first + 3 < n) {
        *reinterpret_cast<float4*>(&y[first]) = make_float4(from[0], from[1], from[2], from[3]);
    } else {
        for (int k = 0; first + k < n; ++k) y[first + k] = from[k];
    }
    // END
}
