// c = a + b for n floats, distributed as in Triton with BLOCK = 1024 and num_warps = 4: a thread
// adds two groups of four neighbours. n is a multiple of 4.
// grid (ceil(n / 1024)), block (128), dynamic shared 0

constexpr int kBlock = 1024;
constexpr int kThreads = 128;

extern "C" __global__ void vec_add_dealt(const float4* a, const float4* b, float4* c, int n)
{
    for (int first = 0; first < kBlock; first += 4 * kThreads) {
        const int i = blockIdx.x * kBlock + first + 4 * threadIdx.x;
        if (i < n) {
            const float4 x = a[i / 4];
            const float4 y = b[i / 4];
            c[i / 4] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
        }
    }
}
