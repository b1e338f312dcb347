// D = A B^T for bf16 matrices A (128 tiles x 64) and B (32 x 64), both with K contiguous, and D (128
// tiles x 32) in fp32. A block computes 128 rows. The tensor map of D has boxes of 32 x 32 numbers,
// 32 rows of 128 bytes, with the swizzle of 128 bytes: 16 bytes number p of row r are at p ^ r % 8.
// grid (tiles), block (128), dynamic shared 0

#include "ptx.cuh"
#include "tcgen05.cuh"
#include "tma_store.cuh"

constexpr int kColumns = 32;

extern "C" __global__ void boxed_tile(const __grid_constant__ TensorMap A,
                                      const __grid_constant__ TensorMap B,
                                      const __grid_constant__ TensorMap D)
{
    __shared__ __align__(1024) unsigned char a[128 * 128], b[kColumns * 128];
    __shared__ __align__(1024) unsigned char boxes[4][32 * 128]; // one for each warp
    __shared__ unsigned long long arrived, done;
    __shared__ unsigned allocated;
    const int warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        mbarrier_init(shared_address(&arrived), 1);
        mbarrier_init(shared_address(&done), 1);
        mbarriers_are_ready();
    }
    if (warp == 0) {
        tmem_alloc<1>(shared_address(&allocated), kColumns);
    }
    __syncthreads();
    const unsigned sums = allocated;
    if (warp == 0 && elected()) {
        mbarrier_expect(shared_address(&arrived), sizeof(a) + sizeof(b));
        tma_load(shared_address(a), &A, 0, blockIdx.x * 128, shared_address(&arrived));
        tma_load(shared_address(b), &B, 0, 0, shared_address(&arrived));
        mbarrier_wait(shared_address(&arrived), 0);
        for (int k = 0; k < 4; ++k) {
            umma<1>(sums, umma_tile(shared_address(a)) + 2 * k,
                    umma_tile(shared_address(b)) + 2 * k, umma_bf16(128, kColumns), k > 0);
        }
        umma_commit(shared_address(&done));
    }
    __syncwarp();
    mbarrier_wait(shared_address(&done), 0);
    tmem_after_sync();
    const int lane = threadIdx.x % 32, first_row = blockIdx.x * 128 + warp * 32;
    // TODO: each warp fetches its 32 rows, 16 columns at a time, and writes them into its box, four
    // numbers (16 bytes) at a time; one lane has TMA store the box
    // SOLUTION
    for (int column = 0; column < kColumns; column += 16) {
        unsigned value[16];
        tmem_load_16(value, sums + (warp * 32 << 16) + column);
        tmem_wait_load(value);
        for (int i = 0; i < 16; i += 4) {
            const int piece = (column + i) / 4 ^ lane % 8;
            *reinterpret_cast<uint4 *>(boxes[warp] + lane * 128 + piece * 16) =
                make_uint4(value[i], value[i + 1], value[i + 2], value[i + 3]);
        }
    }
    writes_are_ready(); // by every lane, after it wrote
    __syncwarp();
    if (lane == 0) {
        tma_store(&D, 0, first_row, shared_address(boxes[warp]));
        tma_commit();
        tma_wait_read<0>(); // shared memory lives as long as it is read
    }
    // END
    __syncthreads(); // all have fetched
    if (warp == 0) {
        tmem_dealloc<1>(sums, kColumns);
    }
}
