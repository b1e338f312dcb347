// Thin wrappers for the tensor cores of Blackwell and their tensor memory (TMEM), one PTX
// instruction each, named after the section of the PTX manual it is in. sm_100a; no GPU of that kind
// has run them yet. kBlocks is the .cta_group: 1, or 2 for a pair of blocks that work as one.

#pragma once

#include "cluster_mbarrier.cuh"
#include "tma.cuh"

// elect.sync: true for one lane of the warp, whose 32 lanes all come by.
__device__ inline bool elected()
{
    unsigned one;
    asm volatile("{\n"
                 ".reg .pred chosen;\n"
                 "elect.sync _|chosen, 0xffffffff;\n"
                 "selp.u32 %0, 1, 0, chosen;\n"
                 "}"
                 : "=r"(one));
    return one != 0;
}

// tcgen05.alloc: a warp takes `columns` of tensor memory, a power of two from 32 on, and writes the
// address of the first to shared memory. It waits while other blocks of the SM hold too many.
template <int kBlocks>
__device__ inline void tmem_alloc(unsigned to, int columns)
{
    asm volatile("tcgen05.alloc.cta_group::%2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(to),
                 "r"(columns), "n"(kBlocks)
                 : "memory");
}

// tcgen05.relinquish_alloc_permit: the block allocates no more, so that others of the SM can.
template <int kBlocks>
__device__ inline void tmem_relinquish()
{
    asm volatile("tcgen05.relinquish_alloc_permit.cta_group::%0.sync.aligned;" ::"n"(kBlocks));
}

// tcgen05.dealloc: a warp gives them back. A block may not end before.
template <int kBlocks>
__device__ inline void tmem_dealloc(unsigned address, int columns)
{
    asm volatile("tcgen05.dealloc.cta_group::%2.sync.aligned.b32 %0, %1;" ::"r"(address),
                 "r"(columns), "n"(kBlocks));
}

// tcgen05.fence: before a barrier or an arrival that signals work on tensor memory to others...
__device__ inline void tmem_before_sync()
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

// ...and after the barrier or the wait at which this thread learns of it.
__device__ inline void tmem_after_sync()
{
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// Shared memory descriptor of rows of 128 bytes along K, written by TMA with the 128-byte swizzle:
// bits 0-13 the address, 16-29 and 32-45 the leading and the stride offset, all without their last
// four bits (the leading one says nothing here, 1 is what CuTe writes; 1024 bytes lead from eight
// rows to the next eight), 46-48 001, 61-63 the swizzle. 16 bf16 numbers further along K are 32
// bytes: `+ 2`.
__device__ inline unsigned long long umma_tile(unsigned address)
{
    return (unsigned long long)(address >> 4 & 0x3fff) | 1ull << 16 | 1024ull >> 4 << 32 |
           1ull << 46 | 2ull << 61;
}

// Instruction descriptor, both factors bf16 with K contiguous, sums in fp32: bits 4-5 the type of D,
// 7-9 and 10-12 those of A and B, 17-22 columns / 8, 24-28 rows / 16.
__host__ __device__ constexpr unsigned umma_bf16(int rows, int columns)
{
    return 1u << 4 | 1u << 7 | 1u << 10 | (unsigned)columns / 8 << 17 | (unsigned)rows / 16 << 24;
}

// tcgen05.mma: D = A B^T, or D += A B^T with `add`, for 16 steps of K. One thread starts it for
// all. Products of one thread into the same D, of one shape, are computed in order, later.
template <int kBlocks>
__device__ inline void umma(unsigned d, unsigned long long a, unsigned long long b,
                            unsigned instruction, bool add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %4, 0;\n"
                 "tcgen05.mma.cta_group::%5.kind::f16 [%0], %1, %2, %3, add;\n"
                 "}" ::"r"(d),
                 "l"(a), "l"(b), "r"(instruction), "r"((int)add), "n"(kBlocks)
                 : "memory");
}

// tcgen05.commit: one arrival at the mbarrier once all that this thread has started is done.
__device__ inline void umma_commit(unsigned barrier)
{
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
        : "memory");
}

// tcgen05.commit with .multicast::cluster: one at the same mbarrier of each block of a pair.
__device__ inline void umma_commit_pair(unsigned barrier)
{
    asm volatile("tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster"
                 ".multicast::cluster.b64 [%0], %1;" ::"r"(barrier),
                 "h"((unsigned short)3)
                 : "memory");
}

// tcgen05.ld: 16 columns of the warp's own 32 lanes, a lane to a thread. Bits 16-31 of the address
// are the lane, the others the column.
__device__ inline void tmem_load_16(unsigned (&value)[16], unsigned address)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, "
                 "%8, %9, %10, %11, %12, %13, %14, %15}, [%16];"
                 : "=r"(value[0]), "=r"(value[1]), "=r"(value[2]), "=r"(value[3]), "=r"(value[4]),
                   "=r"(value[5]), "=r"(value[6]), "=r"(value[7]), "=r"(value[8]), "=r"(value[9]),
                   "=r"(value[10]), "=r"(value[11]), "=r"(value[12]), "=r"(value[13]),
                   "=r"(value[14]), "=r"(value[15])
                 : "r"(address));
}

// tcgen05.wait::ld: the registers of this thread's loads are there. They are named, so that the
// compiler uses none of them earlier.
__device__ inline void tmem_wait_load(unsigned (&value)[16])
{
    asm volatile("tcgen05.wait::ld.sync.aligned;"
                 : "+r"(value[0]), "+r"(value[1]), "+r"(value[2]), "+r"(value[3]), "+r"(value[4]),
                   "+r"(value[5]), "+r"(value[6]), "+r"(value[7]), "+r"(value[8]), "+r"(value[9]),
                   "+r"(value[10]), "+r"(value[11]), "+r"(value[12]), "+r"(value[13]),
                   "+r"(value[14]), "+r"(value[15])
                 :
                 : "memory");
}

// tcgen05.st: one column of the warp's own 32 lanes, a lane from each thread.
__device__ inline void tmem_store(unsigned address, unsigned value)
{
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(address), "r"(value)
                 : "memory");
}

// tcgen05.wait::st: the stores of this thread to tensor memory have completed.
__device__ inline void tmem_wait_store()
{
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

// cp.async.bulk.tensor with .cta_group::2: as tma_load, and the mbarrier may be that of the other
// block of the pair, an address of address_in_block.
__device__ inline void tma_load_pair(unsigned to, const TensorMap *from, int column, int row,
                                     unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile"
                 ".mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
                 "l"(from), "r"(column), "r"(row), "r"(barrier)
                 : "memory");
}
