// y[i] = where thread i gets to when it starts at element i of `next` and follows it `steps` times.
// The idea: a chain of loads. The address of each comes from the load before, so a warp must wait
// for the memory at every step. Only other warps can hide the latency.
// Limit: the latency of global memory, until there are enough warps to keep the memory busy.
// grid (any), block (any), dynamic shared 0

extern "C" __global__ void load_chain(const int *next, int *y, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int at = i;
    for (int step = 0; step < steps; ++step) {
        at = next[at];
    }
    y[i] = at;
}
