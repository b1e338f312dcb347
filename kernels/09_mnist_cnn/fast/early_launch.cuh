// Programmatic dependent launch: a kernel may begin while the one before it still runs, and do
// there what does not depend on that one. Both instructions do nothing in an ordinary launch.

#pragma once

// griddepcontrol.launch_dependents: once all blocks have said so, the next kernel may begin.
__device__ inline void let_the_next_begin()
{
    asm volatile("griddepcontrol.launch_dependents;");
}

// griddepcontrol.wait: until the kernel before has ended and its results can be seen. Every thread
// waits, so that no kernel ends before the one before it.
__device__ inline void wait_for_the_one_before()
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}
