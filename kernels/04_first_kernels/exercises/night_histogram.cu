// counts[b] is how many of n bytes have the value b, for b = 0 to 255. The counts are zero before the
// launch, n is any number, and `bytes` begins at a multiple of 256. The kernel is called
// night_histogram, is extern "C", and has the parameters const unsigned char *bytes, int *counts, int n.
// grid (1), or any other, block 256, dynamic shared 0

// TODO: the whole kernel
// SOLUTION
constexpr int kBins = 256;
constexpr unsigned kAll = 0xffffffff;

// The lanes of `active` each bring a byte. One lane for each different byte adds how many have it.
__device__ void add(int *counts, unsigned active, int byte)
{
    const unsigned same = __match_any_sync(active, byte);
    if (threadIdx.x % 32 == __ffs(same) - 1) {
        atomicAdd(&counts[byte], __popc(same));
    }
}

extern "C" __global__ void night_histogram(const unsigned char *bytes, int *counts, int n)
{
    __shared__ int mine[kBins];
    mine[threadIdx.x] = 0;
    __syncthreads();

    const int lane = threadIdx.x % 32;
    const int stride = gridDim.x * blockDim.x;
    const int fours = n / 4;
    const uchar4 *four = reinterpret_cast<const uchar4 *>(bytes);
    const int warp_first = blockIdx.x * blockDim.x + threadIdx.x - lane;
    for (int first = warp_first; first < fours; first += stride) { // the lanes of a warp stay together
        const bool mine_too = first + lane < fours;
        const unsigned active = __ballot_sync(kAll, mine_too);
        if (mine_too) {
            const uchar4 next = four[first + lane];
            add(mine, active, next.x);
            add(mine, active, next.y);
            add(mine, active, next.z);
            add(mine, active, next.w);
        }
    }
    const int left = 4 * fours + warp_first + lane; // fewer than four bytes are left
    if (left < n) {
        atomicAdd(&mine[bytes[left]], 1);
    }
    __syncthreads();

    if (mine[threadIdx.x] != 0) {
        atomicAdd(&counts[threadIdx.x], mine[threadIdx.x]);
    }
}
// END
