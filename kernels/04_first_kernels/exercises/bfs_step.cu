// One level of a breadth-first search: each neighbour of the frontier `queue` whose distance is
// still -1 gets `level` and one slot in `next`. Vertex v has the neighbours offsets[v] to
// offsets[v + 1] - 1. *next_count is 0 before the launch, then the number of slots; any order.
// grid (ceil(count / 64)), block (64), dynamic shared 0

extern "C" __global__ void bfs_step(const int *offsets, const int *neighbours, const int *queue,
                                    int count, int level, int *distance, int *next,
                                    int *next_count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const int v = queue[i];
        for (int k = offsets[v]; k < offsets[v + 1]; ++k) {
            const int w = neighbours[k];
            // BUG
            //| if (distance[w] == -1) {
            //|     distance[w] = level;
            //|     next[atomicAdd(next_count, 1)] = w;
            //| }
            // SOLUTION
            if (atomicCAS(&distance[w], -1, level) == -1) {
                next[atomicAdd(next_count, 1)] = w;
            }
            // END
        }
    }
}
