// One level of a breadth-first search. The graph is in CSR: vertex v has the neighbours
// offsets[v] to offsets[v + 1] - 1. The frontier is the `count` vertices in `queue`. Each
// neighbour that has the distance -1 gets `level`, and a slot in `next`; *next_count is 0 before
// the launch, and then the number of them, in any order. Edges are fewer than 2^31.
// The idea: one thread per vertex of the frontier. An atomic decides who comes first.
// Limit: a warp is as slow as its busiest vertex, and all new vertices draw from one counter.
// grid (ceil(count / 256)), block (256), dynamic shared 0

extern "C" __global__ void bfs_vertices(const int *offsets, const int *neighbours,
                                        const int *queue, int count, int level, int *distance,
                                        int *next, int *next_count)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const int v = queue[i];
        for (int k = offsets[v]; k < offsets[v + 1]; ++k) {
            const int w = neighbours[k];
            if (atomicCAS(&distance[w], -1, level) == -1) {
                next[atomicAdd(next_count, 1)] = w;
            }
        }
    }
}
