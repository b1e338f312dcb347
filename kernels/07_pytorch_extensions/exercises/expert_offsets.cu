// Where the rows of each expert begin: offsets[e] = how many of the n assignments in `chosen` go to
// experts 0 to e - 1, for e from 0 to `experts`. experts is from 1 to 256, n any number from 1 on.
// One block.
// grid (1), block (256), dynamic shared 0

#include "scan.cuh" // warp_scan, kWarpSize and kWholeWarp

extern "C" __global__ void expert_offsets(const int *chosen, int *offsets, int n, int experts)
{
    __shared__ int count[256], of_warp[8];
    int expert = threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    // TODO: count the assignments of each expert in shared memory, then scan the counts
    // SOLUTION
    count[expert] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd(&count[chosen[i]], 1);
    }
    __syncthreads();
    int end = warp_scan(count[expert]);
    if (lane == 31) {
        of_warp[warp] = end;
    }
    __syncthreads();
    for (int before = 0; before < warp; ++before) {
        end += of_warp[before];
    }
    if (expert < experts) {
        offsets[expert + 1] = end;
    }
    if (expert == 0) {
        offsets[0] = 0;
    }
    // END
}
