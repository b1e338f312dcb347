// C = A B[e]^T for the rows of each expert e, in fp32: A (rows x 16) has the rows sorted by expert,
// B (experts x 8 x 16) the weights, C is rows x 8. offsets[e] is the first row of expert e, and
// offsets[experts] is how many rows there are. An expert may have none. Block (x, e) has the tiles
// x, x + gridDim.x and so on of expert e, 16 rows each.
// grid (any, experts), block (8, 16), dynamic shared 0

constexpr int kRows = 16, kN = 8, kK = 16;

extern "C" __global__ void ragged_edge(const float *A, const float *B, const int *offsets, float *C,
                                       int experts)
{
    __shared__ float a[kRows][kK];
    int expert = blockIdx.y, column = threadIdx.x, row = threadIdx.y;
    int begin = offsets[expert];
    // BUG
    //| int end = offsets[experts];
    // SOLUTION
    int end = offsets[expert + 1];
    // END
    int last = offsets[expert + 1];
    for (int first = begin + blockIdx.x * kRows; first < last; first += gridDim.x * kRows) {
        for (int k = column; k < kK; k += kN) {
            a[row][k] = first + row < end ? A[(first + row) * kK + k] : 0.0f;
        }
        __syncthreads();
        if (first + row < end) {
            float sum = 0.0f;
            for (int k = 0; k < kK; ++k) {
                sum += a[row][k] * B[(expert * kN + column) * kK + k];
            }
            C[(first + row) * kN + column] = sum;
        }
        __syncthreads(); // the tile may be overwritten
    }
}
