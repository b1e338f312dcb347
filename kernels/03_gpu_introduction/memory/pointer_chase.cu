// Follows a chain through memory with one thread: at = next[at], `steps` times.
// The idea: each load needs the answer of the load before, so nothing overlaps, and the clock
// cycles that pass for each step are the latency of whatever memory holds the chain. It begins at
// start[0] and leaves its end there; without that store the compiler would drop the loop.
// Limit: latency, on purpose. One thread runs; the rest of the GPU is idle.
// grid (1), block (1), dynamic shared 0

extern "C" __global__ void pointer_chase(const unsigned int *next, unsigned int *start, int steps,
                                         long long *cycles)
{
    unsigned int at = start[0];
    long long begin = clock64();
    for (int step = 0; step < steps; ++step) {
        at = next[at];
    }
    cycles[0] = clock64() - begin;
    start[0] = at;
}
