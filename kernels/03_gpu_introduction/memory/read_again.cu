// Reads `x` of `vectors` float4 again and again, `passes` times in all, and adds everything up.
// The idea: many loads in flight, nothing else to do: the bytes read in a second are the bandwidth
// of whatever memory holds x. PRIVATE 1 gives each block its own piece, which the L1 caches serve
// when it is small. PRIVATE 0 lets all blocks sweep all of x and keeps L1 out of it.
// Limit: bandwidth, on purpose.
// grid (any), block (any), dynamic shared 0

#ifndef PRIVATE
#define PRIVATE 0
#endif

extern "C" __global__ void read_again(const float4 *x, int vectors, int passes, float *sums)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    int piece = PRIVATE ? vectors / gridDim.x : vectors;
    const float4 *mine = PRIVATE ? x + blockIdx.x * piece : x;
    int first = PRIVATE ? threadIdx.x : thread;
    int stride = PRIVATE ? blockDim.x : gridDim.x * blockDim.x;
    float4 sum = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int pass = 0; pass < passes; ++pass) {
#pragma unroll 8
        for (int i = first; i < piece; i += stride) {
            float4 v = PRIVATE ? mine[i] : __ldcg(&mine[i]); // cg: cached in L2 only
            sum.x += v.x;
            sum.y += v.y;
            sum.z += v.z;
            sum.w += v.w;
        }
    }
    sums[thread] = sum.x + sum.y + sum.z + sum.w;
}
