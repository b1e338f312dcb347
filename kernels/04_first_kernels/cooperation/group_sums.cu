// sums[g] = the sum of the kGroup floats of group g, for n floats; the last group may be short.
// The idea: cooperative groups. A warp is cut into tiles of kGroup lanes, known when the kernel is
// compiled, and a tile has its own shuffles, ranks and barrier.
// Limit: memory bandwidth. kGroup is 2, 4, 8, 16 or 32 (-DGROUP).
// grid (ceil(n / block)), block (a multiple of 32), dynamic shared 0

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

#ifndef GROUP
#define GROUP 8
#endif
constexpr int kGroup = GROUP;

extern "C" __global__ void group_sums(const float *x, float *sums, int n)
{
    const auto tile = cg::tiled_partition<kGroup>(cg::this_thread_block());
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? x[i] : 0.0f;
    for (int distance = tile.size() / 2; distance > 0; distance /= 2) {
        sum += tile.shfl_down(sum, distance); // all lanes of the tile take part
    }
    if (tile.thread_rank() == 0 && i < n) {
        sums[i / kGroup] = sum;
    }
}
