// Thin wrappers: one PTX instruction each, named after the section of the PTX manual it is in.

#pragma once

// The 32-bit address that instructions on shared memory take, of a generic pointer into it.
__device__ inline unsigned shared_address(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// cp.async: copy 4 bytes from global to shared memory without waiting; zeros if not `valid`.
__device__ inline void cp_async_4(unsigned to, const void *from, bool valid = true)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
                 "r"(valid ? 4 : 0)
                 : "memory");
}

// cp.async: 16 bytes, both addresses multiples of 16; past the L1 cache (.cg).
__device__ inline void cp_async_16(unsigned to, const void *from, bool valid = true)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(valid ? 16 : 0)
                 : "memory");
}

// cp.async.commit_group: the thread's copies since the last commit become one group.
__device__ inline void cp_async_commit()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

// cp.async.wait_group: wait until at most kPending of the thread's groups are still on their way.
template <int kPending>
__device__ inline void cp_async_wait()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// ld: four floats from a shared address that is a multiple of 16.
__device__ inline float4 load_shared_4(unsigned from)
{
    float4 four;
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(four.x), "=f"(four.y), "=f"(four.z), "=f"(four.w)
                 : "r"(from)
                 : "memory");
    return four;
}
