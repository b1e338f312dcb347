// C = A B^T for one tile: A is 16 x 16 and B is 8 x 16 in fp16, C is 16 x 8 in fp32, all row-major.
// The rung to compare with: one mma.sync, its fragments filled by index formulas.
// grid 1, block 32, dynamic shared 0
#include <cuda_fp16.h>
#include "ptx.cuh"

extern "C" __global__ void mma_by_hand(const __half *A, const __half *B, float *C)
{
    const int lane = threadIdx.x, group = lane / 4, pair = lane % 4 * 2;
    unsigned a[4], b[2];
    for (int i = 0; i < 4; ++i) { // four quarters of 8 x 8: down, then right
        a[i] = *reinterpret_cast<const unsigned *>(A + (group + i % 2 * 8) * 16 + pair + i / 2 * 8);
    }
    for (int i = 0; i < 2; ++i) {
        b[i] = *reinterpret_cast<const unsigned *>(B + group * 16 + pair + i * 8);
    }
    float sum[4] = {};
    mma_f16(sum, a, b[0], b[1]);
    for (int i = 0; i < 4; ++i) {
        C[(group + i / 2 * 8) * 8 + pair + i % 2] = sum[i];
    }
}
