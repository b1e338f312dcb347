// D = A B^T in MXFP8 for A (128 tiles x 128) and B (32 x 128), numbers of E4M3, and D (128 tiles x
// 32) in fp32. The scales come as a row-major matrix with four of UE8M0 in each row, a word:
// scales_a has 128 tiles words, scales_b 32. A block computes 128 rows.
// grid (tiles), block (128), dynamic shared 0

#include "block_scaled.cuh"
#include "tma_store.cuh"

constexpr int kColumns = 32, kAllocated = 64; // 32 for sums, 4 for scales of A, 4 for those of B

extern "C" __global__ void rows_of_scales(const __grid_constant__ TensorMap A,
                                          const __grid_constant__ TensorMap B,
                                          const unsigned *scales_a, const unsigned *scales_b,
                                          float *D)
{
    __shared__ __align__(1024) unsigned char a[128 * 128], b[kColumns * 128];
    __shared__ __align__(128) unsigned tile_a[kScaleTile / 4], tile_b[kScaleTile / 4];
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
    // TODO: put the words of 128 rows of A into tile_a, and those of 32 rows of B into tile_b,
    // where the tensor cores want them (other words of tile_b are not read)
    // SOLUTION
    const int place = threadIdx.x % 32 * 4 + threadIdx.x / 32; // words r, r + 32, r + 64, r + 96
    tile_a[place] = scales_a[blockIdx.x * 128 + threadIdx.x];
    tile_b[place] = threadIdx.x < 32 ? scales_b[threadIdx.x] : 0;
    writes_are_ready(); // tcgen05.cp reads past the threads' view, as TMA does
    // END
    __syncthreads();
    const unsigned sums = allocated, of_a = sums + kColumns, of_b = of_a + kScaleColumns;
    if (warp == 0 && elected()) {
        mbarrier_expect(shared_address(&arrived), sizeof(a) + sizeof(b));
        tma_load(shared_address(a), &A, 0, blockIdx.x * 128, shared_address(&arrived));
        tma_load(shared_address(b), &B, 0, 0, shared_address(&arrived));
        mbarrier_wait(shared_address(&arrived), 0);
        // TODO: bring both tiles to tensor memory, and start the four products
        // SOLUTION
        tmem_copy_scales(of_a, scale_tile(shared_address(tile_a)));
        tmem_copy_scales(of_b, scale_tile(shared_address(tile_b)));
        for (int k = 0; k < 4; ++k) {
            umma_scaled_mxfp8(sums, umma_tile(shared_address(a)) + 2 * k,
                              umma_tile(shared_address(b)) + 2 * k, umma_mxfp8(128, kColumns, k),
                              of_a, of_b, k > 0);
        }
        // END
        umma_commit(shared_address(&done));
    }
    __syncwarp();
    mbarrier_wait(shared_address(&done), 0);
    tmem_after_sync();
    float *row = D + (size_t)(blockIdx.x * 128 + threadIdx.x) * kColumns;
    for (int column = 0; column < kColumns; column += 16) {
        unsigned value[16];
        tmem_load_16(value, sums + (warp * 32 << 16) + column);
        tmem_wait_load(value);
        for (int i = 0; i < 16; ++i) {
            row[column + i] = __uint_as_float(value[i]);
        }
    }
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(sums, kAllocated);
    }
}
