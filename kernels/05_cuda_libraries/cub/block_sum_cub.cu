// sums[b] is the sum of the tile of 1024 floats of block b, of n. By cub::BlockReduce, whose
// algorithm is a template parameter: -DALGORITHM=cub::BLOCK_REDUCE_WARP_REDUCTIONS is its default.
// grid ceil(n / 1024), block 256, dynamic shared 0

#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>

#ifndef HOW
#define HOW cub::BLOCK_REDUCE_WARP_REDUCTIONS
#endif

constexpr int kThreads = 256;
constexpr int kItems = 4; // of each thread

extern "C" __global__ void block_sum_cub(const float *x, float *sums, int n)
{
    using Load = cub::BlockLoad<float, kThreads, kItems, cub::BLOCK_LOAD_STRIPED>;
    using Reduce = cub::BlockReduce<float, kThreads, HOW>;
    __shared__ typename Reduce::TempStorage room;
    const int first = blockIdx.x * kThreads * kItems;
    float item[kItems];
    Load().Load(x + first, item, n - first, 0.0f); // zeros beyond the end
    const float sum = Reduce(room).Sum(item);      // thread 0 has it, and no other
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}
