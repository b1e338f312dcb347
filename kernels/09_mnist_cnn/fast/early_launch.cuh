// Programmatic dependent launch: a kernel may begin while the one before it still runs, and do
// work there that does not depend on that one. Both instructions do nothing in an ordinary launch.

#pragma once

// griddepcontrol.launch_dependents: once all blocks have said so, the next kernel may begin.
__device__ inline void let_the_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;");
}

// red.release: one more has come this far, and its block's results so far can be seen. One thread
// says so, after a barrier of the block.
__device__ inline void announce(int *arrived)
{
    asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(arrived) : "memory");
}

// ld.acquire: until so many have arrived. They must be running already.
__device__ inline void wait_for_arrivals(const int *arrived, int count)
{
    int seen;
    do {
        asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(seen) : "l"(arrived) : "memory");
    } while (seen < count);
}

// griddepcontrol.wait: until the kernel before has ended and its results can be seen. Every thread
// waits, so that no kernel ends before the one before it.
__device__ inline void wait_for_the_one_before()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
