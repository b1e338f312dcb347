// The running sums of each tile of 8192 elements of n fp32, and the tile's own sum in sums[b]; x
// and out begin at a multiple of 16 bytes.
// Adds to scan_warps: sixteen elements a thread, in four loads of 16 bytes that are in flight
// together; 32 times fewer sums are left for the next launch.
// Limit: memory bandwidth, and that all of `out` is read and written once more to add what stands
// before each tile.
// grid (ceil(n / 8192)), block (512), dynamic shared 0

#include "scan_tile.cuh"

extern "C" __global__ void __launch_bounds__(kThreads, BLOCKS)
    scan_tiles(const float *x, float *out, float *sums, size_t n)
{
    __shared__ float offset_of_warp[kWarps];
    const int lane = threadIdx.x % kWarpSize;
    const int warp = threadIdx.x / kWarpSize;
    const size_t first = first_of_thread(blockIdx.x);
    float4 group[kGroups];
    load_groups(group, x, first, n);
    const float sum = scan_groups(group);
    if (lane == 0) {
        offset_of_warp[warp] = sum;
    }
    __syncthreads(); // every warp's sum is there
    if (warp == 0) {
        const float upto = warp_scan(lane < kWarps ? offset_of_warp[lane] : 0.0f);
        const float before = lane_before(upto);
        if (lane < kWarps) {
            offset_of_warp[lane] = before;
        }
        if (lane == kWarps - 1) {
            sums[blockIdx.x] = upto;
        }
    }
    __syncthreads(); // every warp's offset is there
    store_groups(out, first, n, group, offset_of_warp[warp]);
}
