// y = x with each group of 16 floats divided by the largest magnitude in it, for n floats; a group of
// zeros stays as it is. The last group may be short.
// grid (ceil(n / 128)), block (128), dynamic shared 0

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

extern "C" __global__ void scale_tiles(const float* x, float* y, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    // TODO: a tile of 16 lanes for each group. Its lanes find their largest magnitude by the tile's own
    // shuffles, each lane has it in the end, and stores its element
    // SOLUTION
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const float value = i < n ? x[i] : 0.0f;
    float largest = fabsf(value);
    for (int distance = tile.size() / 2; distance > 0; distance /= 2) {
        largest = fmaxf(largest, tile.shfl_xor(largest, distance));
    }
    if (i < n) {
        y[i] = largest > 0.0f ? value / largest : value;
    }
    // END
}
