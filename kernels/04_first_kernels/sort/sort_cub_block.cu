// Sorts each tile of 2048 unsigned keys, with a value for each key, by CUB's BlockRadixSort; keys
// and values of n elements, n a multiple of 2048. largest[b] is the tile's largest key, by
// WarpReduce.
// grid (n / 2048), block (256), dynamic shared 0

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>

constexpr int kThreads = 256;
constexpr int kItems = 8;

struct Larger {
    __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return a > b ? a : b;
    }
};

extern "C" __global__ void sort_cub_block(const unsigned *keys, const unsigned *values,
                                          unsigned *sorted, unsigned *sorted_values,
                                          unsigned *largest)
{
    using Sort = cub::BlockRadixSort<unsigned, kThreads, kItems, unsigned>;
    using Reduce = cub::WarpReduce<unsigned>;
    __shared__ typename Sort::TempStorage room;
    __shared__ typename Reduce::TempStorage room_of_warp;
    const int first = blockIdx.x * kThreads * kItems;
    unsigned key[kItems], value[kItems];
    cub::LoadDirectBlocked(threadIdx.x, keys + first, key);
    cub::LoadDirectBlocked(threadIdx.x, values + first, value);
    Sort(room).SortBlockedToStriped(key, value);
    cub::StoreDirectStriped<kThreads>(threadIdx.x, sorted + first, key);
    cub::StoreDirectStriped<kThreads>(threadIdx.x, sorted_values + first, value);
    if (threadIdx.x >= kThreads - 32) { // the last warp: of each row of 256 it has the last 32
        const unsigned most = Reduce(room_of_warp).Reduce(key[kItems - 1], Larger{});
        if (threadIdx.x == kThreads - 32) {
            largest[blockIdx.x] = most;
        }
    }
}
