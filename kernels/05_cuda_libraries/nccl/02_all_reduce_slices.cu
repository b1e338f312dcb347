// buffers[r][i] = the sum over all ranks s of buffers[s][i], for n floats, in place on each rank r.
// The idea, beside all_reduce_push: a rank adds up one slice of 1 / ranks and stores the sums into
// every buffer: a reduce-scatter by loads from peers, then an all-gather by stores to them. Each
// element is one thread's alone, on all GPUs, so no box is needed. Four floats at a time.
// flags, turns and first_rank as in all_reduce_push.
// Limit: 2 (ranks - 1) / ranks * n floats come in over the link, as with a ring, in two steps
// instead of 2 (ranks - 1). Takes n divisible by 4; the grid must be resident at once.
// grid (any, 1 or ranks), block (any >= ranks), dynamic shared 0

#include "peers.cuh"

constexpr int kAtOnce = 4; // loads of a thread in flight, of each rank

extern "C" __global__ void all_reduce_slices(float4 *const *buffers, unsigned *const *flags,
                                             unsigned *const *turns, int first_rank, int ranks,
                                             int n)
{
    const int rank = first_rank + blockIdx.y;
    const unsigned turn = turns[rank][blockIdx.x];
    const int vectors = n / 4, slice = (vectors + ranks - 1) / ranks;
    const int end = min((rank + 1) * slice, vectors), stride = gridDim.x * blockDim.x;

    meet_ranks(flags, rank, ranks, turn + 1); // all buffers are there
    for (int i = rank * slice + blockIdx.x * blockDim.x + threadIdx.x; i < end;
         i += kAtOnce * stride) {
        float4 sums[kAtOnce] = {};
        for (int other = 0; other < ranks; ++other) {
            const float4 *const buffer = buffers[other];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                if (i + k * stride < end) {
                    const float4 x = buffer[i + k * stride];
                    sums[k].x += x.x;
                    sums[k].y += x.y;
                    sums[k].z += x.z;
                    sums[k].w += x.w;
                }
            }
        }
        for (int other = 0; other < ranks; ++other) {
            float4 *const buffer = buffers[other];
#pragma unroll
            for (int k = 0; k < kAtOnce; ++k) {
                if (i + k * stride < end) {
                    buffer[i + k * stride] = sums[k];
                }
            }
        }
    }
    meet_ranks(flags, rank, ranks, turn + 2); // all slices have arrived
    if (threadIdx.x == 0) {
        turns[rank][blockIdx.x] = turn + 2;
    }
}
