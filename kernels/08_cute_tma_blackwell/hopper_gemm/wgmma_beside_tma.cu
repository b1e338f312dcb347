// As wgmma_rate, with one more warp, which keeps `depth` loads of 8192 bytes from `from` on their way
// to shared memory, by cp.async.bulk, until the last warpgroup is done. `loads` receives their number
// for each block. `from` has 32 KB, and depth is 0 to 4.
// Limit: the tensor cores. Products that read beside these loads are hardly slower.
// grid any, block 128 * GROUPS + 32, dynamic shared 128 * (64 * GROUPS + max(N, 64)) + 32896

#include "ptx.cuh"
#include "bulk_add.cuh"
#include "tma_store.cuh"
#include "wgmma.cuh"

#ifndef N
#define N 64
#endif
#ifndef GROUPS
#define GROUPS 1
#endif

constexpr unsigned kTwoOnes = 0x3f803f80;                          // of bf16
constexpr int kTileA = 64 * 128, kTileB = (N < 64 ? 64 : N) * 128; // bytes

// ld.relaxed: an atomic in each turn of the loader slows the products by three to five percent.
__device__ inline int load_relaxed(const int *at)
{
    int value;
    asm volatile("ld.relaxed.cta.shared.b32 %0, [%1];"
                 : "=r"(value)
                 : "r"(shared_address(at))
                 : "memory");
    return value;
}

extern "C" __global__ void __launch_bounds__(128 * GROUPS + 32)
    wgmma_beside_tma(float *held, long long *clocks, int rounds, const float *from, int *loads,
                     int depth)
{
    extern __shared__ __align__(1024) unsigned tiles[];
    for (int i = threadIdx.x; i < (kTileA * GROUPS + kTileB) / 4; i += blockDim.x) {
        tiles[i] = kTwoOnes;
    }
    writes_are_ready(); // for wgmma, which reads shared memory as TMA does
    __shared__ unsigned long long full[4];
    __shared__ int done;
    if (threadIdx.x == 0) {
        done = 0;
        for (int i = 0; i < 4; ++i) {
            mbarrier_init(shared_address(&full[i]), 1);
        }
        mbarriers_are_ready();
    }
    __syncthreads();
    if (threadIdx.x >= 128 * GROUPS) { // the loader
        if (threadIdx.x == 128 * GROUPS) {
            // Four places of 8192 bytes after the tiles.
            const unsigned spare =
                (shared_address(tiles) + GROUPS * kTileA + kTileB + 127) / 128 * 128;
            int count = 0;
            auto start = [&](int i) {
                mbarrier_expect(shared_address(&full[i % 4]), 8192);
                bulk_load(spare + i % 4 * 8192, from + i % 4 * 2048, 8192,
                          shared_address(&full[i % 4]));
            };
            for (; count < depth; ++count) {
                start(count);
            }
            int seen = 0;
            while (depth > 0 && load_relaxed(&done) < GROUPS) {
                mbarrier_wait(shared_address(&full[seen % 4]), seen / 4 % 2);
                ++seen;
                start(count++);
            }
            for (; seen < count; ++seen) {
                mbarrier_wait(shared_address(&full[seen % 4]), seen / 4 % 2);
            }
            loads[blockIdx.x] = count;
        }
        return;
    }
    const int group = threadIdx.x / 128;
    const unsigned b = shared_address(tiles) + GROUPS * kTileA;
    float sum[N / 2] = {};
    wgmma_fence();
    const long long begin = clock64();
    for (int round = 0; round < rounds; ++round) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const unsigned a = shared_address(tiles) + group * kTileA;
            wgmma_bf16(sum, wgmma_tile(a) + 2 * k, wgmma_tile(b) + 2 * k, 1);
        }
        wgmma_commit();
        wgmma_wait<1>(); // the round before is done, and this one goes on
    }
    wgmma_wait<0>();
    keep_in_order(sum);
    const long long end = clock64();
    if (threadIdx.x % 128 == 0) {
        atomicAdd(&done, 1);
    }
    const int thread = blockIdx.x * 128 * GROUPS + threadIdx.x;
    held[thread] = sum[0];
    if (threadIdx.x % 128 == 0) {
        clocks[thread / 128] = end - begin;
    }
}
