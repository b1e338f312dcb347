// One level of a breadth-first search; new vertices join a queue, warp by warp.
struct CSR {
    const int *__restrict__ row_offsets;
    const int *__restrict__ column_indices;
    int n_vertices;
};

__device__ __forceinline__ int atomicAggInc(int *ctr)
{
    unsigned int active = __activemask();
    int leader = __ffs(active) - 1, lane = threadIdx.x % 32, warp_res;
    if (lane == leader) warp_res = atomicAdd(ctr, __popc(active));
    warp_res = __shfl_sync(active, warp_res, leader);
    return warp_res + __popc(active & ((1u << lane) - 1));
}

extern "C" __global__ void bfs_expand(CSR graph, const int *frontier, int frontier_size, int *next, int *next_size,
                                      int *distance, int level)
{
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= frontier_size) return;
    const int v = frontier[t];
    for (int e = graph.row_offsets[v]; e < graph.row_offsets[v + 1]; ++e) {
        const int u = graph.column_indices[e];
        if (atomicCAS(&distance[u], -1, level) == -1) next[atomicAggInc(next_size)] = u;
    }
}
