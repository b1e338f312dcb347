// Follows a chain of `length` elements as pointer_chase.cu does, but through shared memory
// (CONSTANT 0) or constant memory (CONSTANT 1). At most 1024 elements, 4 KB.
// The idea: the same dependent loads from another space, so the cycles of a step can be compared.
// Limit: latency, on purpose.
// grid (1), block (1), dynamic shared 0

#ifndef CONSTANT
#define CONSTANT 0
#endif
constexpr int kMost = 1024;
__constant__ unsigned int constant_ring[kMost];

extern "C" __global__ void shared_chase(const unsigned int *next, int length, unsigned int *start,
                                        int steps, long long *cycles)
{
    __shared__ unsigned int shared_ring[kMost];
    for (int i = 0; i < length; ++i) {
        shared_ring[i] = next[i];
    }
    unsigned int at = start[0];
    long long begin = clock64();
    for (int step = 0; step < steps; ++step) {
        at = CONSTANT ? constant_ring[at] : shared_ring[at];
    }
    cycles[0] = clock64() - begin;
    start[0] = at;
}
