// A tile has 32 rows of `pitch` chunks of 16 bytes. Lane r reads the chunk at the beginning of row r,
// from where a swizzle has put it: the last `bits` bits of the row are XORed onto the chunk's.
// grid 1, block 32, dynamic shared 0
extern "C" __global__ void wavefronts_of_swizzles(const uint4 *x, uint4 *y, int pitch, int bits)
{
    __shared__ uint4 tile[32 * 12];
    const int lane = threadIdx.x;
    for (int i = lane; i < 32 * 12; i += 32) {
        tile[i] = x[i];
    }
    __syncwarp();
    y[lane] = tile[lane * pitch + (lane & (1 << bits) - 1)];
}
