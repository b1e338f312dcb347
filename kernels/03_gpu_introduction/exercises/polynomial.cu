// y[i] = c[0] + c[1] x + c[2] x^2 + ... + c[8] x^8 at x = x[i], by Horner's rule.
// grid (blocks), block (32), dynamic shared 0

constexpr int kDegree = 8;

extern "C" __global__ void polynomial(const float *x, const float *c, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float value = x[i];
    float sum = c[kDegree];
    for (int k = kDegree - 1; k >= 0; --k) {
        sum = sum * value + c[k];
    }
    y[i] = sum;
}
