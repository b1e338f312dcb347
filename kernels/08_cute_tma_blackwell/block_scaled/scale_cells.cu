// Which byte of a tile of scales comes to which cell of tensor memory: four tiles of 512 bytes go
// to 16 columns by tcgen05.cp, and `cells` (128 x 16) gets the word of each lane and column.
// Adds to tmem_cells a copy that no thread's registers take part in. It runs beside the threads, as
// a product does: a commit tells of its end.
// grid (1), block (128), dynamic shared 0

#include "block_scaled.cuh"

constexpr int kTiles = 4;

extern "C" __global__ void scale_cells(const unsigned char *scales, unsigned *cells)
{
    __shared__ __align__(128) unsigned char tiles[kTiles * kScaleTile];
    __shared__ unsigned long long arrived, done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == 0) {
        tmem_alloc<1>(shared_address(&allocated), 32);
    }
    __syncthreads();
    if (warp == 0 && elected()) {
        mbarrier_expect(shared_address(&arrived), sizeof(tiles));
        bulk_load(shared_address(tiles), scales, sizeof(tiles), shared_address(&arrived));
        mbarrier_wait(shared_address(&arrived), 0);
        for (int tile = 0; tile < kTiles; ++tile) {
            tmem_copy_scales(allocated + tile * kScaleColumns,
                             scale_tile(shared_address(tiles) + tile * kScaleTile));
        }
        umma_commit(shared_address(&done));
    }
    __syncwarp();
    mbarrier_wait(shared_address(&done), 0);
    tmem_after_sync();
    unsigned value[16];
    tmem_load_16(value, allocated + (warp * 32 << 16));
    tmem_wait_load(value);
    for (int column = 0; column < 16; ++column) {
        cells[threadIdx.x * 16 + column] = value[column];
    }
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(allocated, 32);
    }
}
