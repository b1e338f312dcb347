// y[i] = c[0] + c[1] x + c[2] x^2 + ... + c[5] x^5 at x = x[i], for n floats.
// grid ceil(n / 256) or more, block 256, dynamic shared 0

// The value of a polynomial of degree kDegree at x; c has kDegree + 1 coefficients.
template <int kDegree>
__device__ float horner(const float *c, float x)
{
    // TODO: where the degree is 0, the value is c[0]; otherwise it is c[0] + x times the value of a
    // polynomial whose degree is one less. Decide while compiling: if constexpr
    // SOLUTION
    if constexpr (kDegree == 0) {
        return c[0];
    } else {
        return c[0] + x * horner<kDegree - 1>(c + 1, x);
    }
    // END
}

extern "C" __global__ void degree_five(const float *c, const float *x, float *y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = horner<5>(c, x[i]);
}
