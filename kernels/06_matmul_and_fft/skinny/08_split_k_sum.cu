// C = the sum of the `slices` of sgemm_split_k_wide.cu, M x N floats each, N a multiple of 4.
// Adds to split_k_finish loads in flight: eight warps share the slices of 128 elements, 16 bytes a
// lane, and add up their eight sums in shared memory, always in one order.
// Limit: the L2 cache's bandwidth, and the launch.
// grid (ceil(M * N / 128)), block (256), dynamic shared 0

__device__ inline float4 added(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

extern "C" __global__ void split_k_sum(const float4 *sums, float4 *C, int slices, int M, int N)
{
    __shared__ float4 parts[8][32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int fours = (int)((long long)M * N / 4), i = blockIdx.x * 32 + lane;
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory"); // until the slices are complete
#endif
    float4 sum = {};
    if (i < fours) {
#pragma unroll 8
        for (int slice = warp; slice < slices; slice += 8) {
            sum = added(sum, sums[(size_t)slice * fours + i]);
        }
    }
    parts[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && i < fours) {
#pragma unroll
        for (int w = 1; w < 8; ++w) {
            sum = added(sum, parts[w][lane]);
        }
        C[i] = sum;
    }
}
