// One level of a breadth-first search, as in 01_bfs_vertices. `firsts` is the exclusive scan of
// the frontier's degrees, and `edges` their sum. The graph has at most 2^30 edges.
// The idea: one thread per edge. A binary search in the scan finds the edge's vertex.
// Limit: log2(count) reads for the search, and all new vertices draw from one counter.
// grid (ceil(edges / 256)), block (256), dynamic shared 0

extern "C" __global__ void bfs_edges(const int *offsets, const int *neighbours, const int *queue,
                                     const int *firsts, int count, int edges, int level,
                                     int *distance, int *next, int *next_count)
{
    const int edge = blockIdx.x * blockDim.x + threadIdx.x;
    if (edge < edges) {
        int low = 0; // the last vertex whose edges begin at or before this one
        int high = count - 1;
        while (low < high) {
            const int middle = (low + high + 1) / 2;
            if (firsts[middle] <= edge) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        const int w = neighbours[offsets[queue[low]] + edge - firsts[low]];
        if (atomicCAS(&distance[w], -1, level) == -1) {
            next[atomicAdd(next_count, 1)] = w;
        }
    }
}
