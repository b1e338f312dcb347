// The sum of all elements up to the end of each tile: upto[t] = x[0] + ... + x[64 (t + 1) - 1], for
// n ints; the last tile may have fewer. Each tile waits for the one before. `ready` has a flag for
// each tile and *ticket is a counter, all 0 before the launch. Sums wrap around.
// grid (ceil(n / 64)), block (64), dynamic shared 0

constexpr int kThreads = 64;

extern "C" __global__ void chained_sums(const unsigned *x, unsigned *upto, unsigned *ready,
                                        unsigned *ticket, int n)
{
    __shared__ unsigned sum, drawn;
    if (threadIdx.x == 0) {
        drawn = atomicAdd(ticket, 1);
        sum = 0;
    }
    __syncthreads(); // the number of the tile is there
    const int tile = drawn;
    const int i = tile * kThreads + threadIdx.x;
    if (i < n) {
        atomicAdd(&sum, x[i]);
    }
    __syncthreads(); // the tile's sum is there
    if (threadIdx.x == 0) {
        unsigned before = 0;
        if (tile > 0) {
            while (atomicAdd(&ready[tile - 1], 0) == 0) {
            }
            __threadfence(); // acquire: what is read below was there when the flag was
            before = upto[tile - 1];
        }
        // BUG
        //| upto[tile] = before + sum;
        //| atomicExch(&ready[tile], 1);
        // SOLUTION
        upto[tile] = before + sum;
        __threadfence(); // release: whoever sees the flag sees the sum too
        atomicExch(&ready[tile], 1);
        // END
    }
}
