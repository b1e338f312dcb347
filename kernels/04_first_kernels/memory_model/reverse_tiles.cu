// y = x with each tile of 256 floats reversed, for n floats, a multiple of 256. A block takes tile
// after tile; while it stores one, the next is under way by cp.async.
// The idea: a copy in flight has no thread that waits for it. The wait comes before the barrier: a
// thread waits for its own copies, the barrier tells the others.
// Limit: memory bandwidth. n is a multiple of 256.
// grid (any), block (256), dynamic shared 0

#include "ptx.cuh"

constexpr int kTile = 256;

extern "C" __global__ void reverse_tiles(const float *x, float *y, int n)
{
    __shared__ float tile[2][kTile];
    const int t = threadIdx.x, tiles = n / kTile;
    const auto fetch = [&](int number, int stage) {
        if (number < tiles) cp_async_4(shared_address(&tile[stage][t]), x + number * kTile + t);
        cp_async_commit(); // beyond the last tile an empty group
    };
    int stage = 0;
    fetch(blockIdx.x, stage);
    for (int number = blockIdx.x; number < tiles; number += gridDim.x) {
        fetch(number + gridDim.x, stage ^ 1);
        cp_async_wait<1>(); // this tile has landed, the next may be in flight
        __syncthreads();    // for all threads
        y[number * kTile + t] = tile[stage][kTile - 1 - t];
        __syncthreads(); // the tile has been read
        stage ^= 1;
    }
}
