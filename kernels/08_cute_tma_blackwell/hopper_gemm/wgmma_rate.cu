// How fast one wgmma follows another: m64nNk16 on tiles of ones, `rounds` times the four that cover
// 64 columns. `held` receives a sum of each thread, 64 * rounds, and `clocks` the time of the rounds
// by each of the GROUPS warpgroups of a block. B comes from shared memory, A too or, with
// A_IN_REGISTERS, from registers. Rows of B run along K, with A_IN_REGISTERS along N.
// Limit: the tensor cores, or the bytes of A and B that they fetch from shared memory.
// grid any, block 128 * GROUPS, dynamic shared 128 * (64 * GROUPS + max(N, 64))

#include "ptx.cuh"
#include "tma_store.cuh"
#include "wgmma_across.cuh"

#ifndef N
#define N 64
#endif
#ifndef GROUPS
#define GROUPS 1
#endif
#ifndef A_IN_REGISTERS
#define A_IN_REGISTERS 0
#endif

constexpr unsigned kTwoOnes = 0x3f803f80; // of bf16
constexpr int kTileA = 64 * 128, kTileB = (N < 64 ? 64 : N) * 128; // bytes

#if A_IN_REGISTERS && N == 32
WGMMA_REGISTERS(16, "m64n32", 16, 17, 18, 19, 20, 21)
#elif A_IN_REGISTERS && N == 256
WGMMA_REGISTERS(128, "m64n256", 128, 129, 130, 131, 132, 133)
#endif

extern "C" __global__ void __launch_bounds__(128 * GROUPS)
    wgmma_rate(float *held, long long *clocks, int rounds)
{
    extern __shared__ __align__(1024) unsigned tiles[];
    for (int i = threadIdx.x; i < (kTileA * GROUPS + kTileB) / 4; i += blockDim.x) {
        tiles[i] = kTwoOnes;
    }
    writes_are_ready(); // for wgmma, which reads shared memory as TMA does
    __syncthreads();
    const int group = threadIdx.x / 128;
    const unsigned b = shared_address(tiles) + GROUPS * kTileA;
    float sum[N / 2] = {};
    wgmma_fence();
    const long long begin = clock64();
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
#if A_IN_REGISTERS
            const unsigned a[4] = {kTwoOnes, kTwoOnes, kTwoOnes, kTwoOnes};
            wgmma_registers(sum, a, wgmma_tile_across(b, 64 * 128) + 128 * k, 1);
#else
            const unsigned a = shared_address(tiles) + group * kTileA;
            wgmma_bf16(sum, wgmma_tile(a) + 2 * k, wgmma_tile(b) + 2 * k, 1);
#endif
        }
        wgmma_commit();
        wgmma_wait<1>(); // the round before is done, and this one goes on
    }
    wgmma_wait<0>();
    keep_in_order(sum);
    const long long end = clock64();
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    held[thread] = sum[0];
    if (threadIdx.x % 128 == 0) {
        clocks[thread / 128] = end - begin;
    }
}
