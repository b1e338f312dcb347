// One warp reads four 8 x 8 tiles of 16-bit numbers, one below the other, with a single
// ldmatrix.x4. Their rows are `pitch` bytes apart in shared memory.
// grid 1, block 32, dynamic shared 0

#include "ptx.cuh"

extern "C" __global__ void pitches(unsigned *y, int pitch)
{
    __shared__ __align__(16) unsigned char shared[32 * 144];
    for (int i = threadIdx.x; i < 32 * 144 / 4; i += 32) {
        reinterpret_cast<unsigned *>(shared)[i] = i;
    }
    __syncwarp();
    unsigned tiles[4];
    ldmatrix_4(tiles, shared_address(shared) + threadIdx.x * pitch);
    for (int i = 0; i < 4; ++i) {
        y[i * 32 + threadIdx.x] = tiles[i];
    }
}
