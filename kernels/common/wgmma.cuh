// Thin wrappers for the matrix instructions of a warpgroup, one PTX instruction each, named after the
// section of the PTX manual it is in. sm_90a only.

#pragma once

// Matrix Descriptor Format: a tile in shared memory whose rows are 128 bytes along K, as TMA leaves it
// with its swizzle of 128 bytes. It begins at a multiple of 1024 bytes; 8 rows, 1024 bytes, are one
// pattern of the swizzle. For the next 32 bytes of every row add 2: addresses count in 16 bytes.
__device__ inline unsigned long long wgmma_tile(unsigned address)
{
    constexpr unsigned long long kSwizzle128 = 1ull << 62, kNextEightRows = 1024 / 16;
    return kSwizzle128 | kNextEightRows << 32 | (address & 0x3ffff) >> 4;
}

// wgmma.fence: before the first wgmma, and before one whose registers others have written.
__device__ inline void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

// wgmma.commit_group: the wgmmas since the last call are a group.
__device__ inline void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

// wgmma.wait_group: until all groups but the last kPending are done.
template <int kPending>
__device__ inline void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// The compiler may not read or write `sum` on the other side of this line. No instruction.
template <class Sum, int kCount>
__device__ inline void keep_in_order(Sum (&sum)[kCount])
{
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
        if constexpr (sizeof(Sum) == 4 && Sum(1) / 2 != 0) {
            asm volatile("" : "+f"(sum[i])::"memory");
        } else {
            asm volatile("" : "+r"(sum[i])::"memory");
        }
    }
}

// wgmma.mma_async: sum = a b^T, plus sum where `add` is not 0; a has 64 rows, b N rows, both K = 32
// bytes wide. N is twice the length of `sum`: thread t has of rows 16 (t / 32) + t % 32 / 4 and 8 more
// the columns 8 j + 2 (t % 4) and the next, as sum[4 j] to sum[4 j + 3].
// The macros write operand lists: ten numbers of registers, and elements of `sum`.
#define WGMMA_TEN(t)                                                                               \
    "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, "   \
    "%" #t "9, "
#define WGMMA_4(c, i) c(sum[i]), c(sum[i + 1]), c(sum[i + 2]), c(sum[i + 3])
#define WGMMA_8(c, i) WGMMA_4(c, i), WGMMA_4(c, i + 4)
#define WGMMA_16(c, i) WGMMA_8(c, i), WGMMA_8(c, i + 8)
#define WGMMA_32(c, i) WGMMA_16(c, i), WGMMA_16(c, i + 16)
#define WGMMA_64(c, i) WGMMA_32(c, i), WGMMA_32(c, i + 32)
#define WGMMA_96(c, i) WGMMA_64(c, i), WGMMA_32(c, i + 64)
#define WGMMA_128(c, i) WGMMA_64(c, i), WGMMA_64(c, i + 64)
#define WGMMA_NUMBERS_4 "%0, %1, %2, %3"
#define WGMMA_NUMBERS_8 WGMMA_NUMBERS_4 ", %4, %5, %6, %7"
#define WGMMA_NUMBERS_16 WGMMA_TEN() "%10, %11, %12, %13, %14, %15"
#define WGMMA_NUMBERS_32 WGMMA_TEN() WGMMA_TEN(1) WGMMA_TEN(2) "%30, %31"
#define WGMMA_SIXTY                                                                                \
    WGMMA_TEN() WGMMA_TEN(1) WGMMA_TEN(2) WGMMA_TEN(3) WGMMA_TEN(4) WGMMA_TEN(5)
#define WGMMA_NUMBERS_64 WGMMA_SIXTY "%60, %61, %62, %63"
#define WGMMA_NUMBERS_96                                                                           \
    WGMMA_SIXTY WGMMA_TEN(6) WGMMA_TEN(7) WGMMA_TEN(8) "%90, %91, %92, %93, %94, %95"
#define WGMMA_NUMBERS_128                                                                          \
    WGMMA_SIXTY WGMMA_TEN(6)                                                                       \
    WGMMA_TEN(7) WGMMA_TEN(8) WGMMA_TEN(9) WGMMA_TEN(10) WGMMA_TEN(11)                             \
        "%120, %121, %122, %123, %124, %125, %126, %127"

// `a`, `b` and `add` are the numbers of the operands after the elements of `sum`.
#define WGMMA(name, Sum, constraint, count, form, a_number, b_number, add_number, scales)          \
    __device__ inline void name(Sum(&sum)[count], unsigned long long a, unsigned long long b,      \
                                int add)                                                           \
    {                                                                                              \
        asm volatile("{\n"                                                                         \
                     ".reg .pred add;\n"                                                           \
                     "setp.ne.b32 add, %" #add_number ", 0;\n"                                     \
                     "wgmma.mma_async.sync.aligned." form " {" WGMMA_NUMBERS_##count               \
                     "}, %" #a_number ", %" #b_number ", add" scales ";\n"                         \
                     "}"                                                                           \
                     : WGMMA_##count(constraint, 0)                                                \
                     : "l"(a), "l"(b), "r"(add));                                                  \
    }

#define WGMMA_FLOATS(name, k_and_types, scales)                                                    \
    WGMMA(name, float, "+f", 4, "m64n8" k_and_types, 4, 5, 6, scales)                              \
    WGMMA(name, float, "+f", 8, "m64n16" k_and_types, 8, 9, 10, scales)                            \
    WGMMA(name, float, "+f", 16, "m64n32" k_and_types, 16, 17, 18, scales)                         \
    WGMMA(name, float, "+f", 32, "m64n64" k_and_types, 32, 33, 34, scales)                         \
    WGMMA(name, float, "+f", 64, "m64n128" k_and_types, 64, 65, 66, scales)                        \
    WGMMA(name, float, "+f", 96, "m64n192" k_and_types, 96, 97, 98, scales)                        \
    WGMMA(name, float, "+f", 128, "m64n256" k_and_types, 128, 129, 130, scales)

WGMMA_FLOATS(wgmma_bf16, "k16.f32.bf16.bf16", ", 1, 1, 0, 0") // bf16 factors, fp32 sums
WGMMA_FLOATS(wgmma_e4m3, "k32.f32.e4m3.e4m3", ", 1, 1")       // fp8 factors, fp32 sums
WGMMA(wgmma_s8, int, "+r", 64, "m64n128k32.s32.s8.s8", 64, 65, 66, "")
WGMMA(wgmma_s8, int, "+r", 128, "m64n256k32.s32.s8.s8", 128, 129, 130, "")
