// Which lane holds what? A (16 x 16) is 0 but for a 1 at (row, k), B (16 x 8) is 0 but for a 1 at
// (k, column). So C = A B has a single 1, too, at (row, column). The lane that meets the 1 marks as
// many elements as its own number says, or as the number of the register that holds it.
// grid 1, block 32, dynamic shared 0

#include <cuda_fp16.h>
#include "ptx.cuh"

extern "C" __global__ void fragment_place(int *marks, int row, int k, int column, int what)
{
    __shared__ __align__(16) __half tile_a[16][16], tile_b[8][16]; // B is transposed
    int lane = threadIdx.x;
    for (int i = lane; i < 16 * 16; i += 32) {
        tile_a[i / 16][i % 16] = i == row * 16 + k;
    }
    for (int i = lane; i < 8 * 16; i += 32) {
        tile_b[i / 16][i % 16] = i == column * 16 + k;
    }
    __syncwarp();
    unsigned a[4], b[4];
    ldmatrix_4(a, shared_address(&tile_a[lane % 16][lane / 16 * 8]));
    ldmatrix_4(b, shared_address(&tile_b[lane % 8][lane / 8 % 2 * 8]));
    float sum[4] = {};
    mma_f16(sum, a, b[0], b[1]);

    int count = 0;
    for (int i = 0; i < 4; ++i) {
        if (what == 0 && a[i] != 0) {
            count = lane; // the lane that holds A(row, k)
        }
        if (what == 1 && a[i] != 0) {
            count = i; // its register, 0 to 3
        }
        if (what == 2 && i < 2 && b[i] != 0) {
            count = lane; // the lane that holds B(k, column)
        }
        if (what == 3 && sum[i] != 0) {
            count = lane; // the lane that holds C(row, column)
        }
    }
    for (int i = 0; i < count; ++i) {
        marks[i] = 1;
    }
}
