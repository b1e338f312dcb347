// dx[i] = dy[i] p'(x[i]) for n floats, where p(x) = c[0] + c[1] x + ... + c[count - 1] x^(count - 1)
// and p' is its derivative.
// grid (ceil(n / 256)), block (256), dynamic shared 0
extern "C" __global__ void polynomial_slope(const float* x, const float* c, const float* dy,
                                            float* dx, int count, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: the slope at x[i] by Horner's rule, from the last coefficient on; then the chain rule
    // SOLUTION
    if (i >= n) return;
    float slope = 0.0f;
    for (int k = count - 1; k >= 1; --k) slope = slope * x[i] + k * c[k];
    dx[i] = dy[i] * slope;
    // END
}
