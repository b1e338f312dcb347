// Vector addition: c[i] = a[i] + b[i] for n4 groups of four fp32 elements. The arrays begin at
// multiples of 16 bytes.
// Adds to vec_add.cu: each access moves 16 bytes, so a thread has 32 bytes in flight instead of 8,
// and a quarter of the threads, blocks and instructions move the same bytes.
// Limit: memory bandwidth.
// grid (ceil(n4 / 256)), block (256), dynamic shared 0

extern "C" __global__ void vec_add_vector(const float4 *a, const float4 *b, float4 *c, int n4)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n4) {
        float4 x = a[i];
        float4 y = b[i];
        c[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
}
