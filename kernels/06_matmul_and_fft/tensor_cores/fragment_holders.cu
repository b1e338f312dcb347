// Which elements each lane of a warp holds for mma.m16n8k16: of A (16 x 16) in a_holds (32 x 8),
// of B (16 x 8) in b_holds (32 x 4), of C (16 x 8) in c_holds (32 x 4). An element's number is row
// * columns + column. ldmatrix distributes tiles in which each element is its own number; for C the
// operands are such that mma.sync computes the number: 8 row * 1 + 1 * column.
// grid 1, block 32, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

__device__ inline int half_of(unsigned word, int which) // 0: the lower half
{
    return __half2float(__ushort_as_half(word >> which * 16));
}

extern "C" __global__ void fragment_holders(int *a_holds, int *b_holds, int *c_holds)
{
    __shared__ __align__(16) __half tile_a[16][16], tile_b[8][16]; // B lies transposed, as N x K
    int lane = threadIdx.x;
    unsigned row_a = shared_address(&tile_a[lane % 16][lane / 16 * 8]);   // what ldmatrix asks of
    unsigned row_b = shared_address(&tile_b[lane % 8][lane / 8 % 2 * 8]); // this lane
    unsigned a[4], b[4]; // B has two 8 x 8 tiles: the last two registers repeat the first

    for (int i = lane; i < 16 * 16; i += 32) {
        tile_a[i / 16][i % 16] = i;
    }
    for (int i = lane; i < 16 * 8; i += 32) {
        tile_b[i % 8][i / 8] = i;
    }
    __syncwarp();
    ldmatrix_4(a, row_a);
    ldmatrix_4(b, row_b);
    for (int i = 0; i < 8; ++i) {
        a_holds[lane * 8 + i] = half_of(a[i / 2], i % 2);
    }
    for (int i = 0; i < 4; ++i) {
        b_holds[lane * 4 + i] = half_of(b[i / 2], i % 2);
    }

    __syncwarp(); // all lanes have read; now the operands of the numbers of C
    for (int i = lane; i < 16 * 16; i += 32) {
        int row = i / 16, k = i % 16;
        tile_a[row][k] = k == 0 ? 8 * row : k == 1 ? 1 : 0;
    }
    for (int i = lane; i < 16 * 8; i += 32) {
        int k = i / 8, column = i % 8;
        tile_b[column][k] = k == 0 ? 1 : k == 1 ? column : 0;
    }
    __syncwarp();
    ldmatrix_4(a, row_a);
    ldmatrix_4(b, row_b);
    float sum[4] = {};
    mma_f16(sum, a, b[0], b[1]);
    for (int i = 0; i < 4; ++i) {
        c_holds[lane * 4 + i] = sum[i];
    }
}
