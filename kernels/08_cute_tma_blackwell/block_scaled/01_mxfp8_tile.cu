// D = A B^T for one tile in MXFP8: row-major A (128 x 128) and B (COLUMNS x 128), numbers of E4M3,
// D (128 x COLUMNS) in fp32; for every 32 numbers of a row a scale in UE8M0, a tile of 512 bytes as
// scale_tiles.cuh has it for A and for B. COLUMNS is 32, 64 or 128. The tensor maps of A and B have
// boxes of 128 x 128 and COLUMNS x 128 bytes, and a swizzle of 128 bytes.
// Adds to umma_tile the scales: copied to tensor memory, and taken by each product from there.
// Limit: everything happens once, one thing after the other.
// grid (1), block (128), dynamic shared 0

#include "block_scaled.cuh"

#ifndef COLUMNS
#define COLUMNS 64
#endif

constexpr int kRows = 128, kRowBytes = 128;
constexpr int kAllocated = 2 * COLUMNS; // a power of two with room for the sums and 8 columns more

extern "C" __global__ void __launch_bounds__(128)
    mxfp8_tile(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
               const unsigned char *scales_a, const unsigned char *scales_b, float *D)
{
    __shared__ __align__(1024) unsigned char a[kRows * kRowBytes], b[COLUMNS * kRowBytes];
    __shared__ __align__(128) unsigned char scales[2 * kScaleTile];
    __shared__ unsigned long long arrived, done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == 0) {
        tmem_alloc<1>(shared_address(&allocated), kAllocated);
    }
    __syncthreads();
    const unsigned sums = allocated, of_a = sums + COLUMNS, of_b = of_a + kScaleColumns;

    if (warp == 0 && elected()) {
        const unsigned barrier = shared_address(&arrived), tiles = shared_address(scales);
        mbarrier_expect(barrier, sizeof(a) + sizeof(b) + sizeof(scales));
        tma_load(shared_address(a), &A, 0, 0, barrier);
        tma_load(shared_address(b), &B, 0, 0, barrier);
        bulk_load(tiles, scales_a, kScaleTile, barrier);
        bulk_load(tiles + kScaleTile, scales_b, kScaleTile, barrier);
        mbarrier_wait(barrier, 0);
        tmem_copy_scales(of_a, scale_tile(tiles));
        tmem_copy_scales(of_b, scale_tile(tiles + kScaleTile));
        for (int k = 0; k < 4; ++k) { // 32 numbers, 32 bytes, one block along K
            umma_scaled_mxfp8(sums, umma_tile(shared_address(a)) + 2 * k,
                              umma_tile(shared_address(b)) + 2 * k, umma_mxfp8(kRows, COLUMNS, k),
                              of_a, of_b, k > 0);
        }
        umma_commit(shared_address(&done));
    }
    __syncwarp();
    mbarrier_wait(shared_address(&done), 0);
    tmem_after_sync();

    for (int column = 0; column < COLUMNS; column += 16) {
        unsigned value[16];
        tmem_load_16(value, sums + (warp * 32 << 16) + column);
        tmem_wait_load(value);
        for (int i = 0; i < 16; ++i) {
            D[threadIdx.x * COLUMNS + column + i] = __uint_as_float(value[i]);
        }
    }
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(sums, kAllocated);
    }
}
