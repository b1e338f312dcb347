// CHAINS sums of `steps` multiply-adds in each thread, in registers: x = x * a + b over and over.
// The idea: no memory at all. With one chain every FMA waits for the one before, so a lone thread
// shows the latency of an FMA; with eight chains and a full GPU the units never wait, and the rate
// is the peak. NUMBER is the type, float or double.
// Limit: arithmetic, on purpose.
// grid (any), block (any), dynamic shared 0

#ifndef CHAINS
#define CHAINS 8
#endif
#ifndef NUMBER
#define NUMBER float
#endif

extern "C" __global__ void fma_chains(NUMBER a, NUMBER b, int steps, long long *cycles,
                                      NUMBER *sums)
{
    NUMBER x[CHAINS]; // every index is a compile-time constant: an array in registers
    for (int chain = 0; chain < CHAINS; ++chain) {
        x[chain] = chain + threadIdx.x;
    }
    long long start = clock64();
#pragma unroll 16
    for (int step = 0; step < steps; ++step) {
        for (int chain = 0; chain < CHAINS; ++chain) {
            x[chain] = x[chain] * a + b;
        }
    }
    long long passed = clock64() - start;
    NUMBER sum = 0;
    for (int chain = 0; chain < CHAINS; ++chain) {
        sum += x[chain];
    }
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    sums[thread] = sum; // the compiler must not find the work useless
    if (thread == 0) {
        cycles[0] = passed;
    }
}
