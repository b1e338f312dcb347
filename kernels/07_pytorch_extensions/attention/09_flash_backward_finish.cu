// dQ in bf16 from the sums of flash_backward: scale times each, put where it belongs. `sums` holds
// 64 x D floats for each tile of queries and each head, in the order in which the 256 threads of
// flash_backward hold them; tiles of sequence s begin at number starts[s] / 64 + s. dQ is tokens x
// heads x D. D is 64 or 128. The last of three kernels of the backward pass.
// Limit: reading the sums and writing dQ once.
// grid (ceil(longest / 64), heads, sequences), block (256), dynamic shared 0

#include <cuda_bf16.h>
#include "attention.cuh"

#ifndef D
#define D 128 // numbers of a query, a key and a value
#endif

constexpr int kRows = 64;                 // queries of a tile
constexpr int kThreads = 256;             // 8 warps, of which each has 32 rows and D / 4 columns
constexpr int kWarpColumns = D / 4;       // of a warp
constexpr int kTilesN = kWarpColumns / 8; // of one mma, in the warp's part
constexpr int kWords = D / 2 + 4;         // of a row in shared memory, two numbers each, and a gap

extern "C" __global__ void __launch_bounds__(kThreads)
    flash_backward_finish(const float *sums, __nv_bfloat16 *dQ, const int *starts, int heads,
                          float scale)
{
    __shared__ __align__(16) unsigned tile[kRows][kWords];
    int first = starts[blockIdx.z];
    int length = starts[blockIdx.z + 1] - first;
    int first_row = blockIdx.x * kRows;
    if (first_row >= length) {
        return; // the whole block
    }
    size_t number = (size_t)(first / kRows + blockIdx.z + blockIdx.x) * heads + blockIdx.y;
    const float4 *from = reinterpret_cast<const float4 *>(sums) + number * (kRows * D / 4);
    int lane = threadIdx.x % 32;
    int warp = threadIdx.x / 32;
    for (int i = 0; i < 2 * kTilesN; ++i) { // one mma's results: two pairs, eight rows apart
        float4 four = from[(warp * 2 * kTilesN + i) * 32 + lane];
        int row = warp / 4 * 32 + i / kTilesN * 16 + lane / 4;
        int word = (warp % 4 * kWarpColumns + i % kTilesN * 8) / 2 + lane % 4;
        tile[row][word] = bf16_pair(four.x * scale, four.y * scale);
        tile[row + 8][word] = bf16_pair(four.z * scale, four.w * scale);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kRows * D / 8; i += kThreads) { // 16 bytes each
        int row = i / (D / 8), chunk = i % (D / 8);
        if (first_row + row < length) {
            size_t to = (size_t)(first + first_row + row) * heads + blockIdx.y;
            *reinterpret_cast<uint4 *>(dQ + to * D + chunk * 8) =
                *reinterpret_cast<const uint4 *>(&tile[row][chunk * 4]);
        }
    }
}
