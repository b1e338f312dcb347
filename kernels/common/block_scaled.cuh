// Products of Blackwell's tensor cores whose factors have a scale for each block of numbers along K
// (sm_100a; no GPU of that kind has run them yet): MXFP8, numbers of E4M3 in blocks of 32 with
// scales in UE8M0, and NVFP4, numbers of E2M1 in blocks of 16 with scales in UE4M3. Sections of the
// PTX manual: "tcgen05.mma", "Block Scaling", "tcgen05.cp", "cp.async.bulk".

#pragma once

#include "ptx.cuh"
#include "tcgen05.cuh"

// Scales in memory are in tiles as scale_tiles.cuh has them: 128 rows by 4 blocks, 512 bytes.
constexpr int kScaleTile = 512, kScaleColumns = 4; // bytes; columns of tensor memory that they fill

// cp.async.bulk: copy contiguous bytes to shared memory, addresses and `bytes` multiples of 16;
// they count towards the barrier.
__device__ inline void bulk_load(unsigned to, const void *from, int bytes, unsigned barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(barrier)
                 : "memory");
}

// Shared memory descriptor of a tile of scales: 32 rows of 16 bytes one after the other, so 128
// bytes lead from eight rows to the next eight, and there is no swizzle.
__device__ inline unsigned long long scale_tile(unsigned address)
{
    return (unsigned long long)(address >> 4 & 0x3fff) | 1ull << 16 | 128ull >> 4 << 32 |
           1ull << 46;
}

// tcgen05.cp: a tile of scales to four columns of tensor memory, from column `to` on. Row i of 16
// bytes goes to lane i, and again to lanes 32 + i, 64 + i and 96 + i (.warpx4). One thread starts
// it; products that the same thread starts after it find the scales there. For a pair (kBlocks = 2)
// each block's tile goes to its own tensor memory, from and to the same addresses.
template <int kBlocks = 1>
__device__ inline void tmem_copy_scales(unsigned to, unsigned long long tile)
{
    asm volatile("tcgen05.cp.cta_group::%2.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(tile),
                 "n"(kBlocks)
                 : "memory");
}

// Instruction descriptor of MXFP8, K contiguous, sums in fp32: bits 7-9 and 10-12 the types of A
// and B (0 is E4M3), 17-22 columns / 8, 23 the type of the scales (1 is UE8M0), 24-28 rows / 16. Of
// the four bytes in a column of scales the product takes byte `block`: bits 29-30 for A, 4-5 for B.
__host__ __device__ constexpr unsigned umma_mxfp8(int rows, int columns, int block)
{
    return (unsigned)block << 4 | (unsigned)columns / 8 << 17 | 1u << 23 |
           (unsigned)rows / 16 << 24 | (unsigned)block << 29;
}

// The same of NVFP4: 1 is E2M1, 0 is UE4M3, and a product takes all four bytes.
__host__ __device__ constexpr unsigned umma_nvfp4(int rows, int columns)
{
    return 1u << 7 | 1u << 10 | (unsigned)columns / 8 << 17 | (unsigned)rows / 16 << 24;
}

// tcgen05.mma, .kind::mxf8f6f4: D = A B^T, or D += A B^T with `add`, for 32 numbers along K, each
// times the scale of its row and block.
template <int kBlocks = 1>
__device__ inline void umma_scaled_mxfp8(unsigned d, unsigned long long a, unsigned long long b,
                                         unsigned instruction, unsigned scales_a, unsigned scales_b,
                                         bool add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %6, 0;\n"
                 "tcgen05.mma.cta_group::%7.kind::mxf8f6f4.block_scale.scale_vec::1X "
                 "[%0], %1, %2, %3, [%4], [%5], add;\n"
                 "}" ::"r"(d),
                 "l"(a), "l"(b), "r"(instruction), "r"(scales_a), "r"(scales_b), "r"((int)add),
                 "n"(kBlocks)
                 : "memory");
}

// tcgen05.mma, .kind::mxf4nvf4: the same for 64 numbers of four bits, with four scales in a row.
template <int kBlocks = 1>
__device__ inline void umma_scaled_nvfp4(unsigned d, unsigned long long a, unsigned long long b,
                                         unsigned instruction, unsigned scales_a, unsigned scales_b,
                                         bool add)
{
    asm volatile("{\n"
                 ".reg .pred add;\n"
                 "setp.ne.b32 add, %6, 0;\n"
                 "tcgen05.mma.cta_group::%7.kind::mxf4nvf4.block_scale.scale_vec::4X "
                 "[%0], %1, %2, %3, [%4], [%5], add;\n"
                 "}" ::"r"(d),
                 "l"(a), "l"(b), "r"(instruction), "r"(scales_a), "r"(scales_b), "r"((int)add),
                 "n"(kBlocks)
                 : "memory");
}
