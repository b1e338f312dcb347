// Which cell of tensor memory comes to which register: `cells` gets, for each of the threads and
// each of 16 registers, lane * 65536 + column of what it fetches from column 0 on. Each warp fetches
// the 32 lanes that it reaches.
// First warps 0 to 3 write the numbers: in cell (lane, column) its own address.
// grid (1), block (a multiple of 128), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"

extern "C" __global__ void tmem_cells(unsigned *cells)
{
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (warp == 0) {
        tmem_alloc<1>(shared_address(&allocated), 32);
    }
    __syncthreads();
    const unsigned own = allocated + (warp % 4 * 32 << 16);
    if (warp < 4) {
        for (int column = 0; column < 16; ++column) {
            tmem_store(own + column, threadIdx.x << 16 | column);
        }
        tmem_wait_store();
    }
    tmem_before_sync();
    __syncthreads();
    tmem_after_sync();
    unsigned value[16];
    tmem_load_16(value, own);
    tmem_wait_load(value);
    for (int i = 0; i < 16; ++i) {
        cells[threadIdx.x * 16 + i] = value[i];
    }
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(allocated, 32);
    }
}
