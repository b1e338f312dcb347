// Where the elements of a tile are: out[0] to out[n - 1] is the place of each element in memory, four
// for each of the block's threads in turn, as BlockLoad gives them; the same again
// after BlockExchange has made a striped arrangement of a blocked one. n is 4 times the block.
// grid 1, block THREADS, dynamic shared 0

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>

#ifndef THREADS
#define THREADS 32
#endif
constexpr int kItems = 4; // of each thread

extern "C" __global__ void arrangements(const int *places, int *blocked, int *striped)
{
    using Load = cub::BlockLoad<int, THREADS, kItems, cub::BLOCK_LOAD_DIRECT>;
    using Exchange = cub::BlockExchange<int, THREADS, kItems>;
    __shared__ typename Exchange::TempStorage room;
    int item[kItems];
    Load().Load(places, item);
    for (int j = 0; j < kItems; ++j) {
        blocked[kItems * threadIdx.x + j] = item[j];
    }
    Exchange(room).BlockedToStriped(item, item);
    for (int j = 0; j < kItems; ++j) {
        striped[kItems * threadIdx.x + j] = item[j];
    }
}
