// y[i] = x[i]² + x[i] + 1, for n4 groups of four floats; x and y begin at multiples of 16 bytes.
// Adds to polynomial.cu: each access moves 16 bytes, so a quarter of the threads and instructions
// move the same bytes. DRAM bandwidth is its bound; its time is not measured yet.
// grid (ceil(n4 / 256)), block (256), dynamic shared 0
__device__ float polynomial_of(float x)
{
    return (x + 1.0f) * x + 1.0f;
}

extern "C" __global__ void polynomial_vector(const float4* x, float4* y, int n4)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n4) return;
    const float4 at = x[i];
    y[i] = make_float4(
        polynomial_of(at.x), polynomial_of(at.y), polynomial_of(at.z), polynomial_of(at.w));
}
