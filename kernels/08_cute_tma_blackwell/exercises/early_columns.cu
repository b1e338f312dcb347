// y = 2 x for x and y (256 pairs x 8) in fp32. A block has 128 rows: warps 0 to 3 put them into
// tensor memory, a row in each lane, and warps 4 to 7 fetch and store them. The two blocks of a pair
// allocate as one, as a kernel whose products are for both has to.
// grid (2 * pairs), block (256), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"

constexpr int kColumns = 8, kAllocated = 32;

extern "C" __global__ void __cluster_dims__(2) early_columns(const float *x, float *y)
{
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32, row = blockIdx.x * 128 + threadIdx.x % 128;
    // BUG
    //| if (warp == 0) {
    //|     tmem_alloc<2>(shared_address(&allocated), kAllocated);
    //|     tmem_relinquish<2>();
    //| }
    //| cluster_arrive();
    //| cluster_wait();
    // SOLUTION
    cluster_arrive();
    cluster_wait(); // the other block has started
    if (warp == 0) {
        tmem_alloc<2>(shared_address(&allocated), kAllocated);
        tmem_relinquish<2>();
    }
    __syncthreads(); // the address has been written
    // END
    const unsigned own = allocated + (warp % 4 * 32 << 16);
    if (warp < 4) {
        for (int column = 0; column < kColumns; ++column) {
            tmem_store(own + column, __float_as_uint(x[(size_t)row * kColumns + column]));
        }
        tmem_wait_store();
    }
    tmem_before_sync();
    __syncthreads();
    tmem_after_sync();
    if (warp >= 4) {
        unsigned value[16]; // columns 8 to 15 are not used
        tmem_load_16(value, own);
        tmem_wait_load(value);
        for (int column = 0; column < kColumns; ++column) {
            y[(size_t)row * kColumns + column] = 2 * __uint_as_float(value[column]);
        }
    }
    cluster_arrive();
    cluster_wait(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<2>(allocated, kAllocated);
    }
}
