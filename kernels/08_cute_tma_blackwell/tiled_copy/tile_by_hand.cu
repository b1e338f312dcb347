// y = x for row-major rows x columns matrices of fp32, columns a multiple of 4, both from a multiple
// of 16 bytes on; by way of shared memory, as a kernel does that will read the tile several times.
// The rung to compare with: a block's tile of 64 x 64 by four cp.async of 16 bytes a thread, and the
// tile's way out by stores of 16 bytes. rows * columns stays below 2^31.
// Limit: memory bandwidth.
// grid (ceil(columns / 64), ceil(rows / 64)), block (256), dynamic shared 0

#include "ptx.cuh"

constexpr int BM = 64, BN = 64;  // a block's tile
constexpr int TM = 16, TN = 16;  // its threads, row by row; a thread has groups of four
constexpr int kRounds = BM / TM;

extern "C" __global__ void tile_by_hand(const float* x, float* y, int rows, int columns)
{
    __shared__ alignas(16) float tile[BM][BN];
    const int column = threadIdx.x % TN * 4; // in the tile
    const int first_row = threadIdx.x / TN;
    const int block_row = blockIdx.y * BM, block_column = blockIdx.x * BN;
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const int row = first_row + round * TM;
        if (block_row + row < rows && block_column + column < columns) {
            cp_async_16(shared_address(&tile[row][column]),
                        &x[(block_row + row) * columns + block_column + column]);
        }
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
#pragma unroll
    for (int round = 0; round < kRounds; ++round) {
        const int row = first_row + round * TM;
        if (block_row + row < rows && block_column + column < columns) {
            *reinterpret_cast<float4*>(
                &y[(block_row + row) * columns + block_column + column]) =
                *reinterpret_cast<const float4*>(&tile[row][column]);
        }
    }
}
