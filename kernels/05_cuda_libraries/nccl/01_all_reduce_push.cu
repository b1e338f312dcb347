// outputs[r][i] = the sum over all ranks s of inputs[s][i], for n floats, on every rank r.
// The idea: memory of another GPU has an address. Each rank stores its input into a box of each
// other rank, meets them, adds up its own boxes in the order of the ranks, and meets them again.
// boxes[r] is memory of rank r, n floats for each rank; flags and turns as in peers.cuh. A GPU runs
// one rank, whose number is first_rank; blockIdx.y counts the ranks where one GPU runs all.
// Limit: (ranks - 1) * n floats leave each GPU. Takes any n; the grid must be resident at once.
// grid (any, 1 or ranks), block (any >= ranks), dynamic shared 0

#include "peers.cuh"

extern "C" __global__ void all_reduce_push(const float *const *inputs, float *const *outputs,
                                           float *const *boxes, unsigned *const *flags,
                                           unsigned *const *turns, int first_rank, int ranks, int n)
{
    const int rank = first_rank + blockIdx.y;
    const int first = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
    const unsigned turn = turns[rank][blockIdx.x];
    const float *const input = inputs[rank];
    const float *const box = boxes[rank];

    for (int step = 1; step < ranks; ++step) {
        float *const theirs = boxes[(rank + step) % ranks] + static_cast<size_t>(rank) * n;
        for (int i = first; i < n; i += stride) {
            theirs[i] = input[i]; // over the link
        }
    }
    meet_ranks(flags, rank, ranks, turn + 1); // my boxes are full
    for (int i = first; i < n; i += stride) {
        float sum = 0.0f;
        for (int other = 0; other < ranks; ++other) {
            sum += other == rank ? input[i] : box[static_cast<size_t>(other) * n + i];
        }
        outputs[rank][i] = sum;
    }
    meet_ranks(flags, rank, ranks, turn + 2); // and may be filled again
    if (threadIdx.x == 0) {
        turns[rank][blockIdx.x] = turn + 2;
    }
}
