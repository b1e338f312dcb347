// D = scale A B^T for one tile in NVFP4: row-major A (128 x 256) and B (COLUMNS x 256), numbers of
// E2M1, two a byte, D (128 x COLUMNS) in fp32; for every 16 numbers of a row a scale in UE4M3, four
// tiles of 512 bytes for A and for B, and `scale` for all of them. COLUMNS is 32, 64 or 128. The
// tensor maps of A and B have boxes of 128 x 128 and COLUMNS x 128 bytes, and a swizzle of 128
// bytes.
// Adds to mxfp8_tile numbers of four bits: a product takes 64 of them, and a whole tile of scales.
// Limit: everything happens once, one thing after the other.
// grid (1), block (128), dynamic shared 0

#include "block_scaled.cuh"

#ifndef COLUMNS
#define COLUMNS 64
#endif

constexpr int kRows = 128, kRowBytes = 128;
constexpr int kProducts = 4;                               // of 64 numbers, 32 bytes, along K
constexpr int kAllocated = 64 + COLUMNS > 128 ? 256 : 128; // the sums, and 32 columns of scales

extern "C" __global__ void __launch_bounds__(128)
    nvfp4_tile(const __grid_constant__ TensorMap A, const __grid_constant__ TensorMap B,
               const unsigned char *scales_a, const unsigned char *scales_b, float scale, float *D)
{
    __shared__ __align__(1024) unsigned char a[kRows * kRowBytes], b[COLUMNS * kRowBytes];
    __shared__ __align__(128) unsigned char scales[2 * kProducts * kScaleTile];
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
    const unsigned sums = allocated, of_a = sums + COLUMNS, of_b = of_a + kProducts * kScaleColumns;

    if (warp == 0 && elected()) {
        const unsigned barrier = shared_address(&arrived), tiles = shared_address(scales);
        mbarrier_expect(barrier, sizeof(a) + sizeof(b) + sizeof(scales));
        tma_load(shared_address(a), &A, 0, 0, barrier);
        tma_load(shared_address(b), &B, 0, 0, barrier);
        bulk_load(tiles, scales_a, kProducts * kScaleTile, barrier);
        bulk_load(tiles + kProducts * kScaleTile, scales_b, kProducts * kScaleTile, barrier);
        mbarrier_wait(barrier, 0);
        for (int k = 0; k < kProducts; ++k) {
            tmem_copy_scales(of_a + k * kScaleColumns, scale_tile(tiles + k * kScaleTile));
            tmem_copy_scales(of_b + k * kScaleColumns,
                             scale_tile(tiles + (kProducts + k) * kScaleTile));
        }
        for (int k = 0; k < kProducts; ++k) {
            umma_scaled_nvfp4(sums, umma_tile(shared_address(a)) + 2 * k,
                              umma_tile(shared_address(b)) + 2 * k, umma_nvfp4(kRows, COLUMNS),
                              of_a + k * kScaleColumns, of_b + k * kScaleColumns, k > 0);
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
            D[threadIdx.x * COLUMNS + column + i] = scale * __uint_as_float(value[i]);
        }
    }
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(sums, kAllocated);
    }
}
