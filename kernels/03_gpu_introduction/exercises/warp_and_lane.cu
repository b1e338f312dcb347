// Every thread stores three numbers: its warp within its block, its lane within its warp, and a
// number for its warp that no other warp of the whole grid has: 0, 1, 2, ... without gaps.
// The last warp of a block may be partly filled.
// grid any, block 80, dynamic shared 0

extern "C" __global__ void warp_and_lane(int *warp, int *lane, int *warp_of_grid)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int warps_per_block = (blockDim.x + 31) / 32;
    // TODO: store this thread's three numbers at index i
    // SOLUTION
    warp[i] = threadIdx.x / 32;
    lane[i] = threadIdx.x % 32;
    warp_of_grid[i] = blockIdx.x * warps_per_block + threadIdx.x / 32;
    // END
}
