// largest[r] = the largest element of row r of a rows x columns matrix of fp32.
// A cluster of four blocks has a row. Each finds the largest of its quarter and sends it into the
// shared memory of all four, where 16 bytes are expected: distributed shared memory, with no
// barrier between.
// Limit: latency; rows are short.
// grid (4 * rows), block (32), dynamic shared 0

#include "cluster.cuh"
#include "ptx.cuh"
#include "tma.cuh"

constexpr int kBlocks = 4;

extern "C" __global__ void __cluster_dims__(kBlocks)
    row_maximum(const float *x, float *largest, int columns)
{
    __shared__ float of_block[kBlocks];
    __shared__ unsigned long long arrived;
    const int rank = cluster_rank(), row = blockIdx.x / kBlocks;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarriers_are_ready();
        mbarrier_expect(shared_address(&arrived), sizeof(of_block));
    }
    cluster_arrive();
    float mine = __int_as_float(0xff800000); // -inf
    for (int i = rank * 32 + threadIdx.x; i < columns; i += kBlocks * 32) {
        mine = fmaxf(mine, x[(size_t)row * columns + i]);
    }
    for (int step = 16; step > 0; step /= 2) {
        mine = fmaxf(mine, __shfl_xor_sync(0xffffffff, mine, step));
    }
    cluster_wait(); // the barriers of all blocks are there
    if (threadIdx.x < kBlocks) {
        store_async(address_in_block(shared_address(&of_block[rank]), threadIdx.x), mine,
                    address_in_block(shared_address(&arrived), threadIdx.x));
    }
    mbarrier_wait(shared_address(&arrived), 0);
    if (rank == 0 && threadIdx.x == 0) {
        largest[row] = fmaxf(fmaxf(of_block[0], of_block[1]), fmaxf(of_block[2], of_block[3]));
    }
    cluster_arrive();
    cluster_wait(); // no block ends while another still sends to it
}
