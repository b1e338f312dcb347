// `heads` are the ends of all `edges` edges that leave a frontier, and `distance` has -1 for each
// vertex that is new. Each new vertex gets `level` and one slot in `next`. *next_count is 0 before
// the launch, then the number of slots; their order doesn't matter. Vertices may come twice.
// grid (ceil(edges / 256)), block (256), dynamic shared 0

constexpr int kThreads = 256;

extern "C" __global__ void one_draw(const int *heads, int edges, int level, int *distance,
                                    int *next, int *next_count)
{
    const int edge = blockIdx.x * kThreads + threadIdx.x;
    const int w = edge < edges ? heads[edge] : 0;
    const bool found = edge < edges && atomicCAS(&distance[w], -1, level) == -1;

    // TODO: this is right, and each new vertex draws from the one counter. Let each block draw once
    // STARTER
    //| if (found) {
    //|     next[atomicAdd(next_count, 1)] = w;
    //| }
    // SOLUTION
    constexpr int kWarps = kThreads / 32;
    __shared__ int of_warp[kWarps];
    __shared__ int first;
    const int warp = threadIdx.x / 32;
    const unsigned votes = __ballot_sync(0xffffffff, found);
    if (threadIdx.x % 32 == 0) {
        of_warp[warp] = __popc(votes);
    }
    __syncthreads(); // every warp's count is there
    int before = 0;
    int all = 0;
    for (int other = 0; other < kWarps; ++other) {
        before += other < warp ? of_warp[other] : 0;
        all += of_warp[other];
    }
    if (threadIdx.x == 0) {
        first = atomicAdd(next_count, all);
    }
    __syncthreads(); // the block's first slot is there
    if (found) {
        next[first + before + __popc(votes & ((1u << threadIdx.x % 32) - 1))] = w;
    }
    // END
}
