// O = (Q K^T) V for row-major matrices of bf16: Q (M x 64), K (N x 64) and V (N x 64); O (M x 64)
// in fp32. Numbers are whole and so small that nothing is rounded. Boxes of Q are 64 x 64, of K and
// V 32 x 64, with a swizzle of 128 bytes: zeros past the end. A block has 64 rows of O.
// grid (ceil(M / 64)), block (128), dynamic shared 0

#include "attention.cuh"
#include "tma.cuh"
#include "wgmma_across.cuh"

constexpr int kQueries = 64 * 128, kTile = 32 * 128; // bytes

extern "C" __global__ void weights_by_values(const __grid_constant__ TensorMap Q,
                                             const __grid_constant__ TensorMap K,
                                             const __grid_constant__ TensorMap V, float *O, int M,
                                             int N)
{
    __shared__ __align__(1024) unsigned char queries[kQueries], keys[kTile], values[kTile];
    __shared__ unsigned long long arrived;
    const unsigned barrier = shared_address(&arrived);
    if (threadIdx.x == 0) {
        mbarrier_init(barrier, 1);
        mbarriers_are_ready();
    }
    __syncthreads();
    float s[16], o[32];
    for (int tile = 0; tile < (N + 31) / 32; ++tile) {
        if (threadIdx.x == 0) {
            mbarrier_expect(barrier, kQueries + 2 * kTile);
            tma_load(shared_address(queries), &Q, 0, blockIdx.x * 64, barrier);
            tma_load(shared_address(keys), &K, 0, tile * 32, barrier);
            tma_load(shared_address(values), &V, 0, tile * 32, barrier);
        }
        mbarrier_wait(barrier, tile % 2);
        wgmma_fence();
        for (int k = 0; k < 4; ++k) {
            wgmma_bf16(s, wgmma_tile(shared_address(queries)) + 2 * k,
                       wgmma_tile(shared_address(keys)) + 2 * k, k > 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(s);
        // wgmma_registers(o, p, descriptor, add) starts o = p V, plus o where `add`, for 16 keys: p
        // is four registers, and wgmma_tile_across(address, 0) describes rows of V from there on.
        // bf16_pair(low, high) rounds two numbers to one register.
        // TODO: add s V to o
        // SOLUTION
        unsigned p[8];
        for (int i = 0; i < 8; ++i) {
            p[i] = bf16_pair(s[2 * i], s[2 * i + 1]);
        }
        const unsigned long long v = wgmma_tile_across(shared_address(values), 0);
        wgmma_fence();
        for (int k = 0; k < 2; ++k) {
            wgmma_registers(o, p + 4 * k, v + 128 * k, tile > 0 || k > 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        keep_in_order(o);
        // END
        __syncthreads(); // all have multiplied: the tiles may be overwritten
    }
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int i = 0; i < 32; ++i) {
        const int row = blockIdx.x * 64 + warp * 16 + lane / 4 + i / 2 % 2 * 8;
        if (row < M) {
            O[row * 64 + i / 4 * 8 + lane % 4 * 2 + i % 2] = o[i];
        }
    }
}
