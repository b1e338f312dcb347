// A histogram of bytes for each warp, in shared memory; then of the block, then of the grid.
#define BINS 64
#define WARPS 4

extern "C" __global__ void histogram64(const uchar4 *data, unsigned int *hist, int n4)
{
    __shared__ unsigned int s_hist[WARPS * BINS];
    for (int i = threadIdx.x; i < WARPS * BINS; i += blockDim.x) s_hist[i] = 0;
    __syncthreads();

    unsigned int *mine = s_hist + (threadIdx.x >> 5) * BINS;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
        const uchar4 v = __ldg(data + i);
        atomicAdd(mine + (v.x >> 2), 1u);
        atomicAdd(mine + (v.y >> 2), 1u);
        atomicAdd(mine + (v.z >> 2), 1u);
        atomicAdd(mine + (v.w >> 2), 1u);
    }
    __syncthreads();
    for (int bin = threadIdx.x; bin < BINS; bin += blockDim.x) {
        unsigned int sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += s_hist[w * BINS + bin];
        if (sum) atomicAdd(hist + bin, sum);
    }
}
