// Thin wrappers: one PTX instruction each, named after the section of the PTX manual it is in.

#pragma once

// The 32-bit address that instructions on shared memory take, of a generic pointer into it.
__device__ inline unsigned shared_address(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// cp.async: copy 4 bytes from global to shared memory without waiting, zeros if not `valid`.
__device__ inline void cp_async_4(unsigned to, const void *from, bool valid = true)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from),
                 "r"(valid ? 4 : 0)
                 : "memory");
}

// cp.async: 16 bytes, both addresses multiples of 16, past the L1 cache (.cg).
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

// cp.async.wait_group: wait until at most kPending of the thread's groups are still in flight.
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

// ldmatrix.x4: four 8 x 8 tiles of 16-bit elements. Lane l gives the address of row l % 8 of tile
// l / 8, 16 bytes. Of each tile it receives the elements (l / 4, 2 (l % 4)) and the one after.
__device__ inline void ldmatrix_4(unsigned (&tiles)[4], unsigned row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(tiles[0]), "=r"(tiles[1]), "=r"(tiles[2]), "=r"(tiles[3])
                 : "r"(row)
                 : "memory");
}

// mma.m16n8k16: sum += a b for bf16 factors and fp32 sums, a tile of 16 x 8 for the whole warp.
__device__ inline void mma_bf16(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// mma.m16n8k16: the same for fp16 factors.
__device__ inline void mma_f16(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// mma.m16n8k8: the same for TF32 factors (fp32 numbers of which 10 bits of fraction count).
__device__ inline void mma_tf32(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// mma.m16n8k32: the same for signed 8-bit factors and 32-bit sums, which wrap around.
__device__ inline void mma_s8(int (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// cvt.rna.tf32: the bits of `value` rounded to TF32, to the nearest, ties away from zero.
__device__ inline unsigned to_tf32(float value)
{
    unsigned rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value));
    return rounded;
}

// barrier.sync: a barrier with a name (1 to 15) for `kThreads` threads of the block, whole warps.
template <int kName, int kThreads>
__device__ inline void named_barrier()
{
    asm volatile("barrier.sync %0, %1;" ::"n"(kName), "n"(kThreads) : "memory");
}
