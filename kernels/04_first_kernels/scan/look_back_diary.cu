// What each tile of 32 floats sees when it looks back: upto[t] is the sum of all elements up to its
// last one, prefix_of[t] the tile whose prefix it took (-1: there is none before), and looks[t] how
// often it read the words of others. n is a multiple of 32; `words` as for scan_look_back. Tile t
// begins `stagger * t` naps late, so that tiles run apart where all blocks would go in step.
// The idea: the look-back of scan_look_back alone, one warp a tile, with a diary.
// grid (n / 32), block (32), dynamic shared 0

#include "look_back.cuh"

extern "C" __global__ void look_back_diary(const float *x, float *upto, int *prefix_of, int *looks,
                                           TileWord *words, unsigned stagger)
{
    const int lane = threadIdx.x;
    unsigned tile = 0;
    if (lane == 0) {
        tile = atomicAdd(words + gridDim.x, 1);
    }
    tile = __shfl_sync(kWholeWarp, tile, 0);
    for (unsigned nap = 0; nap < stagger * tile; ++nap) {
        __nanosleep(20);
    }
    const float sum = warp_scan(x[tile * kWarpSize + lane]);
    const float aggregate = __shfl_sync(kWholeWarp, sum, kWarpSize - 1);
    if (lane == 0 && tile > 0) {
        publish(words + tile, kAggregate, aggregate);
    }
    const LookedBack<float> found = look_back<float>(words, tile);
    if (lane == 0) {
        publish(words + tile, kPrefix, found.before + aggregate);
        upto[tile] = found.before + aggregate;
        prefix_of[tile] = found.prefix_of;
        looks[tile] = found.looks;
    }
}
