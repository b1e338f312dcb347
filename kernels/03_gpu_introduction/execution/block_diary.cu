// Every block keeps a diary: which SM it ran on, how many blocks came before it, and when, in
// nanoseconds, it began and ended. It stays busy for `cycles` clock cycles of its SM.
// The idea: special registers. %smid numbers the SMs, %globaltimer counts nanoseconds (PTX ISA,
// "Special Registers"), and clock64() counts the cycles of one SM.
// Limit: none; each block spins until its cycles have passed.
// grid (blocks), block (any), dynamic shared 0

__device__ long long nanoseconds()
{
    long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ int multiprocessor()
{
    int number;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(number));
    return number;
}

extern "C" __global__ void block_diary(int *sm, int *ticket, long long *begin, long long *end,
                                       int *next_ticket, long long cycles)
{
    bool writer = threadIdx.x == 0;
    if (writer) {
        sm[blockIdx.x] = multiprocessor();
        ticket[blockIdx.x] = atomicAdd(next_ticket, 1);
        begin[blockIdx.x] = nanoseconds();
    }
    long long start = clock64();
    while (clock64() - start < cycles) { // all threads stay, and keep the block resident
    }
    if (writer) {
        end[blockIdx.x] = nanoseconds();
    }
}
