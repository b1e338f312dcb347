// Every block waits for tile 0 and says in met[tile] whether it came: 1, or 0 if the block gave up
// after looking `patience` times. With by_ticket = 0 tiles are numbered from behind: the first
// block has the last tile. *ready and *ticket are 0 before the launch.
// The idea: with so much shared memory only one block fits an SM; the others start when one ends.
// grid (any), block (256), dynamic shared (so much that one block fits an SM)

extern "C" __global__ void wait_for_first(int *ready, int *ticket, int *met, int patience,
                                          int by_ticket)
{
    if (threadIdx.x > 0) {
        return;
    }
    const int tile = by_ticket ? atomicAdd(ticket, 1) : gridDim.x - 1 - blockIdx.x;
    if (tile == 0) {
        atomicExch(ready, 1);
    }
    int seen = 0;
    for (int look = 0; look < patience && !seen; ++look) {
        seen = atomicAdd(ready, 0);
    }
    met[tile] = seen;
}
