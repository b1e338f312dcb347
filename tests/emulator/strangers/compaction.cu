// The elements that a predicate keeps, in order: ballots, and a chain of blocks that hand on counts.
#include <utility>

struct IsPositive {
    __device__ bool operator()(float v) const { return v > 0.f; }
};

template <int BLOCK, class Predicate>
__device__ void compact(const float *in, float *out, int n, volatile int *chain, int *ticket, Predicate keep)
{
    __shared__ int tile, offsets[BLOCK / 32 + 1];
    if (threadIdx.x == 0) tile = atomicAdd(ticket, 1);
    __syncthreads();
    const int i = tile * BLOCK + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const float v = i < n ? in[i] : 0.f;
    const bool kept = i < n && keep(v);
    const unsigned votes = __ballot_sync(0xffffffff, kept);
    if (lane == 0) offsets[warp] = __popc(votes);
    const int total = __syncthreads_count(kept);
    if (threadIdx.x == 0) {
        int first;
        do { first = chain[tile]; } while (first < 0);  // -1: the tile before has not said yet
        chain[tile + 1] = first + total;
        offsets[BLOCK / 32] = first;
    }
    __syncthreads();
    int to = offsets[BLOCK / 32] + __popc(votes & ((1u << lane) - 1));
    for (int w = 0; w < warp; ++w) to += offsets[w];
    if (kept) out[to] = v;
}

extern "C" __global__ void copy_if_positive(const float *in, float *out, int n, int *chain, int *ticket)
{
    compact<128>(in, out, n, chain, ticket, IsPositive{});
}
