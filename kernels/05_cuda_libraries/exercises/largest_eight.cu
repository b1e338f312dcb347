// The eight largest keys of each tile of 256, largest first: keys[8 b] to keys[8 b + 7] of block b,
// and in places[] where in the tile each of them stood; of equal keys the one further to the left
// comes first. n is a multiple of 256.
// grid n / 256, block 64, dynamic shared 0

#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>

constexpr int kThreads = 64;
constexpr int kItems = 4; // of each thread
constexpr int kKept = 8;

extern "C" __global__ void largest_eight(const unsigned short *x, unsigned short *keys, int *places)
{
    using Sort = cub::BlockRadixSort<unsigned short, kThreads, kItems, int>;
    __shared__ typename Sort::TempStorage room;
    const int first = blockIdx.x * kThreads * kItems;
    unsigned short key[kItems];
    int place[kItems];
    // TODO: load four keys in a row for each thread, note their places, sort both, descending, and
    // store what the first threads then hold
    // SOLUTION
    cub::LoadDirectBlocked(threadIdx.x, x + first, key);
    for (int j = 0; j < kItems; ++j) {
        place[j] = kItems * threadIdx.x + j;
    }
    Sort(room).SortDescending(key, place);
    for (int j = 0; j < kItems; ++j) {
        const int rank = kItems * threadIdx.x + j;
        if (rank < kKept) {
            keys[kKept * blockIdx.x + rank] = key[j];
            places[kKept * blockIdx.x + rank] = place[j];
        }
    }
    // END
}
